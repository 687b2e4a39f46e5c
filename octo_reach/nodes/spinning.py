"""The life of a node: callbacks in the background, signals, and a clean end.

Both nodes of the package live alike. The main thread keeps time; a second thread takes what
arrives. Signals only set a flag that the main thread looks at, so that no publish ever meets a
context that a signal handler shut down under it.
"""

from __future__ import annotations

import faulthandler
import gc
import inspect
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Protocol

import rclpy
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from octo_reach.nodes.signal_flag import SignalFlag

try:
    from rclpy.experimental import EventsExecutor
except ImportError:  # ROS 2 Jazzy has none
    EventsExecutor = None

SPIN_SLICE = 0.1
"""Longest the background thread waits before it looks whether to end, s."""


LONGEST_END = 8.0
"""Longest a node may take to give everything back, s: `ros2 launch` kills after ten."""


class LivingNode(Protocol):
    """A node with a main loop of its own."""

    def live(self, stop: SignalFlag) -> None:
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


def informed(callback: Callable[[Any, Any], None]) -> Callable[..., None]:
    """Let a callback of a message and its `MessageInfo` be called by any executor.

    EventsExecutor hands both over in one tuple, which a callback of two arguments cannot take.

    Args:
        callback: takes the message and the information about it.
    """

    def hear(*arguments: Any) -> None:
        callback(*(arguments[0] if len(arguments) == 1 else arguments))

    # rclpy looks at the signature to see whether the information is wanted.
    hear.__signature__ = inspect.signature(callback)  # type: ignore[attr-defined]
    return hear


class StopSignals:
    """SIGINT and SIGTERM, as often as they come, as a flag.

    Attributes:
        stop: set by the first of them.
    """

    def __init__(self) -> None:
        """Take the signals over; until `begin` they also raise KeyboardInterrupt."""
        self.stop = SignalFlag()
        self._starting = True
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, self._handle)

    def begin(self) -> None:
        """From now on only set the flag: somebody looks at it."""
        self._starting = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)

    def end(self) -> None:
        """Hear no more of them: a process that ends would die of one that comes meanwhile."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.stop.set()
        if not self._starting:
            return
        # Nobody looks at the flag yet, and a first compilation takes its time. An exception may be
        # swallowed where it is raised, so it is raised again before long.
        if _is_in_callback(frame):
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            return
        signal.setitimer(signal.ITIMER_REAL, 0.25)
        raise KeyboardInterrupt


def _is_in_callback(frame: FrameType | None) -> bool:
    """Tell whether something is calling back that loses what is raised, but for a complaint.

    The compiler does, and so does Python where it deletes an object or forgets a module's lock.
    """
    while frame is not None:
        code = frame.f_code
        if code.co_name.startswith("_raw_object_cache") or code.co_name == "__del__":
            return True
        if code.co_name == "cb" and code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def run_node(make_node: Callable[[], Node], args: Sequence[str] | None = None) -> int:
    """Run a node until SIGINT or SIGTERM.

    Args:
        make_node: makes the node, once rclpy is up; it has a method `live(stop)`.
        args: command line arguments; those of the process where left out.

    Returns:
        Exit code: 0 after a signal, 1 where the node could not start, with the reason on stderr.
        A process that has not ended `LONGEST_END` after its node was over ends with 1.
    """
    signals = StopSignals()
    if sys.stderr is None:
        # Closed by whoever started this; the executor insists on one to dump crashes to.
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open until the process ends
    node: Any = None
    # No `with rclpy.init(...)`: ROS 2 Jazzy has none.
    try:
        try:
            rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
            node = make_node()
        except (ValueError, OSError, RuntimeError) as failure:
            print(f"cannot start: {failure}", file=sys.stderr, flush=True)
        signals.begin()
        if node is None:
            return 1
        # What the start has made is there to stay. A collection that looks through all of it
        # takes tens of milliseconds, several steps, whenever it comes.
        gc.collect()
        gc.freeze()
        with BackgroundSpinner(node):
            try:
                node.live(signals.stop)
            finally:
                # A middleware that does not let go must not keep the process; where each thread
                # was held up is written to stderr then.
                faulthandler.dump_traceback_later(LONGEST_END, exit=True)
    except KeyboardInterrupt:
        # Only while it starts: later a signal sets a flag.
        return 0
    finally:
        signals.begin()
        if node is None:
            # What is half made is taken apart while the context it belongs to is still there; at
            # the end of the process that has crashed.
            gc.collect()
        else:
            node.destroy_node()
        rclpy.try_shutdown()
        signals.end()
    return 0
