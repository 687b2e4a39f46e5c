"""Goes to the pose FABRIK finds for the target (seed 001)."""

from __future__ import annotations

import math

from octo_reach.model.geometry import Floats
from octo_reach.model.octopus import Arm
from octo_reach.planners.inverse_kinematics.chain import (
    TOLERANCE,
    JointLimits,
    Outcome,
    Solution,
)
from octo_reach.planners.inverse_kinematics.fabrik import solve
from octo_reach.planners.retreating import RetreatingPlanner

SHORT = {
    Outcome.FULL_STRETCH: "the target lies beyond the arm's reach: at full stretch",
    Outcome.FULL_FOLD: "the target lies nearer than the arm can fold: at full fold",
    Outcome.SETTLED: "the bend limit keeps the tip from the target: at the nearest pose",
    Outcome.OUT_OF_ITERATIONS: "no pose was found that reaches the target: at the best",
}


class FabrikPlanner(RetreatingPlanner):
    """Proposes the pose in which the tip is at the target, or as near as the bend limit allows.

    It is solved for once, from the pose the arm then has, and held while the target stays: solved
    again from every pose on the way it could turn into its own mirror image, and the arm would
    dither between the two. A target that creeps on takes the pose along. It knows nothing of
    obstacles on the way there: where the guard refuses it, the arm stops.

    Attributes:
        name: "fabrik".
        note: by how much and why the pose falls short of the target; empty where it reaches.
    """

    name = "fabrik"

    def reset(self) -> None:
        """Forget the pose: the next one is found from where the arm is then."""
        super().reset()
        self._asked: tuple[object, ...] | None = None
        self._target = (math.inf, math.inf)
        self._solution: Solution | None = None

    def approach(self, arm: Arm, target: Floats, obstacles: Floats, dt: float) -> Floats | None:
        """Propose the pose for the target."""
        aim = (float(target[0]), float(target[1]))
        parameters = arm.parameters
        size = (parameters.segment_count, parameters.segment_length, parameters.maximum_bend)
        chain = (*arm.base.tolist(), *size)
        if self._solution is None or chain != self._asked or aim != self._target:
            crept = math.dist(aim, self._target) <= parameters.segment_length
            held = self._solution if chain == self._asked and crept else None
            self._solution = solve_arm(arm, aim, arm.angles if held is None else held.angles)
            self._asked = chain
            self._target = aim
            self.note = _describe(self._solution, arm)
        return self._solution.angles


def solve_arm(arm: Arm, target: tuple[float, float], start: Floats) -> Solution:
    """Solve an arm for a target within its bend limit.

    Args:
        arm: the arm.
        target: where the tip should go, (x, y), in the scene's unit.
        start: joint angles to start from, shape (N,), rad.
    """
    parameters = arm.parameters
    count = parameters.segment_count
    base_x, base_y = arm.base.tolist()
    return solve(
        start,
        [parameters.segment_length] * count,
        target,
        base=(base_x, base_y),
        limits=JointLimits.bends(count, parameters.maximum_bend),
        tolerance=TOLERANCE * arm.rules.unit,
    )


def _describe(solution: Solution, arm: Arm) -> str:
    """Say by how much and why a pose falls short, where it does by more than the tolerance."""
    if solution.error <= arm.rules.reach_tolerance:
        return ""
    unit = "px" if arm.rules.unit == 1.0 else "m"
    return f"{SHORT[solution.outcome]}, {solution.error:.3g} {unit} short"
