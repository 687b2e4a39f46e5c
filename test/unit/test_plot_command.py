"""octo-reach plot: traces read back, and drawn."""

from __future__ import annotations

import io
import json
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_reach.cli import main
from octo_reach.model.scene import ObjectKind
from octo_reach.scenes import load_scene, parse_scene
from octo_reach.scenes.running import run_scene
from octo_reach.scenes.shipped import find_scene
from octo_reach.scenes.trace import TraceWriter, trace_entry
from octo_reach.scenes.trace_reading import TraceError, read_trace

PIXELS = {
    "version": 1,
    "name": "pixels",
    "layout": "listed",
    "food": [{"position": [60, 0], "radius": 20}],
    "hazards": [{"position": [200, -80], "radius": 20}],
    "arms": [
        {"number": 3, "base": [0, 0], "heading_degrees": 0, "target": {"position": [60, 0]}},
        {"number": 5, "base": [0, 500], "heading_degrees": 90},
    ],
}


def lines_of(document, ticks: int, every: int = 1) -> list[str]:
    stream = io.StringIO()
    writer = TraceWriter(stream, ticks, every)
    for octopus in run_scene(document, ticks):
        writer.write(octopus)
    return stream.getvalue().splitlines(keepends=True)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return lines_of(parse_scene(PIXELS), 150, 10)


@pytest.fixture
def trace(lines, tmp_path) -> str:
    path = tmp_path / "two_arms.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


def refusal(arguments: list[str], capsys) -> str:
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    (line,) = output.err.splitlines()
    return line


# ---------------------------------------------------------------- reading


def test_what_a_run_wrote_is_read_back_to_the_last_digit():
    document = parse_scene(PIXELS)
    entries = [json.loads(json.dumps(trace_entry(o))) for o in run_scene(document, 150)]
    trace = read_trace(lines_of(document, 150))
    assert trace.ticks.tolist() == [entry["tick"] for entry in entries]
    assert trace.seconds.tolist() == [entry["seconds"] for entry in entries]
    assert [list(capture) for capture in trace.captures] == entries[-1]["captures"] != []
    for place, arm in enumerate(trace.arms):
        told = [entry["arms"][place] for entry in entries]
        assert arm.number == told[0]["number"]
        assert arm.angles.tolist() == [one["angles"] for one in told]
        assert arm.tips.tolist() == [one["tip"] for one in told]
        assert arm.targets.tolist() == [one["target"] for one in told]
        assert list(arm.states) == [one["state"] for one in told]
        touches = [(t.row, t.segment, t.object, t.kind.label) for t in arm.touches]
        assert touches == [
            (row, segment, number, kind)
            for row, one in enumerate(told)
            for segment, number, kind, _ in one["contacts"]
        ]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda entry: entry.pop("seconds"), "seconds is missing"),
        (lambda entry: entry.update(tick=True), "tick must be an integer, 0 or more, got true"),
        (lambda entry: entry.update(tick=0), "tick must be later than the one before, 0, got 0"),
        (lambda entry: entry.update(seconds=-1), "seconds must be later than those before"),
        (lambda entry: entry["arms"].pop(), "arms must be those of the first line (3, 5)"),
        (lambda entry: entry["arms"].reverse(), "arms must be those of the first line (3, 5)"),
        (lambda entry: entry["arms"][1].update(number=7), "arms must be those of the first"),
        (lambda entry: entry["arms"][0]["angles"].pop(), "arms[0].angles must hold 20 numbers"),
        (lambda entry: entry["arms"][1].update(tip=[1]), "arms[1].tip must hold 2 numbers, got 1"),
        (lambda entry: entry["arms"][1].update(tip=[1, "x"]), "arms[1].tip[1] must be a number"),
        (lambda entry: entry["arms"][0].update(target=None), "arms[0].target must be a list"),
        (lambda entry: entry["arms"][0].update(state=4), "arms[0].state must be a text, got 4"),
        (lambda entry: entry["arms"][0].update(contacts=[[1]]), "arms[0].contacts[0] must be ["),
        (
            lambda entry: entry["arms"][0].update(contacts=[[1, 1, "rock", [0, 0]]]),
            "arms[0].contacts[0][2] must be one of food, obstacle, hazard",
        ),
        (lambda entry: entry["arms"].__setitem__(0, 1), "arms[0] must be a JSON object"),
        (lambda entry: entry.update(captures=[[1, 2]]), "captures[0] must be [arm, object, sec"),
    ],
)
def test_a_line_that_is_wrong_is_named_with_what_is_wrong(lines, change, complaint):
    entry = json.loads(lines[1])
    change(entry)
    with pytest.raises(TraceError) as caught:
        read_trace([lines[0], json.dumps(entry), *lines[2:]])
    assert str(caught.value).startswith("line 2: ")
    assert complaint in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[1]", "NaN", "{} {}", "[" * 100_000, "\x00"])
def test_a_line_that_is_no_json_object_is_named(lines, text):
    with pytest.raises(TraceError, match=r"^line 3: "):
        read_trace([*lines[:2], text])


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" * 400])
def test_numbers_that_are_not_finite_are_refused(lines, number):
    seconds = json.loads(lines[1])["seconds"]
    line = lines[1].replace(f'"seconds": {seconds}', f'"seconds": {number}')
    with pytest.raises(TraceError, match=r"^line 2: .*finite"):
        read_trace([lines[0], line])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.sampled_from(["food", ""]),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)


@given(
    st.sampled_from(["tick", "seconds", "arms", "captures"])
    | st.sampled_from(["number", "angles", "tip", "target", "state", "contacts"]),
    JSON,
)
def test_whatever_stands_in_a_line_it_is_read_or_refused_in_words(name, value):
    entry = json.loads(LINE)
    (entry if name in entry else entry["arms"][0])[name] = value
    try:
        trace = read_trace([json.dumps(entry)])
    except TraceError as error:
        assert str(error).startswith("line 1: ")
    else:
        assert all(np.isfinite(arm.angles).all() for arm in trace.arms)


LINE = lines_of(parse_scene(PIXELS), 0)[0]


# ---------------------------------------------------------------- the command


def test_a_file_that_is_not_there_is_named(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    missing = tmp_path / "missing.jsonl"
    line = refusal(["plot", str(missing)], capsys)
    assert line == f"octo-reach: {missing}: No such file or directory"


@pytest.mark.parametrize("name", [".", "folder"])
def test_a_folder_is_no_trace(name, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    assert refusal(["plot", name], capsys) == f"octo-reach: {name}: Is a directory"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "it is empty"),
        (b"version: 1\nname: scene\n", "line 1: it is not JSON"),
        (b"\x89PNG\r\n\x1a\n\xff\xfe", "it is not text"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_in_one_line(tmp_path, content, complaint, capsys):
    pytest.importorskip("matplotlib")
    path = tmp_path / "other"
    path.write_bytes(content)
    line = refusal(["plot", str(path)], capsys)
    assert line.startswith(f"octo-reach: {path} is no trace: {complaint}")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["4", "arm_4", "0", "x", "-1"])
def test_an_arm_that_is_not_there_is_refused_with_those_that_are(trace, name, capsys):
    pytest.importorskip("matplotlib")
    line = refusal(["plot", trace, f"--arm={name}"], capsys)
    assert line == f"octo-reach: --arm must be an arm of the trace (3, 5), got {name!r}"


def test_what_cannot_be_written_is_said_before_the_trace_is_read(tmp_path, capsys):
    output = tmp_path / "no_folder" / "plot.png"
    line = refusal(["plot", "missing", "--output", str(output)], capsys)
    assert line == f"octo-reach: --output: {output} cannot be written"
    line = refusal(["plot", "missing", "--output", "plot.gif"], capsys)
    assert line.startswith("octo-reach: --output must be a file name that ends in .png")
    assert "--output is needed" in refusal(["plot", "-"], capsys)
    assert "is the trace itself" in refusal(["plot", "trace.png", "--output=trace.png"], capsys)


def test_without_matplotlib_the_extra_is_named(trace, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    line = refusal(["plot", trace], capsys)
    assert "octo-reach plot needs matplotlib" in line
    assert "pip install '.[plot]'" in line


@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")]
)
def test_the_same_trace_gives_the_same_figure(trace, tmp_path, suffix, start, capsys):
    pytest.importorskip("matplotlib")
    written = []
    for name in ("first", "second"):
        path = tmp_path / f"{name}{suffix}"
        assert main(["plot", trace, "--output", str(path), "--arm", "3"]) == 0
        written.append(path.read_bytes())
    assert written[0].startswith(start)
    assert written[0] == written[1]
    assert "1 arm, 0 s to 1.25 s in 16 moments" in capsys.readouterr().out


def test_the_figure_stands_beside_the_trace_when_nobody_says_where(trace, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    picture, figure = tmp_path / "two_arms.png", tmp_path / "two_arms_plot.png"
    picture.write_bytes(b"of the same run")
    assert main(["plot", trace]) == 0
    assert figure.stat().st_size > 10_000
    assert capsys.readouterr().out.startswith(f"{figure}: 2 arms, ")
    assert picture.read_bytes() == b"of the same run"


def test_a_trace_on_the_standard_input_is_drawn(lines, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(lines)))
    path = tmp_path / "plot.png"
    assert main(["plot", "-", "--output", str(path), "--arm", "5"]) == 0
    assert path.read_bytes().startswith(b"\x89PNG")


# ---------------------------------------------------------------- the figure


@pytest.fixture
def plots():
    pytest.importorskip("matplotlib")
    from octo_reach.pictures import trace_plot

    return trace_plot


def test_the_unit_is_guessed_from_how_far_tips_are_away(plots, lines):
    assert plots.guessed_unit(read_trace(lines)) == "px"
    metres = lines_of(load_scene(find_scene("first_reach")), 0)
    assert plots.guessed_unit(read_trace(metres)) == "m"


def test_the_tip_error_is_the_distance_to_the_target_and_none_of_an_idle_arm(plots, lines):
    reaching, idle = read_trace(lines).arms
    errors = plots.tip_errors(reaching)
    active = np.array([state != "Idle" for state in reaching.states])
    distances = np.linalg.norm(reaching.tips - reaching.targets, axis=1)
    assert active.all()
    np.testing.assert_allclose(errors, distances)
    assert set(idle.states) == {"Idle"}
    assert np.isnan(plots.tip_errors(idle)).all()


@given(st.lists(st.sampled_from(["Idle", "Reaching", "Reached"]), max_size=12))
def test_bands_cover_every_moment_once_and_never_repeat(states):
    pytest.importorskip("matplotlib")
    from octo_reach.pictures.trace_plot import runs

    bands = runs(states)
    assert [state for first, end, state in bands for _ in range(first, end)] == states
    assert all(a[1] == b[0] and a[2] != b[2] for a, b in pairwise(bands))


def panels_of(figure, arms: int, panels: int) -> list[list]:
    axes = figure.axes
    assert len(axes) == arms * panels + 1  # and the scale of the bends
    return [axes[place * panels : (place + 1) * panels] for place in range(arms)]


def test_every_arm_has_its_panels_and_the_key_names_only_what_is_there(plots, lines):
    trace = read_trace(lines)
    figure = plots.draw_trace(trace, "cost: $5 and $6")
    blocks = panels_of(figure, 2, 5)
    assert [block[0].get_title(loc="left") for block in blocks] == ["arm 3", "arm 5"]
    key = {text.get_text() for text in figure.legends[0].get_texts()}
    kinds = {touch.kind for arm in trace.arms for touch in arm.touches}
    assert kinds == {ObjectKind.FOOD}
    states = {state for arm in trace.arms for state in arm.states}
    assert key == {*states, "object grasped", "touches food"}
    assert figure.texts[0].get_text().count(r"\$") == 2


def test_the_panels_show_what_the_trace_says(plots, lines):
    trace = read_trace(lines)
    states, errors, heading, bends, touches = panels_of(plots.draw_trace(trace, "", "m"), 2, 5)[0]
    arm = trace.arms[0]
    assert len(states.patches) == len(plots.runs(arm.states))
    # The names stand in the bands that have the room.
    assert "Holding" in {text.get_text() for text in states.texts}
    assert "Contact" in arm.states
    assert "Contact" not in {text.get_text() for text in states.texts}
    # Metres are shown as millimetres.
    np.testing.assert_allclose(errors.lines[0].get_ydata(), 1000.0 * plots.tip_errors(arm))
    np.testing.assert_allclose(
        np.radians(heading.lines[0].get_ydata()), np.unwrap(arm.angles[:, 0])
    )
    np.testing.assert_allclose(
        np.radians(bends.collections[0].get_array().reshape(19, -1)), arm.angles[:, 1:].T
    )
    bars = touches.collections[0].get_segments()
    assert sorted({(bar[0][0], bar[0][1]) for bar in bars}) == sorted(
        {(trace.seconds[touch.row], touch.segment) for touch in arm.touches}
    )
    assert errors.lines[1].get_xdata()[0] == trace.captures[0][2]


def test_a_page_without_contacts_has_no_panel_for_them(plots, lines):
    trace = read_trace(lines_of(load_scene(find_scene("first_reach")), 30))
    panels_of(plots.draw_trace(trace, ""), 1, 4)


def test_a_trace_of_one_moment_can_be_drawn(plots, lines):
    panels_of(plots.draw_trace(read_trace(lines[:1]), ""), 2, 5)


def test_a_long_trace_is_thinned_to_what_a_page_can_show(plots):
    trace = read_trace(lines_of(load_scene(find_scene("first_reach")), 2 * plots.MOST_COLUMNS))
    bends = panels_of(plots.draw_trace(trace, ""), 1, 4)[0][3].collections[0].get_array()
    assert bends.reshape(19, -1).shape[1] <= plots.MOST_COLUMNS
