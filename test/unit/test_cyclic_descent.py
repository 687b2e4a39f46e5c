import math

import numpy as np
import pytest

from octo_reach.planners.inverse_kinematics.chain import JointLimits, Outcome, joint_positions
from octo_reach.planners.inverse_kinematics.cyclic_descent import solve


def test_one_round_turns_every_joint_from_the_tip_inwards_towards_the_target():
    # Two segments along x, target straight above the knee: first the outer one turns up and meets
    # it, so that the inner one has nothing left to do.
    solution = solve([0.0, 0.1], [10.0, 5.0], (10.0, 5.0), max_iterations=1)
    assert solution.outcome is Outcome.REACHED
    assert solution.iterations == 1
    assert solution.angles == pytest.approx([0.0, math.pi / 2])
    # Here the outer one can only point there, and the inner one brings the tip into line.
    solution = solve([0.0, 0.1], [10.0, 5.0], (0.0, 12.0), max_iterations=1)
    assert math.atan2(*solution.positions[-1][::-1]) == pytest.approx(math.pi / 2)
    assert solution.angles[1] == pytest.approx(math.atan2(12.0, -10.0))


@pytest.mark.parametrize("target", [(100.0, 50.0), (-30.0, 80.0), (0.0, 0.0), (150.0, 0.0)])
@pytest.mark.parametrize("start", [np.full(10, 0.06), np.zeros(10)])
def test_targets_within_reach_are_reached(target, start):
    solution = solve(start, np.full(10, 20.0), target)
    assert solution.outcome is Outcome.REACHED
    assert solution.error <= 0.01
    assert np.hypot(*np.diff(solution.positions, axis=0).T) == pytest.approx(20.0)


def test_a_target_out_of_reach_is_approached_until_nothing_more_is_gained():
    solution = solve(np.full(4, 0.3), np.full(4, 20.0), (0.0, 100.0))
    assert solution.outcome is Outcome.SETTLED
    assert solution.error == pytest.approx(20.0, abs=0.1)


def test_limits_are_kept_and_the_error_never_grows():
    limits = JointLimits([-1.0, 0.1, -0.4, 0.0], [1.0, 0.8, -0.1, 2.0])
    lengths = np.array([10.0, 30.0, 20.0, 5.0])
    chance = np.random.default_rng(1)
    for target in chance.uniform(-60.0, 60.0, (50, 2)):
        start = chance.uniform(limits.lowest, limits.highest)
        before = math.dist(joint_positions((0.0, 0.0), lengths, start)[-1], target)
        for rounds in (1, 2, 50):
            solution = solve(start, lengths, target, limits=limits, max_iterations=rounds)
            assert np.all(solution.angles >= limits.lowest)
            assert np.all(solution.angles <= limits.highest)
            assert solution.error <= before + 1e-9
            before = solution.error


def test_a_bend_that_may_pass_half_a_turn_goes_on_past_it():
    limits = JointLimits([-0.1, 2.5], [0.1, 4.0])
    target = joint_positions((0.0, 0.0), np.array([20.0, 10.0]), np.array([0.0, 3.6]))[-1]
    solution = solve([0.0, 2.6], [20.0, 10.0], target, limits=limits)
    assert solution.outcome is Outcome.REACHED
    assert solution.angles[1] == pytest.approx(3.6, abs=0.01)


def test_it_is_bounded_and_refuses_what_does_not_fit():
    solution = solve(np.full(10, 0.06), np.full(10, 20.0), (-150.0, 10.0), max_iterations=1)
    assert solution.outcome is Outcome.OUT_OF_ITERATIONS
    assert solution.iterations == 1
    with pytest.raises(ValueError, match="lengths must be finite and above 0"):
        solve([0.0], [-1.0], (1.0, 0.0))
    with pytest.raises(ValueError, match="max_iterations must be at least 1"):
        solve([0.0], [1.0], (1.0, 0.0), max_iterations=0)
