"""Runs a planner once, so that no arm has to wait for the compiler later."""

from __future__ import annotations

import threading
from collections.abc import Callable

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.model.reach import Planner
from octo_reach.model.rules import UPDATE_RATE, ReachRules
from octo_reach.model.scene import ObjectKind

PATIENCE = 1.0
"""How long a first run may last before somebody is told that it does, s."""
STEPS = 30
"""Updates of the small arm: enough for a planner that plans in slices."""


def run_once(planner: Planner, report: Callable[[str], None] | None = None) -> None:
    """Let a planner move a small arm in trouble, so that whatever it compiles is compiled.

    Args:
        planner: the planner; it is left as it was after a reset.
        report: called with one line, from another thread, where that takes a while.
    """
    text = f"compiling the planner {planner.name} for the first time: under a minute, once"
    # Whether there is anything to compile, only the planner's own kernels know: time tells.
    timer = threading.Timer(PATIENCE, lambda: report(text) if report is not None else None)
    timer.daemon = True
    timer.start()
    try:
        placement = ArmPlacement(1, ArmParameters(4, 20.0), target=(40.0, 40.0))
        octopus = Octopus([placement], ReachRules.pixel(), {1: planner})
        for obstacles in _scenes():
            octopus.clear_objects()
            octopus.reset(1)
            for x, y, radius in obstacles:
                octopus.add_object(ObjectKind.OBSTACLE, (x, y), radius)
            for _ in range(STEPS):
                octopus.step(1.0 / UPDATE_RATE)
        planner.reset()
    finally:
        timer.cancel()


def _scenes() -> list[list[tuple[float, float, float]]]:
    """Give obstacles, (x, y, radius), of scenes that ask for different answers."""
    around = [
        (40.0 + 14.0 * x, 40.0 + 14.0 * y, 5.0) for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))
    ]
    return [
        [(60.0, 40.0, 4.0)],  # beside the way
        [(20.0, 22.0, 6.0)],  # on the straight way
        around,  # no way at all
        [(30.0, 0.0, 4.0)],  # on the arm
    ]
