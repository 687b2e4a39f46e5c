import itertools
import json
import math
import os
import shutil
import subprocess
from itertools import pairwise

import pytest

from octo_reach import cli
from octo_reach.benchmarks import node
from octo_reach.benchmarks.node import Progress, judge, measured_scene, targets_of
from octo_reach.model.arm import initial_angles
from octo_reach.model.geometry import forward_kinematics, segment_distance
from octo_reach.scenes import load_scene
from octo_reach.scenes.writing import save_scene

REPORTS = [
    Progress(time=10.0, steps=1000, missed=7, worst_step=80.0),
    Progress(time=11.0, steps=1120, missed=0, worst_step=1.5),
    Progress(time=12.5, steps=1300, missed=3, worst_step=9.0),
]


def timing(latencies=(4.0, 6.0, 9.0), reports=REPORTS):
    return judge(8, 3, reports, 0.125, 0.5, latencies, 2)


def test_eight_arms_of_twenty_segments_stand_among_thirty_objects_and_touch_none():
    scene = measured_scene()
    arms = scene.placements()
    assert [arm.number for arm in arms] == list(range(1, 9))
    assert {arm.parameters.segment_count for arm in arms} == {20}
    assert len(scene.objects) == 30
    for arm in arms:
        angles = initial_angles(arm.parameters, arm.heading, scene.rules)
        joints, _ = forward_kinematics(arm.base, arm.parameters.segment_length, angles)
        for thing in scene.objects:
            gaps = [segment_distance(*a, *z, *thing.position) for a, z in pairwise(joints.tolist())]
            assert min(gaps) > thing.radius + scene.rules.arm_clearance


def test_the_scene_is_the_same_every_time_and_survives_its_file(tmp_path):
    save_scene(measured_scene(), tmp_path / "scene.yaml")
    read = load_scene(tmp_path / "scene.yaml")
    assert read.objects == measured_scene().objects
    assert read.placements() == measured_scene().placements()


def test_targets_lie_within_reach_differ_and_are_the_same_every_time():
    first, second = measured_scene().placements()[:2]
    targets = list(itertools.islice(targets_of(first), 200))
    assert targets == list(itertools.islice(targets_of(first), 200))
    assert not set(targets) & set(itertools.islice(targets_of(second), 200))
    for target in targets:
        distance = math.dist(target, first.base)
        assert node.NEAREST - 1e-9 <= distance / first.parameters.reach <= node.FARTHEST + 1e-9


def test_counting_begins_with_the_first_report():
    result = timing()
    assert result.steps == 300
    assert result.rate == 120.0
    assert result.missed == 3
    assert result.missed_share == 0.01
    assert result.worst_step_ms == 9.0


def test_one_report_is_refused():
    with pytest.raises(ValueError, match="at least two reports are needed, got 1"):
        timing(reports=REPORTS[:1])


def test_latencies_are_told_by_their_median_and_tail():
    result = timing(range(1, 102))
    assert (result.latency(50.0), result.latency(99.0)) == (51.0, 100.0)


def test_the_row_is_json_even_where_nothing_answered():
    row = json.loads(json.dumps(timing(()).row(), allow_nan=False))
    assert row["latency_median_ms"] is row["latency_p99_ms"] is None
    assert row["latencies"] == 0
    assert row["unanswered"] == 2
    assert row["processor_share"] == 0.125


def test_processor_time_is_that_of_the_process():
    tick = 2.0 / os.sysconf("SC_CLK_TCK")
    before = sum(os.times()[:2])
    seconds = node.processor_seconds(os.getpid())
    assert before - tick <= seconds <= sum(os.times()[:2]) + tick
    assert node.busy_seconds() >= seconds


def test_processor_time_is_read_whatever_the_process_is_called(tmp_path):
    program = tmp_path / "odd) R 1 1"
    program.symlink_to(shutil.which("sleep"))
    with subprocess.Popen([program, "10"]) as process:
        try:
            assert node.processor_seconds(process.pid) < 5.0
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (["--arms", "9"], "--arms: must be an integer from 1 to 8, got '9'"),
        (["--subscribers", "-1"], "--subscribers: must be an integer from 0 to 16, got '-1'"),
        (["--seconds", "nan"], "must be a number of seconds from 0.1 to 86400, got 'nan'"),
        (["--seconds", "soon"], "must be a number of seconds from 0.1 to 86400, got 'soon'"),
    ],
)
def test_sizes_that_cannot_be_are_refused(arguments, rule, capsys):
    with pytest.raises(SystemExit) as refusal:
        cli.main(["bench", "node", *arguments])
    assert refusal.value.code == 2
    assert rule in capsys.readouterr().err
