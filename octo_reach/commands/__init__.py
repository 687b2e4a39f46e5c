"""The commands of octo-reach, a module each, and what they have in common.

A command module has `add_parser(subparsers)`, which says what the command line of the command is,
and `execute(arguments) -> int`, which does it and gives the exit code. Only `execute` imports what
is slow to import, so that `--help` is instant and no command needs the extras of another.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable


class CommandError(Exception):
    """The command cannot do what it was asked for; the text says why, for a person."""


def say(line: str) -> None:
    """Say a line to the person at the terminal, apart from what the command writes."""
    print(f"octo-reach: {line}", file=sys.stderr, flush=True)


def require_extra(what: str, extra: str, modules: Iterable[str]) -> None:
    """Make sure that the modules of an extra of the package are there.

    Args:
        what: what needs them, as a person calls it.
        extra: name of the extra.
        modules: names of the modules it brings.

    Raises:
        CommandError: one is not installed; the text says how to install the extra.
    """
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            name = error.name or module
            raise CommandError(
                f"{what} needs {name}, which is not installed here:"
                f" it comes with the extra {extra}, in a checkout: pip install '.[{extra}]'"
            ) from None
