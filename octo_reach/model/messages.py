"""The neighbour rules: requests that travel from the tip to the base, and the turns they ask for.

Only the last segment knows the target. Every other one reads what its neighbour towards the tip
asked for in the update before, so a new target is felt one segment further in with every update.
"""

from __future__ import annotations

import math

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats, clip, wrap
from octo_reach.model.rules import KernelRules
from octo_reach.model.state import Table
from octo_reach.model.steering import GROUP, HALF, list_nearby, steer


@compiled
def exchange_requests(
    target_x: float,
    target_y: float,
    count: int,
    segment_length: float,
    maximum_bend: float,
    links: Table,
    obstacles: Floats,
    rules: KernelRules,
    nearby: Floats,
) -> bool:
    """Pass every segment's request one neighbour on, in place (seed 000, neighbour requests).

    Going from the base outwards overwrites a request only after its one reader has used it, so
    every segment sees the previous update's.

    Args:
        target_x: x of the tip's target.
        target_y: y of the tip's target.
        count: number of segments, N.
        segment_length: length of a segment, in the scene's unit.
        maximum_bend: largest bend between neighbours, rad.
        links: joints, headings and requests of the arm, shape (N + 1,) of `LINK` or longer; the
            requests are replaced, and goals after steering filled in.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        rules: constants of the scene.
        nearby: scratch, shape (K, 4) or longer.

    Returns:
        Whether any goal was steered.
    """
    any_steered = False
    near = 0
    for i in range(count):
        link = links[i]
        start_x = link["x"]
        start_y = link["y"]
        if i % GROUP == 0:
            middle = links[min(i + HALF, count)]
            spread = HALF * segment_length
            near = list_nearby(
                middle["x"], middle["y"], spread, segment_length, obstacles, rules, nearby
            )
        if i < count - 1:
            end_x = links[i + 1]["request_x"]
            end_y = links[i + 1]["request_y"]
        else:
            end_x = target_x
            end_y = target_y
        goal_x, goal_y, changed = end_x, end_y, False
        if near > 0:
            goal_x, goal_y, changed = steer(
                start_x, start_y, end_x, end_y, segment_length, nearby, near, rules
            )
        link["goal_x"] = goal_x
        link["goal_y"] = goal_y
        link["steered"] = changed
        any_steered = any_steered or changed
        d_x = goal_x - start_x
        d_y = goal_y - start_y
        if math.sqrt(d_x * d_x + d_y * d_y) > rules.direction_tolerance:
            heading = math.atan2(d_y, d_x)
        else:
            heading = link["heading"]
        if i < count - 1:
            neighbour = links[i + 1]["request_heading"]
            heading = neighbour + clip(wrap(heading - neighbour), -maximum_bend, maximum_bend)
        link["request_x"] = goal_x - segment_length * math.cos(heading)
        link["request_y"] = goal_y - segment_length * math.sin(heading)
        link["request_heading"] = wrap(heading)
    return any_steered


@compiled
def turn_towards_goals(
    dt: float,
    count: int,
    segment_length: float,
    maximum_bend: float,
    turning_speed: float,
    links: Table,
    obstacles: Floats,
    around: Floats,
    allowance: float,
    rules: KernelRules,
    nearby: Floats,
) -> bool:
    """Turn every joint towards its segment's goal, from the base to the tip (seed 000, turning).

    Each segment starts where its parent's new pose leaves it, and steers once more from there.
    Errors are eased exponentially and limited by the turning speed; bends stay within their limit
    and the base turns freely.

    Args:
        dt: duration of the update, s.
        count: number of segments, N.
        segment_length: length of a segment, in the scene's unit.
        maximum_bend: largest bend, rad.
        turning_speed: fastest change of a joint angle, rad/s.
        links: joint angles and goals of the arm, shape (N + 1,) of `LINK` or longer; the proposed
            pose is filled in, and goals are replaced by the goals steered a second time.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        around: those of them that matter before any joint has gone further than the allowance,
            in the same order, shape (J, 3).
        allowance: how far that is, in the scene's unit; below 0, only `obstacles` count.
        rules: constants of the scene.
        nearby: scratch, shape (K, 4) or longer.

    Returns:
        Whether this second look steered any goal.
    """
    any_steered = False
    near = 0
    start_x = links[0]["x"]
    start_y = links[0]["y"]
    links[0]["proposed_x"] = start_x
    links[0]["proposed_y"] = start_y
    parent = 0.0
    easing = 1.0 - math.exp(-rules.steering_response * dt)
    largest_turn = turning_speed * dt
    for i in range(count):
        link = links[i]
        if i % GROUP == 0:
            # Where the others of the group will start is not known yet, only how far at most from
            # where they start now: moved and turned along with this one, and turned themselves.
            m_x = start_x - link["x"]
            m_y = start_y - link["y"]
            turned = abs(parent - links[i - 1]["heading"]) if i > 0 else 0.0
            moved = math.sqrt(m_x * m_x + m_y * m_y)
            moved += segment_length * GROUP * (turned + 0.5 * (GROUP + 1) * largest_turn)
            middle = links[min(i + HALF, count)]
            spread = HALF * segment_length + moved
            seen = around if moved <= allowance else obstacles
            near = list_nearby(
                middle["x"], middle["y"], spread, segment_length, seen, rules, nearby
            )
        goal_x = link["goal_x"]
        goal_y = link["goal_y"]
        if near > 0:
            goal_x, goal_y, changed = steer(
                start_x, start_y, goal_x, goal_y, segment_length, nearby, near, rules
            )
            link["goal_x"] = goal_x
            link["goal_y"] = goal_y
            if changed:
                link["steered"] = True
                any_steered = True
        angle = link["angle"]
        d_x = goal_x - start_x
        d_y = goal_y - start_y
        if math.sqrt(d_x * d_x + d_y * d_y) > rules.direction_tolerance:
            error = wrap(math.atan2(d_y, d_x) - parent - angle)
            angle += clip(error * easing, -largest_turn, largest_turn)
            angle = wrap(angle) if i == 0 else clip(angle, -maximum_bend, maximum_bend)
        parent += angle
        start_x += segment_length * math.cos(parent)
        start_y += segment_length * math.sin(parent)
        link["proposed"] = angle
        link["proposed_heading"] = parent
        links[i + 1]["proposed_x"] = start_x
        links[i + 1]["proposed_y"] = start_y
    return any_steered
