"""octo-reach record: writes what a running system says into a file."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from octo_reach.commands import CommandError, require_extra, say
from octo_reach.commands.arguments import checked_seconds
from octo_reach.commands.middleware import checked_namespace, domain, require_ros
from octo_reach.commands.stopping import Signals
from octo_reach.nodes.summary import count_of

if TYPE_CHECKING:
    from octo_reach.nodes.recorder import Recorder
    from octo_reach.recordings.mcap_file import McapFile

NOTHING_HEARD = 1
SUFFIX = ".mcap"
SHOWN_PERIOD = 0.25
"""Time between two looks at how far the recording is, s."""
LOOK = 0.02
"""The same while nothing has been heard yet, s."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command line of `record`."""
    parser = subparsers.add_parser(
        "record",
        help="record the topics of a running system for ros2 bag and Foxglove",
        description="Writes every message of a running system into an MCAP file, until Ctrl-C or"
        " for so many seconds. Topics that come later are recorded as well. The exit code is 0,"
        " 1 when nothing was heard, 2 when the file cannot be written or is removed meanwhile.",
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="FILE", type=Path, help=f"a new file, *{SUFFIX}")
    parser.add_argument(
        "--seconds",
        metavar="S",
        help="how long to record, from the first message on (default: until Ctrl-C)",
    )
    parser.add_argument(
        "--namespace", metavar="NAME", default="", help="ROS 2 namespace of the system"
    )
    parser.add_argument(
        "--topics",
        metavar="NAME",
        nargs="+",
        default=[],
        help="record these only; * and ? stand for other letters ('arm_*/tip')",
    )
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Record until told to end; the exit code is 1 where nothing was heard."""
    with Signals() as signals:
        require_ros("octo-reach record")
        require_extra("octo-reach record", "record", ["mcap"])
        seconds = checked_seconds(arguments.seconds)
        namespace = checked_namespace(arguments.namespace)
        path: Path = arguments.file
        _check_path(path)
        file, lasted = _record(path, seconds, namespace, arguments.topics, signals)
    if not file.messages:
        path.unlink(missing_ok=True)
        say(
            "nothing was heard; is octo-reach run, or another of its nodes, in the same ROS domain"
            f" ({domain()})?"
        )
        return NOTHING_HEARD
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise CommandError(f"{path} was removed while it was recorded") from None
    _print_summary(file, path, size, lasted)
    return 0


def _check_path(path: Path) -> None:
    if path.suffix.lower() != SUFFIX:
        raise CommandError(f"FILE must be a file name that ends in {SUFFIX}, got {path}")
    # What was recorded once cannot be had again.
    if os.path.lexists(path):
        raise CommandError(f"{path} exists already: remove it, or choose another name")
    if not os.access(path.parent, os.W_OK):
        raise CommandError(f"{path} cannot be written")


def _record(
    path: Path, seconds: float, namespace: str, topics: list[str], signals: Signals
) -> tuple[McapFile, float]:
    """Record, and give the closed file and how long it took, s."""
    from octo_reach.nodes.recorder import Recorder
    from octo_reach.nodes.visiting import NoGraphError, visiting
    from octo_reach.recordings.mcap_file import McapFile

    with contextlib.ExitStack() as stack:
        try:
            recorder = stack.enter_context(
                visiting(lambda: Recorder(namespace, topics, say, signals.news.set))
            )
        except NoGraphError as error:
            raise CommandError(str(error)) from None
        try:
            file = McapFile(path)
            # Closed when the callbacks have ended: what was entered later ends first.
            node = stack.pop_all()
            with file:
                with node:
                    lasted = _listen(recorder, file, path, seconds, namespace, signals)
                if recorder.failure is not None:
                    raise recorder.failure
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror or error}") from None
    return file, lasted


def _listen(
    recorder: Recorder,
    file: McapFile,
    path: Path,
    seconds: float,
    namespace: str,
    signals: Signals,
) -> float:
    """Let the node record until the end, and give for how long it did, s.

    Time counts from the first message on, or from now while there is none: to find the topics
    takes a moment that nobody asked for.
    """
    where = f"ROS domain {domain()}" + ("" if namespace == "/" else f", namespace {namespace}")
    say(f"recording {where} to {path}; Ctrl-C ends it")
    begun = time.monotonic()
    recorder.begin(file)
    heard = False
    with _shown() as show:
        while not signals.stop.is_set() and recorder.failure is None:
            if not heard and file.messages:
                heard = True
                begun = time.monotonic()
            passed = time.monotonic() - begun
            if passed >= seconds:
                break
            topics = sum(1 for topic in list(file.topics.values()) if topic.messages)
            show(f"{passed:.0f} s: messages {file.messages}, topics {topics}")
            signals.news.wait(min(SHOWN_PERIOD if heard else LOOK, seconds - passed))
            signals.news.clear()
            if signals.suspend:
                signals.suspend = False
                os.kill(os.getpid(), signal.SIGSTOP)
    return time.monotonic() - begun


@contextlib.contextmanager
def _shown() -> Iterator[Callable[[str], None]]:
    """Show a line that changes, on the standard error where that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda line: None
        return
    from rich.console import Console

    with Console(stderr=True).status("", refresh_per_second=4) as status:
        yield status.update


def _print_summary(file: McapFile, path: Path, size: int, lasted: float) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("topic")
    table.add_column("type")
    table.add_column("messages", justify="right")
    for topic in sorted(file.topics.values(), key=lambda topic: topic.name):
        table.add_row(topic.name, topic.type, str(topic.messages))
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    console.print(table)
    console.print(
        f"{count_of(file.messages, 'message')} in {lasted:.1f} s: {path}, {size / 1e6:.1f} MB",
        markup=False,
    )
