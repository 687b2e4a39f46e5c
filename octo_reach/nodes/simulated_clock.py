"""A clock that others live by: it runs at any speed, stands still, and moves step by step."""

from __future__ import annotations

NANOSECONDS = 1_000_000_000

LONGEST_DELAY = 0.1
"""Real time that is caught up at most, s: a process that stood still must not hurry afterwards."""


class SimulatedClock:
    """Simulated time, in whole steps. Times handed in are seconds of one steady clock.

    Attributes:
        rate: steps in a simulated second.
        steps: steps that have passed; the first has from the start, since a time of 0 means that
            there is no clock yet.
        paused: whether it stands still.
    """

    def __init__(self, rate: float, factor: float, now: float) -> None:
        """Start the clock.

        Args:
            rate: steps in a simulated second.
            factor: simulated seconds for each second.
            now: real time, s.
        """
        self.rate = rate
        self.steps = 1
        self.paused = False
        self._factor = factor
        self._latest = now
        self._begin(now)

    def _begin(self, now: float) -> None:
        """Count from here on: nothing is owed for what was before."""
        self._origin = now
        self._origin_steps = self.steps

    @property
    def nanoseconds(self) -> int:
        """The simulated time, ns."""
        return round(self.steps * NANOSECONDS / self.rate)

    @property
    def factor(self) -> float:
        """Simulated seconds for each second."""
        return self._factor

    def set_factor(self, factor: float, now: float) -> None:
        """Run faster or slower from now on.

        Args:
            factor: simulated seconds for each second, above 0.
            now: real time, s.
        """
        self.advance(now)
        self._factor = factor
        self._begin(now)

    def pause(self, paused: bool, now: float) -> None:
        """Stop the clock, or let it run on.

        Args:
            paused: whether it is to stand still.
            now: real time, s.
        """
        self.advance(now)
        self.paused = paused
        self._begin(now)

    def take_step(self) -> None:
        """Let one step pass while the clock is paused.

        Raises:
            ValueError: the clock is running.
        """
        if not self.paused:
            raise ValueError("the clock is running: pause it first")
        self.steps += 1

    def advance(self, now: float) -> bool:
        """Let the time pass that is due.

        Args:
            now: real time, s.

        Returns:
            Whether the simulated time is another than before.
        """
        delay = now - self._latest - self._period
        self._latest = now
        if self.paused:
            return False
        if delay > LONGEST_DELAY:
            self._origin += delay - LONGEST_DELAY
        due = self._origin_steps + int((now - self._origin) * self._factor * self.rate + 1e-9)
        if due <= self.steps:
            return False
        self.steps = due
        return True

    def wait(self, now: float) -> float:
        """Give how long it is until the next step is due, s; infinite while the clock is paused.

        Args:
            now: real time, s.
        """
        if self.paused:
            return float("inf")
        due = self._origin + (self.steps + 1 - self._origin_steps) * self._period
        return max(0.0, due - now)

    @property
    def _period(self) -> float:
        """Real time of a step, s."""
        return 1.0 / (self._factor * self.rate)
