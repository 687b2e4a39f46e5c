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
SPREAD = 0.28
"""Height over which the dots of a planner are spread, in rows."""


def save_figure(rows: list[Row], summaries: list[PlannerSummary], path: Path) -> None:
    """Draw a comparison into a file; the same comparison gives the same file, but for the times.

    Args:
        rows: the rows of the comparison.
        summaries: what they were summed up to.
        path: a file that ends in .png, .pdf or .svg.

    Raises:
        OSError: the file cannot be written.
    """
    with drawing_style():
        figure = Figure(figsize=(WIDTH, HEIGHT), facecolor=palette.PAPER)
        grid = figure.add_gridspec(
            2,
            4,
            height_ratios=(1.35, 1.0),
            left=0.18,
            right=0.962,
            top=0.95,
            bottom=0.09,
            hspace=0.46,
            wspace=0.16,
        )
        _draw_reached(figure.add_subplot(grid[0, :]), rows, summaries)
        shared = reached_by_all(rows)
        names = [summary.planner for summary in summaries]
        for place, (label, figure_of, only_shared) in enumerate(FIGURES):
            axes = figure.add_subplot(grid[1, place])
            _draw_rows(axes, shared if only_shared else rows, names, figure_of)
            axes.set_xlabel(label)
            if place == 0:
                axes.set_yticks(range(len(names)), names)
                count = len(shared) // max(len(names), 1)
                _title(axes, f"on the {count} targets that all of them reached")
            elif only_shared != FIGURES[place - 1][2]:
                _title(axes, "on all targets")
        # Without the date the same comparison is the same file.
        dates: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
        metadata = dates.get(path.suffix.lower(), {})
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata=metadata)


# --------------------------------------------------------------------------- how soon how much


def _draw_reached(axes: Axes, rows: list[Row], summaries: list[PlannerSummary]) -> None:
    """Draw the share of targets that are reached by a time, with its interval."""
    latest = max((summary.slowest or 0.0 for summary in summaries), default=0.0)
    end = max(20.0, 1.2 * latest)
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
    axes.set_xticks(ticks := [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0])
    axes.set_xticklabels([f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("simulated time [s]")
    axes.set_ylabel("targets reached [%]")
    _plain(axes)
    axes.grid(color=palette.GRID, linewidth=0.8)


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
        found = [
            figure_of(row) for row in rows if row.planner == name and isinstance(row, ComparedRow)
        ]
        values = [value for value in found if value is not None and value > 0.0]
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
