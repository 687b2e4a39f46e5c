"""Poses to begin looking for goal poses from: the present one, arcs, and bends drawn by lot."""

from __future__ import annotations

import math

import numpy as np

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats, clip, wrap
from octo_reach.planners.guided.body import Body, place_effector

LOTS = 24
"""Numbers that one beginning may use up."""
PRESENT = 0
TURNED = 1
ARCS = (2, 3)


class Draws:
    """Numbers from 0 to 1, the same for the same seed on every machine, without end."""

    def __init__(self, seed: int) -> None:
        """Fill the urn."""
        self._numbers = np.random.default_rng(seed).random(1 << 13)
        self._place = 0

    def take(self, count: int) -> Floats:
        """Give the next `count` numbers."""
        if self._place + count > len(self._numbers):
            # Another start each time round, so that the same numbers do not meet the same use.
            self._place = (self._place * 7 + 1) % 97
        taken = self._numbers[self._place : self._place + count]
        self._place += count
        return taken


@compiled
def begin_pose(
    number: int,
    lots: Floats,
    present: Floats,
    target_x: float,
    target_y: float,
    body: Body,
    pose: Floats,
) -> None:
    """Fill in the beginning of a number: the first few are the likeliest, the rest by lot.

    0 is the present pose, 1 the same turned at its base towards the target, 2 and 3 arcs of one
    curvature whose chord is the way to the target. Then alternate the present pose with some bends
    added, and poses of two to four even bends, every other one of them with its outer part coiled;
    all are turned towards the target.

    Args:
        number: from 0.
        lots: numbers from 0 to 1, shape (`LOTS`,).
        present: present joint angles, shape (N,), rad.
        target_x: x of the target.
        target_y: y of the target.
        body: the arm.
        pose: to fill, shape (N,), rad.
    """
    count = body.segments
    away_x = target_x - body.base_x
    away_y = target_y - body.base_y
    away = math.sqrt(away_x * away_x + away_y * away_y)
    for i in range(count):
        pose[i] = present[i]
    if number == 0 or count == 0:
        return
    if number in (2, 3):
        bend = bend_of_arc(away, body)
        for i in range(1, count):
            pose[i] = bend if number == 2 else -bend
    elif number > 3:
        pieces = 2 + int(3.0 * lots[0])
        first = 0
        for piece in range(pieces):
            last = count
            if piece < pieces - 1:
                last = min(count, first + 1 + int(lots[1 + piece] * 2.0 * count / pieces))
            bend = body.bend * (2.0 * lots[6 + piece] - 1.0)
            if number % 2 == 0:
                bend *= 0.15 + 0.1 * (number % 8)
            for i in range(max(1, first), last):
                pose[i] = bend if number % 2 == 1 else clip(pose[i] + bend, -body.bend, body.bend)
            first = last
        if number % 4 == 1:
            coiled = int((0.2 + 0.6 * lots[11]) * count)
            for i in range(max(1, count - coiled), count):
                pose[i] = body.bend if lots[12] < 0.5 else -body.bend
    e_x, e_y = place_effector(pose, body)
    e_x -= body.base_x
    e_y -= body.base_y
    pose[0] += wrap(math.atan2(away_y, away_x) - math.atan2(e_y, e_x))
    if number > 3:
        pose[0] += 0.8 * (lots[13] - 0.5)
    # The short way round from where the base is.
    pose[0] = present[0] + wrap(pose[0] - present[0])


@compiled
def bend_of_arc(chord: float, body: Body) -> float:
    """Give the bend of every joint that makes the ends of the chain lie a chord apart, rad.

    Of a regular chain with bend c the chord is L sin(N c / 2) / sin(c / 2); up to c = 2 pi / N it
    falls all the way.
    """
    low = 0.0
    high = min(body.bend, 2.0 * math.pi / body.segments)
    for _ in range(30):
        middle = 0.5 * (low + high)
        length = body.length * body.segments
        if middle > 1e-9:
            length = body.length * math.sin(0.5 * body.segments * middle) / math.sin(0.5 * middle)
        if length > chord:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
