"""Keeps a planner that fails from taking the arm, and all the others, with it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from octo_reach.model.geometry import Floats
from octo_reach.model.octopus import Arm
from octo_reach.model.reach import Planner

FAILED = "Failed"
"""State of an arm whose planner failed when it was last asked."""
LONGEST_REASON = 160


class ContainedPlanner(Planner):
    """Passes on what a planner proposes; where it fails, the arm holds and is told why.

    A planner fails that raises an exception or proposes what is no pose of its arm. It is asked
    again with the next update, since the next one may be easier.

    Attributes:
        planner: the planner itself.
        failures: how often it has failed.
        name: name of the planner.
        note: what the planner has to say, or how it failed.
        state: as the planner's, or that it failed.
        under_way: as the planner's.
        gated: as the planner's.
        retreats: as the planner's.
        follows_neighbours: as the planner's.
    """

    def __init__(self, planner: Planner, say: Callable[[str], object]) -> None:
        """Contain a planner.

        Args:
            planner: the planner.
            say: told once in one line when it fails, and again only when it fails in another way
                or at another assignment.
        """
        self.planner = planner
        self.failures = 0
        self.name = planner.name
        self.gated = planner.gated
        self.follows_neighbours = planner.follows_neighbours
        self.note = planner.note
        self.state = planner.state
        self.under_way = planner.under_way
        self.retreats = planner.retreats
        self._say = say
        self._said: type[Exception] | None = None

    def propose(self, arm: Arm, target: Floats, obstacles: Floats, dt: float) -> Floats | None:
        """Propose what the planner does; None where it fails."""
        try:
            asked = self.planner.propose(arm, target, obstacles, dt)
            if asked is not None:
                asked = _checked_pose(asked, len(arm.angles))
        except Exception as error:  # whatever it is, it is the planner's and no one else's
            self._fail(error, f"planner {self.name} of arm {arm.number}")
            return None
        self.refresh()
        return asked

    def reset(self) -> None:
        """Let the planner forget what was planned."""
        self._said = None
        try:
            self.planner.reset()
        except Exception as error:
            self._fail(error, f"planner {self.name}")
            return
        self.refresh()

    def refresh(self) -> None:
        """Take over what the planner has to say now."""
        self.note = self.planner.note
        self.state = self.planner.state
        self.under_way = self.planner.under_way
        self.retreats = self.planner.retreats

    def _fail(self, error: Exception, who: str) -> None:
        self.failures += 1
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        if len(reason) > LONGEST_REASON:
            reason = reason[: LONGEST_REASON - 3] + "..."
        self.note = f"failed: {reason}"
        self.state = FAILED
        if self._said is not type(error):
            self._said = type(error)
            self._say(f"{who} failed, the arm holds: {reason}")


def _checked_pose(asked: Floats, count: int) -> Floats:
    pose = np.asarray(asked, dtype=np.float64)
    if pose.shape != (count,) or not np.all(np.isfinite(pose)):
        raise ValueError(f"it must propose {count} finite angles, got {pose.tolist()}")
    return pose
