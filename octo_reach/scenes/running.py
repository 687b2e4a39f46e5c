"""A scene run headless: fixed steps, events just before theirs, as fast as the machine goes.

    for octopus in run_scene(load_scene("scene.yaml"), ticks=600):
        print(octopus.ticks, octopus.arm(1).tip)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from octo_reach.model.octopus import Octopus
from octo_reach.model.reach import Planner
from octo_reach.model.rules import UPDATE_RATE
from octo_reach.planners import create_planner
from octo_reach.scenes.building import apply_event, build_octopus
from octo_reach.scenes.document import SceneDocument

STEP = 1.0 / UPDATE_RATE
"""Duration of one step, s."""
SHORTEST_RUN = 20.0
"""How long a scene is run when nobody says how long, at least, s."""
AFTERMATH = 5.0
"""How long it is run beyond its last event then, at least, s."""


def run_scene(
    document: SceneDocument, ticks: int, planner: str = "neighbour"
) -> Iterator[Octopus]:
    """Run a scene, the same way every time.

    Args:
        document: a checked scene.
        ticks: how many steps to take; later events do not happen.
        planner: what proposes the motion of every arm, one of `PLANNERS`.

    Returns:
        The octopus, the same object each time: as it starts, and then after every step, so
        `ticks` + 1 times. Its lengths are in the unit of the document.

    Raises:
        ValueError: `ticks` is negative, or no planner has that name.
    """
    if ticks < 0:
        raise ValueError(f"ticks must not be negative, got {ticks}")
    placements = document.placements()
    planners: Mapping[int, Planner] = {
        placement.number: create_planner(planner) for placement in placements
    }
    # Checked and built here, not at the first `next`: an error shows where the run was asked for.
    return _steps(document, build_octopus(document, planners), ticks)


def _steps(document: SceneDocument, octopus: Octopus, ticks: int) -> Iterator[Octopus]:
    events = {
        tick: list(group) for tick, group in groupby(document.events, lambda event: event.tick)
    }
    yield octopus
    for tick in range(1, ticks + 1):
        for event in events.get(tick, ()):
            apply_event(octopus, event)
        octopus.step(STEP)
        yield octopus


def standard_ticks(document: SceneDocument) -> int:
    """Give how many steps a scene is run when nobody says how many: 20 s, and 5 s past its events.

    Args:
        document: a checked scene.
    """
    last = max((event.tick for event in document.events), default=0)
    return max(round(SHORTEST_RUN * UPDATE_RATE), last + round(AFTERMATH * UPDATE_RATE))
