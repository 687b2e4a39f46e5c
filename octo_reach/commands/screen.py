"""A terminal that is drawn on in place and given back as it was; and output that is no terminal."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import termios
from collections.abc import Callable
from typing import Any, Protocol, TextIO

from rich.console import Console, ConsoleDimensions, RenderableType
from rich.live import Live
from rich.text import Text

Draw = Callable[[int, int], RenderableType]
"""Draws something in so many characters and lines."""


Intro = Callable[[int | None], list[Text]]
"""Gives lines for a terminal so wide, or for one of any width."""


class Screen(Protocol):
    """Where a run is shown."""

    period: float
    """Time between two refreshes, s."""

    def __enter__(self) -> Screen:
        """Begin to show."""

    def __exit__(self, *failure: object) -> None:
        """Show no more; leave what was shown last."""

    def refresh(self) -> None:
        """Show how things are now.

        Raises:
            OSError: nobody is there to see it any more.
        """

    def suspend(self) -> None:
        """Stop this process, as the terminal asked for, and go on when it is continued."""


def usable_terminal(stream: TextIO | None) -> bool:
    """Tell whether a stream is a terminal that can be drawn on and is this process's to use."""
    try:
        if stream is None or not stream.isatty():
            return False
        if os.environ.get("TERM", "dumb") in ("dumb", "unknown", ""):
            return False
        # Whoever runs in the background would be stopped for touching the terminal's settings.
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return False


class LiveScreen:
    """Redraws a picture in place. Before it stands, once, text that may be copied from.

    What this process writes to its standard error meanwhile goes elsewhere, and keys are not
    echoed, so that nothing tears the picture.
    """

    period = 0.25

    def __init__(self, stream: TextIO, intro: Intro, draw: Draw, errors: int | None) -> None:
        """Draw nothing yet.

        Args:
            stream: the terminal.
            intro: what stands before the picture; long lines are left to the terminal to wrap,
                which copies them in one piece.
            draw: draws the picture.
            errors: file descriptor that takes the place of standard error; None leaves that be.
        """
        self._console = Console(file=stream, highlight=False)
        self._stream = stream
        self._intro = intro
        self._draw = draw
        self._errors = errors
        self._standard_error: int | None = None
        self._terminal = stream.fileno()
        self._settings: list[Any] | None = None
        self._size: ConsoleDimensions | None = None
        self._live: Live | None = None

    def __enter__(self) -> LiveScreen:
        """Print the text, and draw."""
        self._quiet()
        try:
            self._begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        """Leave the last picture, and give the terminal back."""
        with contextlib.suppress(OSError):
            self._end()
        self._loud()

    def refresh(self) -> None:
        """Draw the picture anew."""
        if self._live is None:
            return
        if self._console.size != self._size:
            # The terminal has wrapped what was drawn in its own way, so where it is nobody knows.
            self._end()
            self._console.clear()
            self._begin()
        self._live.update(self._picture(), refresh=True)

    def suspend(self) -> None:
        """Give the terminal back, stop, and draw anew when continued."""
        self.__exit__()
        os.kill(os.getpid(), signal.SIGSTOP)
        if usable_terminal(self._stream):  # continued in the background: show nothing more
            self.__enter__()

    def _picture(self) -> RenderableType:
        size = self._size or self._console.size
        # One line less: the cursor must not push the first one out.
        return self._draw(size.width, max(1, size.height - 1))

    def _begin(self) -> None:
        self._size = self._console.size
        for line in self._intro(self._size.width):
            self._console.print(line, soft_wrap=True)
        self._live = Live(
            self._picture(),
            console=self._console,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )
        self._live.start(refresh=True)

    def _end(self) -> None:
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def _quiet(self) -> None:
        """Let no key be echoed and no message of this process be seen."""
        with contextlib.suppress(termios.error, OSError):
            self._settings = termios.tcgetattr(self._terminal)
            silent = termios.tcgetattr(self._terminal)
            silent[3] &= ~termios.ECHO
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, silent)
        if self._errors is not None and os.isatty(2):
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.flush()
            self._standard_error = os.dup(2)
            os.dup2(self._errors, 2)

    def _loud(self) -> None:
        """Undo that. What was typed meanwhile was meant for nobody."""
        if self._standard_error is not None:
            os.dup2(self._standard_error, 2)
            os.close(self._standard_error)
            self._standard_error = None
        if self._settings is not None and usable_terminal(self._stream):
            with contextlib.suppress(termios.error, OSError):
                termios.tcsetattr(self._terminal, termios.TCSAFLUSH, self._settings)
            self._settings = None


class PlainScreen:
    """Prints a line now and then, for a file, a pipe or a terminal that cannot more."""

    period = 1.0

    def __init__(self, stream: TextIO, intro: Intro, lines: Callable[[], list[str]]) -> None:
        """Print nothing yet.

        Args:
            stream: where to.
            intro: what stands before the first line.
            lines: gives what there is to say; the last line is left out where it is empty or the
                same as before.
        """
        self._stream = stream
        self._intro = intro
        self._lines = lines
        self._last = ""

    def __enter__(self) -> PlainScreen:
        """Print what stands first."""
        for text in self._intro(None):
            self._print(text.plain)
        return self

    def __exit__(self, *failure: object) -> None:
        """Print no more."""

    def refresh(self) -> None:
        """Print what there is to say."""
        *lines, last = self._lines()
        for text in lines:
            self._print(text)
        if last and last != self._last:
            self._print(last)
        self._last = last

    def suspend(self) -> None:
        """Stop, and go on when continued."""
        os.kill(os.getpid(), signal.SIGSTOP)

    def _print(self, text: str) -> None:
        print(text, file=self._stream, flush=True)
