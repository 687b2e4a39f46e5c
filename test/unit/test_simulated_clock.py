"""The clock others live by."""

from __future__ import annotations

import math

import pytest

from octo_reach.nodes.simulated_clock import SimulatedClock

STEP = 1_000_000_000 / 120


def run(clock, seconds, begin=0.0, turn=0.001):
    """Look at a clock every millisecond; give how often it moved, and the end."""
    moves = 0
    for look in range(1, round(seconds / turn) + 1):
        moves += clock.advance(begin + look * turn)
    return moves, begin + seconds


def test_it_starts_at_one_step_since_no_time_means_no_clock():
    assert SimulatedClock(120.0, 1.0, 50.0).nanoseconds == round(STEP)


@pytest.mark.parametrize("factor", [0.1, 0.5, 1.0, 3.0, 7.5])
def test_it_runs_at_its_factor_step_by_step(factor):
    clock = SimulatedClock(120.0, factor, 0.0)
    moves, _ = run(clock, 2.0)
    assert moves == clock.steps - 1
    assert abs(clock.steps - 1 - 2.0 * factor * 120) <= 1


def test_a_very_fast_clock_takes_several_steps_at_a_time():
    clock = SimulatedClock(120.0, 100.0, 0.0)
    moves, _ = run(clock, 1.0)
    assert moves == 1000
    assert abs(clock.steps - 1 - 12000) <= 1


def test_time_is_exact_after_an_hour():
    clock = SimulatedClock(120.0, 1.0, 0.0)
    for tenth in range(1, 36001):
        clock.advance(tenth / 10)
    assert clock.steps == 1 + 3600 * 120
    assert clock.nanoseconds == 3600_000_000_000 + round(STEP)


def test_it_waits_until_the_next_step_is_due():
    clock = SimulatedClock(120.0, 0.5, 0.0)
    assert clock.wait(0.0) == pytest.approx(1 / 60)
    assert clock.wait(0.01) == pytest.approx(1 / 60 - 0.01)
    assert not clock.advance(1 / 60 - 1e-6)
    assert clock.advance(1 / 60 + 1e-6)
    assert clock.wait(1 / 60) == pytest.approx(1 / 60)
    assert clock.wait(1.0) == 0.0


def test_a_paused_clock_stands_still_and_owes_nothing_afterwards():
    clock = SimulatedClock(120.0, 1.0, 0.0)
    _, now = run(clock, 0.5)
    clock.pause(True, now)
    stopped = clock.steps
    moves, now = run(clock, 3.0, now)
    assert (moves, clock.steps, clock.wait(now)) == (0, stopped, math.inf)
    clock.pause(False, now)
    run(clock, 0.5, now)
    assert abs(clock.steps - stopped - 60) <= 1


def test_single_steps_are_for_a_paused_clock_only():
    clock = SimulatedClock(120.0, 1.0, 0.0)
    with pytest.raises(ValueError, match="pause it first"):
        clock.take_step()
    clock.pause(True, 0.0)
    clock.take_step()
    clock.take_step()
    assert clock.steps == 3


def test_a_new_factor_counts_from_now_on():
    clock = SimulatedClock(120.0, 1.0, 0.0)
    _, now = run(clock, 1.0)
    clock.set_factor(4.0, now)
    before = clock.steps
    run(clock, 1.0, now)
    assert abs(clock.steps - before - 480) <= 1


def test_a_process_that_stood_still_does_not_hurry_afterwards():
    clock = SimulatedClock(120.0, 1.0, 0.0)
    _, now = run(clock, 0.5)
    before = clock.steps
    clock.advance(now + 60.0)
    assert clock.steps - before <= 14
    run(clock, 0.5, now + 60.0)
    assert abs(clock.steps - before - 74) <= 3
