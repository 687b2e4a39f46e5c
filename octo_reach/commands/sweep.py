"""octo-reach sweep: runs many scenes, or many like them, and writes one table."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from octo_reach.commands import CommandError, require_extra, say
from octo_reach.commands.arguments import seconds_of_run, whole_number
from octo_reach.commands.progress import progress
from octo_reach.commands.stopping import terminable

if TYPE_CHECKING:
    from octo_reach.batch import Engine, Sweep
    from octo_reach.scenes import SceneDocument

Number = TypeVar("Number", int, float)

STANDARD_OUTPUT = "-"
SUFFIXES = (".csv", ".parquet")
MOST_SEEDS = 10_000_000
MOST_JOBS = 1000
LONGEST_RUN = 1e8
"""Most seconds of a run."""
FAILED_RUNS = 1
INTERRUPTED = 130


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command line of `sweep`."""
    parser = subparsers.add_parser(
        "sweep",
        help="run many scenes, or randomised ones, and write one table",
        description=(
            "Runs scenes over all cores, headless, and writes a table: a row for every scene, seed"
            " and arm. The same sweep gives the same table every time."
        ),
        epilog=(
            "Exit code: 0, 1 when a run failed (its row says why), 130 after Ctrl-C: the runs done"
            " until then are in the file of --output."
        ),
        allow_abbrev=False,
    )
    parser.add_argument(
        "scenes",
        metavar="SCENE",
        nargs="+",
        help="scene file (.json, .yaml), or the name of a shipped scene such as detour",
    )
    parser.add_argument(
        "--vary",
        metavar="WHAT",
        help="run scenes like these instead: with other targets, or with the obstacles elsewhere",
    )
    parser.add_argument(
        "--seeds",
        metavar="N",
        type=_named("--seeds", whole_number(1, MOST_SEEDS)),
        help="how many scenes like each to run, with the seeds 1 to N (default: 10)",
    )
    parser.add_argument(
        "--planner",
        metavar="P,P,...",
        default="neighbour",
        help="what proposes the motion of the arms; several run each scene in turn"
        " (default: neighbour)",
    )
    duration = parser.add_mutually_exclusive_group()
    duration.add_argument(
        "--seconds",
        metavar="S",
        type=_named("--seconds", seconds_of_run(LONGEST_RUN)),
        help="how long to simulate (default: 20 s, longer where events are later)",
    )
    duration.add_argument(
        "--ticks",
        metavar="N",
        type=_named("--ticks", whole_number(1, round(120 * LONGEST_RUN))),
        help="the same in steps of 1/120 s",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--jobs",
        metavar="J",
        type=_named("--jobs", whole_number(1, MOST_JOBS)),
        help="how many processes (default: one for each core)",
    )
    where.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="run on the workers of this Dask scheduler, such as tcp://10.0.0.7:8786",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        default=STANDARD_OUTPUT,
        help=f"where the table goes ({', '.join(SUFFIXES)}; default: CSV on the standard output)",
    )
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Run the sweep."""
    # All that can be wrong is said before the first run, not after the last.
    vary, seeds = _variation(arguments)
    planners = _planners(arguments.planner)
    output = _output(arguments.output)
    scenes = _scenes(arguments.scenes, vary)
    if arguments.scheduler is not None:
        require_extra("--scheduler", "cluster", ["distributed"])

    from octo_reach.batch import EngineError, Sweep, plan_runs

    sweep = Sweep(plan_runs(scenes, planners, _ticks(arguments), vary, range(1, seeds + 1)))
    engine = _engine(arguments, len(sweep.runs))
    started = time.perf_counter()
    try:
        with terminable(), progress("sweeping", len(sweep.runs), counted=True) as report:
            sweep.run(engine, report)
    except KeyboardInterrupt:
        with _undisturbed():
            say(f"interrupted; {_keep(sweep, output)}")
        return INTERRUPTED
    except EngineError as error:
        kept = f"\n{_keep(sweep, output)}" if sweep.finished else ""
        raise CommandError(f"{error}{kept}") from None
    _write(sweep, output)
    _summarise(sweep, output, time.perf_counter() - started)
    return FAILED_RUNS if sweep.failed else 0


# ---------------------------------------------------------------- what was asked


def _variation(arguments: argparse.Namespace) -> tuple[str | None, int]:
    from octo_reach.batch import VARIATIONS

    vary: str | None = arguments.vary
    if vary is None:
        if arguments.seeds is not None:
            raise CommandError("--seeds counts scenes that vary: give --vary as well")
        return None, 0
    if vary not in VARIATIONS:
        raise CommandError(f"--vary must be one of {', '.join(VARIATIONS)}, got {vary!r}")
    return vary, 10 if arguments.seeds is None else arguments.seeds


def _planners(text: str) -> list[str]:
    from octo_reach.planners import PLANNERS

    choices = [choice for choice in PLANNERS if choice != "external"]
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in choices:
            # The joint angles of an external planner come over ROS topics.
            raise CommandError(f"--planner must be one of {', '.join(choices)}, got {name!r}")
        if names.count(name) > 1:
            raise CommandError(f"--planner names {name} twice")
    return names


def _output(text: str) -> Path | None:
    if text == STANDARD_OUTPUT:
        return None
    path = Path(text)
    if path.suffix.lower() not in SUFFIXES:
        raise CommandError(
            f"--output must be a file name that ends in {', '.join(SUFFIXES)}, got {text}"
        )
    # The file is replaced, so it is the folder that must be writable.
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise CommandError(f"--output: {path} cannot be written")
    if path.suffix.lower() == ".parquet":
        require_extra("a table in Parquet", "parquet", ["pyarrow"])
    return path


def _scenes(texts: list[str], vary: str | None) -> dict[str, SceneDocument]:
    from octo_reach.batch.randomising import OBSTACLES, TARGETS, has_obstacles, has_targets
    from octo_reach.scenes import SceneError, load_scene
    from octo_reach.scenes.shipped import UnknownSceneError, find_scene

    documents: dict[str, SceneDocument] = {}
    files: set[Path] = set()
    for text in texts:
        try:
            path = find_scene(text)
            document = load_scene(path)
        except (SceneError, UnknownSceneError) as error:
            raise CommandError(str(error)) from None
        if path.resolve() in files:
            raise CommandError(f"SCENE {text} is given twice")
        files.add(path.resolve())
        if vary == TARGETS and not has_targets(document):
            raise CommandError(f"--vary targets: no arm of {text} has a target")
        if vary == OBSTACLES and not has_obstacles(document):
            raise CommandError(f"--vary obstacles: {text} has no obstacle")
        documents[text] = document
    return documents


def _ticks(arguments: argparse.Namespace) -> int | None:
    from octo_reach.model.rules import UPDATE_RATE

    if arguments.seconds is not None:
        return round(arguments.seconds * UPDATE_RATE)
    ticks: int | None = arguments.ticks
    return ticks


def _engine(arguments: argparse.Namespace, runs: int) -> Engine:
    from octo_reach.batch import DaskEngine
    from octo_reach.batch.engines import local_engine, prepare

    if arguments.scheduler is not None:
        try:
            return DaskEngine(arguments.scheduler, say)
        except ValueError as error:
            raise CommandError(f"--scheduler {error}") from None
    # Once, before there are processes that would all do it.
    prepare(say)
    return local_engine(arguments.jobs, runs)


# ---------------------------------------------------------------- the way through


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Let no second Ctrl-C spoil the rows that are being kept after the first."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# ---------------------------------------------------------------- the table


def _write(sweep: Sweep, output: Path | None) -> None:
    from octo_reach.batch import save_table, write_csv

    rows = sweep.rows()
    if output is None:
        write_csv(rows, sys.stdout)
        return
    try:
        save_table(rows, output)
    except OSError as error:
        raise CommandError(f"--output: {output}: {error.strerror or error}") from None


def _keep(sweep: Sweep, output: Path | None) -> str:
    """Keep the rows there are, and say so."""
    if output is None:
        return "no row is kept; with --output FILE those of the runs done are"
    _write(sweep, output)
    return f"{output} has {_count_of(sweep.finished, 'run')} of {len(sweep.runs)}"


def _summarise(sweep: Sweep, output: Path | None, seconds: float) -> None:
    measured = [row.measures for row in sweep.rows() if row.measures is not None]
    sent = [measures for measures in measured if measures.reached is not None]
    reached = sum(bool(measures.reached) for measures in sent)
    # Who grasps something on the way stops there, and comes no nearer to the target.
    caught = sum(not measures.reached and measures.captures > 0 for measures in sent)
    others = f", {caught} caught something instead" if caught else ""
    where = "" if output is None else f"; the table is in {output}"
    say(
        f"{_count_of(sweep.finished, 'run')} in {seconds:.1f} s: {reached} of"
        f" {_count_of(len(sent), 'arm')} sent somewhere got there{others}{where}"
    )
    if sweep.failed:
        say(f"{_count_of(sweep.failed, 'run')} failed: the column error says why")


def _count_of(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


# ---------------------------------------------------------------- reading numbers


def _named(option: str, read: Callable[[str], Number]) -> Callable[[str], Number]:
    """Let a number that is refused be refused in one line, as everything else is."""

    def named(text: str) -> Number:
        try:
            return read(text)
        except argparse.ArgumentTypeError as error:
            raise CommandError(f"{option} {error}") from None

    return named
