"""What both launch files start: the controller, the world, robot_state_publisher and RViz.

    octo_reach/nodes     reach_controller and simulated_world; when one of them ends, so does all
                         handles, for RViz, where interactive_markers is installed
    viewer, a page for a browser, when it is asked for; the rest goes on without it
    robot_state_publisher, rviz2     where they are installed; the rest does without them

Everything but `/tf`, `/tf_static`, `/clock` and `/diagnostics` moves with the namespace. The frames
do not: two systems with arms of the same number need ROS domains of their own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction, Shutdown
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.utilities import make_namespace_absolute, prefix_namespace
from rclpy.parameter import parameter_dict_from_yaml_file, parameter_value_to_python

from octo_reach.installation import share_path
from octo_reach.planners import PLANNERS
from octo_reach.ros.description import robot_description
from octo_reach.ros.parameters import (
    UNSET_TEXT,
    Setting,
    arm_settings,
    chosen_arms,
    controller_settings,
    effective_arm,
    effective_rules,
    rule_settings,
)
from octo_reach.scenes import load_scene, to_metres
from octo_reach.scenes.shipped import find_scene
from octo_reach.viewer.address import PORT

PACKAGE = "octo_reach"
CONTROLLER = "reach_controller"
WORLD = "simulated_world"
HANDLES = "handles"
VIEWER = "viewer"
LARGEST_PORT = 65535

TF_RATE = 240.0
"""robot_state_publisher waits in whole milliseconds, so that this gives 120 Hz of /tf."""

TRUE = ("true", "1", "yes", "on")
FALSE = ("false", "0", "no", "off")


def describe_launch(default_scene: str, default_config: str) -> LaunchDescription:
    """Describe a launch of controller, world, robot_state_publisher and RViz.

    Args:
        default_scene: name of the shipped scene that is taken where none is given.
        default_config: name of the shipped parameter file that is taken where none is given.
    """
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "scene",
                default_value="",
                description="Scene: a file (YAML or JSON) or the name of a shipped one;"
                f" empty: as in the parameter file, else {default_scene}",
            ),
            DeclareLaunchArgument(
                "planner",
                default_value="",
                description=f"What plans for every arm: {', '.join(PLANNERS)};"
                f" empty: as in the parameter file, else {PLANNERS[0]}",
            ),
            DeclareLaunchArgument(
                "arms",
                default_value="",
                description="Arms of the scene that are moved: 3, '1,3' or '1-4';"
                " empty: as in the parameter file, else all",
            ),
            DeclareLaunchArgument(
                "rviz", default_value="true", description="Whether RViz is started: true or false"
            ),
            DeclareLaunchArgument(
                "handles",
                default_value="",
                description="Whether arms and objects get handles that RViz can drag: true or"
                " false; empty: as rviz says",
            ),
            DeclareLaunchArgument(
                "viewer",
                default_value="false",
                description="Whether a page for a browser is served, on this machine: true or"
                " false; needs viser (pip install 'viser<1.2')",
            ),
            DeclareLaunchArgument(
                "viewer_port",
                default_value=str(PORT),
                description="Port of that page; 0: any that is free, which the viewer says",
            ),
            DeclareLaunchArgument(
                "use_sim_time",
                default_value="false",
                description="Whether every node follows /clock: true or false; true makes the"
                " world publish it, unless the parameter file says publish_clock: false",
            ),
            DeclareLaunchArgument(
                "namespace",
                default_value="",
                description="Namespace of all nodes, topics and services but /tf, /tf_static,"
                " /clock and /diagnostics; frames are arm_1/... in every namespace",
            ),
            DeclareLaunchArgument(
                "config",
                default_value=str(share_path("config", default_config)),
                description="Parameter file of controller and world;"
                " scene, planner and arms above win over it",
            ),
            OpaqueFunction(function=node_actions, args=[default_scene]),
        ]
    )


def node_actions(context: LaunchContext, default_scene: str) -> list[LaunchDescriptionEntity]:
    """Make the actions from the launch arguments, before any node starts.

    Args:
        context: where the arguments are.
        default_scene: name of the shipped scene that is taken where none is given.

    Raises:
        ValueError: an argument, or what it leads to, is wrong; the text names it.
    """

    def argument(name: str) -> str:
        return LaunchConfiguration(name).perform(context).strip()

    namespace = argument("namespace")
    config = _file("config", argument("config"))
    use_sim_time = _flag("use_sim_time", argument("use_sim_time"))
    show = _flag("rviz", argument("rviz"))
    handles = _flag("handles", argument("handles") or argument("rviz"))
    viewer = _flag("viewer", argument("viewer"))
    viewer_port = _port("viewer_port", argument("viewer_port"))

    full_namespace = make_namespace_absolute(
        prefix_namespace(context.launch_configurations.get("ros_namespace"), namespace)
    )
    wanted = {name: argument(name) for name in ("planner", "arms") if argument(name)}
    # What stands in a file is only warned of, but what was typed just now is refused.
    for setting in controller_settings(PLANNERS):
        if setting.name in wanted:
            setting.checked(wanted[setting.name])
    given = read_parameters(config, f"{full_namespace or ''}/{CONTROLLER}")
    wanted["scene"] = str(find_scene(argument("scene") or given.get("scene") or default_scene))
    description = describe_arms({**given, **wanted})

    texts = {name: ParameterValue(value, value_type=str) for name, value in wanted.items()}
    sim_time = {"use_sim_time": use_sim_time}
    clock = {"publish_clock": True} if use_sim_time and "publish_clock" not in given else {}
    place = {"namespace": namespace, "output": "screen"}
    actions: list[LaunchDescriptionEntity] = [
        Node(
            package=PACKAGE,
            executable=WORLD,
            name=WORLD,
            parameters=[str(config), {"scene": texts["scene"], **sim_time, **clock}],
            on_exit=Shutdown(reason=f"{WORLD} ended"),
            **place,
        ),
        Node(
            package=PACKAGE,
            executable=CONTROLLER,
            name=CONTROLLER,
            parameters=[str(config), {**texts, **sim_time}],
            on_exit=Shutdown(reason=f"{CONTROLLER} ended"),
            **place,
        ),
    ]
    if _is_installed("robot_state_publisher"):
        urdf = ParameterValue(description, value_type=str)
        actions.append(
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                name="robot_state_publisher",
                parameters=[{"robot_description": urdf, "publish_frequency": TF_RATE, **sim_time}],
                # The controller publishes robot_description itself, anew when an arm changes.
                remappings=[("robot_description", "robot_state_publisher/robot_description")],
                **place,
            )
        )
    else:
        actions.append(_missing("robot_state_publisher", "no /tf and no robot model in RViz"))
    if show and _is_installed("rviz2"):
        # Its topics are relative in the file, so that they move with the namespace.
        file = share_path("rviz", "octo_reach.rviz")
        actions.append(
            Node(
                package="rviz2",
                executable="rviz2",
                arguments=["-d", str(file)],
                parameters=[sim_time],
                **place,
            )
        )
    elif show:
        actions.append(_missing("rviz2", "nothing is shown"))
    if handles and _is_installed("interactive_markers"):
        # Not by simulated time, whatever the others do: while that stands still its server would
        # take nothing from anybody new.
        actions.append(Node(package=PACKAGE, executable=HANDLES, name=HANDLES, **place))
    elif handles:
        actions.append(_missing("interactive_markers", "nothing can be dragged in RViz"))
    if viewer:
        # Whether it has all it needs it knows itself: its Python may be another than this one.
        actions.append(
            Node(
                package=PACKAGE,
                executable=VIEWER,
                name=VIEWER,
                parameters=[{"port": viewer_port, **sim_time}],
                on_exit=note_end_of_viewer,
                **place,
            )
        )
    return actions


def note_end_of_viewer(event: ProcessExited, context: LaunchContext) -> list[LogInfo]:
    """Say that there is no page any more, unless the viewer ended because it was told to.

    Args:
        event: its end.
        context: not looked at.
    """
    if event.returncode == 0:
        return []
    return [LogInfo(msg=f"{VIEWER} ended, why stands above: no page; the rest goes on")]


def read_parameters(config: Path, node: str) -> dict[str, Any]:
    """Read what a parameter file says for a node, as rclpy takes it.

    Args:
        config: the file; its section `/**` counts, and what is said for the node by its name.
        node: full name of the node.

    Raises:
        ValueError: it is no parameter file.
    """
    try:
        found = parameter_dict_from_yaml_file(str(config), use_wildcard=True, target_nodes=[node])
    except Exception as error:
        raise ValueError(f"config: {config} is no parameter file: {error}") from error
    return {name: parameter_value_to_python(message.value) for name, message in found.items()}


def describe_arms(given: Mapping[str, Any]) -> str:
    """Make the URDF of the arms that the controller has with these parameters.

    What the controller refuses it warns of, and keeps its default; so does this, silently.

    Args:
        given: the parameters that are given, by name; `scene` is a file.
    """
    values = _checked(controller_settings(PLANNERS), given)
    document = to_metres(load_scene(values["scene"]), values["metres_per_pixel"])
    placements = document.placements()
    numbers = [placement.number for placement in placements]
    values |= _checked(rule_settings(document.rules), given)
    values |= _checked(arm_settings(numbers, PLANNERS), given)
    wanted = chosen_arms(values["arms"], numbers)
    arms = [
        placement.with_parameters(effective_arm(values, placement.number, placement.parameters))
        for placement in placements
        if placement.number in wanted
    ]
    return robot_description(arms, effective_rules(values, document.rules))


def _checked(settings: tuple[Setting, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    values = {}
    for setting in settings:
        values[setting.name] = setting.default
        value = given.get(setting.name)
        if value is None or (setting.optional and value == UNSET_TEXT):
            continue
        try:
            values[setting.name] = setting.checked(value)
        except ValueError:
            continue
    return values


def _flag(name: str, text: str) -> bool:
    if text.lower() not in (*TRUE, *FALSE):
        raise ValueError(f"{name} must be true or false, got {text!r}")
    return text.lower() in TRUE


def _port(name: str, text: str) -> int:
    if not re.fullmatch("[0-9]{1,5}", text) or int(text) > LARGEST_PORT:
        raise ValueError(
            f"{name} must be a whole number from 0 (any that is free) to {LARGEST_PORT},"
            f" got {text!r}"
        )
    return int(text)


def _file(name: str, text: str) -> Path:
    path = Path(text).expanduser().absolute()
    if not path.is_file():
        raise ValueError(f"{name}: there is no file {path}")
    return path


def _is_installed(package: str) -> bool:
    # Asked beforehand: a node whose package is missing ends the launch with the others left behind.
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def _missing(package: str, consequence: str) -> LogInfo:
    distribution = os.environ.get("ROS_DISTRO", "DISTRIBUTION")
    name = f"ros-{distribution}-{package.replace('_', '-')}"
    return LogInfo(msg=f"{package} is not installed ({name}): {consequence}; the rest goes on")
