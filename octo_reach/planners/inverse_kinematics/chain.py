"""A planar chain, the limits of its joints, and what came of solving it.

A chain of N segments has N + 1 joint positions, the base first. Its N joint angles are the heading
of the first segment and then the bend of every other segment against the one before it.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats, clip, wrap

TOLERANCE = 0.01
"""A tip this near its target has reached it, in the unit of the lengths (seed 001: 0.01 px)."""
ON_A_LINE = 1e-9
"""Points no further than this from a line lie on it, in lengths of the chain."""
NUDGE = 1e-9
"""A turn too small to matter, rad."""
STARTING_BEND = 0.06
"""What every joint of a chain that lies in line with its target is bent by at first, rad."""


class Outcome(enum.Enum):
    """How solving a chain for a target ended."""

    REACHED = "reached"
    """The tip is within the tolerance of the target."""
    FULL_STRETCH = "at full stretch"
    """The target is further away than the chain is long: it points straight there."""
    FULL_FOLD = "at full fold"
    """The target is nearer than the chain can fold (one segment longer than all others
    together): the tip is as near to it as it can be."""
    SETTLED = "settled"
    """The tip does not get there, and nothing that was tried brings it nearer."""
    OUT_OF_ITERATIONS = "out of iterations"
    """The iterations ran out while the tip was still getting nearer."""


@dataclass(frozen=True, eq=False)
class JointLimits:
    """How far each joint of a chain may turn.

    Attributes:
        lowest: smallest angle of each joint, shape (N,), rad: that of the base's heading (-inf for
            a base that turns freely), then those of the bends.
        highest: largest angle of each joint, shape (N,), rad.
    """

    lowest: Floats
    highest: Floats

    def __post_init__(self) -> None:
        """Check that every joint has a range.

        Raises:
            ValueError: the shapes differ, only one limit of a joint is finite, or its lowest angle
                lies above its highest.
        """
        lowest = np.array(self.lowest, dtype=np.float64)
        highest = np.array(self.highest, dtype=np.float64)
        object.__setattr__(self, "lowest", lowest)
        object.__setattr__(self, "highest", highest)
        if lowest.ndim != 1 or lowest.shape != highest.shape:
            raise ValueError(
                f"limits must both have the shape (N,), got {lowest.shape} and {highest.shape}"
            )
        for joint, (low, high) in enumerate(zip(lowest.tolist(), highest.tolist(), strict=True)):
            free = low == -math.inf and high == math.inf
            if not (free or (low <= high and math.isfinite(low) and math.isfinite(high))):
                raise ValueError(
                    f"limits of joint {joint} must be a finite range, or -inf to inf,"
                    f" got {low!r} to {high!r}"
                )

    @classmethod
    def bends(cls, count: int, largest: float) -> JointLimits:
        """Let the base turn freely and every other joint bend alike to both sides.

        Args:
            count: number of segments.
            largest: largest bend, rad.

        Raises:
            ValueError: the largest bend is negative or no number.
        """
        highest = np.full(count, largest, dtype=np.float64)
        highest[:1] = math.inf
        return cls(-highest, highest)

    @classmethod
    def none(cls, count: int) -> JointLimits:
        """Let every joint turn freely."""
        return cls.bends(count, math.inf)

    @property
    def bounded(self) -> bool:
        """Whether any joint cannot turn all the way round."""
        return bool(np.any(self.highest - self.lowest < 2.0 * math.pi))


@dataclass(frozen=True, eq=False)
class Solution:
    """Where solving a chain led.

    Attributes:
        positions: joint positions from the base to the tip, shape (N + 1, 2).
        angles: joint angles of the same pose, shape (N,), rad, within the limits.
        outcome: how it ended.
        iterations: how often the whole chain was gone through, refinements among them.
        error: distance of the tip from the target.
        refinements: how many of the iterations were damped least squares steps that finish what
            the method itself leaves; 0 for a method that has none.
    """

    positions: Floats
    angles: Floats
    outcome: Outcome
    iterations: int
    error: float
    refinements: int = 0


@dataclass(frozen=True, eq=False)
class Problem:
    """A chain and its target, checked and in the form the kernels take.

    Attributes:
        base: where the base stands, (x, y).
        lengths: lengths of the segments, shape (N,).
        angles: joint angles to start from, shape (N,), rad, within the limits.
        target: where the tip should go, (x, y).
        limits: how far each joint may turn.
    """

    base: tuple[float, float]
    lengths: Floats
    angles: Floats
    target: tuple[float, float]
    limits: JointLimits

    @property
    def distance(self) -> float:
        """How far the target lies from the base."""
        return math.dist(self.base, self.target)


def describe_problem(
    start: ArrayLike,
    lengths: ArrayLike,
    target: Sequence[float],
    base: Sequence[float] | None,
    limits: JointLimits | None,
) -> Problem:
    """Check what a solver was given.

    Args:
        start: joint positions to start from, shape (N + 1, 2), or joint angles, shape (N,), rad.
            Only the directions of the segments count, not how far the positions lie apart.
        lengths: lengths of the segments, shape (N,), each above 0.
        target: where the tip should go, (x, y).
        base: where the base stands, (x, y); left out, where `start` has it, or (0, 0).
        limits: how far each joint may turn; left out, all the way round.

    Raises:
        ValueError: a shape does not fit, or a number is not finite; the text names it.
    """
    sizes = np.array(lengths, dtype=np.float64)
    if sizes.ndim != 1 or not len(sizes):
        raise ValueError(f"lengths must have the shape (N,) with N at least 1, got {sizes.shape}")
    count = len(sizes)
    if not np.all(np.isfinite(sizes)) or np.any(sizes <= 0.0):
        raise ValueError(f"lengths must be finite and above 0, got {sizes.tolist()}")
    begin = np.array(start, dtype=np.float64)
    if begin.shape not in ((count,), (count + 1, 2)):
        raise ValueError(
            f"start must be {count} joint angles or {count + 1} joint positions (x, y),"
            f" got the shape {begin.shape}"
        )
    if not np.all(np.isfinite(begin)):
        raise ValueError(f"start must be finite, got {begin.tolist()}")
    if limits is None:
        limits = JointLimits.none(count)
    elif len(limits.lowest) != count:
        raise ValueError(f"limits must be for {count} joints, got {len(limits.lowest)}")
    if base is None:
        base = begin[0].tolist() if begin.ndim == 2 else (0.0, 0.0)
    angles = joint_angles(begin) if begin.ndim == 2 else begin
    keep_limits(angles, limits.lowest, limits.highest)
    return Problem(_pair("base", base), sizes, angles, _pair("target", target), limits)


def checked_effort(tolerance: float, max_iterations: int) -> None:
    """Check how well and how long a solver is to try.

    Raises:
        ValueError: the tolerance is not a number above 0, or the iterations are fewer than 1.
    """
    if not 0.0 < tolerance < math.inf:
        raise ValueError(f"tolerance must be a finite number above 0, got {tolerance!r}")
    if max_iterations < 1:
        raise ValueError(f"max_iterations must be at least 1, got {max_iterations!r}")


def describe_solution(
    problem: Problem,
    angles: Floats,
    outcome: Outcome,
    tolerance: float,
    iterations: int,
    refinements: int = 0,
) -> Solution:
    """Give the solution whose joints have these angles; within the tolerance it has reached.

    Args:
        problem: what was to be solved.
        angles: the joint angles found, shape (N,), rad.
        outcome: how it ended where the target was not reached.
        tolerance: a tip this near has reached its target.
        iterations: how often the whole chain was gone through.
        refinements: how many of these were refinements.
    """
    final = angles.copy()
    free = ~np.isfinite(problem.limits.lowest)
    final[free] = [wrap(angle) for angle in final[free].tolist()]
    positions = joint_positions(problem.base, problem.lengths, final)
    error = math.dist(positions[-1].tolist(), problem.target)
    if error <= tolerance:
        outcome = Outcome.REACHED
    return Solution(positions, final, outcome, iterations, error, refinements)


def _pair(what: str, position: Sequence[float]) -> tuple[float, float]:
    pair = np.array(position, dtype=np.float64)
    if pair.shape != (2,) or not np.all(np.isfinite(pair)):
        raise ValueError(f"{what} must be two finite numbers (x, y), got {position!r}")
    x, y = pair.tolist()
    return x, y


def reach_of(lengths: Floats) -> tuple[float, float]:
    """Give how near to its base and how far from it the tip of a chain without limits can be.

    It can come to the base unless one segment is longer than all others together.
    """
    farthest = float(np.sum(lengths))
    return max(0.0, 2.0 * float(np.max(lengths)) - farthest), farthest


def joint_positions(base: Sequence[float], lengths: Floats, angles: Floats) -> Floats:
    """Give the pose of a chain of uneven segments.

    Args:
        base: where the base stands, (x, y).
        lengths: lengths of the segments, shape (N,).
        angles: joint angles, shape (N,), rad: the base's heading, then bends.

    Returns:
        Joint positions, shape (N + 1, 2).
    """
    positions = np.empty((len(lengths) + 1, 2))
    place_chain(float(base[0]), float(base[1]), lengths, angles, positions)
    return positions


def joint_angles(positions: Floats) -> Floats:
    """Give the joint angles of a pose, shape (N,), rad: the base's heading, then bends.

    A segment whose two ends coincide goes on straight.

    Args:
        positions: joint positions, shape (N + 1, 2).
    """
    angles = np.zeros(len(positions) - 1)
    read_angles(positions, angles)
    return angles


@compiled
def place_chain(
    base_x: float, base_y: float, lengths: Floats, angles: Floats, positions: Floats
) -> None:
    """Rebuild a chain from its joint angles, in place."""
    x = base_x
    y = base_y
    heading = 0.0
    positions[0, 0] = x
    positions[0, 1] = y
    for i in range(len(lengths)):
        heading += angles[i]
        x += lengths[i] * math.cos(heading)
        y += lengths[i] * math.sin(heading)
        positions[i + 1, 0] = x
        positions[i + 1, 1] = y


@compiled
def read_angles(positions: Floats, angles: Floats) -> None:
    """Read the joint angles off a pose, in place; the bends are wrapped."""
    before = 0.0
    for i in range(len(angles)):
        d_x = positions[i + 1, 0] - positions[i, 0]
        d_y = positions[i + 1, 1] - positions[i, 1]
        heading = math.atan2(d_y, d_x) if d_x != 0.0 or d_y != 0.0 else before
        angles[i] = wrap(heading - before)
        before = heading


@compiled
def bound_angle(angle: float, lowest: float, highest: float) -> float:
    """Give the angle of a range that is nearest to `angle`, the short way round, rad.

    A range may hold pi: what lies past it comes back on the other side, at -pi, and must not be
    taken for an angle far off.
    """
    if lowest <= angle <= highest:
        return angle
    middle = lowest + 0.5 * (highest - lowest)
    return clip(middle + wrap(angle - middle), lowest, highest)


@compiled
def is_held(angle: float, push: float, lowest: float, highest: float) -> bool:
    """Tell whether a joint is at that end of its range to which it is pushed."""
    further = angle + (NUDGE if push > 0.0 else -NUDGE)
    return bound_angle(further, lowest, highest) == angle


@compiled
def keep_limits(angles: Floats, lowest: Floats, highest: Floats) -> None:
    """Bring every joint into its range, in place."""
    for i in range(len(angles)):
        angles[i] = bound_angle(angles[i], lowest[i], highest[i])


@compiled
def tip_distance(positions: Floats, target_x: float, target_y: float) -> float:
    """Give the distance of the tip from a point."""
    d_x = positions[-1, 0] - target_x
    d_y = positions[-1, 1] - target_y
    return math.sqrt(d_x * d_x + d_y * d_y)


@compiled
def leave_line(
    lengths: Floats,
    lowest: Floats,
    highest: Floats,
    target_x: float,
    target_y: float,
    angles: Floats,
    positions: Floats,
) -> bool:
    """Bend a chain that lies on one line with its target, in place: none of its joints would ever
    leave that line. Always to the same side, where the limits allow it.

    Returns:
        Whether the chain was bent.
    """
    base_x = positions[0, 0]
    base_y = positions[0, 1]
    u_x = target_x - base_x
    u_y = target_y - base_y
    size = math.sqrt(u_x * u_x + u_y * u_y)
    near = ON_A_LINE * np.sum(lengths)
    if size <= near:
        u_x = positions[1, 0] - base_x
        u_y = positions[1, 1] - base_y
        size = math.sqrt(u_x * u_x + u_y * u_y)
    for i in range(1, len(positions)):
        away = (positions[i, 0] - base_x) * u_y - (positions[i, 1] - base_y) * u_x
        if abs(away) > near * size:
            return False
    for i in range(1, len(angles)):
        bent = bound_angle(angles[i] + STARTING_BEND, lowest[i], highest[i])
        if bent == angles[i]:
            bent = bound_angle(angles[i] - STARTING_BEND, lowest[i], highest[i])
        angles[i] = bent
    place_chain(base_x, base_y, lengths, angles, positions)
    return True


def point_chain(problem: Problem, tolerance: float) -> tuple[Floats, Outcome] | None:
    """Lay a chain whose target is out of reach, or just at the edge, as near to it as it comes.

    Straight towards a target that is too far away; towards one that is nearer than the chain can
    fold, with the longest segment pointing there and all others folded back against it. A target
    on the base itself leaves the chain's direction as it is.

    Args:
        problem: the chain and its target.
        tolerance: how far within the edge of its reach a target still counts as at the edge.

    Returns:
        Joint angles, shape (N,), rad, and which of the two poses it is; None where the target lies
        within the chain's reach, or the limits forbid such a pose.
    """
    lengths = problem.lengths
    nearest, farthest = reach_of(lengths)
    distance = problem.distance
    exact = ON_A_LINE * farthest
    edge = max(tolerance, exact)
    stretched = distance > farthest - edge
    if not stretched and (nearest <= exact or distance > nearest + edge):
        return None
    if distance > exact:
        aim = np.subtract(problem.target, problem.base)
    else:
        aim = joint_positions(problem.base, lengths, problem.angles)[-1] - problem.base
    towards = math.atan2(aim[1], aim[0])
    signs = np.ones(len(lengths))
    if not stretched:
        signs[:] = -1.0
        signs[np.argmax(lengths)] = 1.0
    angles = np.zeros(len(lengths))
    angles[0] = wrap(towards if signs[0] > 0.0 else towards + math.pi)
    angles[1:][signs[1:] != signs[:-1]] = -math.pi
    pointed = angles.copy()
    keep_limits(pointed, problem.limits.lowest, problem.limits.highest)
    turned = np.abs(np.sin(0.5 * (pointed - angles)))
    if np.any(turned > 1e-12):
        return None
    return pointed, Outcome.FULL_STRETCH if stretched else Outcome.FULL_FOLD
