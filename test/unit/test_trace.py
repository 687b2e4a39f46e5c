from __future__ import annotations

import io
import json

import pytest

from octo_reach.model.octopus import Octopus
from octo_reach.scenes import build_octopus, parse_scene
from octo_reach.scenes.running import run_scene
from octo_reach.scenes.trace import TraceWriter, trace_entry

SCENE = {
    "version": 1,
    "name": "traced",
    "layout": "listed",
    "food": [{"position": [60, 0], "radius": 20}],
    "hazards": [{"position": [200, 60], "radius": 20}],
    "arms": [
        {"number": 7, "base": [0, 0], "heading_degrees": 0, "target": {"position": [60, 0]}},
        {"number": 2, "base": [500, 500], "heading_degrees": 90},
    ],
}


def after(ticks: int, scene: dict = SCENE) -> Octopus:
    *_, octopus = run_scene(parse_scene(scene), ticks)
    return octopus


def lines(ticks: int, **choice) -> list[dict]:
    stream = io.StringIO()
    writer = TraceWriter(stream, ticks, **choice)
    for octopus in run_scene(parse_scene(SCENE), ticks):
        writer.write(octopus)
    text = stream.getvalue()
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def test_an_entry_has_exactly_the_keys_of_the_format_in_its_order():
    entry = trace_entry(after(40))
    assert list(entry) == ["tick", "seconds", "arms", "objects", "captures"]
    assert [list(arm) for arm in entry["arms"]] == [
        ["number", "angles", "tip", "state", "target", "grip", "contacts"]
    ] * 2
    assert list(entry["arms"][1]["grip"]) == ["object", "segment", "offset"]


def test_an_entry_says_what_the_octopus_says():
    octopus = after(40)
    entry = trace_entry(octopus)
    assert (entry["tick"], entry["seconds"]) == (40, octopus.time)
    arm, view = entry["arms"][1], octopus.arm(7)
    assert arm["number"] == 7
    assert arm["angles"] == view.angles.tolist()
    assert arm["tip"] == view.tip.tolist()
    assert arm["target"] == [60.0, 0.0]
    assert arm["state"] == view.state == "Holding"
    grip = view.grip
    assert arm["grip"] == {
        "object": 1,
        "segment": grip.segment,
        "offset": list(grip.offset),
    }
    assert entry["captures"] == [[7, 1, octopus.captures[0].seconds]]
    assert entry["objects"] == [
        [1, [60.0, 0.0], "food", 20.0],
        [2, [200.0, 60.0], "hazard", 20.0],
    ]


def test_contacts_are_segment_object_kind_and_point_by_segment_then_object():
    octopus = after(40)
    contacts = trace_entry(octopus)["arms"][1]["contacts"]
    readings = octopus.arm(7).contacts()
    assert len(contacts) == len(readings) > 2
    assert {(number, kind) for _, number, kind, _ in contacts} == {(1, "food"), (2, "hazard")}
    assert contacts == sorted(contacts, key=lambda contact: (contact[0], contact[1]))
    for (segment, _, _, point), near in zip(contacts, readings.points.tolist(), strict=True):
        assert 1 <= segment <= 20
        assert point == near


def test_an_arm_that_holds_nothing_has_a_null_grip_and_an_idle_one_its_default_target():
    arm = trace_entry(after(0))["arms"][0]
    assert (arm["number"], arm["grip"], arm["state"], arm["contacts"]) == (2, None, "Idle", [])
    assert arm["target"] != arm["tip"]


def test_all_eight_arms_of_an_octopus_are_in_it_and_only_those_of_a_list():
    octopus = build_octopus(parse_scene({"version": 1, "name": "eight"}))
    assert [arm["number"] for arm in trace_entry(octopus)["arms"]] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [arm["number"] for arm in trace_entry(after(0))["arms"]] == [2, 7]


def test_a_line_keeps_every_digit():
    octopus = after(31)
    stream = io.StringIO()
    TraceWriter(stream, 31).write(octopus)
    assert json.loads(stream.getvalue()) == trace_entry(octopus)
    angles = json.loads(stream.getvalue())["arms"][1]["angles"]
    assert angles == octopus.arm(7).angles.tolist()


def test_without_a_choice_every_tick_is_kept_from_the_start():
    assert [line["tick"] for line in lines(5)] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("ticks", "every", "kept"),
    [(7, 3, [0, 3, 6, 7]), (6, 3, [0, 3, 6]), (4, 100, [0, 4]), (0, 2, [0])],
)
def test_every_keeps_the_start_each_nth_tick_and_the_last(ticks, every, kept):
    assert [line["tick"] for line in lines(ticks, every=every)] == kept


def test_keep_keeps_exactly_those_ticks_in_the_order_of_time():
    assert [line["tick"] for line in lines(6, keep=[5, 2, 5])] == [2, 5]
    assert lines(6, keep=[]) == []


def test_ticks_beyond_the_run_and_a_stride_below_one_are_refused():
    with pytest.raises(ValueError, match="tick 7 is not one of the run: 0 to 6"):
        TraceWriter(io.StringIO(), 6, keep=[1, 7])
    with pytest.raises(ValueError, match="tick -1 is not one"):
        TraceWriter(io.StringIO(), 6, keep=[-1])
    with pytest.raises(ValueError, match="every must be at least 1, got 0"):
        TraceWriter(io.StringIO(), 6, every=0)
