"""What a run is doing, as plain values: no ROS, so that it can be shown and tested anywhere."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ArmSummary:
    """What one arm is doing.

    Attributes:
        number: number of the arm.
        state: what it is doing, in a word or two; empty where it was not heard of yet.
        target: where its tip, or what it holds, should go, (x, y), m; None where not known.
        tip_error: distance of the tip from that, m; None where not known.
        contacts: number of contacts between its segments and objects.
        captures: number of objects it has grasped since the start.
        holds: what it holds ("food 5"); empty for nothing.
        planner: name of its planner.
        note: what its planner has to say, or why it does not do as told; empty when all is well.
    """

    number: int
    state: str = ""
    target: tuple[float, float] | None = None
    tip_error: float | None = None
    contacts: int = 0
    captures: int = 0
    holds: str = ""
    planner: str = ""
    note: str = ""


@dataclass(frozen=True)
class Summary:
    """What a run is doing.

    Attributes:
        arms: the arms in the order of their numbers.
        rate: joint states heard a second.
        reported_rate: steps a second, as the controller counts them; None before its first report.
        wanted_rate: steps a second there should be; None before the first report.
        steps: steps since the start.
        missed_steps: deadlines missed since the start.
        rejected: rejected inputs since the start.
        paused: whether stepping is paused.
        problems: what the nodes' diagnostics warn of, a line each.
    """

    arms: tuple[ArmSummary, ...] = ()
    rate: float = 0.0
    reported_rate: float | None = None
    wanted_rate: float | None = None
    steps: int = 0
    missed_steps: int = 0
    rejected: int = 0
    paused: bool = False
    problems: tuple[str, ...] = ()

    @property
    def started(self) -> bool:
        """Whether the controller has been heard."""
        return any(arm.state for arm in self.arms)

    @property
    def captures(self) -> int:
        """Number of objects grasped since the start, by all arms."""
        return sum(arm.captures for arm in self.arms)

    @property
    def simulated_seconds(self) -> float | None:
        """How long the arms have been moving, in the time of the simulation, s."""
        return self.steps / self.wanted_rate if self.wanted_rate else None


class RateMeter:
    """Counts events and tells how many came a second of late."""

    def __init__(self, window: float = 2.0, silence: float = 1.0) -> None:
        """Start with nothing counted.

        Args:
            window: time over which the rate is taken, s.
            silence: time without an event after which the rate is zero, s.
        """
        self.count = 0
        self._window = window
        self._silence = silence
        self._times: deque[float] = deque()

    def note(self, now: float) -> None:
        """Count an event.

        Args:
            now: when it happened, on a steady clock, s.
        """
        self.count += 1
        self._times.append(now)
        while now - self._times[0] > self._window:
            self._times.popleft()

    def rate(self, now: float) -> float:
        """Give the events a second over the window that ends with the last one.

        Args:
            now: the time on the same clock, s.
        """
        if len(self._times) < 2 or now - self._times[-1] > self._silence:
            return 0.0
        return (len(self._times) - 1) / max(self._times[-1] - self._times[0], 1e-9)


class CaptureCounter:
    """Counts grasps by arm, from reports of who holds what.

    Attributes:
        counts: completed grasps by arm number.
    """

    def __init__(self) -> None:
        """Start with nothing held."""
        self.counts: dict[int, int] = {}
        self._held: dict[int, tuple[int, int]] = {}

    def hear(self, held: Mapping[int, tuple[int, int]]) -> None:
        """Compare a report with the one before.

        Args:
            held: (arm, segment) that holds it, by the number of every object held now.
        """
        for number, holder in held.items():
            if self._held.get(number) != holder:
                arm = holder[0]
                self.counts[arm] = self.counts.get(arm, 0) + 1
        self._held = dict(held)


def count_of(number: int, what: str) -> str:
    """Give a number of things in words: `1 object`, `4 objects`.

    Args:
        number: how many.
        what: what one of them is called.
    """
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def list_arms(numbers: Iterable[int]) -> str:
    """Give the names of arms, three or more in a row as a range: `arm_1 ... arm_8, arm_10`.

    Args:
        numbers: numbers of the arms, sorted.
    """
    rows: list[list[int]] = []
    for number in numbers:
        if rows and number == rows[-1][-1] + 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    parts = []
    for row in rows:
        names = [f"arm_{number}" for number in row]
        parts += [f"{names[0]} ... {names[-1]}"] if len(row) > 2 else names
    return ", ".join(parts)
