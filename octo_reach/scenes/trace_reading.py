"""Traces read back: JSON lines as `octo_reach.scenes.trace` writes them, as arrays over time."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from octo_reach.model.geometry import Floats
from octo_reach.model.scene import ObjectKind


class TraceError(ValueError):
    """What was read is no trace; the text names the line and what is wrong with it."""


@dataclass(frozen=True)
class Touch:
    """One contact at one kept tick.

    Attributes:
        row: which of the kept ticks, from 0.
        segment: segment that touches, from 1.
        object: number of what is touched.
        kind: its kind.
    """

    row: int
    segment: int
    object: int
    kind: ObjectKind


@dataclass(frozen=True)
class ArmTrace:
    """One arm over the T kept ticks of a trace.

    Attributes:
        number: its number.
        angles: joint angles from base to tip, shape (T, N), rad; the first is the base's heading.
        tips: where the tip was, shape (T, 2), in the scene's unit.
        targets: where the tip was to go, shape (T, 2), in the scene's unit.
        states: what it was doing, T of them.
        touches: its contacts, in the order of time.
    """

    number: int
    angles: Floats
    tips: Floats
    targets: Floats
    states: tuple[str, ...]
    touches: tuple[Touch, ...]


@dataclass(frozen=True)
class Trace:
    """A trace of T kept ticks.

    Attributes:
        ticks: the kept ticks, shape (T,).
        seconds: simulated time at them, shape (T,), s.
        arms: the arms, in the order of the file.
        captures: (arm, object, seconds) of every grasp, in the order of time.
    """

    ticks: Floats
    seconds: Floats
    arms: tuple[ArmTrace, ...]
    captures: tuple[tuple[int, int, float], ...]


def read_trace(lines: Iterable[str]) -> Trace:
    """Read a trace.

    Args:
        lines: its lines.

    Raises:
        TraceError: there is no line, or one is no line of a trace or does not go on with the ones
            before it.
    """
    reader = _Reader()
    number = 0
    for number, line in enumerate(lines, start=1):
        try:
            reader.add(_parsed(line))
        except _LineError as error:
            raise TraceError(f"line {number}: {error}") from None
    if number == 0:
        raise TraceError("it is empty; a trace has a line for every kept tick")
    return reader.trace()


class _LineError(Exception):
    """What is wrong with a line."""


def _refuse_constant(text: str) -> float:
    raise _LineError(f"numbers must be finite, got {text}")


def _parsed(line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise _LineError("it is not JSON; a trace has a JSON object on every line") from None
    if not isinstance(entry, dict):
        raise _LineError("it must be a JSON object")
    return entry


def _field(value: Any, name: str, where: str = "") -> Any:
    if not isinstance(value, dict):
        raise _LineError(f"{where or 'it'} must be a JSON object")
    if name not in value:
        raise _LineError(f"{where}{'.' if where else ''}{name} is missing")
    return value[name]


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _LineError(f"{what} must be a number, got {_shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _LineError(f"{what} must be finite, got {_shown(value)}")
    return number


def _whole(value: Any, what: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise _LineError(f"{what} must be an integer, {least} or more, got {_shown(value)}")
    return value


def _numbers(value: Any, what: str, count: int | None = None) -> list[float]:
    values = _list(value, what)
    if count is not None and len(values) != count:
        raise _LineError(f"{what} must hold {count} numbers, got {len(values)}")
    return [_number(item, f"{what}[{place}]") for place, item in enumerate(values)]


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise _LineError(f"{what} must be a list, got {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."


class _Reader:
    """The lines so far."""

    def __init__(self) -> None:
        self._ticks: list[int] = []
        self._seconds: list[float] = []
        self._arms: dict[int, _ArmReader] = {}
        self._captures: tuple[tuple[int, int, float], ...] = ()

    def add(self, entry: dict[str, Any]) -> None:
        tick = _whole(_field(entry, "tick"), "tick", 0)
        if self._ticks and tick <= self._ticks[-1]:
            before = self._ticks[-1]
            raise _LineError(f"tick must be later than the one before, {before}, got {tick}")
        seconds = _number(_field(entry, "seconds"), "seconds")
        if self._seconds and seconds <= self._seconds[-1]:
            raise _LineError(
                f"seconds must be later than those before, {self._seconds[-1]:g}, got {seconds:g}"
            )
        numbers = []
        row = len(self._ticks)
        for place, arm in enumerate(_list(_field(entry, "arms"), "arms")):
            where = f"arms[{place}]"
            number = _whole(_field(arm, "number", where), f"{where}.number", 1)
            numbers.append(number)
            if row == 0:
                self._arms.setdefault(number, _ArmReader(number))
            if number not in self._arms:
                break
            self._arms[number].add(arm, row, where)
        if numbers != list(self._arms):
            known = ", ".join(map(str, self._arms)) or "none"
            raise _LineError(f"arms must be those of the first line ({known}), each once")
        self._captures = tuple(
            _capture(item, f"captures[{place}]")
            for place, item in enumerate(_list(_field(entry, "captures"), "captures"))
        )
        self._ticks.append(tick)
        self._seconds.append(seconds)

    def trace(self) -> Trace:
        return Trace(
            ticks=np.array(self._ticks, dtype=np.float64),
            seconds=np.array(self._seconds, dtype=np.float64),
            arms=tuple(arm.trace() for arm in self._arms.values()),
            captures=self._captures,
        )


def _capture(value: Any, what: str) -> tuple[int, int, float]:
    values = _list(value, what)
    if len(values) != 3:
        raise _LineError(f"{what} must be [arm, object, seconds], got {_shown(value)}")
    return (
        _whole(values[0], f"{what}[0]", 1),
        _whole(values[1], f"{what}[1]", 1),
        _number(values[2], f"{what}[2]"),
    )


class _ArmReader:
    """One arm of the lines so far."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._angles: list[list[float]] = []
        self._tips: list[list[float]] = []
        self._targets: list[list[float]] = []
        self._states: list[str] = []
        self._touches: list[Touch] = []

    def add(self, arm: dict[str, Any], row: int, where: str) -> None:
        count = len(self._angles[0]) if self._angles else None
        angles = _numbers(_field(arm, "angles", where), f"{where}.angles", count)
        if not angles:
            raise _LineError(f"{where}.angles must not be empty")
        state = _field(arm, "state", where)
        if not isinstance(state, str):
            raise _LineError(f"{where}.state must be a text, got {_shown(state)}")
        self._tips.append(_numbers(_field(arm, "tip", where), f"{where}.tip", 2))
        self._targets.append(_numbers(_field(arm, "target", where), f"{where}.target", 2))
        contacts = _list(_field(arm, "contacts", where), f"{where}.contacts")
        for place, contact in enumerate(contacts):
            self._touches.append(_touch(contact, row, f"{where}.contacts[{place}]"))
        self._angles.append(angles)
        self._states.append(state)

    def trace(self) -> ArmTrace:
        return ArmTrace(
            number=self._number,
            angles=np.array(self._angles, dtype=np.float64),
            tips=np.array(self._tips, dtype=np.float64),
            targets=np.array(self._targets, dtype=np.float64),
            states=tuple(self._states),
            touches=tuple(self._touches),
        )


_KINDS = {kind.label: kind for kind in ObjectKind}


def _touch(value: Any, row: int, what: str) -> Touch:
    values = _list(value, what)
    if len(values) != 4:
        raise _LineError(f"{what} must be [segment, object, kind, [x, y]], got {_shown(value)}")
    label = values[2]
    if not isinstance(label, str) or label not in _KINDS:
        raise _LineError(f"{what}[2] must be one of {', '.join(_KINDS)}, got {_shown(label)}")
    return Touch(
        row=row,
        segment=_whole(values[0], f"{what}[0]", 1),
        object=_whole(values[1], f"{what}[1]", 1),
        kind=_KINDS[label],
    )
