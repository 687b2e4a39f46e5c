"""Angles, the pose of a chain, and the nearest point of a segment.

Segment i runs from joint i - 1 to joint i; headings add up the joint angles from the base, and
joints are rebuilt from them, so that segment lengths are exact by construction (seed 000).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from octo_reach.model.compilation import compiled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

FULL_TURN = 2.0 * math.pi


@compiled
def wrap(angle: float) -> float:
    """Give the equivalent angle in [-pi, pi), rad: the short way round (seed 000)."""
    turned = angle + math.pi
    # The remainder of what lies in range already is itself, and costs more than all the rest.
    if not 0.0 <= turned < FULL_TURN:
        turned %= FULL_TURN
    return turned - math.pi


@compiled
def clip(value: float, low: float, high: float) -> float:
    """Give `value`, or the limit it is beyond."""
    return max(low, min(high, value))


@compiled
def place_joints(
    base_x: float,
    base_y: float,
    segment_length: float,
    angles: Floats,
    joints: Floats,
    headings: Floats,
) -> None:
    """Rebuild a chain from its joint angles, in place (seed 000).

    Args:
        base_x: x of the base.
        base_y: y of the base.
        segment_length: length of every segment, in the scene's unit.
        angles: joint angles, shape (N,), rad.
        joints: joint positions to fill, shape (N + 1, 2) or longer.
        headings: absolute headings to fill, shape (N,) or longer, rad.
    """
    x = base_x
    y = base_y
    heading = 0.0
    joints[0, 0] = x
    joints[0, 1] = y
    for i in range(len(angles)):
        heading += angles[i]
        x += segment_length * math.cos(heading)
        y += segment_length * math.sin(heading)
        headings[i] = heading
        joints[i + 1, 0] = x
        joints[i + 1, 1] = y


def forward_kinematics(
    base: tuple[float, float], segment_length: float, angles: Floats
) -> tuple[Floats, Floats]:
    """Give the pose of a chain (seed 000).

    Args:
        base: position of the base, (x, y), in the scene's unit.
        segment_length: length of every segment, in the scene's unit.
        angles: joint angles, shape (N,), rad: the base's heading, then bends.

    Returns:
        Joint positions, shape (N + 1, 2), and absolute headings, shape (N,), rad.

    Raises:
        ValueError: `angles` is not one-dimensional or holds a number that is not finite.
    """
    angles = np.asarray(angles, dtype=np.float64)
    if angles.ndim != 1:
        raise ValueError(f"angles must have the shape (N,), got {angles.shape}")
    if not np.all(np.isfinite(angles)):
        raise ValueError(f"angles must be finite, got {angles.tolist()}")
    joints = np.empty((len(angles) + 1, 2))
    headings = np.empty(len(angles))
    place_joints(float(base[0]), float(base[1]), float(segment_length), angles, joints, headings)
    return joints, headings


@compiled
def closest_point(
    a_x: float, a_y: float, z_x: float, z_y: float, c_x: float, c_y: float
) -> tuple[float, float]:
    """Give the point of the segment a..z that is nearest to c, (x, y) (seed 000).

    A segment without length is its start.
    """
    v_x = z_x - a_x
    v_y = z_y - a_y
    length_squared = v_x * v_x + v_y * v_y
    if length_squared == 0.0:
        return a_x, a_y
    along = ((c_x - a_x) * v_x + (c_y - a_y) * v_y) / length_squared
    along = max(0.0, min(1.0, along))
    return a_x + along * v_x, a_y + along * v_y


@compiled
def segment_distance(
    a_x: float, a_y: float, z_x: float, z_y: float, c_x: float, c_y: float
) -> float:
    """Give the distance of the point c from the segment a..z, in the scene's unit (seed 000)."""
    h_x, h_y = closest_point(a_x, a_y, z_x, z_y, c_x, c_y)
    return math.sqrt((c_x - h_x) * (c_x - h_x) + (c_y - h_y) * (c_y - h_y))
