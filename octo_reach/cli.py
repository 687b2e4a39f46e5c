"""octo-reach: the command line of the package."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

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
    if sys.stdout is None:  # closed by whoever started this: nobody wants the output
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    output = _Output(sys.stdout)
    try:
        with contextlib.redirect_stdout(output):
            return _run(arguments, output)
    except CommandError as error:
        for line in str(error).splitlines():
            print(f"{PROGRAM}: {line}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        # The reader, `head` say, has seen enough.
        _silence()
        return BROKEN_PIPE
    except OSError as error:
        if error is not output.failure:
            raise
        _silence()
        reason = error.strerror or error
        print(f"{PROGRAM}: the output cannot be written: {reason}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return INTERRUPTED


def _run(arguments: Sequence[str] | None, output: _Output) -> int:
    try:
        values = build_parser().parse_args(arguments)
    except SystemExit:
        output.flush()
        if output.failure is not None:
            # argparse says nothing of a --help that could not be written.
            raise output.failure from None
        raise
    code: int = values.execute(values)
    output.flush()
    return code


def _silence() -> None:
    """Let nothing more be said on the standard output: Python would complain of it at its exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Output:
    """The standard output, which remembers its failure: other files may fail in the same way.

    Attributes:
        failure: why it could not be written.
    """

    def __init__(self, stream: TextIO) -> None:
        """Write to `stream`."""
        self.failure: OSError | None = None
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        """Be like the stream in all else."""
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text."""
        try:
            return self._stream.write(text)
        except OSError as failure:
            self.failure = failure
            raise

    def flush(self) -> None:
        """Let what was written be read."""
        try:
            self._stream.flush()
        except OSError as failure:
            self.failure = failure
            raise


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
