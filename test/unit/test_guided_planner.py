"""The planner `guided` in scenes: reaching, waiting, giving up, trying again, carrying."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from guided_scenes import TICK, add, octopus_with, ring, room, run

from octo_reach.model.arm import ArmParameters
from octo_reach.model.compilation import COMPILED
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind, SceneObject
from octo_reach.planners import GuidedPlanner, prepare_planner
from octo_reach.scenes import build_octopus, parse_scene

SAMPLE = json.loads((Path(__file__).parents[1] / "data/reach-public-sample.json").read_text())
METRE = ReachRules.metre()
CAGE = ring(150.0, 150.0, 40.0, 12, 10.0)
slow = pytest.mark.skipif(not COMPILED, reason="a long search takes minutes uncompiled")


@slow
@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case["scene"]["name"])
def test_public_scenes_are_reached_within_five_seconds(case):
    document = parse_scene(case["scene"])
    number = document.placements()[0].number
    octopus = build_octopus(document, {number: GuidedPlanner()})
    assert run(octopus, 5.0, "Reached") == "Reached"


@pytest.mark.parametrize("rules", [ReachRules.pixel(), METRE], ids=["pixel", "metre"])
@pytest.mark.parametrize("segments", [2, 3, 20])
def test_arms_of_any_length_reach_in_any_unit(segments, rules):
    parameters = ArmParameters(segments, 300.0 / segments, 2.0)
    octopus = octopus_with((-120.0, 160.0), [(150.0, 150.0, 20.0)], parameters, rules)
    assert run(octopus, 3.0, "Reached") == "Reached"
    assert room(octopus) > 0.0


@slow
def test_a_target_four_pixels_from_an_obstacle_is_reached():
    octopus = octopus_with((150.0, 126.0), [(150.0, 150.0, 20.0)])
    assert run(octopus, 3.0, "Reached") == "Reached"


def test_an_arm_at_its_target_rests_and_does_no_work():
    octopus = octopus_with((200.0, 150.0))
    run(octopus, 3.0, "Reached")
    run(octopus, 0.5)
    before = octopus.arms[0].angles.copy()
    run(octopus, 0.2)
    assert octopus.planner(1).worked == 0
    assert octopus.arms[0].angles.tobytes() == before.tobytes()
    assert octopus.arms[0].planner_note == ""


@slow
def test_an_enclosed_target_is_given_up_and_tried_again_when_it_is_open():
    octopus = octopus_with((150.0, 150.0), CAGE)
    assert run(octopus, 8.0, "No way") == "No way"
    assert octopus.arms[0].planner_note.startswith("no ")
    for _ in range(60):
        octopus.step(TICK)
        assert octopus.planner(1).worked == 0
    for number in octopus.objects.numbers.tolist()[:6]:
        octopus.remove_object(number)
    assert run(octopus, 5.0, "Reached") == "Reached"


@slow
def test_a_new_target_is_tried_after_one_was_given_up():
    octopus = octopus_with((150.0, 150.0), CAGE)
    assert run(octopus, 8.0, "No way") == "No way"
    octopus.reach(1, (200.0, -100.0))
    octopus.step(TICK)
    assert octopus.arms[0].state != "No way"
    assert run(octopus, 3.0, "Reached") == "Reached"


def test_beside_an_obstacle_on_its_target_an_arm_waits_until_it_is_gone():
    octopus = octopus_with((200.0, 120.0))
    number = add(octopus, 205.0, 120.0, 15.0)
    assert run(octopus, 3.0, "Blocked") == "Blocked"
    assert "obstacle lies on the target" in octopus.arms[0].planner_note
    assert octopus.arms[0].tip_error < 20.0
    octopus.remove_object(number)
    assert run(octopus, 3.0, "Reached") == "Reached"
    assert octopus.arms[0].planner_note == ""


def test_towards_a_target_out_of_reach_the_arm_stretches_and_it_is_said():
    octopus = octopus_with((600.0, 300.0), parameters=ArmParameters(8, 20.0))
    run(octopus, 3.0)
    arm = octopus.arms[0]
    assert arm.state == "Beyond reach"
    assert "out of reach" in arm.planner_note
    assert math.dist(arm.tip, (0.0, 0.0)) > 157.0


@slow
def test_a_target_that_is_sent_at_every_step_is_reached_as_if_sent_once():
    octopus, once = (octopus_with((-150.0, 60.0), CAGE[:5]) for _ in range(2))
    while once.arms[0].state != "Reached":
        once.step(TICK)
        octopus.step(TICK)
        octopus.reach(1, (-150.0, 60.0))
        assert octopus.arms[0].angles.tobytes() == once.arms[0].angles.tobytes()


def test_a_target_that_moves_a_little_at_every_step_is_followed():
    octopus = octopus_with((200.0, 100.0))
    run(octopus, 3.0, "Reached")
    for place in range(120):
        octopus.reach(1, (200.0 - place, 100.0 + place))
        octopus.step(TICK)
        assert octopus.arms[0].tip_error < 8.0


@slow
def test_chained_targets_are_reached_without_a_jump():
    octopus = octopus_with((200.0, 150.0), [(120.0, -60.0, 20.0), (-100.0, 90.0, 15.0)])
    arm = octopus.arms[0]
    most = arm.parameters.turning_speed * TICK + 1e-12
    for target in ((-150.0, 60.0), (100.0, -180.0), (250.0, 20.0)):
        for _ in range(40):
            before = arm.angles.copy()
            octopus.step(TICK)
            change = arm.angles - before
            change[0] = (change[0] + math.pi) % (2.0 * math.pi) - math.pi
            assert np.abs(change).max() <= most
        octopus.reach(1, target)
        assert run(octopus, 4.0, "Reached") == "Reached"


@pytest.mark.parametrize("offset", [6.0, 0.0, -9.0])
def test_an_arm_leaves_an_obstacle_that_is_dropped_on_it(offset):
    octopus = octopus_with((280.0, -60.0))
    run(octopus, 0.1)
    x, y = octopus.arms[0].joints[12]
    add(octopus, x, y + offset, 14.0)
    before = room(octopus)
    assert before < 0.0
    octopus.step(TICK)
    assert "drawing out" in octopus.arms[0].planner_note
    for _ in range(240):
        octopus.step(TICK)
        after = room(octopus)
        assert after >= min(before, 0.0) - 1e-7
        before = after
    assert room(octopus) >= 0.0
    assert run(octopus, 5.0, "Reached") == "Reached"


def test_an_arm_leaves_an_obstacle_even_where_it_has_reached_its_target():
    octopus = octopus_with((280.0, -60.0))
    run(octopus, 3.0, "Reached")
    run(octopus, 0.5)
    x, y = octopus.arms[0].joints[10]
    add(octopus, x, y + 8.0, 14.0)
    assert room(octopus) < 0.0
    run(octopus, 3.0)
    assert room(octopus) >= 0.0
    assert octopus.arms[0].state == "Reached"


def test_a_path_is_planned_anew_when_an_obstacle_comes_into_its_way():
    stiff = ArmParameters(4, 80.0)
    free = octopus_with((-200.0, 150.0), parameters=stiff)
    run(free, 4.0, "Reached")
    middle = free.time / 2.0
    octopus = octopus_with((-200.0, 150.0), parameters=stiff)
    while octopus.time < 0.2:
        octopus.step(TICK)
    again = octopus_with((-200.0, 150.0), parameters=stiff)
    while again.time < middle:
        again.step(TICK)
    x, y = again.arms[0].joints[3]
    add(octopus, x, y, 15.0)
    assert run(octopus, 6.0, "Reached") == "Reached"
    assert octopus.time > free.time
    assert room(octopus) > 0.0


@slow
def test_an_arm_reaches_among_obstacles_that_move_at_every_step():
    octopus = octopus_with((-200.0, 150.0), [(200.0, 250.0, 15.0), (-150.0, -50.0, 15.0)])
    arm = octopus.arms[0]
    for _ in range(600):
        if arm.state == "Reached":
            break
        moved = []
        for thing in octopus.objects:
            x, y = thing.position
            moved.append(SceneObject(thing.number, thing.kind, (x - 0.3, y + 0.3), thing.radius))
        octopus.replace_objects(moved)
        octopus.step(TICK)
        assert not arm.blocked
    assert arm.state == "Reached"


def test_two_octopuses_that_hear_the_same_do_the_same_to_the_last_bit():
    octopuses = [octopus_with((-150.0, 120.0), CAGE[:4]) for _ in range(2)]
    for _ in range(120):
        for octopus in octopuses:
            octopus.step(TICK)
        one, two = (octopus.arms[0].angles.tobytes() for octopus in octopuses)
        assert one == two
    octopuses[0].reset(1)
    fresh = octopus_with((-150.0, 120.0), CAGE[:4])
    for _ in range(60):
        octopuses[0].step(TICK)
        fresh.step(TICK)
    assert octopuses[0].arms[0].angles.tobytes() == fresh.arms[0].angles.tobytes()


def test_an_arm_with_other_parameters_is_planned_for_anew():
    octopus = octopus_with((100.0, 120.0))
    run(octopus, 0.2)
    octopus.reset(1, ArmParameters(9, 25.0))
    assert run(octopus, 3.0, "Reached") == "Reached"
    octopus.limit_speed(1, 0.5)
    octopus.reach(1, (-100.0, 120.0))
    before = octopus.arms[0].angles.copy()
    run(octopus, 0.1)
    assert np.abs(octopus.arms[0].angles - before).max() <= 0.5 * 0.1 + 1e-9


@pytest.mark.parametrize("radius", [8.0, 14.0])
def test_food_is_grasped_and_carried_past_an_obstacle_with_its_own_size(radius):
    octopus = octopus_with((220.0, 150.0))
    food = add(octopus, 220.0, 150.0, radius, ObjectKind.FOOD)
    for _ in range(360):
        octopus.step(TICK)
    arm = octopus.arms[0]
    assert arm.grip is not None
    add(octopus, 150.0, 60.0, 12.0)
    octopus.reach(1, (200.0, -60.0))
    for _ in range(600):
        octopus.step(TICK)
        held = octopus.objects.at(octopus.objects.index_of(food)).position
        assert math.dist(held, (150.0, 60.0)) >= radius + 12.0 - 1e-6
        if arm.state == "Holding":
            break
    assert arm.state == "Holding"
    assert math.dist(held, (200.0, -60.0)) <= 2.0


def test_food_that_another_arm_holds_is_left_and_the_tip_goes_back_to_its_target():
    octopus = octopus_with((220.0, 150.0))
    food = add(octopus, 220.0, 150.0, 8.0, ObjectKind.FOOD)
    row = octopus.objects.index_of(food)
    run(octopus, 0.1)
    octopus._things["owner"][row] = 7
    run(octopus, 3.0)
    assert octopus.arms[0].tip_error <= 2.0


def test_everything_is_compiled_when_the_planner_is_prepared():
    lines = []
    prepare_planner("guided", lines.append)
    assert len(lines) <= 1
