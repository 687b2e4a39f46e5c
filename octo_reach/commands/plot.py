"""octo-reach plot: draws what the arms of a trace did over time."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from octo_reach.commands import CommandError, require_extra

if TYPE_CHECKING:
    from octo_reach.scenes.trace_reading import Trace

STANDARD_INPUT = "-"
SUFFIXES = (".png", ".svg", ".pdf")
UNITS = ("px", "m")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command line of `plot`."""
    parser = subparsers.add_parser(
        "plot",
        help="draw a trace: states, tip error, joint angles and contacts over time",
        description="Draws a trace of `octo-reach simulate --trace` as a figure: what each arm was"
        " doing, how far its tip was from where it was to go, its joint angles as a heat map, and"
        " what it touched.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "trace", metavar="TRACE", help="file with a trace; - for the standard input"
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        type=Path,
        help=f"what to write ({', '.join(SUFFIXES)}; default: TRACE_plot.png beside TRACE)",
    )
    parser.add_argument(
        "--arm",
        metavar="N",
        action="append",
        help="draw this arm only; may be given several times (default: every arm)",
    )
    parser.add_argument(
        "--unit",
        choices=UNITS,
        help="what the lengths of the trace are in (default: guessed from how large they are)",
    )
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Draw the trace."""
    output = _checked_output(arguments)
    require_extra("octo-reach plot", "plot", ["matplotlib"])
    trace = _read(arguments.trace)
    if arguments.arm is not None:
        trace = _chosen(trace, arguments.arm)
    from octo_reach.pictures.trace_plot import save_trace_plot

    title = "standard input" if arguments.trace == STANDARD_INPUT else Path(arguments.trace).stem
    try:
        save_trace_plot(trace, output, title, arguments.unit)
    except OSError as error:
        raise CommandError(f"{output}: {error.strerror or error}") from None
    count = len(trace.arms)
    print(
        f"{output}: {count} {'arm' if count == 1 else 'arms'},"
        f" {trace.seconds[0]:g} s to {trace.seconds[-1]:g} s in {len(trace.seconds)} moments"
    )
    return 0


def _checked_output(arguments: argparse.Namespace) -> Path:
    output: Path | None = arguments.output
    if output is None:
        if arguments.trace == STANDARD_INPUT:
            raise CommandError("--output is needed where the trace comes on the standard input")
        trace = Path(arguments.trace)
        # Under the trace's own name there may be the picture of the same run.
        output = trace.parent / f"{trace.stem}_plot{SUFFIXES[0]}"
    if output.suffix.lower() not in SUFFIXES:
        raise CommandError(
            f"--output must be a file name that ends in {', '.join(SUFFIXES)}, got {output}"
        )
    if output == Path(arguments.trace):
        raise CommandError(f"--output: {output} is the trace itself")
    if output.is_dir() or not os.access(output if output.exists() else output.parent, os.W_OK):
        raise CommandError(f"--output: {output} cannot be written")
    return output


def _read(name: str) -> Trace:
    from octo_reach.scenes.trace_reading import TraceError, read_trace

    shown = "standard input" if name == STANDARD_INPUT else name
    try:
        if name == STANDARD_INPUT:
            trace = read_trace(sys.stdin)
        else:
            with open(name, encoding="utf-8") as stream:
                trace = read_trace(stream)
    except OSError as error:
        raise CommandError(f"{shown}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{shown} is no trace: it is not text") from None
    except TraceError as error:
        raise CommandError(f"{shown} is no trace: {error}") from None
    if not trace.arms:
        raise CommandError(f"{shown}: there is no arm in it to draw")
    return trace


def _chosen(trace: Trace, names: Sequence[str]) -> Trace:
    """Give the trace with the named arms only, in its own order."""
    numbers = set()
    known = [arm.number for arm in trace.arms]
    for name in names:
        found = re.fullmatch(r"(?:arm_)?([1-9][0-9]{0,8})", name)
        if found is None or int(found[1]) not in known:
            choices = ", ".join(map(str, known))
            raise CommandError(f"--arm must be an arm of the trace ({choices}), got {name!r}")
        numbers.add(int(found[1]))
    return replace(trace, arms=tuple(arm for arm in trace.arms if arm.number in numbers))
