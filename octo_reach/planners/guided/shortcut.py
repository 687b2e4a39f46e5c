"""A path made shorter: knots left out, and knots drawn towards the straight line.

Every edge of the new path is certified. What counts is the time of the path: the largest change of
any joint on each edge, summed.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from octo_reach.model.geometry import Floats
from octo_reach.planners.guided.room import CALL, Room, Sliced, duration

LEAST_GAIN = 0.01
"""Gain that is worth trying for, rad of the slowest joint."""
TRY = 3 * CALL
"""Cost of thinking of a shortcut."""


def length_of(path: list[Floats]) -> float:
    """Give how long a path takes, rad of the slowest joint on each edge."""
    return sum(duration(a, b) for a, b in pairwise(path))


def leave_out_knots(room: Room, path: list[Floats]) -> Sliced[list[Floats]]:
    """Go from each knot straight to one far ahead: the last, else half as far, and so on."""
    short = [path[0]]
    here = 0
    while here < len(path) - 1:
        ahead = len(path) - 1 - here
        while ahead > 1:
            yield TRY
            if (yield from room.clear(path[here], path[here + ahead])):
                break
            ahead //= 2
        here += ahead
        short.append(path[here])
    return short


def pose_at(path: list[Floats], lengths: Floats, place: float) -> tuple[int, Floats]:
    """Give the edge a place on a path is on, and the pose there.

    Args:
        path: the poses of the path.
        lengths: how long it takes to each of them.
        place: how long it takes to the place.
    """
    edge = int(np.searchsorted(lengths, place, side="right")) - 1
    edge = min(max(edge, 0), len(path) - 2)
    span = float(lengths[edge + 1] - lengths[edge])
    share = 0.0 if span <= 0.0 else (place - float(lengths[edge])) / span
    return edge, path[edge] + share * (path[edge + 1] - path[edge])


def cut_corner(room: Room, path: list[Floats]) -> Sliced[list[Floats]]:
    """Try to go straight between two places drawn by lot; give the path, changed or not."""
    yield TRY
    lengths = np.array([0.0, *(duration(a, b) for a, b in pairwise(path))])
    lengths = np.cumsum(lengths)
    low, high = sorted((room.draws.take(2) * lengths[-1]).tolist())
    first, a = pose_at(path, lengths, low)
    last, b = pose_at(path, lengths, high)
    if first == last or high - low - duration(a, b) < LEAST_GAIN:
        return path
    if (yield from room.clear(a, b)):
        return [*path[: first + 1], a, b, *path[last + 1 :]]
    return path


def draw_in_knot(room: Room, path: list[Floats]) -> Sliced[list[Floats]]:
    """Try to draw some joints of one knot towards the line between its neighbours."""
    yield TRY
    lots = room.draws.take(4)
    if len(path) < 3:
        return path
    knot = 1 + int(lots[0] * (len(path) - 2))
    before, pose, after = path[knot - 1 : knot + 2]
    here, there = duration(before, pose), duration(pose, after)
    if here + there <= 0.0:
        return [*path[:knot], *path[knot + 1 :]]
    line = before + here / (here + there) * (after - before)
    count = len(pose)
    first = int(lots[1] * count)
    last = first + 1 + int(lots[2] * (count - first))
    drawn = pose.copy()
    weight = (1.0, 0.5, 0.25)[int(3.0 * lots[3])]
    drawn[first:last] += weight * (line - pose)[first:last]
    if here + there - duration(before, drawn) - duration(drawn, after) < LEAST_GAIN:
        return path
    if not (yield from room.clear(before, drawn)):
        return path
    if not (yield from room.clear(drawn, after)):
        return path
    return [*path[:knot], drawn, *path[knot + 1 :]]
