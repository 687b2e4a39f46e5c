"""How much room a pose leaves between arm, held object and obstacles.

Room is what is left of a distance when the radius of the obstacle and the distance to keep are
taken off: the arm clearance for a segment, the object's own radius for what is held. It is negative
in an overlap.
"""

from __future__ import annotations

import math

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats, closest_point, segment_distance
from octo_reach.model.guard import held_centre
from octo_reach.planners.guided.body import Body

NO_ROOM_NEEDED = 1e300
"""The room of an arm among no obstacles."""


@compiled
def query_cost(body: Body, obstacles: Floats) -> int:
    """Give the work of looking at one pose, in looks of one segment at one obstacle."""
    return (body.segments + 1) * (len(obstacles) + 4)


@compiled
def room_of(angles: Floats, body: Body, obstacles: Floats) -> float:
    """Give the least room that a pose leaves, in the scene's unit.

    Args:
        angles: joint angles, shape (N,), rad.
        body: the arm.
        obstacles: centre and radius of each obstacle, shape (K, 3).
    """
    least = NO_ROOM_NEEDED
    x = body.base_x
    y = body.base_y
    heading = 0.0
    for i in range(body.segments):
        heading += angles[i]
        next_x = x + body.length * math.cos(heading)
        next_y = y + body.length * math.sin(heading)
        for k in range(len(obstacles)):
            distance = segment_distance(x, y, next_x, next_y, obstacles[k, 0], obstacles[k, 1])
            least = min(least, distance - obstacles[k, 2] - body.clearance)
        x = next_x
        y = next_y
        if i + 1 == body.holder:
            c_x, c_y = held_centre(x, y, heading, body.along, body.across)
            for k in range(len(obstacles)):
                d_x = obstacles[k, 0] - c_x
                d_y = obstacles[k, 1] - c_y
                distance = math.sqrt(d_x * d_x + d_y * d_y)
                least = min(least, distance - obstacles[k, 2] - body.payload)
    return least


@compiled
def find_close(
    angles: Floats,
    body: Body,
    obstacles: Floats,
    within: float,
    side: float,
    joints: Floats,
    close: Floats,
) -> tuple[int, float]:
    """List the pairs with little room, and how the room of each may be made.

    Args:
        angles: joint angles, shape (N,), rad.
        body: the arm.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        within: pairs with less room than this are listed, in the scene's unit.
        side: 1 or -1: which way is away from an obstacle whose centre lies on the segment, to
            the segment's left or to its right.
        joints: joint positions to fill, shape (N + 1, 2).
        close: the list to fill, shape (P, 6): point of the arm nearest to the obstacle (x, y),
            direction away from the obstacle (x, y), room, and the segment, from 0. The object
            held counts as a part of the segment that holds it.

    Returns:
        How many pairs are listed, and the least room of any pair. Pairs that find no room in the
        list are left out.
    """
    found = 0
    least = NO_ROOM_NEEDED
    x = body.base_x
    y = body.base_y
    heading = 0.0
    joints[0, 0] = x
    joints[0, 1] = y
    for i in range(body.segments):
        heading += angles[i]
        u_x = math.cos(heading)
        u_y = math.sin(heading)
        next_x = x + body.length * u_x
        next_y = y + body.length * u_y
        joints[i + 1, 0] = next_x
        joints[i + 1, 1] = next_y
        holds = i + 1 == body.holder
        c_x, c_y = held_centre(next_x, next_y, heading, body.along, body.across)
        for k in range(len(obstacles)):
            for part in range(2 if holds else 1):
                o_x = obstacles[k, 0]
                o_y = obstacles[k, 1]
                if part == 0:
                    h_x, h_y = closest_point(x, y, next_x, next_y, o_x, o_y)
                    keep = body.clearance
                else:
                    h_x, h_y = c_x, c_y
                    keep = body.payload
                d_x = h_x - o_x
                d_y = h_y - o_y
                distance = math.sqrt(d_x * d_x + d_y * d_y)
                room = distance - obstacles[k, 2] - keep
                least = min(least, room)
                if room >= within or found >= len(close):
                    continue
                close[found, 0] = h_x
                close[found, 1] = h_y
                if distance > 1e-9 * body.length:
                    close[found, 2] = d_x / distance
                    close[found, 3] = d_y / distance
                else:
                    close[found, 2] = -side * u_y
                    close[found, 3] = side * u_x
                close[found, 4] = room
                close[found, 5] = i
                found += 1
        x = next_x
        y = next_y
    return found, least
