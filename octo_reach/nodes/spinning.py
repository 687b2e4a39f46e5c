"""The life of a node: callbacks in the background, signals, and a clean end.

Both nodes of the package live alike. The main thread keeps time; a second thread takes what
arrives. Signals only set a flag that the main thread looks at, so that no publish ever meets a
context that a signal handler shut down under it.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Protocol

import rclpy
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

try:
    from rclpy.experimental import EventsExecutor
except ImportError:  # ROS 2 Jazzy has none
    EventsExecutor = None

SPIN_SLICE = 0.25
"""Longest the background thread waits before it looks whether to end, s."""


class LivingNode(Protocol):
    """A node with a main loop of its own."""

    def live(self, stop: threading.Event) -> None:
        """Run until `stop` is set."""

    def destroy_node(self) -> None:
        """Give everything back."""


class BackgroundSpinner:
    """Runs the callbacks of a node in a thread of its own, while it is entered.

    EventsExecutor, where there is one, starves no topic and costs half as much as the plain one;
    its `spin` never returns in some releases, its `spin_once` does.
    """

    def __init__(self, node: Node) -> None:
        """Prepare to run the callbacks of `node`."""
        self._node = node
        self._executor: Executor = (EventsExecutor or SingleThreadedExecutor)()
        self._executor.add_node(node)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._spin, name="callbacks", daemon=True)
        self.failure: BaseException | None = None

    def __enter__(self) -> BackgroundSpinner:
        """Start the thread."""
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        """End the thread."""
        self._ending.set()
        self._executor.wake()
        self._thread.join()
        self._executor.shutdown()

    def _spin(self) -> None:
        while not self._ending.is_set() and self._node.context.ok():
            try:
                self._executor.spin_once(timeout_sec=SPIN_SLICE)
            except Exception as failure:
                # A callback that fails must not end the node: what arrives on a topic never may.
                self._node.get_logger().error(f"a callback failed: {failure!r}")


def stop_on_signals(stop: threading.Event) -> None:
    """Let SIGINT and SIGTERM set `stop`, as often as they come."""

    def handle(number: int, frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handle)


def run_node(make_node: Callable[[], Node], args: Sequence[str] | None = None) -> int:
    """Run a node until SIGINT or SIGTERM.

    Args:
        make_node: makes the node, once rclpy is up; it has a method `live(stop)`.
        args: command line arguments; those of the process where left out.

    Returns:
        Exit code: 0 after a signal, 1 where the node could not start, with the reason on stderr.
    """
    stop = threading.Event()
    stop_on_signals(stop)
    # A process that was told to end while it was starting need not start any further.
    with rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO):
        try:
            node = make_node()
        except (ValueError, OSError) as failure:
            print(f"cannot start: {failure}", file=sys.stderr, flush=True)
            return 1
        try:
            with BackgroundSpinner(node):
                node.live(stop)
        finally:
            node.destroy_node()
    return 0
