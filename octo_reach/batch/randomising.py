"""Scenes like a given one, drawn at random: other targets, or the obstacles elsewhere.

A scene and a seed give the same scene for ever. Draws are shares of an arm's reach and turns from
its heading, so a pixel scene and the same scene in metres get the same draws, mirrored.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from octo_reach.model.arm import ArmPlacement, initial_angles
from octo_reach.model.geometry import forward_kinematics, segment_distance
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind
from octo_reach.scenes.document import FileObject, Point, SceneDocument

TARGETS = "targets"
OBSTACLES = "obstacles"

NEAREST_TARGET = 0.15
"""Least distance of a target from the base of its arm, as a share of the arm's reach."""
FARTHEST_TARGET = 0.95
"""Greatest distance of a target from the base of its arm, as a share of the arm's reach."""
MOST_DRAWS = 1000
"""How often a place is drawn before a scene counts as too full."""

Circle = tuple[float, float, float]
"""Centre and radius, in the unit of the document."""


class RandomisingError(ValueError):
    """A scene has nothing to vary, or no room for it."""


def vary_targets(document: SceneDocument, seed: int) -> SceneDocument:
    """Send every arm that is sent anywhere somewhere else, at the start and by events.

    The targets are spread evenly over what the arm can reach, 15 % to 95 % of its length from its
    base, where no obstacle ever stands so near that the arm would not go there.

    Args:
        document: a checked scene; it stays as it is.
        seed: which of the scenes like it to give.

    Raises:
        RandomisingError: no arm is sent anywhere, or there is no room for a target.
    """
    if not has_targets(document):
        raise RandomisingError(f"no arm of {document.name!r} has a target to vary")
    rules = document.rules
    margin = rules.arm_clearance + rules.reach_tolerance
    taken = [(x, y, radius + margin) for x, y, radius in _obstacle_places(document)]
    placements = {placement.number: placement for placement in document.placements()}
    # A stream for every arm: an arm more in the scene leaves the targets of the others alone.
    streams = {number: random.Random(f"target {seed} {number}") for number in placements}

    def target(number: int) -> Point:
        placement = placements[number]
        reach = placement.parameters.reach
        nearest, farthest = NEAREST_TARGET * reach, FARTHEST_TARGET * reach
        for _ in range(MOST_DRAWS):
            place = _place_around(placement, rules, nearest, farthest, streams[number])
            if _is_clear(place, 0.0, taken):
                return place
        raise RandomisingError(f"arm {number} of {document.name!r} has no room for a target")

    arms = tuple(
        arm if arm.target is None else replace(arm, target=target(arm.number), food=None)
        for arm in document.arms
    )
    events = tuple(
        event
        if event.reach is None or event.arm is None
        else replace(event, reach=target(event.arm))
        for event in document.events
    )
    return replace(document, arms=arms, events=events)


def vary_obstacles(document: SceneDocument, seed: int) -> SceneDocument:
    """Put the obstacles the scene starts with elsewhere; what events do stays.

    Each comes to lie within the reach of an arm that is sent somewhere, where it overlaps neither
    an arm in its starting pose, nor a place an arm is sent to, nor another object, and blocks none.

    Args:
        document: a checked scene; it stays as it is.
        seed: which of the scenes like it to give.

    Raises:
        RandomisingError: there is no obstacle, or no room for one.
    """
    if not has_obstacles(document):
        raise RandomisingError(f"{document.name!r} has no obstacle to vary")
    rules = document.rules
    placements = document.placements()
    sent = _sent_arms(document)
    around = [placement for placement in placements if placement.number in sent] or placements
    poses = [_start_joints(placement, rules) for placement in placements]
    margin = rules.arm_clearance + rules.reach_tolerance
    taken: list[Circle] = [(*target, margin) for target in _targets(document)]
    taken += [
        (*thing.position, thing.radius)
        for thing in document.objects
        if thing.kind is not ObjectKind.OBSTACLE
    ]
    stream = random.Random(f"obstacles {seed}")
    objects: list[FileObject] = []
    for thing in document.objects:
        if thing.kind is ObjectKind.OBSTACLE:
            place = _free_place(thing, around, poses, rules, taken, stream)
            if place is None:
                raise RandomisingError(f"{document.name!r} has no room for obstacle {thing.number}")
            taken.append((*place, thing.radius))
            thing = replace(thing, position=place)
        objects.append(thing)
    return replace(document, objects=tuple(objects))


VARIATIONS: dict[str, Callable[[SceneDocument, int], SceneDocument]] = {
    TARGETS: vary_targets,
    OBSTACLES: vary_obstacles,
}
"""What can be varied of a scene, by name."""


def vary_scene(document: SceneDocument, vary: str, seed: int) -> SceneDocument:
    """Give a scene like another one.

    Args:
        document: a checked scene.
        vary: what to vary, one of `VARIATIONS`.
        seed: which of the scenes like it to give.

    Raises:
        RandomisingError: there is nothing to vary, or no room for it.
        ValueError: nothing of that name can be varied.
    """
    variation = VARIATIONS.get(vary)
    if variation is None:
        raise ValueError(f"vary must be one of {', '.join(VARIATIONS)}, got {vary!r}")
    return variation(document, seed)


def has_targets(document: SceneDocument) -> bool:
    """Tell whether any arm is sent anywhere, at the start or by an event."""
    return bool(_sent_arms(document))


def has_obstacles(document: SceneDocument) -> bool:
    """Tell whether the scene starts with any obstacle."""
    return any(thing.kind is ObjectKind.OBSTACLE for thing in document.objects)


# ---------------------------------------------------------------- what a document says


def _sent_arms(document: SceneDocument) -> set[int]:
    sent = {arm.number for arm in document.arms if arm.target is not None}
    return sent | {
        event.arm for event in document.events if event.reach is not None and event.arm is not None
    }


def _targets(document: SceneDocument) -> list[Point]:
    first = [arm.target for arm in document.arms if arm.target is not None]
    return first + [event.reach for event in document.events if event.reach is not None]


def _obstacle_places(document: SceneDocument) -> list[Circle]:
    """Give every place where an obstacle ever stands: at the start, added or moved there."""
    radii: dict[int, float] = {}
    places: list[Circle] = []
    number = 0
    for thing in document.objects:
        number = max(number, thing.number)
        if thing.kind is ObjectKind.OBSTACLE:
            radii[thing.number] = thing.radius
            places.append((*thing.position, thing.radius))
    for event in document.events:
        if event.add is not None:
            number += 1
            if event.add.kind is ObjectKind.OBSTACLE:
                radii[number] = event.add.radius
                places.append((*event.add.position, event.add.radius))
        elif event.move is not None and event.move[0] in radii:
            places.append((*event.move[1], radii[event.move[0]]))
    return places


# ---------------------------------------------------------------- places


def _place_around(
    placement: ArmPlacement,
    rules: ReachRules,
    nearest: float,
    farthest: float,
    stream: random.Random,
) -> Point:
    """Draw a place around the base of an arm, every area alike."""
    share = stream.random()
    distance = math.sqrt(nearest**2 + share * (farthest**2 - nearest**2))
    direction = placement.heading + rules.turn_sign * 2.0 * math.pi * stream.random()
    return (
        float(placement.base[0] + distance * math.cos(direction)),
        float(placement.base[1] + distance * math.sin(direction)),
    )


def _is_clear(place: Point, radius: float, taken: Iterable[Circle]) -> bool:
    return all(math.hypot(place[0] - x, place[1] - y) >= radius + r for x, y, r in taken)


def _free_place(
    thing: FileObject,
    around: Sequence[ArmPlacement],
    poses: Sequence[Sequence[Point]],
    rules: ReachRules,
    taken: Sequence[Circle],
    stream: random.Random,
) -> Point | None:
    gap = thing.radius + rules.arm_clearance
    for _ in range(MOST_DRAWS):
        placement = around[int(stream.random() * len(around))]
        place = _place_around(placement, rules, 0.0, placement.parameters.reach, stream)
        if _is_clear(place, thing.radius, taken) and all(
            _pose_distance(joints, place) > gap for joints in poses
        ):
            return place
    return None


def _start_joints(placement: ArmPlacement, rules: ReachRules) -> list[Point]:
    parameters = placement.parameters
    angles = initial_angles(parameters, placement.heading, rules)
    joints, _ = forward_kinematics(placement.base, parameters.segment_length, angles)
    return [(x, y) for x, y in joints.tolist()]


def _pose_distance(joints: Sequence[Point], place: Point) -> float:
    return min(segment_distance(*start, *end, *place) for start, end in pairwise(joints))
