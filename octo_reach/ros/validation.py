"""What is refused of a message, how it is said, and how it is counted.

A message is taken whole or not at all: the converters raise `RejectedInput` before anything is
changed, and the node hands that to its `RejectionLog`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

FARTHEST = 1e6
"""Largest coordinate, offset or angle taken, in metres or rad: beyond it sums lose the arm."""

LARGEST_RADIUS = 1e3
"""Largest radius of an object, m."""

CAUSES = (
    "not finite",
    "out of range",
    "unknown frame",
    "bad radius",
    "bad id",
    "unknown ns",
    "duplicate",
    "bad type",
    "unknown action",
    "wrong joint names",
    "unequal lengths",
    "bad description",
)
"""The causes for which an input is rejected, as diagnostics count them."""

LONGEST_VALUE = 120


class RejectedInput(ValueError):  # noqa: N818 - it is no failure of ours
    """A message that was not taken.

    Attributes:
        topic: where it came from.
        cause: short key, one of `CAUSES`.
        value: what was wrong, as text.
        rule: what would have been right.
    """

    def __init__(self, topic: str, cause: str, value: object, rule: str) -> None:
        """Put the text together.

        Args:
            topic: where the message came from.
            cause: short key, one of `CAUSES`.
            value: the offending value; a long one is cut.
            rule: the rule it breaks, naming the field and the valid choices.
        """
        text = value if isinstance(value, str) else repr(value)
        if len(text) > LONGEST_VALUE:
            text = text[: LONGEST_VALUE - 3] + "..."
        super().__init__(f"{topic}: {rule}, got {text or 'nothing'} ({cause})")
        self.topic = topic
        self.cause = cause
        self.value = text
        self.rule = rule


def checked_coordinates(topic: str, what: str, x: float, y: float) -> tuple[float, float]:
    """Give a point of the plane.

    Args:
        topic: where the numbers came from.
        what: what they are, for the text.
        x: first coordinate, m.
        y: second coordinate, m.

    Raises:
        RejectedInput: a number is NaN, infinite or beyond `FARTHEST`.
    """
    if not (math.isfinite(x) and math.isfinite(y)):
        raise RejectedInput(topic, "not finite", f"({x!r}, {y!r})", f"{what} must be finite")
    if abs(x) > FARTHEST or abs(y) > FARTHEST:
        rule = f"{what} must lie within {FARTHEST:g} m of the origin"
        raise RejectedInput(topic, "out of range", f"({x!r}, {y!r})", rule)
    return x, y


def checked_radius(topic: str, what: str, diameter_x: float, diameter_y: float) -> float:
    """Give the radius of a circle from its two diameters, m.

    They must agree to a millionth: an ellipse is no circle, but a diameter that went through a
    32-bit float on its way still is one.

    Args:
        topic: where the numbers came from.
        what: whose they are, for the text.
        diameter_x: scale.x of the marker, m.
        diameter_y: scale.y of the marker, m.

    Raises:
        RejectedInput: NaN or infinite, not above 0, above `LARGEST_RADIUS`, or unequal.
    """
    shown = f"scale ({diameter_x!r}, {diameter_y!r})"
    if not (math.isfinite(diameter_x) and math.isfinite(diameter_y)):
        raise RejectedInput(topic, "not finite", shown, f"the diameter of {what} must be finite")
    radius = diameter_x / 2.0
    if not 0.0 < radius <= LARGEST_RADIUS:
        rule = f"the radius of {what} must be above 0 and at most {LARGEST_RADIUS:g} m"
        raise RejectedInput(topic, "bad radius", shown, rule)
    if not math.isclose(diameter_x, diameter_y, rel_tol=1e-6):
        rule = f"scale.x and scale.y of {what} must be the same diameter"
        raise RejectedInput(topic, "bad radius", shown, rule)
    return radius


class RejectionLog:
    """Counts rejected inputs by cause and says so without flooding the log.

    Attributes:
        counts: rejected messages by cause.
    """

    def __init__(
        self,
        warn: Callable[[str], object],
        interval: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start with nothing counted.

        Args:
            warn: writes one warning, say `node.get_logger().warning`.
            interval: shortest time between two warnings of one topic and cause, s.
            clock: seconds of a steady clock.
        """
        self.counts: dict[str, int] = {}
        self._warn = warn
        self._interval = interval
        self._clock = clock
        self._last: dict[tuple[str, str], float] = {}
        self._unsaid: dict[tuple[str, str], int] = {}

    @property
    def total(self) -> int:
        """Number of rejected messages so far."""
        return sum(self.counts.copy().values())

    def reject(self, error: RejectedInput) -> None:
        """Count a rejected message, and warn unless one of its like was warned of just now."""
        self.counts[error.cause] = self.counts.get(error.cause, 0) + 1
        key = (error.topic, error.cause)
        now = self._clock()
        last = self._last.get(key)
        if last is not None and now - last < self._interval:
            self._unsaid[key] = self._unsaid.get(key, 0) + 1
            return
        unsaid = self._unsaid.pop(key, 0)
        self._last[key] = now
        more = f" [{unsaid} more like it since the last warning]" if unsaid else ""
        self._warn(f"rejected {error}{more}")
