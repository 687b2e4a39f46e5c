"""What every arm is doing, as `arm_states` messages, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from octo_reach.model.octopus import Arm, Octopus
from octo_reach.ros.frames import arm_name, parse_arm_name

HARDWARE = "octo_reach"

WARNING_STATES = frozenset({"Blocked", "Beyond reach", "No way", "Failed"})
"""States in which an arm cannot do what it was told."""

_KEYS = (
    "target",
    "tip error",
    "object",
    "dwell",
    "planner",
    "planner note",
    "updates",
    "warning",
)


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


class ArmStatesBuilder:
    """The states of all arms as one message that is filled again for every report."""

    def __init__(self) -> None:
        """Make the message; arms come with the first report."""
        self.message = DiagnosticArray()
        self._numbers: tuple[int, ...] | None = None
        self._reported: tuple[object, ...] | None = None

    def changed(self, octopus: Octopus, warning: str = "") -> bool:
        """Tell whether an arm's state, object, planner or target is another than last reported.

        Args:
            octopus: the arms.
            warning: why they do not do as told, beside their states.
        """
        return _outline(octopus, warning) != self._reported

    def fill(self, octopus: Octopus, stamp: Time, warning: str = "") -> DiagnosticArray:
        """Put the states of all arms into the message.

        Args:
            octopus: the arms.
            stamp: when they were so.
            warning: why they do not do as told, beside their states ("the object feed is 3.2 s
                old"); every arm's level is WARN then. Empty when all is well.

        Returns:
            The message, the same object every time.
        """
        if octopus.numbers != self._numbers:
            self._numbers = octopus.numbers
            self.message.status = [_empty_status(number) for number in octopus.numbers]
        self.message.header.stamp = stamp
        for arm, status in zip(octopus.arms, self.message.status, strict=True):
            _fill_status(status, arm, warning)
        self._reported = _outline(octopus, warning)
        return self.message


def _outline(octopus: Octopus, warning: str) -> tuple[object, ...]:
    """Give what a report is made for when it changes."""
    outline: list[object] = [warning]
    for arm in octopus.arms:
        grip = arm.grip
        outline += (
            arm.state,
            None if grip is None else grip.object,
            arm.planner_name,
            arm.planner_note,
            # Not the tip's target, which a carrying arm renews with every step.
            arm.destination.tobytes(),
        )
    return tuple(outline)


def _empty_status(number: int) -> DiagnosticStatus:
    status = DiagnosticStatus(name=arm_name(number), hardware_id=HARDWARE)
    status.values = [KeyValue(key=key) for key in _KEYS]
    return status


def _fill_status(status: DiagnosticStatus, arm: Arm, warning: str) -> None:
    state = arm.state
    grip = arm.grip
    target_x, target_y = arm.aim.tolist()
    warns = bool(warning) or state in WARNING_STATES
    status.level = DiagnosticStatus.WARN if warns else DiagnosticStatus.OK
    status.message = state
    texts = (
        f"{target_x:.6g}, {target_y:.6g}",
        f"{arm.tip_error:.6f}",
        "" if grip is None else str(grip.object),
        f"{arm.dwell:.3f}",
        arm.planner_name,
        arm.planner_note,
        str(arm.updates),
        warning,
    )
    for value, text in zip(status.values, texts, strict=True):
        value.value = text


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
