"""Rotations of the plane."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("transforms3d", reason="transforms3d is not installed")

from octo_reach.ros.rotations import plane_rotation

HEADINGS = st.floats(-10.0, 10.0)


def test_a_quarter_turn_takes_x_to_y():
    np.testing.assert_allclose(plane_rotation(math.pi / 2.0), [[0.0, -1.0], [1.0, 0.0]], atol=1e-15)


@given(HEADINGS)
def test_x_turns_to_the_heading_and_lengths_stay(heading):
    turn = plane_rotation(heading)
    np.testing.assert_allclose(turn[:, 0], (math.cos(heading), math.sin(heading)), atol=1e-15)
    np.testing.assert_allclose(turn @ turn.T, np.eye(2), atol=1e-15)


@given(HEADINGS, HEADINGS)
def test_turns_add_up(one, other):
    both = plane_rotation(one) @ plane_rotation(other)
    np.testing.assert_allclose(both, plane_rotation(one + other), atol=1e-14)
