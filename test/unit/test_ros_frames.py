"""Names of frames and joints, and rigid places in a frame."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("transforms3d", reason="transforms3d is not installed")

from octo_reach.ros.frames import (
    arm_frame,
    arm_name,
    base_frame,
    is_world,
    joint_name,
    joint_names,
    offset_in_frame,
    parse_arm_name,
    parse_base_frame,
    parse_frame,
    parse_joint_name,
    position_in_world,
    segment_frame,
    tip_frame,
)

NUMBERS = st.integers(1, 999_999_999)
LENGTHS = st.floats(-10.0, 10.0)


def test_names_are_spelled_as_the_interface_says():
    assert arm_name(1) == "arm_1"
    assert base_frame(1) == "arm_1/base"
    assert segment_frame(1, 12) == arm_frame(1, 12) == "arm_1/segment_12"
    assert tip_frame(8) == "arm_8/tip"
    assert joint_names(2, 3) == ["arm_2/joint_1", "arm_2/joint_2", "arm_2/joint_3"]


@given(NUMBERS, NUMBERS)
def test_a_name_is_read_back_to_its_numbers(arm, part):
    assert parse_arm_name(arm_name(arm)) == arm
    assert parse_base_frame(base_frame(arm)) == arm
    assert parse_frame(segment_frame(arm, part)) == (arm, part)
    assert parse_joint_name(joint_name(arm, part)) == (arm, part)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "world",
        "arm_0/segment_1",
        "arm_1/segment_0",
        "arm_01/segment_1",
        "arm_1/segment_-1",
        "arm_1/segment_1 ",
        "arm_1/segment_1\n",
        "/arm_1/segment_1",
        "x/arm_1/segment_1",
        "arm_1/segment_",
        "arm_1/base",
        "arm_1/tip",
        "arm_1/segment_\u0661",
        "arm_1/segment_1_start",
        "arm_1/segment_12345678901",
        "ARM_1/SEGMENT_1",
    ],
)
def test_what_is_no_segment_frame_is_not_read_as_one(name):
    assert parse_frame(name) is None


@pytest.mark.parametrize("name", ["", "arm_1", "arm_1/joint_0", "joint_1", "arm_1/joint_1/x"])
def test_what_is_no_joint_is_not_read_as_one(name):
    assert parse_joint_name(name) is None


def test_an_empty_frame_means_the_world():
    assert is_world("") and is_world("world")
    assert not is_world("/world") and not is_world("map")


@given(LENGTHS, LENGTHS, LENGTHS, LENGTHS, st.floats(-10.0, 10.0))
def test_a_place_in_a_frame_comes_back_from_the_world(x, y, along, across, heading):
    place = position_in_world((along, across), (x, y), heading)
    assert math.dist(place, (x, y)) == pytest.approx(math.hypot(along, across), abs=1e-12)
    assert offset_in_frame(place, (x, y), heading) == pytest.approx((along, across), abs=1e-12)


def test_an_offset_along_a_frame_that_looks_up_lies_above_it():
    assert position_in_world((2.0, 1.0), (5.0, 5.0), math.pi / 2.0) == pytest.approx((4.0, 7.0))
