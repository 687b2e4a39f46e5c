"""Cyclic coordinate descent: turns one joint at a time until the tip points as it should.

From the tip inwards, every joint is turned so that the tip comes onto the line from that joint to
the target, or as near to it as its limits allow; then from the tip again (Wang and Chen, IEEE
Transactions on Robotics and Automation 7, 1991). The error never grows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats
from octo_reach.planners.inverse_kinematics.chain import (
    TOLERANCE,
    JointLimits,
    Outcome,
    Solution,
    bound_angle,
    checked_effort,
    describe_problem,
    describe_solution,
    leave_line,
    place_chain,
    tip_distance,
)

MAX_ITERATIONS = 2000
WINDOW = 20
"""In so many rounds the tip must have come nearer by a part of the tolerance, or it settled."""
LEAST_PROGRESS = 0.1
"""That part."""


def solve(
    start: ArrayLike,
    lengths: ArrayLike,
    target: Sequence[float],
    *,
    base: Sequence[float] | None = None,
    limits: JointLimits | None = None,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> Solution:
    """Bring the tip of a chain to a target, or nearer to it.

    Args:
        start: joint positions to start from, shape (N + 1, 2), or joint angles, shape (N,), rad.
        lengths: lengths of the segments, shape (N,), each above 0, in any unit.
        target: where the tip should go, (x, y), in the same unit.
        base: where the base stands, (x, y); left out, where `start` has it, or (0, 0).
        limits: how far each joint may turn; left out, all the way round.
        tolerance: a tip this near its target has reached it.
        max_iterations: most rounds through all joints.

    Returns:
        The pose it ended in: reached, settled or out of iterations.

    Raises:
        ValueError: a shape does not fit, or a number is not finite or out of range.
    """
    checked_effort(tolerance, max_iterations)
    problem = describe_problem(start, lengths, target, base, limits)
    angles = problem.angles
    iterations, settled = _descend(
        problem.base[0],
        problem.base[1],
        problem.lengths,
        problem.limits.lowest,
        problem.limits.highest,
        problem.target[0],
        problem.target[1],
        float(tolerance),
        int(max_iterations),
        angles,
    )
    outcome = Outcome.SETTLED if settled else Outcome.OUT_OF_ITERATIONS
    return describe_solution(problem, angles, outcome, tolerance, iterations)


@compiled
def _descend(
    base_x: float,
    base_y: float,
    lengths: Floats,
    lowest: Floats,
    highest: Floats,
    target_x: float,
    target_y: float,
    tolerance: float,
    most: int,
    angles: Floats,
) -> tuple[int, bool]:
    """Go round all joints until the tip has arrived or gains too little, in place.

    Returns:
        Rounds, and whether it ended of itself.
    """
    count = len(lengths)
    positions = np.empty((count + 1, 2))
    place_chain(base_x, base_y, lengths, angles, positions)
    error = tip_distance(positions, target_x, target_y)
    if error <= tolerance:
        return 0, True
    leave_line(lengths, lowest, highest, target_x, target_y, angles, positions)
    before = tip_distance(positions, target_x, target_y)
    for taken in range(1, most + 1):
        # Turning joint i swings only what lies beyond it, so the positions further in still hold.
        tip_x = positions[count, 0]
        tip_y = positions[count, 1]
        for i in range(count - 1, -1, -1):
            joint_x = positions[i, 0]
            joint_y = positions[i, 1]
            a_x = tip_x - joint_x
            a_y = tip_y - joint_y
            b_x = target_x - joint_x
            b_y = target_y - joint_y
            across = a_x * b_y - a_y * b_x
            along = a_x * b_x + a_y * b_y
            # A joint on the target, or under the tip, has no direction to turn to.
            if across == 0.0 and along == 0.0:
                continue
            angle = bound_angle(angles[i] + math.atan2(across, along), lowest[i], highest[i])
            turn = angle - angles[i]
            angles[i] = angle
            c = math.cos(turn)
            s = math.sin(turn)
            tip_x = joint_x + c * a_x - s * a_y
            tip_y = joint_y + s * a_x + c * a_y
        place_chain(base_x, base_y, lengths, angles, positions)
        error = tip_distance(positions, target_x, target_y)
        if error <= tolerance:
            return taken, True
        if taken % WINDOW == 0:
            if before - error < LEAST_PROGRESS * tolerance:
                return taken, True
            before = error
    return most, False
