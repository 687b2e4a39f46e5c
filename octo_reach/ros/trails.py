"""The way an arm's tip has come, as a path that is changed in place."""

from __future__ import annotations

import math

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path

from octo_reach.model.octopus import Arm
from octo_reach.ros.frames import WORLD

MOST_POINTS = 100
"""Most points of a trail."""

SPACING = 0.01
"""Distance between two points as a share of the arm's length: a trail is as long as the arm."""


class TipTrail:
    """The last stretch of the way one arm's tip has come.

    It goes by distance, not by time: a tip that rests adds nothing. The last point is the tip.
    """

    def __init__(self) -> None:
        """Start with none."""
        self.message = Path()
        self.message.header.frame_id = WORLD

    @property
    def empty(self) -> bool:
        """Whether there is no trail."""
        return not self.message.poses

    def note(self, arm: Arm) -> bool:
        """Let the trail go on to where an arm's tip is now.

        Args:
            arm: the arm.

        Returns:
            Whether the tip was elsewhere before.
        """
        poses = self.message.poses
        tip = tuple(arm.tip.tolist())
        last = _place(poses[-1]) if poses else None
        if last == tip:
            return False
        spacing = SPACING * arm.parameters.reach
        # The last point stays where it is once it is far enough from the one before.
        if len(poses) < 2 or math.dist(_place(poses[-2]), _place(poses[-1])) > spacing:
            # The oldest point becomes the newest.
            poses.append(poses.pop(0) if len(poses) >= MOST_POINTS else _pose())
        position = poses[-1].pose.position
        position.x, position.y = tip
        return True

    def fill(self, stamp: Time) -> Path:
        """Give the trail as a message.

        Args:
            stamp: when the tip was at its end.

        Returns:
            The message, the same object every time.
        """
        self.message.header.stamp = stamp
        return self.message

    def clear(self) -> None:
        """Forget it."""
        self.message.poses.clear()


def _place(pose: PoseStamped) -> tuple[float, float]:
    position = pose.pose.position
    return position.x, position.y


def _pose() -> PoseStamped:
    pose = PoseStamped()
    pose.header.frame_id = WORLD
    pose.pose.orientation.w = 1.0
    return pose
