"""What a reach controller says, said by a test: joint angles, claims and releases as it likes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import rclpy
from builtin_interfaces.msg import Time
from harness import CEILING, Probe
from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.model.arm import ArmPlacement
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind
from octo_reach.ros.description import robot_description
from octo_reach.ros.frames import base_frame, joint_names
from octo_reach.ros.objects import WorldObject, delete_all_marker, delete_marker, object_marker
from octo_reach.ros.quality_of_service import LATCHED, STREAM

STEP = round(1e9 / 120)
FOOD = ObjectKind.FOOD


class FakeController:
    """Publishes as a reach controller would, while its probe is spun.

    Attributes:
        angles: the joint angles it says its arms have, by arm number.
        stamp: the stamp of the latest joint states, ns.
        paused: whether stamps stand still.
        quiet: whether it says nothing of its joints.
    """

    def __init__(
        self,
        probe: Probe,
        angles: Mapping[int, Sequence[float]],
        name: str = "fake_controller",
        rate: float = 120.0,
        stamp: int = 1_000_000_000,
    ) -> None:
        """Begin to publish.

        Args:
            probe: the probe that is spun.
            angles: joint angles by arm number.
            name: name of the node.
            rate: messages a second.
            stamp: stamp of the first joint states, ns.
        """
        self.angles = {arm: list(values) for arm, values in angles.items()}
        self.stamp = stamp
        self.paused = False
        self.quiet = False
        self._probe = probe
        context = probe.node.context
        namespace = probe.node.get_namespace()
        self.node = rclpy.create_node(
            name, context=context, namespace=namespace, start_parameter_services=False
        )
        self._joint_states = self.node.create_publisher(JointState, "joint_states", STREAM)
        self._grasps = self.node.create_publisher(MarkerArray, "grasps", LATCHED)
        self._description = self.node.create_publisher(String, "robot_description", LATCHED)
        self._claims: dict[int, Marker] = {}
        self._let_go: dict[int, Marker] = {}
        self.publish_grasps(*[delete_all_marker(base_frame(arm)) for arm in self.angles])
        self._timer = probe.node.create_timer(1.0 / rate, self.publish_joints)

    def publish_joints(self) -> None:
        """Say how the arms stand."""
        if self.quiet:
            return
        message = JointState()
        message.header.stamp = Time(sec=self.stamp // 10**9, nanosec=self.stamp % 10**9)
        for arm, angles in self.angles.items():
            message.name += joint_names(arm, len(angles))
            message.position.extend(map(float, angles))
        self._joint_states.publish(message)
        if not self.paused:
            self.stamp += STEP

    def turn(self, arm: int, angles: Sequence[float], steps: int = 60) -> None:
        """Turn an arm to a pose in steps that an arm can take, and say each of them.

        A jump after a silence would be that of another controller.

        Args:
            arm: its number.
            angles: joint angles to end in, rad.
            steps: number of steps.
        """
        start = self.angles[arm]
        for step in range(1, steps + 1):
            share = step / steps
            self.angles[arm] = [a + share * (b - a) for a, b in zip(start, angles, strict=True)]
            self.publish_joints()
        self.angles[arm] = list(map(float, angles))
        self.publish_joints()

    def wait_until_heard(self) -> None:
        """Wait until the world has taken in the joint states that were published so far.

        They are in its hands once it has acknowledged them, and its callbacks are called in the
        order in which their messages were found, those of topics before those of services.
        """
        for publisher in (self._joint_states, self._grasps):
            self._probe.wait_until(publisher.get_subscription_count, "the world listens")
        self.publish_joints()
        assert self._joint_states.wait_for_all_acked(Duration(seconds=CEILING))
        self._probe.set_flag("simulated_world/pause", False)

    def publish_grasps(self, *markers: Marker) -> None:
        """Publish just these markers on `grasps`."""
        self._grasps.publish(MarkerArray(markers=list(markers)))

    def describe(self, *placements: ArmPlacement) -> None:
        """Publish the robot description of arms."""
        text = robot_description(list(placements), ReachRules.metre())
        self._description.publish(String(data=text))

    def claim(
        self,
        arm: int,
        segment: int,
        number: int,
        offset: tuple[float, float] = (0.0, 0.02),
        kind: ObjectKind = FOOD,
    ) -> None:
        """Claim an object, as a capture does."""
        self._let_go.pop(number, None)
        self._claims[number] = object_marker(
            WorldObject(number, kind, (0.0, 0.0), 0.01, (arm, segment), offset)
        )
        self.repeat_grasps()

    def let_go(self, number: int, position: tuple[float, float], kind: ObjectKind = FOOD) -> None:
        """Say that an object is let go, and where it lies."""
        claim = self._claims.pop(number, None)
        marker = delete_marker(kind, number, position)
        if claim is not None:
            marker.text = claim.header.frame_id.partition("/")[0]
        self._let_go[number] = marker
        self.repeat_grasps()

    def repeat_grasps(self) -> None:
        """Publish all grips, and everything that was let go, as every message of grasps does."""
        self.publish_grasps(*self._let_go.values(), *self._claims.values())

    def die(self) -> None:
        """Vanish without a word."""
        self._probe.node.destroy_timer(self._timer)
        self.node.destroy_node()


def tip_of(
    base: tuple[float, float], angles: Sequence[float], length: float
) -> tuple[float, float]:
    """Give where a chain ends, by plain sums."""
    x, y = base
    heading = 0.0
    for angle in angles:
        heading += angle
        x += length * math.cos(heading)
        y += length * math.sin(heading)
    return x, y
