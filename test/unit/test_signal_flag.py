"""A flag that signal handlers raise while somebody waits for it."""

import subprocess
import sys
import threading
import time

import pytest

from octo_reach.nodes.signal_flag import SignalFlag


@pytest.fixture
def flag():
    return SignalFlag()


def test_a_flag_is_up_from_the_time_it_is_raised_until_it_is_taken_down(flag):
    assert not flag.is_set()
    assert flag.wait(0.0) is False
    flag.set()
    flag.set()
    assert flag.is_set()
    assert flag.wait() is True
    flag.clear()
    assert not flag.is_set()
    assert flag.wait(0.0) is False
    flag.set()
    assert flag.wait(0.0) is True


def test_a_wait_lasts_as_long_as_it_may(flag):
    begun = time.monotonic()
    assert flag.wait(0.05) is False
    assert time.monotonic() - begun >= 0.05


def test_a_flag_raised_in_another_thread_ends_the_wait(flag):
    threading.Timer(0.05, flag.set).start()
    assert flag.wait(10.0) is True


def test_a_flag_raised_very_often_is_still_one_flag(flag):
    for _ in range(100_000):
        flag.set()
    flag.clear()
    assert flag.wait(0.0) is False


HAMMER = """
import signal, sys, time
from octo_reach.nodes.signal_flag import SignalFlag

flag = SignalFlag()
signal.signal(signal.SIGALRM, lambda number, frame: flag.set())
signal.setitimer(signal.ITIMER_REAL, 2e-4, 2e-4)
end = time.monotonic() + 0.5
raised = 0
while time.monotonic() < end:
    # Never longer than a moment, so that signals come at every place of a wait.
    raised += flag.wait(1e-4)
    flag.clear()
signal.setitimer(signal.ITIMER_REAL, 0.0)
print(raised)
"""


def test_signals_at_any_moment_of_a_wait_do_not_hang_it():
    done = subprocess.run(
        [sys.executable, "-c", HAMMER], capture_output=True, text=True, timeout=20, check=True
    )
    assert int(done.stdout) > 100
