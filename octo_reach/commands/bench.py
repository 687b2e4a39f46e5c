"""octo-reach bench: measures the package on this machine."""

from __future__ import annotations

import argparse
import importlib

BENCHMARKS = ("model", "node", "ik", "planners")
"""Modules of `octo_reach.commands.benches`, in the order in which `--help` lists them."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command line of `bench` and of every benchmark."""
    parser = subparsers.add_parser(
        "bench",
        help="measure the package on this machine",
        description="Measures the package on this machine.",
        allow_abbrev=False,
    )
    benchmarks = parser.add_subparsers(title="benchmarks", metavar="BENCHMARK", required=True)
    for name in BENCHMARKS:
        module = importlib.import_module(f"octo_reach.commands.benches.{name}")
        module.add_parser(benchmarks)
