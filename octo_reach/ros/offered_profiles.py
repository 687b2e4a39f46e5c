"""Qualities of service as recordings of ROS 2 note them, so that a replay offers the same."""

from __future__ import annotations

from collections.abc import Iterable

import yaml
from rclpy.duration import Duration
from rclpy.qos import LivelinessPolicy, QoSProfile

_NANOSECONDS = 1_000_000_000
_FOR_EVER = 2**63 - 1
"""A duration without end, ns."""


def offered_profiles(profiles: Iterable[QoSProfile]) -> str:
    """Write down the qualities of service that a topic's publishers offer.

    A list in YAML, policies by their names in rmw, which rosbag2 reads since ROS 2 Jazzy.

    Args:
        profiles: those of each publisher.
    """
    return yaml.safe_dump([_entry(profile) for profile in profiles], sort_keys=False).rstrip("\n")


def _entry(profile: QoSProfile) -> dict[str, object]:
    liveliness = profile.liveliness
    if liveliness is LivelinessPolicy.SYSTEM_DEFAULT:
        liveliness = LivelinessPolicy.AUTOMATIC
    return {
        "history": profile.history.short_key,
        "depth": profile.depth,
        "reliability": profile.reliability.short_key,
        "durability": profile.durability.short_key,
        "deadline": _duration(profile.deadline),
        "lifespan": _duration(profile.lifespan),
        "liveliness": liveliness.short_key,
        "liveliness_lease_duration": _duration(profile.liveliness_lease_duration),
        "avoid_ros_namespace_conventions": profile.avoid_ros_namespace_conventions,
    }


def _duration(duration: Duration) -> dict[str, int]:
    # Zero says that nothing was said, which means for ever.
    seconds, rest = divmod(duration.nanoseconds or _FOR_EVER, _NANOSECONDS)
    return {"sec": seconds, "nsec": rest}
