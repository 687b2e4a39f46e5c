"""octo-reach simulate, in this process and as a process of its own."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import octo_reach
from octo_reach.cli import COMMANDS, build_parser, main
from octo_reach.model.compilation import COMPILED

ROOT = Path(octo_reach.__file__).resolve().parents[1]
DATA = ROOT / "test" / "data"
REFERENCES = sorted(DATA.glob("scene-*.json"))
CEILING = 10.0
"""How long a process may take, s: far longer than it needs."""

SCENE = """\
version: 1
name: "One [bold] arm"
units: metre
layout: listed
food: [{id: crab, position: [0.06, 0.0], radius: 0.02}]
arms:
  - {number: 3, base: [0, 0], heading_degrees: 0, target: {food: crab}}
  - {number: 5, base: [0.5, 0.5]}
events: [{tick: 60, arm: 3, action: retract}]
"""


@pytest.fixture
def scene(tmp_path) -> str:
    path = tmp_path / "scene.yaml"
    path.write_text(SCENE, encoding="utf-8")
    return str(path)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", "TERM": "xterm"}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "octo_reach.cli", *arguments]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=12 * CEILING if not COMPILED else 6 * CEILING,
        check=False,
    )


def complaints(errors: str) -> list[str]:
    """Give what a process said on its standard error beside how the kernels are run."""
    notices = ("octo-reach: compiling the kernels", "octo-reach: numba is not installed")
    return [line for line in errors.splitlines() if not line.startswith(notices)]


def refusal(arguments: list[str], capsys) -> str:
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    (line,) = output.err.splitlines()
    assert line.startswith("octo-reach: ")
    return line


def usage_error(arguments: list[str], capsys) -> str:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


# ---------------------------------------------------------------- traces


def agree(expected, actual, path: str) -> None:
    if isinstance(expected, dict):
        assert expected.keys() == actual.keys(), path
        for key, value in expected.items():
            agree(value, actual[key], f"{path}.{key}")
    elif isinstance(expected, list):
        assert len(expected) == len(actual), path
        for index, value in enumerate(expected):
            agree(value, actual[index], f"{path}[{index}]")
    elif isinstance(expected, float) or isinstance(actual, float):
        assert abs(expected - actual) <= 1e-6, path
    elif path.endswith(".state") and actual == "Beyond reach":
        # The reference has no word for it.
        assert expected == "Reaching", path
    else:
        assert expected == actual, path


@pytest.mark.parametrize("reference", REFERENCES, ids=lambda path: path.stem)
def test_a_traced_run_agrees_with_every_snapshot_of_the_reference(reference, tmp_path):
    known = json.loads(reference.read_text(encoding="utf-8"))
    scene, trace = tmp_path / "scene.json", tmp_path / "trace.jsonl"
    scene.write_text(json.dumps(known["scene"]), encoding="utf-8")
    snapshots = {snapshot["tick"]: snapshot for snapshot in known["snapshots"]}
    keep = ",".join(map(str, snapshots))
    last = str(max(snapshots))
    arguments = ["simulate", str(scene), "--ticks", last, "--keep", keep, "--trace", str(trace)]
    assert main(arguments) == 0
    entries = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    assert [entry["tick"] for entry in entries] == sorted(snapshots)
    for entry in entries:
        expected = snapshots[entry["tick"]]
        agree(expected, {key: entry[key] for key in expected}, f"tick {entry['tick']}")


def test_there_are_reference_scenes_to_agree_with():
    assert len(REFERENCES) >= 3


def test_the_same_run_writes_the_same_bytes(scene, tmp_path, capsys):
    traces = []
    for name in ("first", "second"):
        path = tmp_path / name
        assert main(["simulate", scene, "--ticks", "150", "--trace", str(path)]) == 0
        traces.append(path.read_bytes())
    assert traces[0] == traces[1]
    assert traces[0].count(b"\n") == 151


def test_a_trace_on_the_standard_output_has_it_for_itself(scene):
    result = run("simulate", scene, "--ticks", "9", "--every", "4", "--trace", "-")
    assert result.returncode == 0
    assert [json.loads(line)["tick"] for line in result.stdout.splitlines()] == [0, 4, 8, 9]
    assert "9 steps" in result.stderr


def test_a_reader_that_has_seen_enough_ends_the_run_without_a_complaint(scene):
    process = subprocess.Popen(
        command("simulate", scene, "--seconds", "100000", "--trace", "-"),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert json.loads(process.stdout.readline())["tick"] == 0
        process.stdout.close()
        assert process.wait(timeout=6 * CEILING) == 141
        assert complaints(process.stderr.read()) == []
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


# ---------------------------------------------------------------- durations


def ticks_of(arguments: list[str], capsys) -> int:
    assert main(arguments) == 0
    output = capsys.readouterr().out
    return int(re.search(r"^(\d+) steps: ", output, re.MULTILINE).group(1))


@pytest.mark.parametrize(
    ("duration", "ticks"),
    [
        (["--ticks", "7"], 7),
        (["--ticks", "0"], 0),
        (["--seconds", "0.5"], 60),
        (["--seconds", "0"], 0),
        (["--seconds", "0.1"], 12),
    ],
)
def test_a_run_lasts_as_long_as_it_is_told(scene, duration, ticks, capsys):
    assert ticks_of(["simulate", scene, *duration], capsys) == ticks


def test_a_run_lasts_20_s_when_nobody_says(scene, capsys):
    assert ticks_of(["simulate", scene], capsys) == 2400


def test_a_later_kept_tick_makes_such_a_run_longer(scene, tmp_path, capsys):
    arguments = ["simulate", scene, "--keep", "2500", "--trace", str(tmp_path / "trace")]
    assert ticks_of(arguments, capsys) == 2500


# ---------------------------------------------------------------- the summary


def test_the_summary_says_what_every_arm_does_holds_and_caught(scene, capsys):
    assert main(["simulate", scene, "--seconds", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].strip() == "One [bold] arm"
    header = next(line for line in lines if "tip error" in line)
    assert re.split(r"\s{2,}", header.strip()) == [
        "arm",
        "state",
        "tip error [mm]",
        "contacts",
        "holds",
        "captured",
    ]
    rows = {line.split()[0]: re.split(r"\s{2,}", line.strip()) for line in lines if line.strip()}
    assert re.fullmatch(r"1 \(crab\) at 0\.\d\d s", rows["3"][5])
    assert rows["3"][1] in ("Retracting", "Holding")
    assert rows["3"][4] == "1 (crab)"
    assert float(rows["3"][2]) >= 0.0
    assert rows["5"][1:] == ["Idle", "-", "0", "-", "-"]
    assert re.fullmatch(r"120 steps: 1\.00 s simulated in \d+\.\d\d s, \d+ x real time", lines[-1])


def test_one_step_is_told_of_in_the_singular(scene, capsys):
    assert main(["simulate", scene, "--seconds", "0.008"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("1 step: 0.01 s simulated")


def test_a_pixel_scene_has_its_errors_in_pixels(tmp_path, capsys):
    path = tmp_path / "scene.json"
    path.write_text('{"version": 1, "name": "p"}', encoding="utf-8")
    assert main(["simulate", str(path), "--ticks", "1"]) == 0
    assert "tip error [px]" in capsys.readouterr().out


def test_a_shipped_scene_runs_by_its_name(capsys):
    assert main(["simulate", "first_reach", "--seconds", "3"]) == 0
    assert "Reached" in capsys.readouterr().out


def test_nothing_but_the_summary_is_printed_where_nobody_watches(scene):
    result = run("simulate", scene, "--ticks", "200")
    assert result.returncode == 0
    assert complaints(result.stderr) == []
    assert "\x1b" not in result.stdout


def test_a_terminal_sees_how_far_the_run_is_and_the_output_file_does_not(scene):
    reader, writer = pty.openpty()
    with subprocess.Popen(
        command("simulate", scene, "--ticks", "4000"),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=writer,
    ) as process:
        os.close(writer)
        shown = b""
        with pytest.raises(OSError):  # What a terminal without a writer gives at its end.
            while chunk := os.read(reader, 4096):
                shown += chunk
        os.close(reader)
        printed = process.stdout.read()
        assert process.wait(timeout=6 * CEILING) == 0
    assert b"simulating" in shown
    assert b"100%" in shown
    assert b"simulating" not in printed


def test_ctrl_c_ends_a_run_with_130_and_leaves_whole_lines_in_the_trace(scene, tmp_path):
    trace = tmp_path / "trace.jsonl"
    process = subprocess.Popen(
        command("simulate", scene, "--seconds", "100000", "--trace", str(trace)),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 6 * CEILING
        while not (trace.exists() and trace.stat().st_size > 100_000):
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=CEILING)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert output == ""
    assert complaints(errors) == ["octo-reach: interrupted"]
    text = trace.read_text(encoding="utf-8")
    assert text.endswith("\n")
    assert json.loads(text.splitlines()[-1])["tick"] > 0


# ---------------------------------------------------------------- refusals


def test_an_unknown_scene_is_refused_with_the_shipped_ones(capsys):
    line = refusal(["simulate", "rief"], capsys)
    assert "first_reach" in line
    assert "did you mean reef?" in line


def test_a_bad_scene_is_refused_with_a_line_for_every_problem(tmp_path, capsys):
    path = tmp_path / "bad.yaml"
    path.write_text("version: 2\nname: ''\n", encoding="utf-8")
    assert main(["simulate", str(path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith(f"octo-reach: {path}: ") for line in lines)


def test_the_external_planner_is_refused_since_nobody_proposes_anything(scene, capsys):
    assert "--planner external makes no sense" in refusal(
        ["simulate", scene, "--planner", "external"], capsys
    )


def test_an_unknown_planner_is_refused_with_those_there_are(scene, capsys):
    line = refusal(["simulate", scene, "--planner", "psychic"], capsys)
    assert "neighbour" in line
    assert "'psychic'" in line
    assert "external" not in line


def test_kept_ticks_without_a_trace_are_refused(scene, capsys):
    for choice in (["--every", "2"], ["--keep", "1"]):
        assert "--trace" in refusal(["simulate", scene, *choice], capsys)


def test_kept_ticks_beyond_the_run_are_refused(scene, tmp_path, capsys):
    trace = tmp_path / "trace"
    arguments = ["simulate", scene, "--ticks", "9", "--keep", "3,10", "--trace", str(trace)]
    assert "0 to 9, got 10" in refusal(arguments, capsys)
    assert not trace.exists()


def test_files_that_cannot_be_written_are_refused_before_the_run(scene, tmp_path, capsys):
    nowhere = tmp_path / "nowhere"
    forever = ["simulate", scene, "--seconds", "1e8"]
    assert "No such file" in refusal([*forever, "--trace", str(nowhere / "trace")], capsys)
    assert "cannot be written" in refusal([*forever, "--picture", str(nowhere / "a.png")], capsys)
    assert "cannot be written" in refusal([*forever, "--animation", str(nowhere / "a.gif")], capsys)
    (tmp_path / "folder.png").mkdir()
    folder = str(tmp_path / "folder.png")
    assert "cannot be written" in refusal([*forever, "--picture", folder], capsys)


@pytest.mark.parametrize(
    ("option", "name"), [("--picture", "a.png"), ("--animation", "a.gif"), ("--bag", "a.mcap")]
)
def test_one_file_for_two_outputs_is_refused_before_the_run(
    option, name, scene, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    Path("link").symlink_to(".")
    forever = ["simulate", scene, "--seconds", "1e8", "--trace", name]
    for again in (name, f"./{name}", f"link/{name}", str(tmp_path / name)):
        line = refusal([*forever, option, again], capsys)
        assert line == f"octo-reach: --trace and {option} would both write {Path(again)}"
    assert not Path(name).exists()


def test_outputs_to_nowhere_may_be_many(scene, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    for name in ("null.png", "null.gif"):
        Path(name).symlink_to("/dev/null")
    null = ["--trace", "/dev/null", "--picture", "null.png", "--animation", "null.gif"]
    assert main(["simulate", scene, "--ticks", "1", *null]) == 0


def test_pictures_of_another_kind_are_refused_with_the_kinds_there_are(scene, capsys):
    assert ".png, .svg, .pdf" in refusal(["simulate", scene, "--picture", "a.jpg"], capsys)
    assert ".gif" in refusal(["simulate", scene, "--animation", "a.mp4"], capsys)


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (["--ticks", "-1"], "a number of steps, 0 or more, got '-1'"),
        (["--ticks", "1.5"], "a number of steps, 0 or more"),
        (["--ticks", "1_0"], "a number of steps, 0 or more"),
        (["--seconds", "nan"], "a number of seconds, 0 or more, got 'nan'"),
        (["--seconds", "inf"], "a number of seconds, 0 or more"),
        (["--seconds=-2"], "a number of seconds, 0 or more"),
        (["--every", "0"], "a number of steps, 1 or more, got '0'"),
        (["--keep", "1,,2"], "ticks like 1,2,5"),
        (["--keep", "a"], "ticks like 1,2,5"),
        (["--ticks", "1", "--seconds", "1"], "not allowed with"),
        (["--every", "1", "--keep", "1"], "not allowed with"),
    ],
)
def test_numbers_out_of_range_are_refused_with_their_rule(scene, arguments, rule, capsys):
    assert rule in usage_error(["simulate", scene, *arguments], capsys)


# ---------------------------------------------------------------- the program


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"octo-reach {octo_reach.__version__}\n"


def test_every_command_is_listed_with_what_it_does():
    text = build_parser().format_help()
    for name in COMMANDS:
        assert re.search(rf"^    {name} +\w", text, re.MULTILINE)


def test_help_imports_nothing_that_is_slow_to_import():
    script = (
        "import sys\n"
        "from octo_reach.cli import build_parser\n"
        "build_parser().format_help()\n"
        "slow = {'numpy', 'numba', 'yaml', 'rich', 'matplotlib', 'rclpy'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(slow)) or 0)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=CEILING,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_simulate_needs_neither_ros_nor_the_extras(scene):
    script = (
        "import sys\n"
        "for name in ('rclpy', 'numba', 'matplotlib', 'PIL', 'transforms3d'):\n"
        "    sys.modules[name] = None\n"
        "from octo_reach.cli import main\n"
        f"sys.exit(main(['simulate', {scene!r}, '--ticks', '5']))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=CEILING,
        check=False,
    )
    assert result.returncode == 0
    assert "5 steps" in result.stdout


@pytest.mark.parametrize("option", ["--picture=a.png", "--animation=a.gif"])
def test_a_missing_extra_is_named_before_the_run(option, scene, monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.chdir(tmp_path)
    line = refusal(["simulate", scene, "--seconds", "1e8", option], capsys)
    assert "needs matplotlib" in line
    assert "pip install '.[plot]'" in line


def test_a_disk_that_is_full_is_named_in_one_line(scene, capsys):
    line = refusal([*["simulate", scene, "--seconds", "1"], "--trace", "/dev/full"], capsys)
    assert line == "octo-reach: --trace: /dev/full: No space left on device"
