"""Whatever arrives is taken or rejected: no other exception, and nothing unfit is let through."""

import math

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from hypothesis import given
from hypothesis import strategies as st
from ros_messages import RULES
from sensor_msgs.msg import JointState
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.ros.description import arms_from_description, robot_description
from octo_reach.ros.joint_states import JointStateReader, proposal_from_joint_state
from octo_reach.ros.objects import ADD, grasps_from_markers, objects_from_markers
from octo_reach.ros.validation import CAUSES, FARTHEST, LARGEST_RADIUS, RejectedInput

pytestmark = pytest.mark.ros

ARMS = {1: 4, 2: 3}
NUMBERS = st.one_of(st.floats(), st.sampled_from([0.0, 0.1, 0.028, -0.1]))
FRAMES = st.one_of(
    st.sampled_from(["", "world", "map", "arm_1/segment_2", "arm_2/segment_4", "arm_1/base"]),
    st.text(max_size=20),
)
NAMESPACES = st.one_of(st.sampled_from(["food", "obstacle", "hazard"]), st.text(max_size=8))
JOINTS = st.one_of(
    st.sampled_from([f"arm_1/joint_{i}" for i in range(6)]),
    st.sampled_from([f"joint_{i}" for i in range(6)]),
    st.text(max_size=12),
)


@st.composite
def markers(draw):
    marker = Marker()
    marker.ns = draw(NAMESPACES)
    marker.id = draw(st.integers(-2, 4))
    marker.header.frame_id = draw(FRAMES)
    marker.type = draw(st.sampled_from([Marker.CYLINDER, Marker.SPHERE, Marker.CUBE, -1]))
    marker.action = draw(st.sampled_from([Marker.ADD, Marker.ADD, Marker.DELETE, 1, 3]))
    marker.pose.position.x = draw(NUMBERS)
    marker.pose.position.y = draw(NUMBERS)
    marker.scale.x = draw(NUMBERS)
    marker.scale.y = marker.scale.x if draw(st.booleans()) else draw(NUMBERS)
    marker.lifetime.sec = draw(st.integers(-1, 1))
    return marker


@st.composite
def joint_states(draw):
    message = JointState()
    message.name = draw(st.lists(JOINTS, max_size=5))
    length = draw(st.sampled_from([len(message.name), 0, 3]))
    message.position = draw(st.lists(NUMBERS, min_size=length, max_size=length))
    message.velocity = draw(st.lists(NUMBERS, max_size=1))
    return message


def assert_rejected_properly(error):
    assert error.cause in CAUSES
    assert str(error).startswith("topic: ")
    assert len(str(error)) < 500


@pytest.mark.parametrize("read", [objects_from_markers, grasps_from_markers])
@given(st.lists(markers(), max_size=4))
def test_any_markers_are_changes_the_scene_can_take_or_rejected(read, several):
    try:
        changes = read("topic", MarkerArray(markers=several), ARMS)
    except RejectedInput as error:
        assert_rejected_properly(error)
        return
    assert len(changes) == len(several)
    for change in changes:
        if change.action == ADD:
            assert change.number >= 1
            assert all(abs(coordinate) <= FARTHEST for coordinate in change.position)
            assert 0.0 < change.radius <= LARGEST_RADIUS
            assert change.lifetime >= 0.0
            if change.holder is not None:
                assert 1 <= change.holder[1] <= ARMS[change.holder[0]]


@given(joint_states())
def test_any_joint_state_is_angles_or_rejected(message):
    try:
        angles = proposal_from_joint_state("topic", message, 1, 3)
        assert angles.shape == (3,)
        assert (abs(angles) <= FARTHEST).all()
    except RejectedInput as error:
        assert_rejected_properly(error)
    try:
        read = JointStateReader("topic").read(message)
        assert sum(len(angles) for angles in read.values()) == len(message.name)
    except RejectedInput as error:
        assert_rejected_properly(error)


DESCRIPTION = robot_description([ArmPlacement(1, ArmParameters(2, 0.02), (0.1, 0.2))], RULES)


@given(
    st.integers(0, len(DESCRIPTION)),
    st.integers(0, 40),
    st.one_of(st.text(max_size=8), st.sampled_from(["1e999", '"', "<", "0", "-", "arm_2", "nan"])),
)
def test_a_damaged_description_is_arms_that_could_be_or_refused(start, length, patch):
    text = DESCRIPTION[:start] + patch + DESCRIPTION[start + length :]
    try:
        arms = arms_from_description(text)
    except ValueError:
        return
    for arm in arms:
        assert arm.number >= 1
        assert 2 <= arm.parameters.segment_count <= 100
        assert all(map(math.isfinite, arm.base))
