"""octo-reach simulate: runs a scene headless, without ROS, and says or draws what came of it."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from octo_reach.commands import CommandError, require_extra, say
from octo_reach.commands.arguments import seconds_of_run, whole_number
from octo_reach.commands.middleware import require_ros
from octo_reach.commands.progress import progress
from octo_reach.commands.stopping import terminable
from octo_reach.nodes.summary import count_of

if TYPE_CHECKING:
    from octo_reach.model.octopus import Arm, Octopus
    from octo_reach.pictures.recording import Recording
    from octo_reach.scenes import SceneDocument
    from octo_reach.scenes.trace import TraceWriter

    Record = Callable[[Octopus], None]
    """Takes the present moment of a run in metres into a recording."""

STANDARD_OUTPUT = "-"
PICTURE_SUFFIXES = (".png", ".svg", ".pdf")
ANIMATION_SUFFIXES = (".gif",)
BAG_SUFFIXES = (".mcap",)
LONGEST_RUN = 1e8
"""Most seconds of a run."""
MOST_TICKS = 9_999_999_999
PROGRESS_STEPS = 60
"""Steps between two advances of the progress bar: it must not slow the run down."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command line of `simulate`."""
    parser = subparsers.add_parser(
        "simulate",
        help="run a scene headless, as fast as the machine goes",
        description="Runs a scene in steps of 1/120 s, the same way every time, without ROS.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "scene",
        metavar="SCENE",
        help="scene file (.json, .yaml), or the name of a shipped scene such as first_reach",
    )
    duration = parser.add_mutually_exclusive_group()
    duration.add_argument(
        "--seconds",
        metavar="S",
        type=seconds_of_run(LONGEST_RUN),
        help="how long to simulate (default: 20 s, longer where events or kept ticks are later)",
    )
    duration.add_argument(
        "--ticks",
        metavar="N",
        type=whole_number(0, MOST_TICKS, "a number of steps, 0 or more"),
        help="the same in steps of 1/120 s",
    )
    parser.add_argument(
        "--planner",
        metavar="P",
        default="neighbour",
        help="what proposes the motion of the arms (default: neighbour)",
    )
    parser.add_argument(
        "--trace",
        metavar="FILE",
        help="write the state after the kept ticks as JSON lines; - for the standard output",
    )
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument(
        "--every",
        metavar="N",
        type=whole_number(1, MOST_TICKS, "a number of steps, 1 or more"),
        help="keep the start, every Nth tick and the last in the trace (default: 1)",
    )
    kept.add_argument(
        "--keep", metavar="T,T,...", type=_ticks, help="keep just these ticks in the trace"
    )
    parser.add_argument(
        "--picture",
        metavar="FILE",
        type=Path,
        help=f"draw the run as a picture ({', '.join(PICTURE_SUFFIXES)})",
    )
    parser.add_argument(
        "--animation",
        metavar="FILE",
        type=Path,
        help=f"draw the run as an animation ({', '.join(ANIMATION_SUFFIXES)}), in real time",
    )
    parser.add_argument(
        "--bag",
        metavar="FILE",
        type=Path,
        help="write what ROS 2 nodes would have said of the run, in simulated time, as a recording"
        f" for ros2 bag and Foxglove ({', '.join(BAG_SUFFIXES)})",
    )
    parser.set_defaults(execute=execute)


@dataclass
class _Outcome:
    """What the summary says of the run itself."""

    octopus: Octopus
    wall_seconds: float


def execute(arguments: argparse.Namespace) -> int:
    """Run the scene."""
    document = _load(arguments.scene)
    _check_planner(arguments.planner)
    if arguments.trace is None and (arguments.every is not None or arguments.keep is not None):
        raise CommandError("--every and --keep choose the ticks of a trace: give --trace as well")
    ticks = _duration(arguments, document)
    _check_outputs_differ(arguments)
    recording = _recording(arguments)
    if arguments.bag is not None:
        _check_output("--bag", arguments.bag, BAG_SUFFIXES)
        require_ros("--bag")
        require_extra("--bag", "record", ["mcap"])
    with (
        terminable(),
        _trace_writer(arguments, ticks) as trace,
        _bag(arguments.bag, document) as bag,
    ):
        _compile()
        outcome = _run(document, ticks, arguments.planner, trace, recording, bag)
    to_trace = arguments.trace == STANDARD_OUTPUT
    if recording is not None:
        recording.finish()
        _draw(arguments, recording, document.name)
    _print_summary(document, outcome, sys.stderr if to_trace else sys.stdout)
    return 0


# ---------------------------------------------------------------- what was asked


def _load(text: str) -> SceneDocument:
    from octo_reach.scenes import SceneError, load_scene
    from octo_reach.scenes.shipped import UnknownSceneError, find_scene

    try:
        return load_scene(find_scene(text))
    except (SceneError, UnknownSceneError) as error:
        raise CommandError(str(error)) from None


def _check_planner(name: str) -> None:
    from octo_reach.planners import PLANNERS, UnknownPlannerError, create_planner

    try:
        create_planner(name)
    except UnknownPlannerError:
        choices = ", ".join(choice for choice in PLANNERS if choice != "external")
        raise CommandError(f"--planner must be one of {choices}, got {name!r}") from None
    if name == "external":
        raise CommandError(
            "--planner external makes no sense here: its joint angles come over ROS topics, and"
            " simulate runs without ROS"
        )


def _duration(arguments: argparse.Namespace, document: SceneDocument) -> int:
    from octo_reach.model.rules import UPDATE_RATE
    from octo_reach.scenes.running import standard_ticks

    latest = max(arguments.keep or (0,))
    if arguments.ticks is not None:
        ticks: int = arguments.ticks
    elif arguments.seconds is not None:
        ticks = round(arguments.seconds * UPDATE_RATE)
    else:
        ticks = max(standard_ticks(document), latest)
    if latest > ticks:
        raise CommandError(f"--keep must name ticks of the run, 0 to {ticks}, got {latest}")
    return ticks


def _recording(arguments: argparse.Namespace) -> Recording | None:
    if arguments.picture is None and arguments.animation is None:
        return None
    # All of this is said before the run, not after it.
    if arguments.picture is not None:
        _check_output("--picture", arguments.picture, PICTURE_SUFFIXES)
        require_extra("--picture", "plot", ["matplotlib"])
    if arguments.animation is not None:
        _check_output("--animation", arguments.animation, ANIMATION_SUFFIXES)
        require_extra("--animation", "plot", ["matplotlib", "PIL"])
    from octo_reach.pictures.recording import FRAME_RATE, Recording

    return Recording(None if arguments.animation is None else FRAME_RATE)


def _check_output(option: str, path: Path, suffixes: tuple[str, ...]) -> None:
    if path.suffix.lower() not in suffixes:
        raise CommandError(
            f"{option} must be a file name that ends in {', '.join(suffixes)}, got {path}"
        )
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise CommandError(f"{option}: {path} cannot be written")


def _check_outputs_differ(arguments: argparse.Namespace) -> None:
    """Refuse to write one file twice, by whatever names it is called."""
    taken: dict[str, str] = {}
    for option in ("--trace", "--picture", "--animation", "--bag"):
        name = getattr(arguments, option.removeprefix("--"))
        if name is None or str(name) == STANDARD_OUTPUT:
            continue
        path = os.path.realpath(name)
        if path in taken and not _is_device(path):
            raise CommandError(f"{taken[path]} and {option} would both write {name}")
        taken[path] = option


def _is_device(path: str | os.PathLike[str]) -> bool:
    """Tell whether what is written there goes elsewhere, as with /dev/null."""
    return os.path.exists(path) and not os.path.isfile(path)


@contextlib.contextmanager
def _trace_writer(arguments: argparse.Namespace, ticks: int) -> Iterator[TraceWriter | None]:
    from octo_reach.scenes.trace import TraceWriter

    if arguments.trace is None:
        yield None
        return
    every = 1 if arguments.every is None else arguments.every
    if arguments.trace == STANDARD_OUTPUT:
        yield TraceWriter(sys.stdout, ticks, every, arguments.keep)
        return
    try:
        # A disk may be full at the first line or at the last.
        with open(arguments.trace, "w", encoding="utf-8", newline="\n") as stream:
            yield TraceWriter(stream, ticks, every, arguments.keep)
    except OSError as error:
        raise CommandError(f"--trace: {arguments.trace}: {error.strerror or error}") from None


@contextlib.contextmanager
def _bag(path: Path | None, document: SceneDocument) -> Iterator[Record | None]:
    if path is None:
        yield None
        return
    from octo_reach.recordings.mcap_file import McapFile
    from octo_reach.recordings.run_recording import RunRecording

    def unwritable(error: OSError) -> CommandError:
        return _UnwritableBagError(f"--bag: {path}: {error.strerror or error}")

    with _replaced(path) as partial:
        try:
            file = McapFile(partial)
        except OSError as error:
            raise unwritable(error) from None
        resets = {event.tick for event in document.events if event.action == "reset"}
        recording = RunRecording(file, resets)

        def record(octopus: Octopus) -> None:
            try:
                recording.record(octopus)
            except OSError as error:
                raise unwritable(error) from None

        with contextlib.ExitStack() as stack:
            stack.push(file)
            yield record
            stack.pop_all()
        try:
            file.close()
        except OSError as error:
            raise unwritable(error) from None


class _UnwritableBagError(CommandError):
    """The recording could not be written: what there is of it is incomplete."""


@contextlib.contextmanager
def _replaced(path: Path) -> Iterator[Path]:
    """Give a file to write a recording to, which takes the place of another when it is whole.

    It is as well where the run was interrupted: then it is a recording of what there was of it.
    """
    whole = Path(os.path.realpath(path))
    if _is_device(whole):
        yield whole
        return
    partial = whole.with_name(f".{whole.name}.{os.getpid()}.part")
    try:
        yield partial
    except _UnwritableBagError:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
    except BaseException:
        with contextlib.suppress(OSError):
            partial.replace(whole)
        raise
    try:
        partial.replace(whole)
    except OSError as error:
        raise CommandError(f"--bag: {path}: {error.strerror or error}") from None


# ---------------------------------------------------------------- the run


def _compile() -> None:
    from octo_reach.model.octopus import compile_kernels

    compile_kernels(say)


def _run(
    document: SceneDocument,
    ticks: int,
    planner: str,
    trace: TraceWriter | None,
    recording: Recording | None,
    bag: Record | None,
) -> _Outcome:
    from octo_reach.scenes import to_metres
    from octo_reach.scenes.running import run_scene

    started = time.perf_counter()
    octopus: Octopus | None = None
    in_metres = document if bag is None else to_metres(document)
    # Messages are in metres: of a scene in pixels a second run goes along, as its nodes would.
    twins = None if in_metres is document else run_scene(in_metres, ticks, planner)
    with progress("simulating", ticks) as advance:
        for octopus in run_scene(document, ticks, planner):
            if bag is not None:
                bag(octopus if twins is None else next(twins))
            if trace is not None:
                trace.write(octopus)
            if recording is not None:
                recording.record(octopus)
            if octopus.ticks % PROGRESS_STEPS == 0 or octopus.ticks == ticks:
                advance(octopus.ticks)
    assert octopus is not None
    return _Outcome(octopus, time.perf_counter() - started)


def _draw(arguments: argparse.Namespace, recording: Recording, title: str) -> None:
    try:
        if arguments.picture is not None:
            from octo_reach.pictures.picture import save_picture

            save_picture(recording, arguments.picture, title)
        if arguments.animation is not None:
            from octo_reach.pictures.animation import save_animation

            with progress("drawing", len(recording.frames)) as advance:
                save_animation(recording, arguments.animation, title, advance)
    except OSError as error:
        what = error.filename or "the picture"
        raise CommandError(f"{what}: {error.strerror or error}") from None


# ---------------------------------------------------------------- the summary


def _print_summary(document: SceneDocument, outcome: _Outcome, stream: TextIO) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    octopus = outcome.octopus
    unit = "mm" if document.units == "metre" else "px"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("arm", justify="right")
    table.add_column("state")
    table.add_column(f"tip error [{unit}]".replace("[", r"\["), justify="right")
    table.add_column("contacts", justify="right")
    table.add_column("holds")
    table.add_column("captured")
    names = {thing.number: thing.identifier for thing in document.objects}
    scale = 1000.0 if unit == "mm" else 1.0
    for arm in octopus.arms:
        table.add_row(*_summary_row(octopus, arm, scale, names))
    # A terminal knows its width; in a file a line may be longer.
    console = Console(file=stream, width=None if stream.isatty() else 120, highlight=False)
    seconds, wall = octopus.time, outcome.wall_seconds
    factor = f", {seconds / wall:.0f} x real time" if wall > 0.0 and seconds > 0.0 else ""
    console.print(f"{document.name}", style="bold", markup=False)
    console.print(table)
    console.print(
        f"{count_of(octopus.ticks, 'step')}: {seconds:.2f} s simulated in {wall:.2f} s{factor}",
        markup=False,
    )


def _summary_row(
    octopus: Octopus, arm: Arm, scale: float, names: dict[int, str | None]
) -> tuple[str, ...]:
    def called(number: int) -> str:
        name = names.get(number)
        text = f"{number}" if name is None else f"{number} ({name})"
        return text.replace("[", r"\[")

    grip = arm.grip
    captured = [
        f"{called(capture.object)} at {capture.seconds:.2f} s"
        for capture in octopus.captures
        if capture.arm == arm.number
    ]
    # What an idle arm without an object is away from is nothing anybody asked for.
    sent = arm.active or grip is not None
    return (
        str(arm.number),
        arm.state,
        f"{arm.tip_error * scale:.1f}" if sent else "-",
        str(len(arm.contacts())),
        "-" if grip is None else called(grip.object),
        ", ".join(captured) or "-",
    )


# ---------------------------------------------------------------- reading numbers


def _ticks(text: str) -> tuple[int, ...]:
    read = whole_number(0, MOST_TICKS, "ticks like 1,2,5")
    return tuple(read(part.strip()) for part in text.split(","))
