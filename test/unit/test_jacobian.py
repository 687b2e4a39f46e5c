import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from octo_reach.planners.inverse_kinematics.chain import JointLimits, Outcome, joint_positions
from octo_reach.planners.inverse_kinematics.jacobian import (
    clearance_gradient,
    damped_step,
    null_space_motion,
    planar_jacobian,
    solve_damped_least_squares,
    solve_transpose,
    transpose_step,
)

ORIGIN = (0.0, 0.0)
SOLVERS = {"transpose": solve_transpose, "damped": solve_damped_least_squares}
both = pytest.mark.parametrize("solve", SOLVERS.values(), ids=SOLVERS)


@st.composite
def chains(draw, fewest=1, most=12):
    """Lengths and angles of a chain."""
    count = draw(st.integers(fewest, most))
    lengths = draw(st.lists(st.floats(0.2, 3.0), min_size=count, max_size=count))
    angles = draw(st.lists(st.floats(-3.0, 3.0), min_size=count, max_size=count))
    return np.array(lengths), np.array(angles)


def tip_of(lengths, angles):
    return joint_positions(ORIGIN, np.asarray(lengths), np.asarray(angles))[-1]


def jacobian_of(lengths, angles):
    return planar_jacobian(joint_positions(ORIGIN, np.asarray(lengths), np.asarray(angles)))


# ----------------------------------------------------------------------------- the Jacobian


@given(chains())
def test_the_jacobian_is_the_central_difference_of_the_tip(chain):
    lengths, angles = chain
    width = 1e-6
    for i, column in enumerate(jacobian_of(lengths, angles).T):
        turn = np.zeros(len(angles))
        turn[i] = width
        ahead, behind = tip_of(lengths, angles + turn), tip_of(lengths, angles - turn)
        assert (ahead - behind) / (2.0 * width) == pytest.approx(column, abs=1e-7)


@pytest.mark.parametrize("joints", [np.zeros(4), np.zeros((3, 3)), np.zeros((1, 2))])
def test_what_is_no_chain_of_joints_has_no_jacobian(joints):
    with pytest.raises(ValueError, match="joints must have the shape"):
        planar_jacobian(joints)


# ---------------------------------------------------------------------------------- one step


@given(chains(fewest=2), st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))
def test_no_other_step_along_the_slope_comes_nearer_to_first_order(chain, x, y):
    jacobian, error = jacobian_of(*chain), np.array((x, y))
    step = transpose_step(jacobian, error)
    best = np.linalg.norm(error - jacobian @ step)
    for factor in (0.9, 1.1):
        assert best <= np.linalg.norm(error - factor * (jacobian @ step)) + 1e-12


def test_a_given_step_size_is_taken_as_it_is():
    jacobian = jacobian_of([1.0, 1.0], [0.3, 0.4])
    assert transpose_step(jacobian, np.array((1.0, 0.0)), 0.5) == pytest.approx(0.5 * jacobian[0])


def test_where_no_joint_moves_the_tip_nearer_the_slope_is_flat():
    step = transpose_step(jacobian_of([1.0, 1.0], [0.0, 0.0]), np.array((1.0, 0.0)))
    assert step.tolist() == [0.0, 0.0]


@given(chains(fewest=2), st.floats(0.01, 2.0))
def test_the_damped_step_solves_the_damped_equation(chain, damping):
    jacobian, error = jacobian_of(*chain), np.array((0.7, -0.4))
    square = jacobian @ jacobian.T + damping**2 * np.eye(2)
    expected = jacobian.T @ np.linalg.solve(square, error)
    assert damped_step(jacobian, error, damping) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(chains(fewest=3), st.lists(st.floats(0.0, 0.3), min_size=12, max_size=12))
def test_a_bounded_step_keeps_its_bounds_and_is_the_plain_one_where_that_does(chain, room):
    jacobian, error = jacobian_of(*chain), np.array((0.3, 0.2))
    bound = np.array(room[: jacobian.shape[1]])
    step = damped_step(jacobian, error, 1e-3, -bound, bound)
    assert np.all(np.abs(step) <= bound + 1e-12)
    plain = damped_step(jacobian, error, 1e-3)
    free = damped_step(jacobian, error, 1e-3, -np.abs(plain), np.abs(plain))
    assert free == pytest.approx(plain, abs=1e-12)


def test_the_joints_that_are_left_make_up_for_a_frozen_one():
    jacobian, error = jacobian_of([1.0, 1.0, 1.0], [0.2, 0.7, 0.9]), np.array((-0.1, 0.05))
    free = np.full(3, np.inf)
    held = np.array((np.inf, 0.0, np.inf))
    step = damped_step(jacobian, error, 1e-6, -held, held)
    assert step[1] == 0.0
    assert jacobian @ step == pytest.approx(error, abs=1e-9)
    clipped = np.clip(damped_step(jacobian, error, 1e-6, -free, free), -held, held)
    assert np.linalg.norm(error - jacobian @ clipped) > 0.01


# -------------------------------------------------------------------------------- null space


@given(chains(fewest=3), st.lists(st.floats(-1.0, 1.0), min_size=12, max_size=12))
def test_motion_in_the_null_space_leaves_the_tip_to_first_order(chain, wishes):
    lengths, angles = chain
    wish = np.array(wishes[: len(angles)])
    motion = null_space_motion(jacobian_of(lengths, angles), wish)
    before = tip_of(lengths, angles)
    width = 1e-5
    moved = np.linalg.norm(tip_of(lengths, angles + width * motion) - before)
    # To first order it is nothing, so what is left falls with the square.
    assert moved <= width**2 * 200.0


@given(chains(fewest=3), st.lists(st.floats(-1.0, 1.0), min_size=12, max_size=12))
def test_the_null_space_takes_as_much_of_a_wish_as_there_is(chain, wishes):
    lengths, angles = chain
    wish = np.array(wishes[: len(angles)])
    jacobian = jacobian_of(lengths, angles)
    assume(np.linalg.svd(jacobian, compute_uv=False)[-1] > 1e-3)
    expected = wish - np.linalg.pinv(jacobian) @ jacobian @ wish
    assert null_space_motion(jacobian, wish) == pytest.approx(expected, abs=1e-9)


def test_in_a_singular_pose_the_tip_rests_as_well():
    jacobian = jacobian_of([1.0, 1.0, 1.0], [0.4, 0.0, 0.0])
    motion = null_space_motion(jacobian, np.array((1.0, -1.0, 0.5)))
    assert jacobian @ motion == pytest.approx([0.0, 0.0], abs=1e-12)
    assert np.linalg.norm(motion) > 0.1


@given(chains(fewest=2, most=6), st.floats(-3.0, 3.0), st.floats(-3.0, 3.0))
def test_the_clearance_gradient_is_the_slope_of_the_depths(chain, x, y):
    lengths, angles = chain
    circles, distance = np.array([(x, y, 0.3)]), 0.8

    def potential(pose):
        joints = joint_positions(ORIGIN, lengths, pose)
        total = 0.0
        for start, end in itertools.pairwise(joints):
            along = end - start
            share = np.clip((circles[0, :2] - start) @ along / (along @ along), 0.0, 1.0)
            away = np.linalg.norm(start + share * along - circles[0, :2])
            assume(away > 1e-3)
            total += 0.5 * max(0.0, distance - (away - 0.3)) ** 2
        return total

    gradient = clearance_gradient(joint_positions(ORIGIN, lengths, angles), circles, distance)
    for i in range(len(angles)):
        turn = np.zeros(len(angles))
        turn[i] = 1e-6
        slope = (potential(angles + turn) - potential(angles - turn)) / 2e-6
        assert -slope == pytest.approx(gradient[i], abs=1e-4)


def test_clearance_gained_in_the_null_space_costs_the_tip_nothing():
    lengths, angles = np.ones(5), np.array((0.2, 0.4, 0.3, -0.5, -0.2))
    joints = joint_positions(ORIGIN, lengths, angles)
    circles = np.array([(*(0.5 * (joints[2] + joints[3]) + (-0.1, 0.2)), 0.1)])
    wish = clearance_gradient(joints, circles, 0.5)
    motion = 1e-3 * null_space_motion(planar_jacobian(joints), wish) / np.linalg.norm(wish)
    after = joint_positions(ORIGIN, lengths, angles + motion)
    assert np.linalg.norm(after[-1] - joints[-1]) < 1e-5
    depth = np.linalg.norm(clearance_gradient(joints, circles, 0.5))
    assert np.linalg.norm(clearance_gradient(after, circles, 0.5)) < depth


# ---------------------------------------------------------------------------------- solving


@given(chains(fewest=2), chains(fewest=12))
def test_damped_least_squares_reaches_what_some_pose_reaches(chain, other):
    lengths, goal = chain
    start = other[1][: len(goal)]
    target = tip_of(lengths, goal)
    solution = solve_damped_least_squares(ORIGIN, lengths, start, target, 1e-3, 3000)
    # Near the edge of the reach, where nothing is left to bend, it comes slowly.
    assert solution.error <= 1e-3 or np.linalg.norm(target) > 0.98 * lengths.sum()
    if solution.outcome is Outcome.REACHED:
        tip = tip_of(lengths, solution.angles)
        assert np.linalg.norm(tip - target) == pytest.approx(solution.error, abs=1e-9)
        assert np.linalg.norm(solution.positions[-1] - target) <= 1e-3 + 1e-9


@both
@pytest.mark.parametrize("target", [(1.1, 1.3), (-1.5, 0.2), (-2.4, -0.4), (0.1, 0.05)])
def test_reachable_targets_are_reached(solve, target):
    solution = solve(ORIGIN, np.full(10, 0.3), np.full(10, 0.06), target, 1e-3, 3000)
    assert solution.outcome is Outcome.REACHED
    assert solution.error <= 1e-3
    assert 0 < solution.iterations < 3000


@both
@pytest.mark.parametrize("target", [(1.5, 0.0), (-1.5, 0.0), (-3.0, 0.0), (0.0, 0.0)])
def test_a_straight_arm_leaves_the_line_of_its_target(solve, target):
    solution = solve(ORIGIN, np.ones(3), np.zeros(3), target, 1e-2, 2000)
    assert solution.outcome is Outcome.REACHED


@both
def test_a_single_link_that_points_the_wrong_way_turns_round(solve):
    solution = solve(ORIGIN, [2.0], [0.0], (-2.0, 0.0), 1e-3, 500)
    assert solution.outcome is Outcome.REACHED
    assert abs(solution.angles[0]) == pytest.approx(math.pi, abs=1e-3)


@both
@pytest.mark.parametrize("count", [1, 2, 5, 20])
def test_out_of_reach_the_error_never_grows_and_the_arm_ends_stretched(solve, count):
    lengths, target = np.full(count, 18.0), (18.0 * count + 60.0, 25.0)
    errors = [
        solve(ORIGIN, lengths, np.full(count, 0.5), target, 0.01, iterations).error
        for iterations in range(1, 60, 3)
    ]
    assert errors == sorted(errors, reverse=True)
    solution = solve_damped_least_squares(ORIGIN, lengths, np.full(count, 0.5), target, 0.1, 5000)
    assert solution.outcome is Outcome.FULL_STRETCH
    assert solution.error == pytest.approx(math.hypot(*target) - 18.0 * count, abs=0.1)


def test_a_target_nearer_than_the_arm_can_fold_ends_in_a_fold():
    solution = solve_damped_least_squares(ORIGIN, [3.0, 1.0], [0.4, 0.5], (0.5, 0.0), 1e-3, 5000)
    assert solution.outcome is Outcome.FULL_FOLD
    assert solution.error == pytest.approx(1.5, abs=1e-3)


def test_freezing_reaches_where_clipping_alone_does_not():
    limits = JointLimits(np.array((-1.5, -1.0, -1.0)), np.array((1.5, 1.0, 1.0)))
    start, target = np.array((-0.905, -0.141, -0.472)), np.array((1.86, 1.378))
    solution = solve_damped_least_squares(ORIGIN, np.ones(3), start, target, 1e-3, 500, limits)
    assert solution.outcome is Outcome.REACHED
    assert np.all(solution.angles >= limits.lowest) and np.all(solution.angles <= limits.highest)
    angles, nearest = start, math.inf
    for _ in range(500):
        error = target - tip_of(np.ones(3), angles)
        nearest = min(nearest, float(np.linalg.norm(error)))
        damping = math.sqrt(0.5 * np.linalg.norm(error) * 6.0)
        step = damped_step(jacobian_of(np.ones(3), angles), error, damping)
        angles = np.clip(angles + step, limits.lowest, limits.highest)
    assert nearest > 0.1


@both
@given(chains(fewest=2, most=8), st.floats(0.1, 1.5))
def test_limits_hold_and_what_cannot_be_reached_within_them_settles(solve, chain, bend):
    lengths, angles = chain
    limits = JointLimits.bends(len(lengths), bend)
    solution = solve(ORIGIN, lengths, angles, (0.1, 0.05), 1e-2, 400, limits)
    assert np.all(np.abs(solution.angles[1:]) <= bend)
    if solution.outcome is not Outcome.REACHED:
        again = solve(ORIGIN, lengths, solution.angles, (0.1, 0.05), 1e-2, 400, limits)
        assert again.error <= solution.error


def test_a_range_of_a_full_turn_bounds_nothing_and_the_angle_lies_in_it():
    whole = JointLimits(np.array((0.0, -math.pi)), np.array((2.0 * math.pi, math.pi)))
    for target in [(-1.0, -0.4), (0.3, -1.2), (1.5, 0.0)]:
        solution = solve_damped_least_squares(
            ORIGIN, np.ones(2), (0.1, 0.2), target, 1e-3, 500, whole
        )
        assert solution.outcome is Outcome.REACHED
        assert np.all(solution.angles >= whole.lowest) and np.all(solution.angles <= whole.highest)


def test_an_arm_that_is_there_takes_no_step():
    solution = solve_transpose(ORIGIN, [1.0, 1.0], [0.0, 0.0], (2.0, 0.0), 1e-3, 10)
    assert (solution.outcome, solution.iterations) == (Outcome.REACHED, 0)


def test_iterations_can_run_out():
    solution = solve_transpose(ORIGIN, np.ones(10), np.full(10, 0.1), (-3.0, 1.0), 1e-6, 5)
    assert (solution.outcome, solution.iterations) == (Outcome.OUT_OF_ITERATIONS, 5)


@pytest.mark.parametrize(
    "change, text",
    [
        ({"tolerance": 0.0}, "tolerance must be"),
        ({"tolerance": math.nan}, "tolerance must be"),
        ({"max_iterations": 0}, "max_iterations must"),
        ({"lengths": [1.0, -1.0]}, "lengths must be"),
        ({"angles": [0.0]}, "start must be"),
        ({"target": (0.0, math.inf)}, "target must be"),
        ({"damping": -0.1}, "damping must be"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(change, text):
    arguments = {
        "base": ORIGIN,
        "lengths": [1.0, 1.0],
        "angles": [0.1, 0.2],
        "target": (1.0, 0.5),
        "tolerance": 1e-3,
        "max_iterations": 10,
    }
    with pytest.raises(ValueError, match=text):
        solve_damped_least_squares(**{**arguments, **change})
