"""Rotations of the plane, by transforms3d."""

from __future__ import annotations

from transforms3d.axangles import axangle2mat

from octo_reach.model.geometry import Floats

_UP = (0.0, 0.0, 1.0)


def plane_rotation(heading: float) -> Floats:
    """Give the matrix R that turns a frame's vectors into the world's, shape (2, 2).

    Args:
        heading: direction of the frame's x axis, counter-clockwise from the world's, rad.
    """
    matrix: Floats = axangle2mat(_UP, heading, is_normalized=True)[:2, :2]
    return matrix
