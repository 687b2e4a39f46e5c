import math

import numpy as np
import pytest

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind
from octo_reach.planners import (
    PLANNERS,
    ExternalPlanner,
    NeighbourPlanner,
    UnknownPlannerError,
    create_planner,
)
from octo_reach.planners.external import STANDING

TICK = 1.0 / 120.0
FAR = (60.0, 300.0)


class SlowNeighbourPlanner(NeighbourPlanner):
    """The neighbour rules asked through the protocol, not run in one call with all others."""

    follows_neighbours = False


def octopus_with(planner, target=FAR, rules=None, segments=6) -> Octopus:
    rules = rules or ReachRules.pixel()
    parameters = ArmParameters(segments, 10.0 * rules.unit)
    x, y = target
    placement = ArmPlacement(1, parameters, target=(x * rules.unit, y * rules.unit))
    return Octopus([placement], rules, {1: planner})


@pytest.mark.parametrize("name", PLANNERS)
def test_every_planner_is_made_by_its_name(name):
    planner = create_planner(name)
    assert planner.name == name
    assert isinstance(planner.note, str)
    assert create_planner(name) is not planner


@pytest.mark.parametrize("name", PLANNERS)
def test_every_planner_moves_or_holds_an_arm_without_harm(name):
    octopus = octopus_with(create_planner(name))
    octopus.add_object(ObjectKind.OBSTACLE, (40.0, 40.0), 8.0)
    for _ in range(30):
        octopus.step(TICK)
    assert octopus.arm(1).planner_name == name
    assert np.all(np.isfinite(octopus.arm(1).angles))


@pytest.mark.parametrize("name", ["Neighbour", "", "fast", None, 3, ["neighbour"]])
def test_an_unknown_planner_is_refused_with_the_choices(name):
    with pytest.raises(UnknownPlannerError, match="planner must be one of neighbour, ") as caught:
        create_planner(name)
    assert isinstance(caught.value, ValueError)
    assert repr(name) in str(caught.value)
    for choice in PLANNERS:
        assert choice in str(caught.value)


# ----------------------------------------------------------------------------------- external


def test_without_an_offer_the_arm_holds_and_it_is_said():
    planner = ExternalPlanner()
    octopus = octopus_with(planner)
    before = octopus.arm(1).angles.copy()
    octopus.step(TICK)
    assert octopus.arm(1).angles.tobytes() == before.tobytes()
    assert octopus.arm(1).planner_note == "waiting for a joint proposal"


def test_the_arm_follows_what_was_offered_last():
    planner = ExternalPlanner()
    octopus = octopus_with(planner)
    planner.offer(np.full(6, 0.5))
    planner.offer([0.3, -0.2, 0.1, 0.0, 0.0, 0.0])
    for _ in range(60):
        octopus.step(TICK)
    assert octopus.arm(1).angles == pytest.approx([0.3, -0.2, 0.1, 0.0, 0.0, 0.0])
    assert octopus.arm(1).planner_note == ""


def test_the_arm_follows_even_where_its_target_is_blocked_or_reached():
    planner = ExternalPlanner()
    octopus = octopus_with(planner)
    octopus.add_object(ObjectKind.OBSTACLE, FAR, 8.0)
    planner.offer(np.full(6, 0.1))
    octopus.step(TICK)
    assert not octopus.arm(1).blocked
    octopus.clear_objects()
    octopus.reach(1, tuple(octopus.arm(1).tip))
    planner.offer(np.full(6, 0.2))
    before = octopus.arm(1).angles.copy()
    octopus.step(TICK)
    assert np.all(octopus.arm(1).angles > before)


def test_an_arm_that_stands_still_before_its_target_says_so_after_a_second():
    planner = ExternalPlanner()
    octopus = octopus_with(planner)
    arm = octopus.arm(1)
    planner.offer(arm.angles + 0.05)
    for _ in range(100):
        octopus.step(TICK)
        assert arm.planner_note == ""
    for _ in range(40):
        octopus.step(TICK)
    assert arm.planner_note == STANDING
    planner.offer(arm.angles + 0.05)
    octopus.step(TICK)
    octopus.step(TICK)
    assert arm.planner_note == ""


def test_an_arm_that_stands_still_at_its_target_has_nothing_to_say():
    planner = ExternalPlanner()
    octopus = octopus_with(planner)
    octopus.reach(1, octopus.arm(1).tip.tolist())
    planner.offer(octopus.arm(1).angles)
    for _ in range(200):
        octopus.step(TICK)
    assert (octopus.arm(1).state, octopus.arm(1).planner_note) == ("Reached", "")


def test_what_is_offered_is_copied():
    planner = ExternalPlanner()
    octopus = octopus_with(planner)
    angles = np.full(6, 0.061)
    planner.offer(angles)
    angles[:] = 1.0
    for _ in range(10):
        octopus.step(TICK)
    assert octopus.arm(1).angles == pytest.approx(np.full(6, 0.061))


@pytest.mark.parametrize(
    "angles", [[0.0, math.nan], [math.inf, 0.0], np.zeros((2, 3)), 0.5, ["a", "b"]]
)
def test_an_offer_that_is_no_pose_is_refused_and_the_last_one_stays(angles):
    planner = ExternalPlanner()
    planner.offer(np.full(6, 0.1))
    with pytest.raises(ValueError):
        planner.offer(angles)
    octopus = octopus_with(planner)
    planner.offer(np.full(6, 0.1))
    with pytest.raises(ValueError):
        planner.offer(angles)
    for _ in range(60):
        octopus.step(TICK)
    assert octopus.arm(1).angles == pytest.approx(np.full(6, 0.1))


@pytest.mark.parametrize("count", [5, 7])
def test_an_offer_for_another_number_of_joints_holds_the_arm_and_it_is_said(count):
    planner = ExternalPlanner()
    octopus = octopus_with(planner)
    before = octopus.arm(1).angles.copy()
    planner.offer(np.zeros(count))
    octopus.step(TICK)
    assert octopus.arm(1).angles.tobytes() == before.tobytes()
    assert octopus.arm(1).planner_note == f"the joint proposal has {count} angles, not 6"
    planner.offer(np.zeros(6))
    octopus.step(TICK)
    assert octopus.arm(1).planner_note == ""
    assert octopus.arm(1).angles.tobytes() != before.tobytes()


def test_a_new_assignment_waits_for_a_new_offer():
    planner = ExternalPlanner()
    octopus = octopus_with(planner)
    planner.offer(np.full(6, 0.5))
    octopus.step(TICK)
    octopus.reach(1, (0.0, 50.0))
    before = octopus.arm(1).angles.copy()
    octopus.step(TICK)
    assert octopus.arm(1).angles.tobytes() == before.tobytes()
    assert octopus.arm(1).planner_note == "waiting for a joint proposal"


# ---------------------------------------------------------------------------------- neighbour


@pytest.mark.parametrize("rules", [ReachRules.pixel(), ReachRules.metre()])
def test_the_neighbour_planner_asked_like_any_other_moves_an_arm_the_same_way(rules):
    mine = octopus_with(SlowNeighbourPlanner(rules), rules=rules)
    yours = octopus_with(None, rules=rules)
    for octopus in (mine, yours):
        centre = (40.0 * rules.unit, 40.0 * rules.unit)
        octopus.add_object(ObjectKind.OBSTACLE, centre, 8.0 * rules.unit)
    for _ in range(240):
        mine.step(TICK)
        yours.step(TICK)
        np.testing.assert_allclose(mine.arm(1).angles, yours.arm(1).angles, rtol=0, atol=1e-9)


def test_the_neighbour_planner_begins_with_fresh_requests_after_a_reset():
    planner = SlowNeighbourPlanner()
    octopus, fresh = octopus_with(planner), octopus_with(SlowNeighbourPlanner())
    for _ in range(60):
        octopus.step(TICK)
    octopus.reset(1)
    for _ in range(30):
        octopus.step(TICK)
        fresh.step(TICK)
        assert octopus.arm(1).angles.tobytes() == fresh.arm(1).angles.tobytes()


def test_the_neighbour_planner_begins_anew_for_an_arm_of_another_length():
    planner = SlowNeighbourPlanner()
    octopus = octopus_with(planner)
    arm, target, nothing = octopus.arm(1), np.array(FAR), np.empty((0, 3))
    assert planner.propose(arm, target, nothing, TICK).shape == (6,)
    longer = octopus_with(None, segments=9).arm(1)
    proposed = planner.propose(longer, target, nothing, TICK)
    fresh = NeighbourPlanner().propose(longer, target, nothing, TICK)
    assert proposed.tolist() == fresh.tolist()


def test_the_neighbour_planner_itself_changes_nothing_of_the_arm():
    octopus = octopus_with(None)
    before = [octopus.arm(1).angles.copy(), octopus.arm(1).requests.copy()]
    NeighbourPlanner().propose(octopus.arm(1), np.array(FAR), np.empty((0, 3)), TICK)
    assert octopus.arm(1).angles.tobytes() == before[0].tobytes()
    assert octopus.arm(1).requests.tobytes() == before[1].tobytes()


def test_in_a_scene_in_metres_the_neighbour_planner_goes_by_the_rules_of_that_scene():
    pixels, metres = octopus_with(None), octopus_with(None, rules=ReachRules.metre())
    around = np.array([[30.0, 12.0, 5.0]])
    nothing_else = np.array(FAR), around, TICK
    asked = NeighbourPlanner().propose(pixels.arm(1), *nothing_else)
    mirrored = around * np.array([0.001, -0.001, 0.001])
    target = np.array(FAR) * np.array([0.001, -0.001])
    proposed = NeighbourPlanner().propose(metres.arm(1), target, mirrored, TICK)
    assert proposed == pytest.approx(-asked, abs=1e-9)
    assert np.any(asked != pixels.arm(1).angles)


def test_what_a_planner_says_the_arm_does_is_its_state_while_the_arm_is_active():
    class Lost(ExternalPlanner):
        state = "No way"

    octopus = octopus_with(Lost())
    assert octopus.arm(1).state == "No way"
    octopus.idle(1)
    assert octopus.arm(1).state == "Idle"
