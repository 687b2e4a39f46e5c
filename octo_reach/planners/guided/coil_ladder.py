"""The arm drawn in: rungs of a ladder from a pose to its coil, folded from the tip to the base.

What no straight move reaches is often reached by an arm that retracts, swings, and extends again.
Each rung folds one more group of joints to the limit; its edge is certified. The rungs above the
start and above the goals are where the trees begin.
"""

from __future__ import annotations

from octo_reach.model.geometry import Floats
from octo_reach.planners.guided.room import Room, Sliced


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
        if not (yield from room.clear(rungs[-1], rung)):
            break
        rungs.append(rung)
    return rungs
