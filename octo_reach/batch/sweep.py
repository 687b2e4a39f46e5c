"""A sweep: which runs there are, what one of them is, and their rows in order."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

from octo_reach.batch.measures import measure_run
from octo_reach.batch.randomising import vary_scene
from octo_reach.batch.table import Row
from octo_reach.scenes.document import SceneDocument
from octo_reach.scenes.running import standard_ticks

Rows = tuple[Row, ...]


@dataclass(frozen=True)
class Run:
    """One run of a sweep; it can travel to another process.

    Attributes:
        index: its place in the sweep, from 0.
        scene: what the scene is called in the table.
        document: the scene; where there is a seed, the one whose like is run.
        planner: what proposes the motion of the arms.
        ticks: how many steps to take.
        vary: what to vary, one of `VARIATIONS`, or None.
        seed: which of the scenes like it to run, or None.
    """

    index: int
    scene: str
    document: SceneDocument
    planner: str
    ticks: int
    vary: str | None = None
    seed: int | None = None

    def scene_to_run(self) -> SceneDocument:
        """Give the scene itself, or where there is a seed the one like it."""
        if self.vary is None or self.seed is None:
            return self.document
        return vary_scene(self.document, self.vary, self.seed)

    def measure(self) -> Rows:
        """Run the scene and give a row for every arm."""
        document = self.scene_to_run()
        measures = measure_run(document, self.ticks, self.planner)
        return tuple(
            Row(self.scene, self.seed, self.planner, document.units, measured)
            for measured in measures
        )


class Engine(Protocol):
    """Executes runs, somewhere."""

    def run(self, runs: Sequence[Run]) -> Generator[tuple[int, Rows], None, None]:
        """Execute every run once, and yield its index and its rows as they come, in any order.

        Closing the iterator ends all work that is still going on.
        """
        ...


def plan_runs(
    scenes: Mapping[str, SceneDocument],
    planners: Sequence[str] = ("neighbour",),
    ticks: int | None = None,
    vary: str | None = None,
    seeds: Iterable[int] = (),
) -> list[Run]:
    """Give the runs of a sweep: by scene, then seed, then planner.

    Args:
        scenes: the scenes by what they are called in the table.
        planners: names of the planners that are to run every scene.
        ticks: how many steps to take; None: of every scene as many as it asks for.
        vary: what to vary, one of `VARIATIONS`; None: the scenes run as they are.
        seeds: which scenes like each to run, where something varies.

    Returns:
        The runs, in the order of their indices.
    """
    drawn: Sequence[int | None] = [None] if vary is None else list(seeds)
    runs: list[Run] = []
    for name, document in scenes.items():
        steps = standard_ticks(document) if ticks is None else ticks
        for seed in drawn:
            for planner in planners:
                runs.append(Run(len(runs), name, document, planner, steps, vary, seed))
    return runs


def execute_run(run: Run) -> Rows:
    """Execute one run.

    Returns:
        A row for every arm; where the run raised an exception, one row that holds its text.
    """
    try:
        return run.measure()
    except Exception as error:
        return failed_rows(run, f"{type(error).__name__}: {error}")


def failed_rows(run: Run, reason: str) -> Rows:
    """Give what the table says of a run that failed: one row, with the reason in one line."""
    line = "; ".join(reason.split("\n"))
    return (Row(run.scene, run.seed, run.planner, run.document.units, None, line),)


class Sweep:
    """Runs, and the rows of those that are done.

    Attributes:
        runs: the runs, in the order of their rows.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        """Start nothing yet."""
        self.runs = tuple(runs)
        self._done: dict[int, Rows] = {}

    def run(self, engine: Engine, report: Callable[[int], None] | None = None) -> None:
        """Execute the runs that are not done. After an exception, `rows` has what was done.

        Args:
            engine: what executes them.
            report: called with the number of runs done, as they get done.
        """
        left = [run for run in self.runs if run.index not in self._done]
        # Closed whatever happens, so that an interrupt ends the workers before it goes on.
        with closing(engine.run(left)) as results:
            for index, rows in results:
                self._done.setdefault(index, rows)
                if report is not None:
                    report(len(self._done))

    @property
    def finished(self) -> int:
        """Number of runs done."""
        return len(self._done)

    @property
    def failed(self) -> int:
        """Number of runs done that failed."""
        return sum(any(row.error for row in rows) for rows in self._done.values())

    def rows(self) -> list[Row]:
        """Give the rows of the runs done, in the order of the runs and then of the arms."""
        return [row for run in self.runs for row in self._done.get(run.index, ())]
