"""The classic comparison: how quickly each method of inverse kinematics brings a tip to a target.

Chains of even segments, in pixels, start in the same gentle curve and are sent to the same targets,
spread evenly over all that they can come to. The methods take turns at every target, so that
whatever else the machine does meets them all alike. Where the limits of the joints are kept, they
are those of an arm.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from octo_reach.model.arm import ArmParameters, initial_angles
from octo_reach.model.geometry import Floats
from octo_reach.model.rules import ReachRules
from octo_reach.planners.inverse_kinematics import cyclic_descent, fabrik
from octo_reach.planners.inverse_kinematics.chain import (
    TOLERANCE,
    JointLimits,
    Outcome,
    Solution,
    joint_positions,
)
from octo_reach.planners.inverse_kinematics.jacobian import (
    solve_damped_least_squares,
    solve_transpose,
)

JOINTS = (10, 20)
SEEDS = 200
REACH = ArmParameters().reach
"""Length of every chain, in pixels: that of the seed's single arm."""
SPREAD = 0.97
"""How far out targets lie, as a part of the reach."""
MAX_ITERATIONS = 1000
"""Iterations after which a target counts as not solved."""

Method = Callable[[Floats, Floats, tuple[float, float], JointLimits], Solution]


def _fabrik(
    start: Floats, lengths: Floats, target: tuple[float, float], limits: JointLimits
) -> Solution:
    return fabrik.solve(
        start, lengths, target, limits=limits, max_iterations=MAX_ITERATIONS, refined=False
    )


def _refined_fabrik(
    start: Floats, lengths: Floats, target: tuple[float, float], limits: JointLimits
) -> Solution:
    return fabrik.solve(start, lengths, target, limits=limits, max_iterations=MAX_ITERATIONS)


def _cyclic_descent(
    start: Floats, lengths: Floats, target: tuple[float, float], limits: JointLimits
) -> Solution:
    return cyclic_descent.solve(
        start, lengths, target, limits=limits, max_iterations=MAX_ITERATIONS
    )


def _transpose(
    start: Floats, lengths: Floats, target: tuple[float, float], limits: JointLimits
) -> Solution:
    base = (0.0, 0.0)
    return solve_transpose(base, lengths, start, target, TOLERANCE, MAX_ITERATIONS, limits)


def _damped_least_squares(
    start: Floats, lengths: Floats, target: tuple[float, float], limits: JointLimits
) -> Solution:
    base = (0.0, 0.0)
    return solve_damped_least_squares(
        base, lengths, start, target, TOLERANCE, MAX_ITERATIONS, limits
    )


METHODS: dict[str, Method] = {
    "FABRIK": _fabrik,
    "FABRIK, refined": _refined_fabrik,
    "CCD": _cyclic_descent,
    "damped least squares": _damped_least_squares,
    "Jacobian transpose": _transpose,
}
"""The methods by the names people know; FABRIK by its passes alone and as it is shipped."""


@dataclass(frozen=True)
class MethodFigures:
    """How one method did with one kind of chain.

    Attributes:
        joints: joints of the chain.
        limited: whether every joint but the base could bend no further than those of an arm.
        method: name of the method.
        targets: how many targets it was sent to.
        solved: share of them that it reached.
        iterations: median number of iterations to the tolerance; infinite where it reached less
            than half of the targets.
        microseconds: median time to the tolerance, without what every call takes; likewise.
        call_us: what every call takes, checking its arguments: the median time of one for a target
            that the tip is at already.
    """

    joints: int
    limited: bool
    method: str
    targets: int
    solved: float
    iterations: float
    microseconds: float
    call_us: float

    def row(self) -> dict[str, object]:
        """Give the numbers as `octo-reach bench ik --json` writes them, None for infinity."""
        return {
            "joints": self.joints,
            "limited": self.limited,
            "method": self.method,
            "targets": self.targets,
            "solved": round(self.solved, 4),
            "iterations": _finite(self.iterations),
            "microseconds": _finite(round(self.microseconds, 2)),
            "call_us": round(self.call_us, 2),
        }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def targets_within(reach: float, count: int, seed: int) -> list[tuple[float, float]]:
    """Spread targets evenly over the disc that a chain at the origin can come to.

    Args:
        reach: radius of the disc.
        count: how many.
        seed: the same seed gives the same targets.
    """
    chance = np.random.default_rng(seed)
    distances = reach * np.sqrt(chance.random(count))
    directions = chance.uniform(-math.pi, math.pi, count)
    x, y = distances * np.cos(directions), distances * np.sin(directions)
    return list(zip(x.tolist(), y.tolist(), strict=True))


def compare_methods(
    joints: Sequence[int] = JOINTS,
    seeds: int = SEEDS,
    report: Callable[[float], None] = lambda share: None,
) -> list[MethodFigures]:
    """Send the same chains to the same targets by every method.

    Args:
        joints: numbers of joints to compare with.
        seeds: how many targets each chain is sent to.
        report: told the share that is done, 0 to 1, every now and then.

    Returns:
        One result for each number of joints, without and with limits, and method.
    """
    figures = []
    kinds = [(count, limited) for count in joints for limited in (False, True)]
    for done, (count, limited) in enumerate(kinds):

        def tell(share: float, done: int = done) -> None:
            report((done + share) / len(kinds))

        figures += _compare(count, limited, seeds, tell)
    return figures


def _compare(
    count: int, limited: bool, seeds: int, report: Callable[[float], None]
) -> list[MethodFigures]:
    lengths = np.full(count, REACH / count)
    parameters = ArmParameters(count, REACH / count)
    start = initial_angles(parameters, 0.0, ReachRules.pixel())
    limits = JointLimits.bends(count, parameters.maximum_bend if limited else math.inf)
    x, y = joint_positions((0.0, 0.0), lengths, start)[-1].tolist()
    targets = targets_within(SPREAD * REACH, seeds, count)
    found: dict[str, list[tuple[Solution, float, float]]] = {name: [] for name in METHODS}
    for solve in METHODS.values():
        # Untimed: whatever a first call loads or compiles is no part of solving.
        solve(start, lengths, targets[0], limits)
    names = list(METHODS)
    for number, target in enumerate(targets):
        # Whoever comes after a long one finds the caches full: each has every place in turn.
        first = number % len(names)
        for name in (*names[first:], *names[:first]):
            solve = METHODS[name]
            _, idle = _timed(solve, start, lengths, (x, y), limits)
            solution, taken = _timed(solve, start, lengths, target, limits)
            found[name].append((solution, taken, idle))
        report((number + 1) / seeds)
    return [_figures(count, limited, name, results) for name, results in found.items()]


def _figures(
    count: int, limited: bool, name: str, results: list[tuple[Solution, float, float]]
) -> MethodFigures:
    reached = [solution.outcome is Outcome.REACHED for solution, _, _ in results]
    iterations = [solution.iterations for solution, _, _ in results]
    call_us = float(np.median([idle for _, _, idle in results]))
    times = np.maximum(0.0, [taken - call_us for _, taken, _ in results])
    return MethodFigures(
        joints=count,
        limited=limited,
        method=name,
        targets=len(results),
        solved=float(np.mean(reached)),
        iterations=_median(np.where(reached, iterations, np.inf)),
        microseconds=_median(np.where(reached, times, np.inf)),
        call_us=call_us,
    )


def _median(values: Floats) -> float:
    """Give the upper median, which is one of the values: between two infinite ones lies nothing."""
    return float(np.sort(values)[len(values) // 2])


def _timed(
    solve: Method,
    start: Floats,
    lengths: Floats,
    target: tuple[float, float],
    limits: JointLimits,
) -> tuple[Solution, float]:
    started = time.perf_counter_ns()
    solution = solve(start, lengths, target, limits)
    return solution, (time.perf_counter_ns() - started) / 1e3
