"""When the next step is due: absolute deadlines on a clock that may stop, jump or run late."""

from __future__ import annotations

NANOSECONDS = 1_000_000_000


class StepSchedule:
    """Deadlines of fixed steps on any clock; what is too far behind is dropped and counted.

    Attributes:
        period: duration of a step, s.
        missed: steps that were not begun before the next one was due, caught up later or not.
        dropped: steps that were never taken.
    """

    def __init__(self, rate: float, catch_up: float) -> None:
        """Plan steps from the first time that is looked at.

        Args:
            rate: steps a second.
            catch_up: the most time that is caught up after a delay, s.
        """
        self.period = 1.0 / rate
        self.missed = 0
        self.dropped = 0
        self._rate = rate
        self._limit = max(1, round(catch_up * rate))
        self._origin: int | None = None
        self._taken = 0
        self._latest = 0

    def restart(self) -> None:
        """Plan anew from the next time that is looked at: nothing is owed for the time between."""
        self._origin = None

    def look(self, now: int) -> bool:
        """Take note of the time.

        Args:
            now: time on the clock, ns.

        Returns:
            Whether the clock jumped back since the last look; steps are planned anew then.
        """
        jumped = self._origin is not None and now < self._latest
        if self._origin is None or jumped:
            self._origin = now
            self._taken = 0
        self._latest = now
        behind = self._due()
        if behind > 1:
            self.missed += behind - 1
        if behind > self._limit:
            self.dropped += behind - self._limit
            self._taken += behind - self._limit
        return jumped

    def take(self) -> int | None:
        """Give the deadline, ns, of the next step that is due at the last look; None if none is."""
        if self._due() < 1:
            return None
        self._taken += 1
        return self._deadline(self._taken)

    def wait(self, now: int) -> float:
        """Give how long it is until the next step is due, s; 0 where one is."""
        return max(0.0, (self._deadline(self._taken + 1) - now) / NANOSECONDS)

    def _deadline(self, step: int) -> int:
        return (self._origin or 0) + round(step * NANOSECONDS / self._rate)

    def _due(self) -> int:
        assert self._origin is not None
        # The division may be off by a hair either way; the deadlines themselves decide.
        steps = int((self._latest - self._origin) * self._rate / NANOSECONDS)
        while self._deadline(steps + 1) <= self._latest:
            steps += 1
        while steps > 0 and self._deadline(steps) > self._latest:
            steps -= 1
        return steps - self._taken
