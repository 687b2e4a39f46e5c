"""What octo-reach does where its standard output cannot be written."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import octo_reach
from octo_reach.cli import main

ROOT = Path(octo_reach.__file__).resolve().parents[1]
CEILING = 60.0
"""How long a process may take, s: far longer than it needs."""
FULL = "octo-reach: the output cannot be written: No space left on device"


@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "detour"],
        ["simulate", "detour", "--ticks", "1"],
        ["simulate", "detour", "--ticks", "1", "--trace", "-"],
        ["simulate", "detour", "--ticks", "60", "--trace", "-"],
        ["sweep", "detour", "--ticks", "1", "--jobs", "1"],
        ["bench", "planners", "detour", "--planners", "neighbour", "--seconds", "0", "--jobs", "1"],
    ],
    ids=" ".join,
)
def test_an_output_that_is_full_is_one_line(arguments, monkeypatch, capsys):
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(arguments) == 2
    errors = capsys.readouterr().err.splitlines()
    assert errors[-1] == FULL
    assert not any("Traceback" in line for line in errors)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["validate", "detour"]])
def test_python_says_nothing_more_of_it_at_its_exit(arguments, unbuffered):
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = subprocess.run(
            [sys.executable, "-m", "octo_reach.cli", *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=CEILING,
            check=False,
        )
    assert (result.returncode, result.stderr) == (2, f"{FULL}\n")


@pytest.mark.parametrize("arguments", [["--version"], ["validate", "detour"]])
def test_where_the_output_is_closed_it_goes_nowhere(arguments):
    result = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "octo_reach.cli", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
        timeout=CEILING,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_a_failure_that_the_command_dealt_with_is_not_told_again(monkeypatch):
    def be_content(arguments):
        with contextlib.suppress(OSError):
            print("something", flush=True)
        os.dup2(nowhere.fileno(), full.fileno())
        return 0

    monkeypatch.setattr("octo_reach.commands.validate.execute", be_content)
    with open("/dev/full", "w", encoding="utf-8") as full, open(os.devnull, "w") as nowhere:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(["validate", "detour"]) == 0


def test_a_failure_of_something_else_is_not_blamed_on_the_output(monkeypatch, capsys):
    def fail(arguments):
        print("something")
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("octo_reach.commands.validate.execute", fail)
    with pytest.raises(OSError, match="Too many open files"):
        main(["validate", "detour"])
    assert "cannot be written" not in capsys.readouterr().err


def test_the_standard_output_is_as_it_was_afterwards(capsys):
    before = sys.stdout
    assert main(["validate", "detour"]) == 0
    assert sys.stdout is before
