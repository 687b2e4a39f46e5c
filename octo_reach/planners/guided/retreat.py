"""The way out of an overlap: the turn of the joints that draws every part of it away at once.

Each pair of segment and obstacle that is too close has a gradient, the rate at which its room grows
with each joint. The shortest vector in the convex hull of the gradients has a product of at least
its own square with every one of them, so turning the joints along it makes room for all pairs;
where it is zero, no turn does to first order. It is found as by Mitchell, Dem'yanov and Malozemov
(SIAM J. Control 12, 1974).
"""

from __future__ import annotations

import math

import numpy as np

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats, clip
from octo_reach.model.rules import KernelRules
from octo_reach.model.state import Table
from octo_reach.planners.guided.body import Body
from octo_reach.planners.guided.clearance import find_close
from octo_reach.planners.guided.guarded_steps import guard_tables, step_is_safe
from octo_reach.planners.guided.room import CLOSE_PAIRS

ROUNDS = 500
"""Steps of the search for the shortest vector."""
WIDE = 1.2
"""Room that is made, in pixels: more than the guard's padding, so that steps need not be slow."""
PATIENCE = 30
"""Updates in which the room must grow; else the arm has made what room it can."""
GROWTH = 1e-3
"""How much it must grow in that time, in pixels."""
HALVINGS = 16
"""How often a step that the guard refuses is halved."""


@compiled
def gradients_of(found: int, body: Body, joints: Floats, close: Floats, rows: Floats) -> None:
    """Fill in the gradient of every close pair, of length 1, in place.

    Args:
        found: how many pairs there are.
        body: the arm.
        joints: joint positions, shape (N + 1, 2).
        close: the pairs, see `find_close`.
        rows: to fill, shape (P, N).
    """
    for p in range(found):
        squared = 0.0
        for i in range(body.segments):
            rows[p, i] = 0.0
            if i <= close[p, 5]:
                lever_x = close[p, 0] - joints[i, 0]
                lever_y = close[p, 1] - joints[i, 1]
                rows[p, i] = lever_x * close[p, 3] - lever_y * close[p, 2]
            squared += rows[p, i] * rows[p, i]
        if squared > 0.0:
            scale = 1.0 / math.sqrt(squared)
            for i in range(body.segments):
                rows[p, i] *= scale


@compiled
def shortest_in_hull(found: int, count: int, rows: Floats, products: Floats, turn: Floats) -> None:
    """Fill in the shortest vector of the convex hull of the first rows, nearly, in place.

    Weight is moved from the row that the vector leans on most to the one it is furthest from, as
    far as makes it shorter, until no row is further than any other that has weight.

    Args:
        found: how many rows there are.
        count: length of a row.
        rows: shape (P, N).
        products: scratch, shape (P + 2, P): products of the rows, weights, products of the vector
            with the rows.
        turn: the vector to fill, shape (N,).
    """
    weights = products[-2]
    leaning = products[-1]
    for p in range(found):
        for r in range(p + 1):
            product = 0.0
            for i in range(count):
                product += rows[p, i] * rows[r, i]
            products[p, r] = product
            products[r, p] = product
    for p in range(found):
        weights[p] = 1.0 if p == 0 else 0.0
        leaning[p] = products[p, 0]
    for _ in range(ROUNDS):
        far = 0
        near = -1
        for p in range(found):
            if leaning[p] < leaning[far]:
                far = p
            if weights[p] > 0.0 and (near < 0 or leaning[p] > leaning[near]):
                near = p
        excess = leaning[near] - leaning[far]
        if excess <= 1e-12:
            break
        across = products[near, near] + products[far, far] - 2.0 * products[near, far]
        shift = weights[near]
        if across > 0.0:
            shift = min(shift, excess / across)
        weights[near] -= shift
        weights[far] += shift
        for p in range(found):
            leaning[p] += shift * (products[p, far] - products[p, near])
    for i in range(count):
        turn[i] = 0.0
        for p in range(found):
            turn[i] += weights[p] * rows[p, i]


@compiled
def step_back(
    angles: Floats,
    within: float,
    largest_turn: float,
    body: Body,
    obstacles: Floats,
    rules: KernelRules,
    joints: Floats,
    close: Floats,
    rows: Floats,
    products: Floats,
    links: Table,
    pairs: Table,
    turn: Floats,
    tried: Floats,
    proposed: Floats,
) -> bool:
    """Find a step that makes room and that the guard allows, in place.

    Args:
        angles: joint angles now, shape (N,), rad.
        within: room that is to be made for every pair, in the scene's unit.
        largest_turn: most that a joint may turn, rad.
        body: the arm.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        rules: constants of the scene.
        joints: scratch, shape (N + 1, 2).
        close: scratch, shape (P, 6).
        rows: scratch, shape (P, N).
        products: scratch, shape (P + 2, P).
        links: scratch, see `guard_tables`.
        pairs: scratch.
        turn: scratch, shape (N,).
        tried: scratch, shape (N,).
        proposed: joint angles after the step, to fill, shape (N,), rad.

    Returns:
        Whether there is such a step.
    """
    best = 0.0
    for attempt in range(6):
        # First room for all that is close; then only for what overlaps or nearly does. Where an
        # obstacle's centre lies on a segment, to either side.
        limit = within if attempt < 2 else (0.1 * within if attempt < 4 else 0.0)
        side = 1.0 if attempt % 2 == 0 else -1.0
        found, _ = find_close(angles, body, obstacles, limit, side, joints, close)
        if found == 0:
            continue
        gradients_of(found, body, joints, close, rows)
        shortest_in_hull(found, body.segments, rows, products, turn)
        for _ in range(2):
            # A joint at its limit takes no part where it would be turned beyond it.
            stopped = False
            for i in range(1, body.segments):
                if abs(angles[i]) >= body.bend and turn[i] * angles[i] > 0.0:
                    stopped = True
                    for p in range(found):
                        rows[p, i] = 0.0
            if stopped:
                shortest_in_hull(found, body.segments, rows, products, turn)
        largest = 0.0
        for i in range(body.segments):
            largest = max(largest, abs(turn[i]))
        if largest <= 1e-9:
            continue
        scale = largest_turn / largest
        for _ in range(HALVINGS):
            if scale * largest <= best:
                break
            for i in range(body.segments):
                angle = angles[i] + scale * turn[i]
                tried[i] = angle if i == 0 else clip(angle, -body.bend, body.bend)
            if step_is_safe(angles, tried, body, obstacles, rules, links, pairs):
                best = scale * largest
                for i in range(body.segments):
                    proposed[i] = tried[i]
                break
            scale *= 0.5
        if best > 0.2 * largest_turn:
            break
    return best > 0.0


class Retreat:
    """A way out of an overlap, or away from what is too near, step by step."""

    def __init__(self, body: Body, obstacles: Floats) -> None:
        """Begin where the arm is.

        Args:
            body: the arm.
            obstacles: centre and radius of each obstacle, shape (K, 3).
        """
        count = body.segments
        self._body = body
        self._joints = np.empty((count + 1, 2))
        self._close = np.empty((CLOSE_PAIRS, 6))
        self._rows = np.empty((CLOSE_PAIRS, count))
        self._products = np.empty((CLOSE_PAIRS + 2, CLOSE_PAIRS))
        self._turn = np.empty(count)
        self._tried = np.empty(count)
        self._most_room = -math.inf
        self._vain = 0
        self._links, self._pairs = guard_tables(count, len(obstacles))

    def step(
        self,
        angles: Floats,
        room: float,
        obstacles: Floats,
        largest_turn: float,
        rules: KernelRules,
    ) -> Floats | None:
        """Give the next step, or None where there is room enough or no more can be made.

        Args:
            angles: joint angles now, shape (N,), rad.
            room: least room of the arm now, in the scene's unit.
            obstacles: centre and radius of each obstacle, shape (K, 3).
            largest_turn: most that a joint may turn, rad.
            rules: constants of the scene.

        Returns:
            Joint angles, shape (N,), rad, or None.
        """
        body = self._body
        if room >= WIDE * body.unit:
            return None
        if room > self._most_room + GROWTH * body.unit:
            self._most_room = room
            self._vain = 0
        self._vain += 1
        if self._vain > PATIENCE:
            return None
        if len(self._pairs) < body.segments * len(obstacles):
            self._links, self._pairs = guard_tables(body.segments, len(obstacles))
        proposed = np.empty(body.segments)
        found = step_back(
            angles,
            WIDE * body.unit,
            largest_turn,
            body,
            obstacles,
            rules,
            self._joints,
            self._close,
            self._rows,
            self._products,
            self._links,
            self._pairs,
            self._turn,
            self._tried,
            proposed,
        )
        return proposed if found else None
