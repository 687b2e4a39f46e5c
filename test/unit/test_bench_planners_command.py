"""octo-reach bench planners, in this process."""

from __future__ import annotations

import csv
import io
import json
import os
import signal

import pytest

from octo_reach.batch import Sweep
from octo_reach.batch.comparison import COLUMNS
from octo_reach.cli import main
from octo_reach.planners import PLANNERS

SCENE = """\
version: 1
name: One arm
units: metre
layout: listed
obstacles: [{position: [0.1, -0.2], radius: 0.01}]
arms: [{number: 3, base: [0, 0], target: {position: [0.1, 0.2]}}]
"""
BENCH = ["bench", "planners"]
SHORT = ["--planners", "neighbour,jacobian_dls", "--seconds", "2", "--jobs", "1"]


@pytest.fixture
def scene(tmp_path) -> str:
    path = tmp_path / "scene.yaml"
    path.write_text(SCENE, encoding="utf-8")
    return str(path)


def refusal(arguments: list[str], capsys) -> str:
    assert main([*BENCH, *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    (line,) = output.err.splitlines()
    return line


def test_the_table_names_every_planner_and_holds_them_against_each_other(scene, capsys):
    assert main([*BENCH, scene, "first_reach", *SHORT]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Planners on 2 scenes\n")
    assert "The 2 targets that all of them reached" in text
    for name in ("neighbour", "jacobian_dls"):
        assert sum(line.startswith(f" {name} ") for line in text.splitlines()) == 2
    assert text.count("2/2") == 4


def test_json_has_summaries_and_runs(scene, capsys):
    assert main([*BENCH, scene, *SHORT, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [summary["planner"] for summary in answer["planners"]] == ["neighbour", "jacobian_dls"]
    for summary in answer["planners"]:
        assert (summary["runs"], summary["reached"]) == (1, 1)
        assert set(summary["seconds"]) == {"value", "low", "high"}
    assert [tuple(run) for run in answer["runs"]] == [COLUMNS, COLUMNS]
    assert len(answer["reached_by_all"]) == 2


def test_csv_has_a_line_for_every_run_and_seeds_draw_other_targets(scene, capsys):
    assert main([*BENCH, scene, *SHORT, "--csv", "--seeds", "3"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["seed"], row["planner"]) for row in rows] == [
        (seed, name) for seed in "123" for name in ("neighbour", "jacobian_dls")
    ]


def test_left_out_it_is_the_public_reaches_and_every_planner_but_the_external(capsys):
    assert main([*BENCH, "--seconds", "0", "--jobs", "1", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len({row["scene"] for row in rows}) == 90
    assert {row["planner"] for row in rows} == set(PLANNERS) - {"external"}


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_figure_is_drawn(scene, tmp_path, capsys, suffix):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"figure.{suffix}"
    assert main([*BENCH, scene, *SHORT, "--figure", str(path)]) == 0
    heads = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert path.read_bytes().startswith(heads[suffix])
    assert "2 targets" not in capsys.readouterr().err


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Gives the figure of a comparison of two planners."""
    pytest.importorskip("matplotlib")
    from octo_reach.commands.benches import planners_figure

    draw = planners_figure.draw_comparison
    figures = []

    def keep(*arguments):
        figures.append(draw(*arguments))
        return figures[-1]

    monkeypatch.setattr(planners_figure, "draw_comparison", keep)

    def compare(*arguments: str):
        path = tmp_path / "figure.png"
        assert main([*BENCH, *arguments, *SHORT[:2], "--jobs", "1", "--figure", str(path)]) == 0
        assert path.stat().st_size > 0
        return figures[-1]

    return compare


def titles(figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


@pytest.mark.parametrize(
    ("seconds", "times"),
    [
        ("2", ["0.05", "0.1", "0.2", "0.5", "1", "2"]),
        ("4", ["0.05", "0.1", "0.2", "0.5", "1", "2"]),
        (None, ["0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10", "20"]),
    ],
)
def test_the_times_of_the_figure_end_where_the_runs_do(scene, drawn, seconds, times):
    figure = drawn(scene, *([] if seconds is None else ["--seconds", seconds]))
    reached = figure.axes[0]
    assert reached.get_xlim() == (0.05, float(seconds or 20.0))
    assert [label.get_text() for label in reached.get_xticklabels()] == times


def test_a_long_time_has_fewer_numbers():
    pytest.importorskip("matplotlib")
    from octo_reach.commands.benches.planners_figure import draw_comparison

    (reached,) = draw_comparison([], [], 1e6).axes
    assert reached.get_xticks().tolist() == [10.0**power for power in range(-1, 7)]


def test_a_figure_says_what_its_panels_are_true_of(scene, drawn):
    assert titles(drawn(scene, "--seconds", "2")) == [
        "",
        "on the 1 target that all of them reached",
        "",
        "on all targets",
        "",
    ]


def test_panels_of_targets_that_nobody_reached_are_left_out(scene, drawn, capsys):
    figure = drawn(scene, "--seconds", "0.05")
    assert [axes.get_xlabel() for axes in figure.axes[1:]] == [
        "smallest gap [mm]",
        "time of an update [µs]",
    ]
    assert titles(figure) == ["", "on all targets", ""]
    assert [label.get_text() for label in figure.axes[1].get_yticklabels()] == [
        "neighbour",
        "jacobian_dls",
    ]
    assert "that all of them reached" not in capsys.readouterr().out


def test_a_figure_of_what_was_not_simulated_has_no_panels_below(drawn, tmp_path):
    path = tmp_path / "nothing_around.yaml"
    path.write_text("\n".join(SCENE.splitlines()[:4] + SCENE.splitlines()[5:]), encoding="utf-8")
    (reached,) = drawn(str(path), "--seconds", "0").axes
    assert reached.get_ylabel() == "targets reached [%]"


def test_one_target_is_no_targets(scene, capsys):
    assert main([*BENCH, scene, *SHORT]) == 0
    assert "\nThe 1 target that all of them reached\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["--planners", "fast"], "--planners must be some of neighbour, "),
        (["--planners", "external"], "--planners must be some of neighbour, "),
        (["--planners", "neighbour,neighbour"], "--planners names neighbour twice"),
        (["nowhere"], "nowhere: there is no such file"),
        (["public", "public"], "SCENE public is given twice"),
        (["--figure", "figure.txt"], "--figure must be a file name that ends in .png"),
        (["--figure", "no/such/folder/figure.png"], "--figure: no/such/folder/figure.png cannot"),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_run(arguments, text, capsys):
    assert text in refusal(arguments, capsys)


def test_other_targets_need_a_scene_that_has_any(tmp_path, capsys):
    path = tmp_path / "bare.yaml"
    path.write_text("{version: 1, name: Bare, layout: listed}", encoding="utf-8")
    assert "--seeds: no arm of" in refusal([str(path), "--seeds", "2"], capsys)


@pytest.mark.parametrize("option", [["--jobs", "0"], ["--seeds", "x"], ["--seconds", "-1"]])
def test_numbers_out_of_range_are_refused(option, capsys):
    with pytest.raises(SystemExit) as caught:
        main([*BENCH, *option])
    assert caught.value.code == 2
    assert option[0] in capsys.readouterr().err


def test_sigterm_ends_it_as_ctrl_c_does(scene, monkeypatch, capsys):
    def handler(number, frame):
        raise AssertionError("nobody listens to SIGTERM")

    def be_ended(self, engine, report):
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Sweep, "run", be_ended)
    before = signal.signal(signal.SIGTERM, handler)
    try:
        assert main([*BENCH, scene, *SHORT]) == 130
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)
    assert capsys.readouterr().err.endswith("octo-reach: interrupted after 0 of 2 runs\n")
