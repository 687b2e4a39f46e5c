"""The plainest messages: a moment and a text."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from std_msgs.msg import String

NANOSECONDS = 1_000_000_000
"""Of a second."""


def stamp(nanoseconds: int) -> Time:
    """Give a moment as a message.

    Args:
        nanoseconds: the moment, ns since the beginning of its clock.
    """
    seconds, rest = divmod(nanoseconds, NANOSECONDS)
    return Time(sec=seconds, nanosec=rest)


def text_message(text: str) -> String:
    """Give a text as a message."""
    return String(data=text)
