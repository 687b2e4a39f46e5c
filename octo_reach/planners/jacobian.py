"""Planners that follow the Jacobian of the arm: transpose, and damped least squares (seed 003).

Both look at the present pose alone and take one step from it, so that they can take over a moving
arm at any time. The step is scaled as a whole to what the joints can do in one update: clipped
joint by joint it would lead the tip somewhere else.
"""

from __future__ import annotations

import math

import numpy as np

from octo_reach.model.arm import initial_angles
from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats
from octo_reach.model.octopus import Arm
from octo_reach.model.reach import Planner
from octo_reach.planners.inverse_kinematics.jacobian import (
    DAMPING,
    add_clearance_gradient,
    bounded_step,
    clearance_gradient,
    fill_jacobian,
    keep_away,
    neglected_curvature,
    project_onto_null_space,
    relative_manipulability,
    variable_damping,
)

BEYOND_REACH = "the target lies beyond the arm's reach"
OBSTRUCTED = "an obstacle is in the way"
NO_NEARER = "no motion of the joints brings the tip nearer from here"

STILL = 1e-6
"""A step that turns no joint further than this is none, rad."""
ON_A_LINE = 1e-4
"""Relative manipulability below which an arm lies on one line."""
NUDGE = 0.01
"""How far each joint of such an arm is turned to get it off the line, rad."""
MOST_NUDGES = 4
LEAST_SHARE = 1.0 / 64.0
"""Smallest share of a step that is tried where larger ones were refused."""
AVOIDING_MARGINS = 3.0
"""How far outside the clearance an obstacle begins to matter, in steering margins."""
STRETCHED = 0.05
"""How near to full stretch an arm is still, in reach tolerances."""
LEAST_PROGRESS = 0.05
"""Least way nearer that counts, in reach tolerances."""
PATIENCE = 1.0
"""Time without that after which the arm is caught, s."""
LETTING_GO = 1.0
"""How long an arm that is caught uncurls, at most, s."""
MOST_TRIES = 1
"""How often it does in one assignment: what cannot be reached must not keep it moving."""
BESIDES = 0.5
"""Share of the joints' speed that motion besides reaching may take."""
COMFORT = 0.02
"""Share of the way to the comfortable pose that is taken in an update."""
PAD = 0.5
"""Distance kept besides the clearance, in the travel between two samples of the guard: the guard
refuses what comes nearer while it moves fast."""
PASSES = 12
"""How often the obstacles are gone through to keep a step from closing in on any of them."""
CLOSING = 0.25
"""Largest share of the room before an obstacle that one update may take."""


class JacobianPlanner(Planner):
    """What both have in common: steps from the present pose, and smaller ones after a refusal.

    Attributes:
        note: what keeps the arm from its target; empty while it is on its way.
        gated: True: a blocked or reached target stops the arm.
    """

    def __init__(self) -> None:
        """Start from whatever pose the arm has."""
        self.reset()

    def reset(self) -> None:
        """Forget what was refused and what was tried."""
        self.note = ""
        self._share = 1.0
        self._nudges = 0
        self._left: Floats | None = None
        self._seen: tuple[bytes, bytes] | None = None
        self._start_over()

    def _start_over(self) -> None:
        self._nearest = math.inf
        self._waited = 0.0

    def propose(self, arm: Arm, target: Floats, obstacles: Floats, dt: float) -> Floats | None:
        """Propose the next pose; None, and a note, where no step leads nearer."""
        angles = arm.angles.copy()
        refused = self._left is not None and np.array_equal(self._left, angles)
        # The guard allows for the whole sweep of a step, and so may let a smaller one pass.
        self._share = max(LEAST_SHARE, 0.5 * self._share) if refused else min(1.0, 2 * self._share)
        excess = math.dist(arm.base.tolist(), target.tolist()) - arm.parameters.reach
        error = math.dist(arm.tip.tolist(), target.tolist())
        self._watch(error, target, obstacles, arm.rules.reach_tolerance, dt)
        step, manipulability = self._step(arm, angles, target, obstacles, dt)
        if float(np.max(np.abs(step))) <= STILL:
            step = self._leave_line(arm, angles, manipulability)
        caught = self._waited >= PATIENCE or not np.any(step)
        if caught and excess <= 0.0 and self._lets_go():
            caught = False
            step, _ = self._step(arm, angles, target, obstacles, dt)
        if caught or error - excess <= STRETCHED * arm.rules.reach_tolerance:
            self._left = None
            self.note = OBSTRUCTED if beside_obstacle(arm, obstacles) else NO_NEARER
        else:
            self._left = angles
            self.note = OBSTRUCTED if refused else ""
        if excess > 0.0:
            self.note = BEYOND_REACH
        proposed: Floats = angles + self._share * step
        return proposed if self._left is not None else None

    def _watch(
        self, error: float, target: Floats, obstacles: Floats, tolerance: float, dt: float
    ) -> None:
        """Take the time since the tip last came nearer; a changed scene starts it anew."""
        seen = (target.tobytes(), obstacles.tobytes())
        if seen != self._seen:
            self._seen = seen
            self._start_over()
        if error < self._nearest - LEAST_PROGRESS * tolerance:
            self._nearest = error
            self._waited = 0.0
        else:
            self._waited += dt

    def _leave_line(self, arm: Arm, angles: Floats, manipulability: float) -> Floats:
        """Give a small motion for an arm that lies on a line with its target, else none.

        A stretched arm needs a bend. One that is folded up needs its base turned, and only one of
        the two ways leads out of the fold.
        """
        step = np.zeros(len(angles))
        if manipulability < ON_A_LINE and self._nudges < MOST_NUDGES:
            self._nudges += 1
            step[:] = np.where(comfortable_pose(arm) < angles, -NUDGE, NUDGE)
            step[0] = NUDGE * self._nudges * (1.0 if self._nudges % 2 else -1.0)
        return step

    def _lets_go(self) -> bool:
        """Tell whether an arm that comes no nearer is to try something else."""
        return False

    def _step(
        self, arm: Arm, angles: Floats, target: Floats, obstacles: Floats, dt: float
    ) -> tuple[Floats, float]:
        """Give the step, shape (N,), rad, and the relative manipulability of the pose."""
        raise NotImplementedError


class JacobianTransposePlanner(JacobianPlanner):
    """Follows the slope of the error, J^T e, with the best step size.

    It knows no more of obstacles than that the guard refuses a step.

    Attributes:
        name: "jacobian_transpose".
    """

    name = "jacobian_transpose"

    def _step(
        self, arm: Arm, angles: Floats, target: Floats, obstacles: Floats, dt: float
    ) -> tuple[Floats, float]:
        step = np.empty(len(angles))
        manipulability = reaching_step(
            arm.joints.copy(),
            angles,
            float(target[0]),
            float(target[1]),
            float(arm.parameters.maximum_bend),
            float(arm.parameters.turning_speed) * dt,
            True,
            step,
        )
        return step, manipulability


class JacobianDampedPlanner(JacobianPlanner):
    """Follows damped least squares, at ease and clear of obstacles as far as the tip allows.

    What the arm has joints for besides reaching goes into a comfortable pose and away from
    obstacles. A step that would close in on an obstacle is turned aside, so that the arm slides
    along it. An arm that is caught lets go once and tries again.

    Attributes:
        name: "jacobian_dls".
    """

    name = "jacobian_dls"

    def reset(self) -> None:
        """Forget what was refused and what was tried."""
        super().reset()
        self._letting_go = 0.0
        self._let_go = 0

    def _lets_go(self) -> bool:
        """Let an arm that is caught uncurl for a while, its tip going wherever it goes.

        Hooked at its largest bends, or around an obstacle, it may come no nearer by any small
        motion; from a gentle curve it finds another way.
        """
        if self._let_go == MOST_TRIES:
            return False
        self._let_go += 1
        self._letting_go = LETTING_GO
        return True

    def _step(
        self, arm: Arm, angles: Floats, target: Floats, obstacles: Floats, dt: float
    ) -> tuple[Floats, float]:
        step = np.empty(len(angles))
        joints = arm.joints.copy()
        bend = float(arm.parameters.maximum_bend)
        largest_turn = float(arm.parameters.turning_speed) * dt
        comfortable = comfortable_pose(arm)
        manipulability = reaching_step(
            joints, angles, float(target[0]), float(target[1]), bend, largest_turn, False, step
        )
        if self._letting_go > 0.0:
            self._letting_go -= dt
            step[:] = np.clip(comfortable - angles, -largest_turn, largest_turn)
            if float(np.max(np.abs(step))) < largest_turn:
                self._letting_go = 0.0
            self._start_over()
        keep_at_ease(
            joints,
            angles,
            comfortable,
            np.array(obstacles),
            float(arm.rules.arm_clearance + PAD * arm.rules.sample_travel),
            avoiding_distance(arm),
            bend,
            largest_turn,
            manipulability,
            step,
        )
        return step, manipulability


def comfortable_pose(arm: Arm) -> Floats:
    """Give the pose an arm likes to be in: the gentle curve it starts with, its base as it is."""
    pose = initial_angles(arm.parameters, arm.initial_heading, arm.rules)
    pose[0] = arm.angles[0]
    return pose


def avoiding_distance(arm: Arm) -> float:
    """Give the gap at which an obstacle begins to matter to an arm, in the scene's unit."""
    rules = arm.rules
    return float(rules.arm_clearance + AVOIDING_MARGINS * rules.steering_margin)


def beside_obstacle(arm: Arm, obstacles: Floats) -> bool:
    """Tell whether an arm is so near to an obstacle that the obstacle matters."""
    return bool(np.any(clearance_gradient(arm.joints, obstacles, avoiding_distance(arm))))


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
    _slow_down(largest_turn, step)
    return relative_manipulability(jacobian)


@compiled
def keep_at_ease(
    joints: Floats,
    angles: Floats,
    comfortable: Floats,
    circles: Floats,
    clearance: float,
    distance: float,
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
    _slow_down(BESIDES * largest_turn, aside)
    lowest = np.empty(count)
    highest = np.empty(count)
    for i in range(count):
        lowest[i] = -largest_turn
        highest[i] = largest_turn
        if i > 0:
            lowest[i] = max(lowest[i], min(0.0, -bend - angles[i]))
            highest[i] = min(highest[i], max(0.0, bend - angles[i]))
        step[i] += aside[i]
    _slow_down(largest_turn, step)
    for i in range(count):
        step[i] = max(lowest[i], min(highest[i], step[i]))
    keep_away(joints, circles, clearance, distance, CLOSING, lowest, highest, PASSES, step)


@compiled
def _slow_down(largest_turn: float, step: Floats) -> None:
    """Scale a step as a whole so that no joint turns further than it can, in place."""
    largest = np.max(np.abs(step))
    if largest > largest_turn:
        step *= largest_turn / largest
