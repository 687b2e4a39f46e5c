"""Outlines, in the scene's unit: a tapered arm around its joints, and what a picture shows."""

from __future__ import annotations

import numpy as np

from octo_reach.model.geometry import Floats
from octo_reach.pictures.recording import Frame, Recording

BASE_HALF_WIDTH = 5.5
"""Half width of a drawn arm at its base, in pixels of a pixel scene."""
TIP_HALF_WIDTH = 2.0
"""Half width of a drawn arm at its tip, in pixels of a pixel scene."""
STOUTEST = 100.0
"""An arm shorter than this is drawn thinner, in pixels of a pixel scene."""
SMOOTHNESS = 6
"""Points of the smoothed centre line a segment."""
MARGIN = 0.03
"""Room around what is shown, as a share of its larger side."""
LEAST_VIEW = 20.0
"""Least length of that side, in pixels of a pixel scene."""
FAR = 1.25
"""What is further from every base than so many arm lengths does not widen the view."""


def limb_scale(joints: Floats, unit: float) -> float:
    """Give the pixel that the widths of a drawn arm are measured in, in the scene's unit.

    Args:
        joints: joint positions, shape (N + 1, 2), in the scene's unit; they give the arm's length.
        unit: length of one pixel of a pixel scene in the scene's unit.
    """
    length = float(np.hypot(*np.diff(joints, axis=0).T).sum())
    return min(unit, length / STOUTEST)


def half_widths(count: int, scale: float) -> Floats:
    """Give the half width of a drawn arm at `count` places from base to tip, shape (count,).

    Args:
        count: how many places, evenly spread.
        scale: what `limb_scale` says of the arm.
    """
    along = np.linspace(0.0, 1.0, count)
    taper = (TIP_HALF_WIDTH - BASE_HALF_WIDTH) * along**0.8
    widths: Floats = scale * (BASE_HALF_WIDTH + taper)
    return widths


def smooth_line(joints: Floats) -> Floats:
    """Lay a smooth line through the joints of an arm (a uniform Catmull-Rom spline).

    Args:
        joints: shape (N + 1, 2).

    Returns:
        Points, shape (N * SMOOTHNESS + 1, 2); every joint is one of them.
    """
    before = np.vstack([2.0 * joints[0] - joints[1], joints[:-2]])
    after = np.vstack([joints[2:], 2.0 * joints[-1] - joints[-2]])
    start, end = joints[:-1], joints[1:]
    fractions = np.arange(SMOOTHNESS) / SMOOTHNESS
    pieces = []
    for f in fractions:
        pieces.append(
            0.5
            * (
                2.0 * start
                + (end - before) * f
                + (2.0 * before - 5.0 * start + 4.0 * end - after) * f**2
                + (3.0 * start - before - 3.0 * end + after) * f**3
            )
        )
    line: Floats = np.stack(pieces, axis=1).reshape(-1, 2)
    return np.vstack([line, joints[-1]])


def arm_outline(joints: Floats, scale: float) -> Floats:
    """Give the outline of a tapered arm with a round tip.

    Args:
        joints: joint positions, shape (N + 1, 2), in the scene's unit.
        scale: what `limb_scale` says of the arm.

    Returns:
        Corners of a closed polygon, shape (M, 2), in the scene's unit.
    """
    line = smooth_line(joints)
    along = np.gradient(line, axis=0)
    lengths = np.hypot(along[:, 0], along[:, 1])
    along = along / np.maximum(lengths, 1e-300)[:, None]
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)
    widths = half_widths(len(line), scale)[:, None]
    turn = np.linspace(np.pi / 2.0, -np.pi / 2.0, 9)[1:-1, None]
    cap = line[-1] + widths[-1] * (np.cos(turn) * along[-1] + np.sin(turn) * across[-1])
    return np.vstack([line + widths * across, cap, (line - widths * across)[::-1]])


def view_limits(
    recording: Recording, frames: tuple[Frame, ...]
) -> tuple[float, float, float, float]:
    """Give the part of a scene to show: least and largest x, least and largest y.

    Whatever the arms did and could meet is in it; what lies far beyond their reach is not.

    Args:
        recording: a run.
        frames: the moments whose arms are drawn.
    """
    unit = recording.unit
    corners = [joints for frame in frames for joints in frame.joints]
    corners += [recording.tip_path(number) for number in recording.numbers]
    bases = np.array(recording.bases).reshape(-1, 2)
    reaches = np.array(recording.reaches)

    def is_near(points: Floats, radius: float) -> bool:
        away = np.hypot(*(points[:, None, :] - bases[None, :, :]).transpose(2, 0, 1))
        return bool(np.any(away - radius <= FAR * reaches)) if len(bases) else True

    for thing in recording.seen:
        path = recording.object_path(thing.number)
        for place in (path[:1], path[-1:]):
            if is_near(place, thing.radius):
                corners += [place - thing.radius, place + thing.radius]
    for places in recording.sent.values():
        targets = [np.array([place]) for place in places]
        corners += [target for target in targets if is_near(target, 0.0)]
    points = np.vstack(corners) if corners else np.zeros((1, 2))
    low, high = points.min(axis=0), points.max(axis=0)
    margin = MARGIN * max(float(np.max(high - low)), LEAST_VIEW * unit)
    return (
        float(low[0]) - margin,
        float(high[0]) + margin,
        float(low[1]) - margin,
        float(high[1]) + margin,
    )
