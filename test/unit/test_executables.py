import signal
import subprocess
import sys

import pytest

from octo_reach.nodes import executables

SLOW_IMPORT = """
import sys

class SlowFinder:
    def find_spec(self, name, path=None, target=None):
        if name == "octo_reach.nodes.{module}":
            while True:
                try:
                    print("importing", name, flush=True)
                    sys.stdin.read()
                except BaseException:
                    pass  # as libraries do here and there

from octo_reach.nodes import executables
sys.meta_path.insert(0, SlowFinder())
sys.exit(executables.{executable}())
"""

PLANNER_NODES = ("fabrik_planner", "jacobian_planner", "guided_planner")
EXECUTABLES = ("reach_controller", "simulated_world", "ompl_planner", "viewer", *PLANNER_NODES)


def module_of(executable):
    return "planner_node" if executable in PLANNER_NODES else executable


@pytest.mark.parametrize("executable", EXECUTABLES)
def test_without_ros_an_executable_says_what_is_missing_in_one_line(executable):
    code = f"""
import sys
sys.modules["rclpy"] = sys.modules["builtin_interfaces"] = None
from octo_reach.nodes import executables
sys.exit(executables.{executable}())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "is not installed here" in line
    assert "pip install '.[ros]'" in line


@pytest.mark.parametrize("executable", [*EXECUTABLES, "handles"])
@pytest.mark.parametrize("asked", ["-h", "--help"])
def test_help_says_what_a_node_is_and_starts_nothing(executable, asked, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [executable, asked])
    monkeypatch.setitem(sys.modules, f"octo_reach.nodes.{module_of(executable)}", None)
    assert getattr(executables, executable)() == 0
    output = capsys.readouterr()
    assert output.out.startswith(f"usage: {executable} [--ros-args")
    assert output.err == ""


def test_without_its_browser_library_the_viewer_says_how_to_get_it():
    pytest.importorskip("rclpy", reason="rclpy is not installed")
    code = """
import sys
sys.modules["viser"] = None
from octo_reach.nodes import executables
sys.exit(executables.viewer())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "needs viser, which is not installed here" in line
    assert "pip install 'viser<1.2'" in line and "pip install '.[viewer]'" in line


def test_without_interactive_markers_the_handles_say_where_they_come_from():
    pytest.importorskip("rclpy", reason="rclpy is not installed")
    code = """
import os, sys
os.environ["ROS_DISTRO"] = "jazzy"
sys.modules["interactive_markers"] = None
from octo_reach.nodes import executables
sys.exit(executables.handles())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "needs interactive_markers, which is not installed here" in line
    assert "ros-jazzy-interactive-markers" in line


@pytest.mark.parametrize("executable", ["reach_controller", "simulated_world", "guided_planner"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_the_node_is_still_imported_ends_it_quietly(executable, number):
    code = SLOW_IMPORT.format(executable=executable, module=module_of(executable))
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            line = process.stdout.readline()
            assert line == f"importing octo_reach.nodes.{module_of(executable)}\n"
            process.send_signal(number)
            # Standard input stays open: only the signal can end the process.
            process.wait(timeout=10)
            assert process.stderr.read() == ""
            assert process.returncode == 0
        finally:
            process.kill()
