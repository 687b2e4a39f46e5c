"""Grips as messages, each of which tells the whole state."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from ros_messages import STEP, make_grasping_octopus, make_octopus, received

from octo_reach.model.scene import ObjectKind
from octo_reach.ros.frames import position_in_world
from octo_reach.ros.grasps import GraspMarkers
from octo_reach.ros.objects import ADD, DELETE, DELETE_ALL, grasps_from_markers

pytestmark = pytest.mark.ros


def told(message):
    return grasps_from_markers("grasps", received(message), {1: 20})


def test_a_controller_starts_by_letting_everything_of_its_arms_go():
    grasps = GraspMarkers()
    assert [(change.action, change.arm) for change in told(grasps.start())] == [(DELETE_ALL, None)]
    changes = told(grasps.start([1, 3]))
    assert [(change.action, change.arm) for change in changes] == [(DELETE_ALL, 1), (DELETE_ALL, 3)]


def test_nothing_held_is_an_empty_message_and_no_change():
    grasps = GraspMarkers()
    octopus = make_octopus()
    assert not grasps.changed(octopus)
    assert told(grasps.fill(octopus)) == []


def test_a_held_object_is_claimed_where_the_segment_holds_it():
    octopus = make_grasping_octopus()
    grasps = GraspMarkers()
    assert grasps.changed(octopus)
    message = grasps.fill(octopus)
    assert not grasps.changed(octopus)
    (claim,) = told(message)
    arm = octopus.arm(1)
    assert (claim.action, claim.kind, claim.number) == (ADD, ObjectKind.FOOD, 5)
    assert claim.holder == (1, arm.grip.segment)
    assert claim.position == arm.grip.offset
    assert claim.radius == 0.01
    place = position_in_world(
        claim.position, tuple(arm.joints[arm.grip.segment]), arm.headings[arm.grip.segment - 1]
    )
    np.testing.assert_allclose(place, octopus.objects.positions[0], atol=1e-12)
    assert message.markers[0].frame_locked


def test_carrying_is_no_change():
    octopus = make_grasping_octopus()
    grasps = GraspMarkers()
    grasps.fill(octopus)
    octopus.retract(1)
    for _ in range(30):
        octopus.step(STEP)
        assert not grasps.changed(octopus)


def test_what_was_let_go_is_deleted_where_it_lies_until_it_is_held_again():
    octopus = make_grasping_octopus()
    grasps = GraspMarkers()
    grasps.fill(octopus)
    octopus.release(1)
    assert grasps.changed(octopus)
    octopus.move_object(5, (0.3, 0.4))
    for _ in range(3):
        (change,) = told(grasps.fill(octopus))
        assert (change.action, change.number, change.position) == (DELETE, 5, (0.3, 0.4))
        assert change.arm == 1
    x, y = octopus.arm(1).joints[10].tolist()
    octopus.move_object(5, (x, y))
    octopus.reach(1, (0.1, 0.1))
    for _ in range(60):
        octopus.step(STEP)
    assert octopus.arm(1).grip is not None
    assert [change.action for change in told(grasps.fill(octopus))] == [ADD]


def test_a_held_object_that_vanishes_is_let_go():
    octopus = make_grasping_octopus()
    grasps = GraspMarkers()
    grasps.fill(octopus)
    octopus.remove_object(5)
    assert grasps.changed(octopus)
    (change,) = told(grasps.fill(octopus))
    assert (change.action, change.number) == (DELETE, 5)
