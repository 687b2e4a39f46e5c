"""`octo-reach run` and `octo-reach send` as a person uses them: in a terminal, over real topics."""

from __future__ import annotations

import fcntl
import math
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PointStamped
from harness import CEILING, NodeProcess, Probe
from visualization_msgs.msg import MarkerArray

from octo_reach.cli import main
from octo_reach.model.octopus import compile_kernels
from octo_reach.nodes.monitor import KEPT
from octo_reach.ros.quality_of_service import LATCHED
from octo_reach.ros.states import arm_reports
from octo_reach.ros.targets import target_message

COMMAND = (sys.executable, "-m", "octo_reach.cli")
START = 3 * CEILING
"""Ceiling for a run to find that it is alone, to start both nodes and to hear their first words."""

SCENE = """\
version: 1
name: Pool
units: metre
food: [{position: [0.3, 0.3]}]
obstacles: [{position: [0.3, -0.3]}]
arms:
  - {number: 1, target: {position: [0.1, 0.15]}}
"""

HIDE_CURSOR, SHOW_CURSOR = b"\x1b[?25l", b"\x1b[?25h"
OTHER_SCREEN = b"\x1b[?1049h"
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
RATE = re.compile(r"(\d+\.\d) Hz of 120")


def is_running(pid: int) -> bool:
    """Whether a process has not ended; one that nobody waits for has ended all the same."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def children_of(pid: int) -> dict[str, int]:
    """The nodes that a run has started, by their names."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text(encoding="ascii").split():
            words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            name = next((word for word in words if word.startswith(b"octo_reach.nodes.")), b"?")
            found[name.decode().rpartition(".")[2]] = int(child)
    return found


def wait_for_end(pids: list[int]) -> None:
    deadline = time.monotonic() + CEILING
    while left := [pid for pid in pids if is_running(pid)]:
        assert time.monotonic() < deadline, f"left behind: {left}"
        time.sleep(0.02)


class Terminal:
    """A terminal of its own in which a run is going on, and what it shows."""

    def __init__(self, folder: Path, *words: str, rows: int = 24, columns: int = 80) -> None:
        self.shown = b""
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.settings = termios.tcgetattr(self.ours)
        # A shell would do this: a session whose terminal this is, and the run in its foreground.
        self.process = subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, *COMMAND, "run", "--no-viewer", *words],
            cwd=folder,
            env={**os.environ, "TERM": "xterm-256color"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.children: dict[str, int] = {}

    @property
    def text(self) -> str:
        """What it has shown, without colours and movements of the cursor."""
        return ESCAPE.sub("", self.shown.decode(errors="replace"))

    @property
    def lines(self) -> list[str]:
        return [line.strip() for line in self.text.splitlines() if line.strip()]

    def read(self, patience: float) -> bool:
        """Read what there is; tell whether there may be more."""
        if not select.select([self.ours], [], [], patience)[0]:
            return True
        try:
            data = os.read(self.ours, 65536)
        except OSError:
            return False  # nobody holds the other end any more
        self.shown += data
        return bool(data)

    def wait_for(self, pattern: str, timeout: float = START) -> None:
        deadline = time.monotonic() + timeout
        while not re.search(pattern, self.text):
            assert time.monotonic() < deadline, f"{pattern!r} is not in:\n{self.text[-2000:]}"
            assert self.read(0.05), f"ended before it showed {pattern!r}:\n{self.text[-2000:]}"

    def wait_until_running(self) -> None:
        """Wait until arms are shown with their rate, and note the processes of both nodes."""
        self.wait_for(RATE.pattern)
        self.children = children_of(self.process.pid)
        assert sorted(self.children) == ["reach_controller", "simulated_world"]

    def press(self, keys: bytes) -> None:
        os.write(self.ours, keys)

    def wait_for_exit(self, timeout: float = CEILING) -> int:
        deadline = time.monotonic() + timeout
        while self.read(0.05) and self.process.poll() is None:
            assert time.monotonic() < deadline, f"does not end:\n{self.text[-2000:]}"
        code = self.process.wait(CEILING)
        while self.read(0.0) and select.select([self.ours], [], [], 0.0)[0]:
            pass
        return code

    def assert_restored(self) -> None:
        """The cursor is there, keys are echoed again, and no other screen was used."""
        assert self.shown.count(HIDE_CURSOR) == self.shown.count(SHOW_CURSOR) > 0
        assert self.shown.rindex(SHOW_CURSOR) > self.shown.rindex(HIDE_CURSOR)
        assert OTHER_SCREEN not in self.shown
        assert termios.tcgetattr(self.ours) == self.settings

    def close(self) -> None:
        for pid in (self.process.pid, *self.children.values()):
            if is_running(pid):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(CEILING)
        os.close(self.ours)


# A hang-up counts there, though it may not in whatever started the tests (nohup, say).
TAKE_TERMINAL = (
    "import fcntl, os, signal, sys, termios\n"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    "os.execv(sys.argv[1], sys.argv[1:])\n"
)


@pytest.fixture(scope="module", autouse=True)
def compiled_kernels() -> None:
    """The first compilation takes longer than any wait here may."""
    compile_kernels()


@pytest.fixture(scope="module")
def pool(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("scenes") / "pool.yaml"
    path.write_text(SCENE, encoding="utf-8")
    return str(path)


@pytest.fixture
def open_terminal(ros_context, namespace, tmp_path):
    """Opens a terminal and starts `octo-reach run` in it, in the namespace of the test."""
    terminals = []

    def open_terminal(*words: str, **size: int) -> Terminal:
        terminal = Terminal(tmp_path, *words, "--namespace", namespace, **size)
        terminals.append(terminal)
        return terminal

    yield open_terminal
    for terminal in terminals:
        terminal.close()


def octo_reach(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, timeout=START, check=False
    )


# In a terminal


def test_eight_arms_and_their_rate_are_shown_until_the_time_is_over(open_terminal):
    terminal = open_terminal("--seconds", "2")
    terminal.wait_until_running()

    assert terminal.wait_for_exit() == 0
    for number in range(1, 9):
        assert re.search(rf"^arm_{number} +[A-Z][a-z]", terminal.text, re.MULTILINE)
    assert float(RATE.findall(terminal.text)[-1]) > 60.0
    unfolded = re.sub(r"\\\s+", "", terminal.text)
    assert re.search(r"send --namespace \S+ target arm_1 -?\d", unfolded)
    assert re.search(r"ros2 topic pub --once \S+/arm_1/target \S+ \"{point: ", unfolded)
    assert terminal.lines[-1].startswith("ended after ")
    wait_for_end(list(terminal.children.values()))
    terminal.assert_restored()


def test_ctrl_c_ends_everything(open_terminal, pool):
    terminal = open_terminal(pool)
    terminal.wait_until_running()
    terminal.press(b"\x03")

    assert terminal.wait_for_exit() == 0
    assert "^C" not in terminal.text
    assert "Traceback" not in terminal.text
    assert terminal.lines[-1].startswith("ended after ")
    wait_for_end(list(terminal.children.values()))
    terminal.assert_restored()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_parent_alone_ends_everything(open_terminal, pool, number):
    terminal = open_terminal(pool)
    terminal.wait_until_running()
    terminal.process.send_signal(number)

    assert terminal.wait_for_exit() == 0
    wait_for_end(list(terminal.children.values()))
    terminal.assert_restored()


def test_a_terminal_that_is_closed_ends_everything(open_terminal, pool):
    terminal = open_terminal(pool)
    terminal.wait_until_running()
    theirs = os.open(os.devnull, os.O_RDWR)
    os.dup2(theirs, terminal.ours)  # closes our end; `close` still finds a descriptor
    os.close(theirs)

    assert terminal.process.wait(CEILING) == 0
    wait_for_end(list(terminal.children.values()))


def test_killed_outright_it_takes_its_nodes_along(open_terminal, pool):
    terminal = open_terminal(pool)
    terminal.wait_until_running()
    terminal.process.kill()

    wait_for_end(list(terminal.children.values()))


@pytest.mark.parametrize("name", ["simulated_world", "reach_controller"])
def test_when_a_node_dies_the_other_is_ended_and_it_is_said(open_terminal, pool, name):
    terminal = open_terminal(pool)
    terminal.wait_until_running()
    os.kill(terminal.children[name], signal.SIGKILL)

    assert terminal.wait_for_exit() == 1
    assert f"octo-reach: {name} ended by itself (SIGKILL)" in terminal.lines
    assert "  ready: " in terminal.text  # what it said last
    wait_for_end(list(terminal.children.values()))
    terminal.assert_restored()


def test_a_node_that_cannot_start_is_quoted(open_terminal, tmp_path):
    (tmp_path / "bad.yaml").write_text(
        "/**: {ros__parameters: {scene: /nowhere.yaml}}", encoding="utf-8"
    )
    terminal = open_terminal("--config", "bad.yaml")

    assert terminal.wait_for_exit(START) == 1
    assert re.search(r"(?s)ended by itself \(exit code 1\)\s.*/nowhere\.yaml", terminal.text)
    terminal.assert_restored()


def test_stopped_and_continued_it_goes_on(open_terminal, pool):
    terminal = open_terminal(pool)
    terminal.wait_until_running()
    terminal.process.send_signal(signal.SIGTSTP)
    deadline = time.monotonic() + CEILING
    while os.waitpid(terminal.process.pid, os.WNOHANG | os.WUNTRACED) == (0, 0):
        assert time.monotonic() < deadline, "it does not stop"
        terminal.read(0.02)
    assert termios.tcgetattr(terminal.ours) == terminal.settings
    terminal.process.send_signal(signal.SIGCONT)
    before = len(RATE.findall(terminal.text))
    terminal.wait_for(rf"(?s)(?:{RATE.pattern}.*){{{before + 1}}}")
    terminal.press(b"\x03")

    assert terminal.wait_for_exit() == 0
    terminal.assert_restored()


@pytest.mark.parametrize(("rows", "columns"), [(24, 20), (1, 1), (0, 0)])
def test_no_terminal_is_too_small(open_terminal, pool, rows, columns):
    terminal = open_terminal(pool, "--seconds", "1", rows=rows, columns=columns)

    assert terminal.wait_for_exit(START) == 0
    assert "Traceback" not in terminal.text
    terminal.assert_restored()


def test_a_terminal_that_changes_its_size_is_drawn_anew(open_terminal, pool):
    terminal = open_terminal(pool)
    terminal.wait_until_running()
    assert "last 20 s" not in terminal.text
    fcntl.ioctl(terminal.ours, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 120, 0, 0))
    terminal.wait_for("last 20 s")
    terminal.press(b"\x03")

    assert terminal.wait_for_exit() == 0
    terminal.assert_restored()


# Without a terminal


@pytest.fixture(scope="module")
def plain_run(ros_context, pool, tmp_path_factory):
    """A run that prints lines, in the namespace /plain; the tests of this part talk to it."""
    folder = tmp_path_factory.mktemp("plain")
    words = ["run", pool, "--no-viewer", "--arms", "1-3", "--namespace", "plain"]
    run = NodeProcess("octo-reach run", [*COMMAND, *words], folder)
    try:
        run.wait_for_line(r"\d Hz, .*arm_1 ", START)
        yield run
        children = children_of(run.process.pid)
        assert run.stop() == 0
        wait_for_end(list(children.values()))
    finally:
        if run.running:
            run.kill()


@pytest.fixture
def listener(ros_context):
    probe = Probe(ros_context, "/plain", "listener")
    yield probe
    probe.close()


def test_without_a_terminal_there_are_lines_without_colours(plain_run):
    line = plain_run.wait_for_line(r"\d s, \d+\.\d Hz, \d+ missed, \d+ captured \| arm_1 ")

    assert "\x1b" not in plain_run.output
    assert len(re.findall(r"\| arm_\d [A-Z]", line)) == 3
    assert "arm_4" not in plain_run.output


def test_a_second_run_in_the_same_place_is_refused(plain_run):
    before = children_of(plain_run.process.pid)
    second = octo_reach("run", "--no-viewer", "--namespace", "plain")

    assert second.returncode == 2
    assert second.stdout == ""
    assert re.fullmatch(
        # Whichever of the two is heard first.
        r"octo-reach: /plain/(reach_controller already moves arm_1 \.\.\. arm_3"
        r"|simulated_world is already running) in ROS domain \d+;"
        r" end it, or choose another ROS_DOMAIN_ID or --namespace\n",
        second.stderr,
    )
    assert children_of(plain_run.process.pid) == before


def test_a_target_that_is_sent_is_the_target_of_the_arm(plain_run, listener):
    states = listener.listen(DiagnosticArray, "arm_states", KEPT)
    # Somebody else hears it too, who says nothing about the arm.
    listener.listen(PointStamped, "arm_2/target")
    sent = octo_reach("send", "--namespace", "plain", "target", "arm_2", "-0.12", "0.1")

    assert (sent.returncode, sent.stdout) == (0, "arm_2/target: -0.12, 0.1\n")
    states.wait_for(
        lambda message: arm_reports(message)[2].target == (-0.12, 0.1), "the target of arm_2"
    )


def test_nobody_hears_a_target_of_an_arm_there_is_not(plain_run):
    sent = octo_reach("send", "target", "arm_9", "0", "0", "--namespace", "plain")

    assert (sent.returncode, sent.stdout) == (1, "")
    assert sent.stderr == (
        "octo-reach: no reach_controller hears /plain/arm_9/target; arms heard: arm_1 ... arm_3\n"
    )


def test_a_target_that_is_none_is_not_sent(ros_context):
    sent = octo_reach("send", "target", "arm_1", "nan", "0")

    assert sent.returncode == 2
    assert sent.stderr.startswith("octo-reach: arm_1/target: a target must be finite")


def test_where_nothing_runs_that_is_said(ros_context):
    sent = octo_reach("send", "--namespace", "empty", "target", "1", "0", "0")

    assert sent.returncode == 1
    assert re.fullmatch(
        r"octo-reach: no reach_controller hears /empty/arm_1/target;"
        r" is octo-reach run, .* in the same ROS domain\?\n",
        sent.stderr,
    )


def test_objects_are_put_moved_and_removed(plain_run, listener):
    objects = listener.listen(MarkerArray, "objects", LATCHED)

    def place_of(message: MarkerArray, name: str) -> tuple[float, float, float] | None:
        for marker in message.markers:
            if f"{marker.ns} {marker.id}" == name and marker.action == marker.ADD:
                position = marker.pose.position
                return position.x, position.y, marker.scale.x / 2.0
        return None

    def send(*words: str) -> str:
        sent = octo_reach("send", "--namespace", "plain", *words)
        assert sent.returncode == 0, sent.stderr
        return sent.stdout

    # The scene has a food and an obstacle.
    assert "obstacle 3 at 0.4, -0.4" in send("obstacle", "0.4", "-0.4", "--radius", "0.02")
    objects.wait_for(lambda message: place_of(message, "obstacle 3") == (0.4, -0.4, 0.02))
    send("food", "-0.4", "0.4", "--id", "12")
    objects.wait_for(lambda message: place_of(message, "food 12") == (-0.4, 0.4, 0.014))
    send("move", "3", "0.5", "-0.5")
    objects.wait_for(lambda message: place_of(message, "obstacle 3") == (0.5, -0.5, 0.02))
    objects.clear()
    send("remove", "12")
    objects.wait_for(lambda message: place_of(message, "food 12") is None)

    missing = octo_reach("send", "--namespace", "plain", "move", "12", "0", "0")
    assert missing.returncode == 1
    assert missing.stderr == (
        "octo-reach: there is no object 12; there are: food 1, obstacle 2, obstacle 3\n"
    )
    taken = octo_reach("send", "--namespace", "plain", "food", "0", "1", "--id", "3")
    assert taken.returncode == 1
    assert taken.stderr == "octo-reach: number 3 is taken by obstacle 3\n"


def test_orders_are_given_and_refusals_told(plain_run, listener):
    def send(*words: str) -> tuple[int, str]:
        sent = octo_reach("send", "--namespace", "plain", *words)
        return sent.returncode, sent.stdout + sent.stderr

    assert send("pause") == (0, "reach_controller/pause: paused\n")
    plain_run.wait_for_line(", paused, ")
    code, text = send("step")
    assert (code, text.startswith("reach_controller/step: step ")) == (0, True)
    assert send("resume") == (0, "reach_controller/pause: running\n")
    code, text = send("step")
    assert (code, text.startswith("octo-reach: reach_controller/step: not paused")) == (1, True)
    assert send("idle", "arm_3") == (0, "arm_3/idle: arm_3 is idle\n")
    code, text = send("retract", "3")
    assert (code, text.startswith("octo-reach: arm_3/retract: ")) == (1, True)
    assert send("move", "1", "0.35", "0.3")[0] == 0
    code, text = send("start-over")
    assert code == 0
    arms, world = text.splitlines()
    assert arms.startswith("reach_controller/reset: ")
    assert world.startswith("simulated_world/reset: ")
    objects = listener.listen(MarkerArray, "objects", LATCHED)
    objects.wait_for(
        lambda message: any(
            (marker.id, marker.pose.position.x) == (1, 0.3) for marker in message.markers
        ),
        "food 1 where the scene has it",
    )
    listener.stop_listening(objects)


def test_a_warning_of_a_node_is_shown(plain_run, listener):
    listener.send("arm_1/target", target_message(math.nan, 0.0))

    plain_run.wait_for_line("reach_controller: rejected arm_1/target")


@pytest.mark.parametrize("closed", [[0, 1, 2], [2]])
def test_without_streams_it_runs_all_the_same(ros_context, namespace, pool, closed, tmp_path):
    script = " ".join(f"{fd}>&-" for fd in closed)
    words = ["run", pool, "--no-viewer", "--seconds", "0.5", "--namespace", namespace]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {script}', "sh", *COMMAND, *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=START + CEILING,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert "Traceback" not in done.stdout


def test_a_reader_that_leaves_ends_it(ros_context, namespace, pool, tmp_path):
    run = subprocess.Popen(
        [*COMMAND, "run", pool, "--no-viewer", "--namespace", namespace],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with run:
        assert run.stdout.readline().startswith("octo_reach  Pool: 8 arms")
        run.stdout.close()

        assert run.wait(START) == 0
        assert run.stderr.read() == ""


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--planner", "guess"], r"--planner must be one of neighbour, .*, got 'guess'"),
        (["--arms", "12"], r"--arms: .*arm_12.*"),
        (["--seconds", "0"], r"--seconds must be a number above 0, got '0'"),
        (["--seconds", "soon"], r"--seconds must be a number above 0, got 'soon'"),
        (["--config", "none.yaml"], r"--config: there is no file none\.yaml"),
        (["--namespace", "9"], r"--namespace: .*; got '9'"),
        (["--viewer-port", "65536"], r"--viewer-port must be a whole number .*, got '65536'"),
        (["--viewer-port", "9" * 5000], r"--viewer-port must be a whole number .*, got '9+'"),
        (["--viewer-port", "http"], r"--viewer-port must be a whole number .*, got 'http'"),
        (["no_such_scene"], r"no_such_scene: .*"),
    ],
)
def test_nonsense_is_named_in_one_line_before_anything_starts(words, text, capsys):
    code = main(["run", *words])
    said = capsys.readouterr()

    assert (code, said.out) == (2, "")
    assert re.fullmatch(rf"octo-reach: {text}\n", said.err), said.err


def test_a_wrong_domain_is_named_in_one_line(ros_context, monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", "everywhere")
    for words in (["run"], ["send", "pause"]):
        done = octo_reach(*words)

        assert done.returncode == 2
        assert re.fullmatch(r"octo-reach: ROS 2 does not start: .*\n", done.stderr), done.stderr
