"""Checks of single values of a document, and the words for what is wrong with them."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from octo_reach.scenes.document import Point
from octo_reach.scenes.spelling import Surprise

MOST_PROBLEMS = 1000
"""Problems kept of one document; nobody reads more, and a file could hold millions."""

LONGEST_SHOWN = 60
"""Most characters a message shows of any text of the document."""
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}")


class Missing:
    """Stands for a value that the document does not give."""


MISSING = Missing()


def shown(value: object) -> str:
    """Describe a value of a document for the end of a message, in a few words whatever it is."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Surprise):
        return f"{value.text[:LONGEST_SHOWN]} ({value.meaning})"
    if isinstance(value, str):
        cut = value if len(value) <= LONGEST_SHOWN else value[: LONGEST_SHOWN - 3] + "..."
        return f"the text {cut!r}"
    if isinstance(value, int):
        if value.bit_length() > 64:
            return f"an integer of about {int(value.bit_length() * math.log10(2)) + 1} digits"
        return str(int(value))
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            sign = "" if value > 0 else "minus "
            return f"{sign}infinity, or a number too large for a float"
        return repr(float(value))
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, (list, tuple)):
        count = len(value)
        return f"a list of {count} value{'' if count == 1 else 's'}" if count else "an empty list"
    return f"a {type(value).__name__}"


def counted(numbers: Iterable[int]) -> str:
    """List numbers for a reader, runs shortened: `1 to 4, 7`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    parts = [
        str(first) if first == last else f"{first}{', ' if last == first + 1 else ' to '}{last}"
        for first, last in runs
    ]
    if len(parts) > 20:
        parts[20:] = ["..."]
    return ", ".join(parts) or "none"


def key_path(path: str, key: object) -> str:
    """Join a key to the path of what it stands in."""
    name = key if isinstance(key, str) and _PLAIN_KEY.fullmatch(key) else shown_key(key)
    return f"{path}.{name}" if path else str(name)


def shown_key(key: object) -> str:
    """Show a key that would be hard to read in a path."""
    if isinstance(key, str):
        return repr(key if len(key) <= LONGEST_SHOWN else key[: LONGEST_SHOWN - 3] + "...")
    return key.text[:LONGEST_SHOWN] if isinstance(key, Surprise) else shown(key)


class FieldCheck:
    """Checks single values of a document and collects what is wrong with them.

    Attributes:
        problems: what is wrong, as `field rule, got value`.
    """

    def __init__(self) -> None:
        """Begin with no problem."""
        self.problems: list[str] = []

    def problem(self, path: str, rule: str, value: object = MISSING) -> None:
        """Note that the field at `path` breaks a rule, with the value it has, if it has one."""
        if not self.full:
            got = "" if isinstance(value, Missing) else f", got {shown(value)}"
            self.problems.append(f"{path} {rule}{got}")

    @property
    def full(self) -> bool:
        """Whether so many problems are known that more are of no use."""
        return len(self.problems) >= MOST_PROBLEMS

    def mapping(
        self, path: str, value: object, keys: Sequence[str], what: str
    ) -> dict[Any, Any] | None:
        """Give a mapping, after a look at its keys; None where the value is none."""
        if not isinstance(value, dict):
            rule = f"must be a mapping (it can have {', '.join(keys)})"
            self.problem(path or "the document", rule, value)
            return None
        for key in getattr(value, "duplicates", ()):
            self.problem(key_path(path, key), "is given more than once")
        for key in value:
            if self.full:
                break
            if not isinstance(key, str):
                note = f" ({key.meaning})" if isinstance(key, Surprise) else ""
                rule = f"has the key {shown_key(key)}, which is not text{note}"
                self.problem(path or "the document", rule)
            elif key not in keys:
                close = difflib.get_close_matches(key[:LONGEST_SHOWN], keys, n=1)
                hint = f"; did you mean {close[0]}?" if close else ""
                rule = f"is no key of {what}{hint} (it can have {', '.join(keys)})"
                self.problem(key_path(path, key), rule)
        return value

    def entries(self, values: dict[Any, Any], key: str) -> list[Any] | None:
        """Give the list under a key of the document, empty where left out, None where broken."""
        value = values.get(key, [])
        if not isinstance(value, (list, tuple)):
            self.problem(key, "must be a list", value)
            return None
        return list(value)

    def number(
        self, path: str, value: object, above: float | None = None, most: float | None = None
    ) -> float | None:
        """Give a finite number, above a bound and at most another where they are given."""
        rule = "must be a number"
        if above is not None:
            rule += f" above {above:g}"
        if most is not None:
            rule += f" and at most {most:g}"
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.problem(path, rule, value)
            return None
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.problem(path, rule.replace("a number", "a finite number", 1), value)
            return None
        if (above is not None and number <= above) or (most is not None and number > most):
            self.problem(path, rule, value)
            return None
        return number

    def degrees(
        self, path: str, value: object, above: float | None = None, most: float | None = None
    ) -> float | None:
        """Give, in radians, an angle or angular speed that is written in degrees."""
        number = self.number(path, value, above, most)
        if number is None:
            return None
        radians = math.radians(number)
        # The smallest floats in degrees are 0 in radians.
        if above is not None and radians <= above:
            self.problem(path, f"must be a number above {above:g} in radians too", value)
            return None
        return radians

    def integer(
        self, path: str, value: object, least: int, most: int, note: str = ""
    ) -> int | None:
        """Give an integer of a range; 2.0 and true are none."""
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.problem(path, f"must be an integer between {least} and {most}{note}", value)
            return None
        return int(value)

    def text(self, path: str, value: object, rule: str) -> str | None:
        """Give text that is not empty and can be written as UTF-8."""
        if not isinstance(value, str) or not value:
            self.problem(path, rule, value)
            return None
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            self.problem(path, "must not hold half a character (a lone surrogate)", value)
            return None
        return str(value)

    def choice(self, path: str, value: object, choices: Sequence[str]) -> str | None:
        """Give one of a few words."""
        if not isinstance(value, str) or value not in choices:
            self.problem(path, f"must be {either(choices)}", value)
            return None
        return str(value)

    def point(self, path: str, value: object) -> Point | None:
        """Give a position [x, y]."""
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            self.problem(path, "must be a list of two numbers [x, y]", value)
            return None
        x = self.number(f"{path}[0]", value[0])
        y = self.number(f"{path}[1]", value[1])
        return None if x is None or y is None else (x, y)

    def required(self, path: str, values: dict[Any, Any], key: str, what: str) -> Any:
        """Give the value of a key that must be there; `MISSING`, and a problem, where it is not."""
        if key not in values:
            self.problem(key_path(path, key), f"is missing; it must be {what}")
            return MISSING
        return values[key]


def either(choices: Sequence[str]) -> str:
    """List words for a reader, the last one behind `or`."""
    return choices[0] if len(choices) == 1 else f"{', '.join(choices[:-1])} or {choices[-1]}"
