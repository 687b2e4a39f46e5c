"""JSON and YAML text: what is read, what the two do not share, and what must not crash anything."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import pytest

from octo_reach.scenes import SceneError, load_scene, read_scene_text
from octo_reach.scenes.spelling import Surprise, plain_scalar, read_json, read_yaml


def short(value: object) -> str:
    """A readable name for a case, however long its text."""
    return repr(value)[:40]


def message(text: str, spelling: str) -> str:
    with pytest.raises(SceneError) as caught:
        read_scene_text(text, spelling, "file")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("False", False),
        ("0", 0),
        ("-12", -12),
        ("+5", 5),
        ("1.5", 1.5),
        ("-.5", -0.5),
        ("3.", 3.0),
        ("1e5", 100000.0),
        ("1.5E-3", 0.0015),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("1e400", math.inf),
        ("-1e400", -math.inf),
        ("9" * 401, math.inf),
        ("meal-1", "meal-1"),
        ("y", "y"),
        ("1.2.3", "1.2.3"),
        ("NaN", "NaN"),
        ("Infinity", "Infinity"),
    ],
    ids=short,
)
def test_a_plain_yaml_scalar_is_what_json_would_say(text: str, value: Any) -> None:
    read = plain_scalar(text)
    assert read == value
    assert type(read) is type(value)


def test_the_yaml_nan_is_a_float() -> None:
    assert math.isnan(plain_scalar(".nan"))


@pytest.mark.parametrize(
    "text",
    [
        *["yes", "No", "ON", "off", "010", "-007", "0x1F", "0b11", "1_000", "1:30", "1_0.5"],
        *["1:30.5", "2020-01-02", "2020-01-02 03:04:05", "<<", "="],
    ],
)
def test_what_readers_of_yaml_disagree_on_is_neither_text_nor_a_number(text: str) -> None:
    assert isinstance(plain_scalar(text), Surprise)
    problem = message(f"version: 1\nname: {text}\nbody: [{text}, 1]\n", "yaml")
    assert f"name must be text that is not empty, got {text} (" in problem
    assert f"body[0] must be a number, got {text} (" in problem
    assert read_scene_text(f"version: 1\nname: '{text}'", "yaml").name == text


@pytest.mark.parametrize("key", ["yes", "on", "1", "~", "1.5", "2020-01-02", "<<", "[a]", "{a: b}"])
def test_a_yaml_key_that_is_not_text_is_refused_by_name(key: str) -> None:
    problem = message(f"version: 1\nname: a\narms:\n- number: 1\n  ? {key}\n  : 2\n", "yaml")
    assert problem.startswith("file: arms[0] has the key ")
    assert "which is not text" in problem
    assert len(problem.splitlines()) == 1


@pytest.mark.parametrize("spelling", ["json", "yaml"])
def test_a_key_given_twice_is_refused(spelling: str) -> None:
    text = '{"version": 1, "name": "a", "arms": [{"number": 1, "number": 2, "number": 2}]}'
    assert message(text, spelling) == "file: arms[0].number is given more than once"
    text = '{"version": 1, "name": "a", "name": "a"}'
    assert message(text, spelling) == "file: name is given more than once"


def test_a_number_in_quotes_is_text() -> None:
    assert "body[0] must be a number, got the text '1'" in message(
        "version: 1\nname: a\nbody: ['1', 2]", "yaml"
    )


@pytest.mark.parametrize(
    "literal", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1" * 9999], ids=short
)
def test_a_json_number_that_is_not_finite_is_refused_by_field(literal: str) -> None:
    problem = message(f'{{"version": 1, "name": "a", "body": [0, {literal}]}}', "json")
    assert problem.startswith("file: body[1] must be a finite number, got ")


@pytest.mark.parametrize("literal", [".nan", ".inf", "-.inf", "1e400", "9" * 9999], ids=short)
def test_a_yaml_number_that_is_not_finite_is_refused_by_field(literal: str) -> None:
    problem = message(f"version: 1\nname: a\nbody: [0, {literal}]", "yaml")
    assert problem.startswith("file: body[1] must be a finite number, got ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"version": 1 "name"', "is not valid JSON at line 1, column 15: "),
        ('{"version": 1,\n "name": \'a\'}', "is not valid JSON at line 2, column 10: "),
        ("{} {}", "is not valid JSON at line 1, column 4: Extra data"),
        ("# note\n{}", "is not valid JSON at line 1, column 1: "),
        ('{"name": "a\x01b"}', "is not valid JSON at line 1, column 12: "),
        ("[" * 100_000, "is nested too deeply to be a scene"),
        ('{"a":' * 100_000, "is nested too deeply to be a scene"),
    ],
    ids=short,
)
def test_text_that_is_no_json_is_refused_with_its_place(text: str, expected: str) -> None:
    assert message(text, "json").startswith(f"file: {expected}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: [1,\n b: }", "is not valid YAML at line 2, column 5: "),
        ("a: b: c", "is not valid YAML at line 1, column 5: "),
        ("\tversion: 1", "is not valid YAML at line 1, column 1: "),
        ("name: \0", "is not valid YAML: "),
        ('name: "\\U0fffffff"', "is not valid YAML: "),
        ('name: "\\q"', "is not valid YAML at line 1, column 9: "),
        (
            "version: 1\n---\nversion: 1",
            "must hold one YAML document, but a second begins at line 2",
        ),
        ("name: *a", "has an alias *a to nothing complete at line 1, column 7"),
        ("name: &a [*a]", "has an alias *a to nothing complete at line 1, column 11"),
        ("name: !!str yes", "has a YAML tag at line 1, column 7; tags have no place"),
        ("name: ! a", "has a YAML tag at line 1, column 7"),
        ("!!map {name: a}", "has a YAML tag at line 1, column 1"),
        ("name: !!python/object/apply:os.getcwd []", "has a YAML tag at line 1, column 7"),
        ("[" * 1000 + "]" * 1000, "is nested more than 32 levels deep at line 1, column 34"),
        ("- " * 1000, "is nested more than 32 levels deep at line 1, column 67"),
        ("[" * 100_000, "is nested more than 32 levels deep"),
        ("? " * 100_000, "is nested more than 32 levels deep"),
    ],
    ids=short,
)
def test_text_that_is_no_plain_yaml_is_refused_with_its_place(text: str, expected: str) -> None:
    assert message(text, "yaml").startswith(f"file: {expected}")


def test_a_yaml_alias_gives_the_same_value_again() -> None:
    text = """
        version: 1
        name: twins
        arms:
          - {number: 1, parameters: &slow {turning_speed_degrees: 10}}
          - {number: 2, parameters: *slow}
    """
    first, second = read_scene_text(text, "yaml").arms
    assert first.parameters == second.parameters
    assert math.degrees(first.parameters.turning_speed) == pytest.approx(10.0)


def test_aliases_within_aliases_do_not_unfold() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, 28):
        lines.append(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]")
    lines += ["version: 1", "name: *a27", "food: *a27", "body: *a27"]
    with pytest.raises(SceneError) as caught:
        read_scene_text("\n".join(lines), "yaml")
    found = caught.value.problems
    # Unfolded, these would be 10^28 values.
    assert len(found) == 40
    assert "name must be text that is not empty, got a list of 10 values" in found
    assert found[-1].startswith("food[9] must be a mapping")


@pytest.mark.parametrize("spelling", ["json", "yaml"])
@pytest.mark.parametrize("text", ["", " \n\t", "\ufeff"])
def test_an_empty_text_is_called_empty(text: str, spelling: str) -> None:
    assert message(text, spelling).startswith("file: is empty")


@pytest.mark.parametrize("text", ["# only a note", "---", "--- # a note", "~", "null"])
def test_yaml_without_a_value_is_called_empty(text: str) -> None:
    assert message(text, "yaml").startswith("file: is empty")


def test_an_unknown_spelling_is_refused() -> None:
    assert message("{}", "toml") == "file: must be read as json or yaml, got 'toml'"


def test_a_file_of_another_suffix_is_refused(tmp_path: Path) -> None:
    for name, got in [("a.toml", ".toml"), ("a", "no suffix"), (".yaml", "no suffix")]:
        path = tmp_path / name
        path.write_text("version: 1\nname: a\n")
        with pytest.raises(SceneError) as caught:
            load_scene(path)
        expected = f"{path}: must be a file name that ends in .json, .yaml or .yml, got {got}"
        assert str(caught.value) == expected


@pytest.mark.parametrize("suffix", ["json", "yaml"])
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "is empty; a scene has at least a version and a name"),
        (b"{\xff}", "is not UTF-8 text (byte 0xff at offset 1)"),
        ('{"name": "é"}'.encode("latin-1"), "is not UTF-8 text (byte 0xe9 at offset 10)"),
        ('{"version": 1}'.encode("utf-16"), "is not UTF-8 text (byte 0xff at offset 0)"),
        (bytes(range(256)), "is not UTF-8 text (byte 0x80 at offset 128)"),
        (b" " * (4 * 2**20 + 1), "cannot be read: it is larger than 4 MiB"),
    ],
    ids=short,
)
def test_a_file_that_is_no_text_is_refused(
    tmp_path: Path, suffix: str, content: bytes, expected: str
) -> None:
    path = tmp_path / f"scene.{suffix}"
    path.write_bytes(content)
    with pytest.raises(SceneError) as caught:
        load_scene(path)
    assert str(caught.value) == f"{path}: {expected}"


def test_a_file_that_is_not_there_or_is_no_file_is_refused(tmp_path: Path) -> None:
    missing = tmp_path / "missing.json"
    folder = tmp_path / "folder.yaml"
    folder.mkdir()
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    (tmp_path / "plain").write_text("{}")
    for path, reason in [
        (tmp_path / "plain" / "scene.json", "Not a directory"),
        (missing, "No such file or directory"),
        (folder, "Is a directory"),
        (pipe, "it is not a regular file"),
    ]:
        with pytest.raises(SceneError) as caught:
            load_scene(path)
        assert str(caught.value) == f"{path}: cannot be read: {reason}"


@pytest.mark.parametrize("name", ["a\0b.json", "a" * 5000 + ".json", "\udcff.json"], ids=short)
def test_a_file_name_no_file_can_have_is_refused(name: str) -> None:
    with pytest.raises(SceneError) as caught:
        load_scene(name)
    str(caught.value).encode("utf-8")
    assert "cannot be read: " in str(caught.value)


def test_readers_keep_the_first_of_two_values_and_the_order_of_keys() -> None:
    for read in (read_json, read_yaml):
        values = read('{"b": 1, "a": 2, "b": 3}')
        assert list(values.items()) == [("b", 1), ("a", 2)]
        assert values.duplicates == ("b",)
