import math

import numpy as np
import plain_stepper
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from octo_reach.model.geometry import forward_kinematics, wrap
from octo_reach.model.guard import (
    arm_move_is_safe,
    held_centre,
    measure_move,
    payload_centre,
    payload_move_is_safe,
    payload_retreat_is_safe,
    retreat_is_safe,
    sample_count,
)
from octo_reach.model.rules import ReachRules
from octo_reach.model.state import LINK, PAIR, pairs_of

LENGTH = 10.0
RULES = ReachRules.pixel().for_kernels()


def table(obstacles) -> np.ndarray:
    return np.array(list(obstacles), dtype=float).reshape(-1, 3)


def measured(angles, proposed) -> np.ndarray:
    """Give the links of a chain that is to move, the move measured."""
    links = np.zeros(len(angles) + 1, LINK)
    links["angle"][:-1] = angles
    links["proposed"][:-1] = proposed
    pairs_of(links, "")[:], _ = forward_kinematics((0.0, 0.0), LENGTH, links["angle"][:-1])
    measure_move(len(angles), LENGTH, links)
    return links


def arm_may_move(angles, proposed, obstacles) -> bool:
    around = table(obstacles)
    pairs = np.zeros(len(angles) * len(around), PAIR)
    return arm_move_is_safe(len(angles), LENGTH, measured(angles, proposed), around, RULES, pairs)


def payload_may_move(angles, proposed, segment, offset, radius, obstacles) -> bool:
    return payload_move_is_safe(
        LENGTH,
        measured(angles, proposed),
        segment,
        *map(float, offset),
        float(radius),
        table(obstacles),
        RULES,
    )


@pytest.mark.parametrize(("travel", "samples"), [(0.0, 1), (1.9, 1), (2.0, 1), (2.1, 2), (9.0, 5)])
def test_midpoints_are_close_enough_for_the_travel(travel, samples):
    assert sample_count(travel, 2.0) == samples


def test_without_obstacles_every_move_is_safe():
    assert arm_may_move([0.0, 0.0], [3.0, -3.0], [])
    assert payload_may_move([0.0, 0.0], [3.0, -3.0], 2, (1.0, 1.0), 5.0, [])


def test_a_move_through_an_obstacle_is_refused_though_both_its_ends_are_clear():
    obstacle = (20.0 * math.cos(0.5), 20.0 * math.sin(0.5), 2.0)
    assert arm_may_move([0.0, 0.0], [1.0, 0.0], [(60.0, 60.0, 2.0)])
    assert not arm_may_move([0.0, 0.0], [1.0, 0.0], [obstacle])
    assert not arm_may_move([1.0, 0.0], [0.0, 0.0], [obstacle])


def test_a_long_move_that_passes_an_obstacle_at_a_distance_is_safe():
    # The tip goes by at 10 from the centre, half its whole travel; it was further away before.
    obstacle = (30.0 * math.cos(0.5), 30.0 * math.sin(0.5), 2.0)
    assert arm_may_move([0.0, 0.0], [1.0, 0.0], [obstacle])


def test_the_base_sweeps_the_short_way_across_the_back():
    behind, ahead = (-15.0, 0.0, 1.0), (15.0, 0.0, 1.0)
    assert not arm_may_move([3.0, 0.0], [-3.0, 0.0], [behind])
    assert arm_may_move([3.0, 0.0], [-3.0, 0.0], [ahead])


def test_a_move_may_come_as_near_as_the_clearance_and_no_nearer():
    # The tip ends 5 + clearance 3 from the centre, less what may lie between two midpoints.
    turn = 0.01
    end = np.array([20.0 * math.cos(turn), 20.0 * math.sin(turn)])
    beyond = end + (8.0 + 0.3) * end / 20.0 @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    within = end + (8.0 - 0.01) * end / 20.0 @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    assert arm_may_move([0.0, 0.0], [turn, 0.0], [(*beyond, 5.0)])
    assert not arm_may_move([0.0, 0.0], [turn, 0.0], [(*within, 5.0)])


def test_an_overlap_must_not_grow_deeper():
    obstacle = (15.0, 6.0, 5.0)
    assert not arm_may_move([0.0, 0.0], [0.01, 0.0], [obstacle])


def test_to_stay_is_always_safe():
    assert arm_may_move([0.3, 0.2], [0.3, 0.2], [(15.0, 6.0, 9.0)])
    assert payload_may_move([0.3, 0.2], [0.3, 0.2], 2, (1.0, 2.0), 9.0, [(15.0, 6.0, 9.0)])


def test_a_move_that_is_no_number_is_refused():
    assert not arm_may_move([0.0, 0.0], [0.0, math.nan], [(15.0, 6.0, 5.0)])


angles = st.floats(-1.0, 1.0)
turns = st.floats(-0.4, 0.4)
obstacles = st.lists(
    st.tuples(st.floats(-60.0, 60.0), st.floats(-60.0, 60.0), st.floats(1.0, 15.0)),
    min_size=1,
    max_size=6,
)
moves = st.lists(st.tuples(angles, turns), min_size=2, max_size=20)


@given(moves, st.floats(-math.pi, math.pi), obstacles, st.booleans())
def test_the_guard_of_the_arm_says_what_the_plain_one_says(move, heading, around, small):
    old = [heading, *(angle for angle, _ in move[1:])]
    scale = 0.02 if small else 1.0
    new = [angle + scale * turn for angle, (_, turn) in zip(old, move, strict=True)]
    new[0] = wrap(new[0])
    plain = plain_stepper.guard_accepts((0.0, 0.0), LENGTH, old, new, around)
    assert arm_may_move(old, new, around) == plain


@given(moves, st.data(), obstacles, st.booleans())
def test_the_guard_of_the_payload_says_what_the_plain_one_says(move, data, around, small):
    old = [angle for angle, _ in move]
    scale = 0.02 if small else 1.0
    new = [angle + scale * turn for angle, turn in move]
    segment = data.draw(st.integers(1, len(move)))
    offset = data.draw(st.tuples(st.floats(-20.0, 20.0), st.floats(-20.0, 20.0)))
    radius = data.draw(st.floats(1.0, 20.0))
    plain = plain_stepper.payload_guard_accepts(
        (0.0, 0.0), LENGTH, old, new, segment, offset, radius, around
    )
    assert payload_may_move(old, new, segment, offset, radius, around) == plain


@given(moves, obstacles)
def test_a_safe_move_is_clear_wherever_one_looks(move, around):
    old = np.array([angle for angle, _ in move])
    new = old + [turn for _, turn in move]
    assume(arm_may_move(old, new, around))
    before, _ = forward_kinematics((0.0, 0.0), LENGTH, old)
    for share in np.linspace(0.0, 1.0, 41):
        joints, _ = forward_kinematics((0.0, 0.0), LENGTH, old + share * (new - old))
        for x, y, radius in around:
            for i in range(len(old)):
                near = plain_stepper.closest_point(tuple(joints[i]), tuple(joints[i + 1]), (x, y))
                then = plain_stepper.closest_point(tuple(before[i]), tuple(before[i + 1]), (x, y))
                least = min(radius + 3.0, math.dist(then, (x, y)))
                assert math.dist(near, (x, y)) >= least - 1e-7


def test_a_held_object_rides_in_the_frame_of_the_segment():
    assert held_centre(1.0, 2.0, 0.0, 3.0, 4.0) == pytest.approx((4.0, 6.0))
    assert held_centre(1.0, 2.0, math.pi / 2.0, 3.0, 4.0) == pytest.approx((-3.0, 5.0))


def test_the_payload_is_followed_between_two_poses():
    old, new = np.array([0.0, 0.2, 0.4]), np.array([0.4, 0.0, 9.0])
    x, y = payload_centre(0.5, 2, LENGTH, measured(old, new), 3.0, -1.0)
    joints, headings = forward_kinematics((0.0, 0.0), LENGTH, np.array([0.2, 0.1]))
    assert (x, y) == pytest.approx(held_centre(*joints[2], headings[1], 3.0, -1.0))


def test_the_payload_keeps_the_sum_of_the_radii_without_the_arms_clearance():
    turn = 0.01
    sine, cosine = math.sin(turn), math.cos(turn)
    end = np.array([20.0 * cosine, 20.0 * sine])
    ahead = np.array([-sine, cosine])
    for gap, safe in ((0.3, True), (-0.01, False)):
        obstacle = (*(end + (4.0 + 5.0 + gap) * ahead), 5.0)
        assert payload_may_move([0.0, 0.0], [turn, 0.0], 2, (0.0, 0.0), 4.0, [obstacle]) is safe


def test_joints_beyond_the_holding_segment_do_not_move_the_payload():
    obstacle = (10.0, 9.5, 5.0)
    assert payload_may_move([0.0, 0.0], [0.0, 3.0], 1, (0.0, 0.0), 4.0, [obstacle])


def test_a_payload_far_off_its_segment_sweeps_with_the_rotation():
    obstacle = (10.0 + 30.0 * math.cos(0.3), 30.0 * math.sin(0.3), 2.0)
    assert not payload_may_move([0.0, 0.0], [0.0, 0.6], 2, (20.0, 0.0), 2.0, [obstacle])
    assert payload_may_move([0.0, 0.0], [0.0, 0.6], 1, (20.0, 0.0), 2.0, [obstacle])


# ----------------------------------------------------------------------------------- retreat


def arm_may_retreat(angles, proposed, obstacles) -> bool:
    around = table(obstacles)
    return retreat_is_safe(len(angles), LENGTH, measured(angles, proposed), around, RULES)


def test_an_arm_under_an_obstacle_may_move_away_from_it_though_not_deeper():
    angles, obstacle = [0.0, 0.0, 0.0, 0.0], [(25.0, 6.0, 5.0)]
    away, deeper = [-0.0125, 0.0, 0.0, 0.0], [0.0125, 0.0, 0.0, 0.0]
    assert not arm_may_move(angles, away, obstacle)
    assert arm_may_retreat(angles, away, obstacle)
    assert not arm_may_retreat(angles, deeper, obstacle)


def test_an_arm_does_not_retreat_from_one_obstacle_into_another():
    angles, away = [0.0, 0.0, 0.0, 0.0], [-0.0125, 0.0, 0.0, 0.0]
    assert not arm_may_retreat(angles, away, [(25.0, 6.0, 5.0), (25.0, -8.01, 5.0)])
    assert arm_may_retreat(angles, away, [(25.0, 6.0, 5.0), (25.0, -10.0, 5.0)])


def test_the_base_turns_though_an_obstacle_lies_behind_it():
    assert arm_may_retreat([0.0, 0.0], [0.01, 0.0], [(-5.0, 1.0, 4.0)])
    assert not arm_may_retreat([0.0, 0.0], [0.3, 0.0], [(-1.0, 6.0, 4.0)])


@given(
    st.lists(angles, min_size=2, max_size=12), st.integers(0, 11), turns, obstacles, st.booleans()
)
def test_a_retreat_brings_no_obstacle_nearer_than_it_may_be(old, joint, turn, around, small):
    new = list(old)
    new[joint % len(old)] += (0.03 if small else 1.0) * turn
    if not arm_may_retreat(old, new, around):
        return
    old, new = np.array(old), np.array(new)
    before, _ = forward_kinematics((0.0, 0.0), LENGTH, old)
    for share in np.linspace(0.0, 1.0, 41):
        joints, _ = forward_kinematics((0.0, 0.0), LENGTH, old + share * (new - old))
        for x, y, radius in around:
            for i in range(len(old)):
                near = plain_stepper.closest_point(tuple(joints[i]), tuple(joints[i + 1]), (x, y))
                then = plain_stepper.closest_point(tuple(before[i]), tuple(before[i + 1]), (x, y))
                least = min(radius + 3.0, math.dist(then, (x, y)))
                assert math.dist(near, (x, y)) >= least - 1e-7


def payload_may_retreat(angles, proposed, segment, offset, radius, obstacles) -> bool:
    return payload_retreat_is_safe(
        LENGTH, measured(angles, proposed), segment, *offset, radius, table(obstacles), RULES
    )


def test_a_held_object_under_an_obstacle_may_be_drawn_out_though_not_deeper():
    held = (2, (0.0, 5.0), 4.0, [(20.0, 11.0, 4.0)])
    assert payload_may_retreat([0.0, 0.0], [-0.01, 0.0], *held)
    assert not payload_may_move([0.0, 0.0], [-0.01, 0.0], *held)
    assert not payload_may_retreat([0.0, 0.0], [0.01, 0.0], *held)
