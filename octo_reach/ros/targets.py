"""Targets of a tip from messages, and where the tip is as one."""

from __future__ import annotations

from collections.abc import Sequence

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PointStamped, PoseStamped
from std_msgs.msg import Float64

from octo_reach.model.geometry import Floats
from octo_reach.ros.frames import WORLD, is_world
from octo_reach.ros.packed import PackedMessage, StampView
from octo_reach.ros.validation import RejectedInput, checked_coordinates


def _checked_world(topic: str, frame_id: str) -> None:
    if not is_world(frame_id):
        rule = f"header.frame_id of a target must be '{WORLD}' or empty"
        raise RejectedInput(topic, "unknown frame", repr(frame_id), rule)


def target_from_point(topic: str, message: PointStamped) -> tuple[float, float]:
    """Give the target of a `target` message, (x, y) in the world, m. z and the stamp are ignored.

    Args:
        topic: where the message came from, for the error.
        message: the message.

    Raises:
        RejectedInput: another frame than the world, or coordinates NaN, infinite or too large.
    """
    _checked_world(topic, message.header.frame_id)
    return checked_coordinates(topic, "a target", message.point.x, message.point.y)


def target_from_pose(topic: str, message: PoseStamped) -> tuple[float, float]:
    """Give the target of a `target_pose` message, (x, y) in the world, m. The yaw is ignored.

    Args:
        topic: where the message came from, for the error.
        message: the message.

    Raises:
        RejectedInput: another frame than the world, or coordinates NaN, infinite or too large.
    """
    _checked_world(topic, message.header.frame_id)
    position = message.pose.position
    return checked_coordinates(topic, "a target", position.x, position.y)


def target_message(x: float, y: float) -> PointStamped:
    """Make a `target` message in the frame `world`, stamp 0.

    Args:
        x: x of the target, m.
        y: y of the target, m.
    """
    message = PointStamped()
    message.header.frame_id = WORLD
    message.point.x = float(x)
    message.point.y = float(y)
    return message


class TipBuilder:
    """Where one arm's tip is, as the bytes of one message that is filled again at every step.

    Attributes:
        kind: the class of the message.
    """

    kind = PointStamped

    def __init__(self) -> None:
        """Make the message."""
        template = PointStamped()
        template.header.frame_id = WORLD
        self._message = PackedMessage(template)
        self._stamp = StampView(self._message)
        self._x = self._message.numbers("point.x")
        self._y = self._message.numbers("point.y")

    def fill(self, tip: Sequence[float] | Floats, stamp: Time) -> bytes:
        """Put the tip of an arm into the message.

        Args:
            tip: its position, (x, y), m.
            stamp: when it was there.

        Returns:
            The message, encoded.
        """
        self._stamp.write(stamp)
        self._x[0], self._y[0] = tip
        return bytes(self._message)


class TipErrorBuilder:
    """How far one arm's tip is off, as the bytes of one message that is filled again.

    Attributes:
        kind: the class of the message.
    """

    kind = Float64

    def __init__(self) -> None:
        """Make the message."""
        self._message = PackedMessage(Float64())
        self._number = self._message.numbers("data")

    def fill(self, error: float) -> bytes:
        """Put the tip error of an arm into the message.

        Args:
            error: distance of its tip, or of what it carries, from the target, m.

        Returns:
            The message, encoded.
        """
        self._number[0] = error
        return bytes(self._message)
