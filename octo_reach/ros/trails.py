"""The way an arm's tip has come, as a path."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path

from octo_reach.ros.frames import WORLD
from octo_reach.ros.packed import PackedMessage, PackedSequence, StampView

MOST_POINTS = 100
"""Most points of a trail."""

SPACING = 0.01
"""Distance between two points as a share of the arm's length: a trail is as long as the arm."""


class TipTrail:
    """The last stretch of the way one arm's tip has come.

    It goes by distance, not by time: a tip that rests adds nothing. The last point is the tip.

    Attributes:
        kind: the class of the message.
    """

    kind = Path

    def __init__(self) -> None:
        """Start with none."""
        # Beyond the most points the oldest goes.
        self._way: deque[tuple[float, float]] = deque(maxlen=MOST_POINTS)
        path = Path()
        path.header.frame_id = WORLD
        pose = PoseStamped()
        pose.header.frame_id = WORLD
        pose.pose.orientation.w = 1.0
        # A path has but these two fields.
        self._message = PackedMessage(path, fields=("header",))
        self._stamp = StampView(self._message)
        self._poses = PackedSequence(pose, self._message.size, MOST_POINTS)
        self._positions = self._poses.numbers("pose.position")[:, :2]

    @property
    def empty(self) -> bool:
        """Whether there is no trail."""
        return not self._way

    def note(self, tip: Sequence[float], reach: float) -> bool:
        """Let the trail go on to where the tip is now.

        Args:
            tip: its position, (x, y), m.
            reach: length of the arm, m.

        Returns:
            Whether the tip was elsewhere before.
        """
        way = self._way
        x, y = tip
        if way and way[-1] == (x, y):
            return False
        # The last point stays where it is once it is far enough from the one before.
        if len(way) > 1 and math.dist(way[-2], way[-1]) <= SPACING * reach:
            way.pop()
        way.append((x, y))
        return True

    def fill(self, stamp: Time) -> bytes:
        """Give the trail as a message.

        Args:
            stamp: when the tip was at its end.

        Returns:
            The message, encoded.
        """
        self._stamp.write(stamp)
        count = len(self._way)
        if count:
            self._positions[:count] = self._way
        return bytes(self._message) + self._poses.first(count)

    def clear(self) -> None:
        """Forget it."""
        self._way.clear()
