"""Planners that follow the Jacobian of the arm: transpose, and damped least squares (seed 003).

Both look at the present pose alone and take one step from it, so that they can take over a moving
arm at any time. The step is scaled as a whole to what the joints can do in one update: clipped
joint by joint it would lead the tip somewhere else.
"""

from __future__ import annotations

import math

import numpy as np

from octo_reach.model.arm import initial_angles
from octo_reach.model.geometry import Floats
from octo_reach.model.guard import held_centre
from octo_reach.model.octopus import Arm
from octo_reach.planners.inverse_kinematics.jacobian import clearance_gradient
from octo_reach.planners.inverse_kinematics.steps import keep_at_ease, reaching_step
from octo_reach.planners.retreating import RetreatingPlanner

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
PAD = 0.5
"""Distance kept besides the clearance, in the travel between two samples of the guard: the guard
refuses what comes nearer while it moves fast."""


class JacobianPlanner(RetreatingPlanner):
    """What both have in common: a step from the present pose, as long as steps lead nearer.

    Attributes:
        note: what keeps the arm from its target; empty while it is on its way.
    """

    def reset(self) -> None:
        """Forget what was tried."""
        super().reset()
        self._nudges = 0
        self._left: Floats | None = None
        self._seen: tuple[bytes, bytes] | None = None
        self._start_over()

    def _start_over(self) -> None:
        self._nearest = math.inf
        self._waited = 0.0

    def approach(self, arm: Arm, target: Floats, obstacles: Floats, dt: float) -> Floats | None:
        """Propose the next pose; None, and a note, where no step leads nearer."""
        angles = arm.angles.copy()
        refused = self._left is not None and np.array_equal(self._left, angles)
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
        proposed: Floats = angles + step
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
        """Forget what was tried."""
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
            payload_of(arm),
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


def payload_of(arm: Arm) -> Floats:
    """Give centre, radius and least gap of what an arm holds, and how many joints move it.

    All zeros where it holds nothing.
    """
    grip = arm.grip
    if grip is None:
        return np.zeros(5)
    end = arm.joints[grip.segment]
    x, y = held_centre(
        float(end[0]), float(end[1]), float(arm.headings[grip.segment - 1]), *grip.offset
    )
    gap = PAD * arm.rules.sample_travel
    return np.array((x, y, arm.grip_radius, gap, grip.segment), dtype=np.float64)


def avoiding_distance(arm: Arm) -> float:
    """Give the gap at which an obstacle begins to matter to an arm, in the scene's unit."""
    rules = arm.rules
    return float(rules.arm_clearance + AVOIDING_MARGINS * rules.steering_margin)


def beside_obstacle(arm: Arm, obstacles: Floats) -> bool:
    """Tell whether an arm is so near to an obstacle that the obstacle matters."""
    return bool(np.any(clearance_gradient(arm.joints, obstacles, avoiding_distance(arm))))
