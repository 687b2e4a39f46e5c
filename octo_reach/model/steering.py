"""Steering a segment around the nearest obstacle: a local redirection, not a search (seed 000).

Segments are looked at in groups of neighbours, so that most obstacles are found too far away once
for a whole group. This changes no result: what is left out could not have been the answer.
"""

from __future__ import annotations

import math

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats, segment_distance
from octo_reach.model.rules import KernelRules

GROUP = 4
"""Neighbouring segments that share one list of nearby obstacles."""
HALF = GROUP // 2
"""No point of a group is further than so many segment lengths from the joint in its middle."""

SLACK = 1.000001
"""Factor that keeps rounding from ever turning a shortcut into a verdict."""


@compiled
def list_nearby(
    centre_x: float,
    centre_y: float,
    spread: float,
    segment_length: float,
    obstacles: Floats,
    rules: KernelRules,
    nearby: Floats,
) -> int:
    """List the obstacles that could matter to the steering of a group of segments.

    Args:
        centre_x: x of a point around which the group's attachments lie.
        centre_y: y of that point.
        spread: how far from it they lie at most, in the scene's unit.
        segment_length: length of a segment, in the scene's unit.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        rules: constants of the scene.
        nearby: filled with what `steer` takes of those in question, shape (K, 4) or longer.

    Returns:
        How many there are.
    """
    sight = rules.lookahead_segments * segment_length
    margin = rules.arm_clearance + rules.steering_margin
    count = 0
    for k in range(len(obstacles)):
        d_x = obstacles[k, 0] - centre_x
        d_y = obstacles[k, 1] - centre_y
        influence = obstacles[k, 2] + margin
        horizon = (spread + sight + influence) * SLACK
        if d_x * d_x + d_y * d_y <= horizon * horizon:
            nearby[count, 0] = obstacles[k, 0]
            nearby[count, 1] = obstacles[k, 1]
            nearby[count, 2] = influence
            # No point of a look is nearer to the centre than its start is, less its length.
            horizon = (sight + influence) * SLACK
            nearby[count, 3] = horizon * horizon
            count += 1
    return count


@compiled
def steer(
    start_x: float,
    start_y: float,
    goal_x: float,
    goal_y: float,
    segment_length: float,
    nearby: Floats,
    count: int,
    rules: KernelRules,
) -> tuple[float, float, bool]:
    """Redirect a segment's local goal around the nearest obstacle in its way (seed 000).

    The segment looks along the straight line to its goal, a few segment lengths at most. Of the
    obstacles whose early-warning circle that line enters, the one whose centre is nearest to the
    start counts; the new goal lies on a circle around it, a fixed step further round, always the
    same way, so that tiny differences never switch sides.

    Args:
        start_x: x of the segment's attachment.
        start_y: y of the segment's attachment.
        goal_x: x of the local goal.
        goal_y: y of the local goal.
        segment_length: length of a segment, in the scene's unit.
        nearby: what `list_nearby` has listed, shape (K, 4) or longer: of each obstacle its centre,
            the radius of its early-warning circle, and the square of the distance beyond which no
            look reaches that.
        count: how many of them there are.
        rules: constants of the scene.

    Returns:
        The goal to use, x and y, and whether it was changed.
    """
    farthest_look = rules.lookahead_segments * segment_length
    look = -1.0
    u_x = 0.0
    u_y = 0.0
    end_x = start_x
    end_y = start_y
    nearest = -1
    nearest_squared = math.inf
    for k in range(count):
        c_x = nearby[k, 0] - start_x
        c_y = nearby[k, 1] - start_y
        centre_squared = c_x * c_x + c_y * c_y
        if centre_squared >= nearest_squared or centre_squared > nearby[k, 3]:
            continue
        influence = nearby[k, 2]
        if look < 0.0:
            # The line itself is worked out for the first obstacle that could lie in its way.
            d_x = goal_x - start_x
            d_y = goal_y - start_y
            distance = math.sqrt(d_x * d_x + d_y * d_y)
            if distance <= rules.geometry_tolerance:
                return goal_x, goal_y, False
            look = min(distance, farthest_look)
            u_x = d_x / distance
            u_y = d_y / distance
            end_x = start_x + u_x * look
            end_y = start_y + u_y * look
        # No point of it is nearer than its straight line, nor from behind than its start.
        wide = influence * SLACK
        if abs(u_x * c_y - u_y * c_x) > wide or u_x * c_x + u_y * c_y < -wide:
            continue
        if (
            segment_distance(start_x, start_y, end_x, end_y, nearby[k, 0], nearby[k, 1])
            < influence
        ):
            nearest = k
            nearest_squared = centre_squared
    if nearest < 0:
        return goal_x, goal_y, False
    centre_x = nearby[nearest, 0]
    centre_y = nearby[nearest, 1]
    step = rules.turn_sign * rules.boundary_step
    around = math.atan2(start_y - centre_y, start_x - centre_x) + step
    radius = nearby[nearest, 2] + rules.waypoint_margin
    return (
        centre_x + radius * math.cos(around),
        centre_y + radius * math.sin(around),
        True,
    )
