import csv
import io
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_reach.batch import ProcessEngine, Row, SequentialEngine, Sweep, measure_run
from octo_reach.batch.comparison import (
    COLUMNS,
    median_interval,
    plan_comparison,
    reached_by_all,
    row_values,
    summarise,
    wilson_interval,
    write_runs,
)
from octo_reach.scenes import parse_scene
from octo_reach.scenes.running import run_scene

TIMES = ("update_us", "update_p99_us")


def scene(**more):
    return parse_scene(
        {
            "version": 1,
            "name": "One arm",
            "units": "metre",
            "layout": "listed",
            "obstacles": [{"position": [0.1, -0.2], "radius": 0.01}],
            "arms": [{"number": 3, "base": [0, 0], "target": {"position": [0.1, 0.2]}}],
            **more,
        }
    )


FAR = {"number": 3, "base": [0, 0], "target": {"position": [-0.3, 0.01]}}
SCENES = {"near": scene(), "behind": scene(arms=[FAR])}


def compared(scenes=SCENES, planners=("neighbour", "jacobian_dls"), ticks=360, engine=None):
    sweep = Sweep(plan_comparison(scenes, planners, ticks))
    sweep.run(engine or SequentialEngine())
    return sweep.rows()


def told(rows):
    """What rows say, but for the times of updates."""
    return [{k: v for k, v in row_values(row).items() if k not in TIMES} for row in rows]


# ------------------------------------------------------------------------------------- runs


def test_a_compared_run_measures_what_a_sweep_measures():
    for row in compared():
        (expected,) = measure_run(SCENES[row.scene], 360, row.planner)
        assert row.measures == expected


def test_joint_travel_is_the_turning_of_all_joints_until_the_tip_is_there():
    (row,) = compared({"near": SCENES["near"]}, ["neighbour"])
    last = round(120.0 * row.measures.seconds)
    poses = [octopus.arm(3).angles.copy() for octopus in run_scene(SCENES["near"], last)]
    assert 0 < last < 360
    assert row.joint_travel == pytest.approx(np.abs(np.diff(poses, axis=0)).sum())


def test_a_base_that_turns_past_the_half_circle_has_not_turned_all_the_way_back():
    west = {"number": 3, "heading_degrees": 175, "target": {"position": [-0.22, -0.18]}}
    (row,) = compared({"west": scene(arms=[west])}, ["jacobian_dls"])
    assert row.measures.reached
    assert row.joint_travel < 6.0


def test_an_arm_that_never_gets_there_is_followed_to_the_end():
    beyond = {"number": 3, "target": {"position": [1.0, 0.0]}}
    document = scene(arms=[beyond])
    (row,) = compared({"beyond": document}, ["neighbour"], 120)
    poses = [octopus.arm(3).angles.copy() for octopus in run_scene(document, 120)]
    assert row.measures.reached is False
    assert row.joint_travel == pytest.approx(np.abs(np.diff(poses, axis=0)).sum())


def test_travel_counts_from_the_event_that_sends_the_arm():
    event = {"tick": 61, "arm": 3, "reach": [0.1, 0.2]}
    late = scene(arms=[{"number": 3, "base": [0, 0]}], events=[event])
    (row,) = compared({"late": late}, ["neighbour"])
    (prompt,) = compared({"near": SCENES["near"]}, ["neighbour"])
    assert row.measures.seconds == prompt.measures.seconds
    assert row.joint_travel == pytest.approx(prompt.joint_travel)


def test_an_update_takes_time():
    for row in compared():
        assert row.update_us > 0.0
        assert row.update_p99_us > 0.0


def test_an_arm_that_is_sent_nowhere_is_no_part_of_the_comparison():
    idle = scene(arms=[{"number": 1}, {"number": 3, "target": {"position": [0.1, 0.2]}}])
    rows = compared({"idle": idle}, ["neighbour"])
    assert [row.joint_travel is None for row in rows] == [True, False]
    assert [summary.runs for summary in summarise(rows)] == [1]


def test_processes_and_repetitions_change_nothing_but_the_times():
    rows = told(compared())
    assert told(compared()) == rows
    assert told(compared(engine=ProcessEngine(2))) == rows


def test_seeds_give_the_same_targets_to_every_planner():
    sweep = Sweep(plan_comparison({"near": SCENES["near"]}, ["neighbour", "fabrik"], 5, [1, 2]))
    scenes = [run.scene_to_run() for run in sweep.runs]
    assert [(run.seed, run.planner) for run in sweep.runs] == [
        (1, "neighbour"),
        (1, "fabrik"),
        (2, "neighbour"),
        (2, "fabrik"),
    ]
    assert scenes[0] == scenes[1] != scenes[2] == scenes[3]


# -------------------------------------------------------------------------------- summaries


def test_a_summary_says_what_the_rows_say():
    rows = compared()
    neighbour, damped = summarise(rows)
    assert (neighbour.planner, damped.planner) == ("neighbour", "jacobian_dls")
    assert (neighbour.runs, neighbour.reached) == (2, 1)
    assert (damped.runs, damped.reached) == (2, 2)
    seconds = [row.measures.seconds for row in rows if row.planner == "jacobian_dls"]
    assert damped.seconds.value == pytest.approx(np.median(seconds))
    assert damped.slowest == max(seconds)
    gaps = [row.measures.clearance for row in rows if row.planner == "jacobian_dls"]
    assert damped.least_clearance == pytest.approx(1000.0 * min(gaps))


def test_gaps_of_pixel_scenes_are_millimetres_as_well():
    stone = {"position": [500, 300], "radius": 10}
    arm = {"number": 1, "base": [400, 425], "target": {"position": [550, 430]}}
    pixels = parse_scene(
        {"version": 1, "name": "Pixels", "layout": "listed", "obstacles": [stone], "arms": [arm]}
    )
    rows = compared({"pixels": pixels}, ["neighbour"], 10)
    (summary,) = summarise(rows)
    assert summary.least_clearance == pytest.approx(rows[0].measures.clearance)


def test_a_failed_run_counts_as_not_reached():
    rows = [*compared(), Row("broken", None, "neighbour", "metre", None, "ValueError: no")]
    neighbour, damped = summarise(rows)
    assert (neighbour.runs, neighbour.reached, neighbour.failed) == (3, 1, 1)
    assert neighbour.share.value == pytest.approx(1.0 / 3.0)
    assert damped.failed == 0


def test_planners_are_held_against_each_other_where_all_of_them_reached():
    rows = compared()
    shared = reached_by_all(rows)
    assert [(row.scene, row.planner) for row in shared] == [
        ("near", "neighbour"),
        ("near", "jacobian_dls"),
    ]
    assert [summary.runs for summary in summarise(shared)] == [1, 1]
    nobody = [replace(row, measures=replace(row.measures, reached=False)) for row in rows]
    assert reached_by_all(nobody) == []


@pytest.mark.parametrize(
    "successes, trials, low, high",
    # By the formula of the paper, worked out by hand with z = 1.96.
    [
        (0, 10, 0.0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (10, 10, 0.7225, 1.0),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_the_interval_of_wilson(successes, trials, low, high):
    interval = wilson_interval(successes, trials)
    assert interval.value == successes / trials
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-4)


@given(st.integers(0, 200), st.integers(1, 200))
def test_the_interval_of_wilson_lies_around_the_share_within_nothing_and_all(successes, trials):
    interval = wilson_interval(min(successes, trials), trials)
    assert 0.0 <= interval.low <= interval.value <= interval.high <= 1.0
    assert interval.low < interval.high


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=60))
def test_the_interval_of_a_median_holds_it_whatever_the_order(values):
    interval = median_interval(values)
    assert min(values) <= interval.low <= interval.value <= interval.high <= max(values)
    assert interval == median_interval(values[::-1])


def test_more_values_make_the_interval_of_a_median_narrower():
    few, many = (median_interval(np.linspace(0.0, 1.0, count).tolist()) for count in (20, 400))
    assert many.high - many.low < 0.4 * (few.high - few.low)


def test_the_interval_of_a_median_holds_the_true_one_about_as_often_as_it_says():
    random = np.random.default_rng(7)
    held = 0
    for _ in range(200):
        interval = median_interval(random.exponential(1.0, 40).tolist())
        held += interval.low <= math.log(2.0) <= interval.high
    assert 0.9 <= held / 200 <= 0.99


def test_of_nothing_there_is_no_interval():
    assert wilson_interval(0, 0) is None
    assert median_interval([]) is None


# ------------------------------------------------------------------------------------- table


def test_the_table_has_a_line_for_every_run_with_every_digit():
    rows = compared()
    rows.append(Row("broken", None, "neighbour", "metre", None, "ValueError: no"))
    stream = io.StringIO()
    write_runs(rows, stream)
    lines = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert tuple(lines[0]) == COLUMNS
    assert [line["error"] for line in lines] == [""] * 4 + ["ValueError: no"]
    assert float(lines[0]["joint_travel"]) == rows[0].joint_travel
    assert (lines[0]["reached"], lines[2]["reached"]) == ("true", "false")
    assert lines[2]["seconds"] == ""
