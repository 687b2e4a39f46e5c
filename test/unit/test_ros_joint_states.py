"""Joint states out of the arms, and joint angles out of messages."""

import math
from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rclpy", reason="rclpy is not installed")

from ros_messages import STAMP, STEP, filled, make_octopus
from sensor_msgs.msg import JointState

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.ros.frames import joint_names
from octo_reach.ros.joint_states import (
    JointStateBuilder,
    JointStateReader,
    proposal_from_joint_state,
)
from octo_reach.ros.validation import RejectedInput

pytestmark = pytest.mark.ros

TOPIC = "arm_1/joint_proposal"


def make_state(names, positions, velocity=(), effort=()):
    message = JointState()
    message.name = list(names)
    message.position = array("d", positions)
    message.velocity = array("d", velocity)
    message.effort = array("d", effort)
    return message


def rejection_of(call, *arguments):
    with pytest.raises(RejectedInput) as caught:
        call(*arguments)
    return caught.value


# Out


def test_joints_of_all_arms_stand_in_the_order_of_arms_then_base_to_tip():
    octopus = make_octopus((7, 2))
    message = filled(JointStateBuilder(), octopus, STAMP, 0.0)
    assert message.name == joint_names(2, 20) + joint_names(7, 20)
    assert message.header.stamp == STAMP
    assert list(message.effort) == []


def test_positions_are_the_angles_and_velocities_their_change():
    octopus = make_octopus()
    builder = JointStateBuilder()
    builder.fill(octopus, STAMP, 0.0)
    for _ in range(5):
        before = np.concatenate([arm.angles for arm in octopus.arms])
        octopus.step(STEP)
        after = np.concatenate([arm.angles for arm in octopus.arms])
        copy = filled(builder, octopus, STAMP, STEP)
        np.testing.assert_array_equal(copy.position, after)
        np.testing.assert_allclose(copy.velocity, (after - before) / STEP, atol=1e-9)
    assert np.abs(copy.velocity).max() > 0.1


def test_no_joint_is_reported_faster_than_it_may_turn_when_the_base_crosses_pi():
    placement = ArmPlacement(
        1, ArmParameters(3, 0.02, 1.0, 1.5), heading=math.pi - 0.01, target=(-0.02, -0.05)
    )
    octopus = Octopus([placement], ReachRules.metre())
    builder = JointStateBuilder()
    builder.fill(octopus, STAMP, 0.0)
    jumped = False
    for _ in range(30):
        before = octopus.arm(1).angles[0]
        octopus.step(STEP)
        jumped |= abs(octopus.arm(1).angles[0] - before) > 3.0
        velocity = filled(builder, octopus, STAMP, STEP).velocity
        assert np.abs(velocity).max() <= 1.5 + 1e-9
    assert jumped


def test_velocities_are_zero_at_first_after_a_restart_and_without_time():
    octopus = make_octopus()
    builder = JointStateBuilder()
    octopus.step(STEP)
    assert not any(filled(builder, octopus, STAMP, STEP).velocity)
    octopus.step(STEP)
    assert any(filled(builder, octopus, STAMP, STEP).velocity)
    octopus.step(STEP)
    assert not any(filled(builder, octopus, STAMP, 0.0).velocity)
    for number in octopus.numbers:
        octopus.reset(number)
    builder.restart()
    assert not any(filled(builder, octopus, STAMP, STEP).velocity)


def test_an_arm_that_changes_its_segment_count_is_picked_up():
    octopus = make_octopus((1, 2))
    builder = JointStateBuilder()
    builder.fill(octopus, STAMP, 0.0)
    octopus.reset(1, ArmParameters(5, 0.02))
    message = filled(builder, octopus, STAMP, STEP)
    assert message.name == joint_names(1, 5) + joint_names(2, 20)
    assert len(message.position) == len(message.velocity) == 25
    np.testing.assert_array_equal(message.position[:5], octopus.arm(1).angles)


def test_what_is_published_can_be_read():
    octopus = make_octopus((1, 3))
    message = filled(JointStateBuilder(), octopus, STAMP, 0.0)
    angles = JointStateReader().read(message)
    assert sorted(angles) == [1, 3]
    for number, read in angles.items():
        np.testing.assert_array_equal(read, octopus.arm(number).angles)


# Proposals


@given(st.permutations(range(4)), st.booleans())
def test_a_proposal_is_taken_in_any_order_with_and_without_the_arm_in_the_names(order, bare):
    names = [f"joint_{i + 1}" if bare else f"arm_1/joint_{i + 1}" for i in order]
    message = make_state(names, [float(i) for i in order])
    angles = proposal_from_joint_state(TOPIC, message, 1, 4)
    np.testing.assert_array_equal(angles, [0.0, 1.0, 2.0, 3.0])


def test_a_proposal_may_carry_velocities_that_are_ignored():
    message = make_state(joint_names(1, 2), [0.1, 0.2], velocity=[math.nan, 1.0])
    np.testing.assert_array_equal(proposal_from_joint_state(TOPIC, message, 1, 2), [0.1, 0.2])


def test_a_proposal_is_a_copy_that_the_message_cannot_change_later():
    message = make_state(joint_names(1, 2), [0.1, 0.2])
    angles = proposal_from_joint_state(TOPIC, message, 1, 2)
    message.position[0] = 9.0
    assert angles[0] == 0.1


@pytest.mark.parametrize(
    "names",
    [
        [],
        ["joint_1", "joint_2"],
        ["joint_1", "joint_2", "joint_3", "joint_4"],
        ["joint_1", "joint_2", "joint_2"],
        ["joint_1", "joint_2", "arm_1/joint_2"],
        ["joint_1", "joint_2", "joint_4"],
        ["arm_2/joint_1", "arm_2/joint_2", "arm_2/joint_3"],
        ["a", "b", "c"],
        ["", "", ""],
    ],
)
def test_a_proposal_with_wrong_joint_names_is_rejected(names):
    error = rejection_of(
        proposal_from_joint_state, TOPIC, make_state(names, [0.0] * len(names)), 1, 3
    )
    assert error.cause == "wrong joint names"
    assert str(error).startswith(TOPIC)


def test_positions_without_names_are_rejected():
    error = rejection_of(proposal_from_joint_state, TOPIC, make_state([], [0.0] * 3), 1, 3)
    assert error.cause == "wrong joint names"


@pytest.mark.parametrize(
    ("positions", "velocity", "effort"),
    [
        ([0.0], [], []),
        ([0.0] * 3, [], []),
        ([], [], []),
        ([0.0] * 2, [0.0], []),
        ([0.0] * 2, [], [0.0] * 3),
    ],
)
def test_arrays_of_unequal_length_are_rejected(positions, velocity, effort):
    message = make_state(joint_names(1, 2), positions, velocity, effort)
    for call in (
        lambda: proposal_from_joint_state(TOPIC, message, 1, 2),
        lambda: JointStateReader().read(message),
    ):
        assert rejection_of(call).cause == "unequal lengths"


@pytest.mark.parametrize(
    ("number", "cause"),
    [
        (math.nan, "not finite"),
        (math.inf, "not finite"),
        (-math.inf, "not finite"),
        (1e300, "out of range"),
    ],
)
def test_angles_that_are_no_angles_are_rejected_by_name(number, cause):
    message = make_state(joint_names(1, 2), [0.0, number])
    for call in (
        lambda: proposal_from_joint_state(TOPIC, message, 1, 2),
        lambda: JointStateReader().read(message),
    ):
        error = rejection_of(call)
        assert error.cause == cause
        assert "arm_1/joint_2" in str(error)


# Joint states


def test_joint_states_are_read_in_any_order():
    names = ["arm_2/joint_2", "arm_1/joint_1", "arm_2/joint_1", "arm_1/joint_2"]
    angles = JointStateReader().read(make_state(names, [22.0, 11.0, 21.0, 12.0]))
    assert {arm: read.tolist() for arm, read in angles.items()} == {
        1: [11.0, 12.0],
        2: [21.0, 22.0],
    }


def test_a_reader_notices_that_the_names_changed():
    reader = JointStateReader()
    reader.read(make_state(joint_names(1, 2), [1.0, 2.0]))
    reader.read(make_state(joint_names(1, 2), [3.0, 4.0]))
    angles = reader.read(make_state(joint_names(2, 3), [1.0, 2.0, 3.0]))
    assert {arm: read.tolist() for arm, read in angles.items()} == {2: [1.0, 2.0, 3.0]}


@pytest.mark.parametrize(
    "names",
    [
        ["arm_1/joint_1", "wheel"],
        ["arm_1/joint_1", "arm_1/joint_1"],
        ["arm_1/joint_1", "arm_1/joint_3"],
        ["arm_1/joint_2", "arm_1/joint_3"],
        ["joint_1", "joint_2"],
        [],
    ],
)
def test_joint_states_with_wrong_names_are_rejected_and_forgotten(names):
    reader = JointStateReader()
    assert (
        rejection_of(reader.read, make_state(names, [0.0] * len(names))).cause
        == "wrong joint names"
    )
    assert list(reader.read(make_state(joint_names(1, 2), [0.0, 0.0]))) == [1]
