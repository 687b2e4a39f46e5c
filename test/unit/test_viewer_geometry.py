"""What the browser view draws and where its pointer points, without a browser."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_reach.viewer.orders import (
    MOST_ORDERS,
    Act,
    Orders,
    Pause,
    PutObject,
    RemoveObject,
    SendArm,
)
from octo_reach.viewer.pointing import FARTHEST, Grip, plane_hit
from octo_reach.viewer.shapes import (
    TIP_RINGS,
    disc,
    ring,
    tube_faces,
    tube_vertices,
)
from octo_reach.viewer.snapshot import SeenObject, Snapshot

BENDS = st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=12)
COORDINATE = st.floats(-1.0, 1.0)


def chain(bends, length=0.02):
    headings = np.cumsum(bends)
    steps = length * np.stack((np.cos(headings), np.sin(headings)), 1)
    return np.vstack(([[0.1, -0.2]], steps)).cumsum(axis=0)


def outwards(vertices, faces, centres):
    """Whether every triangle that is one looks away from its nearest centre."""
    corners = vertices[faces].astype(float)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    middles = corners.mean(axis=1)
    away = middles - centres[np.linalg.norm(middles[:, None] - centres, axis=2).argmin(axis=1)]
    areas = np.linalg.norm(normals, axis=1)
    facing = np.einsum("ij,ij->i", normals, away)
    return bool((facing[areas > 1e-12] > 0.0).all())


@given(BENDS)
def test_a_tube_lies_around_its_centre_line_and_is_nowhere_thicker_than_it_should_be(bends):
    joints = chain(bends)
    vertices = tube_vertices(joints, 0.003, 0.001, 8, height=0.004).reshape(-1, 8, 3)
    assert len(vertices) == len(joints) + len(TIP_RINGS)
    radii = np.linspace(0.003, 0.001, len(joints))
    for ring_vertices, joint, radius in zip(vertices, joints, radii, strict=False):
        away = ring_vertices - np.array([*joint, 0.004])
        assert np.linalg.norm(away, axis=1) == pytest.approx(radius, abs=1e-6)
    cap = vertices[len(joints) :].reshape(-1, 3) - np.array([*joints[-1], 0.004])
    assert np.linalg.norm(cap, axis=1) == pytest.approx(0.001, abs=1e-6)


def test_faces_look_outwards_and_use_every_vertex():
    joints = chain([0.3, 0.1, -0.2, 0.0, 0.2])
    vertices = tube_vertices(joints, 0.003, 0.002, 8)
    faces = tube_faces(5, 8)
    assert set(faces.ravel().tolist()) == set(range(len(vertices)))
    centres = np.hstack((joints, np.zeros((len(joints), 1))))
    dense = np.concatenate([np.linspace(a, b, 20) for a, b in itertools.pairwise(centres)])
    assert outwards(vertices, faces, dense)
    vertices, faces = disc()
    assert outwards(vertices, faces, np.array([[0.0, 0.0, 0.0]]))
    assert np.hypot(vertices[:, 0], vertices[:, 1]).max() == pytest.approx(1.0)
    vertices, faces = ring()
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (normals[:, 2] > 0.0).all()


@given(COORDINATE, COORDINATE, st.floats(0.1, 5.0), COORDINATE, COORDINATE, st.floats(0.0, 0.05))
def test_a_ray_hits_the_plane_where_it_was_aimed(x, y, eye_height, eye_x, eye_y, height):
    eye = (eye_x, eye_y, eye_height + height)
    direction = (x - eye[0], y - eye[1], height - eye[2])
    assert plane_hit(eye, direction, height) == pytest.approx((x, y), abs=1e-9)


@pytest.mark.parametrize(
    "direction", [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (FARTHEST * 2.0, 0.0, -1.0), (math.nan, 0, -1)]
)
def test_a_ray_to_the_horizon_or_above_it_hits_nothing(direction):
    assert plane_hit((0.0, 0.0, 1.0), direction) is None


@given(COORDINATE, COORDINATE, COORDINATE, COORDINATE)
def test_what_is_dragged_moves_as_far_as_the_pointer_does(x, y, to_x, to_y):
    eye = (0.3, -0.2, 2.0)
    grabbed = (x, y, 0.01)
    grip = Grip(grabbed, centre=(x + 0.004, y - 0.003))
    assert grip.drag(eye, grabbed) == pytest.approx((x + 0.004, y - 0.003))
    # Any point of the ray will do: a browser gives one of a plane across the view.
    pointed = np.array(eye) + 0.6 * (np.array([to_x, to_y, 0.01]) - eye)
    assert grip.drag(eye, pointed) == pytest.approx((to_x + 0.004, to_y - 0.003))


def test_of_a_drag_only_the_newest_place_waits():
    orders = Orders()
    for step in range(5):
        orders.put(SendArm(1, (0.0, float(step))))
        orders.put(PutObject("food", (0.0, float(step)), 0.01, number=3))
    orders.put(SendArm(2, (1.0, 1.0)))
    assert orders.take() == [
        SendArm(1, (0.0, 4.0)),
        PutObject("food", (0.0, 4.0), 0.01, number=3),
        SendArm(2, (1.0, 1.0)),
    ]
    assert orders.take() == []


def test_orders_of_other_kinds_all_wait_in_their_order():
    orders = Orders()
    wanted = [
        Pause(True),
        Act(1, "idle"),
        Pause(False),
        PutObject("food", (0.0, 0.0), 0.01),
        PutObject("food", (0.0, 0.0), 0.01),
        RemoveObject("food", 3),
    ]
    for order in wanted:
        assert orders.put(order)
    assert orders.take() == wanted


def test_orders_that_nobody_takes_do_not_pile_up():
    orders = Orders()
    taken = [orders.put(Pause(True)) for _ in range(3 * MOST_ORDERS)]
    assert taken.count(True) == MOST_ORDERS == len(orders.take())


def test_the_object_under_a_point_is_the_one_whose_centre_is_nearest():
    things = [
        SeenObject(1, "obstacle", (0.0, 0.0), 0.05, (0, 0, 0)),
        SeenObject(2, "food", (0.04, 0.0), 0.02, (0, 0, 0)),
    ]
    snapshot = Snapshot(objects=tuple(things))
    assert snapshot.object_at((0.035, 0.0)).number == 2
    assert snapshot.object_at((0.01, 0.0)).number == 1
    assert snapshot.object_at((0.2, 0.0)) is None
