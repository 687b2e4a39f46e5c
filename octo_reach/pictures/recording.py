"""What a picture or an animation needs to know of a run, collected while it goes on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from octo_reach.model.geometry import Floats
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import UPDATE_RATE
from octo_reach.model.scene import SceneObject

Point = tuple[float, float]

MOVED = 1.0
"""An object that moved less than this did not move, in pixels of a pixel scene."""
FRAME_RATE = 25.0
"""Frames of an animation a second: a GIF counts in hundredths of one."""


@dataclass(frozen=True)
class Frame:
    """One moment of a run.

    Attributes:
        seconds: simulated time, s.
        joints: joint positions of every arm, shape (N + 1, 2) each, in the scene's unit.
        targets: where each arm was sent, (x, y), or None where it was not.
        states: what each arm is doing, in a word or two.
        objects: the objects, in the scene's order.
        owners: number of the arm that holds each held object, by the object's number.
    """

    seconds: float
    joints: tuple[Floats, ...]
    targets: tuple[Point | None, ...]
    states: tuple[str, ...]
    objects: tuple[SceneObject, ...]
    owners: dict[int, int]


@dataclass(frozen=True)
class _Trail:
    """Positions in the order of time."""

    points: list[Point] = field(default_factory=list)

    def add(self, point: Point) -> None:
        if not self.points or self.points[-1] != point:
            self.points.append(point)


class Recording:
    """A run, as far as it is to be drawn. Lengths are in the scene's unit.

    Attributes:
        numbers: arm numbers.
        bases: base of each arm, (x, y).
        reaches: length of each arm.
        unit: length of one pixel of a pixel scene in the scene's unit.
        y_down: whether y points down on the screen.
        first: the start of the run, None before `record` was called.
        last: its latest moment, None before `record` was called.
        frames: the moments to animate, `frame_rate` a second.
        sent: every place each arm was sent to by a reach, by its number.
    """

    def __init__(self, frame_rate: float | None = None) -> None:
        """Begin with nothing.

        Args:
            frame_rate: how many moments of a second are kept for an animation; None for none.
        """
        self.numbers: tuple[int, ...] = ()
        self.bases: tuple[Point, ...] = ()
        self.reaches: tuple[float, ...] = ()
        self.unit = 1.0
        self.y_down = True
        self.first: Frame | None = None
        self.last: Frame | None = None
        self.frames: list[Frame] = []
        self.sent: dict[int, list[Point]] = {}
        self._frame_rate = frame_rate
        self._latest: Octopus | None = None
        self._tips: list[_Trail] = []
        self._places: dict[int, _Trail] = {}
        self._seen: dict[int, SceneObject] = {}
        self._carried: set[int] = set()

    def record(self, octopus: Octopus) -> None:
        """Take in the present moment: call it at the start of a run and after every step."""
        if self.first is None:
            self._begin(octopus)
        self._latest = octopus
        for row, arm in enumerate(octopus.arms):
            x, y = arm.tip.tolist()
            self._tips[row].add((x, y))
            if arm.active and not arm.retracting:
                goal_x, goal_y = arm.destination.tolist()
                sent = self.sent[arm.number]
                if not sent or sent[-1] != (goal_x, goal_y):
                    sent.append((goal_x, goal_y))
        table = octopus.objects
        owners = octopus.owners
        for row, number in enumerate(table.numbers.tolist()):
            if number not in self._seen:
                self._seen[number] = table.at(row)
                self._places[number] = _Trail()
            x, y = table.positions[row].tolist()
            trail = self._places[number]
            before = trail.points[-1] if trail.points else (x, y)
            trail.add((x, y))
            if before != (x, y) and number in owners:
                self._carried.add(number)
        if self._frame_rate is not None:
            # The first step at or after the moment of the frame: 4.8 steps apart at 25 a second.
            due = math.ceil(len(self.frames) * UPDATE_RATE / self._frame_rate - 1e-9)
            if octopus.ticks >= due:
                self.frames.append(self._frame(octopus))

    def finish(self) -> None:
        """Take the latest moment as the last one."""
        if self._latest is not None:
            self.last = self._frame(self._latest)

    def tip_path(self, number: int) -> Floats:
        """Give where the tip of an arm has been, shape (T, 2), in the scene's unit."""
        return _points(self._tips[self.numbers.index(number)].points)

    def object_path(self, number: int) -> Floats:
        """Give where an object has been, shape (T, 2), in the scene's unit."""
        return _points(self._places[number].points)

    @property
    def seen(self) -> tuple[SceneObject, ...]:
        """Every object there ever was, as it first was."""
        return tuple(self._seen.values())

    @property
    def displaced(self) -> tuple[SceneObject, ...]:
        """Objects, as they first were, that are elsewhere or gone at the end."""
        now = {thing.number: thing for thing in self.last.objects} if self.last else {}
        return tuple(
            thing
            for thing in self.seen
            if thing.number not in now
            or math.dist(thing.position, now[thing.number].position) > MOVED * self.unit
        )

    @property
    def carried(self) -> tuple[SceneObject, ...]:
        """Objects, as they first were, that an arm took somewhere."""
        return tuple(thing for thing in self.seen if thing.number in self._carried)

    @property
    def moved_arms(self) -> frozenset[int]:
        """Numbers of the arms that are not, or were not all the time, in their starting pose."""
        return frozenset(
            number
            for number, trail in zip(self.numbers, self._tips, strict=True)
            if len(trail.points) > 1
        )

    def _begin(self, octopus: Octopus) -> None:
        self.numbers = octopus.numbers
        self.bases = tuple((float(arm.base[0]), float(arm.base[1])) for arm in octopus.arms)
        self.reaches = tuple(arm.parameters.reach for arm in octopus.arms)
        self.unit = octopus.rules.unit
        self.y_down = octopus.rules.turn_sign > 0.0
        self._tips = [_Trail() for _ in self.numbers]
        self.sent = {number: [] for number in self.numbers}
        self.first = self._frame(octopus)

    def _frame(self, octopus: Octopus) -> Frame:
        targets: list[Point | None] = []
        for arm in octopus.arms:
            x, y = arm.destination.tolist()
            targets.append((x, y) if arm.active else None)
        return Frame(
            seconds=octopus.time,
            joints=tuple(arm.joints.copy() for arm in octopus.arms),
            targets=tuple(targets),
            states=tuple(arm.state for arm in octopus.arms),
            objects=tuple(octopus.objects),
            owners=octopus.owners,
        )


def _points(points: list[Point]) -> Floats:
    return np.array(points, dtype=np.float64).reshape(len(points), 2)
