"""What every arm is doing, as `arm_states` messages, and back."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

from octo_reach.model.octopus import Arm, Octopus
from octo_reach.model.scene import ObjectKind
from octo_reach.ros.frames import arm_name, parse_arm_name
from octo_reach.ros.packed import PackedMessage, StampView, packed_text

HARDWARE = "octo_reach"

WARNING_STATES = frozenset({"Blocked", "Beyond reach", "No way", "Failed"})
"""States in which an arm cannot do what it was told."""

DEEP = 1e-4
"""How deep an arm has to be in an obstacle for a warning, m."""

_KEYS = (
    "target",
    "tip error",
    "object",
    "dwell",
    "planner",
    "planner note",
    "updates",
)
_WARNING = "warning"
"""The last key."""
_COUNT = struct.Struct("<I")


@dataclass(frozen=True)
class ArmReport:
    """What an `arm_states` message says of one arm.

    Attributes:
        number: number of the arm.
        state: what it is doing, in a word or two.
        warns: whether that, or a warning, needs attention.
        target: where its tip or object should go, (x, y), m; None where it was not told.
        tip_error: distance of the tip, or of a carried object, from the target, m.
        object: number of the object it holds, or None.
        dwell: how long a maturing grasp has lasted, s.
        planner: name of its planner.
        planner_note: what the planner has to say.
        updates: how often it has moved or tried to move.
        warning: why it does not do as told, beside its state; empty when all is well.
    """

    number: int
    state: str
    warns: bool
    target: tuple[float, float] | None
    tip_error: float
    object: int | None
    dwell: float
    planner: str
    planner_note: str
    updates: int
    warning: str


class _Outline(NamedTuple):
    """What of an arm a report is made for when it changes."""

    number: int
    state: str
    object: int | None
    planner: str
    planner_note: str
    destination: bytes


class ArmStatesBuilder:
    """The states of all arms as the bytes of one message, made anew for every report.

    Attributes:
        kind: the class of the message.
    """

    kind = DiagnosticArray

    def __init__(self) -> None:
        """Report nothing yet."""
        self._head = PackedMessage(DiagnosticArray(), fields=("header",))
        self._stamp = StampView(self._head)
        self._reported: tuple[str, list[_Outline]] | None = None

    def changed(self, octopus: Octopus, warning: str = "") -> bool:
        """Tell whether an arm's state, object, planner or target is another than last reported.

        Args:
            octopus: the arms.
            warning: why they do not do as told, beside their states.
        """
        return (warning, [_outline(arm) for arm in octopus.arms]) != self._reported

    def fill(self, octopus: Octopus, stamp: Time, warning: str = "") -> bytes:
        """Put the states of all arms into the message.

        Args:
            octopus: the arms.
            stamp: when they were so.
            warning: why they do not do as told, beside their states ("the object feed is 3.2 s
                old"); every arm's level is WARN then. Empty when all is well.

        Returns:
            The message, encoded.
        """
        self._stamp.write(stamp)
        stream = bytearray(self._head.data)
        _align(stream)
        stream += _COUNT.pack(len(octopus.arms))
        outlines = [_outline(arm) for arm in octopus.arms]
        warnings = arm_warnings(octopus, warning)
        for arm, outline in zip(octopus.arms, outlines, strict=True):
            _add_status(stream, arm, outline, warnings[arm.number])
        self._reported = (warning, outlines)
        return bytes(stream)


def arm_warnings(octopus: Octopus, warning: str = "") -> dict[int, str]:
    """Give what every arm has to warn of beside its state, by its number.

    Args:
        octopus: the arms.
        warning: what all of them have to warn of; empty when all is well.

    Returns:
        That, and how deep the arm is in an obstacle, where one lies on it.
    """
    warnings = dict.fromkeys(octopus.numbers, warning)
    contacts = octopus.contacts
    overlaps = (contacts.kinds == int(ObjectKind.OBSTACLE)) & (contacts.distances < -DEEP)
    for number in set(contacts.arms[overlaps].tolist()):
        mine = np.flatnonzero(overlaps & (contacts.arms == number))
        worst = mine[np.argmin(contacts.distances[mine])]
        depth = -1e3 * float(contacts.distances[worst])
        found = f"obstacle {int(contacts.objects[worst])} lies on it, {depth:.1f} mm deep"
        warnings[number] = f"{warning}; {found}" if warning else found
    return warnings


def _outline(arm: Arm) -> _Outline:
    grip = arm.grip
    return _Outline(
        arm.number,
        arm.state,
        None if grip is None else grip.object,
        arm.planner_name,
        arm.planner_note,
        # Not the tip's target, which a carrying arm renews with every step.
        arm.destination.tobytes(),
    )


def _add_status(stream: bytearray, arm: Arm, outline: _Outline, warning: str) -> None:
    """Append the status of an arm: level, name, message, hardware, and the values by their keys."""
    target_x, target_y = arm.aim.tolist()
    warns = bool(warning) or outline.state in WARNING_STATES
    values = (
        f"{target_x:.6g}, {target_y:.6g}",
        f"{arm.tip_error:.6f}",
        "" if outline.object is None else str(outline.object),
        f"{arm.dwell:.3f}",
        outline.planner,
        outline.planner_note,
        str(arm.updates),
    )
    stream += DiagnosticStatus.WARN if warns else DiagnosticStatus.OK
    _align(stream)
    parts = [packed_text(text) for text in (arm_name(arm.number), outline.state, HARDWARE)]
    parts.append(_COUNT.pack(len(_KEYS) + 1))
    for key, value in zip(_KEYS, values, strict=True):
        parts += (packed_text(key), packed_text(value))
    parts += (packed_text(_WARNING), packed_text(warning, last=True))
    stream += b"".join(parts)


def _align(stream: bytearray) -> None:
    stream += bytes(-len(stream) % _COUNT.size)


def arm_reports(message: DiagnosticArray) -> dict[int, ArmReport]:
    """Give what an `arm_states` message says, by arm number.

    Statuses that are no arm's are left out, and so are values that cannot be read.

    Args:
        message: the message.
    """
    reports = {}
    for status in message.status:
        number = parse_arm_name(status.name)
        if number is None:
            continue
        values = {value.key: value.value for value in status.values}
        reports[number] = ArmReport(
            number=number,
            state=status.message,
            warns=status.level != DiagnosticStatus.OK,
            target=_pair(values.get("target", "")),
            tip_error=_number(values.get("tip error", "")),
            object=_whole(values.get("object", "")),
            dwell=_number(values.get("dwell", "")),
            planner=values.get("planner", ""),
            planner_note=values.get("planner note", ""),
            updates=_whole(values.get("updates", "")) or 0,
            warning=values.get("warning", ""),
        )
    return reports


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _pair(text: str) -> tuple[float, float] | None:
    x, _, y = text.partition(",")
    pair = (_number(x), _number(y))
    return pair if all(map(math.isfinite, pair)) else None
