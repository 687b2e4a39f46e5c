import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_reach.model.geometry import (
    clip,
    closest_point,
    forward_kinematics,
    place_joints,
    segment_distance,
    wrap,
)

coordinates = st.floats(-1e3, 1e3)
points = st.tuples(coordinates, coordinates)


@pytest.mark.parametrize(
    ("angle", "wrapped"),
    [
        (0.0, 0.0),
        (3.0, 3.0),
        (math.pi, -math.pi),
        (-math.pi, -math.pi),
        (3.5, 3.5 - 2.0 * math.pi),
        (-3.5, 2.0 * math.pi - 3.5),
        (7.0 * math.pi + 0.25, -math.pi + 0.25),
    ],
)
def test_wrap_gives_the_short_way_round(angle, wrapped):
    assert wrap(angle) == pytest.approx(wrapped, abs=1e-14)


@given(st.floats(-1e6, 1e6))
def test_a_wrapped_angle_is_the_same_direction_within_half_a_turn(angle):
    wrapped = wrap(angle)
    assert -math.pi <= wrapped <= math.pi
    assert math.cos(wrapped) == pytest.approx(math.cos(angle), abs=1e-9)
    assert math.sin(wrapped) == pytest.approx(math.sin(angle), abs=1e-9)


@pytest.mark.parametrize(("value", "clipped"), [(-2.0, -1.0), (0.25, 0.25), (9.0, 1.5)])
def test_clip_keeps_to_the_limits(value, clipped):
    assert clip(value, -1.0, 1.5) == clipped


def test_a_straight_chain_lies_along_its_heading():
    joints, headings = forward_kinematics((1.0, 2.0), 2.0, np.array([math.pi / 2.0, 0.0, 0.0]))
    np.testing.assert_allclose(joints, [[1, 2], [1, 4], [1, 6], [1, 8]], atol=1e-12)
    np.testing.assert_allclose(headings, math.pi / 2.0)


def test_headings_add_up_from_the_base():
    turn = math.pi / 2.0
    joints, headings = forward_kinematics((0.0, 0.0), 1.0, np.array([0.0, turn, turn, turn]))
    np.testing.assert_allclose(headings, [0.0, turn, 2.0 * turn, 3.0 * turn])
    np.testing.assert_allclose(joints, [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], atol=1e-12)


def test_joints_are_rebuilt_in_place_and_the_room_behind_them_is_left_alone():
    joints = np.full((5, 2), 7.0)
    headings = np.full(4, 7.0)
    place_joints(0.0, 0.0, 1.0, np.array([0.0, 0.5]), joints, headings)
    expected, expected_headings = forward_kinematics((0.0, 0.0), 1.0, np.array([0.0, 0.5]))
    np.testing.assert_array_equal(joints[:3], expected)
    np.testing.assert_array_equal(headings[:2], expected_headings)
    assert np.all(joints[3:] == 7.0)
    assert np.all(headings[2:] == 7.0)


def test_integer_angles_are_angles():
    joints, _ = forward_kinematics((0, 0), 1, [0, 0])
    assert joints[-1].tolist() == [2.0, 0.0]


def test_angles_that_are_no_pose_are_refused():
    with pytest.raises(ValueError, match=r"angles must have the shape \(N,\), got \(2, 2\)"):
        forward_kinematics((0.0, 0.0), 1.0, np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"angles must be finite, got .*nan"):
        forward_kinematics((0.0, 0.0), 1.0, np.array([0.0, math.nan]))


@pytest.mark.parametrize(
    ("centre", "nearest"),
    [
        ((3.0, 5.0), (3.0, 0.0)),
        ((-4.0, 1.0), (0.0, 0.0)),
        ((14.0, -1.0), (10.0, 0.0)),
        ((10.0, 3.0), (10.0, 0.0)),
    ],
)
def test_the_closest_point_lies_on_the_segment(centre, nearest):
    assert closest_point(0.0, 0.0, 10.0, 0.0, *centre) == nearest
    assert segment_distance(0.0, 0.0, 10.0, 0.0, *centre) == math.dist(centre, nearest)


def test_a_segment_without_length_is_its_start():
    assert closest_point(2.0, 3.0, 2.0, 3.0, 9.0, 9.0) == (2.0, 3.0)
    assert segment_distance(2.0, 3.0, 2.0, 3.0, 5.0, 7.0) == 5.0


@given(points, points, points)
def test_no_point_of_a_segment_is_nearer_than_the_closest(start, end, centre):
    distance = segment_distance(*start, *end, *centre)
    share = np.linspace(0.0, 1.0, 33)[:, None]
    others = np.array(start) + share * (np.array(end) - np.array(start))
    assert np.linalg.norm(others - centre, axis=1).min() >= distance - 1e-9
    assert distance == pytest.approx(
        math.dist(closest_point(*start, *end, *centre), centre), abs=1e-9
    )
