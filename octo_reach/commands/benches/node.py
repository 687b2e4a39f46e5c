"""octo-reach bench node: what the reach controller needs as a node, and how soon it answers."""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from octo_reach.commands import CommandError, require_extra, say
from octo_reach.commands.arguments import number_of_seconds, whole_number
from octo_reach.commands.middleware import require_ros
from octo_reach.commands.progress import progress
from octo_reach.commands.stopping import Signals

if TYPE_CHECKING:
    from octo_reach.benchmarks.node import NodeTiming

WHAT = "octo-reach bench node"
NODE_DIED = 1
MOST_ARMS = 8
MOST_SUBSCRIBERS = 16
SHORTEST, LONGEST = 0.1, 86400.0


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command line of `bench node`."""
    parser = subparsers.add_parser(
        "node",
        help="rate, processor time and latency of the reach controller over real topics",
        description="Starts simulated_world and reach_controller as processes in a ROS 2 domain of"
        " their own, with arms of 20 segments among 30 objects, moves the arms, and measures the"
        " controller from outside. A subscriber is a process that hears every topic of the"
        " controller. Takes about a minute; the exit code is 1 when a node ended by itself.",
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="write JSON instead of a table")
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=number_of_seconds(
            f" from {SHORTEST:g} to {LONGEST:g}", lambda number: SHORTEST <= number <= LONGEST
        ),
        help="how long each row is measured (default: 10)",
    )
    parser.add_argument(
        "--arms",
        metavar="N",
        nargs="+",
        type=whole_number(1, MOST_ARMS),
        help="numbers of arms (default: 1 8)",
    )
    parser.add_argument(
        "--subscribers",
        metavar="N",
        nargs="+",
        type=whole_number(0, MOST_SUBSCRIBERS),
        help="numbers of processes that hear every topic (default: 0 3)",
    )
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Measure the controller, and write the table or the JSON."""
    require_ros(WHAT)
    require_extra(WHAT, "fast", ["numba"])
    from octo_reach.benchmarks import node
    from octo_reach.commands.benches.node_processes import NodeDiedError
    from octo_reach.model.octopus import compile_kernels
    from octo_reach.nodes.visiting import NoGraphError

    # Now, or the first controller would be measured while it compiles.
    compile_kernels(say)
    cases = [
        (arms, subscribers)
        for arms in arguments.arms or node.ARMS
        for subscribers in (
            node.SUBSCRIBERS if arguments.subscribers is None else arguments.subscribers
        )
    ]
    seconds = node.SECONDS if arguments.seconds is None else arguments.seconds
    try:
        timings = _measure(cases, seconds)
    except NodeDiedError as error:
        for line in str(error).splitlines():
            say(line)
        return NODE_DIED
    except (NoGraphError, RuntimeError, OSError) as error:
        raise CommandError(str(error)) from None
    if arguments.json:
        print(json.dumps({"rows": [timing.row() for timing in timings]}, indent=2))
    else:
        _print_table(timings)
    return 0


def _measure(cases: list[tuple[int, int]], seconds: float) -> list[NodeTiming]:
    """Measure one case after the other in a domain that is nobody else's."""
    from octo_reach.benchmarks.node import measured_scene
    from octo_reach.commands.benches.node_processes import Measurement
    from octo_reach.nodes.own_domain import own_domain
    from octo_reach.scenes.writing import save_scene

    document = measured_scene()
    timings = []
    with Signals() as signals, tempfile.TemporaryDirectory(prefix="octo_reach_") as name:
        folder = Path(name)
        scene = folder / "scene.yaml"
        save_scene(document, scene)
        with own_domain(folder) as domain:
            say(f"in ROS domain {domain}, {seconds:g} s a row")
            for arms, subscribers in cases:
                what = f"{_counted(arms, 'arm')}, {_counted(subscribers, 'subscriber')}"
                say(what)
                placements = document.placements()[:arms]
                measurement = Measurement(scene, placements, subscribers, signals.stop)
                with progress(what, 1.0, threaded=False) as report:
                    timings.append(measurement.run(seconds, report))
    return timings


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _print_table(timings: list[NodeTiming]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    headings = ("arms", "subscribers", "rate", "missed", "worst step", "CPU", "latency", "p99")
    for heading in (*headings, "samples", "others"):
        table.add_column(heading, justify="right")
    for timing in timings:
        table.add_row(
            str(timing.arms),
            str(timing.subscribers),
            f"{timing.rate:.2f} Hz",
            f"{timing.missed} ({100.0 * timing.missed_share:.2f} %)",
            f"{timing.worst_step_ms:.2f} ms",
            f"{100.0 * timing.processor:.1f} %",
            _milliseconds(timing.latency(50.0)),
            _milliseconds(timing.latency(99.0)),
            str(len(timing.latencies_ms)),
            f"{100.0 * timing.others:.0f} %",
        )
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    console.print(
        "The reach controller at 120 Hz, arms of 20 segments among 30 objects",
        style="bold",
        markup=False,
    )
    console.print(table)
    console.print(
        "Missed: begun after the next step was due. CPU: of the controller's process, as a share of"
        " one core. Latency: from a published target to the first joint_states in which the arm,"
        " at rest until then, has moved. Others: what everything else on the machine took meanwhile"
        " of one core; the more, the less the figures are worth.",
        markup=False,
    )


def _milliseconds(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f} ms"
