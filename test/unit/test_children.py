import os
import queue
import signal
import subprocess
import sys
import time
from datetime import datetime

import pytest

from octo_reach.commands.children import Child, read_line, stop_children

CEILING = 10.0
NOW = datetime(2000, 1, 1)

SPEAKER = "import sys, time\nprint('up', *sys.argv[1:], flush=True)\ntime.sleep(60)\n"
DEAF = (
    "import signal, time\n"
    "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "print('up', flush=True)\n"
    "time.sleep(60)\n"
)
LATE = (
    "import signal, time\n"
    "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    "print('up', flush=True)\n"
    "time.sleep(0.3)\n"
    "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
    "time.sleep(60)\n"
)


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Starts a child from the text of a module, once it has said that it is up."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    children = []

    def start(source: str, *arguments: str) -> Child:
        name = f"child_{len(children)}"
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        said = queue.Queue()
        child = Child(name, name, arguments, said.put)
        children.append(child)
        assert said.get(timeout=CEILING).text.startswith("up")
        return child

    yield start
    for child in children:
        child.process.kill()
        child.process.wait(CEILING)
        child.close()


@pytest.mark.parametrize(
    ("text", "level", "message", "matters"),
    [
        ("[INFO] [1700000000.123] [a.b]: ready: 8 arms", "INFO", "ready: 8 arms", False),
        ("[WARN] [1700000000.123] [a]: [x] y: z", "WARN", "[x] y: z", True),
        ("[ERROR] [1700000000.123] [a]: bad", "ERROR", "bad", True),
        ("[DEBUG] [1700000000.123] [a]: noise", "DEBUG", "noise", False),
        ("ValueError: no log line", "", "ValueError: no log line", True),
        ("  ", "", "  ", False),
    ],
)
def test_a_line_is_read_as_what_it_is(text, level, message, matters):
    line = read_line("node", text, NOW)

    assert (line.level, line.text, line.matters) == (level, message, matters)


def test_a_child_gets_its_arguments_and_no_terminal(start):
    child = start(SPEAKER, "-p", "a:=b c")

    assert child.lines[0].text == "up -p a:=b c"
    assert os.getsid(child.process.pid) == child.process.pid


def test_children_are_ended_in_order_and_leave_nothing(start):
    children = [start(SPEAKER), start(SPEAKER)]

    assert stop_children(children) == []
    assert [child.code for child in children] == [-signal.SIGINT, -signal.SIGINT]


def test_a_child_that_was_not_ready_for_the_first_interrupt_gets_another(start):
    child = start(LATE)

    assert stop_children([child], again=0.1) == []
    assert child.code == -signal.SIGINT


def test_a_child_that_does_not_listen_is_killed_and_named(start):
    child = start(DEAF)

    assert stop_children([child], graces=(0.1, 0.1, CEILING), again=0.05) == ["child_0"]
    assert child.code == -signal.SIGKILL


def test_a_child_that_crashed_before_is_not_named(start):
    child = start(SPEAKER)
    child.process.kill()
    child.process.wait(CEILING)

    assert stop_children([child]) == []


def test_a_node_ends_when_its_tether_is_cut(start):
    child = start(SPEAKER)
    child.process.stdin.close()

    assert child.process.wait(CEILING) == -signal.SIGINT


def test_a_node_that_does_not_listen_is_killed_when_its_tether_is_cut():
    source = (
        "import signal\n"
        "from octo_reach.nodes import tethered\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "tethered.watch(0, grace=0.1)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    node = subprocess.Popen([sys.executable, "-c", source], stdin=subprocess.PIPE, env=environment)
    with node:
        node.stdin.close()

        assert node.wait(CEILING) == -signal.SIGKILL


def test_nodes_end_when_their_parent_is_killed(tmp_path):
    (tmp_path / "speaker.py").write_text(SPEAKER, encoding="utf-8")
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import time\n"
            "from octo_reach.commands.children import Child\n"
            "children = [Child('speaker', 'speaker', [], print) for _ in range(2)]\n"
            "print(*[child.process.pid for child in children], flush=True)\n"
            "time.sleep(60)\n",
        ],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])},
    )
    with parent:
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        parent.kill()

    deadline = time.monotonic() + CEILING
    while any(map(is_running, pids)):
        assert time.monotonic() < deadline, "the nodes outlived their parent"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    """Whether a process has not ended; one that nobody waits for has ended all the same."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
