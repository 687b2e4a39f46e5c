"""What one arm is: its geometry and limits, where it stands, and the pose it starts in."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from octo_reach.model.geometry import Floats, wrap
from octo_reach.model.rules import ReachRules

FEWEST_SEGMENTS = 2
MOST_SEGMENTS = 100
OCTOPUS_ARMS = 8
BODY_RADIUS = 32.0
"""Distance of an octopus arm's base from the centre of the body, in pixels (seed 000)."""
DEFAULT_TARGET_TURN = 0.3
"""Angle between an arm's heading and the target of an arm that was given none, rad."""


def checked_number(what: str, value: object) -> float:
    """Give `value` as a float.

    Raises:
        ValueError: it is no number, or not finite; the text names `what` and the value.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(f"{what} must be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{what} must be finite, got an integer too large for a float") from None
    if not math.isfinite(number):
        raise ValueError(f"{what} must be finite, got {value!r}")
    return number


@dataclass(frozen=True)
class ArmParameters:
    """Geometry and limits of one arm (seed 000).

    Attributes:
        segment_count: number of segments, 2 to 100.
        segment_length: length of every segment, in the scene's unit.
        maximum_bend: largest bend of every joint but the base, rad, above 0 and at most pi.
        turning_speed: fastest change of any joint angle, rad/s.
    """

    segment_count: int = 20
    segment_length: float = 18.0
    maximum_bend: float = math.pi / 3.0
    turning_speed: float = 1.5

    def __post_init__(self) -> None:
        """Check every field.

        Raises:
            ValueError: a field is out of its range; the text names it, its value and the range.
        """
        count = self.segment_count
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)):
            raise ValueError(f"segment_count must be an integer, got {count!r}")
        if not FEWEST_SEGMENTS <= count <= MOST_SEGMENTS:
            raise ValueError(
                f"segment_count must be between {FEWEST_SEGMENTS} and {MOST_SEGMENTS}, got {count}"
            )
        length = checked_number("segment_length", self.segment_length)
        if length <= 0.0:
            raise ValueError(f"segment_length must be above 0, got {length!r}")
        bend = checked_number("maximum_bend", self.maximum_bend)
        if not 0.0 < bend <= math.pi:
            raise ValueError(f"maximum_bend must be above 0 and at most pi rad, got {bend!r}")
        speed = checked_number("turning_speed", self.turning_speed)
        if speed <= 0.0:
            raise ValueError(f"turning_speed must be above 0 rad/s, got {speed!r}")

    @property
    def reach(self) -> float:
        """Length of the straight arm, in the scene's unit."""
        return self.segment_count * self.segment_length


@dataclass(frozen=True)
class ArmPlacement:
    """One arm and where it stands.

    Attributes:
        number: the arm's number, from 1; the order in which arms are updated.
        parameters: geometry and limits.
        base: position of the fixed base, (x, y), in the scene's unit.
        heading: heading of the base joint at the start, rad.
        target: first target of the tip, (x, y), or None for an arm that starts idle.
    """

    number: int
    parameters: ArmParameters
    base: tuple[float, float] = (0.0, 0.0)
    heading: float = 0.0
    target: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Check every field.

        Raises:
            ValueError: the number is below 1, or a coordinate or the heading is not finite.
        """
        if isinstance(self.number, bool) or not isinstance(self.number, (int, np.integer)):
            raise ValueError(f"arm number must be an integer, got {self.number!r}")
        if self.number < 1:
            raise ValueError(f"arm number must be at least 1, got {self.number}")
        checked_position(f"base of arm {self.number}", self.base)
        checked_number(f"heading of arm {self.number}", self.heading)
        if self.target is not None:
            checked_position(f"target of arm {self.number}", self.target)

    def with_parameters(self, parameters: ArmParameters) -> ArmPlacement:
        """Give the same arm with other geometry and limits."""
        return replace(self, parameters=parameters)


def checked_position(what: str, position: object) -> tuple[float, float]:
    """Give `position` as a pair of floats.

    Raises:
        ValueError: it is no pair of finite numbers; the text names `what` and the value.
    """
    values = list(position) if isinstance(position, Iterable) else []
    if len(values) != 2:
        raise ValueError(f"{what} must be a pair (x, y), got {position!r}")
    x, y = values
    return checked_number(f"x of {what}", x), checked_number(f"y of {what}", y)


def initial_angles(parameters: ArmParameters, heading: float, rules: ReachRules) -> Floats:
    """Joint angles an arm starts with: its heading, then a gentle curve (seed 000).

    A straight arm aimed past a nearer target on its own line has no preferred side to fold to;
    the small consistent bend breaks that symmetry without randomness.

    Args:
        parameters: geometry and limits of the arm.
        heading: heading of the base, rad.
        rules: constants of the scene.

    Returns:
        Angles, shape (N,), rad.
    """
    curve = rules.turn_sign * min(rules.initial_curve, parameters.maximum_bend)
    angles: Floats = np.full(parameters.segment_count, curve)
    angles[0] = wrap(heading)
    return angles


def octopus_heading(number: int, rules: ReachRules) -> float:
    """Heading of arm `number` of an octopus, rad: eight in a ring, the first straight up.

    Args:
        number: arm number from 1; beyond eight the ring is gone round again.
        rules: constants of the scene; they know which way is up.
    """
    place = (number - 1) % OCTOPUS_ARMS
    return rules.turn_sign * (-math.pi / 2.0 + place * math.pi / 4.0)


def octopus_base(number: int, body: tuple[float, float], rules: ReachRules) -> tuple[float, float]:
    """Base of arm `number` of an octopus around `body`, (x, y) in the scene's unit (seed 000)."""
    heading = octopus_heading(number, rules)
    radius = BODY_RADIUS * rules.unit
    return body[0] + radius * math.cos(heading), body[1] + radius * math.sin(heading)


def default_target(
    base: tuple[float, float], heading: float, rules: ReachRules
) -> tuple[float, float]:
    """Target an arm shows while it was given none, (x, y) in the scene's unit (seed 000)."""
    direction = heading - rules.turn_sign * DEFAULT_TARGET_TURN
    distance = rules.default_target_distance
    return base[0] + distance * math.cos(direction), base[1] + distance * math.sin(direction)
