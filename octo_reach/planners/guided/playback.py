"""A path followed: along its straight edges, at full speed, onto every knot."""

from __future__ import annotations

import numpy as np

from octo_reach.model.geometry import Floats
from octo_reach.model.rules import KernelRules
from octo_reach.planners.guided.body import Body
from octo_reach.planners.guided.certified_edges import CERTIFIED, UNDECIDED, certify
from octo_reach.planners.guided.guarded_steps import guard_tables, step_is_safe
from octo_reach.planners.guided.room import CALL, MOUTHFUL, duration

HALVINGS = 8
"""How often a step that the guard refuses is halved."""


class Playback:
    """A path, how far it has been followed, and how far it is known to be clear.

    Attributes:
        margin: room that the path left when it was planned, in the scene's unit.
        refused: True where something ahead is not clear among the obstacles as they are.
        undecided: True where the last step was not taken because what lies ahead is not certified
            yet, and not because of what the guard would say.
    """

    def __init__(self, path: list[Floats], margin: float, body: Body, obstacles: Floats) -> None:
        """Begin at the start of a path that is certified among these obstacles.

        Args:
            path: poses, at least two, each of shape (N,), rad.
            margin: room the path leaves, in the scene's unit.
            body: the arm.
            obstacles: centre and radius of each obstacle, shape (K, 3); kept, not copied.
        """
        self.margin = margin
        self.refused = False
        self.undecided = False
        self._path = path
        self._body = body
        self._edge = 0
        self._share = 0.0
        self._obstacles = obstacles
        self._known = (len(path), 0.0)
        self._doubtful = obstacles
        self._moves = np.empty((2, body.segments + 1))
        self._links, self._pairs = guard_tables(body.segments, len(obstacles))

    @property
    def finished(self) -> bool:
        """Whether the last knot is reached."""
        return self._edge >= len(self._path) - 1

    @property
    def pose(self) -> Floats:
        """Joint angles at the place that is reached, shape (N,), rad; the base is not wrapped."""
        if self.finished:
            return self._path[-1]
        start, end = self._path[self._edge : self._edge + 2]
        return start + self._share * (end - start)

    @property
    def ahead(self) -> list[Floats]:
        """What is left of the path: the place that is reached, and the knots after it."""
        return [self.pose, *self._path[self._edge + 1 :]]

    def doubt(self, obstacles: Floats) -> None:
        """Take the obstacles as they are now: what lies ahead has to be certified anew.

        Args:
            obstacles: centre and radius of each obstacle, shape (K, 3); kept, not copied.
        """
        if self._known[0] >= len(self._path) and obstacles.shape == self._obstacles.shape:
            # All was certified among the former ones: those that stayed need no second look.
            changed = np.any(obstacles != self._obstacles, axis=1)
            self._doubtful = np.ascontiguousarray(obstacles[changed])
        else:
            self._doubtful = obstacles
        if len(obstacles) != len(self._obstacles):
            self._links, self._pairs = guard_tables(self._body.segments, len(obstacles))
        self._obstacles = obstacles
        self._known = (self._edge, self._share)
        self.refused = False

    @property
    def known_ahead(self) -> float:
        """How far ahead the path is known to be clear, rad of the slowest joint."""
        edge, share = self._known
        if edge >= len(self._path) - 1:
            edge, share = len(self._path) - 2, 1.0
        known = 0.0
        for number in range(self._edge, edge + 1):
            begin = self._share if number == self._edge else 0.0
            end = share if number == edge else 1.0
            known += (end - begin) * duration(self._path[number], self._path[number + 1])
        return known

    def certify_ahead(self, margin: float, budget: int) -> None:
        """Certify more of what lies ahead, within a budget of work.

        Args:
            margin: room to leave, in the scene's unit.
            budget: work that may be spent.
        """
        while self._known[0] < len(self._path) - 1 and budget > 0 and not self.refused:
            edge, covered = self._known
            verdict, covered, work = certify(
                self._path[edge],
                self._path[edge + 1],
                covered,
                False,
                self._body,
                self._doubtful,
                margin,
                min(budget, MOUTHFUL),
                self._moves,
            )
            budget -= work + CALL
            if verdict == CERTIFIED:
                self._known = (edge + 1, 0.0)
            else:
                self._known = (edge, covered)
                self.refused = verdict != UNDECIDED
        if self._known[0] >= len(self._path) - 1:
            self._known = (len(self._path), 0.0)

    def step(self, angles: Floats, largest_turn: float, rules: KernelRules) -> Floats | None:
        """Move on by one step, and give the pose after it.

        Args:
            angles: joint angles as they are, shape (N,), rad.
            largest_turn: most that a joint may turn, rad.
            rules: constants of the scene.

        Returns:
            Joint angles, shape (N,), rad, or None where what lies ahead is not known to be clear,
            or the guard would refuse even a small step.
        """
        start, end = self._path[self._edge : self._edge + 2]
        length = duration(start, end)
        share = 1.0 if length <= 0.0 else largest_turn / length
        for _ in range(HALVINGS):
            after = self._share + share
            # A rest of an edge too short to be seen is not left for a step of its own.
            lands = after >= 1.0 - 1e-9
            known = self._known[0] > self._edge or self._known >= (self._edge, after)
            self.undecided = not known
            if known:
                proposed = end if lands else start + after * (end - start)
                if step_is_safe(
                    angles,
                    proposed,
                    self._body,
                    self._obstacles,
                    rules,
                    self._links,
                    self._pairs,
                ):
                    if lands:
                        self._edge, self._share = self._edge + 1, 0.0
                    else:
                        self._share = after
                    return proposed
            share *= 0.5
        return None
