"""How a run looks: as a table that is refreshed in place, and as plain lines."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from octo_reach.commands.children import Line
from octo_reach.nodes.summary import ArmSummary, Summary, count_of, list_arms

STATE_STYLES = {
    "Reaching": "cyan",
    "Avoiding": "yellow",
    "Blocked": "bold red",
    "Contact": "yellow",
    "Grasping": "magenta",
    "Carrying": "green",
    "Retracting": "green",
    "Holding": "green",
    "Reached": "bold blue",
    "Beyond reach": "red",
    "No way": "red",
    "Failed": "bold red",
    "Idle": "dim",
}
"""Style of each state, in colours that every terminal's theme defines."""

AT_REST = frozenset({"Idle", "Holding"})
"""States of an arm that was sent nowhere: how far it is from its last target says nothing."""

LEVEL_STYLES = {"WARN": "yellow", "ERROR": "bold red", "FATAL": "bold red"}
NOTHING = "·"
BARS = "▁▂▃▄▅▆▇█"
TRACE_LENGTH = 20
LOW = 0.02
"""Height of the highest bar at least, m: an arm that has arrived stays a low line."""
SHOWN_WARNINGS = 3
MANY_MISSED = 0.001
"""Share of missed steps from which they are shown as a worry."""
SLOW = 0.95
"""Share of the wanted rate below which the rate is shown as a worry."""


@dataclass(frozen=True)
class Column:
    """A column of the table.

    Attributes:
        title: what stands above it.
        width: its width, in characters.
        right: whether it is aligned to the right.
        rank: columns of a high rank are the first to go where there is no room.
    """

    title: str
    width: int
    right: bool
    rank: int


COLUMNS = (
    Column("arm", 6, False, 0),
    Column("state", 12, False, 1),
    Column("target (m)", 14, True, 4),
    Column("tip error", 9, True, 2),
    Column("last 20 s", TRACE_LENGTH, False, 8),
    Column("contacts", 8, True, 5),
    Column("captures", 8, True, 6),
    Column("holds", 11, False, 3),
    Column("planner", 16, False, 7),
)
GAP = 2


def fitting_columns(width: int) -> list[int]:
    """Choose the columns there is room for.

    Args:
        width: characters in a row.

    Returns:
        Their places in `COLUMNS`, in order; the first always is among them.
    """
    chosen = [0]
    room = width - COLUMNS[0].width
    for place in sorted(range(1, len(COLUMNS)), key=lambda place: COLUMNS[place].rank):
        need = GAP + COLUMNS[place].width
        if need > room:
            break
        chosen.append(place)
        room -= need
    return sorted(chosen)


def format_length(metres: float | None) -> str:
    """Give a length in a unit that suits it: `12.3 mm`, `1.24 m`; nothing where not known.

    Args:
        metres: the length, m.
    """
    if metres is None or math.isnan(metres):
        return ""
    if abs(metres) < 0.9995:
        return f"{1e3 * metres:.1f} mm"
    return f"{metres:.3g} m"


def format_error(arm: ArmSummary) -> str:
    """Give how far an arm is from where it was sent: `-` while it is idle, nothing where not known.

    Args:
        arm: what it is doing.
    """
    # What an idle arm is away from is nothing anybody asked for.
    return "-" if arm.state == "Idle" else format_length(arm.tip_error)


def format_target(target: tuple[float, float] | None) -> str:
    """Give a point as two columns of its own: ` 0.150  0.100`.

    Args:
        target: (x, y), m.
    """
    if target is None:
        return ""
    # No minus before zero: what rounding leaves of a tiny negative value is none.
    return "".join(
        f"{round(value, 3) + 0.0:7.3f}" if abs(value) < 100 else f"{value:7.3g}" for value in target
    )


def format_duration(seconds: float) -> str:
    """Give a time: `12.4 s`, `3 min 05 s`, `2 h 10 min`.

    Args:
        seconds: the time, s.
    """
    if seconds < 60.0:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def draw_trace(values: Iterable[float | None]) -> str:
    """Draw the course of a length as a row of bars, the highest being its maximum.

    Args:
        values: the lengths, from the oldest to the newest, m; None leaves a gap.
    """
    lengths = list(values)
    top = max([LOW, *(length for length in lengths if length is not None)])
    last = len(BARS) - 1
    return "".join(
        " " if length is None else BARS[min(last, int(last * length / top + 0.5))]
        for length in lengths
    )


@dataclass
class Repeated:
    """A line that was said once or more.

    Attributes:
        line: the line, as it was said last.
        times: how often.
    """

    line: Line
    times: int = 1


class Display:
    """What a terminal shows of a run, for any size it may have.

    Attributes:
        status: what the run is busy with before the arms move.
    """

    def __init__(self) -> None:
        """Start with nothing to show."""
        self.status = ""
        self._warnings: deque[Repeated] = deque(maxlen=SHOWN_WARNINGS)
        self._traces: dict[int, deque[float | None]] = {}
        self._traced = float("-inf")

    def warn(self, line: Line) -> None:
        """Show a line that a person should see, among the latest of them.

        Args:
            line: what a node said.
        """
        for warning in self._warnings:
            if (warning.line.node, warning.line.text) == (line.node, line.text):
                self._warnings.remove(warning)
                self._warnings.append(Repeated(line, warning.times + 1))
                return
        self._warnings.append(Repeated(line))

    def note_errors(self, summary: Summary, now: float) -> None:
        """Remember the tip errors, once a second.

        Args:
            summary: what is known.
            now: the time, s.
        """
        if summary.paused or now - self._traced < 1.0:
            return
        self._traced = now
        for arm in summary.arms:
            trace = self._traces.setdefault(arm.number, deque(maxlen=TRACE_LENGTH))
            error = arm.tip_error
            resting = error is None or math.isnan(error) or arm.state in AT_REST
            trace.append(None if resting else error)

    def draw(self, summary: Summary, width: int, height: int) -> RenderableType:
        """Draw everything, in so many characters and lines.

        Args:
            summary: what is known.
            width: characters in a row.
            height: lines there are.
        """
        bottom: list[Text] = [self._rate_line(summary)]
        bottom += [Text(note, style="yellow") for note in _list_notes(summary.arms)]
        bottom += [Text(problem, style="yellow") for problem in summary.problems]
        bottom += [_warning_line(warning) for warning in list(self._warnings)]
        for text in bottom:
            text.truncate(max(width, 1), overflow="ellipsis")
        # From the least to the most worth showing: warnings, arms, the rate.
        room = max(height, 1)
        bottom = bottom[: max(1, room - 1 - len(summary.arms))]
        shown = min(len(summary.arms), max(room - len(bottom) - 1, 0))
        parts: list[RenderableType] = []
        if shown:
            parts.append(self._table(summary.arms[:shown], fitting_columns(width)))
        if len(bottom) + shown + 2 < room:
            parts.append(Text(""))
        return Group(*parts, *bottom)

    def _table(self, arms: Sequence[ArmSummary], places: Sequence[int]) -> Table:
        table = Table(
            box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim", expand=False
        )
        for place in places:
            column = COLUMNS[place]
            table.add_column(
                column.title,
                width=column.width,
                justify="right" if column.right else "left",
                no_wrap=True,
                overflow="ellipsis",
            )
        for arm in arms:
            cells = self._cells(arm)
            table.add_row(*[cells[place] for place in places])
        return table

    def _cells(self, arm: ArmSummary) -> list[Text]:
        """Give the cells of an arm's row, in the order of `COLUMNS`."""
        state = Text(arm.state, STATE_STYLES.get(arm.state, "")) if arm.state else Text("…", "dim")
        place = "dim" if arm.state in AT_REST else ""
        return [
            Text(f"arm_{arm.number}"),
            state,
            Text(format_target(arm.target), place),
            Text(format_error(arm), place),
            Text(draw_trace(self._traces.get(arm.number, ())), "dim"),
            _count(arm.contacts, "yellow"),
            _count(arm.captures, "green"),
            Text(arm.holds, "green"),
            Text(arm.planner, "dim"),
        ]

    def _rate_line(self, summary: Summary) -> Text:
        if not summary.started:
            return Text(self.status, "dim")
        text = Text()
        if summary.paused:
            text.append("paused", "bold yellow")
        else:
            wanted = summary.wanted_rate
            slow = wanted is not None and summary.rate < SLOW * wanted
            text.append(f"{summary.rate:.1f} Hz", "bold yellow" if slow else "bold green")
            if wanted is not None:
                text.append(f" of {wanted:g}", "dim")
        missed = summary.missed_steps
        many = missed > MANY_MISSED * summary.steps
        text.append(f"  {missed} missed", "yellow" if many else "dim")
        if summary.simulated_seconds is not None:
            text.append(f"  simulated {format_duration(summary.simulated_seconds)}", "dim")
        if summary.rejected:
            text.append(f"  {summary.rejected} rejected", "yellow")
        return text


def _list_notes(arms: Iterable[ArmSummary]) -> list[str]:
    """Give what there is to say of arms, in one line where it is the same for many."""
    numbers: dict[str, list[int]] = {}
    for arm in arms:
        if arm.note:
            numbers.setdefault(arm.note, []).append(arm.number)
    return [f"{list_arms(those)}: {note}" for note, those in numbers.items()]


def _count(number: int, style: str) -> Text:
    return Text(str(number), style) if number else Text(NOTHING, "dim")


def _warning_line(warning: Repeated) -> Text:
    line = warning.line
    text = Text(f"{line.time:%H:%M:%S} {line.node}: ", "dim")
    if warning.times > 1:
        text.append(f"{warning.times}x ", "dim")
    text.append(line.text, LEVEL_STYLES.get(line.level, ""))
    return text


def format_plain(summary: Summary, status: str = "") -> str:
    """Give everything in one line without colours.

    Args:
        summary: what is known.
        status: what the run is busy with before the arms move.
    """
    if not summary.started:
        return status
    rate = "paused" if summary.paused else f"{summary.rate:.1f} Hz"
    head = [rate, f"{summary.missed_steps} missed", f"{summary.captures} captured"]
    if summary.simulated_seconds is not None:
        head.insert(0, f"{summary.simulated_seconds:.1f} s")
    parts = [", ".join(head)]
    for arm in summary.arms:
        words = [f"arm_{arm.number}", arm.state or "not heard"]
        error = format_error(arm)
        if error:
            words.append(error)
        if arm.contacts:
            words.append(f"touches {arm.contacts}")
        if arm.captures:
            words.append(f"captured {arm.captures}")
        if arm.holds:
            words.append(f"holds {arm.holds}")
        if arm.note:
            words.append(f"({arm.note})")
        parts.append(" ".join(words))
    return " | ".join(parts)


def format_end(summary: Summary) -> str:
    """Give what there is to say of a run that is over.

    Args:
        summary: what was known at its end.
    """
    if not summary.started:
        return "ended before the arms moved"
    return (
        f"ended after {format_duration(summary.simulated_seconds or 0.0)} of simulation:"
        f" {count_of(summary.missed_steps, 'step')} missed,"
        f" {count_of(summary.captures, 'object')} captured"
    )
