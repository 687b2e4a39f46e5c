"""Planners that know no way out of an overlap draw out of it first, and then go on as ever."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind
from octo_reach.planners import create_planner
from octo_reach.planners.chosen import ChosenPlanners
from octo_reach.planners.guided.body import body_of
from octo_reach.planners.guided.clearance import room_of
from octo_reach.planners.guided.retreat import Retreat
from octo_reach.planners.preparation import run_once
from octo_reach.planners.retreating import DRAWING_OUT, ON_THE_TARGET, RetreatingPlanner

TICK = 1.0 / 120.0
NAMES = ("fabrik", "jacobian_transpose", "jacobian_dls")
TARGET = (280.0, -60.0)
every_planner = pytest.mark.parametrize("name", NAMES)


def octopus_with(name, target=TARGET, rules=None):
    rules = rules or ReachRules.pixel()
    parameters = ArmParameters(20, 18.0 * rules.unit)
    x, y = target
    placement = ArmPlacement(1, parameters, target=(x * rules.unit, y * rules.unit))
    return Octopus([placement], rules, {1: create_planner(name)})


def run(octopus, seconds):
    for _ in range(round(seconds / TICK)):
        octopus.step(TICK)


def drop(octopus, joint, offset, radius=14.0):
    """Put an obstacle beside a joint, in pixels."""
    unit = octopus.rules.unit
    x, y = octopus.arm(1).joints[joint].tolist()
    place = (x + offset[0] * unit, y + offset[1] * unit)
    return octopus.add_object(ObjectKind.OBSTACLE, place, radius * unit)


def room(octopus):
    """Least room of the arm and what it holds, below 0 in an overlap, in pixels."""
    arm, table = octopus.arm(1), octopus.objects
    stones = table.kinds == int(ObjectKind.OBSTACLE)
    circles = np.column_stack((table.positions[stones], table.radii[stones]))
    return room_of(np.array(arm.angles), body_of(arm), circles) / octopus.rules.unit


@every_planner
@pytest.mark.parametrize("rules", [ReachRules.pixel(), ReachRules.metre()], ids=["px", "m"])
@pytest.mark.parametrize("offset", [(0.0, 6.0), (0.0, 0.0), (0.0, -9.0)])
def test_an_arm_on_its_way_draws_out_of_what_is_dropped_on_it_and_goes_on(name, rules, offset):
    octopus = octopus_with(name, rules=rules)
    run(octopus, 0.1)
    drop(octopus, 12, offset)
    before = room(octopus)
    assert before < 0.0
    octopus.step(TICK)
    assert octopus.arm(1).planner_note == DRAWING_OUT
    for _ in range(120):
        after = room(octopus)
        assert after >= min(before, 0.0) - 1e-7
        before = after
        octopus.step(TICK)
    assert room(octopus) >= -1e-6
    assert octopus.arm(1).planner_note != DRAWING_OUT
    error = octopus.arm(1).tip_error
    octopus.clear_objects()
    run(octopus, 4.0)
    assert octopus.arm(1).tip_error < max(error, octopus.rules.reach_tolerance)


@pytest.mark.parametrize("rules", [ReachRules.pixel(), ReachRules.metre()], ids=["px", "m"])
@pytest.mark.parametrize(("depth", "leaves"), [(0.5, True), (0.01, True), (1e-6, False)])
def test_a_shallow_overlap_is_left_as_well_unless_it_is_none(rules, depth, leaves):
    octopus = octopus_with("jacobian_dls", rules=rules)
    heading = octopus.arm(1).headings[9:11].mean()
    # Outside the curve the joint itself is nearest.
    away = math.copysign(14.0 + 3.0 - depth, octopus.arm(1).angles[10])
    drop(octopus, 10, (away * math.sin(heading), -away * math.cos(heading)))
    assert room(octopus) == pytest.approx(-depth, abs=1e-7)
    octopus.step(TICK)
    assert (octopus.arm(1).planner_note == DRAWING_OUT) == leaves


def test_damped_least_squares_reaches_its_target_after_that():
    octopus = octopus_with("jacobian_dls")
    run(octopus, 0.1)
    drop(octopus, 12, (0.0, 6.0))
    run(octopus, 4.0)
    assert octopus.arm(1).state == "Reached"


@every_planner
def test_an_arm_leaves_an_overlap_though_its_target_is_reached(name):
    octopus = octopus_with(name)
    run(octopus, 3.0)
    assert octopus.arm(1).state == "Reached"
    drop(octopus, 10, (0.0, 8.0))
    assert room(octopus) < 0.0
    run(octopus, 3.0)
    assert room(octopus) >= -1e-6


@every_planner
def test_an_arm_leaves_an_obstacle_that_lies_on_its_target_as_well_and_waits_there(name):
    octopus = octopus_with(name)
    run(octopus, 3.0)
    stone = drop(octopus, 20, (0.0, 0.0))
    octopus.step(TICK)
    assert octopus.arm(1).planner_note == DRAWING_OUT
    run(octopus, 1.0)
    arm = octopus.arm(1)
    assert room(octopus) >= 0.0
    assert (arm.state, arm.planner_note) == ("Blocked", ON_THE_TARGET)
    before = arm.angles.copy()
    run(octopus, 0.5)
    assert arm.angles.tobytes() == before.tobytes()
    octopus.remove_object(stone)
    run(octopus, 3.0)
    assert (arm.state, arm.planner_note) == ("Reached", "")


@every_planner
def test_a_blocked_target_stops_an_arm_that_overlaps_nothing_until_it_is_sent_elsewhere(name):
    octopus = octopus_with(name)
    octopus.add_object(ObjectKind.OBSTACLE, (TARGET[0] + 10.0, TARGET[1]), 8.0)
    before = octopus.arm(1).angles.copy()
    run(octopus, 0.5)
    assert octopus.arm(1).state == "Blocked"
    assert octopus.arm(1).angles.tobytes() == before.tobytes()
    octopus.reach(1, (250.0, 100.0))
    assert octopus.arm(1).state == "Reaching"
    octopus.step(TICK)
    assert octopus.arm(1).state == "Reaching"
    assert octopus.arm(1).angles.tobytes() != before.tobytes()


@every_planner
def test_a_reached_target_stops_the_arm(name):
    octopus = octopus_with(name)
    run(octopus, 3.0)
    before = octopus.arm(1).angles.copy()
    assert 0.0 < octopus.arm(1).tip_error <= octopus.rules.reach_tolerance
    run(octopus, 0.5)
    assert octopus.arm(1).angles.tobytes() == before.tobytes()


@every_planner
def test_an_escape_whose_obstacle_is_taken_away_leaves_nothing_behind(name):
    octopus = octopus_with(name)
    run(octopus, 0.3)
    number = drop(octopus, 10, (0.0, 6.0))
    octopus.step(TICK)
    assert octopus.arm(1).planner_note == DRAWING_OUT
    octopus.remove_object(number)
    octopus.step(TICK)
    assert octopus.arm(1).planner_note != DRAWING_OUT
    assert octopus.planner(1).retreats is False
    run(octopus, 6.0)
    assert (octopus.arm(1).state, octopus.arm(1).planner_note) == ("Reached", "")


def test_what_fabrik_has_to_say_comes_back_when_the_target_is_free_again():
    octopus = octopus_with("fabrik", target=(400.0, 0.0))
    run(octopus, 2.0)
    told = octopus.arm(1).planner_note
    assert "beyond the arm's reach" in told
    number = octopus.add_object(ObjectKind.OBSTACLE, (430.0, 20.0), 34.0)
    octopus.step(TICK)
    assert octopus.arm(1).planner_note == ON_THE_TARGET
    octopus.remove_object(number)
    run(octopus, 0.1)
    assert octopus.arm(1).planner_note == told


@every_planner
def test_what_is_held_is_drawn_out_when_it_grows_into_an_obstacle(name):
    octopus = octopus_with(name, target=(330.0, 20.0))
    x, y = octopus.arm(1).joints[15].tolist()
    food = octopus.add_object(ObjectKind.FOOD, (x, y - 10.0), 14.0)
    run(octopus, 0.4)
    assert octopus.owners == {food: 1}
    x, y = octopus.objects.positions[0].tolist()
    octopus.add_object(ObjectKind.OBSTACLE, (x, y - 30.0), 8.0)
    octopus.reach(1, (x, y + 40.0))
    octopus.step(TICK)
    assert octopus.arm(1).planner_note != DRAWING_OUT
    octopus.replace_objects(
        replace(thing, radius=40.0) if thing.number == food else thing
        for thing in octopus.objects
    )
    assert room(octopus) < 0.0
    octopus.step(TICK)
    assert octopus.arm(1).planner_note == DRAWING_OUT


@every_planner
def test_what_is_held_is_drawn_out_as_well(name):
    octopus = octopus_with(name, target=(330.0, 20.0))
    x, y = octopus.arm(1).joints[15].tolist()
    octopus.add_object(ObjectKind.FOOD, (x, y - 10.0), 14.0)
    run(octopus, 0.4)
    assert octopus.arm(1).state == "Holding"
    x, y = octopus.objects.positions[0].tolist()
    octopus.add_object(ObjectKind.OBSTACLE, (x, y - 20.0), 8.0)
    assert -3.0 < room(octopus) < 0.0
    octopus.reach(1, (x, y + 40.0))
    octopus.step(TICK)
    assert octopus.arm(1).planner_note == DRAWING_OUT
    run(octopus, 1.0)
    assert room(octopus) >= -1e-6


@every_planner
def test_an_arm_that_is_pinched_goes_on_with_what_the_guard_allows(name):
    octopus = octopus_with(name, target=(100.0, 250.0))
    drop(octopus, 8, (0.0, 9.0), radius=9.0)
    drop(octopus, 8, (0.0, -9.0), radius=9.0)
    before = room(octopus)
    assert before < 0.0
    run(octopus, 2.0)
    arm = octopus.arm(1)
    assert arm.planner_note != DRAWING_OUT
    assert room(octopus) >= before - 1e-5


@every_planner
def test_where_no_room_can_be_made_the_planner_goes_on_at_once(name, monkeypatch):
    monkeypatch.setattr(Retreat, "step", lambda *arguments: None)
    octopus = octopus_with(name)
    drop(octopus, 12, (0.0, 6.0))
    planner = octopus.planner(1)
    octopus.step(TICK)
    assert planner.note != DRAWING_OUT
    assert not planner.retreats


@every_planner
def test_a_planner_that_is_contained_draws_out_all_the_same(name):
    octopus = octopus_with(name)
    chosen = ChosenPlanners(octopus, {1: create_planner(name)}, lambda text: None)
    drop(octopus, 12, (0.0, 6.0))
    assert room(octopus) < 0.0
    for _ in range(60):
        chosen.settle()
        octopus.step(TICK)
    assert room(octopus) >= -1e-6


@every_planner
def test_steps_towards_a_target_get_no_leave_to_retreat(name):
    octopus = octopus_with(name)
    planner = octopus.planner(1)
    drop(octopus, 12, (0.0, 60.0))
    run(octopus, 0.1)
    assert not planner.gated
    assert not planner.retreats
    drop(octopus, 12, (0.0, 6.0))
    octopus.step(TICK)
    assert planner.retreats
    run(octopus, 1.0)
    assert not planner.retreats


def test_preparing_such_a_planner_draws_an_arm_out_so_that_no_step_waits_for_the_compiler():
    class Noting(RetreatingPlanner):
        name = "noting"
        notes: set[str] = set()  # noqa: RUF012

        def propose(self, arm, target, obstacles, dt):
            asked = super().propose(arm, target, obstacles, dt)
            self.notes.add(self.note)
            return asked

        def approach(self, arm, target, obstacles, dt):
            return None

    run_once(Noting())
    assert DRAWING_OUT in Noting.notes


@given(
    name=st.sampled_from(NAMES),
    direction=st.floats(-2.0, 2.0),
    distance=st.floats(0.4, 0.95),
    stones=st.lists(
        st.tuples(st.integers(3, 20), st.floats(-15.0, 15.0), st.floats(-15.0, 15.0)),
        min_size=1,
        max_size=3,
    ),
)
@settings(max_examples=25, deadline=None)
def test_no_step_makes_any_overlap_deeper(name, direction, distance, stones):
    target = (360.0 * distance * math.cos(direction), 360.0 * distance * math.sin(direction))
    octopus = octopus_with(name, target)
    run(octopus, 0.5)
    for joint, x, y in stones:
        drop(octopus, joint, (x, y), radius=8.0)
    arm = octopus.arm(1)
    clear = 8.0 + octopus.rules.arm_clearance

    def gaps():
        start, along = arm.joints[:-1], np.diff(arm.joints, axis=0)
        centres = octopus.objects.positions[:, None]
        share = np.clip(((centres - start) * along).sum(-1) / (along * along).sum(-1), 0.0, 1.0)
        return np.linalg.norm(start + share[..., None] * along - centres, axis=-1)

    before = gaps()
    for _ in range(60):
        octopus.step(TICK)
        after = gaps()
        assert np.all(after >= np.minimum(before, clear) - 1e-7)
        before = after
