"""The swept guard: no motion is taken that could pass through an obstacle (seed 000).

The joint angles are interpolated, the chain rebuilt at midpoints, and the motion that is possible
between two midpoints is taken off every distance. The test is conservative: it may refuse a move
that an exact one would allow, never the other way round.
"""

from __future__ import annotations

import math

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats, Integers, segment_distance, wrap
from octo_reach.model.rules import KernelRules


@compiled
def sample_count(travel: float, sample_travel: float) -> int:
    """Give how many midpoints keep the motion around each within `sample_travel` (seed 000)."""
    return max(1, math.ceil(travel / sample_travel))


@compiled
def arm_move_is_safe(
    base_x: float,
    base_y: float,
    segment_length: float,
    angles: Floats,
    joints: Floats,
    proposed: Floats,
    obstacles: Floats,
    rules: KernelRules,
    turns: Floats,
    travels: Floats,
    pair_segments: Integers,
    pair_obstacles: Integers,
    pair_limits: Floats,
) -> bool:
    """Tell whether an arm may move from `angles` to `proposed` (seed 000, movement check).

    With d the distance of an obstacle from a segment at a midpoint, d0 the same at the old pose, R
    the obstacle's radius and P the motion possible around the midpoint, every pair must hold
    d - P >= min(R + clearance, d0) - tolerance. Pairs that no motion of this size can bring
    together (d0 less the segment's whole travel is still clear) are left out beforehand.

    Args:
        base_x: x of the base.
        base_y: y of the base.
        segment_length: length of a segment, in the scene's unit.
        angles: joint angles now, shape (N,), rad.
        joints: joint positions now, shape (N + 1, 2).
        proposed: joint angles after the move, shape (N,), rad.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        rules: constants of the scene.
        turns: scratch, shape (N,).
        travels: scratch, shape (N,).
        pair_segments: scratch, shape (N * K,) or longer.
        pair_obstacles: scratch, shape (N * K,) or longer.
        pair_limits: scratch, shape (N * K,) or longer.

    Returns:
        True where the whole motion keeps its distance.
    """
    count = len(angles)
    turned = 0.0
    travel = 0.0
    for i in range(count):
        turns[i] = wrap(proposed[0] - angles[0]) if i == 0 else proposed[i] - angles[i]
        turned += turns[i]
        travel += segment_length * abs(turned)
        travels[i] = travel
    samples = sample_count(travel, rules.sample_travel)

    pairs = 0
    last_segment = -1
    for i in range(count):
        a_x = joints[i, 0]
        a_y = joints[i, 1]
        for k in range(len(obstacles)):
            clear = obstacles[k, 2] + rules.arm_clearance
            c_x = obstacles[k, 0] - a_x
            c_y = obstacles[k, 1] - a_y
            # The centre is nearer to no point of the segment than to its start, less its length.
            horizon = (clear + travels[i] + segment_length) * 1.000001
            if c_x * c_x + c_y * c_y > horizon * horizon:
                continue
            before = segment_distance(
                a_x, a_y, joints[i + 1, 0], joints[i + 1, 1], obstacles[k, 0], obstacles[k, 1]
            )
            if before - travels[i] >= clear:
                continue
            pair_segments[pairs] = i
            pair_obstacles[pairs] = k
            pair_limits[pairs] = min(clear, before) - rules.geometry_tolerance
            pairs += 1
            last_segment = i

    if pairs == 0:
        return True
    for sample in range(samples):
        share = (sample + 0.5) / samples
        x = base_x
        y = base_y
        heading = 0.0
        pair = 0
        for i in range(last_segment + 1):
            heading += angles[i] + share * turns[i]
            next_x = x + segment_length * math.cos(heading)
            next_y = y + segment_length * math.sin(heading)
            between = travels[i] / (2.0 * samples)
            while pair < pairs and pair_segments[pair] == i:
                k = pair_obstacles[pair]
                distance = segment_distance(x, y, next_x, next_y, obstacles[k, 0], obstacles[k, 1])
                if not distance - between >= pair_limits[pair]:
                    return False
                pair += 1
            x = next_x
            y = next_y
    return True


@compiled
def payload_move_is_safe(
    base_x: float,
    base_y: float,
    segment_length: float,
    angles: Floats,
    proposed: Floats,
    holding_segment: int,
    offset_x: float,
    offset_y: float,
    payload_radius: float,
    obstacles: Floats,
    rules: KernelRules,
) -> bool:
    """Tell whether a held object may ride along from `angles` to `proposed` (seed 000, payload).

    The same rule as for the arm, for the object's circle: d is the distance of the two centres, the
    distance to keep is the sum of the two radii (no arm clearance), and the travel is that of the
    holding segment's end plus the offset's own rotation.

    Args:
        base_x: x of the base.
        base_y: y of the base.
        segment_length: length of a segment, in the scene's unit.
        angles: joint angles now, shape (N,), rad.
        proposed: joint angles after the move, shape (N,), rad.
        holding_segment: the segment that holds, from 1.
        offset_x: the object's place along that segment, from its end.
        offset_y: the object's place across that segment.
        payload_radius: radius of the object, in the scene's unit.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        rules: constants of the scene.

    Returns:
        True where the whole motion keeps its distance.
    """
    turned = 0.0
    travel = 0.0
    for i in range(holding_segment):
        turned += wrap(proposed[0] - angles[0]) if i == 0 else proposed[i] - angles[i]
        travel += segment_length * abs(turned)
    travel += math.sqrt(offset_x * offset_x + offset_y * offset_y) * abs(turned)
    samples = sample_count(travel, rules.sample_travel)
    between = travel / (2.0 * samples)
    old_x, old_y = payload_centre(
        base_x, base_y, segment_length, angles, proposed, 0.0, holding_segment, offset_x, offset_y
    )
    for sample in range(samples):
        new_x, new_y = payload_centre(
            base_x,
            base_y,
            segment_length,
            angles,
            proposed,
            (sample + 0.5) / samples,
            holding_segment,
            offset_x,
            offset_y,
        )
        for k in range(len(obstacles)):
            clear = payload_radius + obstacles[k, 2]
            d_x = obstacles[k, 0] - old_x
            d_y = obstacles[k, 1] - old_y
            before = math.sqrt(d_x * d_x + d_y * d_y)
            d_x = obstacles[k, 0] - new_x
            d_y = obstacles[k, 1] - new_y
            distance = math.sqrt(d_x * d_x + d_y * d_y)
            if not distance - between >= min(clear, before) - rules.geometry_tolerance:
                return False
    return True


@compiled
def payload_centre(
    base_x: float,
    base_y: float,
    segment_length: float,
    angles: Floats,
    proposed: Floats,
    share: float,
    holding_segment: int,
    offset_x: float,
    offset_y: float,
) -> tuple[float, float]:
    """Give the centre of a held object, (x, y), a `share` of the way between two poses."""
    x = base_x
    y = base_y
    heading = 0.0
    for i in range(holding_segment):
        turn = wrap(proposed[0] - angles[0]) if i == 0 else proposed[i] - angles[i]
        heading += angles[i] + share * turn
        x += segment_length * math.cos(heading)
        y += segment_length * math.sin(heading)
    return held_centre(x, y, heading, offset_x, offset_y)


@compiled
def held_centre(
    end_x: float, end_y: float, heading: float, offset_x: float, offset_y: float
) -> tuple[float, float]:
    """Give the centre, (x, y), of an object held at an offset from a segment's end (seed 000).

    c = p + R(heading) o: the grip is a rigid latch in the frame of the segment.
    """
    cosine = math.cos(heading)
    sine = math.sin(heading)
    return (
        end_x + cosine * offset_x - sine * offset_y,
        end_y + sine * offset_x + cosine * offset_y,
    )
