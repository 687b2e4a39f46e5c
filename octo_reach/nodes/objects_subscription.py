"""Hears `objects` of every publisher, whether or not it keeps its messages for late joiners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import qos_policy_name_from_kind
from visualization_msgs.msg import MarkerArray

from octo_reach.nodes.spinning import informed
from octo_reach.ros.quality_of_service import OBJECTS, OBJECTS_VOLATILE, DuplicateFilter


class ObjectsSubscription:
    """Asks for the scene as it stood before, and listens to whoever cannot give it as well.

    A subscription that asks for what was kept never matches a publisher that keeps nothing. Where
    there is one, a second subscription asks for nothing; what both hear is handed over once.
    """

    def __init__(
        self,
        node: Node,
        take: Callable[[Any], object],
        *,
        raw: bool = False,
        tell: Callable[[str], object] | None = None,
    ) -> None:
        """Listen.

        Args:
            node: the node that listens.
            take: called with every message.
            raw: whether it takes bytes, not deserialised.
            tell: told when a publisher that keeps nothing is heard; nobody where left out.
        """
        self._node = node
        self._take = take
        self._raw = raw
        self._tell = tell
        self._duplicates = DuplicateFilter()
        self._volatile: Any = None
        node.create_subscription(
            MarkerArray,
            "objects",
            informed(self._hear),
            OBJECTS,
            event_callbacks=SubscriptionEventCallbacks(incompatible_qos=self._hear_volatile),
            raw=raw,
        )

    def _hear(self, message: Any, information: Any) -> None:
        if self._volatile is None or self._duplicates.is_new(information):
            self._take(message)

    def _hear_volatile(self, event: Any) -> None:
        if self._volatile is not None:
            return
        policy = qos_policy_name_from_kind(event.last_policy_kind)
        if self._tell is not None and policy == "DURABILITY":
            self._tell("a publisher of objects is volatile: it is heard as well")
        # Of any other publisher that does not go together with it, this one warns by itself.
        self._volatile = self._node.create_subscription(
            MarkerArray, "objects", informed(self._hear), OBJECTS_VOLATILE, raw=self._raw
        )
