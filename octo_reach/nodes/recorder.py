"""A listener that writes what it hears into a recording, byte by byte as it came."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo

from octo_reach.nodes.spinning import informed
from octo_reach.recordings.mcap_file import McapFile
from octo_reach.ros.definitions import message_class, message_definition
from octo_reach.ros.offered_profiles import offered_profiles
from octo_reach.ros.quality_of_service import DuplicateFilter

SHARED = ("/clock", "/diagnostics", "/rosout", "/tf", "/tf_static")
"""Topics that a system in a namespace has outside of it."""
LOOK_PERIOD = 0.2
"""Time between two looks for new topics, s."""
FLUSH_PERIOD = 1.0
"""What is older than this is in the file whatever happens, s."""
DEPTH = 1000
"""Messages that may wait to be written: several seconds of a topic that speaks every step."""


def is_wanted(name: str, namespace: str, patterns: Sequence[str]) -> bool:
    """Tell whether a topic is to be recorded.

    Args:
        name: its full name.
        namespace: where the system lives, with a leading slash; "/" for none.
        patterns: names that are wanted, `*` and `?` standing for other letters, from the root
            with a leading slash and otherwise from the namespace; none for all of the system.
    """
    if any(part.startswith("_") for part in name.split("/")):
        return False  # hidden, as those of actions
    prefix = namespace.rstrip("/") + "/"
    if not patterns:
        return name.startswith(prefix) or name in SHARED
    full = (text if text.startswith("/") else prefix + text for text in patterns)
    return any(fnmatchcase(name, text) for text in full)


def profile_for(offered: Iterable[QoSProfile]) -> QoSProfile:
    """Choose a quality of service in which every one of a topic's publishers is heard.

    Args:
        offered: what they offer.

    Returns:
        Reliable where all are, and with what they keep for late readers where all keep something.
    """
    profiles = list(offered)
    reliable = all(p.reliability is ReliabilityPolicy.RELIABLE for p in profiles)
    kept = all(p.durability is DurabilityPolicy.TRANSIENT_LOCAL for p in profiles)
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=DEPTH,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if kept else DurabilityPolicy.VOLATILE,
    )


@dataclass
class _Ear:
    """One topic that is listened to."""

    type: str
    kind: Any
    profile: QoSProfile
    subscription: Subscription[Any]
    new: DuplicateFilter


class Recorder(Node):
    """Listens to every wanted topic of the graph, also to those that come later.

    Attributes:
        failure: why nothing more can be written, None while all is well.
    """

    def __init__(
        self,
        namespace: str,
        patterns: Sequence[str],
        say: Callable[[str], object],
        wake: Callable[[], object],
    ) -> None:
        """Listen to nothing yet.

        Args:
            namespace: where the system lives, with a leading slash.
            patterns: see `is_wanted`.
            say: told in one line what is not recorded, and why.
            wake: called when `failure` was set.
        """
        super().__init__(
            "octo_reach_record",
            namespace=namespace,
            enable_rosout=False,
        )
        self.failure: OSError | None = None
        self._patterns = tuple(patterns)
        self._say = say
        self._wake = wake
        self._ears: dict[str, _Ear] = {}
        self._left_out: set[str] = set()
        self._flushed = time.monotonic()

    def begin(self, file: McapFile) -> None:
        """Record from now on.

        Args:
            file: where to; it must not be closed before the callbacks of this node have ended.
        """
        self._file = file
        # Everything that writes runs in the thread of the callbacks.
        self.create_timer(LOOK_PERIOD, self._look)

    def _look(self) -> None:
        """Look for new topics and new publishers, and let the file have what was written."""
        if self.failure is not None:
            return
        try:
            for name, _ in self.get_topic_names_and_types():
                if is_wanted(name, self.get_namespace(), self._patterns):
                    self._attend(name)
            if time.monotonic() - self._flushed >= FLUSH_PERIOD:
                self._flushed = time.monotonic()
                self._file.flush()
        except OSError as error:
            self._fail(error)

    def _attend(self, name: str) -> None:
        publishers = [
            info
            for info in self.get_publishers_info_by_topic(name)
            if (info.node_name, info.node_namespace) != (self.get_name(), self.get_namespace())
        ]
        if not publishers or name in self._left_out:
            return
        ear = self._ears.get(name)
        if ear is None:
            self._add(name, publishers)
            return
        profile = profile_for(info.qos_profile for info in publishers)
        if profile != ear.profile and not _hears_all(ear.profile, publishers):
            # A publisher that joined is not heard so. What is delivered twice counts once.
            self.destroy_subscription(ear.subscription)
            ear.profile = profile
            ear.subscription = self._listen(name, ear.kind, profile, ear.new)

    def _add(self, name: str, publishers: list[TopicEndpointInfo]) -> None:
        kind_name = publishers[0].topic_type
        try:
            kind = message_class(kind_name)
            definition = message_definition(kind)
        except LookupError as error:
            self._left_out.add(name)
            self._say(f"{name} is not recorded: {error}")
            return
        self._file.add_topic(
            name,
            kind_name,
            definition,
            offered_profiles(info.qos_profile for info in publishers),
            _type_hash(publishers[0]),
        )
        profile = profile_for(info.qos_profile for info in publishers)
        new = DuplicateFilter()
        subscription = self._listen(name, kind, profile, new)
        self._ears[name] = _Ear(kind_name, kind, profile, subscription, new)

    def _listen(
        self, name: str, kind: Any, profile: QoSProfile, new: DuplicateFilter
    ) -> Subscription[Any]:
        def hear(message: bytes, information: Any) -> None:
            # Where the middleware notes no time, one message cannot be told from another.
            known = information["source_timestamp"] and not new.is_new(information)
            if self.failure is None and not known:
                self._write(name, message, information)

        return self.create_subscription(
            kind,
            name,
            informed(hear),
            profile,
            raw=True,
            # Of a publisher that is not heard so the next look takes care: nobody need be warned.
            event_callbacks=SubscriptionEventCallbacks(incompatible_qos=lambda event: None),
        )

    def _write(self, name: str, message: bytes, information: Any) -> None:
        received = information["received_timestamp"] or time.time_ns()
        try:
            self._file.write(
                name,
                message,
                log_time=received,
                publish_time=information["source_timestamp"] or received,
                sequence=_sequence(information),
            )
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self.failure = error
        self._wake()


def _hears_all(profile: QoSProfile, publishers: Iterable[TopicEndpointInfo]) -> bool:
    """Tell whether a reader of this quality of service hears all of these publishers."""
    offered = [info.qos_profile for info in publishers]
    reliable = profile.reliability is not ReliabilityPolicy.RELIABLE or all(
        other.reliability is ReliabilityPolicy.RELIABLE for other in offered
    )
    kept = profile.durability is not DurabilityPolicy.TRANSIENT_LOCAL or all(
        other.durability is DurabilityPolicy.TRANSIENT_LOCAL for other in offered
    )
    return reliable and kept


def _type_hash(publisher: TopicEndpointInfo) -> str:
    """Give the hash of a topic's type as ROS 2 writes it, empty where it is not known."""
    found = publisher.topic_type_hash
    if found.version < 1:
        return ""
    return f"RIHS{found.version:02d}_{bytes(found.value).hex()}"


def _sequence(information: Any) -> int:
    """Give which of its publisher's messages this is, 0 where the middleware does not say."""
    number = information.get("publication_sequence_number") or 0
    return int(number) if 0 <= number < 2**32 else 0
