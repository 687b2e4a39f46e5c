import json
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octo_reach.planners.inverse_kinematics.chain import (
    TOLERANCE,
    JointLimits,
    Outcome,
    joint_angles,
    joint_positions,
    reach_of,
)
from octo_reach.planners.inverse_kinematics.fabrik import (
    reach_back,
    reach_back_bounded,
    reach_out,
    reach_out_bounded,
    solve,
    write_ranges,
)
from octo_reach.planners.inverse_kinematics.jacobian import solve_damped_least_squares

REACH = 360.0


def even(count):
    return np.full(count, REACH / count)


def curve(count, heading=0.0):
    angles = np.full(count, 0.06)
    angles[0] = heading
    return angles


def targets_within(reach, number, seed, nearest=0.0):
    """Spread evenly over the disc the tip can come to."""
    chance = np.random.default_rng(seed)
    distances = np.sqrt(chance.uniform(nearest**2, reach**2, number))
    directions = chance.uniform(-math.pi, math.pi, number)
    return np.column_stack([distances * np.cos(directions), distances * np.sin(directions)])


def check_pose(solution, lengths, target, base=(0.0, 0.0), limits=None):
    """Whatever the outcome, a solution is a pose of just this chain."""
    gaps = np.hypot(*np.diff(solution.positions, axis=0).T)
    assert gaps == pytest.approx(lengths, rel=1e-9)
    assert tuple(solution.positions[0]) == tuple(base)
    rebuilt = joint_positions(base, np.asarray(lengths, dtype=float), solution.angles)
    assert rebuilt.tolist() == solution.positions.tolist()
    assert solution.error == pytest.approx(math.dist(solution.positions[-1], target))
    assert (solution.outcome is Outcome.REACHED) == (solution.error <= TOLERANCE)
    if limits is not None:
        assert np.all(solution.angles >= limits.lowest)
        assert np.all(solution.angles <= limits.highest)


# ------------------------------------------------------------------------- without limits


@pytest.mark.parametrize("count", [10, 20])
@pytest.mark.parametrize("refined", [True, False])
def test_targets_within_reach_are_reached_in_a_few_iterations(count, refined):
    iterations, reached = [], 0
    for target in targets_within(REACH, 200, seed=count):
        solution = solve(curve(count), even(count), target, refined=refined)
        check_pose(solution, even(count), target)
        iterations.append(solution.iterations)
        reached += solution.outcome is Outcome.REACHED
    assert np.median(iterations) <= 15
    # The passes alone come closer without end, but slowly, where the chain is nearly straight.
    assert reached == 200 if refined else reached >= 190


def test_one_iteration_drags_the_chain_by_its_tip_and_then_by_its_base():
    positions = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])
    lengths = np.array([3.0, 4.0])
    reach_back(positions, lengths, 3.0, 5.0)
    assert positions[1:].tolist() == [[3.0, 1.0], [3.0, 5.0]]
    assert positions[0] == pytest.approx(np.array([3.0, 1.0]) - 3.0 * np.array([3, 1]) / 10**0.5)
    reach_out(positions, lengths, 0.0, 0.0)
    knee = 3.0 * np.array([3.0, 1.0]) / 10**0.5
    assert positions[1] == pytest.approx(knee)
    towards = np.array([3.0, 5.0]) - knee
    assert positions[2] == pytest.approx(knee + 4.0 * towards / np.hypot(*towards))


def test_a_target_too_far_away_is_pointed_at():
    solution = solve(curve(6), even(6), (300.0, 400.0))
    check_pose(solution, even(6), (300.0, 400.0))
    assert solution.outcome is Outcome.FULL_STRETCH
    assert solution.error == pytest.approx(500.0 - REACH)
    assert solution.angles == pytest.approx([math.atan2(4, 3), 0, 0, 0, 0, 0])


@pytest.mark.parametrize("distance", [REACH, REACH - 0.009, REACH + 0.009])
def test_a_target_just_at_full_reach_is_reached(distance):
    solution = solve(curve(20), even(20), (0.0, -distance))
    assert solution.outcome is Outcome.REACHED
    assert solution.positions[:, 0] == pytest.approx(np.zeros(21), abs=1e-9)


@pytest.mark.parametrize("short", [0.02, 0.1, 1.0, 3.0])
def test_a_target_just_within_full_reach_is_reached_all_the_same(short):
    target = (REACH - short) * np.array([0.6, -0.8])
    solution = solve(curve(20, 2.0), even(20), target)
    assert solution.outcome is Outcome.REACHED
    assert solution.refinements > 0


@pytest.mark.parametrize("count", [2, 3, 20])
@pytest.mark.parametrize("refined", [True, False])
def test_a_target_on_the_base_is_reached(count, refined):
    solution = solve(curve(count), even(count), (0.0, 0.0), refined=refined)
    check_pose(solution, even(count), (0.0, 0.0))
    assert solution.outcome is Outcome.REACHED


@pytest.mark.parametrize("target", [(200.0, 0.0), (-200.0, 0.0), (0.0, 0.0), (90.0, 0.0)])
@pytest.mark.parametrize(
    "angles", [np.zeros(8), np.full(8, -math.pi), np.r_[0.0, np.tile([math.pi, 0.0], 4)[:7]]]
)
@pytest.mark.parametrize("refined", [True, False])
def test_a_chain_on_one_line_with_its_target_folds_out_of_that_line(target, angles, refined):
    solution = solve(angles, even(8), target, refined=refined)
    check_pose(solution, even(8), target)
    assert solution.outcome is Outcome.REACHED


def test_out_of_a_line_it_always_folds_to_the_same_side():
    solutions = [solve(np.zeros(8), even(8), (200.0, 0.0)) for _ in range(3)]
    assert len({solution.angles.tobytes() for solution in solutions}) == 1
    nearer = solve(np.zeros(8), even(8), (100.0, 0.0))
    assert abs(nearer.positions[4, 1]) > 10.0
    assert nearer.positions[4, 1] * solutions[0].positions[4, 1] > 0.0


def test_a_chain_that_the_passes_fold_onto_a_line_leaves_it_again():
    for refined in (True, False):
        solution = solve([0.0, 0.0, 1.0], [1.0, 1.0, 1.0], (0.0, 0.0), refined=refined)
        assert solution.outcome is Outcome.REACHED


@pytest.mark.parametrize("refined", [True, False])
def test_joints_that_coincide_have_no_direction_and_do_no_harm(refined):
    solution = solve(np.zeros((6, 2)), even(5), (100.0, 50.0), refined=refined)
    check_pose(solution, even(5), (100.0, 50.0))
    assert solution.outcome is Outcome.REACHED


def test_a_segment_whose_ends_coincide_keeps_the_direction_it_had():
    positions = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]])
    reach_back(positions, np.array([1.0, 2.0]), 1.0, 0.0)
    assert positions[1].tolist() == [1.0, -2.0]
    positions = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]])
    reach_out(positions, np.array([1.0, 2.0]), 1.0, 0.0)
    assert positions[1].tolist() == [2.0, 0.0]


@pytest.mark.parametrize("refined", [True, False])
def test_a_target_that_jumps_across_the_base_is_reached_from_the_last_solution(refined):
    solution = solve(curve(10), even(10), (200.0, 40.0), refined=refined)
    for _ in range(4):
        target = -solution.positions[-1]
        solution = solve(solution.positions, even(10), target, refined=refined)
        check_pose(solution, even(10), target)
        assert solution.outcome is Outcome.REACHED


@pytest.mark.parametrize(
    ("target", "outcome", "error"),
    [
        ((0.0, 5.0), Outcome.REACHED, 0.0),
        ((0.0, 7.0), Outcome.FULL_STRETCH, 2.0),
        ((0.0, 3.0), Outcome.FULL_FOLD, 2.0),
    ],
)
def test_a_single_segment_points_at_its_target(target, outcome, error):
    solution = solve([[0.0, 0.0], [-5.0, 0.0]], [5.0], target)
    assert solution.outcome is outcome
    assert solution.error == pytest.approx(error, abs=1e-9)
    assert solution.angles == pytest.approx([math.pi / 2])


def test_a_single_segment_with_its_target_on_the_base_stays_as_it_is():
    solution = solve([[1.0, 1.0], [1.0, -4.0]], [5.0], (1.0, 1.0))
    assert solution.outcome is Outcome.FULL_FOLD
    assert solution.error == pytest.approx(5.0)
    assert solution.positions[1] == pytest.approx([1.0, -4.0])


@pytest.mark.parametrize("place", [0, 1, 3])
def test_a_target_nearer_than_uneven_segments_can_fold_is_folded_towards(place):
    lengths = np.array([10.0, 20.0, 15.0, 5.0])
    lengths[place] = 100.0
    nearest, _ = reach_of(lengths)
    assert nearest == 200.0 - lengths.sum()
    target = np.array([-0.4 * nearest, 0.3 * nearest])
    solution = solve(curve(4), lengths, target)
    check_pose(solution, lengths, target)
    assert solution.outcome is Outcome.FULL_FOLD
    assert solution.error == pytest.approx(0.5 * nearest)
    on_base = solve(curve(4), lengths, (0.0, 0.0))
    assert on_base.outcome is Outcome.FULL_FOLD
    assert on_base.error == pytest.approx(nearest)
    again = solve(on_base.angles, lengths, (0.0, 0.0))
    assert again.positions == pytest.approx(on_base.positions, abs=1e-9)


@pytest.mark.parametrize("lengths", [[100.0, 20.0, 15.0], [5.0, 80.0, 10.0, 3.0, 40.0]])
def test_uneven_segments_reach_all_that_lies_between_full_fold_and_full_stretch(lengths):
    nearest, farthest = reach_of(np.array(lengths))
    for target in targets_within(farthest, 60, seed=4, nearest=nearest):
        solution = solve(curve(len(lengths)), lengths, target)
        check_pose(solution, lengths, target)
        assert solution.outcome is Outcome.REACHED


# -------------------------------------------------------------------------- within limits


def headings(positions):
    d_x, d_y = np.diff(positions, axis=0).T
    return np.degrees(np.arctan2(d_y, d_x))


@pytest.mark.parametrize(
    ("wished", "allowed"),
    [(0.0, 0.0), (40.0, 40.0), (-10.0, -10.0), (70.0, 50.0), (-60.0, -20.0), (-130.0, -20.0)],
)
@pytest.mark.parametrize("before", [0.0, 100.0, 170.0, -170.0])
def test_outwards_a_segment_bends_no_further_than_its_limits_to_either_side(
    wished, allowed, before
):
    ranges = np.empty((2, 7))
    limits = JointLimits([-math.inf, math.radians(-20.0)], [math.inf, math.radians(50.0)])
    write_ranges(limits.lowest, limits.highest, ranges)
    lengths = np.array([10.0, 5.0])
    positions = joint_positions((1.0, 2.0), lengths, np.radians([before, wished]))
    reach_out_bounded(positions, lengths, ranges, 1.0, 2.0)
    turned = np.diff(headings(positions))[0]
    assert (turned + 180.0) % 360.0 - 180.0 == pytest.approx(allowed)
    assert headings(positions)[0] == pytest.approx(before)


@pytest.mark.parametrize(
    ("wished", "allowed"), [(40.0, 40.0), (70.0, 50.0), (-60.0, -20.0), (-130.0, -20.0)]
)
@pytest.mark.parametrize("after", [0.0, 100.0, 170.0, -170.0])
def test_inwards_a_segment_bends_no_further_than_the_limits_of_the_next_one(wished, allowed, after):
    ranges = np.empty((2, 7))
    limits = JointLimits([-math.inf, math.radians(-20.0)], [math.inf, math.radians(50.0)])
    write_ranges(limits.lowest, limits.highest, ranges)
    lengths = np.array([10.0, 5.0])
    positions = joint_positions((1.0, 2.0), lengths, np.radians([after - wished, wished]))
    tip = positions[-1].copy()
    reach_back_bounded(positions, lengths, ranges, *tip)
    turned = np.diff(headings(positions))[0]
    assert (turned + 180.0) % 360.0 - 180.0 == pytest.approx(allowed)
    assert (headings(positions)[1] - after + 180.0) % 360.0 == pytest.approx(180.0)
    assert positions[-1].tolist() == tip.tolist()


@pytest.mark.parametrize(("count", "bend"), [(20, 60.0), (10, 60.0), (10, 30.0), (20, 12.0)])
def test_within_limits_the_tip_comes_as_near_as_restarts_of_another_method_bring_it(count, bend):
    limits = JointLimits.bends(count, math.radians(bend))
    chance = np.random.default_rng(count)
    for target in targets_within(REACH, 25, seed=round(bend)):
        solution = solve(curve(count), even(count), target, limits=limits)
        check_pose(solution, even(count), target, limits=limits)
        assert solution.outcome in (Outcome.REACHED, Outcome.SETTLED)
        if solution.outcome is Outcome.SETTLED:
            others = restarts(count, target, limits, chance)
            assert solution.error <= min(others) + 2.0 * TOLERANCE


def restarts(count, target, limits, chance):
    for _ in range(12):
        bends = np.repeat(chance.uniform(limits.lowest[1], limits.highest[1], 2), count)[::2]
        bends[0] = chance.uniform(-math.pi, math.pi)
        yield solve_damped_least_squares(
            (0.0, 0.0), even(count), bends, target, TOLERANCE, 200, limits
        ).error


@pytest.mark.parametrize("target", [(0.0, 0.0), (-30.0, 10.0), (20.0, -45.0), (70.0, 70.0)])
def test_within_limits_two_segments_come_as_near_as_any_pose_of_a_fine_grid(target):
    lengths = np.array([40.0, 30.0])
    limits = JointLimits([-0.8, 0.2], [1.1, 1.4])
    solution = solve([0.0, 0.5], lengths, target, limits=limits)
    check_pose(solution, lengths, target, limits=limits)
    heading, bend = np.meshgrid(np.linspace(-0.8, 1.1, 800), np.linspace(0.2, 1.4, 800))
    x = 40.0 * np.cos(heading) + 30.0 * np.cos(heading + bend)
    y = 40.0 * np.sin(heading) + 30.0 * np.sin(heading + bend)
    assert solution.error <= np.min(np.hypot(x - target[0], y - target[1])) + TOLERANCE


def test_lopsided_limits_are_kept_and_their_nearest_pose_is_found():
    chance = np.random.default_rng(5)
    reached = 0
    for target in targets_within(REACH, 40, seed=5):
        lengths = chance.uniform(10.0, 26.0, 20)
        lowest = chance.uniform(-1.0, 0.5, 20)
        highest = lowest + chance.uniform(0.0, 1.0, 20)
        lowest[0], highest[0] = -1.0, 2.0
        limits = JointLimits(lowest, highest)
        solution = solve(curve(20), lengths, target, limits=limits)
        check_pose(solution, lengths, target, limits=limits)
        reached += solution.outcome is Outcome.REACHED
    # From the given pose alone 30 are.
    assert reached >= 32


def test_what_limits_keep_from_the_target_settles_and_stays():
    limits = JointLimits.bends(10, math.radians(20.0))
    target = (5.0, 0.0)
    solution = solve(curve(10), even(10), target, limits=limits)
    assert solution.outcome is Outcome.SETTLED
    assert solution.error > 1.0
    for start in (solution.angles, solution.positions):
        again = solve(start, even(10), target, limits=limits)
        assert again.outcome is Outcome.SETTLED
        assert again.positions == pytest.approx(solution.positions, abs=1e-9)
    shifted = solve(solution.angles, even(10), (5.001, 0.0), limits=limits)
    assert shifted.positions == pytest.approx(solution.positions, abs=TOLERANCE)


@pytest.mark.parametrize("refined", [True, False])
def test_an_arm_whose_joints_cannot_turn_settles_where_it_is(refined):
    limits = JointLimits([0.3, 0.0, 0.0], [0.3, 0.0, 0.0])
    solution = solve([0.3, 0.0, 0.0], even(3), (0.0, 100.0), limits=limits, refined=refined)
    assert solution.outcome is Outcome.SETTLED
    assert solution.angles.tolist() == [0.3, 0.0, 0.0]


def test_a_target_out_of_reach_is_settled_for_where_the_limits_forbid_pointing_at_it():
    limits = JointLimits(np.full(6, 0.1), np.full(6, 0.5))
    target = (0.0, 1000.0)
    solution = solve(curve(6), even(6), target, limits=limits)
    check_pose(solution, even(6), target, limits=limits)
    assert solution.outcome is Outcome.SETTLED
    assert solution.error < 800.0
    free = solve(curve(6), even(6), target, limits=JointLimits.bends(6, 0.5))
    assert free.outcome is Outcome.FULL_STRETCH


@pytest.mark.parametrize("refined", [True, False])
def test_headings_on_both_sides_of_the_cut_at_half_a_turn_are_near_one_another(refined):
    # The base points to 170 degrees and bends of 20 degrees lead across 180: taken without the
    # turn they are bends of -340 degrees, and the chain folds to the wrong side.
    limits = JointLimits.bends(4, math.radians(30.0))
    wanted = np.radians([170.0, 20.0, 20.0, 10.0])
    target = joint_positions((0.0, 0.0), even(4), wanted)[-1]
    start = np.radians([165.0, 25.0, 10.0, 5.0])
    solution = solve(start, even(4), target, limits=limits, refined=refined)
    check_pose(solution, even(4), target, limits=limits)
    assert solution.outcome is Outcome.REACHED
    assert np.all(np.abs(solution.angles[1:] - wanted[1:]) < 0.5)


def test_the_heading_of_the_base_can_be_limited_to_a_range_that_holds_half_a_turn():
    limits = JointLimits([3.0, -0.2, -0.2], [3.4, 0.2, 0.2])
    target = joint_positions((0.0, 0.0), even(3), np.array([3.3, 0.1, -0.1]))[-1]
    solution = solve([-3.0, 0.0, 0.0], even(3), target, limits=limits)
    check_pose(solution, even(3), target, limits=limits)
    assert solution.outcome is Outcome.REACHED


def test_the_passes_alone_are_kept_to_where_refinement_is_not_wanted():
    limits = JointLimits.bends(20, math.radians(15.0))
    short = 0
    for target in targets_within(0.95 * REACH, 30, seed=3):
        plain = solve(curve(20), even(20), target, limits=limits, refined=False)
        check_pose(plain, even(20), target, limits=limits)
        full = solve(curve(20), even(20), target, limits=limits)
        assert plain.refinements == 0
        assert full.error <= max(TOLERANCE, plain.error + TOLERANCE)
        short += plain.error > full.error + 1.0
    assert short > 0


# ------------------------------------------------------------------------------ invariants


@st.composite
def problems(draw):
    count = draw(st.integers(1, 8))
    sizes = st.floats(0.5, 50.0)
    lengths = np.array(draw(st.lists(sizes, min_size=count, max_size=count)))
    turns = st.floats(-3.2, 3.2)
    start = np.array(draw(st.lists(turns, min_size=count, max_size=count)))
    x, y = draw(st.tuples(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0)))
    target = np.array([x, y]) * 1.1 * lengths.sum()
    limits = JointLimits.none(count)
    if draw(st.booleans()):
        lowest = np.array(draw(st.lists(turns, min_size=count, max_size=count)))
        ranges = st.floats(0.0, 6.0)
        highest = lowest + np.array(draw(st.lists(ranges, min_size=count, max_size=count)))
        limits = JointLimits(lowest, highest)
    return start, lengths, target, limits


@given(problems())
@settings(max_examples=150, deadline=None)
def test_any_solution_is_a_pose_within_the_limits_and_solving_it_again_changes_nothing(problem):
    start, lengths, target, limits = problem
    solution = solve(start, lengths, target, limits=limits)
    check_pose(solution, lengths, target, limits=limits if limits.bounded else None)
    nearest, farthest = reach_of(lengths)
    distance = math.hypot(*target)
    least = max(0.0, distance - farthest, nearest - distance)
    assert solution.error >= least - 1e-6 * farthest
    if solution.outcome is not Outcome.OUT_OF_ITERATIONS:
        again = solve(solution.angles, lengths, target, limits=limits)
        assert again.positions == pytest.approx(solution.positions, abs=1e-6 * farthest)
        assert again.outcome is solution.outcome


@given(problems())
@settings(max_examples=100, deadline=None)
def test_the_tip_is_never_further_from_its_target_than_it_was(problem):
    start, lengths, target, limits = problem
    begin = solve(start, lengths, (1e-3, 0.0), limits=limits, max_iterations=1).angles
    tip = joint_positions((0.0, 0.0), lengths, begin)[-1]
    solution = solve(begin, lengths, target, limits=limits)
    assert solution.error <= max(TOLERANCE, math.dist(tip, target) + 1e-9)


# -------------------------------------------------------------------------------- using it


def test_a_chain_that_is_there_already_is_left_alone():
    start = joint_positions((3.0, 4.0), even(5), curve(5))
    solution = solve(start, even(5), start[-1])
    assert solution.outcome is Outcome.REACHED
    assert solution.iterations == 0
    assert solution.positions == pytest.approx(start, abs=1e-9)


def test_positions_and_angles_are_the_same_start():
    angles = curve(7, 1.0)
    positions = joint_positions((10.0, -5.0), even(7), angles)
    assert joint_angles(positions) == pytest.approx(angles)
    by_angles = solve(angles, even(7), (100.0, 60.0), base=(10.0, -5.0))
    by_positions = solve(positions, even(7), (100.0, 60.0))
    assert by_angles.positions == pytest.approx(by_positions.positions, abs=1e-6)


def test_a_base_that_moved_takes_the_chain_along():
    positions = joint_positions((0.0, 0.0), even(7), curve(7))
    solution = solve(positions, even(7), (150.0, 60.0), base=(10.0, -5.0))
    check_pose(solution, even(7), (150.0, 60.0), base=(10.0, -5.0))
    assert solution.outcome is Outcome.REACHED


def test_a_start_near_the_target_is_kept_near():
    first = solve(curve(20), even(20), (-10.0, 345.0))
    second = solve(first.positions, even(20), (-10.5, 344.5))
    assert second.iterations < first.iterations
    assert np.max(np.abs(second.positions - first.positions)) < 5.0


def test_iterations_are_counted_and_bounded():
    solution = solve(curve(20), even(20), (-10.0, 345.0), max_iterations=2)
    assert solution.outcome is Outcome.OUT_OF_ITERATIONS
    assert solution.iterations == 2


def test_what_was_given_is_not_changed():
    start, lengths = curve(4), even(4)
    limits = JointLimits.bends(4, 0.5)
    solve(start, lengths, (100.0, 20.0), limits=limits)
    assert start.tolist() == curve(4).tolist()
    assert lengths.tolist() == even(4).tolist()
    assert limits.highest[1:].tolist() == [0.5] * 3


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"lengths": []}, r"lengths must have the shape \(N,\) with N at least 1, got \(0,\)"),
        ({"lengths": [1.0, 0.0]}, r"lengths must be finite and above 0, got \[1.0, 0.0\]"),
        ({"lengths": [1.0, math.nan]}, "lengths must be finite and above 0"),
        ({"start": [0.0]}, r"2 joint angles or 3 joint positions \(x, y\), got the shape \(1,\)"),
        ({"start": [0.0, math.inf]}, r"start must be finite, got \[0.0, inf\]"),
        ({"target": (1.0,)}, r"target must be two finite numbers \(x, y\), got \(1.0,\)"),
        ({"target": (1.0, math.nan)}, "target must be two finite numbers"),
        ({"base": (math.inf, 1.0)}, "base must be two finite numbers"),
        ({"tolerance": 0.0}, "tolerance must be a finite number above 0, got 0.0"),
        ({"max_iterations": 0}, "max_iterations must be at least 1, got 0"),
        ({"limits": JointLimits.bends(3, 1.0)}, "limits must be for 2 joints, got 3"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(changes, text):
    arguments = {"start": [0.0, 0.1], "lengths": [1.0, 1.0], "target": (1.0, 1.0), **changes}
    with pytest.raises(ValueError, match=text):
        solve(**arguments)


@pytest.mark.parametrize(
    ("lowest", "highest", "text"),
    [
        ([0.0], [0.0, 1.0], r"same|shape \(N,\), got \(1,\) and \(2,\)"),
        ([0.0, 0.5], [0.0, 0.4], "limits of joint 1 must be .* got 0.5 to 0.4"),
        ([-math.inf], [1.0], "limits of joint 0 must be .* got -inf to 1.0"),
        ([math.nan], [1.0], "limits of joint 0 must be"),
    ],
)
def test_limits_that_are_no_ranges_are_refused(lowest, highest, text):
    with pytest.raises(ValueError, match=text):
        JointLimits(lowest, highest)


def test_without_numba_the_same_solutions_come_out():
    program = """
import json, math, sys
sys.modules["numba"] = None
from octo_reach.planners.inverse_kinematics.chain import JointLimits
from octo_reach.planners.inverse_kinematics.fabrik import solve
found = []
for bend in (math.inf, 0.4):
    limits = JointLimits.bends(6, bend)
    for target in ((100.0, 50.0), (-20.0, 5.0), (0.0, 0.0), (500.0, 1.0)):
        solution = solve([0.0] + [0.06] * 5, [60.0] * 6, target, limits=limits)
        found.append([solution.outcome.value, solution.positions.tolist()])
print(json.dumps(found))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    found = iter(json.loads(done.stdout))
    for bend in (math.inf, 0.4):
        limits = JointLimits.bends(6, bend)
        for target in ((100.0, 50.0), (-20.0, 5.0), (0.0, 0.0), (500.0, 1.0)):
            solution = solve(curve(6), even(6), target, limits=limits)
            outcome, positions = next(found)
            assert outcome == solution.outcome.value
            assert np.array(positions) == pytest.approx(solution.positions, abs=1e-4)
