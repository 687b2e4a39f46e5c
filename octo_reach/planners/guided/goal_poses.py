"""Poses that put the tip, or what is held, where it should go, and that are clear.

Damped least squares on the joint angles, with room between arm and obstacles as motion in the null
space (Wampler 1986; Nakamura and Hanafusa 1986; Liegeois 1977), joints at their limit left out.
"""

from __future__ import annotations

import math

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats, clip
from octo_reach.model.guard import held_centre
from octo_reach.planners.guided.body import Body
from octo_reach.planners.guided.clearance import find_close

COMFORT = 6.0
"""Room that a goal pose is moved to have where it can, in pixels."""
DAMPING = 0.03
"""Damping of the least squares, in lengths of the arm."""
LARGEST_STEP = 0.3
"""Most that a joint turns in one iteration, rad."""


@compiled
def solve_pose(
    angles: Floats,
    target_x: float,
    target_y: float,
    tolerance: float,
    body: Body,
    obstacles: Floats,
    margin: float,
    iterations: int,
    joints: Floats,
    close: Floats,
    rows: Floats,
) -> tuple[bool, int]:
    """Move a pose until it is at the target and clear, in place.

    Args:
        angles: joint angles to begin with and to end with, shape (N,), rad.
        target_x: x of the target.
        target_y: y of the target.
        tolerance: how near is near enough, in the scene's unit.
        body: the arm.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        margin: room the pose must leave, in the scene's unit.
        iterations: most iterations.
        joints: scratch, shape (N + 1, 2).
        close: scratch, shape (P, 6).
        rows: scratch, shape (4, N).

    Returns:
        Whether the pose is found, and how many iterations it took.
    """
    count = body.segments
    last = count if body.holder == 0 else body.holder
    reach = count * body.length
    comfort = max(COMFORT * body.unit, 2.0 * margin)
    damping = DAMPING * reach
    for iteration in range(iterations):
        found, room = find_close(angles, body, obstacles, comfort, 1.0, joints, close)
        e_x = joints[last, 0]
        e_y = joints[last, 1]
        if body.holder > 0:
            heading = 0.0
            for i in range(last):
                heading += angles[i]
            e_x, e_y = held_centre(e_x, e_y, heading, body.along, body.across)
        d_x = target_x - e_x
        d_y = target_y - e_y
        error = math.sqrt(d_x * d_x + d_y * d_y)
        if error <= tolerance and room >= margin:
            return True, iteration + 1
        wish_towards_room(found, comfort, count, joints, close, rows)
        far = min(1.0, 0.25 * reach / max(error, 1e-9 * reach))
        d_x *= far
        d_y *= far
        for i in range(count):
            rows[3, i] = 1.0
        # A joint at its limit that would be turned beyond it is left out, and the rest does more.
        for _ in range(3):
            if not turn_towards(d_x, d_y, e_x, e_y, last, damping, angles, body, joints, rows):
                break
        largest = 0.0
        for i in range(count):
            largest = max(largest, abs(rows[2, i]))
        scale = 1.0 if largest <= LARGEST_STEP else LARGEST_STEP / largest
        for i in range(count):
            angle = angles[i] + scale * rows[2, i]
            angles[i] = angle if i == 0 else clip(angle, -body.bend, body.bend)
    return False, iterations


@compiled
def wish_towards_room(
    found: int, comfort: float, count: int, joints: Floats, close: Floats, rows: Floats
) -> None:
    """Work out how every joint would turn to make room, in place, into the second of `rows`."""
    push_x = 0.0
    push_y = 0.0
    moment = 0.0
    place = found - 1
    largest = 0.0
    strongest = 0.0
    for i in range(count - 1, -1, -1):
        while place >= 0 and close[place, 5] >= i:
            weight = min(2.0, (comfort - close[place, 4]) / comfort)
            strongest = max(strongest, weight)
            f_x = weight * close[place, 2]
            f_y = weight * close[place, 3]
            push_x += f_x
            push_y += f_y
            moment += close[place, 0] * f_y - close[place, 1] * f_x
            place -= 1
        rows[1, i] = moment - joints[i, 0] * push_y + joints[i, 1] * push_x
        largest = max(largest, abs(rows[1, i]))
    scale = 0.0 if largest == 0.0 else 0.08 * strongest / largest
    for i in range(count):
        rows[1, i] *= scale


@compiled
def turn_towards(
    d_x: float,
    d_y: float,
    e_x: float,
    e_y: float,
    last: int,
    damping: float,
    angles: Floats,
    body: Body,
    joints: Floats,
    rows: Floats,
) -> bool:
    """Work out one step of every joint, in place: towards the target, and for room besides.

    Args:
        d_x: x of the way that is left to the target.
        d_y: y of it.
        e_x: x of what is to arrive.
        e_y: y of it.
        last: number of joints that move it.
        damping: in the scene's unit.
        angles: joint angles, shape (N,), rad.
        body: the arm.
        joints: joint positions, shape (N + 1, 2).
        rows: shape (4, N): scratch, the wish for room, the step to fill, and 1 for each joint that
            takes part; joints that may not turn the way they would are taken out.

    Returns:
        Whether a joint was taken out, so that it has to be done again.
    """
    xx = damping * damping
    xy = 0.0
    yy = damping * damping
    v_x = 0.0
    v_y = 0.0
    for i in range(last):
        j_x = -(e_y - joints[i, 1]) * rows[3, i]
        j_y = (e_x - joints[i, 0]) * rows[3, i]
        xx += j_x * j_x
        xy += j_x * j_y
        yy += j_y * j_y
        v_x += j_x * rows[1, i]
        v_y += j_y * rows[1, i]
    d_x -= v_x
    d_y -= v_y
    determinant = xx * yy - xy * xy
    z_x = (yy * d_x - xy * d_y) / determinant
    z_y = (xx * d_y - xy * d_x) / determinant
    again = False
    for i in range(body.segments):
        step = rows[1, i]
        if i < last:
            step += (e_x - joints[i, 0]) * z_y - (e_y - joints[i, 1]) * z_x
        step *= rows[3, i]
        if i > 0 and abs(angles[i]) >= body.bend and step * angles[i] > 0.0:
            rows[3, i] = 0.0
            again = True
        rows[2, i] = step
    return again
