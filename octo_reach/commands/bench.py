"""octo-reach bench: measures the package on this machine."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from octo_reach.commands import CommandError

if TYPE_CHECKING:
    from octo_reach.benchmarks.model import StepTiming

FEWEST_SEGMENTS, MOST_SEGMENTS = 2, 100
MOST_OBSTACLES = 200


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command line of `bench` and of every benchmark."""
    parser = subparsers.add_parser(
        "bench",
        help="measure the package on this machine",
        description="Measures the package on this machine.",
        allow_abbrev=False,
    )
    benchmarks = parser.add_subparsers(
        title="benchmarks", dest="benchmark", metavar="BENCHMARK", required=True
    )
    model = benchmarks.add_parser(
        "model",
        help="time of one step of one arm, compiled beside plain Python",
        description=(
            "Times one step of one arm: the compiled kernels beside a careful plain Python stepper"
            " in the same scenes. Takes about a minute."
        ),
        allow_abbrev=False,
    )
    model.add_argument("--json", action="store_true", help="write JSON instead of a table")
    model.add_argument(
        "--segments",
        metavar="N",
        nargs="+",
        type=_segments,
        help="numbers of segments (default: 20 40 100)",
    )
    model.add_argument(
        "--obstacles",
        metavar="K",
        nargs="+",
        type=_obstacles,
        help="numbers of obstacles (default: 0 4 16 64)",
    )
    model.add_argument(
        "--seconds", metavar="S", type=_seconds, help="how long to measure, roughly (default: 40)"
    )
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Run one benchmark."""
    return BENCHMARKS[arguments.benchmark](arguments)


def bench_model(arguments: argparse.Namespace) -> int:
    """Time one step of one arm, and write the table or the JSON."""
    from octo_reach.benchmarks import model
    from octo_reach.model.octopus import compile_kernels

    compile_kernels(lambda line: print(f"octo-reach: {line}", file=sys.stderr))
    try:
        with _progress("measuring") as report:
            timings = model.measure_steps(
                arguments.segments or model.SEGMENTS,
                arguments.obstacles or model.OBSTACLES,
                model.SECONDS if arguments.seconds is None else arguments.seconds,
                report,
            )
    except (FileNotFoundError, ValueError, model.DisagreementError) as error:
        raise CommandError(str(error)) from None
    if arguments.json:
        print(json.dumps({"rows": [timing.row() for timing in timings]}, indent=2))
    else:
        _print_table(timings)
    return 0


BENCHMARKS: dict[str, Callable[[argparse.Namespace], int]] = {"model": bench_model}
"""What runs each benchmark, by its name on the command line."""


def _print_table(timings: list[StepTiming]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from octo_reach.model.compilation import COMPILED

    kernels = "compiled" if COMPILED else "uncompiled"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    sizes, sides = ("segments", "obstacles"), ("plain", kernels, "p99", "speed-up")
    for heading in (*sizes, *sides, "floor", "over floor", "steps"):
        table.add_column(heading, justify="right")
    for timing in timings:
        table.add_row(
            str(timing.segments),
            str(timing.obstacles),
            f"{timing.plain_us:.1f}",
            f"{timing.compiled_us:.1f}",
            f"{timing.p99_us:.1f}",
            f"{timing.speedup:.1f}",
            f"{timing.floor_us:.2f}",
            f"{timing.over_floor:.2f}",
            str(timing.steps),
        )
    console = Console(width=None if sys.stdout.isatty() else 100, highlight=False)
    console.print("One step of one arm, in microseconds", style="bold", markup=False)
    console.print(table)
    console.print(
        f"Medians, and the 99th percentile of the {kernels} step. Both sides took the same steps to"
        " the same poses. Floor: a bare loop over the arithmetic that no such step can do without.",
        markup=False,
    )


@contextlib.contextmanager
def _progress(what: str) -> Iterator[Callable[[float], None]]:
    """Show a bar on the standard error where that is a terminal; it vanishes at the end."""
    if not sys.stderr.isatty():
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    # The bar is moved by the measurement itself: a thread that draws would be measured as well.
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as progress:
        task = progress.add_task(what, total=1.0)

        def report(share: float) -> None:
            progress.update(task, completed=share, refresh=True)

        yield report


def _segments(text: str) -> int:
    return _whole(text, FEWEST_SEGMENTS, MOST_SEGMENTS)


def _obstacles(text: str) -> int:
    return _whole(text, 0, MOST_OBSTACLES)


def _whole(text: str, least: int, most: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"must be an integer from {least} to {most}, got {text!r}")
    return number


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0.0 < seconds <= 3600.0:
        raise argparse.ArgumentTypeError(
            f"must be a number of seconds above 0 and at most 3600, got {text!r}"
        )
    return seconds
