"""A run from start to end: both nodes, and the screen that shows them."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TextIO

from rich.console import RenderableType
from rich.text import Text

from octo_reach.commands import CommandError
from octo_reach.commands.children import KEPT_LINES, Child, Line, LogFile, stop_children
from octo_reach.commands.display import Display, format_end, format_plain
from octo_reach.commands.hints import fold_command, home_relative, own_command, target_commands
from octo_reach.commands.middleware import domain
from octo_reach.commands.run import Plan
from octo_reach.commands.screen import LiveScreen, PlainScreen, Screen, usable_terminal
from octo_reach.commands.stopping import Signals
from octo_reach.nodes.monitor import Monitor, name_rivals
from octo_reach.nodes.summary import Summary
from octo_reach.nodes.visiting import NoGraphError, log_folder, visiting

NODE_DIED = 1
VIEWER = "viewer"
LAST_LINES = 12
LONGEST_LOOK = 0.25
"""Longest time in which a child that ends by itself goes unnoticed, s."""


def run_session(plan: Plan, signals: Signals, plain: bool) -> int:
    """Look for others, start both nodes, show them, and end them.

    Args:
        plan: what is to be run.
        signals: tells when to end.
        plain: whether lines are printed in a terminal too.

    Returns:
        Exit code: 0, or 1 where a node ended by itself.

    Raises:
        CommandError: ROS 2 does not start, or somebody moves these arms already.
    """
    try:
        with visiting(lambda: Monitor(plan.arms, plan.namespace)) as monitor:
            rival = name_rivals(monitor, plan.arms, signals.stop)
            if rival:
                raise CommandError(
                    f"{rival} in ROS domain {domain()}; end it, or choose another"
                    " ROS_DOMAIN_ID or --namespace"
                )
            if signals.stop.is_set():
                return 0
            return _Session(plan, monitor, signals).run(plain)
    except NoGraphError as error:
        raise CommandError(str(error)) from None


class _Session:
    """Both nodes and the screen."""

    def __init__(self, plan: Plan, monitor: Monitor, signals: Signals) -> None:
        """Start nothing yet."""
        self._plan = plan
        self._monitor = monitor
        self._signals = signals
        self._display = Display()
        self._status = "starting simulated_world and reach_controller"
        self._status_since = time.monotonic()
        self._unsaid: deque[Line] = deque(maxlen=KEPT_LINES)
        self._log: LogFile | None = None
        self._begun: float | None = None
        self._children: list[Child] = []
        self._viewer: Child | None = None
        self._dead: Child | None = None
        self._summary = Summary()

    def run(self, plain: bool) -> int:
        """Start both nodes, show them until the end, end them, and give the exit code."""
        stream = sys.stdout
        with _open_log() as file:
            self._log = None if file is None else LogFile(file)
            try:
                self._start()
                # A screen that is gone is a reason to end, but not to complain of.
                with contextlib.suppress(OSError), self._screen(stream, file, plain) as screen:
                    self._watch(screen)
            finally:
                viewers = [] if self._viewer is None else [self._viewer]
                killed = stop_children([*viewers, *reversed(self._children)])
            try:
                self._say_how_it_ended(stream, killed)
            except OSError:
                # Python would complain of it once more when it ends.
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, 1)
                os.dup2(nowhere, 2)
        return 0 if self._dead is None else NODE_DIED

    def _start(self) -> None:
        for name, arguments in (
            ("simulated_world", self._plan.world),
            ("reach_controller", self._plan.controller),
        ):
            try:
                child = Child(name, f"octo_reach.nodes.{name}", arguments, self._hear)
            except OSError as failure:
                raise CommandError(f"{name} cannot be started: {failure.strerror}") from None
            self._children.append(child)
        if self._plan.viewer is not None:
            # Nobody needs it for the arms to move.
            with contextlib.suppress(OSError):
                self._viewer = Child(
                    VIEWER, f"octo_reach.nodes.{VIEWER}", self._plan.viewer, self._hear
                )

    def _hear(self, line: Line) -> None:
        """Take note of what a node said."""
        if self._log is not None:
            self._log.write(line)
        if line.matters:
            self._display.warn(line)
            self._unsaid.append(line)
        elif line.node == "reach_controller":
            self._status = line.text
            self._status_since = time.monotonic()

    def _screen(self, stream: TextIO, log: TextIO | None, plain: bool) -> Screen:
        path = None if log is None else Path(log.name)

        def begin(width: int | None) -> list[Text]:
            return intro(self._plan, path, width)

        if plain or not usable_terminal(stream):
            return PlainScreen(stream, begin, self._lines)
        return LiveScreen(stream, begin, self._draw, None if log is None else log.fileno())

    def _watch(self, screen: Screen) -> None:
        """Show the run until its end."""
        signals = self._signals
        shown = float("-inf")
        while not signals.stop.is_set():
            now = time.monotonic()
            self._dead = next((child for child in self._children if child.code is not None), None)
            self._summary = self._monitor.summary()
            self._look_after_viewer()
            if self._begun is None and self._summary.started:
                self._begun = now
            ended = self._begun is not None and now - self._begun >= self._plan.seconds
            if self._dead is not None or ended or now - shown >= screen.period:
                screen.refresh()
                shown = now
            if self._dead is not None or ended:
                return
            signals.news.wait(min(LONGEST_LOOK, screen.period))
            signals.news.clear()
            if signals.suspend:
                signals.suspend = False
                screen.suspend()

    def _look_after_viewer(self) -> None:
        """Go on without the viewer where it has ended, and say so."""
        viewer = self._viewer
        if viewer is None or viewer.code is None:
            return
        self._viewer = None
        viewer.close()
        ending = _exit_text(viewer.code)
        self._hear(
            Line(VIEWER, "WARN", f"ended ({ending}); the arms go on without it", datetime.now())
        )

    def _draw(self, width: int, height: int) -> RenderableType:
        now = time.monotonic()
        self._display.note_errors(self._summary, now)
        waited = now - self._status_since
        # A sign of life: the first compilation takes its time.
        self._display.status = (f"{waited:.0f} s: " if waited >= 2.0 else "") + self._status
        return self._display.draw(self._summary, width, height)

    def _lines(self) -> list[str]:
        lines = []
        while self._unsaid:
            line = self._unsaid.popleft()
            lines.append(f"{line.node}: {line.text}")
        return [*lines, format_plain(self._summary, self._status)]

    def _say_how_it_ended(self, stream: TextIO, killed: list[str]) -> None:
        complaints = []
        if self._dead is not None:
            complaints.append(
                f"octo-reach: {self._dead.name} ended by itself ({_exit_text(self._dead.code)})"
            )
            complaints += [f"  {line.text}" for line in list(self._dead.lines)[-LAST_LINES:]]
        complaints += [f"octo-reach: {name} did not end and was killed" for name in killed]
        for complaint in complaints:
            print(complaint, file=sys.stderr, flush=True)
        if self._dead is None:
            print(format_end(self._summary), file=stream, flush=True)


def intro(plan: Plan, log: Path | None, width: int | None) -> list[Text]:
    """Give what stands above the table, once.

    Args:
        plan: what is run.
        log: file of what the nodes say, or None.
        width: characters in a row of the terminal; None for one of any width.
    """
    where = f"ROS domain {domain()}"
    if plan.namespace != "/":
        where += f", namespace {plan.namespace}"
    page = [Text.assemble("See it in a browser: ", (plan.page, "cyan"))] if plan.page else []
    if plan.no_page:
        page = [Text(f"No view in a browser: {plan.no_page}", "yellow")]
    ours, theirs = target_commands(own_command(), plan.namespace, *plan.example)
    return [
        Text.assemble(("octo_reach", "bold"), f"  {plan.title}  ", (f"({where})", "dim")),
        Text(""),
        *page,
        Text("Send a target (x y, in metres) from another terminal:"),
        *(Text(f"  {line}", "cyan") for line in fold_command(ours, width)),
        *(Text(f"  {line}", "cyan") for line in fold_command(theirs, width)),
        Text("Ctrl-C ends it." + (f" Log: {home_relative(log)}" if log else ""), "dim"),
        Text(""),
    ]


def _exit_text(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


@contextlib.contextmanager
def _open_log() -> Iterator[TextIO | None]:
    """Open a log file beside those of the nodes, or where else there is room; None for nowhere."""
    name = f"octo_reach_run_{datetime.now():%Y%m%d_%H%M%S}_{os.getpid()}.log"
    with contextlib.ExitStack() as stack:
        file = None
        for folder in (log_folder, tempfile.gettempdir):
            try:
                path = Path(folder()) / name
                file = stack.enter_context(
                    path.open("x", encoding="utf-8", errors="backslashreplace")
                )
            except (OSError, RuntimeError):
                continue
            break
        yield file
