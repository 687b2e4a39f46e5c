"""Child processes of a command: started, listened to, and ended, every one of them."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TextIO

from octo_reach.nodes import tethered

KEPT_LINES = 200
LEVELS = ("DEBUG", "INFO", "WARN", "ERROR", "FATAL")
LOG_FORMAT = "[{severity}] [{time}] [{name}]: {message}"
"""What nodes are told to write, whatever the user has set for others."""
_LOG_LINE = re.compile(rf"\[({'|'.join(LEVELS)})\] \[[\d.]+\] \[([^\]]*)\]: (.*)")


@dataclass(frozen=True)
class Line:
    """One line a node said.

    Attributes:
        node: name of the process.
        level: how serious it is, one of `LEVELS`; empty for a line that is no log line, such as
            those of a traceback.
        text: the line without what stands in front of the message.
        time: when it was heard.
    """

    node: str
    level: str
    text: str
    time: datetime

    @property
    def matters(self) -> bool:
        """Whether a person should see it."""
        return self.level not in ("DEBUG", "INFO") and bool(self.text.strip())


def read_line(node: str, text: str, now: datetime) -> Line:
    """Tell level and message of what a node wrote.

    Args:
        node: name of the process.
        text: the line.
        now: when it was heard.
    """
    found = _LOG_LINE.fullmatch(text)
    if found is None:
        return Line(node, "", text, now)
    return Line(node, found[1], found[3], now)


class Child:
    """A node in a process of its own, which ends with this one however that ends.

    Attributes:
        name: what it is called.
        process: the process.
        lines: the latest lines it said.
    """

    def __init__(
        self, name: str, module: str, arguments: Sequence[str], hear: Callable[[Line], object]
    ) -> None:
        """Start it.

        Args:
            name: what it is called.
            module: the module it runs.
            arguments: its command line arguments.
            hear: called with every line it says, in a thread of this child's.

        Raises:
            OSError: no process can be started.
        """
        self.name = name
        self.lines: deque[Line] = deque(maxlen=KEPT_LINES)
        self._hear = hear
        environment = dict(
            os.environ,
            PYTHONUNBUFFERED="1",
            RCUTILS_COLORIZED_OUTPUT="0",
            RCUTILS_CONSOLE_OUTPUT_FORMAT=LOG_FORMAT,
        )
        self.process = subprocess.Popen(
            [sys.executable, tethered.__file__, module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            # Out of reach of the terminal: this process ends it in good order.
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, name=f"output of {name}", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        for raw in stream:
            text = raw.decode(errors="backslashreplace").rstrip()
            line = read_line(self.name, text, datetime.now())
            self.lines.append(line)
            self._hear(line)

    @property
    def code(self) -> int | None:
        """Exit code, negative for the signal that ended it; None while it runs."""
        return self.process.poll()

    def signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        # A child that has ended but was not waited for keeps its id, so nobody else can have it.
        self.process.send_signal(number)

    def close(self, patience: float = 1.0) -> None:
        """Read what it said last, and cut the tether.

        Args:
            patience: how long to wait for its last lines, s; something it started may hold the
                other end of the pipe open.
        """
        self._reader.join(patience)
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()


def stop_children(
    children: Iterable[Child], graces: Sequence[float] = (4.0, 2.0, 2.0), again: float = 1.0
) -> list[str]:
    """End children one after the other, and wait until they have.

    Each is asked with SIGINT, asked again, told with SIGTERM and, at last, killed.

    Args:
        children: the children, in the order in which they are to end.
        graces: how long to wait after SIGINT, SIGTERM and SIGKILL, s.
        again: time after which SIGINT is repeated, s: the first may have come before the child was
            ready for it.

    Returns:
        Names of those that had to be killed.
    """
    killed: list[str] = []
    for child in children:
        for number, grace in zip(
            (signal.SIGINT, signal.SIGTERM, signal.SIGKILL), graces, strict=True
        ):
            deadline = time.monotonic() + grace
            while child.code is None and (left := deadline - time.monotonic()) > 0.0:
                child.signal(number)
                if number == signal.SIGKILL and child.name not in killed:
                    killed.append(child.name)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.process.wait(min(again, left))
        child.close()
    return killed


class LogFile:
    """Everything the children say, in one file."""

    def __init__(self, file: TextIO) -> None:
        """Write to an open file."""
        self._file = file
        self._lock = threading.Lock()

    def write(self, line: Line) -> None:
        """Write one line; a full disk is no reason to end."""
        level = f"[{line.level}] " if line.level else ""
        text = f"{line.time:%H:%M:%S.%f} [{line.node}] {level}{line.text}\n"
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._file.write(text)
            self._file.flush()
