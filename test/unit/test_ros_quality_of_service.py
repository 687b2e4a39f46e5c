"""Qualities of service: what is kept, what is heard, and what is heard twice."""

# ruff: noqa: E402 - what is imported later may not be installed

import os
import time

import pytest

rclpy = pytest.importorskip("rclpy", reason="rclpy is not installed")

from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSCompatibility, ReliabilityPolicy, qos_check_compatible
from std_msgs.msg import String

from octo_reach.ros.quality_of_service import (
    INPUT,
    LATCHED,
    OBJECTS,
    OBJECTS_VOLATILE,
    STREAM,
    DuplicateFilter,
)

pytestmark = pytest.mark.ros

CEILING = 10.0


def test_everything_is_reliable_and_only_what_is_kept_is_transient_local():
    profiles = {
        "input": INPUT,
        "latched": LATCHED,
        "stream": STREAM,
        "objects": OBJECTS,
        "objects volatile": OBJECTS_VOLATILE,
    }
    assert all(profile.reliability == ReliabilityPolicy.RELIABLE for profile in profiles.values())
    kept = {
        name
        for name, profile in profiles.items()
        if profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
    }
    assert kept == {"latched", "objects"}
    assert (INPUT.depth, LATCHED.depth, STREAM.depth) == (10, 1, 10)


def test_the_two_readers_of_objects_hear_our_world_and_a_plain_publisher():
    def meet(publisher, reader):
        # A warning only says that a lease is left to the middleware.
        return qos_check_compatible(publisher, reader)[0] != QoSCompatibility.ERROR

    assert meet(LATCHED, OBJECTS)
    assert not meet(STREAM, OBJECTS)
    assert meet(LATCHED, OBJECTS_VOLATILE)
    assert meet(STREAM, OBJECTS_VOLATILE)


def test_the_filter_forgets_the_oldest_of_too_many():
    seen = DuplicateFilter(memory=2)
    stamps = [{"source_timestamp": stamp} for stamp in (1, 2, 3)]
    assert [seen.is_new(stamp) for stamp in stamps] == [True] * 3
    assert [seen.is_new(stamp) for stamp in stamps[1:]] == [False] * 2
    assert seen.is_new(stamps[0])


@pytest.fixture
def node(monkeypatch):
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    context = Context()
    rclpy.init(context=context, domain_id=60 + os.getpid() % 40)
    node = rclpy.create_node("listener", context=context)
    yield node
    node.destroy_node()
    rclpy.shutdown(context=context)


def test_a_message_read_both_ways_is_new_once_and_a_plain_one_is_not_lost(node):
    deliveries, seen = [], DuplicateFilter()
    topic = f"objects_of_test_{os.getpid()}"

    def note(message, information):
        deliveries.append((message.data, seen.is_new(information)))

    for profile in (OBJECTS, OBJECTS_VOLATILE):
        node.create_subscription(String, topic, note, profile)
    world = node.create_publisher(String, topic, LATCHED)
    person = node.create_publisher(String, topic, STREAM)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    end = time.monotonic() + CEILING

    def spin_until(done):
        while not done():
            assert time.monotonic() < end, f"only {deliveries} arrived in {CEILING:g} s"
            executor.spin_once(timeout_sec=0.05)

    spin_until(lambda: world.get_subscription_count() == 2)
    spin_until(lambda: person.get_subscription_count() >= 1)
    for count in range(3):
        world.publish(String(data=f"world {count}"))
        person.publish(String(data=f"person {count}"))
    spin_until(lambda: len(deliveries) >= 9)
    executor.shutdown()
    fresh = sorted(data for data, new in deliveries if new)
    assert fresh == sorted(f"{who} {count}" for who in ("world", "person") for count in range(3))
    assert len(deliveries) == 9
