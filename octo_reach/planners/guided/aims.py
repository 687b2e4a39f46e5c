"""Where it makes sense to go for a target: there, or as near as there is room."""

from __future__ import annotations

import math
from typing import NamedTuple

from octo_reach.model.geometry import Floats
from octo_reach.planners.guided.body import Body

RINGS = 24
PLACES_ON_A_RING = 24


def is_free(x: float, y: float, keep: float, obstacles: Floats) -> bool:
    """Tell whether a place is further than `keep` from the surface of every obstacle."""
    for c_x, c_y, radius in obstacles.tolist():
        if math.hypot(x - c_x, y - c_y) < radius + keep:
            return False
    return True


class Aim(NamedTuple):
    """Where to go for a target.

    Attributes:
        place: (x, y), in the scene's unit.
        blocked: whether an obstacle leaves no room at the target itself.
        beyond: whether the target is out of reach.
    """

    place: tuple[float, float]
    blocked: bool
    beyond: bool


def sensible_aim(
    target: tuple[float, float],
    tolerance: float,
    body: Body,
    obstacles: Floats,
    margin: float,
) -> Aim:
    """Give where to go for a target: the nearest place within reach with room around it, nearly.

    Args:
        target: (x, y), in the scene's unit.
        tolerance: how near the target is near enough, in the scene's unit.
        body: the arm.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        margin: room to leave beside an obstacle that lies on the target, in the scene's unit.
    """
    x, y = target
    keep = body.payload if body.holder else body.clearance
    away = math.hypot(x - body.base_x, y - body.base_y)
    longest = body.reach * (1.0 - 1e-4)
    if away > longest:
        x = body.base_x + (x - body.base_x) * longest / away
        y = body.base_y + (y - body.base_y) * longest / away
    beyond = away > longest + tolerance
    if is_free(x, y, keep, obstacles):
        return Aim((x, y), False, beyond)
    # Straight out of the obstacle that is nearest; where that leads into another, look around.
    around = obstacles.tolist()
    places = []
    for c_x, c_y, radius in around:
        distance = math.hypot(x - c_x, y - c_y)
        if 0.0 < distance < radius + keep:
            out = (radius + keep + margin) / distance
            places.append((c_x + out * (x - c_x), c_y + out * (y - c_y)))
    step = (max(radius for _, _, radius in around) + keep + margin) / 6.0
    for ring in range(1, RINGS + 1):
        for turn in range(PLACES_ON_A_RING):
            angle = 2.0 * math.pi * turn / PLACES_ON_A_RING
            places.append((x + ring * step * math.cos(angle), y + ring * step * math.sin(angle)))
    places.sort(key=lambda place: math.hypot(place[0] - x, place[1] - y))
    for place in places:
        inside = math.hypot(place[0] - body.base_x, place[1] - body.base_y) <= longest
        if inside and is_free(*place, keep + 0.9 * margin, obstacles):
            blocked = math.hypot(place[0] - x, place[1] - y) > tolerance
            return Aim(place, blocked, beyond)
    return Aim((x, y), True, beyond)
