"""The neighbour rules: requests that travel from the tip to the base, and the turns they ask for.

Only the last segment knows the target. Every other one reads what its neighbour towards the tip
asked for in the update before, so a new target is felt one segment further in with every update.
"""

from __future__ import annotations

import math

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Flags, Floats, clip, wrap
from octo_reach.model.rules import KernelRules
from octo_reach.model.steering import steer


@compiled
def exchange_requests(
    target_x: float,
    target_y: float,
    segment_length: float,
    maximum_bend: float,
    joints: Floats,
    headings: Floats,
    obstacles: Floats,
    rules: KernelRules,
    requests: Floats,
    request_headings: Floats,
    goals: Floats,
    steered: Flags,
) -> bool:
    """Pass every segment's request one neighbour on, in place (seed 000, neighbour requests).

    Going from the base outwards overwrites a request only after its one reader has used it, so
    every segment sees the previous update's.

    Args:
        target_x: x of the tip's target.
        target_y: y of the tip's target.
        segment_length: length of a segment, in the scene's unit.
        maximum_bend: largest bend between neighbours, rad.
        joints: joint positions, shape (N + 1, 2).
        headings: headings, shape (N,), rad.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        rules: constants of the scene.
        requests: attachment each segment asks for, shape (N, 2), changed.
        request_headings: heading each segment proposes with it, shape (N,), rad, changed.
        goals: local goal of each segment after steering, shape (N, 2), filled.
        steered: whether steering changed that goal, shape (N,), filled.

    Returns:
        Whether any goal was steered.
    """
    count = len(headings)
    any_steered = False
    for i in range(count):
        if i < count - 1:
            end_x = requests[i + 1, 0]
            end_y = requests[i + 1, 1]
        else:
            end_x = target_x
            end_y = target_y
        start_x = joints[i, 0]
        start_y = joints[i, 1]
        goal_x, goal_y, changed = steer(
            start_x, start_y, end_x, end_y, segment_length, obstacles, rules
        )
        goals[i, 0] = goal_x
        goals[i, 1] = goal_y
        steered[i] = changed
        any_steered = any_steered or changed
        d_x = goal_x - start_x
        d_y = goal_y - start_y
        if math.sqrt(d_x * d_x + d_y * d_y) > rules.direction_tolerance:
            heading = math.atan2(d_y, d_x)
        else:
            heading = headings[i]
        if i < count - 1:
            neighbour = request_headings[i + 1]
            heading = neighbour + clip(wrap(heading - neighbour), -maximum_bend, maximum_bend)
        requests[i, 0] = goal_x - segment_length * math.cos(heading)
        requests[i, 1] = goal_y - segment_length * math.sin(heading)
        request_headings[i] = wrap(heading)
    return any_steered


@compiled
def turn_towards_goals(
    dt: float,
    base_x: float,
    base_y: float,
    segment_length: float,
    maximum_bend: float,
    turning_speed: float,
    angles: Floats,
    obstacles: Floats,
    rules: KernelRules,
    goals: Floats,
    steered: Flags,
    proposed: Floats,
) -> bool:
    """Turn every joint towards its segment's goal, from the base to the tip (seed 000, turning).

    Each segment starts where its parent's new pose leaves it, and steers once more from there.
    Errors are eased exponentially and limited by the turning speed; bends stay within their limit
    and the base turns freely.

    Args:
        dt: duration of the update, s.
        base_x: x of the base.
        base_y: y of the base.
        segment_length: length of a segment, in the scene's unit.
        maximum_bend: largest bend, rad.
        turning_speed: fastest change of a joint angle, rad/s.
        angles: joint angles now, shape (N,), rad.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        rules: constants of the scene.
        goals: local goals, shape (N, 2); replaced by the goals steered a second time.
        steered: whether steering changed a goal, shape (N,), added to.
        proposed: new joint angles, shape (N,), rad, filled.

    Returns:
        Whether this second look steered any goal.
    """
    any_steered = False
    start_x = base_x
    start_y = base_y
    parent = 0.0
    easing = 1.0 - math.exp(-rules.steering_response * dt)
    largest_turn = turning_speed * dt
    for i in range(len(angles)):
        goal_x, goal_y, changed = steer(
            start_x, start_y, goals[i, 0], goals[i, 1], segment_length, obstacles, rules
        )
        goals[i, 0] = goal_x
        goals[i, 1] = goal_y
        steered[i] = steered[i] or changed
        any_steered = any_steered or changed
        angle = angles[i]
        d_x = goal_x - start_x
        d_y = goal_y - start_y
        if math.sqrt(d_x * d_x + d_y * d_y) > rules.direction_tolerance:
            error = wrap(math.atan2(d_y, d_x) - parent - angle)
            angle += clip(error * easing, -largest_turn, largest_turn)
            angle = wrap(angle) if i == 0 else clip(angle, -maximum_bend, maximum_bend)
        proposed[i] = angle
        parent += angle
        start_x += segment_length * math.cos(parent)
        start_y += segment_length * math.sin(parent)
    return any_steered
