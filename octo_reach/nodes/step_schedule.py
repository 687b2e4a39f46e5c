"""When the next step is due: absolute deadlines on a clock that may stop, jump or run late."""

from __future__ import annotations

NANOSECONDS = 1_000_000_000


class StepSchedule:
    """Deadlines of fixed steps on any clock; what is too far behind is dropped and counted.

    Attributes:
        period: duration of a step, s.
        missed: steps that were not begun before the next one was due, caught up later or not. Of
            a clock that ticks, steps that one tick jumps over are none of them.
        dropped: steps that were never taken.
        dropped_time: the time they stood for, s.
    """

    def __init__(self, rate: float, catch_up: float) -> None:
        """Plan steps from the first time that is looked at.

        Args:
            rate: steps a second.
            catch_up: the most time that is caught up after a delay, s; at least one step is.
        """
        self.missed = 0
        self.dropped = 0
        self.dropped_time = 0.0
        self._taken = 0
        self._counted = 0
        self._latest = 0
        self.change(rate, catch_up)

    def change(self, rate: float, catch_up: float) -> None:
        """Plan anew, with another rate, from the next time that is looked at; counts go on.

        Args:
            rate: steps a second.
            catch_up: the most time that is caught up after a delay, s; at least one step is.
        """
        self.period = 1.0 / rate
        self._rate = rate
        self._limit = max(1, round(catch_up * rate))
        self._origin: int | None = None

    def restart(self) -> None:
        """Plan anew from the next time that is looked at: the clock is another one from now on."""
        self._origin = None

    def rest(self, now: int) -> bool:
        """Take note of the time without owing steps for it: the first is due a period from now.

        Args:
            now: time on the clock, ns.

        Returns:
            Whether the clock jumped back since the last look.
        """
        jumped = self._origin is not None and now < self._latest
        self._origin = now
        self._taken = 0
        self._counted = 0
        self._latest = now
        return jumped

    def look(self, now: int, tick: int = 0) -> bool:
        """Take note of the time.

        Args:
            now: time on the clock, ns.
            tick: how far the clock went in its last move, ns; 0 for one that flows.

        Returns:
            Whether the clock jumped back since the last look; steps are planned anew then.
        """
        if self._origin is None or now < self._latest:
            return self.rest(now)
        self._latest = now
        behind = self._due(now)
        # What was due before the last tick could have been taken then.
        late = self._taken + (self._due(now - tick) if tick > 0 else behind) - 1
        # Steps may still be owed from the last look: they were counted then.
        self.missed += max(0, late - max(self._taken, self._counted))
        self._counted = max(self._counted, late)
        if behind > self._limit:
            self.dropped += behind - self._limit
            self.dropped_time += (behind - self._limit) * self.period
            self._taken += behind - self._limit
        return False

    def take(self) -> int | None:
        """Give the deadline, ns, of the next step that is due at the last look; None if none is."""
        if self._due(self._latest) < 1:
            return None
        self._taken += 1
        return self._deadline(self._taken)

    def wait(self, now: int) -> float:
        """Give how long it is until the next step is due, s; 0 where one is, or nothing is planned.

        Args:
            now: time on the clock, ns.
        """
        return max(0.0, (self._deadline(self._taken + 1) - now) / NANOSECONDS)

    def _deadline(self, step: int) -> int:
        return (self._origin or 0) + round(step * NANOSECONDS / self._rate)

    def _due(self, now: int) -> int:
        """Count the steps that are due at a time and not taken."""
        if self._origin is None:
            return 0
        # The division may be off by a hair either way; the deadlines themselves decide.
        steps = max(0, int((now - self._origin) * self._rate / NANOSECONDS))
        while self._deadline(steps + 1) <= now:
            steps += 1
        while steps > 0 and self._deadline(steps) > now:
            steps -= 1
        return steps - self._taken
