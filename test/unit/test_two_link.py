import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_reach.planners.inverse_kinematics.chain import Outcome, joint_positions
from octo_reach.planners.inverse_kinematics.jacobian import solve_damped_least_squares
from octo_reach.planners.inverse_kinematics.two_link import two_link_solutions

lengths_of_links = st.floats(0.3, 3.0)


def tip_of(base, lengths, angles):
    return joint_positions(base, np.array(lengths), angles)[-1]


@given(lengths_of_links, lengths_of_links, st.floats(-3.1, 3.1), st.floats(0.01, 3.1))
def test_both_poses_reach_and_one_of_them_is_the_one_it_was_made_from(first, second, heading, bend):
    base, lengths = (0.4, -0.2), (first, second)
    target = tip_of(base, lengths, np.array((heading, bend)))
    left, right = two_link_solutions(base, lengths, target)
    for pose in (left, right):
        assert tip_of(base, lengths, pose) == pytest.approx(target, abs=1e-6)
    assert left[1] > 0.0 > right[1]
    assert left[1] == pytest.approx(bend, abs=1e-6)
    assert right[1] == pytest.approx(-bend, abs=1e-6)


@pytest.mark.parametrize("target", [(3.0, 0.0), (0.0, 4.1), (0.5, 0.5), (0.0, 0.0)])
def test_too_far_away_or_too_near_there_is_no_pose(target):
    assert two_link_solutions((0.0, 0.0), (2.0, 0.9), target) == []


@pytest.mark.parametrize("target, bend", [((0.0, 3.0), 0.0), ((0.0, 1.0), -math.pi)])
def test_straight_or_folded_there_is_one_pose(target, bend):
    (pose,) = two_link_solutions((0.0, 0.0), (2.0, 1.0), target)
    assert pose[1] == bend
    assert tip_of((0.0, 0.0), (2.0, 1.0), pose) == pytest.approx(target, abs=1e-12)


def test_on_the_base_equal_links_fold():
    (pose,) = two_link_solutions((1.0, 1.0), (0.5, 0.5), (1.0, 1.0))
    assert tip_of((1.0, 1.0), (0.5, 0.5), pose) == pytest.approx((1.0, 1.0), abs=1e-12)


@pytest.mark.parametrize("lengths", [(1.0,), (1.0, 1.0, 1.0), (1.0, 0.0), (1.0, math.nan)])
def test_other_than_two_lengths_are_refused(lengths):
    with pytest.raises(ValueError, match="lengths must be two"):
        two_link_solutions((0.0, 0.0), lengths, (1.0, 0.0))


@given(
    lengths_of_links,
    lengths_of_links,
    st.floats(0.03, 0.97),
    st.floats(-3.1, 3.1),
    st.floats(-3.1, 3.1),
    st.floats(-3.1, 3.1),
)
def test_damped_least_squares_ends_in_one_of_the_two(first, second, share, way, heading, bend):
    lengths = (first, second)
    near, far = abs(first - second), first + second
    distance = near + share * (far - near)
    target = (distance * math.cos(way), distance * math.sin(way))
    solution = solve_damped_least_squares(
        (0.0, 0.0), lengths, (heading, bend), target, 1e-7 * far, 3000
    )
    assert solution.outcome is Outcome.REACHED
    gaps = [
        np.max(np.abs(np.sin(0.5 * (solution.angles - pose))))
        for pose in two_link_solutions((0.0, 0.0), lengths, target)
    ]
    assert min(gaps) < 1e-4
