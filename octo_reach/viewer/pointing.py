"""Where in the plane somebody points."""

from __future__ import annotations

import math
from collections.abc import Sequence

from octo_reach.viewer.snapshot import Point

FARTHEST = 100.0
"""Farthest place that is taken from a pointer, m: beyond it, it is the horizon."""


def plane_hit(
    origin: Sequence[float], direction: Sequence[float], height: float = 0.0
) -> Point | None:
    """Give where a ray meets the plane z = `height`, (x, y), m; None where it does not.

    Args:
        origin: start of the ray, (x, y, z), m.
        direction: where it goes, (x, y, z), of any length.
        height: height of the plane, m.
    """
    if abs(direction[2]) < 1e-9:
        return None
    along = (height - origin[2]) / direction[2]
    if along <= 0.0:
        return None
    x = float(origin[0] + along * direction[0])
    y = float(origin[1] + along * direction[1])
    if not (math.isfinite(x) and math.isfinite(y)) or max(abs(x), abs(y)) > FARTHEST:
        return None
    return x, y


class Grip:
    """Something held by the pointer: it moves in the plane it was taken hold of, without a jump."""

    def __init__(self, grabbed: Sequence[float], centre: Point) -> None:
        """Take hold of something.

        Args:
            grabbed: the point of its surface that was grabbed, (x, y, z), m.
            centre: its centre, (x, y), m.
        """
        self._height = float(grabbed[2])
        self._offset = (centre[0] - float(grabbed[0]), centre[1] - float(grabbed[1]))

    def drag(self, eye: Sequence[float], pointed: Sequence[float]) -> Point | None:
        """Give where its centre goes, (x, y), m; None where the pointer is beyond the horizon.

        Args:
            eye: where the camera is, (x, y, z), m.
            pointed: any point under the pointer, (x, y, z), m.
        """
        direction = [float(p) - float(e) for p, e in zip(pointed, eye, strict=True)]
        hit = plane_hit([float(value) for value in eye], direction, self._height)
        if hit is None:
            return None
        return hit[0] + self._offset[0], hit[1] + self._offset[1]
