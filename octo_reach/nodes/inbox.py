"""What a controller's callbacks note for its main thread."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field

from octo_reach.model.geometry import Floats
from octo_reach.ros.objects import ObjectChange
from octo_reach.ros.trajectories import TrajectoryRequest


@dataclass
class Arrivals:
    """What arrived since the main thread looked.

    Attributes:
        assignments: where each arm is sent, (x, y), or what trajectory it is to follow.
        proposals: the joint angles somebody proposes for each arm.
        changes: what messages say about objects, and when they came.
    """

    assignments: dict[int, tuple[float, float] | TrajectoryRequest] = field(default_factory=dict)
    proposals: dict[int, Floats] = field(default_factory=dict)
    changes: deque[tuple[list[ObjectChange], float]] = field(default_factory=deque)


class Inbox:
    """Callbacks fill it, the main thread empties it.

    Of an arm's assignments or proposals only the newest counts, so a flood of them costs one entry.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._lock = threading.Lock()
        self._arrivals = Arrivals()

    def put_assignment(self, arm: int, assignment: tuple[float, float] | TrajectoryRequest) -> None:
        """Note where an arm is sent, or what it is to follow."""
        with self._lock:
            self._arrivals.assignments[arm] = assignment

    def put_proposal(self, arm: int, angles: Floats) -> None:
        """Note the joint angles somebody proposes for an arm."""
        with self._lock:
            self._arrivals.proposals[arm] = angles

    def put_changes(self, changes: list[ObjectChange], received: float) -> None:
        """Note what a message says about objects."""
        with self._lock:
            self._arrivals.changes.append((changes, received))

    def empty(self) -> Arrivals:
        """Take out everything."""
        with self._lock:
            taken, self._arrivals = self._arrivals, Arrivals()
        return taken
