"""octo-reach sweep, in this process and as a process of its own."""

from __future__ import annotations

import csv
import io
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
from octo_reach.batch import COLUMNS
from octo_reach.cli import main

ROOT = Path(octo_reach.__file__).resolve().parents[1]
CEILING = 20.0
"""How long a process may take, s: far longer than it needs."""

SCENE = """\
version: 1
name: One arm
units: metre
layout: listed
obstacles: [{position: [0.1, -0.2], radius: 0.01}]
arms: [{number: 3, base: [0, 0], target: {position: [0.1, 0.2]}}]
"""
BARE = "{version: 1, name: Bare, layout: listed}"


@pytest.fixture
def scene(tmp_path) -> str:
    path = tmp_path / "scene.yaml"
    path.write_text(SCENE, encoding="utf-8")
    return str(path)


@pytest.fixture
def bare(tmp_path) -> str:
    path = tmp_path / "bare.yaml"
    path.write_text(BARE, encoding="utf-8")
    return str(path)


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def refusal(arguments: list[str], capsys) -> str:
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    (line,) = output.err.splitlines()
    assert line.startswith("octo-reach: ")
    return line


def test_the_table_goes_to_the_standard_output_and_the_summary_does_not(scene, capsys):
    assert main(["sweep", scene, "first_reach", "--jobs", "1"]) == 0
    output = capsys.readouterr()
    first, second = table(output.out)
    assert tuple(first) == tuple(COLUMNS)
    assert (first["scene"], first["seed"], first["arm"]) == (scene, "", "3")
    assert (first["reached"], first["units"], first["planner"]) == ("true", "metre", "neighbour")
    assert float(first["seconds"]) > 0.1
    assert float(first["path_ratio"]) > 0.9
    assert second["scene"] == "first_reach"
    assert re.search(r"^octo-reach: 2 runs in \d+\.\d s: 2 of 2 arms sent", output.err, re.M)


def test_who_caught_something_on_the_way_is_counted_apart(capsys):
    assert main(["sweep", "reef", "--ticks", "600", "--jobs", "1"]) == 0
    output = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(output.out)))
    sent = [row for row in rows if row["reached"]]
    reached = sum(row["reached"] == "true" for row in sent)
    caught = sum(row["reached"] == "false" and int(row["captures"]) > 0 for row in sent)
    assert caught > 0
    expected = f"{reached} of {len(sent)} arms sent somewhere got there, {caught} caught something"
    assert expected in output.err


def test_seeds_count_from_one_and_repeat_to_the_last_byte(scene, tmp_path, capsys):
    sweep = ["sweep", scene, "--vary", "targets", "--seeds", "4", "--ticks", "60"]
    files = []
    for jobs in ("1", "1", "2"):
        files.append(tmp_path / f"table-{len(files)}.csv")
        assert main([*sweep, "--jobs", jobs, "--output", str(files[-1])]) == 0
    assert capsys.readouterr().out == ""
    assert [row["seed"] for row in table(files[0].read_text())] == ["1", "2", "3", "4"]
    assert len({file.read_bytes() for file in files}) == 1


def test_a_run_that_fails_is_a_row_and_the_exit_code_says_so(tmp_path, capsys):
    full = tmp_path / "full.yaml"
    full.write_text(SCENE.replace("radius: 0.01", "radius: 9"), encoding="utf-8")
    sweep = ["sweep", str(full), "--vary", "targets", "--seeds", "2", "--jobs", "1"]
    assert main(sweep) == 1
    output = capsys.readouterr()
    assert [row["error"] for row in table(output.out)] == [
        "RandomisingError: arm 3 of 'One arm' has no room for a target"
    ] * 2
    assert "octo-reach: 2 runs failed: the column error says why\n" in output.err


def test_parquet_is_written_by_its_suffix(scene, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    output = tmp_path / "table.parquet"
    assert main(["sweep", scene, "--jobs", "1", "--ticks", "5", "--output", str(output)]) == 0
    (row,) = parquet.read_table(output).to_pylist()
    assert (row["arm"], row["seed"], row["reached"]) == (3, None, False)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--seeds", "3"], "--seeds counts scenes that vary: give --vary as well"),
        (["--vary", "food"], "--vary must be one of targets, obstacles, got 'food'"),
        (["--vary", "targets", "--seeds", "0"], "--seeds must be an integer from 1 to .*, got '0'"),
        (["--jobs", "two"], "--jobs must be an integer from 1 to .*, got 'two'"),
        (["--jobs", "-1"], "--jobs must be an integer from 1 to .*, got '-1'"),
        (["--ticks", "1_0"], "--ticks must be an integer from 1 to .*, got '1_0'"),
        (["--seconds", "nan"], "--seconds must be a number of seconds, 0 or more, got 'nan'"),
        (["--planner", "magic"], "--planner must be one of neighbour.*, got 'magic'"),
        (["--planner", "external"], "--planner must be one of neighbour.*, got 'external'"),
        (["--planner", "neighbour,neighbour"], "--planner names neighbour twice"),
        (["--output", "table.xls"], r"--output must be a file name that ends in \.csv, .*\.xls"),
        (["--output", "no/such/table.csv"], "--output: no/such/table.csv cannot be written"),
        (["first_reach", "first_reach"], "SCENE first_reach is given twice"),
        (["nowhere"], "nowhere: there is no such file, and the shipped scenes are: "),
        (["--scheduler", "here"], "--scheduler must be an address such as .*, got 'here'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_makes_no_sense_is_refused_in_one_line(options, complaint, scene, capsys):
    if "--scheduler" in options:
        pytest.importorskip("distributed", reason="distributed is not installed")
    assert re.search(complaint, refusal(["sweep", scene, *options], capsys))


def test_a_scene_with_nothing_to_vary_is_refused_before_any_run(bare, scene, capsys):
    for vary, what in (("targets", "no arm of .* has a target"), ("obstacles", "no obstacle")):
        line = refusal(["sweep", scene, bare, "--vary", vary], capsys)
        assert re.search(rf"--vary {vary}: .*{what}", line)
        assert bare in line


@pytest.mark.parametrize(
    ("options", "module", "extra"),
    [
        (["--output", "table.parquet"], "pyarrow", "parquet"),
        (["--scheduler", "tcp://127.0.0.1:8786"], "distributed", "cluster"),
    ],
)
def test_a_missing_extra_is_named(options, module, extra, scene, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    line = refusal(["sweep", scene, *options], capsys)
    assert f"needs {module}, which is not installed here" in line
    assert f"pip install '.[{extra}]'" in line


# ---------------------------------------------------------------- as a process of its own


class Session:
    """The command in a session of its own, on a terminal of which only errors are read."""

    def __init__(self, *arguments: str) -> None:
        terminal, theirs = pty.openpty()
        self.terminal = terminal
        self.seen = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "octo_reach.cli", "sweep", *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", "TERM": "xterm"},
            stdout=subprocess.PIPE,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    def read_until(self, pattern: str) -> None:
        end = time.monotonic() + CEILING
        while not re.search(pattern, self.seen):
            assert time.monotonic() < end, self.seen[-500:]
            self.seen += os.read(self.terminal, 4096).decode(errors="replace")

    def rest(self) -> str:
        output = self.process.communicate(timeout=CEILING)[0].decode()
        while True:
            try:
                fresh = os.read(self.terminal, 4096)
            except OSError:  # Linux: nobody has the other end any more.
                return output
            if not fresh:
                return output
            self.seen += fresh.decode(errors="replace")

    def group(self) -> list[int]:
        """Give the processes of the session that are alive."""
        found = []
        for folder in Path("/proc").iterdir():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if folder.name.isdigit() and fields[3] == str(self.process.pid) and fields[0] != "Z":
                found.append(int(folder.name))
        return found

    def wait_until_empty(self) -> None:
        # What Python itself starts beside the workers ends a moment after the command.
        end = time.monotonic() + CEILING
        while self.group():
            assert time.monotonic() < end, "a process outlives the sweep"
            time.sleep(0.02)

    def end(self) -> None:
        for process in self.group():
            os.kill(process, signal.SIGKILL)
        self.process.wait(CEILING)
        self.process.stdout.close()
        os.close(self.terminal)


@pytest.fixture
def session():
    sessions = []

    def start(*arguments: str) -> Session:
        sessions.append(Session(*arguments))
        return sessions[-1]

    yield start
    for one in sessions:
        one.end()


LONG = ("reef", "--vary", "targets", "--seeds", "9000", "--ticks", "120", "--jobs", "2")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_all_processes_and_keeps_the_rows(number, session, tmp_path):
    output = tmp_path / "table.csv"
    sweep = session(*LONG, "--output", str(output))
    sweep.read_until(r"sweeping .* [1-9][0-9]*/9000")
    assert len(sweep.group()) >= 3
    # Ctrl-C reaches every process of the terminal, a batch system the first alone.
    if number == signal.SIGINT:
        os.killpg(sweep.process.pid, number)
    else:
        os.kill(sweep.process.pid, number)
    assert sweep.rest() == ""
    assert sweep.process.returncode == 130
    kept = re.search(r"octo-reach: interrupted; .*table\.csv has (\d+) runs? of 9000", sweep.seen)
    assert kept, sweep.seen[-300:]
    assert "Traceback" not in sweep.seen
    rows = table(output.read_text())
    assert len(rows) == 8 * int(kept[1]) > 0
    assert all(row["error"] == "" for row in rows)
    sweep.wait_until_empty()


def test_an_interrupt_without_a_file_says_that_nothing_is_kept(session):
    sweep = session(*LONG)
    sweep.read_until(r"sweeping .* [1-9][0-9]*/9000")
    os.killpg(sweep.process.pid, signal.SIGINT)
    assert sweep.rest() == ""
    assert sweep.process.returncode == 130
    assert "interrupted; no row is kept; with --output FILE those of the runs done are" in (
        sweep.seen
    )


def test_processes_end_when_the_sweep_is_killed(session):
    sweep = session(*LONG)
    sweep.read_until(r"sweeping .* [1-9][0-9]*/9000")
    sweep.process.kill()
    sweep.process.wait(CEILING)
    sweep.wait_until_empty()
