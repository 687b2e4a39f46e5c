"""What is known of arms that somebody else moves: where they stand, and their latest angles.

The arms belong to a controller; a world only hears of them. This keeps what it heard, tells for how
long it has heard nothing, and notices when two controllers move one arm against each other.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from octo_reach.model.arm import ArmPlacement
from octo_reach.model.geometry import FULL_TURN, Floats

INTERRUPTION = 0.2
"""A pause between two messages from which on another controller may be the one that speaks, s."""

SLACK = 0.05
"""What a joint may turn beyond its speed before the pose counts as another arm's, rad."""

DISPUTE_JUMPS = 3
"""So many jumps within `DISPUTE_TIME`: nobody resets an arm that often."""

DISPUTE_TIME = 1.0
"""How long a jump is held against an arm, s."""

BURIAL_TIME = 25.0
"""How long a publisher that has crashed may still be counted, s: DDS drops it after 20."""


@dataclass
class _Feed:
    """What was heard of one arm."""

    angles: Floats
    stamp: float
    received: float
    sequence: int | None = None
    jumps: deque[float] = field(default_factory=lambda: deque(maxlen=DISPUTE_JUMPS))


class ArmFeed:
    """The arms as they are heard of. Times are seconds of one steady clock."""

    def __init__(self, placements: Iterable[ArmPlacement] = ()) -> None:
        """Know the arms, none of which was heard of.

        Args:
            placements: the arms there should be, in metres, y up.
        """
        self._placements: dict[int, ArmPlacement] = {}
        self._described: set[int] = set()
        self._feeds: dict[int, _Feed] = {}
        self._crowded_since: dict[int, float] = {}
        for placement in placements:
            self._placements[placement.number] = placement

    def describe(self, placements: Iterable[ArmPlacement]) -> None:
        """Take the word of whoever moves the arms for where they stand and how long they are.

        Args:
            placements: some or all arms; headings and targets do not matter.
        """
        for placement in placements:
            self._placements[placement.number] = placement
            self._described.add(placement.number)

    @property
    def arms(self) -> tuple[int, ...]:
        """Numbers of the arms that were heard of or should be there, in their order."""
        return tuple(sorted(self._placements.keys() | self._feeds.keys()))

    @property
    def heard_arms(self) -> tuple[int, ...]:
        """Numbers of the arms that were heard of, in their order."""
        return tuple(sorted(self._feeds))

    def segment_count(self, arm: int) -> int | None:
        """Give the number of segments an arm is known to have; None while nobody has said so.

        What a scene file says is not enough: a controller may have been told otherwise.
        """
        if arm in self._feeds:
            return len(self._feeds[arm].angles)
        if arm in self._described:
            return self._placements[arm].parameters.segment_count
        return None

    def age(self, arm: int, now: float) -> float:
        """Give how long nothing was heard of an arm, s; infinite where nothing ever was."""
        feed = self._feeds.get(arm)
        return math.inf if feed is None else now - feed.received

    def silent(self, now: float, patience: float) -> tuple[int, ...]:
        """Give the arms that were heard of, but not lately.

        Args:
            now: time, s.
            patience: how long an arm may be silent, s.
        """
        return tuple(arm for arm in self.heard_arms if self.age(arm, now) > patience)

    def forgive(self, now: float) -> None:
        """Hold no silence so far against any arm: it was the listener who did not listen.

        Args:
            now: time, s.
        """
        for feed in self._feeds.values():
            feed.received = now

    def note_publishers(self, arm: int, count: int, now: float) -> None:
        """Note how many nodes there are that could move an arm.

        Args:
            arm: its number.
            count: number of publishers of what only its controller publishes.
            now: time, s.
        """
        if count > 1:
            self._crowded_since.setdefault(arm, now)
        else:
            self._crowded_since.pop(arm, None)

    def disputed(self, now: float) -> tuple[int, ...]:
        """Give the arms that more than one controller moves.

        Either the pose keeps jumping between theirs, or they stand in the same pose, and there have
        been several for so long that none of them can be one that has crashed.

        Args:
            now: time, s.
        """
        return tuple(
            arm
            for arm, feed in sorted(self._feeds.items())
            if now - self._crowded_since.get(arm, now) > BURIAL_TIME
            or (len(feed.jumps) == DISPUTE_JUMPS and now - feed.jumps[0] <= DISPUTE_TIME)
        )

    def replaced(
        self,
        angles: Mapping[int, Floats],
        stamp: float,
        now: float,
        sequence: int | None = None,
    ) -> tuple[int, ...]:
        """Give the arms that come back after a pause from a controller that was started anew.

        Its messages are counted from the first again, or its arms are in a pose that those heard
        before cannot have turned to.

        Args:
            angles: joint angles by arm number, shape (N,) each, rad.
            stamp: what the message says it is of, s.
            now: time, s.
            sequence: number of the message among those of its publisher, or None where unknown.
        """
        return tuple(
            arm
            for arm, pose in angles.items()
            if self.age(arm, now) > INTERRUPTION
            and arm in self._feeds
            and (self._begins_anew(arm, sequence) or self._jumps(arm, pose, stamp, now))
        )

    def _begins_anew(self, arm: int, sequence: int | None) -> bool:
        last = self._feeds[arm].sequence
        return sequence is not None and last is not None and sequence <= last

    def hear(
        self,
        angles: Mapping[int, Floats],
        stamp: float,
        now: float,
        sequence: int | None = None,
    ) -> None:
        """Take a message in.

        Args:
            angles: joint angles by arm number, shape (N,) each, rad; kept, not copied.
            stamp: what the message says it is of, s.
            now: time, s.
            sequence: number of the message among those of its publisher, or None where unknown.
        """
        for arm, pose in angles.items():
            feed = self._feeds.get(arm)
            if feed is None:
                self._feeds[arm] = _Feed(pose, stamp, now, sequence)
                continue
            if self._jumps(arm, pose, stamp, now):
                feed.jumps.append(now)
            feed.angles, feed.stamp, feed.received = pose, stamp, now
            feed.sequence = sequence

    def _jumps(self, arm: int, pose: Floats, stamp: float, now: float) -> bool:
        """Tell whether an arm cannot have turned from its latest pose to this one."""
        feed = self._feeds[arm]
        if len(pose) != len(feed.angles):
            return True
        if arm not in self._placements:
            return False
        # Messages that waited in a queue come all at once, so receipt alone is not time enough.
        passed = max(abs(stamp - feed.stamp), now - feed.received)
        speed = self._placements[arm].parameters.turning_speed
        turns = pose - feed.angles
        turns[0] = (turns[0] + math.pi) % FULL_TURN - math.pi
        allowed = 2.0 * speed * min(passed, INTERRUPTION) + SLACK
        return float(np.abs(turns).max()) > allowed

    def position(
        self, holder: tuple[int, int], offset: tuple[float, float]
    ) -> tuple[float, float] | None:
        """Give where something lies that is fixed to a segment: p + R(heading) offset.

        Args:
            holder: (arm, segment), the segment from 1.
            offset: place seen from the segment's end, (along, across), m.

        Returns:
            (x, y) in the world, m; None where the arm was not heard of, or is not known to be as it
            is heard.
        """
        arm, segment = holder
        feed, placement = self._feeds.get(arm), self._placements.get(arm)
        if feed is None or placement is None:
            return None
        if len(feed.angles) != placement.parameters.segment_count or segment > len(feed.angles):
            return None
        # Once in a while only, so plain numpy: compiling the model's kernel would take longer.
        headings = np.cumsum(feed.angles[:segment])
        length = placement.parameters.segment_length
        x = placement.base[0] + length * float(np.cos(headings).sum())
        y = placement.base[1] + length * float(np.sin(headings).sum())
        cosine, sine = math.cos(headings[-1]), math.sin(headings[-1])
        along, across = offset
        return x + cosine * along - sine * across, y + sine * along + cosine * across
