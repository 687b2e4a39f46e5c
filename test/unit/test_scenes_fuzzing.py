"""Whatever comes in, a scene or a `SceneError` comes out; and what came in once goes round."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scene_documents import REEF, scenes, values

from octo_reach.scenes import (
    SceneDocument,
    SceneError,
    build_octopus,
    load_scene,
    parse_scene,
    read_scene_text,
    save_scene,
    scene_text,
    scene_to_mapping,
    to_metres,
)

FORMATS = ("json", "yaml")
REEF_TEXTS = {"json": json.dumps(REEF), "yaml": yaml.safe_dump(REEF, default_flow_style=None)}


def outcome(read: Any, *arguments: Any) -> SceneDocument | None:
    """Read; a scene must be complete, an error must say what it is about."""
    try:
        document = read(*arguments)
    except SceneError as error:
        assert error.problems
        assert all(line.startswith(f"{error.source}: ") for line in str(error).splitlines())
        str(error).encode("utf-8")
        return None
    assert isinstance(document, SceneDocument)
    assert len(document.placements()) >= len(document.arms)
    assert parse_scene(scene_to_mapping(document)) == document
    return document


def places(value: Any) -> list[list[Any]]:
    """The path of every value inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found: list[list[Any]] = []
    for key, part in inner:
        found.append([key])
        if isinstance(part, (dict, list)):
            found += [[key, *rest] for rest in places(part)]
    return found


@given(scene=scenes())
@settings(deadline=None)
def test_any_valid_document_is_taken_and_goes_round(scene: dict[str, Any]) -> None:
    document = parse_scene(scene)
    assert parse_scene(scene_to_mapping(document)) == document
    for spelling in FORMATS:
        assert read_scene_text(scene_text(document, spelling), spelling) == document


@given(scene=scenes(), spelling=st.sampled_from(FORMATS))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_saved_document_loads_as_itself(
    tmp_path: Path, scene: dict[str, Any], spelling: str
) -> None:
    document = parse_scene(scene)
    path = tmp_path / f"saved.{spelling}"
    save_scene(document, path)
    assert load_scene(path) == document


@given(scene=scenes())
@settings(deadline=None)
def test_json_and_yaml_spell_the_same_document(scene: dict[str, Any]) -> None:
    document = parse_scene(scene)
    assert read_scene_text(json.dumps(scene), "json") == document
    assert read_scene_text(scene_text(document, "yaml"), "yaml") == document


@given(scene=scenes())
@settings(deadline=None)
def test_a_converted_document_goes_round_too(scene: dict[str, Any]) -> None:
    try:
        document = to_metres(parse_scene(scene))
    except ValueError as error:
        assert "beyond a float" in str(error)
        return
    assert document.units == "metre"
    assert parse_scene(scene_to_mapping(document)) == document


@given(scene=scenes())
@settings(deadline=None, max_examples=50)
def test_any_valid_document_can_be_built(scene: dict[str, Any]) -> None:
    document = parse_scene(scene)
    octopus = build_octopus(document)
    assert octopus.numbers == tuple(arm.number for arm in document.placements())
    assert octopus.objects.numbers.tolist() == [thing.number for thing in document.objects]


@given(value=values)
@settings(deadline=None, max_examples=300)
def test_any_values_are_a_scene_or_a_scene_error(value: Any) -> None:
    outcome(parse_scene, value)


@given(data=st.data())
@settings(deadline=None, max_examples=300)
def test_a_damaged_document_is_a_scene_or_a_scene_error(data: st.DataObject) -> None:
    scene = copy.deepcopy(data.draw(st.one_of(st.just(REEF), scenes())))
    for _ in range(data.draw(st.integers(1, 3))):
        *way, last = data.draw(st.sampled_from(places(scene)))
        part = scene
        for key in way:
            part = part[key]
        damage = data.draw(st.sampled_from(["replace", "remove", "add"]))
        if damage == "replace":
            part[last] = data.draw(values)
        elif damage == "remove":
            del part[last]
        elif isinstance(part, dict):
            part[data.draw(st.text(max_size=3))] = data.draw(values)
        else:
            part.insert(last, data.draw(values))
        if not scene:
            break
    outcome(parse_scene, scene)


@given(text=st.text(), spelling=st.sampled_from(FORMATS))
@settings(deadline=None, max_examples=200)
def test_any_text_is_a_scene_or_a_scene_error(text: str, spelling: str) -> None:
    outcome(read_scene_text, text, spelling)


@given(
    text=st.text(st.sampled_from("[]{},:-?!&*|>'\"%@`#~ \n\t\\x0aU+.eEyns<=")),
    spelling=st.sampled_from(FORMATS),
)
@settings(deadline=None, max_examples=300)
def test_any_punctuation_is_a_scene_or_a_scene_error(text: str, spelling: str) -> None:
    outcome(read_scene_text, text, spelling)


@given(data=st.data(), spelling=st.sampled_from(FORMATS))
@settings(deadline=None, max_examples=300)
def test_damaged_text_is_a_scene_or_a_scene_error(data: st.DataObject, spelling: str) -> None:
    text = REEF_TEXTS[spelling]
    start = data.draw(st.integers(0, len(text)))
    end = min(len(text), start + data.draw(st.integers(0, 8)))
    patch = data.draw(
        st.one_of(
            st.text(max_size=4),
            st.sampled_from(
                ["NaN", "1e999", "&a ", "*a", "!!set ", "yes", "0x", "---", "<<: ", "{"]
            ),
        )
    )
    outcome(read_scene_text, text[:start] + patch + text[end:], spelling)


@given(content=st.binary(max_size=60), spelling=st.sampled_from(FORMATS))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_file_is_a_scene_or_a_scene_error(
    tmp_path: Path, content: bytes, spelling: str
) -> None:
    path = tmp_path / f"any.{spelling}"
    path.write_bytes(content)
    outcome(load_scene, path)


@given(degrees=st.floats(min_value=1e-300, max_value=180.0))
def test_every_angle_a_file_can_hold_goes_round(degrees: float) -> None:
    scene = {"version": 1, "name": "angles", "defaults": {"maximum_bend_degrees": degrees}}
    document = parse_scene(scene)
    assert document.defaults.maximum_bend == math.radians(degrees)
    assert parse_scene(scene_to_mapping(document)) == document


@pytest.mark.parametrize("scene", [{**REEF, "layout": "listed"}, {**REEF, "units": "metre"}])
def test_the_reef_goes_round_in_every_frame(scene: dict[str, Any]) -> None:
    if scene.get("layout") == "listed":
        # Only listed arms are there then; the first event is for one that is not.
        scene = {**scene, "events": [event for event in REEF["events"] if event.get("arm") != 1]}
    document = parse_scene(scene)
    for spelling in FORMATS:
        assert read_scene_text(scene_text(document, spelling), spelling) == document
