"""Planners compared: the same scenes under every one of them, and what is to be said of each.

    sweep = Sweep(plan_comparison({"detour": document}, ["neighbour", "jacobian_dls"]))
    sweep.run(ProcessEngine(jobs=4))
    for summary in summarise(sweep.rows()):
        print(summary.planner, summary.reached, summary.runs)

Figures of runs that reached are medians with 95 % intervals by the bootstrap (percentiles, Efron
1979), the share that reached with that of Wilson (1927). Everything but the times of updates is the
same every time.
"""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TextIO

import numpy as np

from octo_reach.batch.measures import ArmMeasures, measure_run
from octo_reach.batch.randomising import TARGETS
from octo_reach.batch.sweep import Rows, Run, plan_runs
from octo_reach.batch.table import Row, Value
from octo_reach.model.geometry import Floats
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import PIXEL_IN_METRES, UPDATE_RATE
from octo_reach.scenes.document import METRE, SceneDocument
from octo_reach.scenes.running import run_scene

CONFIDENCE = 0.95
NORMAL_QUANTILE = 1.959963984540054
"""How many standard deviations to either side hold that share of a normal distribution."""
RESAMPLES = 2000
"""How many samples the bootstrap draws."""
MILLIMETRES = 1000.0


@dataclass(frozen=True)
class ComparedRow(Row):
    """A row of a comparison: what a sweep says of an arm, and what it took.

    Attributes:
        joint_travel: how far all joints turned until the tip was at its first target, or in the
            whole run, rad; None for an arm that was never sent anywhere.
        update_us: mean time of one update of the arm until then, planning, limits, guard and
            sensing included, microseconds: of an octopus, its share of the step.
        update_p99_us: 99th percentile of the same.
    """

    joint_travel: float | None = None
    update_us: float | None = None
    update_p99_us: float | None = None


@dataclass(frozen=True)
class ComparedRun(Run):
    """A run that is watched more closely; its rows are `ComparedRow`."""

    def measure(self) -> Rows:
        """Run the scene, take the time of every step, and give a row for every arm."""
        document = self.scene_to_run()
        meter = _Meter(document)
        measures = measure_run(
            document, self.ticks, self.planner, meter.watch(self.ticks, self.planner)
        )
        return tuple(
            ComparedRow(
                self.scene,
                self.seed,
                self.planner,
                document.units,
                measured,
                "",
                *meter.effort(place, measured),
            )
            for place, measured in enumerate(measures)
        )


class _Meter:
    """The effort of a run, step by step."""

    def __init__(self, document: SceneDocument) -> None:
        self._document = document
        self._times: list[float] = []
        self._turns: list[Floats] = []
        self._poses: list[Floats] = []

    def watch(self, ticks: int, planner: str) -> Iterator[Octopus]:
        """Give the steps of the run as they are taken."""
        clock = time.perf_counter
        steps = run_scene(self._document, ticks, planner)
        octopus = next(steps)
        self._poses = [arm.angles.copy() for arm in octopus.arms]
        yield octopus
        while True:
            started = clock()
            if next(steps, None) is None:
                return
            self._times.append(clock() - started)
            self._turns.append(self._turned(octopus))
            yield octopus

    def _turned(self, octopus: Octopus) -> Floats:
        """Give how far the joints of every arm turned in the last step, the short way round."""
        turned = np.zeros(len(self._poses))
        for place, arm in enumerate(octopus.arms):
            angles = arm.angles
            if len(angles) == len(self._poses[place]):
                turns = np.abs(angles - self._poses[place])
                turned[place] = np.sum(np.minimum(turns, 2.0 * math.pi - turns))
            self._poses[place] = angles.copy()
        return turned

    def effort(
        self, place: int, measured: ArmMeasures
    ) -> tuple[float | None, float | None, float | None]:
        """Give the joint travel of an arm, and the mean and 99th percentile of its updates."""
        if measured.reached is None:
            return None, None, None
        first = _tick_of_order(self._document, measured.arm)
        last = len(self._times)
        if measured.seconds is not None:
            last = first + round(measured.seconds * UPDATE_RATE)
        if last <= first:
            return 0.0, None, None
        travel = math.fsum(turned[place] for turned in self._turns[first:last])
        times = 1e6 * np.array(self._times[first:last]) / len(self._poses)
        return travel, float(np.mean(times)), float(np.percentile(times, 99.0))


def _tick_of_order(document: SceneDocument, number: int) -> int:
    """Give the number of steps before an arm is sent anywhere for the first time."""
    for arm in document.placements():
        if arm.number == number and arm.target is not None:
            return 0
    ticks = [event.tick for event in document.events if event.arm == number and event.reach]
    return max(min(ticks, default=1) - 1, 0)


def plan_comparison(
    scenes: Mapping[str, SceneDocument],
    planners: Sequence[str],
    ticks: int | None = None,
    seeds: Iterable[int] = (),
) -> list[ComparedRun]:
    """Give the runs of a comparison: by scene, then seed, then planner.

    Args:
        scenes: the scenes by what they are called in the table.
        planners: names of the planners that are to run every scene.
        ticks: how many steps to take; None: of every scene as many as it asks for.
        seeds: which scenes like each, with other targets, to run; none: the scenes as they are.
    """
    drawn = list(seeds)
    runs = plan_runs(scenes, planners, ticks, TARGETS if drawn else None, drawn)
    return [ComparedRun(**vars(run)) for run in runs]


# ---------------------------------------------------------------------------------- summaries


@dataclass(frozen=True)
class Interval:
    """A figure and the interval it lies in with 95 % confidence.

    Attributes:
        value: the figure.
        low: lower end.
        high: upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class PlannerSummary:
    """What came of one planner; None where there is nothing to tell.

    Attributes:
        planner: its name.
        runs: how often an arm was sent somewhere under it.
        reached: how often the arm got there.
        failed: how many runs raised an exception; they count as not reached.
        share: the share that reached, with the interval of Wilson.
        seconds: median time to reach, s, of those that did.
        slowest: longest time to reach, s.
        path_ratio: median way of the tip over the straight distance, of those that reached.
        joint_travel: median turning of all joints together, rad, of those that reached.
        clearance: median of the smallest gaps to an obstacle, mm (a pixel is a millimetre).
        least_clearance: the smallest of them.
        update_us: median over the runs of the mean time of an update, microseconds.
        update_p99_us: median over the runs of the 99th percentile of an update, microseconds.
    """

    planner: str
    runs: int
    reached: int
    failed: int
    share: Interval | None
    seconds: Interval | None
    slowest: float | None
    path_ratio: Interval | None
    joint_travel: Interval | None
    clearance: Interval | None
    least_clearance: float | None
    update_us: Interval | None
    update_p99_us: Interval | None


def summarise(rows: Sequence[Row]) -> list[PlannerSummary]:
    """Sum up the rows of a comparison by planner, in the order in which they first appear."""
    planners = dict.fromkeys(row.planner for row in rows)
    return [_summary(name, [row for row in rows if row.planner == name]) for name in planners]


def reached_by_all(rows: Sequence[Row]) -> list[Row]:
    """Give the rows of those tasks (scene, seed, arm) that every planner got done.

    Only on these can the times and ways of two planners be held against each other: the one that
    reaches more takes on the harder ones as well.
    """
    planners = {row.planner for row in rows}
    done: dict[tuple[str, int | None, int], set[str]] = {}
    for row in rows:
        if row.measures is not None and row.measures.reached:
            key = (row.scene, row.seed, row.measures.arm)
            done.setdefault(key, set()).add(row.planner)
    return [
        row
        for row in rows
        if row.measures is not None
        and done.get((row.scene, row.seed, row.measures.arm)) == planners
    ]


def _summary(name: str, rows: list[Row]) -> PlannerSummary:
    sent = [row for row in rows if row.measures is not None and row.measures.reached is not None]
    there = [row for row in sent if row.measures is not None and row.measures.reached]
    failed = sum(bool(row.error) for row in rows)
    runs = len(sent) + failed
    seconds = _numbers(there, lambda row, measures: measures.seconds)
    gaps = _numbers(
        sent,
        lambda row, measures: (
            None if measures.clearance is None else measures.clearance * millimetres(row.units)
        ),
    )
    return PlannerSummary(
        planner=name,
        runs=runs,
        reached=len(there),
        failed=failed,
        share=wilson_interval(len(there), runs),
        seconds=median_interval(seconds),
        slowest=max(seconds, default=None),
        path_ratio=median_interval(_numbers(there, lambda row, measures: measures.path_ratio)),
        joint_travel=median_interval(_numbers(there, lambda row, measures: row.joint_travel)),
        clearance=median_interval(gaps),
        least_clearance=min(gaps, default=None),
        update_us=median_interval(_numbers(sent, lambda row, measures: row.update_us)),
        update_p99_us=median_interval(_numbers(sent, lambda row, measures: row.update_p99_us)),
    )


def _numbers(
    rows: list[Row], figure: Callable[[ComparedRow, ArmMeasures], float | None]
) -> list[float]:
    found = [
        figure(row, row.measures)
        for row in rows
        if isinstance(row, ComparedRow) and row.measures is not None
    ]
    return [number for number in found if number is not None]


def millimetres(units: str) -> float:
    """Give the millimetres of a unit of length of a scene."""
    return MILLIMETRES if units == METRE else MILLIMETRES * PIXEL_IN_METRES


def wilson_interval(successes: int, trials: int) -> Interval | None:
    """Give a share and its 95 % interval (Wilson, Journal of the American Statistical Association
    22, 1927), which stays within 0 and 1 and is of use for 0 of n and n of n as well.

    Args:
        successes: how often it worked.
        trials: how often it was tried.

    Returns:
        None where nothing was tried.
    """
    if trials == 0:
        return None
    share = successes / trials
    squared = NORMAL_QUANTILE**2
    middle = (share + squared / (2.0 * trials)) / (1.0 + squared / trials)
    spread = math.sqrt(share * (1.0 - share) / trials + squared / (4.0 * trials**2))
    half = NORMAL_QUANTILE * spread / (1.0 + squared / trials)
    # Of none and of all the end is the share itself, which rounding would miss.
    low = 0.0 if successes == 0 else middle - half
    high = 1.0 if successes == trials else middle + half
    return Interval(share, low, high)


def median_interval(values: Sequence[float]) -> Interval | None:
    """Give a median and its 95 % interval, by the percentiles of 2000 resampled medians.

    The same values, in whatever order, give the same interval.

    Args:
        values: any number of them; None is given where there are none.
    """
    if not values:
        return None
    sample = np.sort(np.array(values, dtype=np.float64))
    drawn = np.random.default_rng(len(sample)).integers(len(sample), size=(RESAMPLES, len(sample)))
    medians = np.median(sample[drawn], axis=1)
    edge = 50.0 * (1.0 - CONFIDENCE)
    low, high = np.percentile(medians, (edge, 100.0 - edge))
    return Interval(float(np.median(sample)), float(low), float(high))


# ------------------------------------------------------------------------------------- tables

COLUMNS = (
    "scene",
    "seed",
    "planner",
    "units",
    "arm",
    "reached",
    "seconds",
    "tip_path",
    "path_ratio",
    "joint_travel",
    "clearance",
    "state",
    "tip_error",
    "update_us",
    "update_p99_us",
    "error",
)
"""What the table of runs says of each arm; lengths are in the scene's unit."""


def row_values(row: Row) -> dict[str, Value]:
    """Give the values of a row by `COLUMNS`."""
    values: dict[str, Value] = {**asdict(row), "error": row.error or None}
    if row.measures is not None:
        values.update(asdict(row.measures))
    return {name: values.get(name) for name in COLUMNS}


def write_runs(rows: Sequence[Row], stream: TextIO) -> None:
    """Write the table of all runs as CSV."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_cell(value) for value in row_values(row).values()])


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, float) else str(value)
