"""What people ask for, until the node takes it.

The page's callbacks run in threads of the server and may come faster than they can be followed:
of a drag only the newest place counts.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass

from octo_reach.viewer.snapshot import Point

MOST_ORDERS = 64
"""Most orders that wait; what comes on top of them is dropped."""


@dataclass(frozen=True)
class SendArm:
    """Send an arm's tip, or what it holds, to a place, (x, y), m."""

    arm: int
    position: Point


@dataclass(frozen=True)
class PutObject:
    """Put an object somewhere: a known one elsewhere, or a new one.

    Attributes:
        kind: `food`, `obstacle` or `hazard`.
        position: its centre, (x, y), m.
        radius: its radius, m.
        number: its number; None for a new one.
    """

    kind: str
    position: Point
    radius: float
    number: int | None = None


@dataclass(frozen=True)
class RemoveObject:
    """Take an object away."""

    kind: str
    number: int


@dataclass(frozen=True)
class Act:
    """Let an arm do one of `ACTIONS`."""

    arm: int
    action: str


ACTIONS = ("idle", "release", "retract", "reset")


@dataclass(frozen=True)
class Pause:
    """Let the arms pause, or go on."""

    paused: bool


@dataclass(frozen=True)
class Step:
    """One step while paused."""


@dataclass(frozen=True)
class ResetAll:
    """The arms as they were placed, with their first targets; then the objects as loaded."""


@dataclass(frozen=True)
class ChoosePlanner:
    """Give an arm another planner."""

    arm: int
    planner: str


Order = SendArm | PutObject | RemoveObject | Act | Pause | Step | ResetAll | ChoosePlanner


class Orders:
    """Orders that wait to be taken; may be used from any thread."""

    def __init__(self) -> None:
        """Start with none."""
        self._lock = threading.Lock()
        self._waiting: dict[Hashable, Order] = {}
        self._count = 0

    def put(self, order: Order) -> bool:
        """Add an order; one that moves the same thing as an order that waits takes its place.

        Args:
            order: the order.

        Returns:
            Whether there was room for it.
        """
        with self._lock:
            key = self._key(order)
            if len(self._waiting) >= MOST_ORDERS and key not in self._waiting:
                return False
            self._waiting.pop(key, None)
            self._waiting[key] = order
            return True

    def take(self) -> list[Order]:
        """Give the orders that wait, the oldest first, and forget them."""
        with self._lock:
            waiting = list(self._waiting.values())
            self._waiting.clear()
        return waiting

    def _key(self, order: Order) -> Hashable:
        if isinstance(order, SendArm):
            return "target", order.arm
        if isinstance(order, PutObject) and order.number is not None:
            return "object", order.number
        self._count += 1
        return self._count
