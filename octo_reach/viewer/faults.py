"""What goes wrong with one part is said once, and the others go on. No viser."""

from __future__ import annotations

import contextlib
import threading
import traceback
from collections.abc import Callable, Iterator

MOST_FAULTS = 32
"""Most different faults that are said: whoever makes up new ones does not fill the log."""


class Faults:
    """Says every kind of fault once; may be used from any thread."""

    def __init__(self, say: Callable[[str], object]) -> None:
        """Start with none.

        Args:
            say: writes a line, or several, into a log.
        """
        self._say = say
        self._said: set[str] = set()
        self._lock = threading.Lock()

    def note(self, what: str, why: str, details: str = "") -> None:
        """Say a fault, unless its like was said before.

        Args:
            what: what it is about; faults of the same are alike.
            why: what is wrong.
            details: where it came from, line by line; empty where that does not matter.
        """
        with self._lock:
            if what in self._said or len(self._said) >= MOST_FAULTS:
                return
            self._said.add(what)
        line = f"{what}: {why}; what is like it is not said again"
        self._say(f"{line}\n{details}" if details else line)

    @contextlib.contextmanager
    def contain(self, what: str) -> Iterator[None]:
        """Go on after what is entered here, whatever becomes of it.

        Args:
            what: what is tried.
        """
        try:
            yield
        except Exception as failure:
            kind = type(failure).__name__
            self.note(f"{what} failed ({kind})", str(failure), traceback.format_exc().rstrip())
