"""What is written: no more than the format needs, and never a file that cannot be read again."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from scene_documents import MINIMAL, REEF, minimal

from octo_reach.scenes import (
    SceneError,
    load_scene,
    parse_scene,
    read_scene_text,
    save_scene,
    scene_text,
    scene_to_mapping,
)


def test_a_pixel_octopus_is_written_with_the_keys_of_the_public_format_only() -> None:
    values = scene_to_mapping(parse_scene({**REEF, "hazards": [], "events": REEF["events"][:2]}))
    assert list(values) == [
        "version",
        "name",
        "body",
        "defaults",
        "food",
        "obstacles",
        "arms",
        "events",
    ]


def test_a_document_is_written_as_a_person_would() -> None:
    values = scene_to_mapping(parse_scene(REEF))
    assert values["defaults"] == {
        "segment_count": 20,
        "segment_length": 12,
        "turning_speed_degrees": 85.9,
    }
    assert values["food"][0] == {"id": "meal-1", "position": [346.8, 221], "radius": 14}
    assert values["arms"] == [
        {
            "number": 5,
            "parameters": {"turning_speed_degrees": 10},
            "target": {"food": "meal-1"},
            "base": [432, 425],
            "heading_degrees": 0,
        },
        {"number": 2, "target": {"position": [500, 600]}},
        {"number": 3, "parameters": {"segment_count": 2}},
    ]
    assert values["events"][0] == {"tick": 30, "arm": 1, "reach": [425, 435]}


def test_yaml_has_a_line_for_every_object_arm_and_event() -> None:
    text = scene_text(parse_scene(REEF), "yaml")
    assert text.splitlines()[:6] == [
        "version: 1",
        "name: Reef",
        "body: [400, 425]",
        "defaults: {segment_count: 20, segment_length: 12, turning_speed_degrees: 85.9}",
        "food:",
        "  - {id: meal-1, position: [346.8, 221], radius: 14}",
    ]


def test_json_has_a_line_for_every_object_arm_and_event() -> None:
    text = scene_text(parse_scene(REEF), "json")
    assert json.loads(text)["name"] == "Reef"
    assert '    {"id": "meal-1", "position": [346.8, 221], "radius": 14},' in text.splitlines()
    assert len(text.splitlines()) == 29


@pytest.mark.parametrize(
    "name",
    [
        *["yes", "~", "1e5", "010", "1_000", "2020-01-02", "<<", "a: b", "# a", " a ", "'", '"'],
        *["\\", "\x85", "\u2028", "\ufeff", "\x00\x1b", "a\nb\n", "- a", "{a}", "&a", "🐙"],
        "a " * 300,
    ],
    ids=lambda name: repr(name)[:20],
)
@pytest.mark.parametrize("spelling", ["json", "yaml"])
def test_a_name_stays_text_whatever_it_looks_like(name: str, spelling: str) -> None:
    document = parse_scene(minimal(name=name, food=[{"id": name + "!", "position": [1, 2]}]))
    assert read_scene_text(scene_text(document, spelling), spelling) == document


@pytest.mark.parametrize("spelling", ["json", "yaml"])
@pytest.mark.parametrize(
    "number", [1e-300, 1e22, 1.7976931348623157e308, 5e-324, 0.1, -0.0, 2.0**53, 123456789.123]
)
def test_numbers_keep_every_bit(number: float, spelling: str) -> None:
    document = parse_scene(minimal(body=[number, -number]))
    read = read_scene_text(scene_text(document, spelling), spelling)
    assert read.body == (number, -number)
    assert [math.copysign(1.0, x) for x in read.body] == [
        math.copysign(1.0, x) for x in document.body
    ]


@pytest.mark.parametrize("suffix", ["json", "yaml", "yml"])
def test_a_saved_file_loads_as_the_document(tmp_path: Path, suffix: str) -> None:
    document = parse_scene(REEF)
    path = tmp_path / f"reef.{suffix}"
    save_scene(document, path)
    assert load_scene(path) == document
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_an_unknown_suffix_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match=r"reef\.txt: must be a file name that ends in \.json"):
        save_scene(parse_scene(REEF), tmp_path / "reef.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_document_no_file_could_hold_is_refused_and_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "reef.yaml"
    save_scene(parse_scene(MINIMAL), path)
    document = parse_scene(REEF)
    broken = replace(document, arms=(replace(document.arms[0], number=9), *document.arms[1:]))
    with pytest.raises(SceneError, match=r"arms\[0\]\.number must be an integer between 1 and 8"):
        save_scene(broken, path)
    assert load_scene(path) == parse_scene(MINIMAL)


def test_a_folder_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        save_scene(parse_scene(REEF), tmp_path / "no" / "reef.yaml")
    assert list(tmp_path.iterdir()) == []


def test_an_angle_no_file_can_hold_comes_back_within_its_last_place() -> None:
    document = parse_scene(minimal(arms=[{"number": 1, "base": [1, 2]}]))
    for radians in (1.5, 1.0, 0.3, 2.9, 3.0000000000000004):
        arm = replace(document.arms[0], heading=radians)
        read = parse_scene(scene_to_mapping(replace(document, arms=(arm,))))
        assert abs(read.arms[0].heading - radians) <= math.ulp(radians)
