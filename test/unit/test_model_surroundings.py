import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind
from octo_reach.model.state import NOTHING
from octo_reach.model.surroundings import ALLOWANCE, list_around, reach_of_rules
from octo_reach.planners import ExternalPlanner

LENGTH = 10.0
RULES = ReachRules.pixel()
TICK = 1.0 / 120.0

places = st.tuples(st.floats(-330.0, 330.0), st.floats(-330.0, 330.0))
things = st.lists(
    st.tuples(st.sampled_from(list(ObjectKind)), places, st.floats(2.0, 15.0)),
    min_size=1,
    max_size=24,
)


def octopus_among(around, segments=24, speed=1.5) -> Octopus:
    parameters = ArmParameters(segments, LENGTH, turning_speed=speed)
    octopus = Octopus([ArmPlacement(1, parameters)], RULES)
    for kind, place, radius in around:
        octopus.add_object(kind, place, radius)
    return octopus


def listed(octopus: Octopus) -> list[int]:
    """Give the numbers of what is listed as around arm 1."""
    state = octopus._state
    near = state.around[0, : state.arms["around_count"][0]]
    return octopus.objects.numbers[state.near["row"][0][near]].tolist()


def seen(octopus: Octopus) -> tuple:
    arm = octopus.arm(1)
    contacts = arm.contacts()
    return (
        arm.joints.tobytes(),
        arm.requests.tobytes(),
        arm.steered.tobytes(),
        arm.state,
        arm.candidate,
        contacts.objects.tobytes(),
        contacts.points.tobytes(),
    )


@given(things, st.floats(0.0, 80.0), st.lists(places, max_size=2))
def test_whatever_could_matter_within_the_allowance_is_around(around, allowance, targets):
    octopus = octopus_among(around)
    for target in targets:
        octopus.reach(1, target)
        for _ in range(10):
            octopus.step(TICK)
    list_around(0, allowance, octopus._state, octopus._rules)
    joints = octopus.arm(1).joints
    far = reach_of_rules(LENGTH, octopus._rules) + allowance
    numbers = listed(octopus)
    assert numbers == sorted(numbers)  # the order of the scene
    for thing in octopus.objects:
        nearest = np.linalg.norm(joints - thing.position, axis=1).min()
        if nearest < far + thing.radius:
            assert thing.number in numbers


def test_what_lies_far_from_the_pose_is_not_around_though_the_arm_could_reach_it():
    octopus = octopus_among(
        [(ObjectKind.OBSTACLE, (-200.0, 0.0), 5.0), (ObjectKind.FOOD, (150.0, 30.0), 5.0)]
    )
    assert octopus._state.arms["near_count"][0] == 2
    assert listed(octopus) == [2]


@pytest.mark.parametrize("segments", [2, 9, 24, 100])
@given(
    around=things,
    targets=st.lists(places, min_size=1, max_size=4),
    speed=st.sampled_from([1.5, 6.0, 40.0]),
)
def test_lists_that_last_tell_what_fresh_ones_tell(segments, around, targets, speed):
    lasting = octopus_among(around, segments, speed)
    fresh = octopus_among(around, segments, speed)
    for target in targets:
        lasting.reach(1, target)
        fresh.reach(1, target)
        for _ in range(12):
            fresh._state.arms["around_pose"] = NOTHING
            lasting.step(TICK)
            fresh.step(TICK)
            assert seen(lasting) == seen(fresh)


def test_the_list_lasts_for_some_steps_and_is_made_anew_before_it_is_used_up():
    octopus = octopus_among([(ObjectKind.OBSTACLE, (60.0, 60.0), 5.0)])
    octopus.reach(1, (0.0, 200.0))
    allowances = []
    for _ in range(60):
        octopus.step(TICK)
        allowances.append(float(octopus._state.arms["allowance"][0]))
    changes = np.diff(allowances)
    assert np.count_nonzero(changes < 0.0) > np.count_nonzero(changes > 0.0) > 0
    assert max(allowances) <= ALLOWANCE * LENGTH
    assert min(allowances) >= 0.0


def test_a_pose_that_jumps_leaves_no_old_list_behind():
    octopus = octopus_among([(ObjectKind.HAZARD, (math.cos(0.5) * 230.0, 115.0), 15.0)])
    octopus.reach(1, (-200.0, 0.0))
    for _ in range(240):
        octopus.step(TICK)
    assert listed(octopus) == []
    octopus.reset(1)
    assert listed(octopus) == [1]


def test_a_sweep_beyond_the_allowance_is_held_against_all_that_the_arm_could_meet():
    parameters = ArmParameters(40, LENGTH, turning_speed=200.0)
    planner = ExternalPlanner()
    straight = replace(RULES, initial_curve=0.0)
    octopus = Octopus([ArmPlacement(1, parameters)], straight, {1: planner})
    octopus.add_object(ObjectKind.OBSTACLE, (300.0 * math.cos(0.6), 300.0 * math.sin(0.6)), 10.0)
    octopus.reach(1, (0.0, 200.0))
    planner.offer([1.2, *[0.0] * 39])
    octopus.step(TICK)
    assert listed(octopus) == []
    assert octopus.arm(1).blocked
    assert np.all(octopus.arm(1).angles == 0.0)


def test_a_pair_of_contacts_is_forgotten_where_the_object_is_around_no_longer():
    octopus = octopus_among(
        [(ObjectKind.FOOD, (-190.0, 0.0), 15.0), (ObjectKind.HAZARD, (30.0, 3.0), 8.0)]
    )
    octopus.reach(1, (-200.0, 0.0))
    while octopus.arm(1).candidate is None:
        octopus.step(TICK)
        assert octopus.ticks < 2000
    octopus.reset(1)
    assert len(octopus.arm(1).contacts()) >= 2
    octopus.step(TICK)
    assert octopus.arm(1).candidate is None
