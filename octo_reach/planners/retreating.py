"""Draws an arm out of an obstacle that was put on it, before its planner goes on."""

from __future__ import annotations

import math

import numpy as np

from octo_reach.model.geometry import Floats
from octo_reach.model.octopus import Arm
from octo_reach.model.reach import Planner
from octo_reach.planners.guided.body import Body, body_of
from octo_reach.planners.guided.clearance import room_of
from octo_reach.planners.guided.retreat import Retreat

DRAWING_OUT = "an obstacle lies on the arm: drawing out"
ON_THE_TARGET = "an obstacle lies on the target"
BLOCKED = "Blocked"
"""State of an arm that waits as an obstacle lies on its target."""
CREEP = 1e-3
"""An overlap no deeper than this is none, px: along an obstacle rounding lets the arm creep in."""


class RetreatingPlanner(Planner):
    """What planners have in common that know no way out of an overlap themselves.

    From within an overlap hardly any step towards a target is safe, so that an arm on which an
    obstacle was put would stay there. It first turns as makes room for all that is too near,
    whether its target is reached, blocked or neither, and then goes on from where it is. Where no
    room can be made, as between two obstacles, it goes on at once.

    A blocked or reached target stops the arm otherwise, as it does where a planner is gated.

    Attributes:
        note: that the arm draws out of an overlap, or that an obstacle lies on the target; else
            what the planner itself has to say.
        state: "Blocked" while an obstacle lies on the target; else empty.
        gated: False: the arm may have to move though its target is blocked or reached.
        retreats: whether the last step proposed was one out of an overlap.
    """

    gated = False

    def __init__(self) -> None:
        """Start from whatever pose the arm has."""
        self.reset()

    def reset(self) -> None:
        """Forget what was planned: the next way begins where the arm is then."""
        self.note = ""
        self.state = ""
        self.retreats = False
        self._scene: tuple[bytes, float] | None = None
        self._aim = b""
        self._escape: _Escape | None = None

    def propose(self, arm: Arm, target: Floats, obstacles: Floats, dt: float) -> Floats | None:
        """Propose the next step out of an overlap, else the next one towards the target."""
        scene, aim = (obstacles.tobytes(), arm.grip_radius), target.tobytes()
        # Nothing makes an arm overlap but another scene, or another pose at a reset.
        if scene != self._scene:
            escape = _Escape.needed(arm, obstacles)
            if self._escape is not None and escape is None:
                self.reset()
            self._scene, self._aim, self._escape = scene, b"", escape
        if self._escape is not None:
            step = self._escape.step(arm, dt)
            if step is not None:
                self.state, self.note, self.retreats = "", DRAWING_OUT, True
                return step
            self.reset()
            self._scene = scene
        if aim != self._aim:
            if _is_blocked(target, obstacles, arm.rules.arm_clearance):
                self.state, self.note = BLOCKED, ON_THE_TARGET
            elif self.state == BLOCKED:
                self.reset()
                self._scene = scene
            self._aim = aim
        arrived = math.dist(arm.tip.tolist(), target.tolist()) <= arm.rules.reach_tolerance
        if arrived or self.state == BLOCKED:
            return None
        return self.approach(arm, target, obstacles, dt)

    def approach(self, arm: Arm, target: Floats, obstacles: Floats, dt: float) -> Floats | None:
        """Propose the next step towards the target.

        Arguments and result are those of `propose`.
        """
        raise NotImplementedError


def _is_blocked(target: Floats, obstacles: Floats, clearance: float) -> bool:
    """Tell whether a target lies within the clearance of an obstacle."""
    away = np.hypot(*(obstacles[:, :2] - target).T)
    return bool(np.any(away < obstacles[:, 2] + clearance))


class _Escape:
    """The way of one arm out of one overlap."""

    def __init__(self, body: Body, obstacles: Floats) -> None:
        self._body = body
        self._obstacles = obstacles
        self._retreat = Retreat(body, obstacles)

    @classmethod
    def needed(cls, arm: Arm, obstacles: Floats) -> _Escape | None:
        """Begin one where an arm, or what it holds, overlaps an obstacle."""
        if not len(obstacles):
            return None
        body, circles = body_of(arm), np.array(obstacles)
        room = room_of(np.array(arm.angles), body, circles)
        return cls(body, circles) if room < -CREEP * body.unit else None

    def step(self, arm: Arm, dt: float) -> Floats | None:
        """Give the next step, None where there is room or none can be made."""
        angles = np.array(arm.angles)
        return self._retreat.step(
            angles,
            room_of(angles, self._body, self._obstacles),
            self._obstacles,
            float(arm.parameters.turning_speed) * dt,
            arm.rules.for_kernels(),
        )
