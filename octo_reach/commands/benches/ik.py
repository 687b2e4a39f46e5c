"""octo-reach bench ik: how quickly each method of inverse kinematics brings a tip to its target."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from octo_reach.commands import say
from octo_reach.commands.arguments import whole_number
from octo_reach.commands.progress import progress

if TYPE_CHECKING:
    from octo_reach.benchmarks.inverse_kinematics import MethodFigures

MOST_SEEDS = 100_000


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command line of `bench ik`."""
    parser = subparsers.add_parser(
        "ik",
        help="inverse kinematics: FABRIK, CCD and the Jacobian methods on the same chains",
        description=(
            "Sends chains of 10 and 20 joints to the same targets by FABRIK, cyclic coordinate"
            " descent, damped least squares and the Jacobian transpose. Takes some seconds."
        ),
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="write JSON instead of a table")
    parser.add_argument(
        "--seeds",
        metavar="N",
        type=whole_number(1, MOST_SEEDS),
        help="targets for each chain (default: 200)",
    )
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Compare the methods, and write the table or the JSON."""
    from octo_reach.benchmarks import inverse_kinematics
    from octo_reach.model.compilation import COMPILED

    if not COMPILED:
        say("numba is not installed or is switched off: the same methods run, far slower")
    with progress("solving", 1.0, threaded=False) as report:
        figures = inverse_kinematics.compare_methods(
            seeds=inverse_kinematics.SEEDS if arguments.seeds is None else arguments.seeds,
            report=report,
        )
    if arguments.json:
        print(json.dumps({"rows": [figure.row() for figure in figures]}, indent=2))
    else:
        _print_table(figures)
    return 0


def _print_table(figures: list[MethodFigures]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from octo_reach.benchmarks.inverse_kinematics import MAX_ITERATIONS

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("joints", justify="right")
    table.add_column("limits")
    table.add_column("method")
    for heading in ("solved", "iterations", "µs", "µs a call"):
        table.add_column(heading, justify="right")
    kind = None
    for figure in figures:
        if kind not in (None, (figure.joints, figure.limited)):
            table.add_section()
        kind = (figure.joints, figure.limited)
        row = figure.row()
        table.add_row(
            str(figure.joints),
            "60°" if figure.limited else "none",
            figure.method,
            f"{100.0 * figure.solved:.1f} %",
            "-" if row["iterations"] is None else f"{figure.iterations:.0f}",
            "-" if row["microseconds"] is None else f"{figure.microseconds:.1f}",
            f"{figure.call_us:.1f}",
        )
    console = Console(width=None if sys.stdout.isatty() else 100, highlight=False)
    console.print("Bringing the tip of a chain to its target", style="bold", markup=False)
    console.print(table)
    console.print(
        f"Medians over {figures[0].targets} targets within reach, to 0.01 px of a chain of 360 px;"
        f" solved: within {MAX_ITERATIONS} iterations. Every call takes the last column for"
        " checking its arguments, whatever the method; the column before is the solving itself."
        " An iteration of FABRIK goes to and fro through the chain, one of CCD turns every joint"
        " once, one of the Jacobian methods is one step.",
        markup=False,
    )
