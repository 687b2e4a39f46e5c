"""The swept guard: no motion is taken that could pass through an obstacle (seed 000).

The joint angles are interpolated, the chain rebuilt at midpoints, and the motion that is possible
between two midpoints is taken off every distance. The test is conservative: it may refuse a move
that an exact one would allow, never the other way round.
"""

from __future__ import annotations

import math

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats, closest_point, segment_distance, wrap
from octo_reach.model.rules import KernelRules
from octo_reach.model.state import Table
from octo_reach.model.steering import GROUP, HALF


@compiled
def sample_count(travel: float, sample_travel: float) -> int:
    """Give how many midpoints keep the motion around each within `sample_travel` (seed 000)."""
    return max(1, math.ceil(travel / sample_travel))


@compiled
def measure_move(count: int, segment_length: float, links: Table) -> None:
    """Work out how far each joint turns and how far each segment may travel, in place (seed 000).

    The base turns the short way round. A segment travels no further than its own turn and those
    before it can carry any of its points: T_i = T_(i-1) + L |turn of its heading|.

    Args:
        count: number of segments, N.
        segment_length: length of a segment, in the scene's unit.
        links: joint angles now and as proposed, shape (N + 1,) of `LINK` or longer; the columns
            `turn` and `travel` are filled in.
    """
    turned = 0.0
    travel = 0.0
    for i in range(count):
        link = links[i]
        turn = link["proposed"] - link["angle"]
        if i == 0:
            turn = wrap(turn)
        turned += turn
        travel += segment_length * abs(turned)
        link["turn"] = turn
        link["travel"] = travel


@compiled
def arm_move_is_safe(
    count: int,
    segment_length: float,
    links: Table,
    obstacles: Floats,
    rules: KernelRules,
    pairs: Table,
) -> bool:
    """Tell whether an arm may take the pose proposed for it (seed 000, movement check).

    With d the distance of an obstacle from a segment at a midpoint, d0 the same at the old pose, R
    the obstacle's radius and P the motion possible around the midpoint, every pair must hold
    d - P >= min(R + clearance, d0) - tolerance at every midpoint.

    Most of these are settled without being worked out. A segment moves no faster than its bound T
    over the whole motion, so a pair with room g to spare at one midpoint of S needs no look at the
    next g S / T of them. That room is first taken for a whole group of segments, from the circle
    that holds the group; only where the circle has none, segment by segment. It is looked for in
    the old pose before any chain is rebuilt, which leaves few moves to be followed at all. The
    verdict is the same as with every pair at every midpoint.

    Args:
        count: number of segments, N.
        segment_length: length of a segment, in the scene's unit.
        links: the move as `measure_move` left it, shape (N + 1,) of `LINK` or longer; the columns
            of samples are filled in.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        rules: constants of the scene.
        pairs: scratch, shape (G * K,) of `PAIR` or longer, for G groups of segments.

    Returns:
        True where the whole motion keeps its distance.
    """
    travel = links[count - 1]["travel"]
    if not math.isfinite(travel):
        return False
    samples = sample_count(travel, rules.sample_travel)
    found = 0
    sample = samples
    for first in range(0, count, GROUP):
        travel = links[min(first + GROUP, count) - 1]["travel"]
        middle = links[min(first + HALF, count)]
        for k in range(len(obstacles)):
            reach = HALF * segment_length + obstacles[k, 2] + rules.arm_clearance
            d_x = obstacles[k, 0] - middle["x"]
            d_y = obstacles[k, 1] - middle["y"]
            squared = d_x * d_x + d_y * d_y
            if squared >= (reach + travel) * (reach + travel):
                continue
            due = samples_before_danger(
                first,
                min(first + GROUP, count),
                obstacles[k, 0],
                obstacles[k, 1],
                obstacles[k, 2] + rules.arm_clearance,
                samples,
                segment_length,
                links,
            )
            if due < samples:
                pairs[found]["first"] = first
                pairs[found]["obstacle"] = k
                pairs[found]["due"] = due
                found += 1
                sample = min(sample, due)
    while sample < samples:
        last = 0
        for place in range(found):
            if pairs[place]["due"] == sample:
                last = max(last, pairs[place]["first"] + GROUP)
        place_between((sample + 0.5) / samples, min(last, count), segment_length, links)
        following = samples
        for place in range(found):
            pair = pairs[place]
            if pair["due"] == sample:
                k = pair["obstacle"]
                first = pair["first"]
                room = room_of_group(
                    first,
                    min(first + GROUP, count),
                    obstacles[k, 0],
                    obstacles[k, 1],
                    obstacles[k, 2] + rules.arm_clearance,
                    samples,
                    segment_length,
                    links,
                    rules,
                )
                if room < 0:
                    return False
                pair["due"] = sample + 1 + room
            following = min(following, pair["due"])
        sample = following
    return True


@compiled
def samples_to_skip(room: float, travel: float, samples: int) -> int:
    """Give how many midpoints a pair may pass before its room to spare could be used up."""
    if room <= 0.0:
        return 0
    if room >= travel:
        return samples
    return int(room * samples / travel)


@compiled
def samples_before_danger(
    first: int,
    last: int,
    c_x: float,
    c_y: float,
    clear: float,
    samples: int,
    segment_length: float,
    links: Table,
) -> int:
    """Give how many midpoints a group of segments is sure to be clear for, by its old pose.

    A segment with room g has used up no more than (s + 1) T / S of it at midpoint s, the motion
    possible around that one included, so the first g S / T are clear.

    Args:
        first: first segment of the group, from 0.
        last: the segment after its last.
        c_x: x of the obstacle's centre.
        c_y: y of the obstacle's centre.
        clear: distance from the centre that a clear arm keeps.
        samples: midpoints of the whole motion.
        segment_length: length of a segment, in the scene's unit.
        links: joints before the move, and travels.

    Returns:
        The number of midpoints; 0 where any segment is too near already.
    """
    fewest = samples
    for i in range(first, last):
        link = links[i]
        following = links[i + 1]
        d_x = c_x - link["x"]
        d_y = c_y - link["y"]
        # No point of the segment is nearer to the centre than its start is, less its length.
        reach = segment_length + clear + link["travel"]
        if d_x * d_x + d_y * d_y >= reach * reach:
            continue
        room = segment_distance(link["x"], link["y"], following["x"], following["y"], c_x, c_y)
        fewest = min(fewest, samples_to_skip(room - clear, link["travel"], samples))
    return fewest


@compiled
def place_between(share: float, count: int, segment_length: float, links: Table) -> None:
    """Rebuild the first `count` segments a `share` of the way through a move, in place."""
    x = links[0]["x"]
    y = links[0]["y"]
    links[0]["sample_x"] = x
    links[0]["sample_y"] = y
    heading = 0.0
    for i in range(count):
        heading += links[i]["angle"] + share * links[i]["turn"]
        x += segment_length * math.cos(heading)
        y += segment_length * math.sin(heading)
        links[i + 1]["sample_x"] = x
        links[i + 1]["sample_y"] = y


@compiled
def room_of_group(
    first: int,
    last: int,
    c_x: float,
    c_y: float,
    clear: float,
    samples: int,
    segment_length: float,
    links: Table,
    rules: KernelRules,
) -> int:
    """Give how many more midpoints a group of segments is sure to keep its distance for.

    Args:
        first: first segment of the group, from 0.
        last: the segment after its last.
        c_x: x of the obstacle's centre.
        c_y: y of the obstacle's centre.
        clear: distance from the centre that a clear arm keeps.
        samples: midpoints of the whole motion.
        segment_length: length of a segment, in the scene's unit.
        links: joints before the move and at the midpoint, and travels.
        rules: constants of the scene.

    Returns:
        The number of midpoints, or -1 where the distance is not kept at this one.
    """
    middle = links[min(first + HALF, last)]
    d_x = c_x - middle["sample_x"]
    d_y = c_y - middle["sample_y"]
    travel = links[last - 1]["travel"]
    room = math.sqrt(d_x * d_x + d_y * d_y) - HALF * segment_length - clear
    room -= travel / (2.0 * samples)
    if room > 0.0:
        return samples_to_skip(room, travel, samples)
    fewest = samples
    for i in range(first, last):
        link = links[i]
        following = links[i + 1]
        between = link["travel"] / (2.0 * samples)
        distance = segment_distance(
            link["sample_x"],
            link["sample_y"],
            following["sample_x"],
            following["sample_y"],
            c_x,
            c_y,
        )
        limit = clear - rules.geometry_tolerance
        if not distance - between >= limit:
            before = segment_distance(
                link["x"], link["y"], following["x"], following["y"], c_x, c_y
            )
            limit = min(clear, before) - rules.geometry_tolerance
            if not distance - between >= limit:
                return -1
        # A hundredth of the tolerance is kept back, far more than rounding can take.
        room = distance - between - limit - 0.01 * rules.geometry_tolerance
        fewest = min(fewest, samples_to_skip(room, link["travel"], samples))
    return fewest


@compiled
def retreat_is_safe(
    count: int,
    segment_length: float,
    links: Table,
    obstacles: Floats,
    rules: KernelRules,
) -> bool:
    """Tell whether an arm that overlaps an obstacle may take a pose that draws it out.

    `arm_move_is_safe` takes the motion possible between two midpoints off a distance that may not
    shrink; from within an overlap nothing passes but what does not move the overlapping segments.
    Here a pair that fails so is looked at once more. Seen from the segment, the obstacle's centre
    c moves along a curve q(f), f from 0 to 1, and its distance from the segment is convex in q.
    With g the rate at which that distance grows at f = 0, and Q a bound on |q''|,

        d(f) >= d0 + f g - f^2 Q / 2,

    which is least at one of the ends: the pair keeps its distance all along where
    d0 + g - Q / 2 >= min(R + clearance, d0). For a heading that turns by w, the segment's start p,
    T the way p may go and A the sum of L w^2 over the segments before it,
    Q = w^2 (|c - p| + T) + 2 |w| T + A.

    Args:
        count: number of segments, N.
        segment_length: length of a segment, in the scene's unit.
        links: the move as `measure_move` left it, shape (N + 1,) of `LINK` or longer; the columns
            of samples are filled in.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        rules: constants of the scene.

    Returns:
        True where the whole motion keeps its distance and no overlap gets deeper.
    """
    travel = links[count - 1]["travel"]
    if not math.isfinite(travel):
        return False
    samples = sample_count(travel, rules.sample_travel)
    for sample in range(samples):
        place_between((sample + 0.5) / samples, count, segment_length, links)
        turned = 0.0
        v_x = 0.0
        v_y = 0.0
        before = 0.0
        bending = 0.0
        for i in range(count):
            link = links[i]
            following = links[i + 1]
            turned += link["turn"]
            u_x = (following["x"] - link["x"]) / segment_length
            u_y = (following["y"] - link["y"]) / segment_length
            for k in range(len(obstacles)):
                c_x = obstacles[k, 0]
                c_y = obstacles[k, 1]
                clear = obstacles[k, 2] + rules.arm_clearance
                distance = segment_distance(
                    link["sample_x"],
                    link["sample_y"],
                    following["sample_x"],
                    following["sample_y"],
                    c_x,
                    c_y,
                )
                between = link["travel"] / (2.0 * samples)
                if distance - between >= clear - rules.geometry_tolerance:
                    continue
                h_x, h_y = closest_point(
                    link["x"], link["y"], following["x"], following["y"], c_x, c_y
                )
                old = math.sqrt((c_x - h_x) * (c_x - h_x) + (c_y - h_y) * (c_y - h_y))
                limit = min(clear, old) - rules.geometry_tolerance
                if distance - between >= limit or old <= rules.geometry_tolerance:
                    continue
                away_x = c_x - link["x"]
                away_y = c_y - link["y"]
                gain = -(c_x - h_x) * (v_x - turned * (h_y - link["y"]))
                gain -= (c_y - h_y) * (v_y + turned * (h_x - link["x"]))
                gain /= old
                span = math.sqrt(away_x * away_x + away_y * away_y) + before
                bound = turned * turned * span + 2.0 * abs(turned) * before + bending
                if old + gain - 0.5 * bound >= limit + 0.5 * rules.geometry_tolerance:
                    continue
                # The base stays where it is: what lies behind it comes no nearer.
                behind = i == 0 and abs(turned) < 0.5 * math.pi
                behind = behind and away_x * u_x + away_y * u_y <= 0.0
                if behind:
                    cosine = math.cos(turned)
                    sine = math.sin(turned)
                    n_x = cosine * u_x - sine * u_y
                    n_y = sine * u_x + cosine * u_y
                    behind = away_x * n_x + away_y * n_y <= 0.0
                if not behind:
                    return False
            before = link["travel"]
            bending += segment_length * turned * turned
            v_x -= segment_length * turned * u_y
            v_y += segment_length * turned * u_x
    return True


@compiled
def payload_move_is_safe(
    segment_length: float,
    links: Table,
    holding_segment: int,
    along: float,
    across: float,
    payload_radius: float,
    obstacles: Floats,
    rules: KernelRules,
) -> bool:
    """Tell whether a held object may ride along into the proposed pose (seed 000, payload).

    The same rule as for the arm, for the object's circle: d is the distance of the two centres, the
    distance to keep is the sum of the two radii (no arm clearance), and the travel is that of the
    holding segment's end plus the offset's own rotation.

    Args:
        segment_length: length of a segment, in the scene's unit.
        links: the move as `measure_move` left it, shape (N + 1,) of `LINK` or longer.
        holding_segment: the segment that holds, from 1.
        along: the object's place along that segment, from its end.
        across: the object's place across that segment.
        payload_radius: radius of the object, in the scene's unit.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        rules: constants of the scene.

    Returns:
        True where the whole motion keeps its distance.
    """
    turned = 0.0
    for i in range(holding_segment):
        turned += links[i]["turn"]
    travel = links[holding_segment - 1]["travel"]
    travel += math.sqrt(along * along + across * across) * abs(turned)
    samples = sample_count(travel, rules.sample_travel)
    between = travel / (2.0 * samples)
    old_x, old_y = payload_centre(0.0, holding_segment, segment_length, links, along, across)
    for sample in range(samples):
        share = (sample + 0.5) / samples
        new_x, new_y = payload_centre(share, holding_segment, segment_length, links, along, across)
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
def payload_retreat_is_safe(
    segment_length: float,
    links: Table,
    holding_segment: int,
    along: float,
    across: float,
    payload_radius: float,
    obstacles: Floats,
    rules: KernelRules,
) -> bool:
    """Tell whether a held object that overlaps an obstacle may ride along out of it.

    As `retreat_is_safe`, for a circle: with c its centre, g the rate at which its distance grows
    and Q = sum of L w^2 over the segments that carry it + |o| w^2 of the holding one >= |c''|.
    Arguments and result are those of `payload_move_is_safe`.
    """
    turned = 0.0
    bending = 0.0
    v_x = 0.0
    v_y = 0.0
    for i in range(holding_segment):
        turned += links[i]["turn"]
        bending += segment_length * turned * turned
        v_x -= turned * (links[i + 1]["y"] - links[i]["y"])
        v_y += turned * (links[i + 1]["x"] - links[i]["x"])
    offset = math.sqrt(along * along + across * across)
    bending += offset * turned * turned
    travel = links[holding_segment - 1]["travel"] + offset * abs(turned)
    samples = sample_count(travel, rules.sample_travel)
    between = travel / (2.0 * samples)
    old_x, old_y = payload_centre(0.0, holding_segment, segment_length, links, along, across)
    v_x -= turned * (old_y - links[holding_segment]["y"])
    v_y += turned * (old_x - links[holding_segment]["x"])
    for k in range(len(obstacles)):
        clear = payload_radius + obstacles[k, 2]
        d_x = old_x - obstacles[k, 0]
        d_y = old_y - obstacles[k, 1]
        before = math.sqrt(d_x * d_x + d_y * d_y)
        if before <= rules.geometry_tolerance:
            continue
        gain = (d_x * v_x + d_y * v_y) / before
        limit = min(clear, before) - 0.5 * rules.geometry_tolerance
        if before + gain - 0.5 * bending >= limit:
            continue
        for sample in range(samples):
            share = (sample + 0.5) / samples
            x, y = payload_centre(share, holding_segment, segment_length, links, along, across)
            d_x = obstacles[k, 0] - x
            d_y = obstacles[k, 1] - y
            distance = math.sqrt(d_x * d_x + d_y * d_y)
            if not distance - between >= min(clear, before) - rules.geometry_tolerance:
                return False
    return True


@compiled
def payload_centre(
    share: float,
    holding_segment: int,
    segment_length: float,
    links: Table,
    along: float,
    across: float,
) -> tuple[float, float]:
    """Give the centre of a held object, (x, y), a `share` of the way between two poses."""
    x = links[0]["x"]
    y = links[0]["y"]
    heading = 0.0
    for i in range(holding_segment):
        heading += links[i]["angle"] + share * links[i]["turn"]
        x += segment_length * math.cos(heading)
        y += segment_length * math.sin(heading)
    return held_centre(x, y, heading, along, across)


@compiled
def held_centre(
    end_x: float, end_y: float, heading: float, along: float, across: float
) -> tuple[float, float]:
    """Give the centre, (x, y), of an object held at an offset from a segment's end (seed 000).

    c = p + R(heading) o: the grip is a rigid latch in the frame of the segment.
    """
    cosine = math.cos(heading)
    sine = math.sin(heading)
    return (
        end_x + cosine * along - sine * across,
        end_y + sine * along + cosine * across,
    )
