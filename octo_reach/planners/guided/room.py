"""The free space of one search: edges and goal poses asked for in slices of bounded work.

What takes long is a generator: it yields the work it has done each time it has done some, and
returns its answer. Work is counted in looks of one segment at one obstacle, so that how much is
done in a slice never depends on the clock.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

import numpy as np

from octo_reach.model.geometry import Floats
from octo_reach.planners.guided.beginnings import LOTS, Draws, begin_pose
from octo_reach.planners.guided.body import Body
from octo_reach.planners.guided.certified_edges import CERTIFIED, UNDECIDED, certify
from octo_reach.planners.guided.clearance import query_cost
from octo_reach.planners.guided.goal_poses import solve_pose

Answer = TypeVar("Answer")
Sliced = Generator[int, None, Answer]
"""Work that is done in slices: yields what each part has cost, returns the answer."""

CALL = 2_000
"""Cost of one call of a kernel from Python, in the unit of work."""
MOUTHFUL = 30_000
"""Most work of one call of a kernel, about."""
CLOSE_PAIRS = 64
"""Most pairs of segment and obstacle that are pushed apart at once."""
ITERATIONS = 60
"""Most iterations for one goal pose."""


def duration(start: Floats, end: Floats) -> float:
    """Give the largest change of any joint angle, rad: over the speed, how long an edge takes."""
    return float(np.abs(end - start).max())


class Room:
    """The arm, the obstacles around it, and the room that has to be left between them.

    Attributes:
        body: the arm.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        margin: room that every edge leaves, in the scene's unit.
        draws: numbers drawn by lot.
    """

    def __init__(self, body: Body, obstacles: Floats, margin: float, draws: Draws) -> None:
        """Set aside what the kernels work in."""
        self.body = body
        self.obstacles = obstacles
        self.margin = margin
        self.draws = draws
        self._moves = np.empty((2, body.segments + 1))
        self._joints = np.empty((body.segments + 1, 2))
        self._close = np.empty((CLOSE_PAIRS, 6))
        self._rows = np.empty((4, body.segments))
        self._iteration = 3 * query_cost(body, obstacles)

    def clear(self, start: Floats, end: Floats) -> Sliced[bool]:
        """Tell whether the straight edge between two poses is certain to be clear."""
        share = yield from self._certify(start, end, whole=True)
        return share >= 1.0

    def clear_part(self, start: Floats, end: Floats) -> Sliced[float]:
        """Give the share of an edge, from its start, that is certain to be clear."""
        return (yield from self._certify(start, end, whole=False))

    def _certify(self, start: Floats, end: Floats, *, whole: bool) -> Sliced[float]:
        covered = 0.0
        while True:
            verdict, covered, work = certify(
                start,
                end,
                covered,
                whole,
                self.body,
                self.obstacles,
                self.margin,
                MOUTHFUL,
                self._moves,
            )
            yield work + CALL
            if verdict == CERTIFIED:
                return 1.0
            if verdict != UNDECIDED:
                return min(covered, 1.0 - 1e-9)

    def goal_pose(
        self, number: int, present: Floats, aim: tuple[float, float], tolerance: float
    ) -> Sliced[Floats | None]:
        """Look for a clear pose at the aim from the beginning of a number, see `begin_pose`."""
        body = self.body
        pose = np.empty(body.segments)
        begin_pose(number, self.draws.take(LOTS), present, aim[0], aim[1], body, pose)
        yield CALL
        # What is a little clearer than the margin can be certified up to its end.
        margin = self.margin + min(0.05 * body.unit, 0.2 * self.margin)
        chunk = max(1, MOUTHFUL // self._iteration)
        left = ITERATIONS
        while left > 0:
            found, iterations = solve_pose(
                pose,
                aim[0],
                aim[1],
                tolerance,
                body,
                self.obstacles,
                margin,
                min(chunk, left),
                self._joints,
                self._close,
                self._rows,
            )
            yield iterations * self._iteration + CALL
            if found:
                # The base is counted on from the present pose: the short way round.
                turns = round((pose[0] - present[0]) / (2.0 * np.pi))
                pose[0] -= 2.0 * np.pi * turns
                return pose
            left -= iterations
        return None
