"""Planners chosen for the arms of an octopus: failures stay theirs, trajectories come and go."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.model.reach import Planner
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind
from octo_reach.planners import ExternalPlanner, NeighbourPlanner
from octo_reach.planners.chosen import ChosenPlanners
from octo_reach.planners.contained import ContainedPlanner
from octo_reach.planners.preparation import run_once
from octo_reach.planners.trajectory import ENDED, Trajectory

STEP = 1.0 / 120.0
JOINTS = 5


class Failing(Planner):
    """Fails as it is told; else turns the base."""

    name = "failing"

    def __init__(self):
        self.failure = None
        self.asked = 0

    def propose(self, arm, target, obstacles, dt):
        self.asked += 1
        if isinstance(self.failure, Exception):
            raise self.failure
        if self.failure is not None:
            return self.failure
        return arm.angles + np.eye(len(arm.angles))[0]

    def reset(self):
        if isinstance(self.failure, Exception):
            raise self.failure


def make(planners=None, numbers=(1, 2)):
    placements = [
        ArmPlacement(
            n, ArmParameters(JOINTS, 20.0), base=(500.0 * n, 0.0), target=(500.0 * n, 60.0)
        )
        for n in numbers
    ]
    octopus = Octopus(placements, ReachRules.pixel())
    said = []
    return octopus, ChosenPlanners(octopus, planners or {}, said.append), said


def trajectory(*angles, seconds=0.5, joints=(0,)):
    positions = np.array(angles, dtype=float).reshape(-1, len(joints))
    times = seconds * np.arange(1, len(positions) + 1)
    return Trajectory(np.array(joints), times, positions, np.full(positions.shape, math.nan))


def run(octopus, chosen, steps):
    for _ in range(steps):
        chosen.settle()
        octopus.step(STEP)


# Failures


@pytest.mark.parametrize(
    "failure",
    [
        RuntimeError("no idea"),
        np.zeros(JOINTS + 1),
        np.full(JOINTS, math.nan),
        "nonsense",
        [[0.0]],
    ],
)
def test_a_planner_that_fails_holds_its_arm_only_and_the_step_is_a_whole_one(failure):
    planner = Failing()
    octopus, chosen, said = make({1: planner})
    planner.failure = failure
    before = octopus.arm(1).angles.copy()
    other = octopus.arm(2).angles.copy()
    run(octopus, chosen, 10)
    assert (octopus.arm(1).angles == before).all()
    assert np.abs(octopus.arm(2).angles - other).max() > 0.01
    assert octopus.ticks == 10
    assert octopus.arm(1).planner_note.startswith("failed: ")
    assert octopus.arm(1).state == "Failed"
    assert chosen.failures == planner.asked == 10
    (line,) = said
    assert line.startswith("planner failing of arm 1 failed, the arm holds: ")
    # It is asked again, and one that has got over it moves the arm.
    planner.failure = None
    run(octopus, chosen, 10)
    assert octopus.arm(1).angles[0] > before[0]
    assert octopus.arm(1).planner_note == ""
    assert octopus.arm(1).state == "Reaching"
    assert chosen.failures == 10


def test_another_failure_or_another_assignment_is_said_again():
    planner = Failing()
    octopus, chosen, said = make({1: planner})
    planner.failure = RuntimeError("this")
    run(octopus, chosen, 3)
    planner.failure = ZeroDivisionError("that")
    run(octopus, chosen, 3)
    assert len(said) == 2
    octopus.reach(1, (500.0, 50.0))  # the reset fails as well
    run(octopus, chosen, 3)
    assert [line.split(": ", 1)[1] for line in said] == [
        "RuntimeError: this",
        "ZeroDivisionError: that",
        "ZeroDivisionError: that",
    ]


def test_a_long_reason_becomes_one_short_line():
    planner = Failing()
    planner.failure = ValueError("many\nlines " * 100)
    octopus, chosen, said = make({1: planner})
    run(octopus, chosen, 1)
    assert "\n" not in said[0]
    assert len(octopus.arm(1).planner_note) < 200


def test_failures_are_counted_on_when_the_planner_is_another_one():
    planner = Failing()
    octopus, chosen, _ = make({1: planner})
    planner.failure = RuntimeError("no idea")
    run(octopus, chosen, 4)
    chosen.choose(1, NeighbourPlanner())
    run(octopus, chosen, 4)
    assert chosen.failures == 4


def test_a_contained_planner_is_what_it_contains():
    class Ungated(Failing):
        gated = False
        state = "No way"
        note = "nothing to be done"

    contained = ContainedPlanner(Ungated(), lambda text: None)
    assert (contained.name, contained.gated, contained.follows_neighbours) == (
        "failing",
        False,
        False,
    )
    assert (contained.state, contained.note) == ("No way", "nothing to be done")
    assert ContainedPlanner(NeighbourPlanner(), lambda text: None).follows_neighbours


def test_contained_neighbour_rules_move_an_arm_as_they_are():
    plain, _, _ = make()
    octopus, chosen, _ = make({1: NeighbourPlanner(), 2: NeighbourPlanner()})
    run(octopus, chosen, 100)
    for _ in range(100):
        plain.step(STEP)
    for number in (1, 2):
        assert (octopus.arm(number).angles == plain.arm(number).angles).all()


# Trajectories in the place of planners


@pytest.mark.parametrize("planner", [NeighbourPlanner, ExternalPlanner, Failing])
def test_a_trajectory_takes_the_place_of_any_planner_until_the_next_target(planner):
    octopus, chosen, _ = make({1: planner()})
    chosen.follow(1, trajectory(0.3, 0.6))
    run(octopus, chosen, 60)
    assert octopus.arm(1).planner_name == "trajectory"
    assert chosen.name(1) == planner.name
    assert octopus.arm(1).angles[0] == pytest.approx(0.3)
    run(octopus, chosen, 100)
    assert octopus.arm(1).angles[0] == pytest.approx(0.6)
    assert octopus.arm(1).planner_note == ENDED
    assert octopus.arm(1).state == "Reached"
    octopus.reach(1, (500.0, 50.0))
    run(octopus, chosen, 1)
    assert octopus.arm(1).planner_name == planner.name
    assert octopus.arm(1).target.tolist() == [500.0, 50.0]


def test_its_target_is_where_the_tip_will_be():
    octopus, chosen, _ = make()
    chosen.follow(1, trajectory(0.8, -0.4, 9.0, 0.2, 0.3, joints=range(5)))
    run(octopus, chosen, 240)
    assert octopus.arm(1).planner_note == ENDED
    assert octopus.arm(1).tip == pytest.approx(octopus.arm(1).target, abs=1e-6)


def test_an_idle_arm_follows_too():
    octopus, chosen, _ = make()
    octopus.idle(1)
    chosen.follow(1, trajectory(0.4))
    run(octopus, chosen, 61)
    assert octopus.arm(1).angles[0] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("act", "still"),
    [
        (lambda octopus: octopus.idle(1), True),
        (lambda octopus: octopus.release(1), True),
        (lambda octopus: octopus.reset(1), False),
    ],
    ids=["idle", "release", "reset"],
)
def test_idle_release_and_reset_end_it(act, still):
    octopus, chosen, _ = make()
    chosen.follow(1, trajectory(2.0, seconds=2.0))
    run(octopus, chosen, 60)
    act(octopus)
    before = octopus.arm(1).angles.copy()
    run(octopus, chosen, 30)
    assert octopus.arm(1).planner_name == "neighbour"
    assert (octopus.arm(1).angles == before).all() == still


def test_another_trajectory_replaces_it_from_where_the_arm_is():
    octopus, chosen, _ = make()
    chosen.follow(1, trajectory(1.0, seconds=1.0))
    run(octopus, chosen, 60)
    here = octopus.arm(1).angles[0]
    chosen.follow(1, trajectory(0.0, seconds=1.0))
    run(octopus, chosen, 60)
    assert octopus.arm(1).angles[0] == pytest.approx(here / 2.0)
    run(octopus, chosen, 62)
    assert octopus.arm(1).planner_note == ENDED


def test_a_planner_chosen_meanwhile_has_its_turn_afterwards():
    octopus, chosen, _ = make()
    chosen.follow(1, trajectory(0.4))
    run(octopus, chosen, 10)
    chosen.choose(1, ExternalPlanner())
    run(octopus, chosen, 70)
    assert chosen.name(1) == "external"
    assert octopus.arm(1).planner_note == ENDED
    octopus.reach(1, (500.0, 50.0))
    run(octopus, chosen, 1)
    assert octopus.arm(1).planner_name == "external"


def test_offers_reach_only_a_planner_that_takes_them_and_no_trajectory():
    octopus, chosen, _ = make({1: ExternalPlanner()})
    offered = np.full(JOINTS, 0.1)
    chosen.offer(2, offered)
    chosen.follow(1, trajectory(0.4))
    chosen.offer(1, offered)
    run(octopus, chosen, 61)
    octopus.reach(1, (500.0, 50.0))
    run(octopus, chosen, 1)
    assert octopus.arm(1).planner_note == "waiting for a joint proposal"
    chosen.offer(1, offered)
    assert octopus.arm(1).planner_note == ""
    run(octopus, chosen, 120)
    assert octopus.arm(1).angles == pytest.approx(offered)


def test_food_met_on_the_way_is_grasped_and_that_is_the_end_of_the_way():
    octopus, chosen, _ = make({1: ExternalPlanner()})
    chosen.follow(1, trajectory(1.0, seconds=1.0))
    run(octopus, chosen, 30)
    x, y = octopus.arm(1).joints[3].tolist()
    octopus.add_object(ObjectKind.FOOD, (x, y), 10.0)
    run(octopus, chosen, 60)
    assert octopus.arm(1).state == "Holding"
    assert octopus.arm(1).planner_name == "external"
    # What it holds comes along on the next one, and ends where that ends.
    chosen.follow(1, trajectory(-0.5, seconds=1.0))
    destination = octopus.arm(1).destination.copy()
    assert octopus.arm(1).state == "Carrying"
    run(octopus, chosen, 125)
    assert octopus.arm(1).state == "Holding"
    tolerance = octopus.rules.carry_tolerance
    assert np.linalg.norm(octopus.objects.positions[0] - destination) <= tolerance


def carrying(segment=3):
    """An arm that has grasped food and been left idle with it."""
    octopus, chosen, _ = make(numbers=(1,))
    x, y = octopus.arm(1).joints[segment].tolist()
    octopus.add_object(ObjectKind.FOOD, (x, y), 6.0)
    run(octopus, chosen, 40)
    assert octopus.arm(1).state == "Holding"
    return octopus, chosen


def test_what_is_carried_may_come_back_to_where_it_was():
    octopus, chosen = carrying()
    before = octopus.arm(1).angles.copy()
    base = float(before[0])
    chosen.follow(1, trajectory(base + 0.6, base))
    run(octopus, chosen, 60)
    assert octopus.arm(1).state == "Carrying"
    assert octopus.arm(1).angles[0] == pytest.approx(base + 0.6)
    run(octopus, chosen, 60)
    assert octopus.arm(1).angles == pytest.approx(before)
    run(octopus, chosen, 3)
    assert octopus.arm(1).state == "Holding"
    assert octopus.arm(1).planner_name == "neighbour"


def test_what_is_carried_may_pass_its_last_place_on_the_way_there():
    octopus, chosen = carrying()
    base = float(octopus.arm(1).angles[0])
    chosen.follow(1, trajectory(base + 0.3, base - 0.3, base + 0.1))
    angles = []
    for _ in range(183):
        run(octopus, chosen, 1)
        angles.append(octopus.arm(1).angles[0])
    assert angles[59] == pytest.approx(base + 0.3)
    assert angles[119] == pytest.approx(base - 0.3)
    assert angles[-1] == pytest.approx(base + 0.1)
    assert octopus.arm(1).state == "Holding"


def test_joints_beyond_the_grip_move_though_what_is_carried_does_not():
    octopus, chosen = carrying(segment=2)
    segment = octopus.arm(1).grip.segment
    assert segment < JOINTS
    food = octopus.objects.positions[0].copy()
    chosen.follow(1, trajectory(-0.4, joints=[segment]))
    run(octopus, chosen, 63)
    assert octopus.arm(1).angles[segment] == pytest.approx(-0.4)
    assert octopus.objects.positions[0] == pytest.approx(food)
    assert octopus.arm(1).state == "Holding"


def test_an_arm_that_carries_waits_for_a_later_start_with_its_load_already_there():
    octopus, chosen = carrying()
    base = float(octopus.arm(1).angles[0])
    chosen.follow(1, trajectory(base + 0.2, base, seconds=0.25), delay=0.5)
    run(octopus, chosen, 59)
    assert octopus.arm(1).state == "Carrying"
    assert octopus.arm(1).angles[0] == base
    run(octopus, chosen, 31)
    assert octopus.arm(1).angles[0] == pytest.approx(base + 0.2)


@given(
    turns=st.lists(
        st.tuples(*[st.floats(-0.9, 0.9) for _ in range(JOINTS)]), min_size=1, max_size=4
    ),
    segment=st.integers(2, JOINTS - 1),
)
@settings(max_examples=30)
def test_a_load_changes_nothing_about_the_way_of_an_arm(turns, segment):
    octopus, chosen = carrying(segment)
    bare, other, _ = make(numbers=(1,))
    bare.idle(1)
    way = trajectory(*turns, joints=range(JOINTS))
    chosen.follow(1, way)
    other.follow(1, way)
    for _ in range(60 * len(turns)):
        run(octopus, chosen, 1)
        run(bare, other, 1)
        assert (octopus.arm(1).angles == bare.arm(1).angles).all()


def test_a_plain_target_is_still_the_end_for_what_is_carried():
    octopus, chosen = carrying()
    chosen.follow(1, trajectory(0.5))
    octopus.reach(1, octopus.objects.positions[0])
    run(octopus, chosen, 1)
    assert octopus.arm(1).state == "Holding"


def test_joints_the_arm_does_not_have_are_refused():
    octopus, chosen, _ = make()
    with pytest.raises(ValueError, match="arm 1 has 5 joints, the trajectory moves joint 6"):
        chosen.follow(1, trajectory(0.1, joints=[5]))
    assert octopus.arm(1).planner_name == "neighbour"


# Preparation


def test_preparing_a_planner_runs_it_and_says_nothing_unless_it_takes_long():
    planner = Failing()
    said = []
    run_once(planner, said.append)
    assert planner.asked > 1
    assert said == []


def test_a_planner_that_takes_long_to_prepare_is_announced(monkeypatch):
    import threading

    announced = threading.Event()

    class Slow(Failing):
        def propose(self, arm, target, obstacles, dt):
            assert announced.wait(10.0)

    monkeypatch.setattr("octo_reach.planners.preparation.PATIENCE", 0.0)
    said = []
    run_once(Slow(), lambda text: (said.append(text), announced.set()))
    assert said == ["compiling the planner failing for the first time: under a minute, once"]
