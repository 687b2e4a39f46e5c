"""How a node itself is doing, as messages on `/diagnostics`.

The node's own status comes first, under the node's full name. What it has to say of its parts
follows as `<node>: <part>`, the way diagnostic_updater writes it, which aggregators group by.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from octo_reach.model.octopus import Arm, Octopus
from octo_reach.ros.frames import arm_name
from octo_reach.ros.states import WARNING_STATES, arm_warnings

OK = DiagnosticStatus.OK
WARN = DiagnosticStatus.WARN
ERROR = DiagnosticStatus.ERROR
STALE = DiagnosticStatus.STALE

SLOWEST_RATE = 0.95
"""Share of the wanted rate below which the achieved one is worth a warning."""


FAILED = "Failed"
"""State of an arm that does nothing any more until somebody sees to it."""


@dataclass(frozen=True)
class PartReport:
    """How a part of a node is doing.

    Attributes:
        name: what it is called beside the node's name, and what the status is about.
        level: `OK`, `WARN`, `ERROR` or `STALE` of this module.
        summary: the report in a few words.
        values: figures by name, unit in the name; floats are given six digits.
    """

    name: str
    level: bytes
    summary: str
    values: Mapping[str, object] = field(default_factory=dict)


class NodeDiagnostics:
    """One node's status, and its parts', as one message that is filled again for every report."""

    def __init__(self, name: str, hardware_id: str = "octo_reach") -> None:
        """Make the message.

        Args:
            name: name of the status, say the node's.
            hardware_id: what the status is about.
        """
        self.message = DiagnosticArray()
        self._name = name
        self._status = DiagnosticStatus(name=name, hardware_id=hardware_id)
        self._parts: dict[str, DiagnosticStatus] = {}
        self.message.status = [self._status]

    def fill(
        self,
        stamp: Time,
        level: bytes,
        summary: str,
        values: Mapping[str, object],
        parts: Iterable[PartReport] = (),
    ) -> DiagnosticArray:
        """Put a report into the message.

        Args:
            stamp: when the node was so.
            level: `OK`, `WARN`, `ERROR` or `STALE` of this module.
            summary: the report in one line.
            values: figures by name, unit in the name; floats are given six digits.
            parts: how its parts are.

        Returns:
            The message, the same object every time.
        """
        self.message.header.stamp = stamp
        _fill(self._status, level, summary, values)
        statuses = [self._status]
        for part in parts:
            status = self._parts.get(part.name)
            if status is None:
                full_name = f"{self._name}: {part.name}"
                status = DiagnosticStatus(name=full_name, hardware_id=part.name)
                self._parts[part.name] = status
            _fill(status, part.level, part.summary, part.values)
            statuses.append(status)
        self.message.status = statuses
        return self.message


def _fill(
    status: DiagnosticStatus, level: bytes, summary: str, values: Mapping[str, object]
) -> None:
    status.level = level
    status.message = summary
    status.values = [
        KeyValue(key=key, value=f"{value:.6g}" if isinstance(value, float) else str(value))
        for key, value in values.items()
    ]


def arm_parts(octopus: Octopus, warning: str = "") -> list[PartReport]:
    """Judge how the arms are doing, as parts of their controller.

    Args:
        octopus: the arms.
        warning: why they do not do as told, beside their states; empty when all is well.
    """
    warnings = arm_warnings(octopus, warning)
    return [_arm_part(arm, warnings[arm.number]) for arm in octopus.arms]


def _arm_part(arm: Arm, warning: str) -> PartReport:
    state = arm.state
    level = WARN if warning or state in WARNING_STATES else OK
    if state == FAILED:
        level = ERROR
    x, y = arm.aim.tolist()
    grip = arm.grip
    return PartReport(
        name=arm_name(arm.number),
        level=level,
        summary=f"{state}: {warning}" if warning else state,
        values={
            "tip error (m)": float(arm.tip_error),
            "target (m)": f"{x:.6g}, {y:.6g}",
            "touching segments": arm.touched_segments,
            "holds": "nothing" if grip is None else f"object {grip.object}",
            "planner": arm.planner_name,
            "planner note": arm.planner_note,
        },
    )


def controller_report(
    *,
    rate: float,
    wanted_rate: float,
    steps: int,
    worst_step: float,
    missed_steps: int,
    dropped_seconds: float,
    rejected: Mapping[str, int],
    feed_age: float | None,
    object_timeout: float,
    paused: bool = False,
    standing: str = "",
    notes: Sequence[str] = (),
) -> tuple[bytes, str, dict[str, object]]:
    """Judge how a controller is doing: level, summary and values for `NodeDiagnostics.fill`.

    Args:
        rate: steps a second since the last report.
        wanted_rate: steps a second there should be.
        steps: steps taken since the start.
        worst_step: longest time one step took since the last report, s.
        missed_steps: deadlines missed since the last report.
        dropped_seconds: time that was given up instead of caught up, since the start, s.
        rejected: rejected inputs by cause, since the start.
        feed_age: time since the last message about objects, s; None where there was none.
        object_timeout: age from which the arms hold, s; 0 = they never do.
        paused: whether stepping is paused.
        standing: why no step is due ("waiting for /clock"); empty where steps are.
        notes: what else needs attention, a line each.
    """
    problems = list(notes)
    if standing:
        problems.append(standing)
    elif not paused and rate < SLOWEST_RATE * wanted_rate:
        problems.append(f"{rate:.1f} of {wanted_rate:g} steps a second")
    if object_timeout > 0.0 and (feed_age is None or feed_age > object_timeout):
        age = "silent so far" if feed_age is None else f"{feed_age:.1f} s old"
        problems.append(f"the object feed is {age}: the arms hold")
    values: dict[str, object] = {
        "rate (Hz)": rate,
        "wanted rate (Hz)": wanted_rate,
        "steps": steps,
        "worst step (ms)": 1e3 * worst_step,
        "missed steps": missed_steps,
        "dropped time (s)": dropped_seconds,
        "rejected inputs": sum(rejected.values()),
    }
    for cause, count in sorted(rejected.items()):
        values[f"rejected: {cause}"] = count
    values["object feed age (s)"] = "never heard" if feed_age is None else feed_age
    values["paused"] = "yes" if paused else "no"
    if problems:
        return WARN, "; ".join(problems), values
    return OK, "paused" if paused else f"{rate:.1f} steps a second", values
