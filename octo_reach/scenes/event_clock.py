"""When the events of a scene are due, by the stamps of the arms that live in it.

Events are written in steps of the model. A world that plays them for a controller in another
process counts the time that controller says has passed: while it is paused, so are the events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from octo_reach.model.rules import UPDATE_RATE
from octo_reach.scenes.document import Event

NANOSECONDS = 1_000_000_000

STEP = round(NANOSECONDS / UPDATE_RATE)
"""What passes where stamps do not say how much, ns."""

LONGEST_STEP = NANOSECONDS // 10
"""A stamp further from the last one than this does not count as time: the clock was set, ns."""

PATIENCE = 1.0
"""How long the arm whose stamps are counted may be silent before another's are, s."""


class EventClock:
    """Counts steps from the first stamp heard, and hands out the events whose step has come."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        """Wait for the first stamp.

        Args:
            events: the events, by tick, those of one tick in their order.
        """
        self._events = tuple(events)
        self.restart()

    def restart(self) -> None:
        """Begin again at the next stamp heard, with all events to come."""
        self._played = 0
        self._passed = 0
        self._source: int | None = None
        self._stamp = 0
        self._received = 0.0

    @property
    def started(self) -> bool:
        """Whether a stamp was heard."""
        return self._source is not None

    @property
    def seconds(self) -> float:
        """Time since the first stamp, s."""
        return self._passed / NANOSECONDS

    @property
    def tick(self) -> int:
        """The step that comes next, from 1; 0 before the first stamp."""
        return round(self._passed * UPDATE_RATE / NANOSECONDS) + 1 if self.started else 0

    @property
    def left(self) -> int:
        """Number of events that have not been handed out."""
        return len(self._events) - self._played

    def hear(self, stamps: Mapping[int, int], now: float) -> list[Event]:
        """Take in when arms stood as they were reported.

        The stamps of one arm are counted, since two controllers need not agree: of the first that
        was heard, and of another once that one is silent.

        Args:
            stamps: stamp by arm number, ns, of one message.
            now: when it came, s on a steady clock.

        Returns:
            The events that are due now and were not handed out before, in their order.
        """
        if not stamps:
            return []
        if self._source is None or (
            self._source not in stamps and now - self._received > PATIENCE
        ):
            fresh = self._source is None
            self._source = min(stamps)
            if not fresh:
                self._passed += STEP
        elif self._source not in stamps:
            return []
        else:
            difference = stamps[self._source] - self._stamp
            self._passed += difference if 0 <= difference <= LONGEST_STEP else STEP
        self._stamp = stamps[self._source]
        self._received = now
        due = self._played
        while due < len(self._events) and self._events[due].tick <= self.tick:
            due += 1
        events = list(self._events[self._played : due])
        self._played = due
        return events
