import math

import numpy as np
import pytest

from octo_reach.model.arm import (
    ArmParameters,
    ArmPlacement,
    checked_number,
    checked_position,
    default_target,
    initial_angles,
    octopus_base,
    octopus_heading,
)
from octo_reach.model.rules import ReachRules

PIXEL = ReachRules.pixel()
METRE = ReachRules.metre()


def test_parameters_left_out_are_those_of_a_single_arm():
    parameters = ArmParameters()
    assert parameters.segment_count == 20
    assert parameters.segment_length == 18.0
    assert parameters.maximum_bend == pytest.approx(math.radians(60.0))
    assert parameters.turning_speed == 1.5
    assert parameters.reach == 360.0


@pytest.mark.parametrize("count", [2, 100, np.int64(7)])
def test_two_to_a_hundred_segments_are_taken(count):
    assert ArmParameters(segment_count=count).segment_count == count


@pytest.mark.parametrize("bend", [1e-9, math.pi])
def test_a_bend_may_be_as_large_as_pi(bend):
    assert ArmParameters(maximum_bend=bend).maximum_bend == bend


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("segment_count", 1, "segment_count must be between 2 and 100, got 1"),
        ("segment_count", 101, "segment_count must be between 2 and 100, got 101"),
        ("segment_count", 20.0, "segment_count must be an integer, got 20.0"),
        ("segment_count", True, "segment_count must be an integer, got True"),
        ("segment_length", 0.0, "segment_length must be above 0, got 0.0"),
        ("segment_length", -3, "segment_length must be above 0, got -3.0"),
        ("segment_length", math.nan, "segment_length must be finite, got nan"),
        ("segment_length", "12", "segment_length must be a number, got '12'"),
        ("maximum_bend", 0.0, "maximum_bend must be above 0 and at most pi rad, got 0.0"),
        ("maximum_bend", 3.2, "maximum_bend must be above 0 and at most pi rad, got 3.2"),
        ("maximum_bend", math.inf, "maximum_bend must be finite, got inf"),
        ("turning_speed", 0.0, "turning_speed must be above 0 rad/s, got 0.0"),
        ("turning_speed", -1.0, "turning_speed must be above 0 rad/s, got -1.0"),
        ("turning_speed", 10**400, "turning_speed must be finite, got an integer too large"),
    ],
)
def test_parameters_out_of_range_are_refused_by_name_and_value(field, value, text):
    with pytest.raises(ValueError, match=f"^{text}"):
        ArmParameters(**{field: value})


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"number": 0}, "arm number must be at least 1, got 0"),
        ({"number": 1.0}, "arm number must be an integer, got 1.0"),
        ({"number": True}, "arm number must be an integer, got True"),
        ({"number": 3, "base": (0.0, math.nan)}, "y of base of arm 3 must be finite, got nan"),
        ({"number": 3, "base": (0.0,)}, r"base of arm 3 must be a pair \(x, y\), got \(0.0,\)"),
        ({"number": 3, "heading": math.inf}, "heading of arm 3 must be finite, got inf"),
        ({"number": 3, "target": ("a", 1.0)}, "x of target of arm 3 must be a number, got 'a'"),
    ],
)
def test_a_placement_out_of_range_is_refused_by_name_and_value(fields, text):
    with pytest.raises(ValueError, match=f"^{text}"):
        ArmPlacement(parameters=ArmParameters(), **fields)


def test_numbers_are_checked_and_given_as_floats():
    assert checked_number("x", np.float32(1.5)) == 1.5
    assert type(checked_number("x", 3)) is float
    with pytest.raises(ValueError, match="x must be a number, got None"):
        checked_number("x", None)
    with pytest.raises(ValueError, match="x must be a number, got True"):
        checked_number("x", True)


def test_positions_are_checked_and_given_as_pairs():
    assert checked_position("there", np.array([1.0, 2.0])) == (1.0, 2.0)
    for wrong in (5.0, "ab", (1.0, 2.0, 3.0), None):
        with pytest.raises(ValueError, match="there must be"):
            checked_position("there", wrong)


def test_an_arm_starts_with_its_heading_and_a_gentle_curve():
    angles = initial_angles(ArmParameters(segment_count=5), 0.5, PIXEL)
    assert angles.tolist() == [0.5, 0.06, 0.06, 0.06, 0.06]


def test_the_curve_lies_on_the_other_side_where_y_points_up():
    angles = initial_angles(ArmParameters(segment_count=3), 0.5, METRE)
    assert angles.tolist() == [0.5, -0.06, -0.06]


def test_the_curve_never_exceeds_the_largest_bend():
    angles = initial_angles(ArmParameters(segment_count=3, maximum_bend=0.01), 0.0, PIXEL)
    assert angles.tolist() == [0.0, 0.01, 0.01]


def test_a_heading_of_many_turns_is_wrapped():
    angles = initial_angles(ArmParameters(segment_count=2), 5.0 * math.pi + 0.1, PIXEL)
    assert angles[0] == pytest.approx(-math.pi + 0.1)


@pytest.mark.parametrize("rules", [PIXEL, METRE])
def test_the_first_arm_of_an_octopus_points_up_on_the_screen(rules):
    x, y = octopus_base(1, (10.0, 20.0), rules)
    assert x == pytest.approx(10.0)
    assert y == pytest.approx(20.0 - rules.turn_sign * 32.0 * rules.unit)
    assert octopus_heading(1, rules) == rules.turn_sign * -math.pi / 2.0


def test_eight_arms_stand_in_a_ring_clockwise_on_the_screen():
    for number in range(1, 9):
        heading = -math.pi / 2.0 + (number - 1) * math.pi / 4.0
        assert octopus_heading(number, PIXEL) == pytest.approx(heading)
        assert octopus_heading(number, METRE) == pytest.approx(-heading)
        x, y = octopus_base(number, (0.0, 0.0), PIXEL)
        assert math.hypot(x, y) == pytest.approx(32.0)
        assert math.atan2(y, x) == pytest.approx(math.remainder(heading, math.tau))


def test_a_ninth_arm_goes_round_the_ring_again():
    assert octopus_heading(9, PIXEL) == octopus_heading(1, PIXEL)
    assert octopus_base(12, (1.0, 2.0), METRE) == octopus_base(4, (1.0, 2.0), METRE)


@pytest.mark.parametrize("rules", [PIXEL, METRE])
def test_an_arm_without_a_target_is_shown_one_ahead_a_little_to_its_side(rules):
    x, y = default_target((1.0, 2.0), 0.5, rules)
    distance = 180.0 * rules.unit
    assert x == pytest.approx(1.0 + distance * math.cos(0.5 - 0.3 * rules.turn_sign))
    assert y == pytest.approx(2.0 + distance * math.sin(0.5 - 0.3 * rules.turn_sign))
