"""When events are due, by the stamps of the arms."""

from __future__ import annotations

import pytest

from octo_reach.scenes.document import Event
from octo_reach.scenes.event_clock import NANOSECONDS, STEP, EventClock

START = 1_700_000_000 * NANOSECONDS


def events(*ticks):
    return [Event(tick, remove=number) for number, tick in enumerate(ticks, 1)]


def ticks(due):
    return [event.tick for event in due]


def test_nothing_is_due_before_a_stamp_is_heard():
    clock = EventClock(events(1))
    assert not clock.started
    assert (clock.tick, clock.left) == (0, 1)


def test_an_event_is_due_just_before_its_step():
    clock = EventClock(events(1, 2, 2, 30))
    assert ticks(clock.hear({1: START}, 0.0)) == [1]
    assert ticks(clock.hear({1: START + STEP}, 0.01)) == [2, 2]
    for step in range(2, 29):
        assert clock.hear({1: START + step * STEP}, 0.01) == []
    assert clock.tick == 29
    assert ticks(clock.hear({1: START + 29 * STEP}, 0.3)) == [30]
    assert clock.left == 0


@pytest.mark.parametrize("rate", [30, 60, 120, 250, 1000])
def test_time_counts_not_the_number_of_messages(rate):
    clock = EventClock(events(61))
    heard = []
    for message in range(rate):
        due = clock.hear({1: START + message * NANOSECONDS // rate}, 0.0)
        heard += [message / rate] * len(due)
    # At a higher rate than the model's there are messages between two of its steps.
    assert len(heard) == 1
    assert 59.5 / 120 <= heard[0] <= 0.5
    assert clock.seconds == pytest.approx((rate - 1) / rate)


def test_a_stamp_that_stands_still_lets_no_time_pass():
    clock = EventClock(events(2))
    for second in range(100):
        assert clock.hear({1: START}, float(second)) == []
    assert clock.seconds == 0.0


@pytest.mark.parametrize("jump", [-NANOSECONDS, -1, NANOSECONDS // 5, 3600 * NANOSECONDS])
def test_a_clock_that_jumps_counts_as_one_step(jump):
    clock = EventClock()
    clock.hear({1: START}, 0.0)
    clock.hear({1: START + jump}, 0.01)
    assert clock.tick == 2
    clock.hear({1: START + jump + STEP}, 0.02)
    assert clock.tick == 3


def test_lost_messages_up_to_a_tenth_of_a_second_lose_no_time():
    clock = EventClock()
    clock.hear({1: START}, 0.0)
    clock.hear({1: START + 12 * STEP}, 0.1)
    assert clock.tick == 13


def test_two_controllers_do_not_make_time_pass_twice():
    clock = EventClock()
    for step in range(121):
        clock.hear({1: START + step * STEP}, step / 120)
        clock.hear({2: START + step * STEP - 4_000_000, 3: START}, step / 120)
    assert clock.tick == 121


def test_another_arm_is_counted_once_the_first_is_silent():
    clock = EventClock()
    clock.hear({1: START}, 0.0)
    clock.hear({2: START + 50}, 0.9)
    assert clock.tick == 1
    clock.hear({2: START + 90}, 1.1)
    clock.hear({2: START + 90 + STEP}, 1.2)
    assert clock.tick == 3


def test_events_are_handed_out_once_and_again_after_a_restart():
    clock = EventClock(events(1, 3))
    for _ in range(2):
        handed = []
        for step in range(10):
            handed += ticks(clock.hear({1: START + step * STEP}, 0.0))
        assert handed == [1, 3]
        clock.restart()
        assert (clock.tick, clock.left) == (0, 2)


def test_a_message_without_arms_is_no_time():
    clock = EventClock(events(1))
    assert clock.hear({}, 0.0) == []
    assert not clock.started
