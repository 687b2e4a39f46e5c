"""RRT-Connect: two trees of certified edges that grow towards each other (Kuffner, LaValle 2000).

Poses are compared by the absolute headings of their links, in which a straight edge is the same
straight edge as in joint angles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats, Integers
from octo_reach.planners.guided.room import CALL, Room, Sliced, duration

LONGEST_STEP = 1.5
"""Most change of any joint on one edge towards a pose drawn by lot, rad."""
SHORTEST_STEP = 0.04
"""Least change of any joint that is worth a node, rad."""
MOST_PIECES = 7
"""Even bends of a pose drawn by lot, at most."""
FIRST_NODES = 256
"""Nodes that a tree has room for at first."""
MOST_NODES = 8192
"""Nodes of one tree."""


@compiled
def nearest_node(nodes: Floats, used: int, headings: Floats) -> int:
    """Give the row of the node whose headings are nearest to the ones given, squares summed."""
    best = 0
    least = 1e300
    for row in range(used):
        total = 0.0
        for i in range(len(headings)):
            away = nodes[row, i] - headings[i]
            total += away * away
            if total >= least:
                break
        if total < least:
            least = total
            best = row
    return best


class Tree:
    """Poses joined by certified edges, back to one of its roots."""

    def __init__(self, count: int) -> None:
        """Make room for poses of `count` joints."""
        self.poses: Floats = np.empty((FIRST_NODES, count))
        self.parents: Integers = np.full(FIRST_NODES, -1)
        self._headings: Floats = np.empty((FIRST_NODES, count))
        self.used = 0

    @property
    def full(self) -> bool:
        """Whether no further node finds room."""
        return self.used >= MOST_NODES

    def add(self, pose: Floats, parent: int) -> int:
        """Add a node and give its row; the parent of a root is -1."""
        row = self.used
        if row == len(self.poses):
            self.poses = np.concatenate((self.poses, np.empty_like(self.poses)))
            self.parents = np.concatenate((self.parents, self.parents))
            self._headings = np.concatenate((self._headings, np.empty_like(self._headings)))
        self.poses[row] = pose
        self._headings[row] = np.cumsum(pose)
        self.parents[row] = parent
        self.used += 1
        return row

    def add_ladder(self, rungs: Sequence[Floats]) -> None:
        """Add a root and the rungs above it."""
        parent = -1
        for rung in rungs:
            if not self.full:
                parent = self.add(rung, parent)

    def nearest(self, pose: Floats) -> int:
        """Give the row of the node nearest to a pose."""
        return nearest_node(self._headings, self.used, np.cumsum(pose))

    def branch(self, row: int) -> list[Floats]:
        """Give the poses from a node back to its root."""
        poses = []
        while row >= 0:
            poses.append(self.poses[row].copy())
            row = int(self.parents[row])
        return poses


def drawn_pose(room: Room, around: Floats) -> Floats:
    """Draw a pose of two to seven even bends, its base anywhere round."""
    count = room.body.segments
    lots = room.draws.take(2 * MOST_PIECES + 2)
    pieces = 2 + int((MOST_PIECES - 1) * lots[0])
    pose = np.empty(count)
    ends = [0, *sorted(int(lot * count) for lot in lots[1:pieces]), count]
    for piece in range(pieces):
        # Towards the limits more often than not: what is tight is what the trees are for.
        bend = math.sin(math.pi * (lots[MOST_PIECES + piece] - 0.5))
        pose[ends[piece] : ends[piece + 1]] = room.body.bend * bend
    pose[0] = around[0] + 2.0 * math.pi * (lots[-1] - 0.5)
    return pose


def connect(
    room: Room,
    up: Sequence[Sequence[Floats]],
    down: Sequence[Sequence[Floats]],
    work: int,
) -> Sliced[list[Floats] | None]:
    """Look for a path by two trees.

    Args:
        room: the free space.
        up: ladders from the start: roots, each with the rungs above it.
        down: ladders from goal poses.
        work: work after which it is given up.

    Returns:
        The poses of a path from start to goal, or None.
    """
    count = room.body.segments
    start = up[0][0]
    trees = (Tree(count), Tree(count))
    for rungs in up:
        trees[0].add_ladder(rungs)
    for rungs in down:
        trees[1].add_ladder(rungs)
        # The same goal, the other way round the base.
        turn = -math.copysign(2.0 * math.pi, float(rungs[0][0] - start[0]))
        turned = [rung.copy() for rung in rungs]
        for pose in turned:
            pose[0] += turn
        trees[1].add_ladder(turned)
        yield 2 * CALL * len(rungs)
    growing = 0
    while work > 0 and not trees[0].full and not trees[1].full:
        tree, other = trees[growing], trees[1 - growing]
        drawn = drawn_pose(room, start)
        spent = 4 * CALL + (tree.used + other.used) * count // 2
        work -= spent
        yield spent
        near = tree.nearest(drawn)
        pose = tree.poses[near]
        length = duration(pose, drawn)
        aim = pose + min(1.0, LONGEST_STEP / max(length, 1e-9)) * (drawn - pose)
        length = min(length, LONGEST_STEP)
        grown, part, cost = yield from _grow(room, tree, near, aim, length)
        work -= cost
        if grown >= 0:
            new = tree.poses[grown].copy()
            facing = other.nearest(new)
            length = duration(other.poses[facing], new)
            met, part, cost = yield from _grow(room, other, facing, new, length)
            work -= cost
            if part >= 1.0:
                here, there = tree.branch(grown), other.branch(met)
                if growing == 1:
                    here, there = there, here
                return [*reversed(here), *there[1:]]
        growing = 0 if trees[0].used <= trees[1].used else 1
    return None


def _grow(
    room: Room, tree: Tree, near: int, aim: Floats, length: float
) -> Sliced[tuple[int, float, int]]:
    """Grow a tree from one node towards a pose.

    Returns:
        The row of the new node or -1, the share of the way that is clear, and the work.
    """
    if tree.full:
        return -1, 0.0, 0
    cost = 0
    edge = room.clear_part(tree.poses[near], aim)
    try:
        while True:
            work = next(edge)
            cost += work
            yield work
    except StopIteration as end:
        part: float = end.value
    if part >= 1.0:
        return tree.add(aim, near), part, cost
    # A little back from what stopped it, so that there is room to go on from there.
    share = 0.9 * part
    if share * length < SHORTEST_STEP:
        return -1, part, cost
    return tree.add(tree.poses[near] + share * (aim - tree.poses[near]), near), part, cost
