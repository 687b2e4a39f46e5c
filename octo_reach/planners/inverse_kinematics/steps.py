"""One step of an arm that follows its Jacobian: towards its target, at ease, clear of obstacles.

All that is compiled of the Jacobian planners stands here, beside the kernels it calls.
"""

from __future__ import annotations

import math

import numpy as np

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats
from octo_reach.planners.inverse_kinematics.jacobian import (
    DAMPING,
    add_clearance_gradient,
    bounded_step,
    fill_jacobian,
    keep_away,
    neglected_curvature,
    project_onto_null_space,
    relative_manipulability,
    variable_damping,
)

BESIDES = 0.5
"""Share of the joints' speed that motion besides reaching may take."""
COMFORT = 0.02
"""Share of the way to the comfortable pose that is taken in an update."""
PASSES = 12
"""How often the obstacles are gone through to keep a step from closing in on any of them."""
CLOSING = 0.25
"""Largest share of the room before an obstacle that one update may take."""


@compiled
def reaching_step(
    joints: Floats,
    angles: Floats,
    target_x: float,
    target_y: float,
    bend: float,
    largest_turn: float,
    transposed: bool,
    step: Floats,
) -> float:
    """Fill the step that brings the tip nearer to its target, as far as one update can go.

    Args:
        joints: joint positions, shape (N + 1, 2).
        angles: joint angles, shape (N,), rad.
        target_x: where the tip should go, x.
        target_y: the same, y.
        bend: largest bend of every joint but the base, rad.
        largest_turn: furthest any joint can turn in an update, rad.
        transposed: whether by the transpose or by damped least squares.
        step: to fill, shape (N,), rad.

    Returns:
        The relative manipulability of the pose.
    """
    count = len(angles)
    jacobian = np.empty((2, count))
    fill_jacobian(joints, jacobian)
    error_x = target_x - joints[count, 0]
    error_y = target_y - joints[count, 1]
    error = math.sqrt(error_x * error_x + error_y * error_y)
    lowest = -bend - angles
    highest = bend - angles
    lowest[0] = -np.inf
    highest[0] = np.inf
    if transposed:
        # A step of the best size zigzags across a valley; one that overshoots in no direction does
        # not, and every update takes another.
        damping = neglected_curvature(joints, error) + float(np.sum(jacobian * jacobian))
    else:
        span = 0.0
        for i in range(count):
            d_x = joints[i + 1, 0] - joints[i, 0]
            d_y = joints[i + 1, 1] - joints[i, 1]
            span += math.sqrt(d_x * d_x + d_y * d_y)
        damping = variable_damping(jacobian, joints, error, DAMPING * span)
    bounded_step(
        jacobian,
        error_x,
        error_y,
        lowest,
        highest,
        damping,
        transposed,
        np.empty(count, np.bool_),
        step,
    )
    slow_down(largest_turn, step)
    return relative_manipulability(jacobian)


@compiled
def keep_at_ease(
    joints: Floats,
    angles: Floats,
    comfortable: Floats,
    circles: Floats,
    clearance: float,
    distance: float,
    payload: Floats,
    bend: float,
    largest_turn: float,
    manipulability: float,
    step: Floats,
) -> None:
    """Add to a reaching step what the arm can do besides, and turn it aside before obstacles.

    Args:
        joints: joint positions, shape (N + 1, 2).
        angles: joint angles, shape (N,), rad.
        comfortable: pose to go towards, shape (N,), rad.
        circles: centres and radii of the obstacles, shape (K, 3).
        clearance: gap the arm keeps.
        distance: gap at which an obstacle begins to matter.
        payload: what the arm carries, as `keep_away` takes it, shape (5,).
        bend: largest bend of every joint but the base, rad.
        largest_turn: furthest any joint can turn in an update, rad.
        manipulability: relative manipulability of the pose. Near a straight arm no bend is
            comfortable: what would curl up a stretched arm pulls its tip back.
        step: the step so far, shape (N,), rad; changed in place.
    """
    count = len(angles)
    jacobian = np.empty((2, count))
    fill_jacobian(joints, jacobian)
    aside = np.zeros(count)
    curvature = add_clearance_gradient(joints, circles, distance, aside)
    frozen = np.zeros(count, np.bool_)
    for i in range(count):
        aside[i] = aside[i] / curvature if curvature > 0.0 else 0.0
        aside[i] += COMFORT * manipulability * (comfortable[i] - angles[i])
        after = angles[i] + step[i]
        frozen[i] = i > 0 and (after >= bend or after <= -bend)
    project_onto_null_space(jacobian, frozen, aside)
    slow_down(BESIDES * largest_turn, aside)
    lowest = np.empty(count)
    highest = np.empty(count)
    for i in range(count):
        lowest[i] = -largest_turn
        highest[i] = largest_turn
        if i > 0:
            lowest[i] = max(lowest[i], min(0.0, -bend - angles[i]))
            highest[i] = min(highest[i], max(0.0, bend - angles[i]))
        step[i] += aside[i]
    slow_down(largest_turn, step)
    for i in range(count):
        step[i] = max(lowest[i], min(highest[i], step[i]))
    keep_away(joints, circles, clearance, distance, payload, CLOSING, lowest, highest, PASSES, step)


@compiled
def slow_down(largest_turn: float, step: Floats) -> None:
    """Scale a step as a whole so that no joint turns further than it can, in place."""
    largest = np.max(np.abs(step))
    if largest > largest_turn:
        step *= largest_turn / largest
