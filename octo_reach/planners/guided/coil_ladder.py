"""The arm drawn in: rungs of a ladder from a pose to its coil, folded from the tip to the base.

What no straight move reaches is often reached by an arm that retracts, swings, and extends again.
Each rung folds one more group of joints to the limit, the last as far as it goes; its edge is
certified. The rungs above the start and above the goals are where the trees begin.
"""

from __future__ import annotations

from octo_reach.model.geometry import Floats
from octo_reach.planners.guided.room import Room, Sliced

LEAST_PART = 0.05
"""Share of a rung that is clear and worth being the last."""


def climb(room: Room, pose: Floats, group: int, bend: float) -> Sliced[list[Floats]]:
    """Fold a pose from its tip to its base, a group of joints at a time, as far as it is clear.

    Args:
        room: the free space.
        pose: joint angles to begin with, shape (N,), rad.
        group: joints that fold at a time.
        bend: angle they fold to, rad.

    Returns:
        The rungs; the first is the pose itself.
    """
    rungs = [pose]
    last = len(pose)
    while last > 1:
        last = max(1, last - group)
        rung = rungs[-1].copy()
        rung[last:] = bend
        part = yield from room.clear_part(rungs[-1], rung)
        if part >= 1.0:
            rungs.append(rung)
            continue
        # A little back from what stopped it, so that there is room to go on from there.
        if part > LEAST_PART:
            rungs.append(rungs[-1] + 0.9 * part * (rung - rungs[-1]))
        break
    return rungs
