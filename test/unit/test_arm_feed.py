"""Arms that are only heard of."""

from __future__ import annotations

import math

import numpy as np
import pytest

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.geometry import forward_kinematics
from octo_reach.scenes.arm_feed import ArmFeed

PARAMETERS = ArmParameters(segment_count=4, segment_length=0.05, turning_speed=1.5)
POSE = np.array([0.4, 0.3, -0.2, 0.5])


@pytest.fixture
def feed():
    return ArmFeed([ArmPlacement(1, PARAMETERS, (0.1, -0.2))])


def test_an_arm_is_known_but_has_no_place_before_it_is_heard_of(feed):
    assert feed.arms == (1,)
    assert feed.heard_arms == ()
    assert feed.age(1, 5.0) == math.inf
    assert feed.segment_count(1) is None
    assert feed.position((1, 2), (0.0, 0.0)) is None


@pytest.mark.parametrize("segment", [1, 2, 3, 4])
def test_a_place_on_a_segment_agrees_with_the_models_kinematics(feed, segment):
    feed.hear({1: POSE}, 0.0, 0.0)
    joints, headings = forward_kinematics((0.1, -0.2), 0.05, POSE)
    heading = headings[segment - 1]
    expected = (
        joints[segment, 0] + 0.03 * math.cos(heading) - 0.02 * math.sin(heading),
        joints[segment, 1] + 0.03 * math.sin(heading) + 0.02 * math.cos(heading),
    )
    assert feed.position((1, segment), (0.03, 0.02)) == pytest.approx(expected, abs=1e-14)


def test_a_place_is_unknown_where_the_arm_is_not_as_it_should_be(feed):
    feed.hear({1: np.zeros(5), 7: POSE}, 0.0, 0.0)
    assert feed.position((1, 2), (0.0, 0.0)) is None
    assert feed.position((7, 2), (0.0, 0.0)) is None
    feed.describe([ArmPlacement(1, ArmParameters(5, 0.1))])
    assert feed.position((1, 2), (0.0, 0.0)) == pytest.approx((0.2, 0.0))
    assert feed.position((1, 6), (0.0, 0.0)) is None


def test_who_moves_an_arm_has_the_last_word_on_its_length(feed):
    feed.describe([ArmPlacement(1, ArmParameters(9, 0.1)), ArmPlacement(3, PARAMETERS)])
    assert feed.segment_count(1) == 9
    assert feed.arms == (1, 3)
    feed.hear({1: np.zeros(6)}, 0.0, 0.0)
    assert feed.segment_count(1) == 6


def test_silence_counts_from_the_last_message(feed):
    feed.hear({1: POSE}, 0.0, 10.0)
    assert feed.silent(10.9, 1.0) == ()
    assert feed.silent(11.1, 1.0) == (1,)
    feed.hear({1: POSE}, 0.0, 11.2)
    assert feed.silent(11.9, 1.0) == ()


def test_a_listener_that_did_not_listen_holds_no_silence_against_anyone(feed):
    feed.hear({1: POSE}, 0.0, 10.0)
    feed.forgive(15.0)
    assert feed.silent(15.9, 1.0) == ()
    assert feed.silent(16.1, 1.0) == (1,)


def test_a_pose_is_another_controllers_only_after_a_pause_and_beyond_what_the_arm_can_turn(feed):
    feed.hear({1: POSE}, 0.0, 0.0)
    far = POSE + np.array([0.0, 0.9, 0.0, 0.0])
    assert feed.replaced({1: far}, 0.1, 0.1) == ()
    assert feed.replaced({1: far}, 0.5, 0.5) == (1,)
    assert feed.replaced({1: POSE + 0.3}, 0.5, 0.5) == ()
    assert feed.replaced({1: np.zeros(5)}, 0.5, 0.5) == (1,)
    # A base that has gone round once stands where it stood.
    assert feed.replaced({1: POSE + np.array([2.0 * math.pi, 0.0, 0.0, 0.0])}, 0.5, 0.5) == ()


def test_messages_counted_from_the_first_again_are_another_controllers_after_a_pause(feed):
    feed.hear({1: POSE}, 0.0, 0.0, sequence=500)
    assert feed.replaced({1: POSE}, 0.1, 0.1, sequence=3) == ()
    assert feed.replaced({1: POSE}, 0.5, 0.5, sequence=3) == (1,)
    assert feed.replaced({1: POSE}, 0.5, 0.5, sequence=540) == ()
    assert feed.replaced({1: POSE}, 0.5, 0.5) == ()
    feed.hear({1: POSE}, 0.5, 0.5, sequence=3)
    assert feed.replaced({1: POSE}, 1.0, 1.0, sequence=60) == ()


def test_an_arm_whose_pose_jumps_to_and_fro_is_disputed_until_it_rests(feed):
    for step in range(8):
        feed.hear({1: POSE + (0.5 if step % 2 else 0.0)}, step / 120, step / 120)
        assert feed.disputed(step / 120) == ((1,) if step >= 3 else ())
    for step in range(8, 300):
        feed.hear({1: POSE}, step / 120, step / 120)
    assert feed.disputed(300 / 120) == ()


def test_resets_by_hand_and_messages_that_come_late_are_no_dispute(feed):
    feed.hear({1: POSE}, 0.0, 0.0)
    for reset in range(5):
        feed.hear({1: POSE * (reset % 2)}, reset * 0.6, reset * 0.6)
        assert feed.disputed(reset * 0.6) == ()
    turned = POSE.copy()
    for step in range(1, 60):
        # A fast turn whose messages all arrive together.
        turned = turned + 1.5 / 120
        feed.hear({1: turned}, 5.0 + step / 120, 5.0)
    assert feed.disputed(5.0) == ()


def test_several_controllers_in_one_pose_are_a_dispute_once_none_can_be_a_dead_one(feed):
    feed.hear({1: POSE, 2: POSE}, 0.0, 0.0)
    for second in range(26):
        feed.note_publishers(1, 2, float(second))
        feed.note_publishers(2, 2 if second % 20 else 1, float(second))
        assert feed.disputed(float(second)) == ()
    feed.note_publishers(1, 3, 26.0)
    assert feed.disputed(26.0) == (1,)
    feed.note_publishers(1, 1, 27.0)
    assert feed.disputed(27.0) == ()
