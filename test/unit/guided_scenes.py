"""Small scenes for the tests of the planner `guided`."""

import math

import numpy as np

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind
from octo_reach.planners import GuidedPlanner
from octo_reach.planners.guided.body import Body

TICK = 1.0 / 120.0


def body(segments: int = 6, length: float = 10.0, bend: float = 1.0, **other) -> Body:
    """An arm at the origin, in pixels."""
    values = {
        "segments": segments,
        "length": length,
        "bend": bend,
        "base_x": 0.0,
        "base_y": 0.0,
        "clearance": 3.0,
        "unit": 1.0,
        "holder": 0,
        "along": 0.0,
        "across": 0.0,
        "payload": 0.0,
    }
    return Body(**(values | other))


def table(*obstacles: tuple[float, float, float]) -> np.ndarray:
    return np.array(obstacles, dtype=float).reshape(-1, 3)


def octopus_with(
    target,
    obstacles=(),
    parameters: ArmParameters | None = None,
    rules: ReachRules | None = None,
    seed: int = 1,
) -> Octopus:
    """One arm with the planner `guided`, its base at the origin; lengths in pixels."""
    rules = rules or ReachRules.pixel()
    parameters = parameters or ArmParameters()
    placement = ArmPlacement(
        1,
        ArmParameters(
            parameters.segment_count,
            parameters.segment_length * rules.unit,
            parameters.maximum_bend,
            parameters.turning_speed,
        ),
        target=tuple(rules.unit * np.array(target)),
    )
    octopus = Octopus([placement], rules, {1: GuidedPlanner(seed)})
    for x, y, radius in obstacles:
        add(octopus, x, y, radius)
    return octopus


def add(octopus: Octopus, x: float, y: float, radius: float, kind=ObjectKind.OBSTACLE) -> int:
    unit = octopus.rules.unit
    return octopus.add_object(kind, (x * unit, y * unit), radius * unit)


def run(octopus: Octopus, seconds: float, *until: str) -> str:
    """Step until the arm is in one of the states, or for so long; give its state."""
    for _ in range(round(seconds / TICK)):
        if octopus.arms[0].state in until:
            break
        octopus.step(TICK)
    return octopus.arms[0].state


def room(octopus: Octopus) -> float:
    """The least gap between the arm and an obstacle beyond the clearance, in pixels."""
    arm = octopus.arms[0]
    rooms = [math.inf]
    for thing in octopus.objects:
        if thing.kind == ObjectKind.OBSTACLE:
            start, along = arm.joints[:-1], np.diff(arm.joints, axis=0)
            share = ((thing.position - start) * along).sum(axis=1) / (along**2).sum(axis=1)
            nearest = start + np.clip(share, 0.0, 1.0)[:, None] * along
            gap = np.hypot(*(nearest - thing.position).T).min() - thing.radius
            rooms.append((gap - arm.rules.arm_clearance) / arm.rules.unit)
    return min(rooms)


def ring(x: float, y: float, radius: float, count: int, size: float) -> list:
    """Obstacles all around a place."""
    turns = [2.0 * math.pi * place / count for place in range(count)]
    return [(x + radius * math.cos(turn), y + radius * math.sin(turn), size) for turn in turns]
