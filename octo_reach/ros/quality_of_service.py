"""The qualities of service of every topic, by name.

What people and tools send is asked for reliable and volatile: a transient-local reader never
hears a plain `ros2 topic pub`. What a late joiner must find is kept by its publisher.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

OBJECT_DEPTH = 50
"""Edits of the scene add up, so none of a burst may be lost; a target may, the newest counts."""


def _reliable(depth: int, durability: DurabilityPolicy) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=durability,
    )


INPUT = _reliable(10, DurabilityPolicy.VOLATILE)
"""Targets, proposals and whatever else people and tools send."""

STREAM = _reliable(10, DurabilityPolicy.VOLATILE)
"""What is published every step: joint states, contacts, tips; and markers."""

LATCHED = _reliable(1, DurabilityPolicy.TRANSIENT_LOCAL)
"""Publishers of objects, grasps, arm_states and robot_description, and readers of the latter."""

OBJECTS = _reliable(OBJECT_DEPTH, DurabilityPolicy.TRANSIENT_LOCAL)
"""Reader of objects that wants the scene as it stood before the reader came."""

OBJECTS_VOLATILE = _reliable(OBJECT_DEPTH, DurabilityPolicy.VOLATILE)
"""Reader of objects that also hears a volatile publisher, such as `ros2 topic pub`."""


class DuplicateFilter:
    """Tells the second delivery of one message from a new message.

    A node that reads a topic both ways (`OBJECTS` and `OBJECTS_VOLATILE`) hears a transient-local
    publisher twice. Both deliveries carry the writer's stamp and sequence number.
    """

    def __init__(self, memory: int = 4 * OBJECT_DEPTH) -> None:
        """Remember this many messages.

        Args:
            memory: number of latest messages to remember.
        """
        self._order: deque[tuple[Any, ...]] = deque(maxlen=memory)
        self._seen: set[tuple[Any, ...]] = set()

    def is_new(self, information: Mapping[str, Any]) -> bool:
        """Tell whether a message was not delivered before.

        Args:
            information: the `MessageInfo` rclpy hands to a callback of two arguments.
        """
        key = (information["source_timestamp"], information.get("publication_sequence_number"))
        if key in self._seen:
            return False
        if len(self._order) == self._order.maxlen:
            self._seen.discard(self._order[0])
        self._order.append(key)
        self._seen.add(key)
        return True
