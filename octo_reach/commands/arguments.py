"""Numbers on the command line.

What `whole_number` and its neighbours give is for the `type` of an argument.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

from octo_reach.commands import CommandError

LONGEST_DIGITS = 12
"""Most digits of a whole number."""


def whole_number(least: int, most: int, rule: str = "") -> Callable[[str], int]:
    """Give a reader of whole numbers within bounds.

    Args:
        least: smallest number, not below 0.
        most: largest number.
        rule: what the number must be, for a person; left out, an integer from `least` to `most`.
    """
    said = rule or f"an integer from {least} to {most}"

    def read(text: str) -> int:
        # int() would also take 1_000 and digits of other scripts.
        plain = text.isascii() and text.isdigit() and len(text) <= LONGEST_DIGITS
        if not (plain and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"must be {said}, got {text!r}")
        return int(text)

    return read


def number_of_seconds(rule: str, allowed: Callable[[float], bool]) -> Callable[[str], float]:
    """Give a reader of durations, s.

    Args:
        rule: which numbers are allowed, for a person: what follows "a number of seconds".
        allowed: whether a number is.
    """

    def read(text: str) -> float:
        number = _number(text)
        if math.isnan(number) or not allowed(number):
            raise argparse.ArgumentTypeError(f"must be a number of seconds{rule}, got {text!r}")
        return number

    return read


def seconds_of_run(longest: float) -> Callable[[str], float]:
    """Give a reader of how long to simulate, from 0 to `longest`, s."""
    return number_of_seconds(", 0 or more", lambda number: 0.0 <= number <= longest)


def checked_seconds(text: str | None) -> float:
    """Read --seconds of a command that runs until it is told to end where that is left out.

    Raises:
        CommandError: it is not a number above 0.
    """
    if text is None:
        return math.inf
    number = _number(text)
    if not (math.isfinite(number) and number > 0.0):
        raise CommandError(f"--seconds must be a number above 0, got {text!r}")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
