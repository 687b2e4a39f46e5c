"""What a scene file says, checked and complete, in the file's own unit and frame.

A pixel scene has y down and angles clockwise, a metre scene y up and angles counter-clockwise
(REP 103). Angles are in radians here, whatever the file spells them in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from octo_reach.model.arm import (
    OCTOPUS_ARMS,
    ArmParameters,
    ArmPlacement,
    octopus_base,
    octopus_heading,
)
from octo_reach.model.rules import PIXEL_IN_METRES, ReachRules
from octo_reach.model.scene import DEFAULT_RADIUS, ObjectKind

Point: TypeAlias = "tuple[float, float]"
"""A position (x, y) in the unit of the document."""

ArmDefaults: TypeAlias = ArmParameters
"""The four parameters an arm has where the file gives it none."""

VERSION = 1
PIXEL = "pixel"
METRE = "metre"
UNITS = (PIXEL, METRE)
OCTOPUS = "octopus"
LISTED = "listed"
LAYOUTS = (OCTOPUS, LISTED)
OCTOPUS_SEGMENT_LENGTH = 12.0
"""Segment length of an arm of an octopus that was given none, in pixels."""
LISTED_SEGMENT_LENGTH = 18.0
"""Segment length of an arm of a listed layout that was given none, in pixels."""
ACTIONS = ("idle", "release", "retract", "reset")
"""What an event can tell an arm to do besides reaching."""


@dataclass(frozen=True)
class FileObject:
    """An object a scene starts with.

    Attributes:
        number: its number, from 1: food first, then obstacles, then hazards, in file order.
        kind: food, obstacle or hazard.
        position: centre, (x, y), in the unit of the document.
        radius: radius, in the unit of the document, above 0.
        identifier: the name targets call a food by, or None.
    """

    number: int
    kind: ObjectKind
    position: Point
    radius: float
    identifier: str | None = None


@dataclass(frozen=True)
class FileArm:
    """An arm listed in a scene file, everything left out filled in.

    Attributes:
        number: its number, 1 to 8 in an octopus, any from 1 in a listed layout.
        parameters: geometry and limits, lengths in the unit of the document.
        base: position of its base, (x, y), in the unit of the document.
        heading: heading of its base joint at the start, rad.
        target: first target of its tip, (x, y), or None for an idle arm.
        food: the identifier of the food whose first position is the target, or None.
    """

    number: int
    parameters: ArmParameters
    base: Point
    heading: float
    target: Point | None = None
    food: str | None = None


@dataclass(frozen=True)
class NewObject:
    """An object an event adds; it takes the next number that was never used.

    Attributes:
        kind: food, obstacle or hazard.
        position: centre, (x, y), in the unit of the document.
        radius: radius, in the unit of the document, above 0.
    """

    kind: ObjectKind
    position: Point
    radius: float


@dataclass(frozen=True)
class Event:
    """A timed edit; exactly one of reach, action, add, move and remove is given.

    Attributes:
        tick: the step just before which it is applied, from 1.
        arm: number of the arm that reach or action is for.
        reach: new target of the arm, (x, y), in the unit of the document.
        action: one of `ACTIONS`.
        add: an object to add.
        move: number of an object and its new centre, (number, (x, y)).
        remove: number of an object to take away.
    """

    tick: int
    arm: int | None = None
    reach: Point | None = None
    action: str | None = None
    add: NewObject | None = None
    move: tuple[int, Point] | None = None
    remove: int | None = None


@dataclass(frozen=True)
class SceneDocument:
    """A whole scene file.

    Attributes:
        name: what the scene is called.
        units: 'pixel' or 'metre'.
        body: centre of the octopus, (x, y), in the unit of the document.
        layout: 'octopus' (eight arms around the body) or 'listed' (only the arms listed).
        defaults: parameters of arms that were given none.
        objects: what the scene starts with, in the order of their numbers.
        arms: the arms of the file, in its order.
        events: timed edits, by tick, those of one tick in file order.
    """

    name: str
    units: str
    body: Point
    layout: str
    defaults: ArmDefaults
    objects: tuple[FileObject, ...] = ()
    arms: tuple[FileArm, ...] = ()
    events: tuple[Event, ...] = ()

    @property
    def rules(self) -> ReachRules:
        """The constants of the reaching rules in the unit and on the handedness of the document."""
        return scene_rules(self.units)

    def placements(self) -> list[ArmPlacement]:
        """Give every arm of the scene, in the order of their numbers.

        An octopus has all eight; those the file leaves out are idle, with the defaults, at their
        places around the body.

        Returns:
            One placement an arm, in the unit of the document, angles in radians.
        """
        arms = {arm.number: arm for arm in self.arms}
        if self.layout == OCTOPUS:
            for number in range(1, OCTOPUS_ARMS + 1):
                arms.setdefault(number, self.octopus_arm(number))
        return [
            ArmPlacement(arm.number, arm.parameters, arm.base, arm.heading, arm.target)
            for _, arm in sorted(arms.items())
        ]

    def octopus_arm(self, number: int) -> FileArm:
        """Give the arm a file means that says nothing but a number: idle, in the ring of eight.

        Args:
            number: arm number from 1; beyond eight the ring is gone round again.
        """
        rules = self.rules
        return FileArm(
            number=number,
            parameters=self.defaults,
            base=octopus_base(number, self.body, rules),
            heading=octopus_heading(number, rules),
        )


def scene_rules(units: str) -> ReachRules:
    """Give the constants of the reaching rules for a document in 'pixel' or 'metre'."""
    return ReachRules.metre() if units == METRE else ReachRules.pixel()


def standard_body(units: str) -> Point:
    """Give the centre of the octopus where a file gives none, in the unit of the document."""
    return (0.0, 0.0) if units == METRE else (400.0, 460.0)


def standard_radius(units: str) -> float:
    """Give the radius of an object where a file gives none, in the unit of the document."""
    return _standard_length(DEFAULT_RADIUS, units)


def standard_parameters(units: str, layout: str) -> ArmParameters:
    """Give the parameters of an arm where a file gives none.

    A listed arm stands alone and has longer segments than the eight of an octopus.

    Args:
        units: 'pixel' or 'metre'.
        layout: 'octopus' or 'listed'.
    """
    length = LISTED_SEGMENT_LENGTH if layout == LISTED else OCTOPUS_SEGMENT_LENGTH
    return ArmParameters(segment_length=_standard_length(length, units))


def _standard_length(pixels: float, units: str) -> float:
    # Divided, not multiplied: 14 px are then the very float that 0.014 in a file is.
    return pixels / round(1.0 / PIXEL_IN_METRES) if units == METRE else pixels
