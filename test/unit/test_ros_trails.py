"""The way a tip has come, as a path."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("rclpy", reason="rclpy is not installed")

from ros_messages import STAMP, STEP, filled, make_octopus

from octo_reach.ros.trails import MOST_POINTS, SPACING, TipTrail

pytestmark = pytest.mark.ros


def points_of(trail):
    poses = filled(trail, STAMP).poses
    return np.array([(p.pose.position.x, p.pose.position.y) for p in poses]).reshape(-1, 2)


def test_a_trail_follows_the_tip_and_ends_at_it():
    octopus = make_octopus((1,))
    arm = octopus.arm(1)
    trail = TipTrail()
    way = []
    for _ in range(100):
        octopus.step(STEP)
        way.append(arm.tip.copy())
        trail.note(arm.tip.tolist(), arm.parameters.reach)
        np.testing.assert_array_equal(points_of(trail)[-1], arm.tip)
    points = points_of(trail)
    assert len(points) > 2
    assert {tuple(point) for point in points.tolist()} <= {tuple(p) for p in np.array(way).tolist()}
    message = filled(trail, STAMP)
    assert (message.header.frame_id, message.header.stamp) == ("world", STAMP)
    assert all(pose.pose.orientation.w == 1.0 for pose in message.poses)
    assert {pose.header.frame_id for pose in message.poses} == {"world"}


def test_a_tip_that_rests_adds_nothing():
    trail = TipTrail()
    assert trail.note((0.0, 0.0), 1.0)
    assert not trail.note((0.0, 0.0), 1.0)
    assert trail.note((0.1, 0.0), 1.0)
    assert not trail.note((0.1, 0.0), 1.0)
    assert len(points_of(trail)) == 2


@settings(max_examples=30, deadline=None)
@given(
    steps=st.lists(st.floats(0.0, 0.03), min_size=1, max_size=600),
    reach=st.floats(0.1, 2.0),
)
def test_it_has_no_more_than_so_many_points_none_nearer_than_the_spacing(steps, reach):
    trail = TipTrail()
    x = 0.0
    for step in steps:
        x += step
        trail.note((x, 0.0), reach)
    points = points_of(trail)
    assert len(points) <= MOST_POINTS
    assert (np.diff(points[:-1, 0]) > SPACING * reach * (1.0 - 1e-9)).all()
    assert points[-1, 0] == x
    if len(points) == MOST_POINTS:
        assert x - points[0, 0] >= (MOST_POINTS - 2) * SPACING * reach * (1.0 - 1e-9)


def test_a_cleared_trail_begins_anew_where_the_tip_is():
    trail = TipTrail()
    for turn in range(20):
        trail.note((math.cos(turn), math.sin(turn)), 1.0)
    trail.clear()
    assert trail.empty
    assert len(points_of(trail)) == 0
    trail.note((5.0, 5.0), 1.0)
    np.testing.assert_array_equal(points_of(trail), [(5.0, 5.0)])
