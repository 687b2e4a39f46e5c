"""What the guard of the model will say to a step, known before it is proposed."""

from __future__ import annotations

import math

import numpy as np

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats
from octo_reach.model.guard import (
    arm_move_is_safe,
    measure_move,
    payload_move_is_safe,
    payload_retreat_is_safe,
    retreat_is_safe,
)
from octo_reach.model.rules import KernelRules
from octo_reach.model.state import LINK, PAIR, Table
from octo_reach.planners.guided.body import Body


def guard_tables(count: int, obstacles: int) -> tuple[Table, Table]:
    """Make the tables the guard works in, for an arm of `count` segments."""
    return np.zeros(count + 1, LINK), np.zeros(max(1, count * obstacles), PAIR)


@compiled
def step_is_safe(
    angles: Floats,
    proposed: Floats,
    body: Body,
    obstacles: Floats,
    rules: KernelRules,
    links: Table,
    pairs: Table,
) -> bool:
    """Tell whether the guard lets an arm that may retreat take a step.

    Args:
        angles: joint angles now, shape (N,), rad.
        proposed: joint angles after the step, shape (N,), rad, within every limit.
        body: the arm.
        obstacles: centre and radius of each obstacle, shape (K, 3).
        rules: constants of the scene.
        links: scratch, see `guard_tables`.
        pairs: scratch.
    """
    if len(obstacles) == 0:
        return True
    count = body.segments
    length = body.length
    x = body.base_x
    y = body.base_y
    heading = 0.0
    links[0]["x"] = x
    links[0]["y"] = y
    for i in range(count):
        heading += angles[i]
        x += length * math.cos(heading)
        y += length * math.sin(heading)
        links[i]["angle"] = angles[i]
        links[i]["proposed"] = proposed[i]
        links[i + 1]["x"] = x
        links[i + 1]["y"] = y
    measure_move(count, length, links)
    safe = arm_move_is_safe(count, length, links, obstacles, rules, pairs)
    if not safe:
        safe = retreat_is_safe(count, length, links, obstacles, rules)
    if not safe or body.holder == 0:
        return safe
    holder = body.holder
    along = body.along
    across = body.across
    radius = body.payload
    if payload_move_is_safe(length, links, holder, along, across, radius, obstacles, rules):
        return True
    return payload_retreat_is_safe(length, links, holder, along, across, radius, obstacles, rules)
