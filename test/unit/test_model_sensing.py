import math
from dataclasses import replace

import numpy as np
import pytest

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import CONTACT_ROOM, Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind, SceneObject
from octo_reach.model.sensing import ContactReadings
from octo_reach.planners import ExternalPlanner

STRAIGHT = replace(ReachRules.pixel(), initial_curve=0.0)


def straight_octopus(*arms: int, segments: int = 4, length: float = 10.0) -> Octopus:
    """Arms along the x axis, each 200 below the one before, idle."""
    parameters = ArmParameters(segments, length)
    return Octopus(
        [ArmPlacement(number, parameters, (0.0, 200.0 * row)) for row, number in enumerate(arms)],
        STRAIGHT,
    )


def readings(contacts: ContactReadings) -> list[tuple]:
    return list(
        zip(
            contacts.arms.tolist(),
            contacts.segments.tolist(),
            contacts.objects.tolist(),
            contacts.kinds.tolist(),
            strict=True,
        )
    )


def test_a_reading_tells_where_and_how_far():
    octopus = straight_octopus(1)
    number = octopus.add_object(ObjectKind.HAZARD, (12.0, 8.0), 6.0)
    contacts = octopus.arm(1).contacts()
    assert readings(contacts)[1] == (1, 2, number, ObjectKind.HAZARD)
    assert contacts.points[1] == pytest.approx((12.0, 0.0))
    assert contacts.distances[1] == pytest.approx(2.0)


def test_the_gap_is_negative_inside_an_object():
    octopus = straight_octopus(1)
    octopus.add_object(ObjectKind.OBSTACLE, (5.0, 1.0), 6.0)
    assert octopus.arm(1).contacts().distances[0] == pytest.approx(-5.0)


def test_exact_touching_counts():
    octopus = straight_octopus(1)
    octopus.add_object(ObjectKind.FOOD, (5.0, 17.0), 14.0)
    assert readings(octopus.contacts) == [(1, 1, 1, ObjectKind.FOOD)]
    octopus.move_object(1, (5.0, 17.000001))
    assert len(octopus.contacts) == 0


def test_a_joint_belongs_to_both_its_segments():
    octopus = straight_octopus(1)
    octopus.add_object(ObjectKind.FOOD, (10.0, 3.5), 1.0)
    assert octopus.contacts.segments.tolist() == [1, 2]


def test_readings_come_by_arm_then_segment_then_object_in_the_scenes_order():
    octopus = straight_octopus(7, 3)
    for number in (5, 2):
        octopus.add_object(ObjectKind.OBSTACLE, (20.0, 201.0), 1.0, number)
    octopus.add_object(ObjectKind.HAZARD, (35.0, 1.0), 1.0, 9)
    assert [row[:3] for row in readings(octopus.contacts)] == [
        (3, 2, 5),
        (3, 2, 2),
        (3, 3, 5),
        (3, 3, 2),
        (7, 4, 9),
    ]


def test_readings_follow_an_object_that_is_moved_and_one_that_is_taken_away():
    octopus = straight_octopus(1)
    octopus.add_object(ObjectKind.FOOD, (5.0, 0.0), 1.0)
    octopus.move_object(1, (25.0, 0.0))
    assert octopus.contacts.segments.tolist() == [3]
    octopus.remove_object(1)
    assert len(octopus.contacts) == 0


def test_an_object_that_comes_from_out_of_reach_is_felt():
    octopus = straight_octopus(1)
    octopus.add_object(ObjectKind.FOOD, (1e9, 0.0), 1.0)
    assert len(octopus.contacts) == 0
    octopus.move_object(1, (5.0, 0.0))
    assert octopus.contacts.segments.tolist() == [1]


def test_an_arm_feels_what_another_one_brings_from_out_of_its_reach():
    planner = ExternalPlanner()
    octopus = Octopus(
        [
            ArmPlacement(1, ArmParameters(12, 10.0, 1.0, 3.0), target=(0.0, 500.0)),
            ArmPlacement(2, ArmParameters(4, 10.0), (-110.0, -40.0), math.pi / 2.0),
        ],
        STRAIGHT,
        {1: planner},
    )
    food = octopus.add_object(ObjectKind.FOOD, (110.0, 1.0), 3.0)
    for _ in range(30):
        octopus.step(1 / 120)
    assert octopus.owners == {food: 1}
    octopus.reach(1, (-110.0, 0.0))
    planner.offer([math.pi - 0.02, *[0.0] * 11])
    other = octopus.arm(2)
    for _ in range(240):
        assert len(other.contacts()) == 0
        octopus.step(1 / 120)
        centre = octopus.objects.at(0).position
        if math.dist(centre, (-110.0, 0.0)) < 6.0:
            break
    assert other.contacts().objects.tolist() == [food]
    assert other.contacts().points[0] == pytest.approx(other.tip)


def test_room_for_readings_grows_with_the_need():
    octopus = straight_octopus(1, segments=30)
    crowd = [SceneObject(number, ObjectKind.HAZARD, (150.0, 0.0), 200.0) for number in range(1, 5)]
    octopus.replace_objects(crowd)
    assert len(octopus.contacts) == 120 > CONTACT_ROOM
    assert octopus.contacts.objects.tolist() == [1, 2, 3, 4] * 30
    assert octopus.contacts.segments.tolist() == [s for s in range(1, 31) for _ in range(4)]
    octopus.step(1 / 120)
    assert len(octopus.arm(1).contacts()) == 120


def test_room_grows_in_the_middle_of_a_step_as_well():
    rules = replace(STRAIGHT, sensor_radius=60.0)
    parameters = ArmParameters(20, 10.0, math.pi, 50.0)
    octopus = Octopus([ArmPlacement(1, parameters, (0.0, 0.0), 0.0, (0.0, 900.0))], rules)
    for _ in range(40):
        octopus.add_object(ObjectKind.HAZARD, (0.0, 205.0), 1.0)
    assert len(octopus.contacts) == 0
    while not len(octopus.contacts) > CONTACT_ROOM:
        octopus.step(1 / 60)
        assert octopus.ticks < 100
    touched = octopus.contacts
    joints = octopus.arm(1).joints
    near = np.array([math.hypot(*(joints[s] - joints[s - 1])) for s in touched.segments])
    assert np.allclose(near, 10.0)
    assert len(touched) == len(touched.points) == 40 * len(set(touched.segments.tolist()))


def test_no_readings_are_empty_arrays_of_the_right_shape():
    contacts = straight_octopus(1).contacts
    assert len(contacts) == 0
    assert contacts.points.shape == (0, 2)
    assert contacts.arms.dtype == contacts.segments.dtype == contacts.objects.dtype == np.int64


def test_touched_segments_are_counted_once():
    octopus = straight_octopus(1)
    for _ in range(3):
        octopus.add_object(ObjectKind.HAZARD, (10.0, 1.0), 2.0)
    assert octopus.arm(1).touched_segments == 2
