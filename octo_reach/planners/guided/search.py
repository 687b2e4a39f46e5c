"""One search for a path from the present pose to a target, a slice of bounded work at a time.

Goal poses first, each tried straight from the start; then the arm drawn in by the coil ladder; then
two trees. What is found by the last two is made shorter. The search works on the scene as it was
when it began; whoever follows the path certifies it anew where the scene has changed since.
"""

from __future__ import annotations

import math

import numpy as np

from octo_reach.model.geometry import Floats
from octo_reach.planners.guided.beginnings import Draws
from octo_reach.planners.guided.body import Body
from octo_reach.planners.guided.coil_ladder import climb
from octo_reach.planners.guided.connect_tree import connect
from octo_reach.planners.guided.room import CALL, Room, Sliced, duration
from octo_reach.planners.guided.shortcut import (
    LEAST_GAIN,
    cut_corner,
    draw_in_knot,
    leave_out_knots,
    length_of,
)

MARGINS = (1.0, 0.3, 0.05)
"""Room to leave beyond the clearance, in pixels, tried in this order: the first needs no slow steps
under the guard, whose padding is up to half a sample."""
STAGES = (
    (0, range(16), 0.15, 3_000_000),
    (1, range(16), 0.15, 3_000_000),
    (2, range(16), 0.15, 3_000_000),
    (1, range(16, 48), 0.05, 20_000_000),
    (1, range(48, 80), 0.05, 20_000_000),
    (2, range(16, 80), 0.05, 20_000_000),
)
"""What is tried, one after the other: which of the margins, beginnings of goal poses, share of the
joints that fold at a time where the arm is drawn in, and work of the two trees."""
MOST_BEGINNINGS = 96
"""Beginnings that are tried at the most for a goal pose that is nearer."""
TREE_JOINTS = 240
"""Joints of all the goal poses, the nearest, that are roots of the tree."""
TREES = 5
"""How often the trees are grown, at most, for the best of their paths."""
VAIN_AT_FIRST = 12
"""Attempts in a row that may be in vain before a path counts as short, when it is one of some."""
VAIN = 60
"""The same for the one that is taken."""
SHARE_FOR_BETTER = 0.15
"""Share of the time a path takes that is spent in looking for a shorter one, in a quiet scene."""
MOST_SLICES = 40
"""Slices spent so, at most."""
SAME = 0.1
"""Goal poses nearer to one another than this are one, rad."""


class Search:
    """A search under way.

    Attributes:
        start: joint angles it begins at, shape (N,), rad.
        obstacles: centre and radius of each obstacle as they were then, shape (K, 3).
        path: the poses of the path from start to goal, once found; its base angles are counted on
            from the start, not wrapped.
        margin: room that the path leaves, in the scene's unit.
        failure: why there is no path, once that is certain as far as this search goes; else empty.
        slices: how many slices it has had.
    """

    def __init__(
        self,
        body: Body,
        start: Floats,
        aim: tuple[float, float],
        tolerance: float,
        obstacles: Floats,
        room: float,
        turn: float,
        draws: Draws,
        share_for_better: float = SHARE_FOR_BETTER,
    ) -> None:
        """Prepare a search; nothing is worked out yet.

        Args:
            body: the arm.
            start: joint angles to begin at, shape (N,), rad.
            aim: where the tip, or what is held, should go.
            tolerance: how near is near enough, in the scene's unit.
            obstacles: centre and radius of each obstacle, shape (K, 3); kept, not copied.
            room: least room at the start, above 0, in the scene's unit.
            turn: most that a joint turns while one slice is worked on, rad.
            draws: numbers drawn by lot.
            share_for_better: share of the time a path takes that may be spent in looking for a
                shorter one.
        """
        self.start = start
        self.path: list[Floats] | None = None
        self.margin = 0.0
        self.failure = ""
        self.slices = 0
        self._body = body
        self._aim = aim
        self._tolerance = tolerance
        self.obstacles = obstacles
        self._turn = turn
        self._draws = draws
        self._share_for_better = share_for_better
        self._goals: dict[float, list[Floats]] = {}
        margins = [size * body.unit for size in MARGINS if size * body.unit <= 0.5 * room]
        self._margins = margins or [0.5 * room]
        self._work = self._run()

    @property
    def done(self) -> bool:
        """Whether there is a path, or the search is exhausted."""
        return self.path is not None or bool(self.failure)

    def advance(self, budget: int) -> int:
        """Work on for a slice; give the work done, which goes beyond the budget by one part."""
        self.slices += 1
        spent = 0
        while spent < budget and not self.done:
            try:
                spent += next(self._work)
            except StopIteration:
                break
        return spent

    def _run(self) -> Sliced[None]:
        for number, beginnings, share, work in STAGES:
            self.margin = self._margins[min(number, len(self._margins) - 1)]
            room = Room(self._body, self.obstacles, self.margin, self._draws)
            goals = self._goals.setdefault(self.margin, [])
            path = yield from self._straight(room, goals, beginnings)
            if path is None and goals:
                group = max(1, math.ceil(share * self._body.segments))
                path = yield from self._around(room, goals, group, work)
            if path is not None:
                self.path = path
                return
        if any(self._goals.values()):
            self.failure = "no way to the target was found"
        else:
            self.failure = "no clear pose reaches the target"

    def _straight(
        self, room: Room, goals: list[Floats], beginnings: range
    ) -> Sliced[list[Floats] | None]:
        """Look for goal poses, and for the nearest that a straight edge leads to."""
        best: list[Floats] | None = None
        least = math.inf
        begun = self.slices
        for number in range(beginnings.start, MOST_BEGINNINGS):
            if best is None and number >= beginnings.stop:
                break
            if best is not None and self.slices - begun >= self._slices_for(least):
                break
            goal = yield from room.goal_pose(number, self.start, self._aim, self._tolerance)
            if goal is None:
                continue
            time = duration(self.start, goal)
            if time < least and (yield from room.clear(self.start, goal)):
                best, least = [self.start, goal], time
            elif best is None:
                yield CALL * (1 + len(goals))
                if all(duration(goal, other) >= SAME for other in goals):
                    goals.append(goal)
        goals.sort(key=lambda goal: duration(self.start, goal))
        return best

    def _around(
        self, room: Room, goals: list[Floats], group: int, work: int
    ) -> Sliced[list[Floats] | None]:
        """Look for a path by two trees, a few times over, and make the best one shorter.

        The arm drawn in step by step is in the trees from the beginning.
        """
        roots = max(3, TREE_JOINTS // self._body.segments)
        up = []
        down = []
        for side in (self._body.bend, -self._body.bend):
            up.append((yield from climb(room, self.start, group, side)))
            for goal in goals[:roots]:
                down.append((yield from climb(room, goal, group, side)))
        best: list[Floats] | None = None
        begun = self.slices
        for _ in range(TREES):
            path = yield from connect(room, up, down, work)
            if path is None:
                break
            path = yield from self._shortened(room, path, VAIN_AT_FIRST)
            if best is None or length_of(path) < length_of(best):
                best = path
            if self.slices - begun > 0.5 * self._slices_for(length_of(best)):
                break
        if best is None:
            return None
        return (yield from self._shortened(room, best, VAIN))

    def _shortened(self, room: Room, path: list[Floats], patience: int) -> Sliced[list[Floats]]:
        """Make a path shorter, until so many attempts in a row were in vain."""
        begun = self.slices
        path = yield from leave_out_knots(room, path)
        length = length_of(path)
        vain = 0
        while vain < patience and len(path) > 2:
            if self.slices - begun > 0.5 * self._slices_for(length):
                break
            path = yield from cut_corner(room, path)
            path = yield from draw_in_knot(room, path)
            shorter = length_of(path)
            vain = vain + 1 if shorter > length - LEAST_GAIN else 0
            length = shorter
        kept = [path[0]]
        for pose in path[1:]:
            if np.any(pose != kept[-1]):
                kept.append(pose)
        return kept if len(kept) > 1 else path

    def _slices_for(self, length: float) -> int:
        """Give how many slices a path of a length, in rad of the slowest joint, is worth."""
        slices = self._share_for_better * length / max(self._turn, 1e-9)
        return min(MOST_SLICES, math.floor(slices))
