"""Numbers on the command line."""

from __future__ import annotations

import argparse
import math

import pytest

from octo_reach.commands import CommandError
from octo_reach.commands.arguments import (
    checked_seconds,
    number_of_seconds,
    seconds_of_run,
    whole_number,
)

LONG = pytest.param("9" * 5000, id="more digits than Python reads")


@pytest.mark.parametrize("text", ["", "0", "9", "-3", "1.5", "1_0", "\u0663", " 3", LONG])
def test_a_whole_number_out_of_bounds_or_spelled_otherwise_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match=r"^must be an integer from 1 to 8, got '"):
        whole_number(1, 8)(text)


def test_a_whole_number_within_bounds_is_read():
    assert [whole_number(1, 8)(text) for text in ("1", "8", "05")] == [1, 8, 5]


def test_a_rule_of_its_own_is_said():
    with pytest.raises(argparse.ArgumentTypeError, match=r"^must be ticks like 1,2, got 'x'$"):
        whole_number(0, 9, "ticks like 1,2")("x")


@pytest.mark.parametrize("text", ["nan", "soon", "", "inf", "-0.1", "20.1"])
def test_a_duration_that_no_run_lasts_is_refused(text):
    with pytest.raises(
        argparse.ArgumentTypeError, match=f"^must be a number of seconds, 0 or more, got '{text}'$"
    ):
        seconds_of_run(20.0)(text)


def test_a_duration_within_bounds_is_read():
    assert [seconds_of_run(20.0)(text) for text in ("0", "2.5", "20")] == [0.0, 2.5, 20.0]


def test_what_is_no_number_is_no_duration_whatever_is_allowed():
    with pytest.raises(argparse.ArgumentTypeError):
        number_of_seconds("", lambda number: True)("nan")


@pytest.mark.parametrize("text", ["0", "-1", "inf", "nan", "soon"])
def test_a_time_to_run_must_be_finite_and_above_0(text):
    with pytest.raises(CommandError, match=f"^--seconds must be a number above 0, got '{text}'$"):
        checked_seconds(text)


def test_left_out_it_runs_until_it_is_told_to_end():
    assert checked_seconds(None) == math.inf
    assert checked_seconds("0.5") == 0.5
