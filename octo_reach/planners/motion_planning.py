"""Paths in joint space by the sampling planners of OMPL, the Open Motion Planning Library.

Where no straight way is clear, the library draws poses and connects them. Which poses are clear,
which edges between them are certain to be clear on their whole length, and in which poses the
target is reached is worked out here. OMPL is an extra (`planning`): nothing else in the package
needs it.

plan = plan_path(body_of(arm), arm.angles, (200.0, 100.0), obstacles)
plan.path, plan.reason
"""

from __future__ import annotations

import importlib
import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from octo_reach.model.geometry import Floats, wrap
from octo_reach.planners.guided.beginnings import Draws
from octo_reach.planners.guided.body import Body
from octo_reach.planners.guided.certified_edges import CERTIFIED, certify
from octo_reach.planners.guided.clearance import room_of
from octo_reach.planners.guided.room import Room

ALGORITHMS = (
    "RRTConnect",
    "RRT",
    "KPIECE1",
    "BKPIECE1",
    "LBKPIECE1",
    "FMT",
    "BITstar",
    "RRTstar",
)
"""Planners of OMPL that can be chosen, by the names they have there. Left out are those that do not
come back under Python (OMPL 2.0.1): PRM and its kind call back from a thread of their own, the
informed kinds of RRTstar may draw without end where the straight way is clear, and BFMT crashes."""
UNTIL_THE_END = ("BITstar", "RRTstar")
"""Those that look for shorter paths until their time is up."""

SECONDS = 5.0
ATTEMPT = 0.5
"""After so long a search is given up and another begun with another seed, s."""
ROUNDS = 2
"""After so many rounds without a single goal pose the target counts as out of reach."""
MARGINS = (1.0, 0.3, 0.05)
"""Room to leave beyond the clearance, in pixels, tried in this order."""
TOLERANCE = 0.1
"""How near to the target a path ends unless told otherwise, in pixels."""
BEGINNINGS = 48
"""Poses from which goal poses are looked for."""
MOST_GOALS = 16
SAME = 0.1
"""Goal poses nearer to one another than this in every joint are one, rad."""
RANGES = (1.0, 0.5, 2.0)
"""Longest edges of a tree, rad over all joints together, taken in turn: what one scene needs is of
no use in another. OMPL's own choice, a part of the whole space, is about 3, and such edges of an
arm of many joints are hardly ever clear."""
WORK = 1 << 30
"""More than any edge takes to certify: it is never left undecided."""


class UnknownAlgorithmError(ValueError):
    """OMPL is not asked for a planner of that name."""

    def __init__(self, name: object) -> None:
        """Name what was asked for and what there is."""
        super().__init__(f"algorithm must be one of {', '.join(ALGORITHMS)}, got {name!r}")


class MissingLibraryError(RuntimeError):
    """OMPL is not installed."""

    def __init__(self) -> None:
        """Name what is missing and where it comes from."""
        super().__init__(
            "motion planning needs ompl, which is not installed here: take the extra planning, in a"
            " checkout: pip install '.[planning]'"
        )


@dataclass(frozen=True, eq=False)
class PathPlan:
    """What came of planning a path.

    Attributes:
        path: joint angles from the start to a goal pose, shape (K, N), rad, the straight edges
            between which are certain to be clear; None where there is none. Base angles are
            counted on, not wrapped.
        reason: why there is no path; empty where there is one.
        margin: room that the path leaves beyond the clearance, in the scene's unit.
        goals: how many goal poses there were to choose from.
        seconds: how long it took, s.
    """

    path: Floats | None
    reason: str = ""
    margin: float = 0.0
    goals: int = 0
    seconds: float = 0.0

    @property
    def duration(self) -> float:
        """Largest turns of a joint on each edge, added up, rad: over the speed, how long it is."""
        return float(self.times(1.0)[-1]) if self.path is not None else math.inf

    def times(self, turning_speed: float) -> Floats:
        """Give when an arm is at each pose at its fastest, shape (K,), s, from 0 at the start.

        Args:
            turning_speed: fastest change of any joint angle, rad/s.

        Raises:
            ValueError: there is no path.
        """
        if self.path is None:
            raise ValueError(f"there is no path: {self.reason}")
        turns = np.abs(np.diff(self.path, axis=0)).max(axis=1)
        times: Floats = np.concatenate(([0.0], np.cumsum(turns / turning_speed)))
        return times


def require_library() -> None:
    """Make sure that OMPL is there to plan with.

    Raises:
        MissingLibraryError: it is not installed.
    """
    _load_library()


def checked_algorithm(name: object) -> str:
    """Give the name of an algorithm.

    Raises:
        UnknownAlgorithmError: there is none of that name; the text gives the choices.
    """
    if not isinstance(name, str) or name not in ALGORITHMS:
        raise UnknownAlgorithmError(name)
    return name


def plan_path(
    body: Body,
    start: ArrayLike,
    target: Sequence[float],
    obstacles: ArrayLike,
    algorithm: str = ALGORITHMS[0],
    seconds: float = SECONDS,
    seed: int = 1,
    tolerance: float | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> PathPlan:
    """Plan a path that brings the tip of an arm, or what it holds, to a target.

    The same seed gives the same path where a search comes to its end before its time.

    Args:
        body: the arm, see `body_of`.
        start: joint angles it starts from, shape (N,), rad.
        target: where the tip, or the centre of what is held, should go, (x, y).
        obstacles: centre and radius of each obstacle, shape (K, 3).
        algorithm: one of `ALGORITHMS`.
        seconds: how long it may take, s.
        seed: of what is drawn by lot, from 1.
        tolerance: how near to the target the path is to end, in the scene's unit; left out,
            `TOLERANCE`.
        stopped: asked now and then whether to give up early.

    Returns:
        The path, or why there is none.

    Raises:
        MissingLibraryError: OMPL is not installed.
        UnknownAlgorithmError: the algorithm is none of `ALGORITHMS`.
        ValueError: a shape does not fit, or a number is not finite or out of range.
    """
    checked_algorithm(algorithm)
    pose, aim, circles = _checked(body, start, target, obstacles)
    if not (math.isfinite(seconds) and seconds > 0.0):
        raise ValueError(f"seconds must be a finite number above 0, got {seconds!r}")
    if not 1 <= seed < 2**30:
        raise ValueError(f"seed must be from 1 to {2**30 - 1}, got {seed!r}")
    library = _load_library()
    near = TOLERANCE * body.unit if tolerance is None else tolerance
    if not (math.isfinite(near) and near > 0.0):
        raise ValueError(f"tolerance must be a finite number above 0, got {tolerance!r}")

    begun = time.monotonic()
    deadline = begun + seconds

    def is_over() -> bool:
        return stopped() or time.monotonic() >= deadline

    def taken() -> float:
        return time.monotonic() - begun

    room = room_of(pose, body, circles)
    if room <= 0.0:
        return PathPlan(None, "the arm does not keep its clearance where it is", seconds=taken())
    if math.dist(aim, (body.base_x, body.base_y)) > body.reach + near:
        return PathPlan(None, "the target lies beyond the arm's reach", seconds=taken())
    widths = [size * body.unit for size in MARGINS if size * body.unit <= 0.5 * room]
    margins = widths or [0.5 * room]
    reason = "no clear pose of the arm was found that reaches the target"
    most_goals = 0
    # A tree that has grown the wrong way is seldom worth waiting for: others are begun in turn.
    attempt = seconds / len(margins) if algorithm in UNTIL_THE_END else ATTEMPT
    for turn in itertools.count():
        margin = margins[turn % len(margins)]
        drawn = seed + turn // len(margins)
        goals = _find_goals(body, pose, aim, circles, margin, near, drawn, is_over)
        most_goals = max(most_goals, len(goals))
        search = _Search(library, body, circles, margin, is_over)
        path = search.straight(pose, goals)
        for longest in RANGES if goals else ():
            if path is None and not is_over():
                path = search.run(algorithm, pose, goals, longest, attempt, drawn)
        if path is not None:
            return PathPlan(path, "", margin, len(goals), taken())
        if is_over() or (most_goals == 0 and turn + 1 >= ROUNDS * len(margins)):
            break
    if most_goals > 0:
        reason = f"{algorithm} found no way to a pose that reaches the target in {seconds:g} s"
    if stopped():
        reason = "planning was stopped"
    return PathPlan(None, reason, goals=most_goals, seconds=taken())


def is_clear(body: Body, path: Floats, obstacles: Floats, margin: float) -> bool:
    """Tell whether all edges of a path are certain to be clear, as after a scene has changed.

    Args:
        body: the arm.
        path: joint angles, shape (K, N), rad.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        margin: room to leave beyond the clearance, in the scene's unit.
    """
    moves = np.empty((2, body.segments + 1))
    return all(
        _is_certain(one, other, body, obstacles, margin, moves) for one, other in pairwise(path)
    )


def rest_of_path(path: Floats, angles: Floats) -> Floats:
    """Give what is left of a path for an arm on its way, from its pose on, shape (K, N), rad.

    Args:
        path: joint angles, shape (K, N), rad.
        angles: where the arm is, shape (N,), rad; its base may be counted otherwise.
    """
    pose = np.array(angles)
    least, place = math.inf, len(path) - 1
    for edge, (start, end) in enumerate(pairwise(path)):
        way = end - start
        off = pose - start
        off[0] = wrap(float(off[0]))
        along = float(off @ way) / max(float(way @ way), 1e-300)
        away = float(np.linalg.norm(off - min(1.0, max(0.0, along)) * way))
        # Of places just as near the later one counts: between two edges, the second.
        if away <= least + 1e-9:
            least, place = away, edge
    pose[0] = path[place, 0] + wrap(float(pose[0] - path[place, 0]))
    rest: Floats = np.vstack((pose, path[place + 1 :]))
    return rest


def _checked(
    body: Body, start: ArrayLike, target: Sequence[float], obstacles: ArrayLike
) -> tuple[Floats, tuple[float, float], Floats]:
    pose = np.array(start, dtype=np.float64)
    if pose.shape != (body.segments,) or not np.all(np.isfinite(pose)):
        raise ValueError(f"start must be {body.segments} finite angles, got {pose.tolist()}")
    aim = np.array(target, dtype=np.float64)
    if aim.shape != (2,) or not np.all(np.isfinite(aim)):
        raise ValueError(f"target must be two finite numbers (x, y), got {target!r}")
    circles = np.array(obstacles, dtype=np.float64).reshape(-1, 3)
    if not np.all(np.isfinite(circles)):
        raise ValueError(f"obstacles must be finite, got {circles.tolist()}")
    # A pose may lie beyond the limit by what rounding leaves.
    pose[1:] = np.clip(pose[1:], -body.bend, body.bend)
    x, y = aim.tolist()
    return pose, (x, y), circles


def _find_goals(
    body: Body,
    start: Floats,
    aim: tuple[float, float],
    obstacles: Floats,
    margin: float,
    tolerance: float,
    seed: int,
    is_over: Callable[[], bool],
) -> list[Floats]:
    """Look for clear poses that reach the target, the way there of each and once round as well."""
    room = Room(body, obstacles, margin, Draws(seed))
    found: list[Floats] = []
    for number in range(BEGINNINGS):
        search = room.goal_pose(number, start, aim, tolerance)
        while True:
            try:
                next(search)
            except StopIteration as end:
                pose = end.value
                break
        if pose is None or room_of(pose, body, obstacles) < margin:
            continue
        if all(np.abs(pose - other).max() > SAME for other in found):
            found.append(pose)
        if len(found) == MOST_GOALS or is_over():
            break
    around = []
    for pose in found:
        other = pose.copy()
        other[0] -= math.copysign(2.0 * math.pi, pose[0] - start[0])
        around.append(other)
    return found + around


@dataclass(frozen=True)
class _Library:
    """The modules of OMPL that are used; how they are named and typed is the library's matter."""

    base: Any = field(repr=False)
    geometric: Any = field(repr=False)
    util: Any = field(repr=False)


def _load_library() -> _Library:
    try:
        base = importlib.import_module("ompl.base")
        geometric = importlib.import_module("ompl.geometric")
        util = importlib.import_module("ompl.util")
    except ImportError:
        raise MissingLibraryError from None
    util.setLogLevel(util.LogLevel.LOG_NONE)
    return _Library(base, geometric, util)


class _Search:
    """One problem, put to OMPL."""

    def __init__(
        self,
        library: _Library,
        body: Body,
        obstacles: Floats,
        margin: float,
        is_over: Callable[[], bool],
    ) -> None:
        self._library = library
        self._body = body
        self._obstacles = obstacles
        self._margin = margin
        self._is_over = is_over
        self._moves = np.empty((2, body.segments + 1))

    def straight(self, start: Floats, goals: list[Floats]) -> Floats | None:
        """Give the shortest straight edge to a goal, as no planner of OMPL tries that first."""
        for goal in sorted(goals, key=lambda goal: float(np.abs(goal - start).max())):
            if self.is_certain(start, goal):
                return np.array((start, goal))
        return None

    def run(
        self,
        algorithm: str,
        start: Floats,
        goals: list[Floats],
        longest: float,
        seconds: float,
        seed: int,
    ) -> Floats | None:
        """Search for a path, and make it shorter; give its poses, shape (K, N), or None."""
        base = self._library.base
        # Whatever draws by lot is made from here on, so the same seed gives the same draws.
        self._library.util.RNG.setSeed(seed)
        count = self._body.segments
        space = base.RealVectorStateSpace(count)
        bounds = base.RealVectorBounds(count)
        bounds.setLow(-self._body.bend)
        bounds.setHigh(self._body.bend)
        bounds.setLow(0, float(start[0]) - 2.0 * math.pi)
        bounds.setHigh(0, float(start[0]) + 2.0 * math.pi)
        space.setBounds(bounds)
        information = base.SpaceInformation(space)
        information.setStateValidityChecker(self._is_clear)
        validator = _edges_of(base)(information, self.is_certain)
        information.setMotionValidator(validator)
        setup = self._library.geometric.SimpleSetup(information)
        setup.setStartState(_state_of(space, start))
        states = base.GoalStates(information)
        for goal in goals:
            states.addState(_state_of(space, goal))
        setup.setGoal(states)
        planner = getattr(self._library.geometric, algorithm)(information)
        if hasattr(planner, "setRange"):
            planner.setRange(longest)
        setup.setPlanner(planner)
        deadline = time.monotonic() + seconds
        setup.solve(
            base.PlannerTerminationCondition(
                lambda: self._is_over() or time.monotonic() >= deadline
            )
        )
        if not setup.haveExactSolutionPath():
            return None
        path = setup.getSolutionPath()
        simplifier = self._library.geometric.PathSimplifier(information)
        simplifier.reduceVertices(path)
        simplifier.partialShortcutPath(path)
        simplifier.reduceVertices(path)
        poses = [path.getState(i)[0:count] for i in range(path.getStateCount())]
        found = np.array([pose for i, pose in enumerate(poses) if i == 0 or pose != poses[i - 1]])
        # What the library made of it is looked at once more: only certain edges leave here.
        whole = np.array_equal(found[0], start) and any(
            np.array_equal(found[-1], goal) for goal in goals
        )
        certain = is_clear(self._body, found, self._obstacles, self._margin)
        return found if whole and certain else None

    def _is_clear(self, state: Any) -> bool:
        pose = np.array(state[0 : self._body.segments])
        return bool(room_of(pose, self._body, self._obstacles) >= self._margin)

    def is_certain(self, start: Floats, end: Floats) -> bool:
        """Tell whether the straight edge between two poses is certain to be clear."""
        return _is_certain(start, end, self._body, self._obstacles, self._margin, self._moves)


def _is_certain(
    start: Floats, end: Floats, body: Body, obstacles: Floats, margin: float, moves: Floats
) -> bool:
    verdict, _, _ = certify(start, end, 0.0, True, body, obstacles, margin, WORK, moves)
    return bool(verdict == CERTIFIED)


def _state_of(space: Any, pose: Floats) -> Any:
    state = space.allocState()
    for joint, angle in enumerate(pose.tolist()):
        state[joint] = angle
    return state


def _edges_of(base: Any) -> Any:
    """Make the class that tells OMPL which edges are clear: its own base is only known by now."""

    class Edges(base.MotionValidator):  # type: ignore[misc]
        def __init__(self, information: Any, certain: Callable[[Floats, Floats], bool]) -> None:
            super().__init__(information)
            self._count = information.getStateDimension()
            self._certain = certain

        def checkMotion(self, start: Any, end: Any) -> bool:  # noqa: N802
            return self._certain(np.array(start[0 : self._count]), np.array(end[0 : self._count]))

    return Edges
