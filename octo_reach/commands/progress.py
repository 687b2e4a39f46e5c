"""How far a long command has come, on a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress(
    what: str, total: float, *, counted: bool = False, threaded: bool = True
) -> Iterator[Callable[[float], None]]:
    """Show a bar on the standard error where that is a terminal; it vanishes at the end.

    Args:
        what: what is going on, in a word.
        total: how much there is to do.
        counted: whether to show "3/10" rather than "30 %".
        threaded: whether a thread of its own draws the bar; a measurement moves it itself, as the
            thread would be measured as well.

    Yields:
        What is to be called with how much is done.
    """
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn() if counted else TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=threaded,
    )
    with bar:
        task = bar.add_task(what, total=max(total, 1))
        yield lambda done: bar.update(task, completed=done, refresh=not threaded)
