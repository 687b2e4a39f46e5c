"""`octo-reach bench node` over real processes, all of which end with it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from harness import CEILING, NodeProcess

COMMAND = [sys.executable, "-m", "octo_reach.cli", "bench", "node", "--seconds"]
CONTROLLER = "octo_reach.nodes.reach_controller"
ONE = ["--arms", "1", "--subscribers", "1"]


def children_of(pid: int) -> dict[int, list[str]]:
    """Give the command line of every child of a process, by its id."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((path / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
            words = (path / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except (OSError, ValueError):
            continue  # it has just ended
        if parent == pid:
            found[int(path.name)] = words
    return found


@pytest.fixture
def bench(ros_context, tmp_path, probe):
    """A bench that would take minutes, when its three processes are there."""
    process = NodeProcess("bench", [*COMMAND, "300", *ONE], tmp_path)
    try:
        process.wait_for_line("1 arm, 1 subscriber")
        probe.wait_until(
            lambda: len(children_of(process.process.pid)) == 3, "world, controller and listener"
        )
        yield process, children_of(process.process.pid)
    finally:
        if process.running:
            process.kill()


def check_ended(probe, children) -> None:
    probe.wait_until(
        lambda: not any(Path(f"/proc/{pid}").exists() for pid in children),
        f"the end of {children}",
    )


def test_a_row_says_how_the_controller_did(ros_context, tmp_path):
    done = subprocess.run(
        [*COMMAND, "1", *ONE, "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=3 * CEILING,
    )
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert (row["arms"], row["subscribers"]) == (1, 1)
    assert row["steps"] > 0
    assert 0 <= row["missed"] <= row["steps"]
    assert row["rate_hz"] > 0.0
    assert row["worst_step_ms"] > 0.0
    assert row["processor_share"] > 0.0
    assert row["latencies"] > 0
    assert 0.0 < row["latency_median_ms"] <= row["latency_p99_ms"] < 250.0
    assert "1 arm, 1 subscriber" in done.stderr
    assert "Traceback" not in done.stderr
    domain = re.search(r"in ROS domain (\d+)", done.stderr)[1]
    assert domain != os.environ["ROS_DOMAIN_ID"]


def test_interrupted_it_ends_everything(bench, probe):
    process, children = bench
    process.send_signal(signal.SIGINT)
    assert process.wait(2 * CEILING) == 130
    check_ended(probe, children)
    assert "Traceback" not in process.output


def test_a_node_that_dies_is_told_of_with_its_last_lines_and_ends_the_rest(bench, probe):
    process, children = bench
    controller = next(pid for pid, words in children.items() if CONTROLLER in words)
    os.kill(controller, signal.SIGKILL)
    assert process.wait(2 * CEILING) == 1
    assert "reach_controller ended by itself" in process.output
    check_ended(probe, children)
