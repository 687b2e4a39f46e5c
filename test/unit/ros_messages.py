"""What the tests of messages share: a strict look at a message, and an octopus worth reporting."""

from __future__ import annotations

import math
import os

# The message classes look at this when they are imported: with it, a wrong type is an error.
os.environ.setdefault("ROS_PYTHON_CHECK_FIELDS", "1")

from builtin_interfaces.msg import Time
from rclpy.serialization import deserialize_message, serialize_message

from octo_reach.model.arm import (
    ArmParameters,
    ArmPlacement,
    octopus_base,
    octopus_heading,
)
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind

STEP = 1.0 / 120.0
RULES = ReachRules.metre()
STAMP = Time(sec=12, nanosec=500)


def received(message):
    """Give a message as its reader gets it.

    An integer or a numpy number in a float field leaves as garbage without a word, so what arrives
    is compared with what was sent, field by field.
    """
    copy = deserialize_message(serialize_message(message), type(message))
    assert_alike(message, copy, type(message).__name__)
    return copy


def filled(builder, *arguments, **settings):
    """Give what a builder of bytes says, as its reader gets it."""
    return deserialize_message(builder.fill(*arguments, **settings), builder.kind)


def assert_alike(sent, got, where):
    if hasattr(sent, "get_fields_and_field_types"):
        for field in sent.get_fields_and_field_types():
            assert_alike(getattr(sent, field), getattr(got, field), f"{where}.{field}")
    elif isinstance(sent, float):
        same = math.isclose(sent, got, rel_tol=1e-6) or (math.isnan(sent) and math.isnan(got))
        assert type(sent) is float and same, f"{where}: sent {sent!r}, got {got!r}"
    elif isinstance(sent, (str, bytes, int)):
        assert sent == got, f"{where}: sent {sent!r}, got {got!r}"
    else:
        assert len(sent) == len(got), where
        for place, (one, other) in enumerate(zip(sent, got, strict=True)):
            assert_alike(one, other, f"{where}[{place}]")


def make_octopus(numbers=(1, 2, 3), segment_count=20, planners=None):
    """Give arms around the origin, each with a target of its own."""
    placements = [
        ArmPlacement(
            number,
            ArmParameters(segment_count, 0.012),
            octopus_base(number, (0.0, 0.0), RULES),
            octopus_heading(number, RULES),
            (0.15 * math.cos(number), 0.15 * math.sin(number)),
        )
        for number in numbers
    ]
    return Octopus(placements, RULES, planners)


def make_grasping_octopus(seconds=1.0):
    """Give an octopus of one arm with food in the bend of its tenth segment, stepped on.

    After the default second the food is held.
    """
    octopus = make_octopus((1,))
    x, y = octopus.arm(1).joints[10].tolist()
    octopus.add_object(ObjectKind.FOOD, (x, y), 0.01, number=5)
    for _ in range(round(seconds / STEP)):
        octopus.step(STEP)
    return octopus
