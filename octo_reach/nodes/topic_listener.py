"""A process that hears every topic of a reach controller and does nothing with it.

    python -m octo_reach.nodes.topic_listener --ros-args -p arms:=8

It stands for a recorder or a display where a controller is measured. Messages stay bytes, so that
it takes little from the machine it is measured on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PointStamped
from nav_msgs.msg import Path
from rclpy.node import Node
from sensor_msgs.msg import JointState, PointCloud2
from std_msgs.msg import Float64, String
from visualization_msgs.msg import MarkerArray

from octo_reach.nodes.signal_flag import SignalFlag
from octo_reach.nodes.spinning import run_node
from octo_reach.ros.frames import arm_name
from octo_reach.ros.quality_of_service import STREAM

TOPICS: dict[str, Any] = {
    "joint_states": JointState,
    "contacts": PointCloud2,
    "grasps": MarkerArray,
    "arm_states": DiagnosticArray,
    "markers": MarkerArray,
    "robot_description": String,
    "/diagnostics": DiagnosticArray,
}
"""What a controller publishes once."""

ARM_TOPICS: dict[str, Any] = {
    "tip": PointStamped,
    "tip_error": Float64,
    "trail": Path,
}
"""What it publishes for every arm."""


def topics_of(arms: int) -> dict[str, Any]:
    """Give the message type of every topic of a controller by the topic's name.

    Args:
        arms: its arms, numbered from 1.
    """
    return TOPICS | {
        f"{arm_name(number)}/{topic}": kind
        for number in range(1, arms + 1)
        for topic, kind in ARM_TOPICS.items()
    }


class TopicListener(Node):
    """Subscribes to everything."""

    def __init__(self) -> None:
        """Subscribe."""
        super().__init__("topic_listener")
        arms = self.declare_parameter("arms", 8).value
        for topic, kind in topics_of(int(arms or 0)).items():
            self.create_subscription(kind, topic, _ignore, STREAM, raw=True)

    def live(self, stop: SignalFlag) -> None:
        """Listen until `stop` is set."""
        self.get_logger().info("ready")
        stop.wait()


def _ignore(message: bytes) -> None:
    """Take a message and leave it."""


def main(args: Sequence[str] | None = None) -> int:
    """Run the listener until SIGINT or SIGTERM; give the exit code."""
    return run_node(TopicListener, args)


if __name__ == "__main__":
    sys.exit(main())
