"""Lets somebody else steer: the arm follows joint angles that are offered from outside."""

from __future__ import annotations

import numpy as np

from octo_reach.model.geometry import Floats
from octo_reach.model.octopus import Arm
from octo_reach.model.reach import Planner

WAITING = "waiting for a joint proposal"
STANDING = "stands still by the last joint proposal, the target is not reached"
PATIENCE = 1.0
"""How long the arm has to stand still for that, s."""


class ExternalPlanner(Planner):
    """Proposes what was offered last; holds the arm until something is.

    It is asked even where the target is blocked or reached: whoever offers the angles decides what
    the arm is to do. Limits and guard stand before the arm as they do with every planner.

    Attributes:
        name: "external".
        note: says so while there is no proposal to follow, and where the last one, or the guard,
            leaves the arm at a standstill before its target.
        gated: False.
        follows_neighbours: False.
    """

    name = "external"
    gated = False

    def __init__(self) -> None:
        """Wait for a first offer."""
        self.note = WAITING
        self._offered: Floats | None = None
        self._last: Floats | None = None
        self._stood = 0.0

    def offer(self, angles: Floats) -> None:
        """Give the joint angles to go to from now on.

        Args:
            angles: shape (N,), rad: the base's heading, then bends.

        Raises:
            ValueError: an angle is not finite, or the shape is not (N,).
        """
        offered = np.array(angles, dtype=np.float64)
        if offered.ndim != 1 or not np.all(np.isfinite(offered)):
            raise ValueError(
                f"offered angles must be finite, shape (N,), got {offered.tolist()}"
            )
        if self._offered is None:
            self.note = ""
        self._offered = offered

    def propose(
        self, arm: Arm, target: Floats, obstacles: Floats, dt: float
    ) -> Floats | None:
        """Propose what was offered last; None, and a note, where nothing fits the arm."""
        offered = self._offered
        if offered is None:
            self.note = WAITING
            return None
        if len(offered) != len(arm.angles):
            self.note = (
                f"the joint proposal has {len(offered)} angles, not {len(arm.angles)}"
            )
            return None
        self._note_standstill(arm, dt)
        return offered

    def _note_standstill(self, arm: Arm, dt: float) -> None:
        if self._last is None or not np.array_equal(self._last, arm.angles):
            self._last = np.array(arm.angles)
            self._stood = 0.0
        else:
            self._stood = 0.0 if _has_arrived(arm) else self._stood + dt
        self.note = STANDING if self._stood >= PATIENCE else ""

    def reset(self) -> None:
        """Wait for a new offer: the last one was made for another assignment or pose."""
        self._offered = None
        self._last = None
        self._stood = 0.0
        self.note = WAITING


def _has_arrived(arm: Arm) -> bool:
    rules = arm.rules
    return arm.tip_error <= (rules.reach_tolerance if arm.grip is None else rules.carry_tolerance)
