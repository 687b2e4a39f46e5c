"""Straight edges in joint space that are certain to be clear on their whole length.

A point of segment k moves no further than B_k = L * sum over the segments up to k of |turn of the
heading| along an edge, and as far as h B_k within h of its length. A pair with more room than
h B_k at one pose is therefore clear at all poses within h of it. The edge is covered by such
intervals, from its start to its end; none is taken on trust.
"""

from __future__ import annotations

import math

import numpy as np

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats, segment_distance
from octo_reach.model.guard import held_centre
from octo_reach.planners.guided.body import Body
from octo_reach.planners.guided.clearance import query_cost

REFUSED = -1
UNDECIDED = 0
CERTIFIED = 1
SHORTEST_INTERVAL = 0.02
"""Motion of the fastest point that is worth an interval, in pixels: less room counts as none."""

PLACES = np.array([1.0, 0.5, 0.25, 0.75, 0.125, 0.625, 0.375])
"""Where on an edge to look first: most that are not clear are so at one of these."""


@compiled
def measure_edge(start: Floats, end: Floats, body: Body, moves: Floats) -> float:
    """Work out how far the segments may travel along an edge, in place.

    Args:
        start: joint angles at the start, shape (N,), rad.
        end: joint angles at the end, shape (N,), rad; not wrapped against the start.
        body: the arm.
        moves: to fill, shape (2, N + 1): changes of the joint angles, and travels B_k in the
            scene's unit; the last travel is that of what is held.

    Returns:
        The largest change of any joint angle, rad.
    """
    turned = 0.0
    travel = 0.0
    largest = 0.0
    for i in range(body.segments):
        change = end[i] - start[i]
        largest = max(largest, abs(change))
        turned += change
        travel += body.length * abs(turned)
        moves[0, i] = change
        moves[1, i] = travel
        if i + 1 == body.holder:
            offset = math.sqrt(body.along * body.along + body.across * body.across)
            moves[1, body.segments] = travel + offset * abs(turned)
    return largest


@compiled
def clear_share(
    start: Floats,
    share: float,
    moves: Floats,
    body: Body,
    obstacles: Floats,
    margin: float,
    most: float,
) -> float:
    """Give how far to either side of one pose an edge is certain to be clear, as a share of it.

    Args:
        start: joint angles at the start of the edge, shape (N,), rad.
        share: where on the edge, from 0 to 1.
        moves: the edge as `measure_edge` left it.
        body: the arm.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        margin: room that every pair must have, in the scene's unit.
        most: more than this need not be found out.

    Returns:
        The share, `most` at the most; -1 where a pair has no room here.
    """
    x = body.base_x
    y = body.base_y
    heading = 0.0
    for i in range(body.segments):
        heading += start[i] + share * moves[0, i]
        next_x = x + body.length * math.cos(heading)
        next_y = y + body.length * math.sin(heading)
        travel = moves[1, i]
        keep = body.clearance + margin
        for k in range(len(obstacles)):
            reach = obstacles[k, 2] + keep + most * travel
            # The middle of a segment tells most obstacles far enough away.
            d_x = obstacles[k, 0] - 0.5 * (x + next_x)
            d_y = obstacles[k, 1] - 0.5 * (y + next_y)
            beyond = reach + 0.5 * body.length
            if d_x * d_x + d_y * d_y >= beyond * beyond:
                continue
            distance = segment_distance(x, y, next_x, next_y, obstacles[k, 0], obstacles[k, 1])
            room = distance - obstacles[k, 2] - keep
            if room < 0.0:
                return -1.0
            if room < most * travel:
                most = room / travel
        x = next_x
        y = next_y
        if i + 1 == body.holder:
            travel = moves[1, body.segments]
            c_x, c_y = held_centre(x, y, heading, body.along, body.across)
            for k in range(len(obstacles)):
                d_x = obstacles[k, 0] - c_x
                d_y = obstacles[k, 1] - c_y
                room = math.sqrt(d_x * d_x + d_y * d_y) - obstacles[k, 2] - body.payload - margin
                if room < 0.0:
                    return -1.0
                if room < most * travel:
                    most = room / travel
    return most


@compiled
def certify(
    start: Floats,
    end: Floats,
    covered: float,
    whole: bool,
    body: Body,
    obstacles: Floats,
    margin: float,
    budget: int,
    moves: Floats,
) -> tuple[int, float, int]:
    """Certify an edge, or as much of it as a budget of work allows.

    Args:
        start: joint angles at the start, shape (N,), rad.
        end: joint angles at the end, shape (N,), rad; not wrapped against the start.
        covered: share of the edge that an earlier call has certified.
        whole: True where a part of the edge is of no use, so that it is refused the sooner.
        body: the arm.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        margin: room that every pair must have all along, in the scene's unit.
        budget: work that may be spent, see `query_cost`.
        moves: scratch, shape (2, N + 1).

    Returns:
        CERTIFIED, REFUSED or UNDECIDED; the share of the edge from its start that is certain to be
        clear; and the work spent. Work may go beyond the budget by a few poses.
    """
    measure_edge(start, end, body, moves)
    cost = query_cost(body, obstacles)
    fastest = max(moves[1, body.segments - 1], moves[1, body.segments] if body.holder > 0 else 0.0)
    if fastest == 0.0:
        room = clear_share(start, 0.0, moves, body, obstacles, margin, 1.0)
        return (CERTIFIED if room >= 0.0 else REFUSED), 1.0, cost
    spent = 0
    if whole and covered == 0.0:
        for place in range(len(PLACES)):
            spent += cost
            if clear_share(start, PLACES[place], moves, body, obstacles, margin, 0.0) < 0.0:
                return REFUSED, 0.0, spent
    shortest = SHORTEST_INTERVAL * body.unit / fastest
    half = 0.5 * (1.0 - covered)
    begun = covered
    while covered < 1.0:
        # Not before something is covered: the next call would begin with the same half again.
        if spent >= budget and covered > begun:
            return UNDECIDED, covered, spent
        half = min(half, 1.0 - covered)
        middle = covered + half
        spent += cost
        room = clear_share(start, middle, moves, body, obstacles, margin, 2.0 * half)
        if room >= half:
            covered = min(1.0, middle + room)
            half = 1.2 * room
        elif room < 0.0:
            half *= 0.4
        else:
            half = max(0.5 * half, min(0.9 * half, room))
        if half < shortest:
            return REFUSED, covered, spent
    return CERTIFIED, 1.0, spent
