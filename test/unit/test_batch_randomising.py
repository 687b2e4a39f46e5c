"""Scenes drawn at random: fit to be run, and the same for ever."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scene_documents import minimal, reef

from octo_reach.batch import RandomisingError, vary_obstacles, vary_scene, vary_targets
from octo_reach.batch.randomising import FARTHEST_TARGET, NEAREST_TARGET
from octo_reach.model.arm import initial_angles
from octo_reach.model.geometry import forward_kinematics
from octo_reach.model.scene import ObjectKind
from octo_reach.scenes import parse_scene, scene_to_mapping, to_metres

SEEDS = st.integers(min_value=0, max_value=10**9)
VARIED = pytest.mark.parametrize("vary", ["targets", "obstacles"])


def crowd(**changes):
    """Two arms, one of them idle at first, food, a hazard, and obstacles that come and move."""
    return parse_scene(
        minimal(
            **{
                "layout": "listed",
                "food": [{"id": "crab", "position": [150, 60], "radius": 12}],
                "obstacles": [
                    {"position": [90, -80], "radius": 20},
                    {"position": [-140, 30], "radius": 16},
                    {"position": [40, 200], "radius": 24},
                ],
                "hazards": [{"position": [-60, -150], "radius": 15}],
                "arms": [
                    {"number": 2, "base": [0, 0], "target": {"food": "crab"}},
                    {"number": 4, "base": [30, -40], "heading_degrees": 120},
                ],
                "events": [
                    {"tick": 20, "add": {"kind": "obstacle", "position": [0, -200], "radius": 40}},
                    {"tick": 30, "arm": 4, "reach": [-100, 100]},
                    {"tick": 40, "move": 2, "position": [200, 0]},
                    {"tick": 50, "arm": 2, "action": "idle"},
                ],
                **changes,
            }
        )
    )


def targets_of(document):
    first = [(arm.number, arm.target) for arm in document.arms if arm.target is not None]
    return first + [(event.arm, event.reach) for event in document.events if event.reach]


def obstacles_of(document):
    return [thing for thing in document.objects if thing.kind is ObjectKind.OBSTACLE]


@VARIED
def test_a_seed_gives_the_same_scene_and_another_one_another(vary):
    document = crowd()
    assert vary_scene(document, vary, 7) == vary_scene(crowd(), vary, 7)
    assert len({str(vary_scene(document, vary, seed)) for seed in range(50)}) == 50
    assert document == crowd()


def test_the_draws_of_a_seed_never_change():
    (first, second) = (target for _, target in targets_of(vary_targets(crowd(), 1)))
    assert first == pytest.approx((167.69349588, 275.74130805), abs=1e-6)
    assert second == pytest.approx((311.80096100, 60.24753769), abs=1e-6)
    places = [thing.position for thing in obstacles_of(vary_obstacles(crowd(), 1))]
    assert places[0] == pytest.approx((20.77124377, 264.96393864), abs=1e-6)


@given(SEEDS)
def test_targets_are_within_reach_and_where_no_obstacle_ever_stands(seed):
    document = crowd()
    varied = vary_targets(document, seed)
    bases = {placement.number: placement for placement in document.placements()}
    places = [(*thing.position, thing.radius) for thing in obstacles_of(document)]
    places += [(0.0, -200.0, 40.0), (200.0, 0.0, 20.0)]
    assert [number for number, _ in targets_of(varied)] == [2, 4]
    for number, (x, y) in targets_of(varied):
        placement = bases[number]
        share = math.dist((x, y), placement.base) / placement.parameters.reach
        assert NEAREST_TARGET - 1e-9 <= share <= FARTHEST_TARGET + 1e-9
        for obstacle_x, obstacle_y, radius in places:
            assert math.dist((x, y), (obstacle_x, obstacle_y)) >= radius + 3.0


@given(SEEDS)
def test_obstacles_overlap_no_start_pose_no_target_and_no_object(seed):
    document = crowd()
    varied = vary_obstacles(document, seed)
    rules = document.rules
    obstacles = obstacles_of(varied)
    others = [thing for thing in varied.objects if thing not in obstacles]
    for obstacle in obstacles:
        for placement in document.placements():
            parameters = placement.parameters
            angles = initial_angles(parameters, placement.heading, rules)
            joints, _ = forward_kinematics(placement.base, parameters.segment_length, angles)
            for start, end in pairwise(joints):
                for share in range(11):
                    x, y = start + (end - start) * share / 10
                    gap = math.dist((x, y), obstacle.position) - obstacle.radius
                    assert gap > rules.arm_clearance
        for _, target in targets_of(document):
            assert math.dist(target, obstacle.position) >= obstacle.radius + rules.arm_clearance
        for other in [*others, *(thing for thing in obstacles if thing is not obstacle)]:
            distance = math.dist(other.position, obstacle.position)
            assert distance >= other.radius + obstacle.radius
    assert [thing.radius for thing in obstacles] == [20.0, 16.0, 24.0]


@VARIED
@given(seed=SEEDS)
def test_only_what_varies_changes(vary, seed):
    document = crowd()
    varied = vary_scene(document, vary, seed)
    if vary == "targets":
        assert varied.objects == document.objects
        assert [event for event in varied.events if not event.reach] == [
            event for event in document.events if not event.reach
        ]
    else:
        assert (varied.arms, varied.events) == (document.arms, document.events)
        assert [thing for thing in varied.objects if thing.kind is not ObjectKind.OBSTACLE] == [
            thing for thing in document.objects if thing.kind is not ObjectKind.OBSTACLE
        ]
    # The format takes it as it takes any scene.
    assert parse_scene(scene_to_mapping(varied)).objects == varied.objects


@VARIED
@given(seed=SEEDS)
def test_a_scene_in_metres_gets_the_same_draws_mirrored(vary, seed):
    document = parse_scene(reef(arms=reef()["arms"], obstacles=[{"position": [560, 300]}] * 2))
    direct = vary_scene(to_metres(document), vary, seed)
    mirrored = to_metres(vary_scene(document, vary, seed))
    for (number, target), (other, expected) in zip(
        targets_of(direct), targets_of(mirrored), strict=True
    ):
        assert number == other
        assert target == pytest.approx(expected, abs=1e-12)
    for thing, same in zip(direct.objects, mirrored.objects, strict=True):
        assert thing.position == pytest.approx(same.position, abs=1e-12)


def test_an_arm_more_leaves_the_targets_of_the_others_alone():
    arms = [{"number": 2, "base": [0, 0], "target": {"position": [100, 100]}}]
    few = crowd(arms=arms, events=[])
    more = crowd(
        arms=[{"number": 1, "base": [0, 90], "target": {"position": [100, 100]}}, *arms], events=[]
    )
    assert vary_targets(few, 5).arms[0] == vary_targets(more, 5).arms[1]


def test_an_arm_of_the_octopus_that_only_an_event_sends_gets_a_target_as_well():
    document = parse_scene(minimal(events=[{"tick": 5, "arm": 3, "reach": [500, 400]}]))
    ((number, target),) = targets_of(vary_targets(document, 1))
    assert number == 3
    assert target != (500.0, 400.0)


@VARIED
def test_a_scene_with_nothing_to_vary_is_refused_by_name(vary):
    with pytest.raises(RandomisingError, match=r"has no obstacle|no arm of 'Nothing much'"):
        vary_scene(parse_scene(minimal()), vary, 1)


def test_a_scene_without_room_is_refused_by_name():
    wall = [{"position": [0, 0], "radius": 1000}]
    with pytest.raises(RandomisingError, match="arm 2 of 'Nothing much' has no room for a target"):
        vary_targets(crowd(obstacles=wall, events=[]), 1)
    with pytest.raises(RandomisingError, match="has no room for obstacle 2"):
        vary_obstacles(crowd(obstacles=wall, events=[]), 1)


def test_an_unknown_variation_names_the_choices():
    with pytest.raises(ValueError, match="vary must be one of targets, obstacles, got 'food'"):
        vary_scene(crowd(), "food", 1)
