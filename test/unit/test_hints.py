import os
import shlex
import stat
import subprocess
import sys

import pytest

from octo_reach.commands import hints
from octo_reach.commands.hints import fold_command, home_relative, own_command, target_commands


@pytest.fixture
def no_domain(monkeypatch):
    monkeypatch.delenv("ROS_DOMAIN_ID", raising=False)


def make_program(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_target_can_be_sent_with_our_command_and_with_that_of_ros(no_domain):
    assert target_commands("octo-reach", "/", 1, 0.15, 0.1) == (
        "octo-reach send target arm_1 0.15 0.1",
        "ros2 topic pub --once /arm_1/target geometry_msgs/msg/PointStamped"
        ' "{point: {x: 0.15, y: 0.1}}"',
    )


def test_the_commands_name_the_namespace_and_a_domain_that_was_chosen(monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", "7")
    ours, theirs = target_commands("./run", "/lab", 2, -0.1, 0.0)

    assert ours == "ROS_DOMAIN_ID=7 ./run send --namespace /lab target arm_2 -0.1 0"
    assert theirs.startswith("ROS_DOMAIN_ID=7 ros2 topic pub --once /lab/arm_2/target ")


@pytest.mark.parametrize("width", [None, 10, 40, 80, 98, 200])
def test_a_shell_takes_a_folded_command_for_the_same(no_domain, width):
    command = target_commands("octo-reach", "/", 1, 0.15, 0.1)[1]
    lines = fold_command(command, width)
    script = "printf '%s\\n' " + "\n".join(lines)
    said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout

    assert said.splitlines() == shlex.split(command)


def test_a_command_is_folded_only_where_it_is_too_long_and_then_fits(no_domain):
    command = target_commands("octo-reach", "/", 1, 0.15, 0.1)[1]

    assert fold_command(command, None) == [command]
    assert fold_command(command, len(command) + 2) == [command]
    assert len(fold_command(command, len(command) + 1)) == 2
    assert max(map(len, fold_command(command, 80))) <= 78


def test_a_program_on_the_path_is_called_by_its_name(monkeypatch, tmp_path):
    program = make_program(tmp_path / "bin" / "octo-reach")
    monkeypatch.setattr(sys, "argv", [str(program), "run"])
    monkeypatch.setenv("PATH", str(program.parent))

    assert own_command() == "octo-reach"


def test_a_program_of_a_checkout_is_called_by_its_run_script(monkeypatch, tmp_path):
    program = make_program(tmp_path / ".venv" / "bin" / "octo-reach")
    make_program(tmp_path / "run")
    monkeypatch.setattr(hints, "share_path", lambda: tmp_path)
    monkeypatch.setattr(sys, "argv", [str(program), "run"])
    monkeypatch.setenv("PATH", os.defpath)

    monkeypatch.chdir(tmp_path)
    assert own_command() == "./run"
    (tmp_path / "config").mkdir()
    monkeypatch.chdir(tmp_path / "config")
    assert own_command() == "../run"


def test_another_program_is_called_by_its_path(monkeypatch, tmp_path):
    program = make_program(tmp_path / "my venv" / "bin" / "octo-reach")
    monkeypatch.setattr(sys, "argv", [str(program), "run"])
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.chdir(tmp_path)

    assert own_command() == "'my venv/bin/octo-reach'"


def test_a_module_is_called_as_one(monkeypatch):
    monkeypatch.setattr(sys, "argv", [os.path.join("octo_reach", "cli.py")])

    assert own_command() == f"{shlex.quote(sys.executable)} -m octo_reach.cli"


def test_a_path_at_home_is_shortened(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))

    assert home_relative(tmp_path / "log" / "a.log") == "~/log/a.log"
    assert home_relative(tmp_path.parent / "b.log") == str(tmp_path.parent / "b.log")
