"""octo-reach bench planners: which planner is better where."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from octo_reach.commands import CommandError, require_extra, say
from octo_reach.commands.arguments import seconds_of_run, whole_number
from octo_reach.commands.progress import progress
from octo_reach.commands.stopping import terminable

if TYPE_CHECKING:
    from rich.console import Console

    from octo_reach.batch import Row, Sweep
    from octo_reach.batch.comparison import Interval, PlannerSummary
    from octo_reach.scenes import SceneDocument

FIGURES = (".png", ".pdf", ".svg")
MOST_SEEDS = 100_000
MOST_JOBS = 1000
LONGEST_RUN = 1e6
"""Most seconds of a run."""
FAILED_RUNS = 1
INTERRUPTED = 130
NOTHING = "-"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command line of `bench planners`."""
    parser = subparsers.add_parser(
        "planners",
        help="planners on the same scenes: reached, seconds, ways, clearance, time of an update",
        description=(
            "Runs scenes under every planner and compares what comes of it, with 95 % confidence"
            " intervals. All but the times of an update is the same every time."
        ),
        epilog="Exit code: 0, 1 when a run failed (--csv and --json say why), 130 after Ctrl-C.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "scenes",
        metavar="SCENE",
        nargs="*",
        help="scene file, name of a shipped scene, or public: ninety reaches of one arm among"
        " obstacles (default: public)",
    )
    parser.add_argument(
        "--planners", metavar="P,P,...", help="which to compare (default: all but external)"
    )
    table = parser.add_mutually_exclusive_group()
    table.add_argument(
        "--json", action="store_true", help="write JSON instead of a table: summaries and runs"
    )
    table.add_argument(
        "--csv", action="store_true", help="write CSV instead of a table: a line for every run"
    )
    parser.add_argument(
        "--figure",
        metavar="FILE",
        type=Path,
        help=f"draw the comparison as well ({', '.join(FIGURES)})",
    )
    parser.add_argument(
        "--jobs",
        metavar="J",
        type=whole_number(1, MOST_JOBS),
        help="how many processes (default: one for each core)",
    )
    parser.add_argument(
        "--seeds",
        metavar="N",
        type=whole_number(1, MOST_SEEDS),
        help="run N scenes like each, with other targets, instead of the scenes themselves",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=seconds_of_run(LONGEST_RUN),
        help="how long to simulate (default: 20 s, longer where events are later)",
    )
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Compare planners."""
    # All that can be wrong is said before the first run, not after the last.
    planners = _planners(arguments.planners)
    scenes = _scenes(arguments.scenes or ["public"], varied=arguments.seeds is not None)
    _check_figure(arguments.figure)

    from octo_reach.batch import EngineError, Sweep
    from octo_reach.batch.comparison import plan_comparison
    from octo_reach.batch.engines import local_engine, prepare
    from octo_reach.model.rules import UPDATE_RATE
    from octo_reach.planners import prepare_planner

    ticks = None if arguments.seconds is None else round(arguments.seconds * UPDATE_RATE)
    seeds = range(1, (arguments.seeds or 0) + 1)
    sweep = Sweep(plan_comparison(scenes, planners, ticks, seeds))
    # Once, before there are processes that would all do it, and before anything is timed.
    prepare(say)
    for name in planners:
        prepare_planner(name, say)
    engine = local_engine(arguments.jobs, len(sweep.runs))
    try:
        with terminable(), progress("comparing", len(sweep.runs), counted=True) as report:
            sweep.run(engine, report)
    except KeyboardInterrupt:
        say(f"interrupted after {sweep.finished} of {len(sweep.runs)} runs")
        return INTERRUPTED
    except EngineError as error:
        raise CommandError(str(error)) from None
    _report(arguments, sweep, len(scenes))
    return FAILED_RUNS if sweep.failed else 0


# ---------------------------------------------------------------- what was asked


def _planners(text: str | None) -> list[str]:
    from octo_reach.planners import PLANNERS

    # The joint angles of an external planner come over ROS topics.
    choices = [choice for choice in PLANNERS if choice != "external"]
    if text is None:
        return choices
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in choices:
            raise CommandError(f"--planners must be some of {', '.join(choices)}, got {name!r}")
        if names.count(name) > 1:
            raise CommandError(f"--planners names {name} twice")
    return names


def _scenes(texts: list[str], varied: bool) -> dict[str, SceneDocument]:
    from octo_reach.batch.randomising import has_targets
    from octo_reach.scenes import SceneError, load_scene
    from octo_reach.scenes.public import PUBLIC, public_reaches
    from octo_reach.scenes.shipped import UnknownSceneError, find_scene

    documents: dict[str, SceneDocument] = {}
    for text in texts:
        try:
            if text == PUBLIC and not Path(text).exists():
                found = {reach.name: reach.document for reach in public_reaches()}
            else:
                found = {text: load_scene(find_scene(text))}
        except (SceneError, UnknownSceneError, FileNotFoundError) as error:
            raise CommandError(str(error)) from None
        for name, document in found.items():
            if name in documents:
                raise CommandError(f"SCENE {text} is given twice")
            if varied and not has_targets(document):
                raise CommandError(f"--seeds: no arm of {name} has a target")
            documents[name] = document
    return documents


def _check_figure(path: Path | None) -> None:
    if path is None:
        return
    if path.suffix.lower() not in FIGURES:
        raise CommandError(
            f"--figure must be a file name that ends in {', '.join(FIGURES)}, got {path}"
        )
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise CommandError(f"--figure: {path} cannot be written")
    require_extra("--figure", "plot", ["matplotlib"])


# ---------------------------------------------------------------- what came of it


def _report(arguments: argparse.Namespace, sweep: Sweep, scenes: int) -> None:
    from octo_reach.batch.comparison import reached_by_all, row_values, summarise, write_runs
    from octo_reach.model.rules import UPDATE_RATE

    rows = sweep.rows()
    summaries, shared = summarise(rows), summarise(reached_by_all(rows))
    if arguments.json:
        answer = {
            "confidence": 0.95,
            "planners": [asdict(summary) for summary in summaries],
            "reached_by_all": [asdict(summary) for summary in shared],
            "runs": [row_values(row) for row in rows],
        }
        print(json.dumps(answer, indent=2))
    elif arguments.csv:
        write_runs(rows, sys.stdout)
    else:
        _print_tables(summaries, shared, scenes)
    if arguments.figure is not None:
        longest = max((run.ticks for run in sweep.runs), default=0) / UPDATE_RATE
        _draw(rows, summaries, longest, arguments.figure)


def _draw(rows: list[Row], summaries: list[PlannerSummary], longest: float, path: Path) -> None:
    from octo_reach.commands.benches.planners_figure import save_figure

    try:
        save_figure(rows, summaries, longest, path)
    except OSError as error:
        raise CommandError(f"--figure: {path}: {error.strerror or error}") from None


def _print_tables(
    summaries: list[PlannerSummary], shared: list[PlannerSummary], scenes: int
) -> None:
    from rich.console import Console

    # A terminal knows its width; in a file a line may be longer.
    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)
    what = "1 scene" if scenes == 1 else f"{scenes} scenes"
    _print_table(console, f"Planners on {what}", summaries)
    if len(summaries) > 1 and shared:
        targets = "1 target" if shared[0].runs == 1 else f"{shared[0].runs} targets"
        title = f"The {targets} that all of them reached"
        _print_table(console, title, shared)
    console.print(
        "Medians, and in brackets 95 % intervals: of shares Wilson's, of medians by the bootstrap."
        " Path: way of the tip over the straight distance. Travel: turning of all joints together."
        " Gap: smallest distance of the arm's centre line from an obstacle, median and least of all"
        " runs (1 px = 1 mm). Update: planning, limits, guard and sensing of one step of one arm on"
        " its way, the mean of a run and its 99th percentile; processes side by side share the"
        " machine.",
        markup=False,
    )


def _print_table(console: Console, title: str, summaries: list[PlannerSummary]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("planner")
    headings = ("reached", "seconds", "slowest", "path", "travel \\[rad]", "gap \\[mm]", "least")
    for heading in (*headings, "update \\[µs]", "p99"):
        table.add_column(heading, justify="right")
    for summary in summaries:
        table.add_row(
            summary.planner,
            _share(summary),
            _figure(summary.seconds, 2),
            _number(summary.slowest, 1),
            _figure(summary.path_ratio, 2),
            _figure(summary.joint_travel, 1),
            _figure(summary.clearance, 1),
            _number(summary.least_clearance, 1),
            _figure(summary.update_us, 0),
            _number(None if summary.update_p99_us is None else summary.update_p99_us.value, 0),
        )
    console.print(title, style="bold", markup=False)
    console.print(table)


def _share(summary: PlannerSummary) -> str:
    share = summary.share
    if share is None:
        return NOTHING
    interval = rf"\[{100.0 * share.low:.0f}, {100.0 * share.high:.0f} %]"
    return f"{summary.reached}/{summary.runs}\n{interval}"


def _figure(interval: Interval | None, digits: int) -> str:
    if interval is None:
        return NOTHING
    low, high = f"{interval.low:.{digits}f}", f"{interval.high:.{digits}f}"
    return f"{interval.value:.{digits}f}\n\\[{low}, {high}]"


def _number(value: float | None, digits: int) -> str:
    return NOTHING if value is None else f"{value:.{digits}f}"
