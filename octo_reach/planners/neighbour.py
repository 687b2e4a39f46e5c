"""The rules of seed 000: segments that talk only to their neighbours."""

from __future__ import annotations

import numpy as np

from octo_reach.model.geometry import Floats
from octo_reach.model.messages import exchange_requests, turn_towards_goals
from octo_reach.model.octopus import Arm
from octo_reach.model.reach import Planner
from octo_reach.model.rules import ReachRules
from octo_reach.model.state import LINK, Table, pairs_of


class NeighbourPlanner(Planner):
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
    follows_neighbours = True

    def __init__(self, rules: ReachRules | None = None) -> None:
        """Start with fresh requests.

        Args:
            rules: constants to go by; those of the arm's scene where left out.
        """
        self._rules = rules
        self._links: Table | None = None

    def propose(
        self, arm: Arm, target: Floats, obstacles: Floats, dt: float
    ) -> Floats | None:
        """Pass the requests on by one neighbour and turn every joint towards its goal."""
        count = len(arm.angles)
        links = self._links
        fresh = links is None or len(links) != count + 1
        if links is None or fresh:
            links = self._links = np.zeros(count + 1, LINK)
        pairs_of(links, "")[:] = arm.joints
        links["angle"][:count] = arm.angles
        links["heading"][:count] = arm.headings
        if fresh:
            pairs_of(links, "request")[:] = arm.joints
            links["request_heading"][:count] = arm.headings
        parameters = arm.parameters
        length = float(parameters.segment_length)
        bend = float(parameters.maximum_bend)
        # The kernels only read these, but compiled code tells writable arrays from read-only ones.
        around = np.array(obstacles)
        nearby = np.empty((len(around), 4))
        rules = (self._rules or arm.rules).for_kernels()
        exchange_requests(
            float(target[0]),
            float(target[1]),
            count,
            length,
            bend,
            links,
            around,
            rules,
            nearby,
        )
        turn_towards_goals(
            dt,
            count,
            length,
            bend,
            float(parameters.turning_speed),
            links,
            around,
            around,
            -1.0,
            rules,
            nearby,
        )
        proposed: Floats = links["proposed"][:count].copy()
        return proposed

    def reset(self) -> None:
        """Start with fresh requests again."""
        self._links = None
