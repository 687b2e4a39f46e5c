"""`octo-reach run` with its view in a browser."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import urllib.request
from pathlib import Path

import pytest
from harness import CEILING, NodeProcess
from pages import taken_port

from octo_reach.cli import build_parser
from octo_reach.commands.run import make_plan
from octo_reach.commands.session import intro
from octo_reach.viewer.address import HOST, free_port

SCENE = """\
version: 1
name: Pool
units: metre
layout: listed
arms: [{number: 1, target: {position: [0.1, 0.15]}}]
"""
START = 2.0 * CEILING


@pytest.fixture
def start_run(domain, tmp_path):
    """Starts a run of one arm that prints lines."""
    scene = tmp_path / "scene.yaml"
    scene.write_text(SCENE, encoding="utf-8")
    runs = []

    def start_run(*words: str) -> NodeProcess:
        command = [sys.executable, "-m", "octo_reach.cli", "run", str(scene), *words]
        runs.append(NodeProcess("octo-reach run", command, tmp_path))
        return runs[-1]

    yield start_run
    for run in runs:
        if run.running:
            run.kill()


def viewer_of(run: NodeProcess) -> int:
    for task in Path(f"/proc/{run.process.pid}/task").iterdir():
        for child in (task / "children").read_text(encoding="ascii").split():
            if b"octo_reach.nodes.viewer" in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
    raise AssertionError("the run has no viewer")


def test_a_run_says_where_its_page_is_and_goes_on_when_the_viewer_dies(start_run):
    run = start_run("--viewer-port", "0")
    line = run.wait_for_line(r"See it in a browser", START)
    address = re.search(r"http://127\.0\.0\.1:[1-9]\d*$", line)[0]
    run.wait_for_line(r"\d Hz, .*arm_1 ", START)
    viewer = viewer_of(run)
    with urllib.request.urlopen(address, timeout=CEILING) as page:
        assert b"<html" in page.read(2000)
    os.kill(viewer, signal.SIGKILL)
    run.wait_for_line(r"viewer: ended \(SIGKILL\); the arms go on without it")
    run.mark()
    run.wait_for_line(r"\d Hz, .*arm_1 ")
    assert run.stop() == 0
    assert "Traceback" not in run.output


def test_a_run_whose_port_is_taken_goes_on_without_a_page_and_says_so():
    with taken_port() as port:
        words = ["run", "first_reach", "--viewer-port", str(port)]
        plan = make_plan(build_parser().parse_args(words))
    assert plan.viewer is None
    (line,) = [text.plain for text in intro(plan, None, None) if "browser" in text.plain]
    assert line.startswith("No view in a browser: the viewer's port")
    assert line.endswith(
        f"{port} on 127.0.0.1 is taken by another program; --viewer-port chooses another"
    )


def test_a_run_ends_its_viewer_with_the_other_nodes(start_run):
    port = free_port(HOST)
    run = start_run("--viewer-port", str(port))
    run.wait_for_line(r"\d Hz, .*arm_1 ", START)
    viewer = viewer_of(run)
    assert run.stop() == 0
    assert not Path(f"/proc/{viewer}").exists()
    assert "killed" not in run.output
    with socket.create_server(("127.0.0.1", port)):
        pass
