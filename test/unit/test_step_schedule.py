"""Deadlines of steps on clocks that run, tick, stand and jump."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from octo_reach.nodes.step_schedule import NANOSECONDS, StepSchedule

EPOCH = 1_796_000_000 * NANOSECONDS
"""A time of day as a system clock gives it, ns."""

PERIOD = NANOSECONDS / 120


def take_all(schedule):
    """Give the deadlines of all steps that are due at the last look."""
    deadlines = []
    while (deadline := schedule.take()) is not None:
        deadlines.append(deadline)
    return deadlines


def look(schedule, now, tick=0):
    schedule.look(now, tick)
    return take_all(schedule)


def test_nothing_is_due_at_the_first_look_and_one_step_a_period_later():
    schedule = StepSchedule(120.0, 0.1)
    assert look(schedule, EPOCH) == []
    assert schedule.wait(EPOCH) == pytest.approx(1 / 120, abs=1e-9)
    assert look(schedule, EPOCH + round(PERIOD) - 1) == []
    assert look(schedule, EPOCH + round(PERIOD)) == [EPOCH + round(PERIOD)]
    assert schedule.missed == schedule.dropped == 0


def test_before_the_first_look_nothing_is_due_and_nothing_is_waited_for():
    schedule = StepSchedule(120.0, 0.1)
    assert schedule.take() is None
    assert schedule.wait(EPOCH) == 0.0


@pytest.mark.parametrize("rate", [120.0, 100.0, 7.0, 59.94, 1000.0])
def test_deadlines_do_not_drift_over_three_days(rate):
    # Without catching up, every look gives just the newest deadline.
    schedule = StepSchedule(rate, 0.0)
    schedule.look(EPOCH)
    chance = random.Random(1)
    for now in sorted(EPOCH + chance.randrange(3 * 24 * 3600 * NANOSECONDS) for _ in range(2000)):
        deadlines = look(schedule, now)
        step = int((now - EPOCH) * Fraction(rate) / NANOSECONDS)
        if deadlines:
            exact = EPOCH + step * NANOSECONDS / Fraction(rate)
            assert abs(deadlines[0] - exact) <= 1
            assert deadlines[0] <= now < deadlines[0] + NANOSECONDS / rate + 1
    assert schedule.dropped > 1900


def test_an_hour_of_late_looks_takes_every_step_once_in_time_and_in_order():
    schedule = StepSchedule(120.0, 0.1)
    chance = random.Random(2)
    now = EPOCH
    schedule.look(now)
    steps = 0
    latest = now
    while now < EPOCH + 3600 * NANOSECONDS:
        now += chance.randrange(round(2.5 * PERIOD))
        for deadline in look(schedule, now):
            assert latest < deadline <= now
            latest = deadline
            steps += 1
    assert steps == int((now - EPOCH) * 120 / NANOSECONDS)
    assert schedule.dropped == 0
    assert latest == EPOCH + round(steps * PERIOD)


def test_a_delay_is_caught_up_to_the_cap_and_the_rest_is_dropped_and_counted():
    schedule = StepSchedule(120.0, 0.1)
    schedule.look(EPOCH)
    now = EPOCH + NANOSECONDS
    deadlines = look(schedule, now)
    assert len(deadlines) == 12
    assert deadlines[-1] == now
    assert schedule.dropped == 108
    assert schedule.dropped_time == pytest.approx(0.9)
    assert schedule.missed == 119
    assert look(schedule, now + round(PERIOD)) == [now + round(PERIOD)]
    assert schedule.dropped == 108


def test_a_delay_within_the_cap_loses_nothing():
    schedule = StepSchedule(120.0, 0.1)
    schedule.look(EPOCH)
    assert len(look(schedule, EPOCH + NANOSECONDS // 10)) == 12
    assert schedule.missed == 11
    assert schedule.dropped == 0


def test_without_catching_up_the_newest_step_is_taken_all_the_same():
    schedule = StepSchedule(120.0, 0.0)
    schedule.look(EPOCH)
    assert look(schedule, EPOCH + NANOSECONDS) == [EPOCH + NANOSECONDS]
    assert schedule.dropped == 119


def test_what_becomes_due_while_steps_are_taken_waits_for_the_next_look():
    schedule = StepSchedule(120.0, 0.1)
    schedule.look(EPOCH)
    schedule.look(EPOCH + round(2 * PERIOD))
    assert schedule.take() == EPOCH + round(PERIOD)
    assert schedule.wait(EPOCH + round(2 * PERIOD)) == 0.0
    assert schedule.take() == EPOCH + round(2 * PERIOD)
    assert schedule.take() is None
    assert schedule.wait(EPOCH + round(2 * PERIOD)) == pytest.approx(1 / 120, abs=1e-8)


def test_steps_that_are_still_owed_at_the_next_look_are_missed_only_once():
    schedule = StepSchedule(120.0, 0.1)
    schedule.look(EPOCH)
    schedule.look(EPOCH + round(10 * PERIOD))
    assert schedule.missed == 9
    assert schedule.take() == EPOCH + round(PERIOD)
    schedule.look(EPOCH + round(10.5 * PERIOD))
    assert schedule.missed == 9
    schedule.look(EPOCH + round(11.5 * PERIOD))
    assert schedule.missed == 10
    assert len(take_all(schedule)) == 10
    schedule.look(EPOCH + round(12.5 * PERIOD))
    assert schedule.missed == 10


def test_a_clock_that_jumps_back_is_noticed_and_followed_from_there():
    schedule = StepSchedule(120.0, 0.1)
    schedule.look(EPOCH)
    look(schedule, EPOCH + NANOSECONDS // 20)
    earlier = EPOCH - 100 * NANOSECONDS
    assert schedule.look(earlier) is True
    assert take_all(schedule) == []
    assert schedule.look(earlier) is False
    assert look(schedule, earlier + round(PERIOD)) == [earlier + round(PERIOD)]
    assert schedule.dropped == 0


def test_a_clock_that_stands_owes_nothing():
    schedule = StepSchedule(120.0, 0.1)
    schedule.look(EPOCH)
    look(schedule, EPOCH + round(PERIOD))
    for _ in range(100):
        assert look(schedule, EPOCH + round(PERIOD)) == []
    assert schedule.missed == 0


def test_a_coarse_clock_gives_every_step_none_ahead_of_it_and_none_missed():
    tick = NANOSECONDS // 10
    schedule = StepSchedule(120.0, 0.1)
    schedule.look(EPOCH)
    taken = []
    for count in range(1, 101):
        now = EPOCH + count * tick
        deadlines = look(schedule, now, tick)
        assert len(deadlines) == 12
        assert deadlines[-1] <= now
        taken += deadlines
    assert taken == [EPOCH + round(step * PERIOD) for step in range(1, 1201)]
    assert schedule.missed == schedule.dropped == 0


@pytest.mark.parametrize("hertz", [50, 100, 110, 125, 250, 1000])
def test_a_clock_of_any_grain_gives_120_steps_a_second(hertz):
    tick = NANOSECONDS // hertz
    schedule = StepSchedule(120.0, 0.1)
    schedule.look(EPOCH)
    steps = sum(len(look(schedule, EPOCH + count * tick, tick)) for count in range(1, 60 * hertz))
    assert steps == pytest.approx(60 * 120, abs=3)
    assert schedule.missed == schedule.dropped == 0


def test_steps_missed_by_somebody_who_slept_over_ticks_are_counted():
    tick = round(PERIOD)
    schedule = StepSchedule(120.0, 0.1)
    schedule.look(EPOCH)
    assert len(look(schedule, EPOCH + 6 * tick, tick)) in (5, 6)
    assert schedule.missed in (3, 4)


def test_a_tick_over_an_hour_is_dropped_to_the_cap():
    hour = 3600 * NANOSECONDS
    schedule = StepSchedule(120.0, 0.1)
    schedule.look(EPOCH)
    assert len(look(schedule, EPOCH + hour, hour)) == 12
    assert schedule.dropped == 3600 * 120 - 12
    assert schedule.dropped_time == pytest.approx(3599.9)
    assert schedule.missed == 0


def test_nothing_is_owed_for_a_rest():
    schedule = StepSchedule(120.0, 0.1)
    schedule.look(EPOCH)
    later = EPOCH + 60 * NANOSECONDS
    assert schedule.rest(later) is False
    assert look(schedule, later) == []
    assert look(schedule, later + round(PERIOD)) == [later + round(PERIOD)]
    assert schedule.missed == schedule.dropped == 0


def test_a_jump_back_during_a_rest_is_noticed():
    schedule = StepSchedule(120.0, 0.1)
    schedule.look(EPOCH)
    schedule.rest(EPOCH + NANOSECONDS)
    assert schedule.rest(EPOCH) is True
    assert schedule.rest(EPOCH) is False


def test_another_rate_counts_from_the_next_look_and_keeps_the_counts():
    schedule = StepSchedule(120.0, 0.1)
    schedule.look(EPOCH)
    look(schedule, EPOCH + NANOSECONDS)
    missed, dropped = schedule.missed, schedule.dropped
    schedule.change(10.0, 0.2)
    assert schedule.take() is None
    later = EPOCH + 2 * NANOSECONDS
    assert look(schedule, later) == []
    assert look(schedule, later + NANOSECONDS // 10) == [later + NANOSECONDS // 10]
    assert schedule.period == pytest.approx(0.1)
    assert (schedule.missed, schedule.dropped) == (missed, dropped)
    assert len(look(schedule, later + NANOSECONDS)) == 2


def test_another_clock_is_no_jump_and_owes_nothing():
    schedule = StepSchedule(120.0, 0.1)
    schedule.look(EPOCH)
    schedule.restart()
    assert schedule.look(0) is False
    schedule.restart()
    assert schedule.look(EPOCH) is False
    assert take_all(schedule) == []
    assert schedule.dropped == 0
