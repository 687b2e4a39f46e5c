"""What the executables of the package start.

Importing a node takes a moment, in which the node itself cannot listen to signals yet. An interrupt
in that moment ends the process as it would later: quietly, with exit code 0.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType


def reach_controller() -> int:
    """Run the reach controller; give the exit code."""
    return _run("reach_controller", "steps the arms of a scene and publishes their joints")


def simulated_world() -> int:
    """Run the simulated world; give the exit code."""
    return _run("simulated_world", "keeps the objects of a scene and plays its events")


def fabrik_planner() -> int:
    """Run the FABRIK planner as a node; give the exit code."""
    return _run_planner("fabrik_planner", "FABRIK")


def jacobian_planner() -> int:
    """Run a Jacobian planner as a node; give the exit code."""
    return _run_planner("jacobian_planner", "damped least squares, or the Jacobian transpose")


def guided_planner() -> int:
    """Run the guided planner as a node; give the exit code."""
    return _run_planner("guided_planner", "paths that are certain to be clear")


def ompl_planner() -> int:
    """Run the planner that goes by OMPL; give the exit code."""
    return _run("ompl_planner", "plans in joint space with OMPL and sends arms trajectories")


def viewer() -> int:
    """Run the viewer; give the exit code."""
    return _run("viewer", "serves a page for a browser that shows and moves the arms")


def handles() -> int:
    """Run the handles for RViz; give the exit code."""
    return _run("handles", "gives targets and objects handles in RViz")


def _run_planner(name: str, method: str) -> int:
    what = f"proposes joint angles for arms whose planner is external: {method}"
    return _run(name, what, "planner_node", name)


def _run(name: str, what: str, module: str = "", *arguments: str) -> int:
    """Run a node, or say what it is where the command line asks for that.

    Args:
        name: of the executable.
        what: the node does, in a few words.
        module: that has the node, where it is not called like the executable.
        arguments: for its `main`.

    Returns:
        The exit code.
    """
    if {"-h", "--help"} & set(_own_arguments()):
        print(
            f"usage: {name} [--ros-args -p PARAMETER:=VALUE -r NAME:=NAME ...]\n\n"
            f"A ROS 2 node: {what}.\nWhile it runs, `ros2 param describe` tells its parameters."
        )
        return 0
    _end_quietly()
    try:
        main: Callable[..., int] = importlib.import_module(
            f"octo_reach.nodes.{module or name}"
        ).main
    except ModuleNotFoundError as error:
        return _say_missing(error)
    return main(*arguments)


def _own_arguments() -> list[str]:
    """Give the arguments that are not ROS 2's: those before `--ros-args`."""
    own = sys.argv[1:]
    return own[: own.index("--ros-args")] if "--ros-args" in own else own


def _say_missing(error: ModuleNotFoundError) -> int:
    remedy = (
        "source a ROS 2 installation, or take the extra ros, in a checkout: pip install '.[ros]'"
    )
    if error.name == "viser":
        remedy = "pip install 'viser<1.2'; in a checkout, the extra viewer: pip install '.[viewer]'"
    if error.name == "interactive_markers":
        distribution = os.environ.get("ROS_DISTRO", "DISTRIBUTION")
        remedy = (
            "it comes with a ROS 2 installation, not with the wheels:"
            f" ros-{distribution}-interactive-markers, and rviz2 brings it along"
        )
    print(
        f"a node needs {error.name}, which is not installed here: {remedy}",
        file=sys.stderr,
    )
    return 1


def _end_quietly() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    # Not by an exception: what is imported just now may swallow it, and go on.
    os._exit(0)
