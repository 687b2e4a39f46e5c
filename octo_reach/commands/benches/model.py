"""octo-reach bench model: what one step of one arm costs."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from octo_reach.commands import CommandError, say
from octo_reach.commands.arguments import number_of_seconds, whole_number
from octo_reach.commands.progress import progress

if TYPE_CHECKING:
    from octo_reach.benchmarks.model import StepTiming

FEWEST_SEGMENTS, MOST_SEGMENTS = 2, 100
MOST_OBSTACLES = 200


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command line of `bench model`."""
    parser = subparsers.add_parser(
        "model",
        help="time of one step of one arm, compiled beside plain Python",
        description=(
            "Times one step of one arm: the compiled kernels beside a careful plain Python stepper"
            " in the same scenes. Takes about a minute."
        ),
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="write JSON instead of a table")
    parser.add_argument(
        "--segments",
        metavar="N",
        nargs="+",
        type=whole_number(FEWEST_SEGMENTS, MOST_SEGMENTS),
        help="numbers of segments (default: 20 40 100)",
    )
    parser.add_argument(
        "--obstacles",
        metavar="K",
        nargs="+",
        type=whole_number(0, MOST_OBSTACLES),
        help="numbers of obstacles (default: 0 4 16 64)",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=number_of_seconds(" above 0 and at most 3600", lambda number: 0.0 < number <= 3600.0),
        help="how long to measure, roughly (default: 40)",
    )
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Time one step of one arm, and write the table or the JSON."""
    from octo_reach.benchmarks import model
    from octo_reach.model.octopus import compile_kernels

    compile_kernels(say)
    try:
        with progress("measuring", 1.0, threaded=False) as report:
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
