"""FABRIK: solves a chain by dragging it to and fro by its two ends.

One iteration pulls the tip to the target and lets every segment follow, then pulls the base back
and lets every segment follow again (Aristidou and Lasenby, Graphical Models 73, 2011; seed 001).

solution = solve(positions, lengths, target)
solution.outcome, solution.error, solution.angles
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats, wrap
from octo_reach.planners.inverse_kinematics.chain import (
    TOLERANCE,
    JointLimits,
    Outcome,
    Solution,
    bound_angle,
    checked_effort,
    describe_problem,
    describe_solution,
    keep_limits,
    leave_line,
    place_chain,
    point_chain,
    read_angles,
    tip_distance,
)
from octo_reach.planners.inverse_kinematics.refinement import refine

MAX_ITERATIONS = 2000
PATIENCE = 4
"""Iterations in which the error must have halved, or refinement takes over."""
LONG_PATIENCE = 20
"""Iterations in which anything must have been gained, or a chain that is not refined settles."""
LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Where in their ranges the joints of the inner and of the outer half are put to start afresh."""
FRESH_STARTS = 4
"""How many fresh starts are followed up, the nearest first."""


def solve(
    start: ArrayLike,
    lengths: ArrayLike,
    target: Sequence[float],
    *,
    base: Sequence[float] | None = None,
    limits: JointLimits | None = None,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
    refined: bool = True,
) -> Solution:
    """Bring the tip of a chain to a target, or as near to it as it comes.

    Without limits, the passes alone converge for every target within reach, but slowly for one
    close to full stretch. Within limits they stall short of many targets that can be reached, or
    circle around them. So, unless told otherwise, damped least squares steps take over where the
    passes have become slow, and within limits a chain that is still short of its target starts
    afresh from a number of bent poses and takes the best. A pose counts as better when its tip is
    nearer by more than the tolerance; so solving again from a solution gives that solution.

    Args:
        start: joint positions to start from, shape (N + 1, 2), or joint angles, shape (N,), rad.
            Only the directions of the segments count, not how far the positions lie apart. Give
            the last solution to stay near it.
        lengths: lengths of the segments, shape (N,), each above 0, in any unit.
        target: where the tip should go, (x, y), in the same unit.
        base: where the base stands, (x, y); left out, where `start` has it, or (0, 0).
        limits: how far each joint may turn; left out, all the way round.
        tolerance: a tip this near its target has reached it.
        max_iterations: most iterations altogether, refinements and fresh starts among them.
        refined: whether to refine and to start afresh; False leaves it at the passes alone.

    Raises:
        ValueError: a shape does not fit, or a number is not finite or out of range.
    """
    checked_effort(tolerance, max_iterations)
    problem = describe_problem(start, lengths, target, base, limits)
    angles = problem.angles
    pointed = point_chain(problem, tolerance)
    if pointed is not None:
        return describe_solution(problem, *pointed, tolerance, 0)
    iterations, refinements, settled = _search(
        problem.base[0],
        problem.base[1],
        problem.lengths,
        problem.limits.lowest,
        problem.limits.highest,
        problem.limits.bounded,
        problem.target[0],
        problem.target[1],
        float(tolerance),
        int(max_iterations),
        bool(refined),
        angles,
    )
    outcome = Outcome.SETTLED if settled else Outcome.OUT_OF_ITERATIONS
    return describe_solution(problem, angles, outcome, tolerance, iterations, refinements)


@compiled
def reach_back(positions: Floats, lengths: Floats, target_x: float, target_y: float) -> None:
    """Put the tip on the target and let every segment follow as on a string, in place.

    A segment whose ends coincide keeps the direction it had.
    """
    count = len(lengths)
    old_x = positions[count, 0]
    old_y = positions[count, 1]
    x = target_x
    y = target_y
    positions[count, 0] = x
    positions[count, 1] = y
    for i in range(count - 1, -1, -1):
        d_x = positions[i, 0] - x
        d_y = positions[i, 1] - y
        if d_x == 0.0 and d_y == 0.0:
            d_x = positions[i, 0] - old_x
            d_y = positions[i, 1] - old_y
        old_x = positions[i, 0]
        old_y = positions[i, 1]
        size = math.sqrt(d_x * d_x + d_y * d_y)
        if size > 0.0:
            part = lengths[i] / size
            x += part * d_x
            y += part * d_y
        else:
            x -= lengths[i]
        positions[i, 0] = x
        positions[i, 1] = y


@compiled
def reach_out(positions: Floats, lengths: Floats, base_x: float, base_y: float) -> None:
    """Put the base where it stands and let every segment follow as on a string, in place.

    A segment whose ends coincide keeps the direction it had.
    """
    old_x = positions[0, 0]
    old_y = positions[0, 1]
    x = base_x
    y = base_y
    positions[0, 0] = x
    positions[0, 1] = y
    for i in range(len(lengths)):
        d_x = positions[i + 1, 0] - x
        d_y = positions[i + 1, 1] - y
        if d_x == 0.0 and d_y == 0.0:
            d_x = positions[i + 1, 0] - old_x
            d_y = positions[i + 1, 1] - old_y
        old_x = positions[i + 1, 0]
        old_y = positions[i + 1, 1]
        size = math.sqrt(d_x * d_x + d_y * d_y)
        if size > 0.0:
            part = lengths[i] / size
            x += part * d_x
            y += part * d_y
        else:
            x += lengths[i]
        positions[i + 1, 0] = x
        positions[i + 1, 1] = y


@compiled
def write_ranges(lowest: Floats, highest: Floats, ranges: Floats) -> None:
    """Write the limits as directions, in place, so that no pass needs an angle.

    Args:
        lowest: smallest angle of each joint, shape (N,), rad.
        highest: largest angle of each joint, shape (N,), rad.
        ranges: to fill, shape (N, 7): the cosine of half the range (-2 for a joint that turns all
            the way round), then cosine and sine of its middle, of its lowest and of its highest
            angle.
    """
    for i in range(len(lowest)):
        half = 0.5 * (highest[i] - lowest[i])
        if not half < math.pi:
            ranges[i, 0] = -2.0
            continue
        ranges[i, 0] = math.cos(half)
        ranges[i, 1] = math.cos(lowest[i] + half)
        ranges[i, 2] = math.sin(lowest[i] + half)
        ranges[i, 3] = math.cos(lowest[i])
        ranges[i, 4] = math.sin(lowest[i])
        ranges[i, 5] = math.cos(highest[i])
        ranges[i, 6] = math.sin(highest[i])


@compiled
def _bound_direction(
    x: float, y: float, before_x: float, before_y: float, range_of: Floats, side: float
) -> tuple[float, float]:
    """Give the direction within a range around another one that is nearest to (x, y).

    All are unit vectors. Nearness to the middle of the range tells what is within, so there is no
    angle that would have to be wrapped.

    Args:
        x: direction wished for, x.
        y: the same, y.
        before_x: direction of the neighbour that the range is around, x.
        before_y: the same, y.
        range_of: row of `write_ranges`.
        side: 1 where the neighbour is the one before, -1 where it is the one after, from which the
            same bend turns the other way.
    """
    cosine = range_of[1]
    sine = side * range_of[2]
    middle_x = cosine * before_x - sine * before_y
    middle_y = sine * before_x + cosine * before_y
    if x * middle_x + y * middle_y >= range_of[0]:
        return x, y
    if (middle_x * y - middle_y * x) * side > 0.0:
        cosine = range_of[5]
        sine = side * range_of[6]
    else:
        cosine = range_of[3]
        sine = side * range_of[4]
    return cosine * before_x - sine * before_y, sine * before_x + cosine * before_y


@compiled
def reach_back_bounded(
    positions: Floats, lengths: Floats, ranges: Floats, target_x: float, target_y: float
) -> None:
    """Put the tip on the target and let every segment follow within the limits, in place.

    Here the direction of a segment is bounded by that of the next one: the seed bounds only on the
    way out, which stalls more often.
    """
    count = len(lengths)
    old_x = positions[count, 0]
    old_y = positions[count, 1]
    x = target_x
    y = target_y
    positions[count, 0] = x
    positions[count, 1] = y
    after_x = 1.0
    after_y = 0.0
    for i in range(count - 1, -1, -1):
        d_x = x - positions[i, 0]
        d_y = y - positions[i, 1]
        if d_x == 0.0 and d_y == 0.0:
            d_x = old_x - positions[i, 0]
            d_y = old_y - positions[i, 1]
        old_x = positions[i, 0]
        old_y = positions[i, 1]
        size = math.sqrt(d_x * d_x + d_y * d_y)
        if size > 0.0:
            d_x /= size
            d_y /= size
        else:
            d_x = after_x
            d_y = after_y
        if i < count - 1 and ranges[i + 1, 0] >= -1.0:
            d_x, d_y = _bound_direction(d_x, d_y, after_x, after_y, ranges[i + 1], -1.0)
        after_x = d_x
        after_y = d_y
        x -= lengths[i] * d_x
        y -= lengths[i] * d_y
        positions[i, 0] = x
        positions[i, 1] = y


@compiled
def reach_out_bounded(
    positions: Floats, lengths: Floats, ranges: Floats, base_x: float, base_y: float
) -> None:
    """Put the base where it stands and let every segment follow within the limits, in place."""
    old_x = positions[0, 0]
    old_y = positions[0, 1]
    x = base_x
    y = base_y
    positions[0, 0] = x
    positions[0, 1] = y
    before_x = 1.0
    before_y = 0.0
    for i in range(len(lengths)):
        d_x = positions[i + 1, 0] - x
        d_y = positions[i + 1, 1] - y
        if d_x == 0.0 and d_y == 0.0:
            d_x = positions[i + 1, 0] - old_x
            d_y = positions[i + 1, 1] - old_y
        old_x = positions[i + 1, 0]
        old_y = positions[i + 1, 1]
        size = math.sqrt(d_x * d_x + d_y * d_y)
        if size > 0.0:
            d_x /= size
            d_y /= size
        else:
            d_x = before_x
            d_y = before_y
        if ranges[i, 0] >= -1.0:
            d_x, d_y = _bound_direction(d_x, d_y, before_x, before_y, ranges[i], 1.0)
        before_x = d_x
        before_y = d_y
        x += lengths[i] * d_x
        y += lengths[i] * d_y
        positions[i + 1, 0] = x
        positions[i + 1, 1] = y


@compiled
def iterate(
    lengths: Floats,
    lowest: Floats,
    highest: Floats,
    ranges: Floats,
    bounded: bool,
    target_x: float,
    target_y: float,
    tolerance: float,
    most: int,
    patience: int,
    keep_on: float,
    angles: Floats,
    positions: Floats,
) -> tuple[int, float, bool]:
    """Go to and fro until the tip has arrived or gains too little; keep the best pose, in place.

    Args:
        lengths: lengths of the segments, shape (N,).
        lowest: smallest angle of each joint, shape (N,), rad.
        highest: largest angle of each joint, shape (N,), rad.
        ranges: the same limits from `write_ranges`.
        bounded: whether these limits need to be looked at.
        target_x: x of where the tip should go.
        target_y: y of where the tip should go.
        tolerance: a tip this near has arrived.
        most: most iterations.
        patience: in so many iterations the error must have come down,
        keep_on: to this part of what it was, or it is not worth going on.
        angles: joint angles, shape (N,), rad, changed in place.
        positions: positions of the same pose, shape (N + 1, 2), changed in place.

    Returns:
        Iterations, distance of the tip from the target, and whether it ended of itself.
    """
    base_x = positions[0, 0]
    base_y = positions[0, 1]
    moving = positions.copy()
    best = tip_distance(positions, target_x, target_y)
    asked = best
    taken = 0
    since = 0
    moved = False
    ended = best <= tolerance
    while not ended and taken < most:
        if bounded:
            reach_back_bounded(moving, lengths, ranges, target_x, target_y)
            reach_out_bounded(moving, lengths, ranges, base_x, base_y)
        else:
            reach_back(moving, lengths, target_x, target_y)
            reach_out(moving, lengths, base_x, base_y)
        taken += 1
        since += 1
        error = tip_distance(moving, target_x, target_y)
        if error < best:
            best = error
            for i in range(len(moving)):
                positions[i, 0] = moving[i, 0]
                positions[i, 1] = moving[i, 1]
            moved = True
        if best <= tolerance:
            ended = True
        elif since == patience:
            ended = best > keep_on * asked
            asked = best
            since = 0
    if moved:
        read_angles(positions, angles)
        keep_limits(angles, lowest, highest)
    return taken, best, ended


@compiled
def _attempt(
    lengths: Floats,
    lowest: Floats,
    highest: Floats,
    ranges: Floats,
    bounded: bool,
    target_x: float,
    target_y: float,
    tolerance: float,
    most: int,
    refined: bool,
    angles: Floats,
    positions: Floats,
) -> tuple[int, int, float, bool]:
    """Solve from one pose: the passes, then refinement where they have become slow, in place.

    Returns:
        Iterations, refinements among them, distance of the tip, and whether it ended of itself.
    """
    patience = PATIENCE if refined else LONG_PATIENCE
    keep_on = 0.5 if refined else 1.0 - 1e-6
    taken = 0
    error = 0.0
    ended = False
    # Twice, as the passes can fold a chain onto a line with its target, most of all on its base.
    for _ in range(2):
        on_line = leave_line(lengths, lowest, highest, target_x, target_y, angles, positions)
        if taken > 0 and not on_line:
            break
        more, error, ended = iterate(
            lengths,
            lowest,
            highest,
            ranges,
            bounded,
            target_x,
            target_y,
            tolerance,
            most - taken,
            patience,
            keep_on,
            angles,
            positions,
        )
        taken += more
        if error <= tolerance or taken == most:
            break
    refinements = 0
    if refined and error > tolerance and taken < most:
        refinements, error, ended = refine(
            lengths,
            lowest,
            highest,
            target_x,
            target_y,
            tolerance,
            most - taken,
            angles,
            positions,
        )
    return taken + refinements, refinements, error, ended


@compiled
def _write_fresh_starts(
    base_x: float,
    base_y: float,
    lengths: Floats,
    lowest: Floats,
    highest: Floats,
    target_x: float,
    target_y: float,
    starts: Floats,
    errors: Floats,
) -> None:
    """Bend the inner and the outer half each evenly, and turn the base so that the tip lies in the
    direction of the target: every pair of `LEVELS` is one start, in place."""
    count = len(lengths)
    half = (count + 1) // 2
    positions = np.empty((count + 1, 2))
    row = 0
    for inner in LEVELS:
        for outer in LEVELS:
            angles = starts[row]
            for i in range(1, count):
                level = inner if i < half else outer
                low = max(lowest[i], -math.pi)
                high = min(highest[i], math.pi)
                if low > high:
                    low = lowest[i]
                    high = highest[i]
                angles[i] = low + level * (high - low)
            angles[0] = 0.0
            place_chain(base_x, base_y, lengths, angles, positions)
            towards = math.atan2(target_y - base_y, target_x - base_x)
            lies = math.atan2(positions[count, 1] - base_y, positions[count, 0] - base_x)
            angles[0] = bound_angle(wrap(towards - lies), lowest[0], highest[0])
            place_chain(base_x, base_y, lengths, angles, positions)
            errors[row] = tip_distance(positions, target_x, target_y)
            row += 1


@compiled
def _search(
    base_x: float,
    base_y: float,
    lengths: Floats,
    lowest: Floats,
    highest: Floats,
    bounded: bool,
    target_x: float,
    target_y: float,
    tolerance: float,
    most: int,
    refined: bool,
    angles: Floats,
) -> tuple[int, int, bool]:
    """Solve from the given pose, then afresh from others, until nothing is better, in place.

    Returns:
        Iterations, refinements among them, and whether it ended of itself.
    """
    count = len(lengths)
    positions = np.empty((count + 1, 2))
    place_chain(base_x, base_y, lengths, angles, positions)
    best = tip_distance(positions, target_x, target_y)
    if best <= tolerance:
        return 0, 0, True
    ranges = np.empty((count, 7))
    if bounded:
        write_ranges(lowest, highest, ranges)
    afresh = bounded and refined
    starts = np.empty((len(LEVELS) * len(LEVELS), count))
    errors = np.empty(len(starts))
    trial = angles.copy()
    taken = 0
    refinements = 0
    following = 0
    order = np.argsort(errors[:1], kind="mergesort")
    while taken < most:
        place_chain(base_x, base_y, lengths, trial, positions)
        more, finer, error, ended = _attempt(
            lengths,
            lowest,
            highest,
            ranges,
            bounded,
            target_x,
            target_y,
            tolerance,
            most - taken,
            refined,
            trial,
            positions,
        )
        taken += more
        refinements += finer
        better = error < best - tolerance or error <= tolerance
        if better or (not refined and error < best):
            best = error
            angles[:] = trial
        if best <= tolerance:
            return taken, refinements, True
        if not afresh:
            return taken, refinements, ended
        if better:
            # From here once more: only what cannot better itself is a solution.
            trial[:] = angles
            continue
        if following == 0:
            _write_fresh_starts(
                base_x,
                base_y,
                lengths,
                lowest,
                highest,
                target_x,
                target_y,
                starts,
                errors,
            )
            order = np.argsort(errors, kind="mergesort")
        if following == FRESH_STARTS:
            return taken, refinements, True
        trial[:] = starts[order[following]]
        following += 1
    return taken, refinements, False
