"""The figure of `octo-reach bench planners`: how soon how much is reached, and at what cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from octo_reach.batch import Row
from octo_reach.batch.comparison import (
    ComparedRow,
    PlannerSummary,
    median_interval,
    millimetres,
    reached_by_all,
    wilson_interval,
)
from octo_reach.pictures import palette
from octo_reach.pictures.drawing import drawing_style

DOTS_PER_INCH = 200.0
WIDTH, HEIGHT = 9.0, 6.2
"""Size of the page, inches."""
SOONEST = 0.05
"""Start of the time axis, s."""
SHORT_AXIS = 500.0
"""Longest time axis, s, with two numbers between the powers of ten."""
SPREAD = 0.28
"""Height over which the dots of a planner are spread, in rows."""


def save_figure(
    rows: list[Row], summaries: list[PlannerSummary], longest: float, path: Path
) -> None:
    """Draw a comparison into a file; the same comparison gives the same file, but for the times.

    Args:
        rows: the rows of the comparison.
        summaries: what they were summed up to.
        longest: how long the longest run was simulated, s.
        path: a file that ends in .png, .pdf or .svg.

    Raises:
        OSError: the file cannot be written.
    """
    with drawing_style():
        figure = draw_comparison(rows, summaries, longest)
        # Without the date the same comparison is the same file.
        dates: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
        metadata = dates.get(path.suffix.lower(), {})
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata=metadata)


def draw_comparison(rows: list[Row], summaries: list[PlannerSummary], longest: float) -> Figure:
    """Draw a comparison; a small panel that would stay empty is left out.

    Args:
        rows: the rows of the comparison.
        summaries: what they were summed up to.
        longest: how long the longest run was simulated, s.
    """
    names = [summary.planner for summary in summaries]
    shared = reached_by_all(rows)
    panels = [
        (label, shared if only_shared else rows, figure_of, only_shared)
        for label, figure_of, only_shared in FIGURES
        if _values(shared if only_shared else rows, figure_of)
    ]
    figure = Figure(figsize=(WIDTH, HEIGHT), facecolor=palette.PAPER)
    grid = figure.add_gridspec(
        2 if panels else 1,
        max(len(panels), 1),
        height_ratios=(1.35, 1.0) if panels else None,
        left=0.18,
        right=0.962,
        top=0.95,
        bottom=0.09,
        hspace=0.46,
        wspace=0.16,
    )
    _draw_reached(figure.add_subplot(grid[0, :]), rows, summaries, longest)
    titles = {True: _shared_title(len(shared) // max(len(names), 1)), False: "on all targets"}
    for place, (label, chosen, figure_of, only_shared) in enumerate(panels):
        axes = figure.add_subplot(grid[1, place])
        _draw_rows(axes, chosen, names, figure_of)
        axes.set_xlabel(label)
        if place == 0:
            axes.set_yticks(range(len(names)), names)
        if only_shared in titles:
            # Over the first of those it is true of.
            _title(axes, titles.pop(only_shared))
    return figure


def _shared_title(count: int) -> str:
    return f"on the {count} {'target' if count == 1 else 'targets'} that all of them reached"


# --------------------------------------------------------------------------- how soon how much


def _draw_reached(
    axes: Axes, rows: list[Row], summaries: list[PlannerSummary], longest: float
) -> None:
    """Draw the share of targets that are reached by a time, with its interval."""
    end = max(longest, 2.0 * SOONEST)  # an axis has a length, even where nothing was simulated
    labels: list[tuple[int, int, str, str]] = []
    for place, summary in enumerate(summaries):
        colour = palette.arm_colour(place + 1)
        times = sorted(
            row.measures.seconds
            for row in rows
            if row.planner == summary.planner
            and row.measures is not None
            and row.measures.seconds is not None
        )
        edges = np.array([SOONEST, *np.maximum(times, SOONEST), end])
        counts = [*range(len(times) + 1), len(times)]
        bands = [wilson_interval(count, max(summary.runs, 1)) for count in counts]
        shares = 100.0 * np.array([(b.value, b.low, b.high) for b in bands if b is not None])
        axes.fill_between(
            edges, shares[:, 1], shares[:, 2], step="post", color=colour, alpha=0.11, linewidth=0.0
        )
        axes.step(edges, shares[:, 0], where="post", color=colour, linewidth=1.7)
        text = f"{summary.planner}  {summary.reached}/{summary.runs}"
        labels.append((-summary.reached, place, text, colour))
    _label(axes, [(text, colour) for _, _, text, colour in sorted(labels)])
    axes.set_xscale("log")
    axes.set_xlim(SOONEST, end)
    axes.set_ylim(0.0, 103.0)
    axes.set_xticks(ticks := _times(end))
    axes.set_xticklabels([f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("simulated time [s]")
    axes.set_ylabel("targets reached [%]")
    _plain(axes)
    axes.grid(color=palette.GRID, linewidth=0.8)


def _times(end: float) -> list[float]:
    """Give the times that are written at an axis that ends at `end`, s."""
    steps = (1, 2, 5) if end <= SHORT_AXIS else (1,)
    times = [step * 10.0**power for power in range(-2, 9) for step in steps]
    return [time for time in times if SOONEST <= time <= end]


def _label(axes: Axes, labels: list[tuple[str, str]]) -> None:
    """Write the names at the left, where all curves lie low, the best of them first."""
    for line, (text, colour) in enumerate(labels):
        axes.text(
            0.015,
            0.94 - 0.085 * line,
            text,
            color=colour,
            fontweight="bold",
            fontsize=9.5,
            transform=axes.transAxes,
            va="center",
        )


# ------------------------------------------------------------------------------- at what cost


def _path(row: ComparedRow) -> float | None:
    return None if row.measures is None else row.measures.path_ratio


def _travel(row: ComparedRow) -> float | None:
    return row.joint_travel


def _gap(row: ComparedRow) -> float | None:
    if row.measures is None or row.measures.clearance is None:
        return None
    return row.measures.clearance * millimetres(row.units)


def _update(row: ComparedRow) -> float | None:
    return row.update_us


def _values(
    rows: list[Row], figure_of: Callable[[ComparedRow], float | None], planner: str | None = None
) -> list[float]:
    """Give what can be drawn of a figure, of one planner or of all."""
    found = [
        figure_of(row)
        for row in rows
        if isinstance(row, ComparedRow) and planner in (None, row.planner)
    ]
    return [value for value in found if value is not None and value > 0.0]


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text, loc="left", fontsize=9.5, color=palette.INK)


FIGURES: tuple[tuple[str, Callable[[ComparedRow], float | None], bool], ...] = (
    ("tip path / straight distance", _path, True),
    ("joint travel [rad]", _travel, True),
    ("smallest gap [mm]", _gap, False),
    ("time of an update [µs]", _update, False),
)
"""What the small panels show, and whether only for targets that all planners reached."""


def _draw_rows(
    axes: Axes,
    rows: list[Row],
    names: list[str],
    figure_of: Callable[[ComparedRow], float | None],
) -> None:
    """Draw every run as a dot, and over it the median with its interval, a line a planner."""
    for place, name in enumerate(names):
        colour = palette.arm_colour(place + 1)
        values = _values(rows, figure_of, name)
        interval = median_interval(values)
        if interval is None:
            continue
        # Evenly by the golden section, so that the dots of one planner seldom hide one another.
        shift = SPREAD * (np.arange(len(values)) * 0.618034 % 1.0 - 0.5) + 0.18
        axes.plot(
            values, place + shift, "o", color=colour, alpha=0.3, markersize=2.4, markeredgewidth=0.0
        )
        axes.plot([interval.low, interval.high], [place - 0.2] * 2, color=colour, linewidth=2.0)
        axes.plot(
            [interval.value],
            [place - 0.2],
            "o",
            color=colour,
            markersize=5.5,
            markeredgecolor=palette.PAPER,
        )
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    subs = (1.0,) if math.log10(high / low) > 1.6 else (1.0, 2.0, 5.0)
    axes.xaxis.set_major_locator(LogLocator(subs=subs, numticks=12))
    axes.xaxis.set_major_formatter(_plain_number)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks(range(len(names)), [])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0.0)
    _plain(axes)
    axes.grid(axis="x", color=palette.GRID, linewidth=0.8)


def _plain_number(value: Any, position: Any) -> str:
    return f"{value:g}"


def _plain(axes: Axes) -> None:
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
