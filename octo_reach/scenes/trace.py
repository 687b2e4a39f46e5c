"""Traces: what every arm and object was at the kept ticks of a run, as JSON lines.

Numbers are in the unit and frame of the scene, floats with every digit they have, so that two
traces of the same run are the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, TextIO

from octo_reach.model.octopus import Arm, Octopus
from octo_reach.model.scene import ObjectKind


def trace_entry(octopus: Octopus) -> dict[str, Any]:
    """Give what a trace says of the present moment.

    Args:
        octopus: the octopus after a step, or as it starts.

    Returns:
        The values of one line of a trace, fit for JSON.
    """
    return {
        "tick": octopus.ticks,
        "seconds": octopus.time,
        "arms": [_arm(arm) for arm in octopus.arms],
        "objects": [
            [thing.number, list(thing.position), thing.kind.label, thing.radius]
            for thing in octopus.objects
        ],
        "captures": [
            [capture.arm, capture.object, capture.seconds] for capture in octopus.captures
        ],
    }


def _arm(arm: Arm) -> dict[str, Any]:
    grip = arm.grip
    contacts = arm.contacts()
    return {
        "number": arm.number,
        "angles": arm.angles.tolist(),
        "tip": arm.tip.tolist(),
        "state": arm.state,
        "target": arm.target.tolist(),
        "grip": None
        if grip is None
        else {"object": grip.object, "segment": grip.segment, "offset": list(grip.offset)},
        "contacts": [
            [segment, number, ObjectKind(kind).label, point]
            for segment, number, kind, point in zip(
                contacts.segments.tolist(),
                contacts.objects.tolist(),
                contacts.kinds.tolist(),
                contacts.points.tolist(),
                strict=True,
            )
        ],
    }


class TraceWriter:
    """Writes the kept ticks of a run, a line each."""

    def __init__(
        self, stream: TextIO, last: int, every: int = 1, keep: Collection[int] | None = None
    ) -> None:
        """Choose the ticks.

        Args:
            stream: where the lines go.
            last: the last tick of the run.
            every: keep the start, every so many ticks, and the last.
            keep: keep exactly these ticks instead.

        Raises:
            ValueError: `every` is below 1, or a tick of `keep` is not one of the run.
        """
        if every < 1:
            raise ValueError(f"every must be at least 1, got {every}")
        for tick in keep or ():
            if not 0 <= tick <= last:
                raise ValueError(f"tick {tick} is not one of the run: 0 to {last}")
        self._stream = stream
        self._last = last
        self._every = every
        self._keep = None if keep is None else frozenset(keep)

    def keeps(self, tick: int) -> bool:
        """Tell whether a tick is one of the kept."""
        if self._keep is not None:
            return tick in self._keep
        return tick % self._every == 0 or tick == self._last

    def write(self, octopus: Octopus) -> None:
        """Write a line where the present tick is one of the kept."""
        if self.keeps(octopus.ticks):
            line = json.dumps(trace_entry(octopus), allow_nan=False, separators=(", ", ": "))
            self._stream.write(line + "\n")
