import pytest

from octo_reach.nodes.summary import (
    ArmSummary,
    CaptureCounter,
    RateMeter,
    Summary,
    count_of,
    list_arms,
)


def test_the_rate_is_that_of_the_last_two_seconds():
    meter = RateMeter()
    for step in range(100):
        meter.note(step * 0.1)  # 10 Hz for 10 s
    start = 99 * 0.1
    for step in range(1, 301):
        meter.note(start + step / 120)

    assert meter.rate(start + 300 / 120) == pytest.approx(120.0)
    assert meter.count == 400


def test_a_stream_that_falls_silent_has_no_rate():
    meter = RateMeter()
    for step in range(10):
        meter.note(step * 0.01)

    assert meter.rate(0.5) == pytest.approx(100.0)
    assert meter.rate(1.5) == 0.0


def test_one_event_makes_no_rate():
    meter = RateMeter()

    assert meter.rate(0.0) == 0.0
    meter.note(0.0)
    assert meter.rate(0.0) == 0.0


def test_a_capture_is_counted_once_however_often_it_is_reported():
    counter = CaptureCounter()
    counter.hear({5: (1, 12)})
    counter.hear({5: (1, 12), 6: (2, 20)})
    counter.hear({5: (1, 12), 6: (2, 20)})

    assert counter.counts == {1: 1, 2: 1}


def test_an_object_taken_again_is_another_capture():
    counter = CaptureCounter()
    counter.hear({5: (1, 12)})
    counter.hear({})
    counter.hear({5: (1, 12)})
    counter.hear({5: (3, 4)})

    assert counter.counts == {1: 2, 3: 1}


def test_simulated_time_follows_from_the_steps():
    assert Summary(steps=1200, wanted_rate=120.0).simulated_seconds == 10.0
    assert Summary(steps=1200).simulated_seconds is None


def test_a_run_has_started_when_an_arm_was_heard():
    assert not Summary(arms=(ArmSummary(1), ArmSummary(2))).started
    assert Summary(arms=(ArmSummary(1), ArmSummary(2, state="Idle"))).started


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([], ""),
        ([1], "arm_1"),
        ([1, 2], "arm_1, arm_2"),
        ([1, 2, 3, 4, 5, 6, 7, 8], "arm_1 ... arm_8"),
        ([1, 3, 4, 5, 12], "arm_1, arm_3 ... arm_5, arm_12"),
    ],
)
def test_arms_in_a_row_are_named_as_a_range(numbers, text):
    assert list_arms(numbers) == text


def test_one_thing_is_counted_in_the_singular():
    assert [count_of(number, "object") for number in (0, 1, 2)] == [
        "0 objects",
        "1 object",
        "2 objects",
    ]
