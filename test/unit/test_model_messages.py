import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_reach.model.geometry import forward_kinematics, wrap
from octo_reach.model.messages import exchange_requests, turn_towards_goals
from octo_reach.model.rules import ReachRules
from octo_reach.model.state import LINK, pairs_of
from octo_reach.model.steering import steer

LENGTH = 10.0
BEND = 0.5
DT = 1.0 / 120.0
EASING = 1.0 - math.exp(-20.0 / 120.0)


class Chain:
    """A chain at rest whose segments ask for what they have."""

    def __init__(self, angles, obstacles=(), bend=BEND):
        self.bend = bend
        self.count = len(angles)
        self.links = np.zeros(self.count + 1, LINK)
        self.angles = self.links["angle"][:-1]
        self.angles[:] = angles
        self.joints = pairs_of(self.links, "")
        self.headings = self.links["heading"][:-1]
        self.joints[:], self.headings[:] = forward_kinematics((0.0, 0.0), LENGTH, self.angles)
        self.obstacles = np.array(obstacles, dtype=float).reshape(-1, 3)
        self.requests = pairs_of(self.links, "request")[:-1]
        self.requests[:] = self.joints[:-1]
        self.request_headings = self.links["request_heading"][:-1]
        self.request_headings[:] = self.headings
        self.goals = pairs_of(self.links, "goal")[:-1]
        self.steered = self.links["steered"][:-1]
        self.proposed = self.links["proposed"][:-1]
        self.rules = ReachRules.pixel().for_kernels()

    def exchange(self, target) -> bool:
        return exchange_requests(
            *map(float, target),
            self.count,
            LENGTH,
            self.bend,
            self.links,
            self.obstacles,
            self.rules,
            np.empty((len(self.obstacles), 4)),
        )

    def turn(self, goals, dt=DT, speed=1.5, around=None, allowance=-1.0) -> np.ndarray:
        self.goals[:] = goals
        self.any_steered = turn_towards_goals(
            dt,
            self.count,
            LENGTH,
            self.bend,
            speed,
            self.links,
            self.obstacles,
            self.obstacles if around is None else around,
            allowance,
            self.rules,
            np.empty((len(self.obstacles), 4)),
        )
        return self.proposed


# ------------------------------------------------------------------------------- requests


def test_only_the_last_segment_hears_of_the_target():
    chain = Chain([0.0, 0.1, 0.1])
    before = chain.requests.copy()
    chain.exchange((40.0, 30.0))
    np.testing.assert_array_equal(chain.goals[:2], before[1:])
    assert chain.goals[2].tolist() == [40.0, 30.0]


def test_every_other_segment_aims_at_what_its_neighbour_asked_for_before():
    chain = Chain([0.0, 0.1, 0.1, 0.1])
    for _ in range(3):
        before = chain.requests.copy()
        chain.exchange((25.0, 30.0))
        np.testing.assert_array_equal(chain.goals[:-1], before[1:])


def test_the_last_segment_asks_to_stand_a_length_before_the_target_aimed_at_it():
    chain = Chain([0.0, 0.1, 0.1])
    chain.exchange((20.0, 40.0))
    heading = math.atan2(40.0 - chain.joints[2, 1], 20.0 - chain.joints[2, 0])
    assert chain.request_headings[2] == pytest.approx(heading)
    expected = (20.0 - LENGTH * math.cos(heading), 40.0 - LENGTH * math.sin(heading))
    assert chain.requests[2] == pytest.approx(expected)


def test_a_request_never_asks_for_more_bend_against_the_neighbours_old_heading():
    chain = Chain([0.0, 0.0, 0.0])
    chain.requests[2] = (10.0, 50.0)
    chain.request_headings[2] = -0.3
    chain.exchange((20.0, 40.0))
    # Segment 2 would turn up by pi/2 to its goal, and may by the bend from what 3 asked before.
    heading = -0.3 + BEND
    assert chain.request_headings[1] == pytest.approx(heading)
    expected = (10.0 - LENGTH * math.cos(heading), 50.0 - LENGTH * math.sin(heading))
    assert chain.requests[1] == pytest.approx(expected)


def test_the_bend_of_a_request_is_measured_the_short_way_round():
    chain = Chain([3.0, 0.0, 0.0], bend=0.2)
    chain.requests[2] = chain.joints[1] + (-10.0, -1.0)
    chain.request_headings[2] = 3.1
    chain.exchange((0.0, 0.0))
    # atan2(-1, -10) lies just beyond -pi, 0.14 further round than 3.1.
    assert chain.request_headings[1] == pytest.approx(math.atan2(-1.0, -10.0))


def test_the_last_segment_is_free_to_aim_anywhere():
    chain = Chain([0.0, 0.0, 0.0], bend=0.1)
    chain.exchange((20.0, 40.0))
    assert chain.request_headings[2] == pytest.approx(math.pi / 2.0)


def test_stored_headings_are_wrapped():
    chain = Chain([3.1, 0.4, 0.4])
    assert chain.headings[2] > math.pi
    chain.exchange(tuple(chain.joints[3] + (1.0, 1.0)))
    assert np.all(np.abs(chain.request_headings) <= math.pi)


def test_a_goal_on_the_segments_start_keeps_its_heading():
    chain = Chain([0.7, 0.2, 0.1])
    chain.exchange(tuple(chain.joints[2]))
    assert chain.request_headings[2] == pytest.approx(1.0)
    back = chain.joints[2] - LENGTH * np.array([math.cos(1.0), math.sin(1.0)])
    assert chain.requests[2] == pytest.approx(back)


def test_requests_are_made_of_steered_goals_and_it_is_told():
    chain = Chain([0.0, 0.0, 0.0], [(45.0, 2.0, 4.0)])
    assert chain.exchange((60.0, 0.0)) is True
    assert chain.steered.tolist() == [False, False, True]
    assert chain.goals[2] == pytest.approx(
        (
            45.0 + 20.0 * math.cos(math.atan2(-2.0, -25.0) + 0.4),
            2.0 + 20.0 * math.sin(math.atan2(-2.0, -25.0) + 0.4),
        )
    )
    assert Chain([0.0, 0.0]).exchange((60.0, 0.0)) is False


# --------------------------------------------------------------------------------- turning


def test_a_small_error_is_eased_exponentially():
    chain = Chain([0.0, 0.0])
    aim = 0.02
    goals = [(10.0 * math.cos(aim), 10.0 * math.sin(aim))] * 2
    proposed = chain.turn(goals)
    assert proposed[0] == pytest.approx(aim * EASING)


def test_a_large_error_is_turned_at_the_turning_speed():
    chain = Chain([0.0, 0.0])
    proposed = chain.turn([(0.0, 50.0), (0.0, 50.0)])
    np.testing.assert_allclose(proposed, 1.5 * DT)
    proposed = chain.turn([(0.0, -50.0), (0.0, -50.0)], speed=0.3)
    np.testing.assert_allclose(proposed, -0.3 * DT)


def test_the_short_way_round_is_taken_across_the_back():
    chain = Chain([3.1, 0.0])
    proposed = chain.turn([(-10.0, -1.0), (-20.0, -2.0)])
    assert proposed[0] > 3.1
    chain = Chain([-3.1, 0.0])
    assert chain.turn([(-10.0, 1.0), (-20.0, 2.0)])[0] < -3.1


def test_the_base_turns_freely_and_is_wrapped():
    chain = Chain([3.14, 0.0], bend=0.1)
    proposed = chain.turn([(-10.0, -5.0), (-20.0, -10.0)])
    assert proposed[0] == pytest.approx(wrap(3.14 + 1.5 * DT))


def test_every_other_joint_stays_within_the_largest_bend():
    chain = Chain([0.0, BEND - 0.001, 0.0])
    proposed = chain.turn([(10.0, 0.0), (10.0, 90.0), (10.0, 90.0)])
    assert proposed[1] == BEND
    assert proposed[2] > 0.0


def test_each_segment_starts_where_its_parent_now_ends():
    chain = Chain([0.0, 0.0])
    proposed = chain.turn([(0.0, 50.0), (12.0, 0.15)], dt=DT)
    base = 1.5 * DT
    start = (LENGTH * math.cos(base), LENGTH * math.sin(base))
    error = math.atan2(0.15 - start[1], 12.0 - start[0]) - base
    assert proposed[1] == pytest.approx(max(error * EASING, -1.5 * DT))


def test_a_goal_on_the_joint_leaves_its_angle():
    chain = Chain([0.3, 0.2])
    proposed = chain.turn([(0.0, 0.0), (50.0, 50.0)])
    assert proposed[0] == 0.3


def test_goals_are_steered_again_from_the_new_pose_and_it_is_told():
    chain = Chain([0.0, 0.0], [(25.0, 2.0, 4.0)])
    proposed = chain.turn([(40.0, 0.0), (40.0, 0.0)])
    assert chain.any_steered is True
    assert chain.steered.tolist() == [True, True]
    assert chain.goals[0] == pytest.approx(
        (
            25.0 + 20.0 * math.cos(math.atan2(-2.0, -25.0) + 0.4),
            2.0 + 20.0 * math.sin(math.atan2(-2.0, -25.0) + 0.4),
        )
    )
    assert proposed[0] == pytest.approx(-1.5 * DT)


def test_beyond_the_allowance_the_second_look_goes_by_every_obstacle():
    chain = Chain([0.0] * 8, [(40.0, 4.0, 6.0)])
    goals = [(100.0, 0.0)] * 8
    nothing = np.empty((0, 3))
    chain.turn(goals, around=nothing, allowance=1000.0)
    assert not chain.any_steered
    chain.turn(goals, around=nothing, allowance=0.0)
    assert chain.any_steered


def test_what_the_first_look_steered_stays_told():
    chain = Chain([0.0, 0.0])
    chain.steered[1] = True
    chain.turn([(50.0, 0.0), (50.0, 0.0)])
    assert chain.steered.tolist() == [False, True]
    assert chain.any_steered is False


# ------------------------------------------------------------------------------- long chains


def goals_by_hand(chain: Chain, starts, goals) -> list[tuple[float, float, bool]]:
    """Steer every segment with every obstacle there is, one by one."""
    warning = chain.rules.arm_clearance + chain.rules.steering_margin
    crowd = np.full((len(chain.obstacles), 4), math.inf)
    crowd[:, :3] = chain.obstacles
    crowd[:, 2] += warning
    return [
        steer(*map(float, start), *map(float, goal), LENGTH, crowd, len(crowd), chain.rules)
        for start, goal in zip(starts, goals, strict=True)
    ]


crowds = st.lists(
    st.tuples(st.floats(-20.0, 330.0), st.floats(-60.0, 60.0), st.floats(1.0, 12.0)),
    min_size=1,
    max_size=12,
)


@given(crowds, st.integers(9, 30), st.floats(-0.05, 0.05))
def test_every_segment_of_a_long_chain_sees_every_obstacle_it_should(crowd, count, curve):
    chain = Chain([0.0, *[curve] * (count - 1)], crowd)
    target = (15.0 * count, 40.0)
    by_hand = goals_by_hand(chain, chain.joints[:-1], [*chain.requests[1:], target])
    chain.exchange(target)
    assert [
        (*goal, bool(flag)) for goal, flag in zip(chain.goals, chain.steered, strict=True)
    ] == by_hand

    goals = chain.goals.copy()
    proposed = chain.turn(goals)
    starts, _ = forward_kinematics((0.0, 0.0), LENGTH, proposed)
    by_hand = goals_by_hand(chain, starts[:-1], goals)
    assert [tuple(goal) for goal in chain.goals] == [(x, y) for x, y, _ in by_hand]


@pytest.mark.parametrize("segment", [0, 7, 8, 15, 16, 23, 24, 29])
def test_an_obstacle_beside_any_segment_of_a_long_chain_is_seen(segment):
    chain = Chain([0.0] * 30, [(LENGTH * (segment + 0.5), 15.0, 5.0)])
    chain.exchange((300.0, 0.0))
    assert chain.steered[segment]
    chain.steered[:] = False
    chain.turn([(LENGTH * (i + 1), 0.0) for i in range(30)])
    assert chain.steered[segment]


def test_the_first_segment_of_a_long_chain_sees_what_lies_behind_it():
    # It looks back to x = -30, and the early-warning circle reaches from there to the centre.
    chain = Chain([0.0] * 9, [(-45.0, 0.0, 5.0)])
    chain.requests[1] = (-90.0, 0.0)
    chain.exchange((90.0, 0.0))
    assert chain.steered[0]
    chain = Chain([0.0] * 9, [(-47.0, 0.0, 5.0)])
    chain.requests[1] = (-90.0, 0.0)
    chain.exchange((90.0, 0.0))
    assert not chain.steered[0]
