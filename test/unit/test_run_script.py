"""`./run` on machines that lack something, and what it hands to the program where nothing is amiss.

The machine is made of a folder of programs that is the whole PATH. Its `python3` answers for
itself, but makes environments and installs in no time: what it was asked for is in `calls`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from octo_reach.cli import COMMANDS

CHECKOUT = Path(__file__).resolve().parents[2]
INPUTS = ("run", "setup.py", "setup.cfg", "pyproject.toml", "constraints.txt")
TOOLS = ("sh", "cat", "chmod", "cp", "cut", "dirname", "grep", "id", "mkdir", "mv", "readlink")
MORE_TOOLS = ("rm", "tail", "uname", "env", "kill", "flock")

PYTHON = """#!/bin/sh
case "$1 $2" in
    "-m venv")
        echo venv >>"{calls}"
        mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && echo "VIRTUAL_ENV=$3" >"$3/bin/activate"
        exit ;;
    "-m pip")
        echo "$*" >>"{calls}"
        case "$*" in *"{failing}"*) echo "ERROR: it does not work"; exit 1 ;; esac
        case "$*" in
            *" -e "*) cp "{program}" "${{0%/*}}/octo-reach" ;;
        esac
        exit ;;
esac
[ "$1" != -c ] || {{ printf '%b\\n' "{answer}"; exit; }}
exec "{python}" "$@"
"""

PROGRAM = """#!/bin/sh
echo "arguments: $*"
echo "python path: ${PYTHONPATH-none}"
echo "prefix path: ${AMENT_PREFIX_PATH-none}"
echo "library path: ${LD_LIBRARY_PATH-none}"
echo "middleware: $RMW_IMPLEMENTATION"
echo "domain: ${ROS_DOMAIN_ID-none}"
[ "$2" != wait ] || kill -INT $$
exit 7
"""

pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "run").is_file() or not sys.platform.startswith("linux"),
    reason="needs a checkout, on Linux",
)


class Machine:
    """A machine with a checkout and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.checkout = folder / "a check out"
        self.checkout.mkdir()
        for name in INPUTS:
            shutil.copy(CHECKOUT / name, self.checkout / name)
        self.programs = folder / "bin"
        self.programs.mkdir()
        for name in (*TOOLS, *MORE_TOOLS):
            if path := shutil.which(name):
                (self.programs / name).symlink_to(path)
        self.calls = folder / "calls"
        self.program = folder / "program"
        self.program.write_text(PROGRAM, encoding="utf-8")
        self.program.chmod(0o755)
        self.home = folder

    def add_python(
        self, name: str = "python3", answer: str = "", failing: str = "no such argument"
    ) -> None:
        """Put a Python there.

        Args:
            name: its name.
            answer: what it says of itself when it is looked over; left out: that it will do.
            failing: argument with which its pip fails.
        """
        text = PYTHON.format(
            answer=answer or rf"yes\t{self.programs / name}\t3.12.3",
            calls=self.calls,
            failing=failing,
            program=self.program,
            python=getattr(sys, "_base_executable", sys.executable),
        )
        path = self.programs / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.programs / "sh", self.checkout / "run", *arguments],
            env={"PATH": str(self.programs), "HOME": str(self.home), **environment},
            cwd=self.home,
            text=True,
            capture_output=True,
            timeout=30,
            check=False,
        )

    @property
    def installs(self) -> int:
        if not self.calls.exists():
            return 0
        return self.calls.read_text(encoding="utf-8").count(" -e ")


@pytest.fixture
def machine(tmp_path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def ready(machine) -> Machine:
    machine.add_python()
    assert machine.run().returncode == 7
    return machine


def only_line(process: subprocess.CompletedProcess[str]) -> str:
    lines = process.stderr.splitlines()
    assert len(lines) == 1, process.stderr
    return lines[0]


# --- What is missing is said in one line ---


def test_no_python(machine):
    process = machine.run()
    assert process.returncode == 2
    assert only_line(process) == (
        "octo_reach: no python3 found on the PATH; CPython 3.10 to 3.13 is needed"
    )


def test_only_pythons_of_the_wrong_version(machine):
    machine.add_python("python3", r"no\t/usr/bin/python3\tPython 3.9.18")
    machine.add_python("python3.13", r"no\t/opt/python3.13\tfree-threaded Python 3.13.0")
    process = machine.run()
    assert process.returncode == 2
    assert only_line(process) == (
        "octo_reach: CPython 3.10 to 3.13 is needed; found Python 3.9.18 (/usr/bin/python3); "
        "free-threaded Python 3.13.0 (/opt/python3.13)"
    )


def test_no_venv_module(machine):
    machine.add_python("python3", r"bare\t/usr/bin/python3\t3.12.3")
    process = machine.run()
    assert process.returncode == 2
    assert only_line(process).endswith("on Debian and Ubuntu: apt install python3-venv")


def test_another_architecture(machine):
    machine.add_python()
    (machine.programs / "uname").unlink()
    (machine.programs / "uname").write_text(
        "#!/bin/sh\n[ $1 = -s ] && echo Linux || echo aarch64\n", encoding="utf-8"
    )
    (machine.programs / "uname").chmod(0o755)
    process = machine.run()
    assert process.returncode == 2
    assert only_line(process) == ("octo_reach: Linux on x86_64 is needed; this is Linux on aarch64")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_checkout_that_cannot_be_written(machine):
    machine.add_python()
    machine.checkout.chmod(0o555)
    process = machine.run()
    machine.checkout.chmod(0o755)
    assert process.returncode == 1
    assert only_line(process) == f"octo_reach: cannot write to {machine.checkout}"


def test_pip_failing_is_said_with_the_log(machine):
    machine.add_python(failing="-e")
    process = machine.run()
    assert process.returncode == 1
    last = process.stderr.splitlines()[-1]
    assert last.startswith("octo_reach: installing failed: ERROR: it does not work (log: ")
    log = last.partition("(log: ")[2].rstrip(")")
    assert "it does not work" in Path(log).read_text(encoding="utf-8")


# --- Which Python ---


def test_a_newer_python_beside_an_old_python3_is_taken(machine):
    machine.add_python("python3", r"no\t/usr/bin/python3\tPython 3.9.18")
    machine.add_python("python3.12")
    assert machine.run().returncode == 7


def test_a_python_that_can_make_environments_is_preferred(machine):
    machine.add_python("python3", r"bare\t/usr/bin/python3\t3.12.3")
    machine.add_python("python3.11")
    assert machine.run().returncode == 7


def test_a_stand_in_for_a_python_not_installed_is_passed_over(machine):
    path = machine.programs / "python3"
    path.write_text("#!/bin/sh\necho no such version >&2\nexit 127\n", encoding="utf-8")
    path.chmod(0o755)
    machine.add_python("python3.10")
    assert machine.run().returncode == 7


# --- When it sets up ---


def test_a_second_call_installs_nothing_and_says_nothing(ready):
    process = ready.run()
    assert (process.returncode, process.stderr, ready.installs) == (7, "", 1)


@pytest.mark.parametrize("name", ["setup.py", "constraints.txt", "pyproject.toml", "setup.cfg"])
def test_a_change_of_what_is_installed_installs_again(ready, name):
    with open(ready.checkout / name, "a", encoding="utf-8") as file:
        file.write("\n# changed\n")
    assert ready.run().returncode == 7
    assert ready.installs == 2
    assert ready.calls.read_text(encoding="utf-8").count("venv\n") == 1


def test_what_was_left_half_made_is_made_afresh(machine):
    machine.add_python(failing="-e")
    machine.run()
    machine.add_python()
    assert machine.run().returncode == 7
    assert machine.calls.read_text(encoding="utf-8").count("venv\n") == 2


@pytest.mark.parametrize("damage", ["empty", "no python", "no program", "a file"])
def test_a_damaged_environment_is_repaired(ready, damage):
    environment = ready.checkout / ".venv"
    if damage in ("empty", "a file"):
        shutil.rmtree(environment)
        environment.mkdir() if damage == "empty" else environment.touch()
    elif damage == "no python":
        (environment / "bin" / "python").unlink()
    else:
        (environment / "bin" / "octo-reach").unlink()
    assert ready.run().returncode == 7
    assert ready.run().stderr == ""


def test_a_checkout_that_was_moved_is_set_up_again(ready):
    moved = ready.checkout.with_name("moved")
    ready.checkout.rename(moved)
    ready.checkout = moved
    assert ready.run().returncode == 7
    assert str(moved) in (moved / ".venv" / "bin" / "activate").read_text(encoding="utf-8")


# --- What the program gets ---


def test_arguments_and_exit_code_pass_through(ready):
    process = ready.run("--scene", "my reef.yaml")
    assert process.returncode == 7
    assert "arguments: run --scene my reef.yaml\n" in process.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_other_commands_are_reached_too(ready, command):
    assert f"arguments: {command} more\n" in ready.run(command, "more").stdout


def test_the_program_takes_the_place_of_the_script(ready):
    assert ready.run("run", "wait").returncode == -signal.SIGINT


def test_a_sourced_ros_does_not_leak_in(ready):
    process = ready.run(
        PYTHONPATH="/opt/ros/jazzy/lib/python3.12/site-packages",
        AMENT_PREFIX_PATH="/home/me/ws/install/arm:/opt/ros/jazzy",
        LD_LIBRARY_PATH="/home/me/ws/install/arm/lib:/opt/ros/jazzy/lib:/my own/lib",
        RMW_IMPLEMENTATION="rmw_cyclonedds_cpp",
        ROS_DOMAIN_ID="42",
    )
    assert process.stdout.splitlines()[1:] == [
        "python path: none",
        "prefix path: none",
        "library path: /my own/lib",
        "middleware: rmw_fastrtps_cpp",
        "domain: 42",
    ]


def test_it_runs_without_a_home(ready):
    process = subprocess.run(
        [ready.programs / "sh", ready.checkout / "run"],
        env={"PATH": str(ready.programs)},
        text=True,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert (process.returncode, process.stderr) == (7, "")


def test_it_runs_through_a_link(ready):
    link = ready.home / "start reaching"
    link.symlink_to(ready.checkout / "run")
    process = subprocess.run(
        [link],
        env={"PATH": str(ready.programs), "HOME": str(ready.home)},
        text=True,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert (process.returncode, process.stderr) == (7, "")
