from __future__ import annotations

import pytest

from octo_reach.cli import main
from octo_reach.scenes.shipped import shipped_scenes

GOOD = """\
version: 1
name: Good
layout: listed
food: [{position: [1, 2]}]
arms: [{number: 4}]
events: [{tick: 3, remove: 1}]
"""


@pytest.fixture
def written(tmp_path):
    def write(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_a_good_file_gets_one_line_that_says_what_it_holds_and_ends_in_ok(written, capsys):
    path = written("good.yaml", GOOD)
    assert main(["validate", path]) == 0
    output = capsys.readouterr()
    assert output.out == f"{path}: Good in pixels, 1 arm, 1 object, 1 event: OK\n"
    assert output.err == ""


def test_every_problem_of_a_bad_file_gets_a_line_with_file_and_field(written, capsys):
    text = GOOD.replace("number: 4", "number: 0, colour: red").replace("[1, 2]", "[1, .nan]")
    path = written("bad.yaml", text)
    assert main(["validate", path]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all(line.startswith(f"{path}: ") for line in lines)
    for field in ("food[0].position[1]", "arms[0].colour", "arms[0].number"):
        assert sum(f": {field} " in line for line in lines) == 1


def test_even_the_fortieth_problem_is_listed(written, capsys):
    food = ", ".join(["{position: [1, 2], radius: -1}"] * 40)
    path = written("many.yaml", GOOD.replace("{position: [1, 2]}", food))
    assert main(["validate", path]) == 1
    assert "food[39].radius" in capsys.readouterr().out


def test_good_files_are_still_checked_after_a_bad_one(written, capsys):
    bad = written("bad.yaml", "version: 2\nname: x\n")
    good = written("good.yaml", GOOD)
    assert main(["validate", bad, good]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{bad}: version must be")
    assert lines[-1].endswith(": OK")


def test_a_file_that_is_not_there_is_invalid(tmp_path, capsys):
    missing = tmp_path / "missing.yaml"
    assert main(["validate", str(missing)]) == 1
    assert str(missing) in capsys.readouterr().out


def test_every_shipped_scene_is_valid_by_its_name(capsys):
    names = list(shipped_scenes())
    assert main(["validate", *names]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == names
    assert all(line.endswith(": OK") for line in lines)


def test_without_a_file_there_is_a_usage_line(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["validate"])
    assert caught.value.code == 2
    assert "SCENE" in capsys.readouterr().err
