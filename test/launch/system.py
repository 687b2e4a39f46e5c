"""What the launch tests stand on: one launch file, started with RViz left out, and a probe."""

from __future__ import annotations

import math
import sys
import unittest
from pathlib import Path

import rclpy
from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Point, PointStamped
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_testing.actions import ReadyToTest
from std_msgs.msg import String

sys.path.append(str(Path(__file__).resolve().parents[1] / "ros"))

from harness import Probe

from octo_reach.installation import share_path
from octo_reach.model.rules import ReachRules
from octo_reach.ros.description import arms_from_description

START_CEILING = 40.0
"""Longest the nodes may take to come up, s: where they never ran, kernels are compiled first."""

FOLLOWERS = ("robot_state_publisher",)
"""Nodes that are launched only where they are installed."""


def launch(file: str, **arguments: str) -> tuple[LaunchDescription, dict[str, object]]:
    """Describe the launch of an installed launch file, for `generate_test_description`."""
    included = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(share_path("launch", file))),
        launch_arguments={"rviz": "false", **arguments}.items(),
    )
    return LaunchDescription([included, ReadyToTest()]), {}


def is_installed(package: str) -> bool:
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


class SystemTest(unittest.TestCase):
    """Tests of one launched system; a subclass says where it lives and which arms it has."""

    namespace = "/"
    arms: tuple[int, ...] = (1,)

    @classmethod
    def setUpClass(cls) -> None:
        cls.context = rclpy.Context()
        rclpy.init(context=cls.context)
        cls.probe = Probe(cls.context, cls.namespace)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.probe.close()
        rclpy.shutdown(context=cls.context)

    def wait_for_nodes(self) -> None:
        """Wait until every launched node is there, in its namespace, and every arm speaks."""
        wanted = {"reach_controller", "simulated_world", *filter(is_installed, FOLLOWERS)}
        node = self.probe.node
        places = {(name, self.namespace) for name in wanted}
        self.probe.wait_until(
            lambda: places <= set(node.get_node_names_and_namespaces()),
            f"the nodes {sorted(places)}",
            START_CEILING,
            lambda: str(node.get_node_names_and_namespaces()),
        )
        states = self.probe.listen_latched(DiagnosticArray, "arm_states")
        message = states.wait_for(what="a report of the arms", timeout=START_CEILING)
        self.assertEqual(
            [status.name.rpartition("/")[2] for status in message.status],
            [f"arm_{number}" for number in self.arms],
        )

    def described_arms(self) -> tuple[int, ...]:
        """Give the numbers of the arms in the robot model."""
        recorder = self.probe.listen_latched(String, "robot_description")
        message = recorder.wait_for(what="a robot model", timeout=START_CEILING)
        return tuple(arm.number for arm in arms_from_description(message.data))

    def send_to(self, arm: int, x: float, y: float) -> None:
        """Send an arm to a place, and wait until its tip is there."""
        self.wait_for_nodes()
        tip = self.probe.listen(PointStamped, f"arm_{arm}/tip")
        target = PointStamped(point=Point(x=x, y=y))
        target.header.frame_id = "world"
        self.probe.send(f"arm_{arm}/target", target)
        tolerance = ReachRules.metre().reach_tolerance
        tip.wait_for(
            lambda message: math.dist((message.point.x, message.point.y), (x, y)) <= tolerance,
            f"arm_{arm} at ({x}, {y})",
        )
