"""octo-reach run: the world, the controller and what they do, in one terminal."""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from octo_reach.commands import CommandError
from octo_reach.commands.arguments import checked_seconds
from octo_reach.commands.middleware import checked_namespace, require_ros
from octo_reach.commands.stopping import Signals
from octo_reach.viewer.address import HOST, PORT, check_address, free_port, page_address

if TYPE_CHECKING:
    from octo_reach.scenes import SceneDocument

DEFAULT_SCENE = "reef"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command line of `run`."""
    parser = subparsers.add_parser(
        "run",
        help="run the world and the controller over ROS 2, and watch them",
        description="Starts simulated_world and reach_controller as two ROS 2 nodes, and shows what"
        " every arm does until Ctrl-C; where viser is installed, also in a browser. The exit code"
        " is 0 then, 1 when a node ended by itself, 2 when they cannot be started.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "scene",
        metavar="SCENE",
        nargs="?",
        help="scene file, or the name of a shipped scene (default: reef, with eight arms)",
    )
    parser.add_argument("--planner", metavar="NAME", help="planner of every arm")
    parser.add_argument(
        "--arms", metavar="N", help="arms of the scene to use: 2, 1,3 or 1-4 (default: all)"
    )
    parser.add_argument(
        "--seconds", metavar="S", help="end so long after the arms were first heard of (wall clock)"
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        action="append",
        default=[],
        help="ROS 2 parameter file for both nodes; may be given several times",
    )
    parser.add_argument("--namespace", metavar="NAME", default="", help="ROS 2 namespace to run in")
    parser.add_argument(
        "--plain", action="store_true", help="print a line a second instead of a table"
    )
    parser.add_argument(
        "--viewer-port",
        metavar="PORT",
        help=f"port of the view in a browser, which only this machine can reach; 0: any that is"
        f" free (default: {PORT})",
    )
    parser.add_argument("--no-viewer", action="store_true", help="do without that view")
    parser.set_defaults(execute=execute)


@dataclass
class Plan:
    """What is to be run, checked.

    Attributes:
        title: what it is, in a line.
        arms: numbers of the arms; empty where only the parameter files know.
        example: an arm and a target it may be sent to.
        seconds: how long, s; infinite where until Ctrl-C.
        namespace: ROS 2 namespace, with a leading slash; "/" for none.
        world: command line arguments of the world.
        controller: command line arguments of the controller.
        viewer: command line arguments of the viewer; None where there is to be none.
        page: address of its page; empty where there is none.
        no_page: why there is none although one might be expected, in a line; empty otherwise.
    """

    title: str
    arms: tuple[int, ...]
    example: tuple[int, float, float]
    seconds: float
    namespace: str
    world: list[str] = field(default_factory=list)
    controller: list[str] = field(default_factory=list)
    viewer: list[str] | None = None
    page: str = ""
    no_page: str = ""


def execute(arguments: argparse.Namespace) -> int:
    """Run world and controller until they are told to end; the exit code is 0 then."""
    _mend_streams()
    with Signals() as signals:
        require_ros("octo-reach run")
        plan = make_plan(arguments)
        from octo_reach.commands.session import run_session

        return run_session(plan, signals, plain=arguments.plain)


def _mend_streams() -> None:
    """Let output that nobody asked for go nowhere, and a poor encoding be no failure."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def make_plan(arguments: argparse.Namespace) -> Plan:
    """Check everything that can be checked before a process is started.

    Raises:
        CommandError: something is wrong; the text names it.
    """
    from octo_reach.planners import PLANNERS
    from octo_reach.ros.parameters import chosen_arms
    from octo_reach.scenes import SceneError, load_scene, to_metres
    from octo_reach.scenes.shipped import UnknownSceneError, find_scene

    seconds = checked_seconds(arguments.seconds)
    namespace = checked_namespace(arguments.namespace)
    if arguments.planner is not None and arguments.planner not in PLANNERS:
        choices = ", ".join(PLANNERS)
        raise CommandError(f"--planner must be one of {choices}, got {arguments.planner!r}")
    files = [_checked_file(name) for name in arguments.config]
    try:
        path = find_scene(arguments.scene or DEFAULT_SCENE).resolve()
        document = to_metres(load_scene(path))
    except (SceneError, UnknownSceneError) as error:
        raise CommandError(str(error)) from None
    numbers = [placement.number for placement in document.placements()]
    try:
        arms = chosen_arms(arguments.arms or "", numbers)
    except ValueError as error:
        raise CommandError(f"--arms: {error}") from None

    plan = Plan(
        title=f"{document.name}: {len(arms)} {'arm' if len(arms) == 1 else 'arms'}",
        arms=arms,
        example=example_target(document, arms),
        seconds=seconds,
        namespace=namespace,
    )
    scene = ["-p", f"scene:={_yaml_text(str(path))}"]
    given = [word for name in files for word in ("--params-file", str(name))]
    # What comes later counts: the files may name another scene than the default one.
    by_file = files and arguments.scene is None
    common = [*scene, *given] if by_file else [*given, *scene]
    if files:
        # Which arms there are, and where, may stand in the files too.
        plan.arms = ()
        plan.title = f"{len(files)} parameter {'file' if len(files) == 1 else 'files'}"
    common = ["--ros-args", "-r", f"__ns:={namespace}", *common]
    plan.world = common
    plan.controller = list(common)
    if arguments.arms:
        plan.controller += ["-p", f"arms:={_yaml_text(arguments.arms)}"]
    if arguments.planner:
        plan.controller += ["-p", f"planner:={_yaml_text(arguments.planner)}"]
        plan.title += f", planner {arguments.planner}"
    _plan_viewer(plan, arguments)
    return plan


def _plan_viewer(plan: Plan, arguments: argparse.Namespace) -> None:
    """Plan a viewer where one can be had. Nobody needs one for the arms to move."""
    wanted = arguments.viewer_port is not None
    port = _checked_port(arguments.viewer_port) if wanted else PORT
    if arguments.no_viewer:
        return
    if importlib.util.find_spec("viser") is None:
        if wanted:
            raise CommandError("--viewer-port: the view in a browser needs viser (extra viewer)")
        return
    try:
        check_address(HOST, port)
    except OSError as failure:
        reason, _, _ = str(failure).partition(";")
        plan.no_page = f"{reason}; --viewer-port chooses another"
        return
    # The address is printed before the viewer is there to say it.
    port = port or free_port(HOST)
    plan.page = page_address(HOST, port)
    plan.viewer = ["--ros-args", "-r", f"__ns:={plan.namespace}", "-p", f"port:={port}"]


def _checked_port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) <= 65535):
        raise CommandError(f"--viewer-port must be a whole number from 0 to 65535, got {text!r}")
    return int(text)


def _checked_file(name: str) -> Path:
    path = Path(name)
    if not path.is_file():
        raise CommandError(f"--config: there is no file {name}")
    return path.resolve()


def _yaml_text(text: str) -> str:
    """Give a text so that YAML reads it as the same text, even `3` or `on`."""
    return "'" + text.replace("'", "''") + "'"


def example_target(document: SceneDocument, arms: Sequence[int]) -> tuple[int, float, float]:
    """Choose a target worth trying: within an arm's reach, and clear of every object.

    Args:
        document: the scene, in metres.
        arms: numbers of the arms; the first one is taken.

    Returns:
        (arm, x, y), m, two digits each.
    """
    placements = {placement.number: placement for placement in document.placements()}
    if not arms:
        return (1, 0.15, 0.1)
    arm = placements[arms[0]]
    reach = arm.parameters.segment_count * arm.parameters.segment_length
    x = y = 0.0
    for turn in (0.5, -0.5, 0.25, -0.25, 0.8, -0.8, 0.0):
        x = round(arm.base[0] + 0.7 * reach * math.cos(arm.heading + turn), 2)
        y = round(arm.base[1] + 0.7 * reach * math.sin(arm.heading + turn), 2)
        if all(
            math.hypot(x - thing.position[0], y - thing.position[1]) > thing.radius + 0.03
            for thing in document.objects
        ):
            break
    return (arms[0], x, y)
