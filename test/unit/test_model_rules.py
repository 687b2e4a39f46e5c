import math
from dataclasses import replace

import pytest

from octo_reach.model.rules import LENGTHS, KernelRules, ReachRules

SEED_VALUES = {
    "unit": 1.0,
    "turn_sign": 1.0,
    "reach_tolerance": 2.0,
    "sensor_radius": 3.0,
    "arm_clearance": 3.0,
    "steering_margin": 8.0,
    "waypoint_margin": 5.0,
    "boundary_step": 0.4,
    "lookahead_segments": 3.0,
    "sample_travel": 2.0,
    "geometry_tolerance": 1e-8,
    "direction_tolerance": 1e-9,
    "detach_tolerance": 1e-6,
    "steering_response": 20.0,
    "initial_curve": 0.06,
    "grasp_dwell": 0.25,
    "carry_tolerance": 2.0,
    "retract_distance": 40.0,
    "default_target_distance": 180.0,
}
ANGLES_AND_TIMES = (
    "boundary_step",
    "lookahead_segments",
    "steering_response",
    "initial_curve",
    "grasp_dwell",
)


def test_a_pixel_scene_has_the_constants_of_the_seed():
    assert vars(ReachRules.pixel()) == SEED_VALUES


def test_a_metre_scene_has_every_length_in_millimetres_and_turns_the_other_way():
    metre = vars(ReachRules.metre())
    assert metre.pop("turn_sign") == -1.0
    for name, value in metre.items():
        factor = 1.0 if name in ANGLES_AND_TIMES else 0.001
        assert value == pytest.approx(SEED_VALUES[name] * factor, rel=1e-15), name


def test_another_size_of_a_pixel_scales_every_length_and_nothing_else():
    coarse = ReachRules.metre(0.01)
    for name, value in vars(coarse).items():
        ratio = value / getattr(ReachRules.metre(), name)
        assert ratio == pytest.approx(10.0 if name in LENGTHS else 1.0), name


def test_one_constant_can_be_replaced():
    assert replace(ReachRules.pixel(), reach_tolerance=0.5).reach_tolerance == 0.5


@pytest.mark.parametrize("name", SEED_VALUES)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_constant_that_is_not_finite_is_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"{name} must be finite, got {value!r}"):
        ReachRules(**{name: value})


@pytest.mark.parametrize("name", sorted(set(SEED_VALUES) - {"turn_sign"}))
def test_a_negative_constant_is_refused_by_name(name):
    with pytest.raises(ValueError, match=f"{name} must .*got -0.5"):
        ReachRules(**{name: -0.5})


@pytest.mark.parametrize("name", ["unit", "reach_tolerance", "sample_travel", "lookahead_segments"])
def test_a_constant_the_rules_divide_by_or_look_along_must_not_be_zero(name):
    with pytest.raises(ValueError, match=f"{name} must be above 0, got 0.0"):
        ReachRules(**{name: 0.0})


@pytest.mark.parametrize("sign", [0.0, 2.0, -0.5])
def test_a_turn_sign_is_one_way_or_the_other(sign):
    with pytest.raises(ValueError, match=f"turn_sign must be 1 or -1, got {sign}"):
        ReachRules(turn_sign=sign)


def test_the_kernels_get_the_same_numbers_as_floats():
    rules = ReachRules(reach_tolerance=7)
    kernel_rules = rules.for_kernels()
    for name in KernelRules._fields:
        assert getattr(kernel_rules, name) == getattr(rules, name)
        assert type(getattr(kernel_rules, name)) is float
