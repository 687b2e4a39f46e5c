import math

import numpy as np
import pytest

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind
from octo_reach.planners import create_planner, fabrik
from octo_reach.planners.fabrik import FabrikPlanner

TICK = 1.0 / 120.0
COUNT = 20


def octopus_with(planner, target, rules=None, bend=60.0):
    rules = rules or ReachRules.pixel()
    parameters = ArmParameters(COUNT, 18.0 * rules.unit, math.radians(bend))
    x, y = target
    placement = ArmPlacement(1, parameters, target=(x * rules.unit, y * rules.unit))
    return Octopus([placement], rules, {1: planner})


def run(octopus, seconds):
    """Step, and give how far every joint turned in every step, shape (steps, N)."""
    arm = octopus.arm(1)
    turns = []
    for _ in range(round(seconds / TICK)):
        before = arm.angles.copy()
        octopus.step(TICK)
        turn = arm.angles - before
        turn[0] = (turn[0] + math.pi) % (2.0 * math.pi) - math.pi
        turns.append(turn)
    return np.array(turns)


@pytest.mark.parametrize("rules", [ReachRules.pixel(), ReachRules.metre()])
def test_with_nothing_in_the_way_every_target_within_reach_is_reached(rules):
    chance = np.random.default_rng(3)
    octopus = octopus_with(FabrikPlanner(), (100.0, 0.0), rules)
    arm = octopus.arm(1)
    for _ in range(12):
        distance = 355.0 * math.sqrt(chance.random()) * rules.unit
        direction = chance.uniform(-math.pi, math.pi)
        octopus.reach(1, (distance * math.cos(direction), distance * math.sin(direction)))
        run(octopus, 6.0)
        assert arm.state == "Reached"
        assert arm.planner_note == ""


def test_on_the_way_the_arm_never_turns_back():
    octopus = octopus_with(FabrikPlanner(), (-150.0, 40.0))
    turns = run(octopus, 5.0)
    assert octopus.arm(1).state == "Reached"
    assert np.all(np.min(turns, axis=0) * np.max(turns, axis=0) >= -1e-18)


def test_once_there_the_arm_keeps_still():
    # In reach of the tolerance no planner is asked, so the target must lie beyond that.
    octopus = octopus_with(FabrikPlanner(), (0.0, 400.0))
    run(octopus, 5.0)
    arm = octopus.arm(1)
    assert arm.planner_note == (
        "the target lies beyond the arm's reach: at full stretch, 40 px short"
    )
    assert arm.state == "Beyond reach"
    assert arm.tip == pytest.approx([0.0, 360.0], abs=1e-6)
    assert not np.any(run(octopus, 1.0))


def test_an_arm_that_cannot_bend_enough_settles_at_the_nearest_pose_and_keeps_still():
    octopus = octopus_with(FabrikPlanner(), (10.0, 5.0), bend=10.0)
    run(octopus, 5.0)
    arm = octopus.arm(1)
    assert arm.planner_note.startswith("the bend limit keeps the tip from the target")
    assert float(arm.planner_note.split()[-3]) == pytest.approx(arm.tip_error, rel=0.01)
    assert not np.any(run(octopus, 1.0))


def test_in_metres_it_is_said_in_metres():
    octopus = octopus_with(FabrikPlanner(), (0.0, 400.0), ReachRules.metre())
    octopus.step(TICK)
    assert octopus.arm(1).planner_note.endswith("at full stretch, 0.04 m short")


def test_the_pose_is_found_once_and_held_while_the_target_stays():
    planner = FabrikPlanner()
    octopus = octopus_with(planner, (-150.0, 40.0))
    arm, target, nothing = octopus.arm(1), np.array([-150.0, 40.0]), np.empty((0, 3))
    first = planner.propose(arm, target, nothing, TICK)
    run(octopus, 0.5)
    octopus.limit_speed(1, 0.5)
    assert planner.propose(arm, target, nothing, TICK).tobytes() == first.tobytes()


def test_it_is_not_solved_for_again_in_every_update(monkeypatch):
    solve, solved = fabrik.solve_arm, []
    monkeypatch.setattr(fabrik, "solve_arm", lambda *given: solved.append(given) or solve(*given))
    octopus = octopus_with(FabrikPlanner(), (-150.0, 40.0))
    run(octopus, 1.0)
    assert len(solved) == 1
    octopus.reach(1, (-150.0, 50.0))
    run(octopus, 1.0)
    assert len(solved) == 2


def test_a_target_that_creeps_on_takes_the_pose_along():
    planner = FabrikPlanner()
    octopus = octopus_with(planner, (-150.0, 40.0))
    arm, nothing = octopus.arm(1), np.empty((0, 3))
    before = planner.propose(arm, np.array([-150.0, 40.0]), nothing, TICK)
    for step in range(1, 120):
        # Around the arm, which has not moved: solved from its pose, the pose would fold over.
        turn = 0.03 * step
        target = 155.0 * np.array([math.cos(2.88 + turn), math.sin(2.88 + turn)])
        pose = planner.propose(arm, target, nothing, TICK)
        assert np.max(np.abs(np.sin(0.5 * (pose - before)))) < 0.15
        before = pose


def test_a_target_elsewhere_is_gone_to_from_the_present_pose():
    planner = FabrikPlanner()
    octopus = octopus_with(planner, (-150.0, 40.0))
    run(octopus, 0.5)
    arm, target, nothing = octopus.arm(1), np.array([200.0, 100.0]), np.empty((0, 3))
    proposed = planner.propose(arm, target, nothing, TICK)
    assert proposed.tobytes() == FabrikPlanner().propose(arm, target, nothing, TICK).tobytes()


def test_taking_over_from_another_planner_makes_no_jump():
    octopus = octopus_with(None, (-150.0, 140.0))
    run(octopus, 1.0)
    arm = octopus.arm(1)
    octopus.set_planner(1, create_planner("fabrik"))
    turns = run(octopus, 6.0)
    assert np.max(np.abs(turns)) <= 1.5 * TICK + 1e-12
    assert np.max(np.abs(arm.angles[1:])) <= math.radians(60.0)
    assert arm.state == "Reached"


def test_what_is_carried_arrives_although_the_target_of_the_tip_turns_with_it():
    octopus = octopus_with(FabrikPlanner(), (200.0, 100.0))
    octopus.add_object(ObjectKind.FOOD, (200.0, 100.0), 20.0)
    run(octopus, 6.0)
    assert octopus.arm(1).grip is not None
    octopus.reach(1, (-100.0, 150.0))
    run(octopus, 8.0)
    assert octopus.arm(1).state == "Holding"
    assert octopus.objects.positions[0] == pytest.approx([-100.0, 150.0], abs=2.0)


def test_in_front_of_an_obstacle_the_arm_stops_and_goes_on_when_it_is_gone():
    octopus = octopus_with(FabrikPlanner(), (0.0, 200.0))
    wall = octopus.add_object(ObjectKind.OBSTACLE, (150.0, 150.0), 40.0)
    run(octopus, 5.0)
    arm = octopus.arm(1)
    assert arm.state == "Blocked"
    octopus.remove_object(wall)
    run(octopus, 5.0)
    assert arm.state == "Reached"


def test_the_same_run_is_the_same_to_the_last_bit():
    poses = set()
    for _ in range(2):
        octopus = octopus_with(FabrikPlanner(), (-150.0, 40.0))
        run(octopus, 2.0)
        poses.add(octopus.arm(1).angles.tobytes())
    assert len(poses) == 1
