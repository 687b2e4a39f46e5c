"""Pixel scenes to metre scenes: y up, origin at the body (REP 103)."""

from __future__ import annotations

import math
from dataclasses import replace

from octo_reach.model.arm import OCTOPUS_ARMS, ArmParameters
from octo_reach.model.rules import PIXEL_IN_METRES
from octo_reach.scenes.document import (
    METRE,
    OCTOPUS,
    Event,
    FileArm,
    FileObject,
    Point,
    SceneDocument,
)


def to_metres(document: SceneDocument, metres_per_pixel: float = PIXEL_IN_METRES) -> SceneDocument:
    """Give a document in metres, y up, with its body at the origin.

    A point (x, y) becomes ((x - body x) s, -(y - body y) s), a length its s-fold, an angle its
    negative; a metre document stays as it is. Only at 1 mm a pixel do the rules of a metre scene
    match those of the pixel scene; at another scale hand `ReachRules.metre(metres_per_pixel)`
    to `build_octopus`.

    Args:
        document: a scene in either unit.
        metres_per_pixel: the scale s, m.

    Returns:
        The scene in metres, which moves as the mirror image of the pixel scene.

    Raises:
        ValueError: the scale is not a finite number above 0, or takes a length of the scene
            beyond the range of a float.
    """
    if not (math.isfinite(metres_per_pixel) and metres_per_pixel > 0.0):
        raise ValueError(
            f"metres_per_pixel must be a finite number above 0, got {metres_per_pixel!r}"
        )
    if document.units == METRE:
        return document
    return _MetreFrame(document, metres_per_pixel).document()


class _MetreFrame:
    """One conversion: where the origin of the pixel scene is, and how long its pixels are."""

    def __init__(self, document: SceneDocument, metres_per_pixel: float) -> None:
        self._pixels = document
        # Dividing by the 1000 pixels of a metre rounds once, multiplying by 0.001 twice: 12 px
        # are to be the float that 0.012 is.
        self._pixels_per_metre = 1.0 / metres_per_pixel
        self._standard_scale = metres_per_pixel == PIXEL_IN_METRES

    def document(self) -> SceneDocument:
        pixels = self._pixels
        metres = replace(
            pixels,
            units=METRE,
            body=(0.0, 0.0),
            defaults=self._parameters("defaults", pixels.defaults),
        )
        listed = {arm.number for arm in pixels.arms}
        arms = list(pixels.arms)
        if pixels.layout == OCTOPUS and not self._standard_scale:
            # A metre scene puts arms that are left out 32 mm from the body, whatever the scale.
            arms += [
                pixels.octopus_arm(number)
                for number in range(1, OCTOPUS_ARMS + 1)
                if number not in listed
            ]
        return replace(
            metres,
            objects=tuple(self._object(thing) for thing in pixels.objects),
            arms=tuple(self._arm(arm, metres) for arm in arms),
            events=tuple(self._event(event) for event in pixels.events),
        )

    def _length(self, what: str, pixels: float) -> float:
        metres = pixels / self._pixels_per_metre
        if not (math.isfinite(metres) and metres > 0.0):
            raise ValueError(f"{what} of {pixels!r} px is beyond a float in metres")
        return metres

    def _point(self, what: str, point: Point) -> Point:
        body_x, body_y = self._pixels.body
        # Subtracted this way round so that a point level with the body is at 0, not at -0.
        x = (point[0] - body_x) / self._pixels_per_metre
        y = (body_y - point[1]) / self._pixels_per_metre
        if not (math.isfinite(x) and math.isfinite(y)):
            raise ValueError(f"{what} at {point!r} px is beyond a float in metres")
        return x, y

    def _parameters(self, what: str, parameters: ArmParameters) -> ArmParameters:
        length = self._length(f"segment_length of {what}", parameters.segment_length)
        return replace(parameters, segment_length=length)

    def _object(self, thing: FileObject) -> FileObject:
        what = f"object {thing.number}"
        return replace(
            thing,
            position=self._point(what, thing.position),
            radius=self._length(f"radius of {what}", thing.radius),
        )

    def _arm(self, arm: FileArm, metres: SceneDocument) -> FileArm:
        what = f"arm {arm.number}"
        in_ring = arm.base == self._pixels.octopus_arm(arm.number).base and self._standard_scale
        base = metres.octopus_arm(arm.number).base if in_ring else self._point(what, arm.base)
        target = None if arm.target is None else self._point(f"target of {what}", arm.target)
        return replace(
            arm,
            parameters=self._parameters(what, arm.parameters),
            base=base,
            heading=0.0 - arm.heading,
            target=target,
        )

    def _event(self, event: Event) -> Event:
        what = f"event at tick {event.tick}"
        if event.reach is not None:
            return replace(event, reach=self._point(what, event.reach))
        if event.move is not None:
            number, position = event.move
            return replace(event, move=(number, self._point(what, position)))
        if event.add is not None:
            addition = replace(
                event.add,
                position=self._point(what, event.add.position),
                radius=self._length(f"radius of the {what}", event.add.radius),
            )
            return replace(event, add=addition)
        return event
