"""Where it makes sense to go for a target: there, or as near as there is room."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from octo_reach.model.geometry import Flags, Floats
from octo_reach.planners.guided.body import Body

RINGS = 24
PLACES_ON_A_RING = 24
_TURNS = 2.0 * math.pi / PLACES_ON_A_RING * np.arange(PLACES_ON_A_RING)
_RING = np.column_stack([np.cos(_TURNS), np.sin(_TURNS)])
AROUND: Floats = np.vstack([ring * _RING for ring in range(1, RINGS + 1)])
"""Places around the origin, on rings one apart, shape (P, 2)."""


def are_free(places: Floats, keep: float, obstacles: Floats) -> Flags:
    """Tell which places are further than `keep` from the surface of every obstacle.

    Args:
        places: shape (P, 2), in the scene's unit.
        keep: in the scene's unit.
        obstacles: centre and radius of each obstacle, shape (K, 3).

    Returns:
        One flag for each place, shape (P,).
    """
    away = places[:, None, :] - obstacles[None, :, :2]
    free: Flags = np.all(np.hypot(away[..., 0], away[..., 1]) >= obstacles[:, 2] + keep, axis=1)
    return free


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
    place = np.array([[x, y]])
    if are_free(place, keep, obstacles)[0]:
        return Aim((x, y), False, beyond)
    # Straight out of each obstacle it lies in; where that leads into another, look around.
    out = place - obstacles[:, :2]
    distance = np.hypot(out[:, 0], out[:, 1])
    inside = (distance > 0.0) & (distance < obstacles[:, 2] + keep)
    scale = (obstacles[inside, 2] + keep + margin) / distance[inside]
    step = (float(obstacles[:, 2].max()) + keep + margin) / 6.0
    places = np.vstack(
        [obstacles[inside, :2] + scale[:, None] * out[inside], place + step * AROUND]
    )
    reached = np.hypot(places[:, 0] - body.base_x, places[:, 1] - body.base_y) <= longest
    places = places[reached & are_free(places, keep + 0.9 * margin, obstacles)]
    if not len(places):
        return Aim((x, y), True, beyond)
    away_from_it = np.hypot(places[:, 0] - x, places[:, 1] - y)
    nearest = int(np.argmin(away_from_it))
    near_x, near_y = places[nearest].tolist()
    return Aim((near_x, near_y), bool(away_from_it[nearest] > tolerance), beyond)
