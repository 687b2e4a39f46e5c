"""What is to be seen at one moment, as plain values: metres, rad, seconds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from octo_reach.model.geometry import Floats

Colour = tuple[float, float, float]
"""Red, green and blue, from 0 to 1."""

Point = tuple[float, float]

BASE_SIZE = 1.9
"""Radius of the disc under an arm, in radii of the arm there."""


@dataclass(frozen=True)
class SeenArm:
    """One arm.

    Attributes:
        number: its number.
        joints: joint positions from base to tip, shape (N + 1, 2), m.
        base_radius: radius at the base, m.
        tip_radius: radius at the tip, m.
        colour: its own colour, of its base and its target.
        state: what it is doing, in a word or two; empty where that is not known.
        state_colour: colour of that state.
        target: where its tip, or what it holds, should go, (x, y), m; None where not known.
        tip_error: distance from there, m; NaN where not known.
        contacts: number of contacts of its segments.
        holds: what it holds ("food 5"); empty for nothing.
        planner: name of its planner.
        note: why it does not do as told, or what its planner says; empty when all is well.
    """

    number: int
    joints: Floats
    base_radius: float
    tip_radius: float
    colour: Colour
    state: str = ""
    state_colour: Colour = (0.5, 0.5, 0.5)
    target: Point | None = None
    tip_error: float = math.nan
    contacts: int = 0
    holds: str = ""
    planner: str = ""
    note: str = ""

    @property
    def name(self) -> str:
        """What it is called: `arm_1`."""
        return f"arm_{self.number}"

    @property
    def idle(self) -> bool:
        """Whether it goes nowhere: its last target, and how far that is, count no more."""
        return self.state == "Idle"


@dataclass(frozen=True)
class SeenObject:
    """One object.

    Attributes:
        number: its number, unique over all kinds.
        kind: `food`, `obstacle` or `hazard`.
        position: centre, (x, y), m.
        radius: radius, m.
        colour: its colour.
    """

    number: int
    kind: str
    position: Point
    radius: float
    colour: Colour

    @property
    def name(self) -> str:
        """What it is called: `food 5`."""
        return f"{self.kind} {self.number}"


@dataclass(frozen=True)
class Touch:
    """A segment and an object that touch.

    Attributes:
        who: numbers of arm, segment and object.
        position: where, (x, y), m.
        colour: colour of the object's kind.
    """

    who: tuple[int, int, int]
    position: Point
    colour: Colour


@dataclass(frozen=True)
class SeenThoughts:
    """What cannot be seen of an arm: what its segments ask of each other, what it keeps clear of.

    Attributes:
        requests: from each segment's start to where it is asked to be, shape (K, 2, 2), m.
        waypoints: points it steers past, shape (K, 2), m.
        clearance: distance it keeps from obstacles, m; 0 where not known.
        ellipse: how easily its tip moves to every side, as a closed line, shape (K, 2), m.
    """

    requests: Floats
    waypoints: Floats
    clearance: float
    ellipse: Floats


@dataclass(frozen=True)
class Snapshot:
    """Everything at one moment.

    Attributes:
        arms: the arms by number, sorted.
        objects: the objects.
        touches: what touches.
        thoughts: by arm number; empty where nobody asked to see them.
        rate: steps a second, as the controller reports them, or, until it does, as they are heard;
            NaN where nothing is heard.
        wanted_rate: steps a second there should be; NaN where not known.
        paused: whether the arms pause.
        controller: whether a controller is heard.
        world: whether a world is heard.
        problems: what needs attention, a line each.
    """

    arms: tuple[SeenArm, ...] = ()
    objects: tuple[SeenObject, ...] = ()
    touches: tuple[Touch, ...] = ()
    thoughts: Mapping[int, SeenThoughts] = field(default_factory=dict)
    rate: float = math.nan
    wanted_rate: float = math.nan
    paused: bool = False
    controller: bool = False
    world: bool = False
    problems: tuple[str, ...] = ()

    def arm_at(self, point: Point) -> SeenArm | None:
        """Give the arm on whose base a point lies, or None.

        Args:
            point: the point, (x, y), m.
        """
        for arm in self.arms:
            if math.dist(arm.joints[0].tolist(), point) <= BASE_SIZE * arm.base_radius:
                return arm
        return None

    def object_at(self, point: Point) -> SeenObject | None:
        """Give the object that covers a point, the nearest centre first, or None.

        Args:
            point: the point, (x, y), m.
        """
        there = [
            (math.dist(thing.position, point), thing)
            for thing in self.objects
            if math.dist(thing.position, point) <= thing.radius
        ]
        return min(there, key=lambda pair: pair[0])[1] if there else None
