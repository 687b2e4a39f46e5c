"""octo-reach: the command line of the package."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from octo_reach import __version__
from octo_reach.commands import CommandError

PROGRAM = "octo-reach"
COMMANDS = ("simulate", "plot", "sweep", "validate", "bench", "run", "send", "record")
"""Modules of `octo_reach.commands`, in the order in which `--help` lists them."""

FAILED = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: the words after the program's name; left out, those of this process.

    Returns:
        The exit code: 0 when all went well, 1 when the command's answer is no, 2 when it could not
        do what it was asked for, 130 when it was interrupted, 141 when nobody reads its output.
    """
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except CommandError as error:
        for line in str(error).splitlines():
            print(f"{PROGRAM}: {line}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        # The reader, `head` say, has seen enough. Python would complain once more at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return INTERRUPTED


def _run(arguments: Sequence[str] | None) -> int:
    values = build_parser().parse_args(arguments)
    code: int = values.execute(values)
    return code


def build_parser() -> argparse.ArgumentParser:
    """Make the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Octopus-like reaching: many-jointed planar arms that steer by local rules.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"octo_reach.commands.{name}")
        module.add_parser(subparsers)
    return parser


if __name__ == "__main__":
    sys.exit(main())
