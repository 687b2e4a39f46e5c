"""Targets from messages, and tips as messages."""

import math

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from geometry_msgs.msg import PointStamped, PoseStamped
from ros_messages import STAMP, STEP, filled, make_octopus, received

from octo_reach.ros.targets import (
    TipBuilder,
    TipErrorBuilder,
    target_from_point,
    target_from_pose,
    target_message,
)
from octo_reach.ros.validation import RejectedInput

pytestmark = pytest.mark.ros


def make_point(x=0.1, y=-0.2, z=0.0, frame="world"):
    message = PointStamped()
    message.header.frame_id = frame
    message.point.x, message.point.y, message.point.z = x, y, z
    return message


def make_pose(x=0.1, y=-0.2, frame="world"):
    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.position.x, message.pose.position.y = x, y
    return message


@pytest.mark.parametrize("frame", ["world", ""])
def test_a_target_in_the_world_is_taken(frame):
    assert target_from_point("arm_1/target", make_point(frame=frame)) == (0.1, -0.2)
    assert target_from_pose("arm_1/target_pose", make_pose(frame=frame)) == (0.1, -0.2)


def test_height_does_not_matter_whatever_it_is():
    assert target_from_point("arm_1/target", make_point(z=math.nan)) == (0.1, -0.2)


def test_the_orientation_of_a_pose_does_not_matter_whatever_it_is():
    message = make_pose()
    message.pose.orientation.w = math.nan
    assert target_from_pose("arm_1/target_pose", message) == (0.1, -0.2)


@pytest.mark.parametrize(
    "frame", ["map", "/world", "World", "arm_1/base", "arm_1/segment_1", "x" * 999]
)
def test_a_target_in_another_frame_is_rejected(frame):
    for convert, message in (
        (target_from_point, make_point(frame=frame)),
        (target_from_pose, make_pose(frame=frame)),
    ):
        with pytest.raises(RejectedInput) as caught:
            convert("arm_1/target", message)
        assert caught.value.cause == "unknown frame"
        assert caught.value.topic == "arm_1/target"


@pytest.mark.parametrize(
    ("number", "cause"),
    [
        (math.nan, "not finite"),
        (math.inf, "not finite"),
        (-math.inf, "not finite"),
        (1e7, "out of range"),
        (-1.7e308, "out of range"),
    ],
)
def test_a_target_that_is_no_place_is_rejected(number, cause):
    for convert, make in ((target_from_point, make_point), (target_from_pose, make_pose)):
        for coordinates in ({"x": number}, {"y": number}):
            with pytest.raises(RejectedInput) as caught:
                convert("arm_1/target", make(**coordinates))
            assert caught.value.cause == cause


def test_a_target_message_comes_back_as_its_target():
    message = received(target_message(1, 2))
    assert message.header.frame_id == "world"
    assert target_from_point("arm_1/target", message) == (1.0, 2.0)


def test_a_tip_message_follows_the_tip():
    octopus = make_octopus()
    builder = TipBuilder()
    for _ in range(3):
        octopus.step(STEP)
        message = filled(builder, octopus.arm(2).tip, STAMP)
        assert (message.point.x, message.point.y) == tuple(octopus.arm(2).tip.tolist())
        assert message.point.z == 0.0
        assert message.header.frame_id == "world"
        assert message.header.stamp == STAMP


def test_a_tip_error_message_follows_the_tip_error():
    octopus = make_octopus()
    builder = TipErrorBuilder()
    for _ in range(3):
        octopus.step(STEP)
        message = filled(builder, octopus.arm(2).tip_error)
        assert message.data == octopus.arm(2).tip_error > 0.0
