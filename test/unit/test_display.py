import dataclasses
import io
import math
from datetime import datetime

import pytest
from rich.console import Console

from octo_reach.commands.children import Line
from octo_reach.commands.display import (
    COLUMNS,
    Display,
    draw_trace,
    fitting_columns,
    format_duration,
    format_end,
    format_length,
    format_plain,
    format_target,
)
from octo_reach.nodes.summary import ArmSummary, Summary

ARM = ArmSummary(
    number=1,
    state="Reaching",
    target=(0.15, -0.1),
    tip_error=0.0123,
    contacts=2,
    captures=3,
    holds="food 5",
    planner="neighbour",
)
STATES = (
    "Reaching", "Avoiding", "Blocked", "Contact", "Grasping", "Carrying", "Holding", "Reached"
)  # fmt: skip
EIGHT = Summary(
    arms=tuple(
        dataclasses.replace(ARM, number=number, state=state)
        for number, state in enumerate(STATES, start=1)
    ),
    rate=119.96,
    reported_rate=120.0,
    wanted_rate=120.0,
    steps=1488,
)


def warning(text: str, level: str = "WARN") -> Line:
    return Line("reach_controller", level, text, datetime(2000, 1, 1, 12, 30, 59))


def drawn(display: Display, summary: Summary, width: int = 80, height: int = 24) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(display.draw(summary, width, height))
    text = console.file.getvalue()
    return [line.rstrip() for line in text.splitlines()]


def test_eight_arms_fit_eighty_columns_with_all_that_matters():
    lines = drawn(Display(), EIGHT)

    assert lines[0].split() == [
        "arm",
        "state",
        "target",
        "(m)",
        "tip",
        "error",
        "contacts",
        "captures",
        "holds",
    ]
    first = "arm_1 Reaching 0.150 -0.100 12.3 mm 2 3 food 5"
    assert lines[1].split() == first.split()
    assert [line.split()[:2] for line in lines[1:9]] == [
        [f"arm_{number}", state] for number, state in enumerate(STATES, start=1)
    ]
    assert lines[-1] == "120.0 Hz of 120  0 missed  simulated 12.4 s"
    assert max(map(len, lines)) <= 80


def test_a_wide_terminal_shows_the_planner_and_the_course_of_the_error():
    display = Display()
    for second, error in enumerate([0.1, 0.05, 0.0]):
        arm = dataclasses.replace(ARM, tip_error=error)
        display.note_errors(dataclasses.replace(EIGHT, arms=(arm,)), float(second))
    lines = drawn(display, EIGHT, width=120)

    assert "neighbour" in lines[1]
    assert "█▅▁" in lines[1]
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize("height", [1, 2, 3, 8, 24])
def test_nothing_is_larger_than_the_terminal(height):
    display = Display()
    display.warn(warning("something that is rather long to say " * 5))
    summary = dataclasses.replace(EIGHT, problems=("reach_controller: the feed is late",))
    for width in (*range(1, 130), 300):
        lines = drawn(display, summary, width, height)

        assert len(lines) <= height
        assert max(map(len, lines)) <= max(width, COLUMNS[0].width)


def test_a_low_terminal_keeps_the_rate():
    lines = drawn(Display(), EIGHT, height=4)

    assert [line.split()[0] for line in lines] == ["arm", "arm_1", "arm_2", "120.0"]


def test_the_columns_that_go_first_are_those_that_matter_least():
    titles = [[COLUMNS[place].title for place in fitting_columns(width)] for width in (20, 34, 80)]

    assert titles == [
        ["arm", "state"],
        ["arm", "state", "tip error"],
        ["arm", "state", "target (m)", "tip error", "contacts", "captures", "holds"],
    ]


def test_an_arm_that_was_not_heard_has_a_row_of_its_own():
    lines = drawn(Display(), dataclasses.replace(EIGHT, arms=(ARM, ArmSummary(2))))

    assert lines[2].split() == ["arm_2", "…", "·", "·"]


def test_an_idle_arm_is_no_distance_away_from_where_nobody_sent_it():
    idle, holding = (dataclasses.replace(ARM, state=state) for state in ("Idle", "Holding"))
    lines = drawn(Display(), dataclasses.replace(EIGHT, arms=(idle, holding)))

    assert lines[1].split()[:5] == ["arm_1", "Idle", "0.150", "-0.100", "-"]
    assert "12.3 mm" in lines[2]


def test_before_the_arms_move_the_status_is_shown():
    display = Display()
    display.status = "compiling the kernels for the first time on this machine"
    lines = drawn(display, Summary(arms=(ArmSummary(1),)))

    assert lines[-1] == display.status


def test_problems_stand_below_the_rate_and_warnings_below_those():
    display = Display()
    display.warn(warning("rejected a target"))
    summary = dataclasses.replace(EIGHT, problems=("reach_controller: the feed is late",))

    assert drawn(display, summary, width=100)[-3:] == [
        "120.0 Hz of 120  0 missed  simulated 12.4 s",
        "reach_controller: the feed is late",
        "12:30:59 reach_controller: rejected a target",
    ]


def test_what_is_to_be_said_of_many_arms_is_said_once():
    summary = dataclasses.replace(
        EIGHT,
        arms=(
            *(dataclasses.replace(arm, note="no proposal yet") for arm in EIGHT.arms[:4]),
            dataclasses.replace(EIGHT.arms[4], note="lost"),
        ),
    )

    assert drawn(Display(), summary)[-2:] == [
        "arm_1 ... arm_4: no proposal yet",
        "arm_5: lost",
    ]
    assert "arm_5 Grasping 12.3 mm touches 2 captured 3 holds food 5 (lost)" in format_plain(
        summary
    )


def test_a_warning_that_comes_again_is_counted_and_only_the_latest_three_are_shown():
    display = Display()
    for text in ("one", "two", "three", "two", "four"):
        display.warn(warning(text))

    assert [line.split(": ")[1] for line in drawn(display, EIGHT)[-3:]] == [
        "three",
        "2x two",
        "four",
    ]


def test_pausing_and_rejections_are_told():
    summary = dataclasses.replace(EIGHT, paused=True, rejected=4)

    assert drawn(Display(), summary)[-1].startswith("paused  0 missed")
    assert drawn(Display(), summary)[-1].endswith("4 rejected")


def test_errors_are_traced_once_a_second_and_not_while_paused_or_at_rest():
    display = Display()
    for time in (0.0, 0.25, 0.5, 0.75, 1.0):
        display.note_errors(Summary(arms=(ARM,)), time)
    display.note_errors(Summary(arms=(ARM,), paused=True), 2.0)
    shown = drawn(display, Summary(arms=(ARM,)), width=120)[1]
    assert sum(character in "▁▂▃▄▅▆▇█" for character in shown) == 2

    display.note_errors(Summary(arms=(dataclasses.replace(ARM, state="Idle"),)), 3.0)
    display.note_errors(Summary(arms=(ARM,)), 4.0)
    assert "▅▅ ▅" in drawn(display, Summary(arms=(ARM,)), width=120)[1]


@pytest.mark.parametrize(
    ("metres", "text"),
    [
        (0.0, "0.0 mm"),
        (0.01234, "12.3 mm"),
        (0.9994, "999.4 mm"),
        (0.99951, "1 m"),
        (1.2345, "1.23 m"),
        (1e6, "1e+06 m"),
        (None, ""),
        (math.nan, ""),
    ],
)
def test_lengths_have_a_unit_that_suits_them(metres, text):
    assert format_length(metres) == text


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ((0.15, 0.1), "  0.150  0.100"),
        ((-0.15, 12.3), " -0.150 12.300"),
        ((1e6, -1e6), "  1e+06 -1e+06"),
        ((-4e-4, -0.0), "  0.000  0.000"),
        ((-6e-4, 4e-4), " -0.001  0.000"),
        (None, ""),
    ],
)
def test_targets_stand_in_two_columns(target, text):
    assert format_target(target) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0.0 s"), (12.44, "12.4 s"), (185.2, "3 min 05 s"), (7805.0, "2 h 10 min")],
)
def test_durations_are_as_long_as_need_be(seconds, text):
    assert format_duration(seconds) == text


def test_a_trace_is_low_where_the_arm_has_arrived_and_full_where_it_started():
    assert draw_trace([]) == ""
    assert draw_trace([0.004, 0.001]) == "▂▁"
    assert draw_trace([0.2, None, 0.1]) == "█ ▅"
    assert draw_trace([0.2, 0.1, 0.0]) == "█▅▁"


def test_a_plain_line_tells_it_all():
    idle = ArmSummary(3, state="Idle", target=(0.15, 0.1), tip_error=0.176)
    summary = dataclasses.replace(EIGHT, arms=(ARM, ArmSummary(2), idle))

    assert format_plain(summary) == (
        "12.4 s, 120.0 Hz, 0 missed, 3 captured"
        " | arm_1 Reaching 12.3 mm touches 2 captured 3 holds food 5"
        " | arm_2 not heard | arm_3 Idle -"
    )
    assert format_plain(Summary(arms=(ArmSummary(1),)), "starting") == "starting"


def test_the_last_line_counts_what_was_missed_and_captured():
    arm = dataclasses.replace(ARM, captures=1)
    summary = dataclasses.replace(EIGHT, arms=(arm,), missed_steps=1)

    end = "ended after 12.4 s of simulation: 1 step missed, 1 object captured"
    assert format_end(summary) == end
    several = dataclasses.replace(EIGHT, arms=(ARM,), missed_steps=2)
    assert format_end(several).endswith(": 2 steps missed, 3 objects captured")
    assert format_end(Summary(arms=(ArmSummary(1),))) == "ended before the arms moved"
