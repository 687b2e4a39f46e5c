"""How a node itself is doing, as messages on `/diagnostics`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

OK = DiagnosticStatus.OK
WARN = DiagnosticStatus.WARN
ERROR = DiagnosticStatus.ERROR
STALE = DiagnosticStatus.STALE

SLOWEST_RATE = 0.95
"""Share of the wanted rate below which the achieved one is worth a warning."""


class NodeDiagnostics:
    """One node's status as one message that is filled again for every report."""

    def __init__(self, name: str, hardware_id: str = "octo_reach") -> None:
        """Make the message.

        Args:
            name: name of the status, say the node's.
            hardware_id: what the status is about.
        """
        self.message = DiagnosticArray()
        self._status = DiagnosticStatus(name=name, hardware_id=hardware_id)
        self.message.status = [self._status]

    def fill(
        self, stamp: Time, level: bytes, summary: str, values: Mapping[str, object]
    ) -> DiagnosticArray:
        """Put a report into the message.

        Args:
            stamp: when the node was so.
            level: `OK`, `WARN`, `ERROR` or `STALE` of this module.
            summary: the report in one line.
            values: figures by name, unit in the name; floats are given six digits.

        Returns:
            The message, the same object every time.
        """
        self.message.header.stamp = stamp
        self._status.level = level
        self._status.message = summary
        self._status.values = [
            KeyValue(key=key, value=f"{value:.6g}" if isinstance(value, float) else str(value))
            for key, value in values.items()
        ]
        return self.message


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
