"""Gets planners ready beside the steps: compiling one for the first time takes a while."""

from __future__ import annotations

import threading
from collections.abc import Callable

from octo_reach.planners import prepare_planner

SHORT_WAIT = 0.25
"""How long a change of planner waits for its kernels before the arm goes on without, s."""


class PlannerPreparation:
    """Prepares each planner once, in a thread of its own."""

    def __init__(
        self,
        say: Callable[[str], object],
        warn: Callable[[str], object],
        prepare: Callable[[str, Callable[[str], None]], None] = prepare_planner,
    ) -> None:
        """Prepare nothing yet.

        Args:
            say: told in one line when the preparation takes a while.
            warn: told in one line when it fails.
            prepare: prepares the planner of that name, and reports when that takes a while.
        """
        self._say = say
        self._warn = warn
        self._prepare = prepare
        self._threads: dict[str, threading.Thread] = {}
        self._lock = threading.Lock()

    def ready(self, name: str, patience: float | None = 0.0) -> bool:
        """Tell whether a planner is prepared; the first time it is asked for, that begins.

        One that cannot be prepared is ready as well: whoever uses it will see.

        Args:
            name: name of the planner.
            patience: how long to wait for it at most, s; None: until it is.
        """
        # Who changes parameters and who takes steps may ask at the same time.
        with self._lock:
            thread = self._threads.get(name)
            if thread is None:
                thread = threading.Thread(target=self._run, args=(name,), name=name, daemon=True)
                thread.start()
                self._threads[name] = thread
        thread.join(patience)
        return not thread.is_alive()

    def _run(self, name: str) -> None:
        try:
            self._prepare(name, self._tell)
        except Exception as error:
            self._warn(f"planner {name} could not be prepared: {error}")

    def _tell(self, text: str) -> None:
        self._say(text)
