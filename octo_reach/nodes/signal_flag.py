"""A flag that a signal handler may raise at any moment.

`threading.Event` is not one: its `set` waits for a lock that the main thread may hold just then, in
its own `wait`, and the process hangs.
"""

from __future__ import annotations

import contextlib
import os
import select
import weakref


class SignalFlag:
    """What `threading.Event` is, without a lock: whoever waits waits for a byte in a pipe."""

    def __init__(self) -> None:
        """Start with the flag down."""
        self._up = False
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        # Not when the process ends: a signal may still come then.
        weakref.finalize(self, os.closerange, self._reader, self._reader + 1).atexit = False
        weakref.finalize(self, os.closerange, self._writer, self._writer + 1).atexit = False

    def is_set(self) -> bool:
        """Tell whether the flag is up."""
        return self._up

    def set(self) -> None:
        """Raise the flag."""
        self._up = True
        # A pipe that is full holds more bytes than the one it needs.
        with contextlib.suppress(BlockingIOError):
            os.write(self._writer, b"!")

    def clear(self) -> None:
        """Take the flag down."""
        self._up = False
        with contextlib.suppress(BlockingIOError):
            while os.read(self._reader, 4096):
                pass

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the flag is up.

        Args:
            timeout: longest to wait, s; None for as long as it takes.

        Returns:
            Whether it is up.
        """
        if not self._up:
            select.select([self._reader], [], [], timeout)
        return self._up
