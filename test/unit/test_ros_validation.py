"""Rejections: their text, their count, and warnings that do not flood."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_reach.ros.validation import (
    CAUSES,
    FARTHEST,
    LARGEST_RADIUS,
    RejectedInput,
    RejectionLog,
    checked_coordinates,
    checked_radius,
)

BAD_NUMBERS = [math.nan, math.inf, -math.inf]


def test_a_rejection_names_topic_value_rule_and_cause():
    error = RejectedInput("arm_1/target", "not finite", "(nan, 0.0)", "a target must be finite")
    assert str(error) == "arm_1/target: a target must be finite, got (nan, 0.0) (not finite)"
    assert (error.topic, error.cause, error.value) == ("arm_1/target", "not finite", "(nan, 0.0)")
    assert isinstance(error, ValueError)


def test_a_value_without_end_is_cut():
    assert len(str(RejectedInput("objects", "unknown ns", "x" * 10_000, "rule"))) < 300


@pytest.mark.parametrize("bad", BAD_NUMBERS)
def test_coordinates_that_are_not_finite_are_rejected(bad):
    for pair in ((bad, 0.0), (0.0, bad)):
        with pytest.raises(RejectedInput) as caught:
            checked_coordinates("t", "a target", *pair)
        assert caught.value.cause == "not finite"


@pytest.mark.parametrize("far", [1.000001 * FARTHEST, -1e300])
def test_coordinates_beyond_the_scene_are_rejected(far):
    with pytest.raises(RejectedInput) as caught:
        checked_coordinates("t", "a target", 0.0, far)
    assert caught.value.cause == "out of range"


@given(st.floats(-FARTHEST, FARTHEST), st.floats(-FARTHEST, FARTHEST))
def test_coordinates_within_are_taken_as_they_are(x, y):
    assert checked_coordinates("t", "a target", x, y) == (x, y)


@pytest.mark.parametrize("diameter", [0.0, -0.0, -0.1, 5e-324, 2.1 * LARGEST_RADIUS])
def test_a_radius_that_is_none_or_absurd_is_rejected(diameter):
    with pytest.raises(RejectedInput) as caught:
        checked_radius("objects", "food 1", diameter, diameter)
    assert caught.value.cause == "bad radius"


@pytest.mark.parametrize("bad", BAD_NUMBERS)
def test_a_radius_that_is_not_finite_is_rejected(bad):
    for pair in ((bad, bad), (0.1, bad), (bad, 0.1)):
        with pytest.raises(RejectedInput) as caught:
            checked_radius("objects", "food 1", *pair)
        assert caught.value.cause == "not finite"


def test_an_ellipse_is_rejected_and_a_rounded_circle_is_not():
    assert checked_radius("objects", "food 1", 0.028, 0.028 * (1.0 + 6e-8)) == 0.014
    with pytest.raises(RejectedInput, match="same diameter"):
        checked_radius("objects", "food 1", 0.028, 0.0281)


def make_log():
    said, now = [], [100.0]
    return RejectionLog(said.append, interval=5.0, clock=lambda: now[0]), said, now


def rejection(topic="arm_1/target", cause="not finite"):
    return RejectedInput(topic, cause, "nan", "a rule")


def test_every_rejection_is_counted_by_its_cause():
    log, _, _ = make_log()
    for _ in range(1000):
        log.reject(rejection())
    log.reject(rejection(cause="bad id"))
    assert log.counts == {"not finite": 1000, "bad id": 1}
    assert log.total == 1001


def test_a_flood_is_warned_of_once_and_summed_up_later():
    log, said, now = make_log()
    for _ in range(5000):
        log.reject(rejection())
    assert len(said) == 1
    assert "arm_1/target" in said[0] and "nan" in said[0] and "a rule" in said[0]
    now[0] += 5.0
    log.reject(rejection())
    assert len(said) == 2
    assert "4999 more" in said[1]
    now[0] += 5.0
    log.reject(rejection())
    assert "more" not in said[2]


def test_one_topic_or_cause_does_not_hide_another():
    log, said, _ = make_log()
    log.reject(rejection())
    log.reject(rejection(topic="objects"))
    log.reject(rejection(cause="unknown frame"))
    assert len(said) == 3


def test_causes_are_short_and_unique():
    assert len(set(CAUSES)) == len(CAUSES)
    assert all(len(cause) < 20 for cause in CAUSES)
