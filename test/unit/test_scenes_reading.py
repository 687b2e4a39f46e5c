"""What a scene file says: defaults, units, layouts, numbers, the order of events."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from scene_documents import MINIMAL, REEF, minimal, reef

from octo_reach.model.arm import ArmParameters, octopus_base, octopus_heading
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind
from octo_reach.scenes import (
    Event,
    FileObject,
    NewObject,
    SceneDocument,
    SceneError,
    load_scene,
    parse_scene,
    read_scene_text,
)

REEF_YAML = """
version: 1                     # integer 1
name: Reef
body: [400, 425]
defaults: {segment_count: 20, segment_length: 12, maximum_bend_degrees: 60, \
turning_speed_degrees: 85.9}
food:
  - {id: meal-1, position: [346.8, 221.0], radius: 14}
  - position: [10, 20]
obstacles: [{position: [548.7, 288.3], radius: 10}]
hazards:   [{position: [3e2, 300.], radius: +20}]
arms:
  - number: 5
    parameters: {turning_speed_degrees: 10}
    target: {food: "meal-1"}
    base: [432, 425]
    heading_degrees: 0
  - {number: 2, target: {position: [500, 600]}}
  - {number: 3, parameters: {segment_count: 2}}
events:
  - {tick: 120, remove: 2}
  - {tick: 30, arm: 1, reach: [425, 435]}
  - {tick: 99, move: 5, position: [450, 420]}
  - {tick: 60, arm: 5, action: idle}
  - {tick: 80, add: {kind: obstacle, position: [430, 442], radius: 9}}
  - {tick: 30, arm: 5, action: 'retract'}
"""


def test_the_least_document_is_an_idle_octopus_in_pixels() -> None:
    document = parse_scene(MINIMAL)
    assert document == SceneDocument(
        name="Nothing much",
        units="pixel",
        body=(400.0, 460.0),
        layout="octopus",
        defaults=ArmParameters(20, 12.0, math.pi / 3.0, 1.5),
    )
    placements = document.placements()
    assert [placement.number for placement in placements] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert all(placement.target is None for placement in placements)
    assert document.rules == ReachRules.pixel()


def test_a_metre_document_has_its_body_at_the_origin_and_lengths_in_millimetres() -> None:
    document = parse_scene(minimal(units="metre", food=[{"position": [0.1, 0.2]}]))
    assert document.body == (0.0, 0.0)
    assert document.defaults.segment_length == 0.012
    assert document.objects[0].radius == 0.014
    assert document.rules == ReachRules.metre()


@pytest.mark.parametrize(("units", "length"), [("pixel", 18.0), ("metre", 0.018)])
def test_listed_arms_are_alone_and_have_longer_segments(units: str, length: float) -> None:
    arms = [{"number": 30}, {"number": 4}]
    document = parse_scene(minimal(units=units, layout="listed", arms=arms))
    assert document.defaults.segment_length == length
    assert [placement.number for placement in document.placements()] == [4, 30]
    assert [arm.number for arm in document.arms] == [30, 4]


def test_a_listed_layout_may_have_no_arms() -> None:
    assert parse_scene(minimal(layout="listed")).placements() == []


@pytest.mark.parametrize("units", ["pixel", "metre"])
@pytest.mark.parametrize(("layout", "number"), [("octopus", 7), ("listed", 7), ("listed", 15)])
def test_an_arm_without_a_base_stands_in_the_ring_of_eight(
    units: str, layout: str, number: int
) -> None:
    document = parse_scene(
        minimal(units=units, layout=layout, body=[3, 4], arms=[{"number": number}])
    )
    arm = document.arms[0]
    assert arm.base == octopus_base(7, (3.0, 4.0), document.rules)
    assert arm.heading == octopus_heading(7, document.rules)
    away = 1.0 if units == "pixel" else 0.001
    assert math.dist(arm.base, (3.0, 4.0)) == pytest.approx(32.0 * away)


def test_a_base_and_a_heading_each_replace_only_their_own_default() -> None:
    arms = [{"number": 1, "base": [7, 8]}, {"number": 2, "heading_degrees": 45}]
    first, second = parse_scene(minimal(arms=arms)).arms
    assert first.base == (7.0, 8.0)
    assert first.heading == -math.pi / 2.0
    assert second.base == octopus_base(2, (400.0, 460.0), ReachRules.pixel())
    assert second.heading == math.pi / 4.0


def test_parameters_stand_over_the_defaults_of_the_file_which_stand_over_ours() -> None:
    document = parse_scene(
        minimal(
            defaults={"segment_count": 7, "maximum_bend_degrees": 180},
            arms=[{"number": 1, "parameters": {"segment_count": 100}}, {"number": 2}],
        )
    )
    assert document.defaults == ArmParameters(7, 12.0, math.pi, 1.5)
    assert document.arms[0].parameters == ArmParameters(100, 12.0, math.pi, 1.5)
    assert document.arms[1].parameters == document.defaults
    assert document.placements()[7].parameters == document.defaults


def test_objects_are_numbered_food_first_then_obstacles_then_hazards() -> None:
    assert parse_scene(REEF).objects == (
        FileObject(1, ObjectKind.FOOD, (346.8, 221.0), 14.0, "meal-1"),
        FileObject(2, ObjectKind.FOOD, (10.0, 20.0), 14.0),
        FileObject(3, ObjectKind.OBSTACLE, (548.7, 288.3), 10.0),
        FileObject(4, ObjectKind.HAZARD, (300.0, 300.0), 20.0),
    )


def test_the_order_of_the_keys_does_not_number_the_objects() -> None:
    backwards = dict(reversed(list(REEF.items())))
    assert parse_scene(backwards) == parse_scene(REEF)


def test_a_food_target_is_the_first_position_of_the_food() -> None:
    arm = parse_scene(REEF).arms[0]
    assert arm.target == (346.8, 221.0)
    assert arm.food == "meal-1"


def test_an_arm_without_a_target_is_idle() -> None:
    document = parse_scene(REEF)
    assert document.arms[2].target is None
    assert [p.number for p in document.placements() if p.target is not None] == [2, 5]


def test_events_are_in_the_order_of_their_ticks_and_within_one_of_the_file() -> None:
    assert parse_scene(REEF).events == (
        Event(30, arm=1, reach=(425.0, 435.0)),
        Event(30, arm=5, action="retract"),
        Event(60, arm=5, action="idle"),
        Event(80, add=NewObject(ObjectKind.OBSTACLE, (430.0, 442.0), 9.0)),
        Event(99, move=(5, (450.0, 420.0))),
        Event(120, remove=2),
    )


def test_an_added_object_without_a_radius_has_the_default_one() -> None:
    event = {"tick": 1, "add": {"kind": "hazard", "position": [1, 2]}}
    pixels = parse_scene(minimal(events=[event])).events[0]
    metres = parse_scene(minimal(events=[event], units="metre")).events[0]
    assert pixels.add == NewObject(ObjectKind.HAZARD, (1.0, 2.0), 14.0)
    assert metres.add == NewObject(ObjectKind.HAZARD, (1.0, 2.0), 0.014)


def test_an_object_can_be_moved_by_the_event_after_the_one_that_adds_it() -> None:
    add = {"tick": 5, "add": {"kind": "food", "position": [1, 2]}}
    move = {"tick": 5, "move": 1, "position": [3, 4]}
    assert len(parse_scene(minimal(events=[add, move])).events) == 2
    with pytest.raises(SceneError, match=r"events\[0\]\.move must be the number of an object"):
        parse_scene(minimal(events=[move, add]))


def test_any_arm_of_an_octopus_can_have_an_event_also_one_left_out() -> None:
    event = {"tick": 1, "arm": 8, "action": "reset"}
    assert parse_scene(minimal(arms=[{"number": 1}], events=[event])).events[0].arm == 8


def test_integers_and_floats_are_the_same_numbers() -> None:
    floats = json.loads(json.dumps(REEF), parse_int=lambda text: int(text))
    floats["body"] = [400.0, 425.0]
    floats["obstacles"][0]["radius"] = 10.0
    assert parse_scene(floats) == parse_scene(REEF)


def test_tuples_stand_for_lists_in_values_given_directly() -> None:
    assert parse_scene(minimal(body=(1, 2), arms=({"number": 1},))).body == (1.0, 2.0)


def test_checking_a_document_leaves_its_values_alone() -> None:
    values = reef()
    parse_scene(values)
    assert values == REEF


def test_yaml_and_json_are_two_spellings_of_one_document() -> None:
    assert read_scene_text(REEF_YAML, "yaml") == parse_scene(REEF)
    assert read_scene_text(json.dumps(REEF), "json") == parse_scene(REEF)
    assert read_scene_text(json.dumps(REEF), "yaml") == parse_scene(REEF)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("reef.json", json.dumps(REEF)),
        ("reef.yaml", REEF_YAML),
        ("reef.yml", REEF_YAML),
        ("REEF.JSON", json.dumps(REEF)),
        ("reef.v2.yaml", REEF_YAML),
        ("bom.json", "\ufeff" + json.dumps(REEF)),
        ("bom.yaml", "\ufeff" + REEF_YAML),
    ],
)
def test_a_file_is_read_as_its_suffix_says(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert load_scene(path) == parse_scene(REEF)
    assert load_scene(str(path)) == parse_scene(REEF)


def test_names_are_text_of_any_script(tmp_path: Path) -> None:
    path = tmp_path / "name.yaml"
    path.write_text("version: 1\nname: Riff für Kraken 🐙\n", encoding="utf-8")
    assert load_scene(path).name == "Riff für Kraken 🐙"
