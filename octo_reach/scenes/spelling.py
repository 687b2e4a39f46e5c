"""The two spellings of a scene file: JSON text and YAML text to plain values.

Both give what JSON can say (mappings, lists, text, numbers, true, false, null), whichever way it
was spelled. What would mean one thing to one reader and something else to another (keys given
twice, `yes`, `010`, dates, tags) is kept visible, so that the check of the document refuses it by
name, or refused here where it has no place in the document.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

DEEPEST = 32
"""Most levels of mappings and lists in one another; the format itself has five."""
LONGEST_INTEGER = 400
"""Most digits of an integer; a float holds 309, and reading millions of digits takes minutes."""

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLEANS = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+")
_INFINITY = re.compile(r"[-+]?\.(inf|Inf|INF)")
_NAN = re.compile(r"\.(nan|NaN|NAN)")
_SURPRISES = {
    "tag:yaml.org,2002:bool": "YAML reads that as a boolean; quote it to mean text",
    "tag:yaml.org,2002:int": "a number in a spelling only YAML has; write it in plain decimal",
    "tag:yaml.org,2002:float": "a number in a spelling only YAML has; write it in plain decimal",
    "tag:yaml.org,2002:timestamp": "YAML reads that as a date; quote it to mean text",
    "tag:yaml.org,2002:merge": "a YAML merge, which scene files do not have",
    "tag:yaml.org,2002:value": "a YAML default value, which scene files do not have",
}


class SpellingError(ValueError):
    """Text that is no JSON or YAML, or uses what a scene file cannot."""


class ReadMapping(dict[Any, Any]):
    """A mapping as it was read, which remembers the keys it gave twice.

    Attributes:
        duplicates: the keys given more than once, each once, in order.
    """

    def __init__(self, pairs: list[tuple[Any, Any]]) -> None:
        """Take pairs in file order; of a key given twice the first value stays."""
        super().__init__()
        repeated: dict[Any, None] = {}
        for key, value in pairs:
            if key in self:
                repeated[key] = None
            self.setdefault(key, value)
        self.duplicates = tuple(repeated)


@dataclass(frozen=True)
class Surprise:
    """A value YAML gives a meaning its writer may not have had.

    Attributes:
        text: what stands in the file.
        meaning: what YAML makes of it.
    """

    text: str
    meaning: str


def read_json(text: str) -> Any:
    """Give the values of a JSON text.

    Numbers beyond a float come out as infinite, NaN and Infinity as themselves: the check of the
    document refuses them by field.

    Raises:
        SpellingError: the text is no JSON, or nested beyond reason.
    """
    try:
        return json.loads(text, object_pairs_hook=ReadMapping, parse_int=_integer)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise SpellingError(f"is not valid JSON at {place}: {error.msg}") from None
    except RecursionError:
        raise SpellingError("is nested too deeply to be a scene") from None


def read_yaml(text: str) -> Any:
    """Give the values of a YAML text.

    Plain scalars are read as JSON would read them (`1e5` is a number, `010` and `yes` are neither
    number nor text). Anchors and aliases work; an alias gives the same value again, not a copy,
    so that no short file unfolds into a huge one.

    Raises:
        SpellingError: the text is no YAML, or has a tag, a second document, an alias to nothing or
            to what it stands in, or is nested beyond reason.
    """
    try:
        return _YamlReader(yaml.parse(text, Loader=yaml.SafeLoader)).document()
    except SpellingError:
        raise
    except yaml.MarkedYAMLError as error:
        problem = " ".join(filter(None, (error.context, error.problem)))
        place = _place(error.problem_mark or error.context_mark)
        raise SpellingError(f"is not valid YAML{place}: {problem}") from None
    except Exception as error:
        # The scanner lets some broken escapes and characters out as errors of other kinds.
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SpellingError(f"is not valid YAML: {reason}") from None


def plain_scalar(text: str) -> Any:
    """Give the value of a YAML scalar that stands without quotes.

    Returns:
        None, a boolean, a number, text, or a `Surprise` where readers of YAML disagree.
    """
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _INFINITY.fullmatch(text):
        return -math.inf if text.startswith("-") else math.inf
    if _NAN.fullmatch(text):
        return math.nan
    if _LEADING_ZERO.fullmatch(text):
        return Surprise(text, "readers of YAML differ on numbers that begin with 0")
    resolvers = yaml.SafeLoader.yaml_implicit_resolvers
    for tag, pattern in resolvers.get(text[0], []) + resolvers.get(None, []):
        if pattern.match(text):
            return Surprise(text, _SURPRISES.get(tag, "YAML reads that as something of its own"))
    return text


def _integer(text: str) -> int | float:
    if len(text) > LONGEST_INTEGER:
        return -math.inf if text.startswith("-") else math.inf
    return int(text)


def _place(mark: Any) -> str:
    return "" if mark is None else f" at line {mark.line + 1}, column {mark.column + 1}"


class _YamlReader:
    """Makes values of the events of a YAML text, without ever unfolding an alias."""

    def __init__(self, events: Iterator[Any]) -> None:
        self._events = events
        self._anchors: dict[str, Any] = {}

    def document(self) -> Any:
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return None
        value = self._node(next(self._events), 0)
        next(self._events)
        second = next(self._events)
        if not isinstance(second, yaml.StreamEndEvent):
            place = _place(second.start_mark)
            raise SpellingError(f"must hold one YAML document, but a second begins{place}")
        return value

    def _node(self, event: Any, depth: int) -> Any:
        place = _place(event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise SpellingError(f"has an alias *{event.anchor} to nothing complete{place}")
            return self._anchors[event.anchor]
        if event.tag is not None:
            raise SpellingError(f"has a YAML tag{place}; tags have no place in a scene file")
        if depth > DEEPEST:
            raise SpellingError(f"is nested more than {DEEPEST} levels deep{place}")
        value: Any
        if isinstance(event, yaml.ScalarEvent):
            value = plain_scalar(event.value) if event.implicit[0] else event.value
        elif isinstance(event, yaml.SequenceStartEvent):
            value = [self._node(item, depth + 1) for item in self._until(yaml.SequenceEndEvent)]
        else:
            keys = self._until(yaml.MappingEndEvent)
            value = ReadMapping([self._pair(key, depth + 1) for key in keys])
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        return value

    def _until(self, end: type[yaml.Event]) -> Iterator[Any]:
        for event in self._events:
            if isinstance(event, end):
                return
            yield event

    def _pair(self, event: Any, depth: int) -> tuple[Any, Any]:
        key = self._node(event, depth)
        if isinstance(key, (list, dict)):
            key = Surprise("a list" if isinstance(key, list) else "a mapping", "a key must be text")
        return key, self._node(next(self._events), depth)
