"""Each launch test, run by ROS 2's own `launch_test`, where there is one.

`launch_test test/launch/launch_reach.py` runs one by hand.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent
CEILING = 150.0
"""Longest a launch test may take, s, with the start of its nodes and their end."""

pytestmark = pytest.mark.launch_files  # `launch` is a mark of ROS 2 itself


def missing() -> str:
    """Say what keeps the launch tests from running here, or nothing."""
    for package in ("launch_testing", "launch_ros", "ament_index_python", "rclpy"):
        if importlib.util.find_spec(package) is None:
            return f"{package} is not installed: it comes with a full ROS 2, not with its wheels"
    from ament_index_python.packages import PackageNotFoundError, get_package_prefix

    try:
        prefix = get_package_prefix("octo_reach")
    except PackageNotFoundError:
        prefix = None
    if prefix is None or not Path(prefix, "lib", "octo_reach", "reach_controller").is_file():
        return "octo_reach is not built: run colcon build and source its setup.bash first"
    return ""


@pytest.fixture
def environment(tmp_path):
    """An environment with a DDS domain that no other test session of this machine has."""
    sys.path.append(str(FOLDER.parent / "ros"))
    from harness import own_environment

    from octo_reach.nodes.own_domain import free_domain

    with free_domain() as domain:
        yield {**os.environ, **own_environment(domain, tmp_path)}


@pytest.mark.skipif(bool(missing()), reason=missing())
@pytest.mark.parametrize(
    "name", ["launch_reach", "launch_octopus", "launch_namespace", "launch_viewer"]
)
def test_launch_file(name, environment, tmp_path):
    output = tmp_path / "output"
    with open(output, "w", encoding="utf-8") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "launch_testing.launch_test", FOLDER / f"{name}.py"],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(CEILING)
        finally:
            # What was launched is in the same session; it must not outlive a failed test.
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
                try:
                    process.wait(10.0)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait(10.0)
    assert code == 0, output.read_text(encoding="utf-8", errors="replace")[-6000:]
