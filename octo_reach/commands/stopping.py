"""Signals of commands that run until they are told to end, and of those that take long."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType
from typing import Any

from octo_reach.nodes.signal_flag import SignalFlag


class Signals:
    """What this process was told by signals while this is entered.

    Attributes:
        stop: set by SIGINT, SIGTERM and SIGHUP, as often as they come.
        news: set by any signal; whoever waits for it clears it.
        suspend: whether the terminal asked for a stop (Ctrl-Z).
    """

    def __init__(self) -> None:
        """Listen to nothing yet."""
        self.stop = SignalFlag()
        self.news = SignalFlag()
        self.suspend = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Signals:
        """Listen."""
        # Also where a script ignores it for what it runs in the background.
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._end)
        # Ignored, the one means nohup, the other a shell without job control.
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
            self._before[signal.SIGHUP] = signal.signal(signal.SIGHUP, self._end)
        if signal.getsignal(signal.SIGTSTP) != signal.SIG_IGN:
            self._before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._suspend)
        return self

    def __exit__(self, *failure: object) -> None:
        """Listen no more."""
        for number, before in self._before.items():
            signal.signal(number, before if before is not None else signal.SIG_DFL)
        self._before.clear()

    def _end(self, number: int, frame: FrameType | None) -> None:
        self.stop.set()
        self.news.set()

    def _suspend(self, number: int, frame: FrameType | None) -> None:
        self.suspend = True
        self.news.set()


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM, with which batch systems end a job, do what Ctrl-C does."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
