"""What the executables of the package start.

Importing a node takes a moment, in which the node itself cannot listen to signals yet. An interrupt
in that moment ends the process as it would later: quietly, with exit code 0.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType


def reach_controller() -> int:
    """Run the reach controller; give the exit code."""
    _end_quietly()
    try:
        from octo_reach.nodes.reach_controller import main
    except ModuleNotFoundError as error:
        return _say_missing(error)
    return main()


def simulated_world() -> int:
    """Run the simulated world; give the exit code."""
    _end_quietly()
    try:
        from octo_reach.nodes.simulated_world import main
    except ModuleNotFoundError as error:
        return _say_missing(error)
    return main()


def fabrik_planner() -> int:
    """Run the FABRIK planner as a node; give the exit code."""
    return _run_planner("fabrik_planner")


def jacobian_planner() -> int:
    """Run a Jacobian planner as a node; give the exit code."""
    return _run_planner("jacobian_planner")


def guided_planner() -> int:
    """Run the guided planner as a node; give the exit code."""
    return _run_planner("guided_planner")


def ompl_planner() -> int:
    """Run the planner that goes by OMPL; give the exit code."""
    _end_quietly()
    try:
        from octo_reach.nodes.ompl_planner import main
    except ModuleNotFoundError as error:
        return _say_missing(error)
    return main()


def _run_planner(name: str) -> int:
    _end_quietly()
    try:
        from octo_reach.nodes.planner_node import main
    except ModuleNotFoundError as error:
        return _say_missing(error)
    return main(name)


def viewer() -> int:
    """Run the viewer; give the exit code."""
    _end_quietly()
    try:
        from octo_reach.nodes.viewer import main
    except ModuleNotFoundError as error:
        return _say_missing(error)
    return main()


def handles() -> int:
    """Run the handles for RViz; give the exit code."""
    _end_quietly()
    try:
        from octo_reach.nodes.handles import main
    except ModuleNotFoundError as error:
        return _say_missing(error)
    return main()


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
    sys.exit(0)
