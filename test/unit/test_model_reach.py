import math
from dataclasses import replace

import numpy as np
import pytest

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.model.reach import Planner
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind

STRAIGHT = replace(ReachRules.pixel(), initial_curve=0.0)
TICK = 1.0 / 120.0
SPEED = 1.5
FAR = (60.0, 300.0)


class Scripted(Planner):
    """A planner that proposes what it is told to and notes what it was asked."""

    def __init__(self, answer=None, gated=True, retreats=True):
        self.name = "scripted"
        self.gated = gated
        self.retreats = retreats
        self.answer = answer
        self.asked = []
        self.resets = 0

    def propose(self, arm, target, obstacles, dt):
        self.asked.append((target.copy(), obstacles.copy(), dt))
        self.obstacles = obstacles
        return self.answer(arm) if callable(self.answer) else self.answer

    def reset(self):
        self.resets += 1


def octopus_with(planner=None, target=FAR, bend=1.0, segments=4, rules=STRAIGHT) -> Octopus:
    parameters = ArmParameters(segments, 10.0, bend, SPEED)
    planners = None if planner is None else {1: planner}
    return Octopus([ArmPlacement(1, parameters, target=target)], rules, planners)


# ----------------------------------------------------------------------- proposals and limits


def test_a_proposal_within_the_limits_is_taken():
    octopus = octopus_with(Scripted(np.array([0.01, -0.005, 0.0, 0.002])))
    octopus.step(TICK)
    assert octopus.arm(1).angles == pytest.approx([0.01, -0.005, 0.0, 0.002], abs=1e-15)


def test_every_joint_turns_no_faster_than_the_turning_speed():
    octopus = octopus_with(Scripted(np.array([1.0, -0.9, 1e300, -1e300])))
    octopus.step(TICK)
    most = SPEED * TICK
    assert octopus.arm(1).angles == pytest.approx([most, -most, most, -most])


def test_every_joint_but_the_base_stops_at_the_largest_bend():
    octopus = octopus_with(Scripted(np.array([2.0, 2.0, -2.0, 0.3])), bend=0.4)
    for _ in range(200):
        octopus.step(TICK)
    assert octopus.arm(1).angles == pytest.approx([2.0, 0.4, -0.4, 0.3])


def test_the_base_turns_the_short_way_round_and_wraps():
    octopus = octopus_with(Scripted(np.array([3.0 * math.pi + 0.5, 0.0, 0.0, 0.0])))
    octopus.step(TICK)
    # 3 pi + 0.5 is 0.5 beyond the back, so the short way there is against the clock.
    assert octopus.arm(1).angles[0] == pytest.approx(-SPEED * TICK)
    for _ in range(400):
        octopus.step(TICK)
    assert octopus.arm(1).angles[0] == pytest.approx(-math.pi + 0.5)


def test_none_holds_the_arm():
    planner = Scripted(None)
    octopus = octopus_with(planner)
    before = octopus.arm(1).angles.copy()
    octopus.step(TICK)
    assert octopus.arm(1).angles.tobytes() == before.tobytes()
    assert len(planner.asked) == 1
    assert octopus.arm(1).updates == 1


@pytest.mark.parametrize(
    "wrong",
    [
        np.array([0.0, math.nan, 0.0, 0.0]),
        np.array([0.0, math.inf, 0.0, 0.0]),
        np.zeros(3),
        np.zeros(5),
        np.zeros((4, 1)),
        0.5,
    ],
)
def test_a_proposal_that_is_no_pose_of_the_arm_is_refused_by_name(wrong):
    octopus = octopus_with(Scripted(wrong))
    before = octopus.arm(1).angles.copy()
    with pytest.raises(ValueError, match="planner scripted of arm 1 must propose 4 finite angles"):
        octopus.step(TICK)
    assert octopus.arm(1).angles.tobytes() == before.tobytes()


def test_a_list_of_integers_is_a_proposal():
    octopus = octopus_with(Scripted([0, 1, 0, 0]))
    octopus.step(TICK)
    assert octopus.arm(1).angles[1] == pytest.approx(SPEED * TICK)


def test_a_proposal_through_an_obstacle_is_refused_and_the_arm_is_blocked():
    octopus = octopus_with(Scripted(np.array([1.0, 0.0, 0.0, 0.0])))
    octopus.add_object(ObjectKind.OBSTACLE, (35.0, 9.5), 5.0)
    for _ in range(20):
        octopus.step(TICK)
    arm = octopus.arm(1)
    assert arm.blocked
    assert arm.state == "Blocked"
    distance = math.dist(arm.joints[3] + 0.5 * (arm.joints[4] - arm.joints[3]), (35.0, 9.5))
    assert distance >= 8.0 - 1e-6
    assert 0.0 < arm.angles[0] < 0.2


def test_a_blocked_arm_moves_on_when_the_obstacle_is_gone():
    octopus = octopus_with(Scripted(np.array([1.0, 0.0, 0.0, 0.0])))
    octopus.add_object(ObjectKind.OBSTACLE, (35.0, 9.5), 5.0)
    for _ in range(20):
        octopus.step(TICK)
    octopus.remove_object(1)
    before = float(octopus.arm(1).angles[0])
    octopus.step(TICK)
    assert not octopus.arm(1).blocked
    assert octopus.arm(1).angles[0] > before


# ---------------------------------------------------------------------- what a planner is told


def test_a_planner_is_told_the_target_the_obstacles_and_the_duration():
    planner = Scripted(None)
    octopus = octopus_with(planner)
    octopus.add_object(ObjectKind.FOOD, (20.0, 50.0), 3.0)
    octopus.add_object(ObjectKind.OBSTACLE, (20.0, 40.0), 6.0)
    octopus.add_object(ObjectKind.OBSTACLE, (9000.0, 0.0), 6.0)
    octopus.step(0.125)
    target, obstacles, dt = planner.asked[0]
    assert target.tolist() == list(FAR)
    assert obstacles.tolist() == [[20.0, 40.0, 6.0]]
    assert dt == 0.125
    with pytest.raises(ValueError, match="read-only"):
        planner.obstacles[0, 0] = 0.0


def test_an_idle_arm_does_not_ask_its_planner():
    planner = Scripted(np.ones(4))
    octopus = octopus_with(planner, target=None)
    octopus.step(TICK)
    assert planner.asked == []
    assert octopus.arm(1).angles.tolist() == [0.0, 0.0, 0.0, 0.0]


def test_a_carrying_arm_asks_for_the_tip_target_beside_the_destination():
    planner = Scripted(None)
    octopus = octopus_with(planner)
    octopus.add_object(ObjectKind.FOOD, (20.0, 3.0), 1.0)
    for _ in range(30):
        octopus.step(TICK)
    assert octopus.arm(1).grip is not None
    octopus.reach(1, (0.0, 30.0))
    octopus.step(TICK)
    # The tip stands at (40, 0), so (20, -3) off the object.
    assert planner.asked[-1][0].tolist() == pytest.approx([20.0, 27.0])
    assert octopus.arm(1).target.tolist() == pytest.approx([20.0, 27.0])
    assert octopus.arm(1).destination.tolist() == [0.0, 30.0]


# ---------------------------------------------------------------------------- the two gates


@pytest.mark.parametrize("planner", [None, Scripted(np.ones(4))])
def test_a_target_within_the_clearance_of_an_obstacle_blocks_the_arm(planner):
    octopus = octopus_with(planner, target=(100.0, 100.0))
    octopus.add_object(ObjectKind.OBSTACLE, (100.0, 109.0), 6.1)
    requests = octopus.arm(1).requests.copy()
    octopus.step(TICK)
    arm = octopus.arm(1)
    assert arm.blocked
    assert arm.updates == 0
    assert arm.angles.tolist() == [0.0, 0.0, 0.0, 0.0]
    assert arm.requests.tobytes() == requests.tobytes()
    octopus.move_object(1, (100.0, 109.2))
    octopus.step(TICK)
    assert not arm.blocked
    assert arm.updates == 1


@pytest.mark.parametrize(
    "centre", [(100.0, 100.0), (20.0, 20.0), (-32.0, 32.0)], ids=["far", "near", "at arm's reach"]
)
@pytest.mark.parametrize("side", [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0), (0.6, -0.8)])
def test_a_target_is_as_blocked_on_one_side_of_an_obstacle_as_on_another(side, centre):
    for distance, blocked in ((8.9, True), (9.1, False)):
        target = (centre[0] + distance * side[0], centre[1] + distance * side[1])
        octopus = octopus_with(target=target)
        octopus.add_object(ObjectKind.OBSTACLE, centre, 6.0)
        octopus.step(TICK)
        assert octopus.arm(1).blocked is blocked


@pytest.mark.parametrize("place", [(20.0, 30.0), (200.0, 30.0)], ids=["within", "beyond"])
@pytest.mark.parametrize("kind", [ObjectKind.FOOD, ObjectKind.HAZARD])
def test_a_target_on_food_or_a_hazard_blocks_nothing(kind, place):
    octopus = octopus_with(target=place)
    octopus.add_object(kind, place, 6.0)
    octopus.step(TICK)
    assert not octopus.arm(1).blocked
    assert octopus.arm(1).updates == 1


@pytest.mark.parametrize("planner", [None, Scripted(np.ones(4))])
def test_an_arm_at_its_target_rests(planner):
    octopus = octopus_with(planner, target=(41.9, 0.0))
    octopus.step(TICK)
    assert octopus.arm(1).updates == 0
    assert octopus.arm(1).state == "Reached"
    octopus.reach(1, (42.1, 0.0))
    octopus.step(TICK)
    assert octopus.arm(1).updates == 1


def test_an_arm_at_its_target_that_touches_an_obstacle_does_not_rest():
    octopus = octopus_with(target=(41.0, 0.0))
    octopus.add_object(ObjectKind.OBSTACLE, (25.0, 9.0), 6.0)
    assert len(octopus.contacts) == 1
    octopus.step(TICK)
    assert octopus.arm(1).updates == 1


def test_an_arm_at_its_target_that_touches_a_hazard_rests():
    octopus = octopus_with(target=(41.0, 0.0))
    octopus.add_object(ObjectKind.HAZARD, (25.0, 9.0), 6.0)
    octopus.step(TICK)
    assert octopus.arm(1).updates == 0
    assert octopus.arm(1).state == "Contact"


def test_a_planner_without_gates_is_asked_all_the_same():
    planner = Scripted(np.array([0.01, 0.0, 0.0, 0.0]), gated=False)
    octopus = octopus_with(planner, target=(40.0, 0.0))
    octopus.step(TICK)
    assert len(planner.asked) == 1
    octopus.add_object(ObjectKind.OBSTACLE, (100.0, 100.0), 6.0)
    octopus.reach(1, (100.0, 100.0))
    octopus.step(TICK)
    assert len(planner.asked) == 2
    assert not octopus.arm(1).blocked
    assert octopus.arm(1).angles[0] > 0.0


@pytest.mark.parametrize("under_way", [False, True])
def test_only_a_planner_under_way_moves_an_arm_on_whose_load_is_at_its_destination(under_way):
    planner = Scripted(lambda arm: arm.angles + 0.01 * np.eye(4)[0], gated=False)
    planner.under_way = under_way
    octopus = octopus_with(planner, target=(40.0, 0.0))
    octopus.add_object(ObjectKind.FOOD, (30.0, 0.0), 5.0)
    for _ in range(30):
        octopus.step(TICK)
    assert octopus.arm(1).grip is not None
    planner.asked.clear()
    octopus.reach(1, (30.0, 0.0))
    octopus.step(TICK)
    assert octopus.arm(1).active == under_way
    assert len(planner.asked) == under_way
    assert octopus.arm(1).angles[0] == pytest.approx(0.01 if under_way else 0.0)


# -------------------------------------------------------------------------- the neighbour rules


def test_requests_evolve_while_the_guard_refuses_every_move():
    octopus = octopus_with(target=(40.0, 40.0))
    octopus.add_object(ObjectKind.OBSTACLE, (20.0, 8.5), 5.5)
    octopus.add_object(ObjectKind.OBSTACLE, (20.0, -8.5), 5.5)
    before = octopus.arm(1).requests.copy()
    octopus.step(TICK)
    arm = octopus.arm(1)
    assert arm.blocked
    assert arm.avoiding
    assert arm.angles.tolist() == [0.0, 0.0, 0.0, 0.0]
    assert not np.array_equal(arm.requests[3], before[3])


def test_steering_is_told_by_segment():
    octopus = octopus_with(target=(80.0, 2.0))
    octopus.add_object(ObjectKind.OBSTACLE, (60.0, 3.0), 4.0)
    octopus.step(TICK)
    arm = octopus.arm(1)
    assert arm.avoiding
    assert arm.state == "Avoiding"
    assert arm.steered.tolist() == [False, False, False, True]
    assert arm.goals[3].tolist() != [80.0, 2.0]


def test_two_equal_joints_and_a_target_on_the_base_do_no_harm():
    # With a bend of pi the arm can fold back on itself: joint 2 lies on the base, and so on.
    rules = replace(STRAIGHT, initial_curve=math.pi)
    octopus = octopus_with(target=(0.0, 0.0), bend=math.pi, rules=rules)
    octopus.reach(1, (50.0, 50.0))
    np.testing.assert_allclose(octopus.arm(1).joints[[0, 2, 4]], 0.0, atol=1e-12)
    octopus.add_object(ObjectKind.OBSTACLE, (100.0, 0.0), 5.0)
    for target in ((0.0, 0.0), (10.0, 0.0), (5.0, 5.0)):
        octopus.reach(1, target)
        for _ in range(60):
            octopus.step(TICK)
        arm = octopus.arm(1)
        assert np.all(np.isfinite(arm.angles))
        assert np.all(np.abs(arm.angles[1:]) <= math.pi)


def test_a_target_on_a_joint_gives_that_segment_no_direction_and_does_no_harm():
    octopus = octopus_with()
    octopus.reach(1, tuple(octopus.arm(1).joints[3]))
    octopus.step(TICK)
    assert octopus.arm(1).angles[3] == 0.0
    assert np.all(np.isfinite(octopus.arm(1).requests))


def test_a_target_at_the_end_of_the_world_does_no_harm():
    octopus = octopus_with(target=(-1e308, 1e308))
    octopus.add_object(ObjectKind.OBSTACLE, (20.0, 40.0), 6.0)
    for _ in range(30):
        octopus.step(TICK)
    assert np.all(np.isfinite(octopus.arm(1).angles))
    assert octopus.arm(1).state == "Beyond reach"


@pytest.mark.parametrize("segments", [2, 100])
def test_the_shortest_and_the_longest_arm_reach(segments):
    target = (0.6 * segments * 10.0, 0.5 * segments * 10.0)
    octopus = octopus_with(target=target, bend=3.0, segments=segments)
    for _ in range(1200):
        octopus.step(TICK)
    assert octopus.arm(1).state == "Reached"
    assert octopus.arm(1).tip_error <= 2.0


@pytest.mark.parametrize(
    ("gated", "retreats", "moves"),
    [(True, True, False), (True, False, False), (False, False, False), (False, True, True)],
)
def test_only_an_ungated_planner_draws_an_arm_out_of_an_overlap_and_none_deeper_into_it(
    gated, retreats, moves
):
    def turned(arm, by):
        angles = arm.angles.copy()
        angles[0] += by
        return angles

    octopus = octopus_with(Scripted(lambda arm: turned(arm, -1.0), gated, retreats))
    octopus.add_object(ObjectKind.OBSTACLE, (25.0, 6.0), 5.0)
    octopus.step(TICK)
    arm = octopus.arm(1)
    assert (arm.angles[0] < 0.0) == moves
    assert arm.blocked != moves
    before = arm.angles.copy()
    octopus.set_planner(1, Scripted(lambda arm: turned(arm, 1.0), gated, retreats))
    octopus.step(TICK)
    assert arm.angles.tobytes() == before.tobytes()
    assert arm.blocked


def test_whether_a_planner_retreats_is_asked_update_by_update_and_gates_nothing():
    planner = Scripted(lambda arm: arm.angles - 0.01 * np.eye(4)[0], gated=False, retreats=False)
    octopus = octopus_with(planner, target=(40.0, 0.0))
    octopus.add_object(ObjectKind.OBSTACLE, (25.0, 6.0), 5.0)
    for turn, retreats in enumerate((False, True, False)):
        planner.retreats = retreats
        before = float(octopus.arm(1).angles[0])
        octopus.step(TICK)
        assert len(planner.asked) == turn + 1
        assert (octopus.arm(1).angles[0] < before) == retreats
