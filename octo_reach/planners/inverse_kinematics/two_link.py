"""Both poses of a two-link arm that reach a point, in closed form: what solvers are checked by."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from octo_reach.model.geometry import Floats, wrap


def two_link_solutions(
    base: Sequence[float], lengths: Sequence[float], target: Sequence[float]
) -> list[Floats]:
    """Give every pose of a two-link arm with its tip on a point, by the law of cosines.

    Args:
        base: position of the base, (x, y).
        lengths: lengths of the two links, above 0.
        target: the point, (x, y).

    Returns:
        Joint angles, each of shape (2,), rad: the base's heading, then the bend, both in
        [-pi, pi). First the pose that bends to positive angles, then the other; only one where the
        arm is straight or folded; none where the point is too far away or too near. On the base
        itself, which links of equal length reach in any direction, the pose with heading 0.

    Raises:
        ValueError: there are not two lengths above 0.
    """
    sizes = [float(length) for length in lengths]
    if len(sizes) != 2 or not all(length > 0.0 and math.isfinite(length) for length in sizes):
        raise ValueError(f"lengths must be two finite numbers above 0, got {list(lengths)!r}")
    first, second = sizes
    x = float(target[0]) - float(base[0])
    y = float(target[1]) - float(base[1])
    distance = math.hypot(x, y)
    if distance > first + second or distance < abs(first - second):
        return []
    if distance == 0.0:
        return [np.array((0.0, wrap(math.pi)))]
    direction = math.atan2(y, x)
    cosine = (distance**2 - first**2 - second**2) / (2.0 * first * second)
    bend = math.acos(max(-1.0, min(1.0, cosine)))
    solutions = []
    for elbow in (bend, -bend):
        heading = direction - math.atan2(second * math.sin(elbow), first + second * math.cos(elbow))
        solutions.append(np.array((wrap(heading), wrap(elbow))))
    if bend in (0.0, math.pi):
        return solutions[:1]
    return solutions
