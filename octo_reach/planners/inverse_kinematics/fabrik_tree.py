"""FABRIK on a tree: several chains that grow out of one another, each with an aim of its own.

Every iteration pulls each tip to its target, from the leaves inwards. Where chains meet, each asks
for another place of their common root; it is put at the mean of these, by weight, and the chain
below is pulled there. Then the base is put back and all chains follow outwards again (seed 001).

A chain that branches in its middle is two branches here, the outer one growing from the inner one.

hand = solve_tree(
    {
        "arm": Branch(lengths=[30.0, 30.0]),
        "thumb": Branch(lengths=[10.0, 10.0], parent="arm", target=(60.0, 20.0)),
        "finger": Branch(lengths=[10.0, 10.0], parent="arm", target=(70.0, 5.0), weight=2.0),
    }
)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from octo_reach.model.geometry import Floats
from octo_reach.planners.inverse_kinematics.chain import (
    STARTING_BEND,
    TOLERANCE,
    Outcome,
    checked_effort,
    joint_positions,
)
from octo_reach.planners.inverse_kinematics.fabrik import reach_back, reach_out

MAX_ITERATIONS = 1000
STILL = 1e-4
"""A tree of which no joint moves further than this in an iteration has settled, in tolerances."""


@dataclass(frozen=True, eq=False)
class Branch:
    """One chain of a tree.

    Attributes:
        lengths: lengths of its segments, shape (N,), each above 0.
        parent: name of the branch whose tip it grows from, or None where it grows from the base.
        target: where its tip should go, (x, y), or None for a branch that only carries others.
        weight: how much its wish counts against those of the other branches that share its root,
            and against the target of its parent's tip, above 0; the error is shared inversely.
        start: joint angles to start from, shape (N,), rad, or joint positions, shape (N + 1, 2);
            left out, a gentle curve that goes on from its parent's.
    """

    lengths: ArrayLike
    parent: str | None = None
    target: Sequence[float] | None = None
    weight: float = 1.0
    start: ArrayLike | None = None


@dataclass(frozen=True, eq=False)
class TreeSolution:
    """Where solving a tree led.

    Attributes:
        positions: joint positions of every branch, shape (N + 1, 2), by its name.
        errors: distance of the tip from the target, of every branch that has one, by its name.
        outcome: reached where every target was, settled or out of iterations.
        iterations: how often the whole tree was gone through.
    """

    positions: dict[str, Floats]
    errors: dict[str, float]
    outcome: Outcome
    iterations: int


def solve_tree(
    branches: Mapping[str, Branch],
    base: Sequence[float] = (0.0, 0.0),
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> TreeSolution:
    """Bring the tips of a tree to their targets, or share what is left among them by weight.

    Args:
        branches: the branches by name, in any order.
        base: where the branches without a parent stand, (x, y).
        tolerance: a tip this near its target has reached it.
        max_iterations: most iterations.

    Raises:
        ValueError: there is no branch, or one has no segments, an unknown parent, neither a target
            nor branches, or numbers that do not fit; or branches form a cycle. The text names it.
    """
    checked_effort(tolerance, max_iterations)
    order = _order(branches)
    lengths = {name: _checked_lengths(name, branches[name]) for name in order}
    targets = {name: _checked_target(name, branches[name]) for name in order}
    weights = {name: _checked_weight(name, branches[name]) for name in order}
    carried: dict[str | None, list[str]] = {None: [], **{name: [] for name in order}}
    for name in order:
        carried[branches[name].parent].append(name)
    for name in order:
        if not carried[name] and targets[name] is None:
            raise ValueError(f"branch {name!r} has neither a target nor branches that grow from it")

    foot = np.array(base, dtype=np.float64)
    if foot.shape != (2,) or not np.all(np.isfinite(foot)):
        raise ValueError(f"base must be two finite numbers (x, y), got {base!r}")
    positions: dict[str, Floats] = {}
    for name in order:
        branch = branches[name]
        grows_from = foot if branch.parent is None else positions[branch.parent][-1]
        positions[name] = _starting_pose(name, branch, lengths[name], grows_from, positions)

    def errors() -> dict[str, float]:
        return {
            name: math.dist(positions[name][-1].tolist(), target)
            for name, target in targets.items()
            if target is not None
        }

    outcome = Outcome.OUT_OF_ITERATIONS
    iterations = 0
    while iterations < max_iterations:
        if max(errors().values()) <= tolerance:
            outcome = Outcome.REACHED
            break
        before = {name: joints.copy() for name, joints in positions.items()}
        for name in reversed(order):
            x, y = _wish(name, positions, targets, weights, carried[name])
            reach_back(positions[name], lengths[name], x, y)
        for name in order:
            parent = branches[name].parent
            x, y = foot.tolist() if parent is None else positions[parent][-1].tolist()
            reach_out(positions[name], lengths[name], x, y)
        iterations += 1
        moved = max(float(np.max(np.abs(positions[name] - before[name]))) for name in order)
        if moved <= STILL * tolerance:
            outcome = Outcome.SETTLED
            break
    left = errors()
    if max(left.values()) <= tolerance:
        outcome = Outcome.REACHED
    return TreeSolution(positions, left, outcome, iterations)


def _wish(
    name: str,
    positions: Mapping[str, Floats],
    targets: Mapping[str, tuple[float, float] | None],
    weights: Mapping[str, float],
    carried: Sequence[str],
) -> tuple[float, float]:
    """Give where the tip of a branch should go: its target and what grows from it, by weight."""
    total = x = y = 0.0
    wishes = [(weights[other], positions[other][0].tolist()) for other in carried]
    target = targets[name]
    if target is not None:
        wishes.append((weights[name], list(target)))
    for weight, (wished_x, wished_y) in wishes:
        total += weight
        x += weight * wished_x
        y += weight * wished_y
    return x / total, y / total


def _order(branches: Mapping[str, Branch]) -> list[str]:
    """Name every branch after its parent.

    Raises:
        ValueError: there is no branch, a parent is unknown, or branches form a cycle.
    """
    if not branches:
        raise ValueError("a tree must have at least one branch")
    for name, branch in branches.items():
        if branch.parent is not None and branch.parent not in branches:
            raise ValueError(
                f"branch {name!r} grows from {branch.parent!r}, which there is not;"
                f" there are: {', '.join(branches)}"
            )
    order: dict[str, None] = {}
    for name in branches:
        path: list[str] = []
        walk: str | None = name
        while walk is not None and walk not in order:
            if walk in path:
                cycle = [*path[path.index(walk) :], walk]
                raise ValueError(f"branches grow from one another in a cycle: {' -> '.join(cycle)}")
            path.append(walk)
            walk = branches[walk].parent
        order.update(dict.fromkeys(reversed(path)))
    return list(order)


def _checked_lengths(name: str, branch: Branch) -> Floats:
    lengths = np.array(branch.lengths, dtype=np.float64)
    if lengths.ndim != 1:
        raise ValueError(f"lengths of branch {name!r} must have the shape (N,)")
    if not len(lengths):
        raise ValueError(f"branch {name!r} has no segments")
    if not np.all(np.isfinite(lengths)) or np.any(lengths <= 0.0):
        raise ValueError(
            f"lengths of branch {name!r} must be finite and above 0, got {lengths.tolist()}"
        )
    return lengths


def _checked_target(name: str, branch: Branch) -> tuple[float, float] | None:
    if branch.target is None:
        return None
    target = np.array(branch.target, dtype=np.float64)
    if target.shape != (2,) or not np.all(np.isfinite(target)):
        raise ValueError(
            f"target of branch {name!r} must be two finite numbers (x, y), got {branch.target!r}"
        )
    x, y = target.tolist()
    return x, y


def _checked_weight(name: str, branch: Branch) -> float:
    weight = float(branch.weight)
    if not 0.0 < weight < math.inf:
        raise ValueError(f"weight of branch {name!r} must be finite and above 0, got {weight!r}")
    return weight


def _starting_pose(
    name: str,
    branch: Branch,
    lengths: Floats,
    grows_from: Floats,
    positions: Mapping[str, Floats],
) -> Floats:
    """Give the joint positions a branch starts from."""
    count = len(lengths)
    root = grows_from.tolist()
    if branch.start is None:
        # A gentle curve, as straight chains in line with their targets never leave that line.
        angles = np.full(count, STARTING_BEND)
        if branch.parent is not None:
            d_x, d_y = (positions[branch.parent][-1] - positions[branch.parent][-2]).tolist()
            angles[0] += math.atan2(d_y, d_x)
        return joint_positions(root, lengths, angles)
    start = np.array(branch.start, dtype=np.float64)
    if start.shape not in ((count,), (count + 1, 2)) or not np.all(np.isfinite(start)):
        raise ValueError(
            f"start of branch {name!r} must be {count} finite joint angles or {count + 1} finite"
            f" joint positions (x, y), got {start.tolist()}"
        )
    if start.ndim == 1:
        return joint_positions(root, lengths, start)
    pose = start.copy()
    reach_out(pose, lengths, root[0], root[1])
    return pose
