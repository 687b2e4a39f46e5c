"""The life of a node, where it is not the business of one of the nodes."""

from __future__ import annotations

import subprocess
import sys

import pytest
from harness import CEILING

NODE = """\
import gc
import sys

from rclpy.node import Node

from octo_reach.nodes.spinning import run_node


class Counter(Node):
    def __init__(self):
        super().__init__("counter")

    def live(self, stop):
        print(gc.get_freeze_count() > 10 * len(gc.get_objects()))


sys.exit(run_node(Counter))
"""


def test_collections_leave_out_what_the_start_has_made(ros_context):
    done = subprocess.run(
        [sys.executable, "-c", NODE], capture_output=True, text=True, timeout=CEILING
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


STUCK = """\
import sys
import threading

from rclpy.node import Node

from octo_reach.nodes import spinning


class Stuck(Node):
    def __init__(self):
        super().__init__("stuck")

    def live(self, stop):
        pass

    def destroy_node(self):
        threading.Event().wait()


spinning.LONGEST_END = 0.5
sys.exit(spinning.run_node(Stuck))
"""


def test_a_node_that_cannot_give_everything_back_ends_all_the_same_and_shows_where(ros_context):
    done = subprocess.run(
        [sys.executable, "-c", STUCK], capture_output=True, text=True, timeout=CEILING
    )
    assert done.returncode == 1
    assert "in destroy_node" in done.stderr


ENDS = """\
import os
import signal
import sys
import time

from rclpy.node import Node

from octo_reach.nodes import spinning


class Fleeting:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass


class LateSignals(spinning.StopSignals):
    def begin(self):
        if not self.stop.is_set():
            os.kill(os.getpid(), signal.SIGINT)
        super().begin()


class Counter(Node):
    def __init__(self):
        super().__init__("counter")
        if sys.argv[1] == "while something is deleted":
            del [Fleeting()][0]
            time.sleep(10.0)

    def live(self, stop):
        if sys.argv[1] == "while it lives":
            os.kill(os.getpid(), signal.SIGINT)
        print("lives", stop.wait(10.0))


if sys.argv[1] == "as the start ends":
    spinning.StopSignals = LateSignals
code = spinning.run_node(Counter)
print({signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)})
sys.exit(code)
"""


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        ("while something is deleted", ""),
        ("as the start ends", ""),
        ("while it lives", "lives True\n"),
    ],
)
def test_an_interrupt_at_any_moment_ends_it_quietly_and_no_later_one_kills_it(
    ros_context, moment, said
):
    done = subprocess.run(
        [sys.executable, "-c", ENDS, moment], capture_output=True, text=True, timeout=CEILING
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == said + "{<Handlers.SIG_IGN: 1>}\n"
