"""The rules of seed 000: segments that talk only to their neighbours."""

from __future__ import annotations

import numpy as np

from octo_reach.model.geometry import Floats
from octo_reach.model.messages import exchange_requests, turn_towards_goals
from octo_reach.model.octopus import Arm
from octo_reach.model.rules import ReachRules


class NeighbourPlanner:
    """Proposes the turns the neighbour rules ask for.

    In an octopus the same rules run compiled for all such arms in one call; this class makes them
    one planner among others, for use on their own and for comparison.

    Attributes:
        name: "neighbour".
        note: always empty.
        gated: True: a blocked or reached target stops the arm.
        follows_neighbours: True.
    """

    name = "neighbour"
    gated = True
    follows_neighbours = True

    def __init__(self, rules: ReachRules | None = None) -> None:
        """Start with fresh requests.

        Args:
            rules: constants of the scene; the pixel scene's where left out.
        """
        self.note = ""
        self._rules = (rules or ReachRules.pixel()).for_kernels()
        self._requests: Floats | None = None
        self._request_headings: Floats | None = None

    def propose(self, arm: Arm, target: Floats, obstacles: Floats, dt: float) -> Floats | None:
        """Pass the requests on by one neighbour and turn every joint towards its goal."""
        count = len(arm.angles)
        if self._requests is None or len(self._requests) != count:
            self._requests = arm.joints[:-1].copy()
            self._request_headings = arm.headings.copy()
        goals = np.empty((count, 2))
        steered = np.empty(count, dtype=np.bool_)
        proposed = np.empty(count)
        parameters = arm.parameters
        base_x, base_y = arm.base.tolist()
        length = float(parameters.segment_length)
        # The kernels only read these, but compiled code tells writable arrays from read-only ones.
        angles, joints, headings = arm.angles.copy(), arm.joints.copy(), arm.headings.copy()
        around = np.array(obstacles)
        assert self._request_headings is not None
        exchange_requests(
            float(target[0]),
            float(target[1]),
            length,
            parameters.maximum_bend,
            joints,
            headings,
            around,
            self._rules,
            self._requests,
            self._request_headings,
            goals,
            steered,
        )
        turn_towards_goals(
            dt,
            base_x,
            base_y,
            length,
            parameters.maximum_bend,
            parameters.turning_speed,
            angles,
            around,
            self._rules,
            goals,
            steered,
            proposed,
        )
        return proposed

    def reset(self) -> None:
        """Start with fresh requests again."""
        self._requests = None
        self._request_headings = None
