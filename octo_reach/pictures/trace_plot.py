"""A trace as a figure: what each arm did, how far its tip was off, how it bent, what it touched."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from octo_reach.model.geometry import Floats
from octo_reach.model.scene import ObjectKind
from octo_reach.pictures import palette
from octo_reach.pictures.drawing import FONT_SIZE, drawing_style, shown_title
from octo_reach.scenes.trace_reading import ArmTrace, Trace

PIXEL = "px"
METRE = "m"
FURTHEST_IN_METRES = 10.0
"""A scene with a tip further from the origin than that is measured in pixels."""

STATE_COLOURS = {
    "Idle": "#e3e5e8",
    "Reaching": "#9ec9ec",
    "Avoiding": "#f3d27a",
    "Blocked": "#cc6677",
    "Contact": "#d9b8dc",
    "Grasping": "#c3cf86",
    "Holding": "#6bb08a",
    "Carrying": "#44aa99",
    "Retracting": "#2f8a80",
    "Reached": "#5a78b8",
    "Beyond reach": "#a06a9c",
    "No way": "#7a3b78",
    "Failed": "#882255",
}
"""Colours of the bands, in the order of the key; a state without one is drawn in grey."""
OTHER_STATE = "#c2c6cc"

KIND_COLOURS = {
    ObjectKind.FOOD: palette.FOOD_EDGE,
    ObjectKind.OBSTACLE: palette.OBSTACLE_EDGE,
    ObjectKind.HAZARD: palette.HAZARD_EDGE,
}
BEND_COLOURS = "RdBu_r"
MOST_COLUMNS = 2000
"""Moments a heat map shows at most; a page is no wider than that in dots."""

COLUMN_WIDTH = 5.0
SINGLE_WIDTH = 6.3
LEFT, RIGHT, TOP, GAP = 0.88, 0.24, 0.5, 0.07
BLOCK_GAP, AXIS_ROOM = 0.36, 0.36
"""Lengths on the page, inch."""
DOTS_PER_INCH = 200.0
SMALL = FONT_SIZE - 2.0
LETTER_SIZE, LETTER = 6.5, 0.055
"""Size of the names in the bands, points, and about how wide a letter of them is, inch."""


def guessed_unit(trace: Trace) -> str:
    """Guess what a trace measures lengths in, since it does not say: `PIXEL` or `METRE`.

    Args:
        trace: the trace.
    """
    furthest = max((float(np.abs(arm.tips).max()) for arm in trace.arms), default=0.0)
    return PIXEL if furthest > FURTHEST_IN_METRES else METRE


def save_trace_plot(
    trace: Trace, path: str | os.PathLike[str], title: str, unit: str | None = None
) -> None:
    """Draw a trace and write the figure.

    Args:
        trace: the trace, with at least one arm.
        path: a file name that ends in .png, .svg or .pdf.
        title: what stands above it.
        unit: what lengths are in, `PIXEL` or `METRE`; None for a guess.

    Raises:
        OSError: the file cannot be written.
    """
    with drawing_style():
        figure = draw_trace(trace, title, unit)
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata=_undated(os.fspath(path)))


def draw_trace(trace: Trace, title: str, unit: str | None = None) -> Figure:
    """Draw a trace, a block of panels for every arm, two side by side where there are several.

    Args:
        trace: the trace, with at least one arm.
        title: what stands above it.
        unit: what lengths are in, `PIXEL` or `METRE`; None for a guess.
    """
    return _Page(trace, unit or guessed_unit(trace)).draw(title)


class _Page:
    """The figure of one trace."""

    def __init__(self, trace: Trace, unit: str) -> None:
        self._trace = trace
        self._unit = unit
        arms = trace.arms
        self._single = len(arms) == 1
        self._columns = 1 if self._single else 2
        self._edges = _edges(trace.seconds)
        bends = [float(np.abs(arm.angles[:, 1:]).max()) for arm in arms if arm.angles.shape[1] > 1]
        self._bends = Normalize(*_symmetric(math.degrees(max(bends, default=0.0))))
        errors = [error for arm in arms if np.isfinite(error := tip_errors(arm)).any()]
        self._largest_error = max((float(np.nanmax(error)) for error in errors), default=0.0)
        self._touched = any(arm.touches for arm in arms)
        # Heights of the panels from top to bottom, inch.
        self._heights = [0.2, 1.5, 0.8, 1.5] if self._single else [0.17, 0.8, 0.5, 0.85]
        if self._touched:
            self._heights.append(1.1 if self._single else 0.6)

    def draw(self, title: str) -> Figure:
        arms = self._trace.arms
        rows = math.ceil(len(arms) / self._columns)
        block = sum(self._heights) + GAP * (len(self._heights) - 1)
        head = 0.0 if self._single else BLOCK_GAP
        panel = SINGLE_WIDTH if self._single else COLUMN_WIDTH
        width = self._columns * (LEFT + panel + RIGHT)
        key = self._key()
        per_line = max(1, int(width / 1.25))
        foot = 0.34 + 0.22 * math.ceil(len(key) / per_line) + 0.5
        height = TOP + rows * (head + block) + AXIS_ROOM + foot
        figure = Figure(figsize=(width, height), facecolor=palette.PAPER)
        figure.text(
            LEFT / width,
            1.0 - 0.3 / height,
            shown_title(title),
            size=12,
            weight="bold",
            va="center",
        )
        for place, arm in enumerate(arms):
            row, column = divmod(place, self._columns)
            left = column * (LEFT + panel + RIGHT) + LEFT
            top = height - TOP - row * (head + block) - head
            last = place + self._columns >= len(arms)
            self._draw_arm(figure, arm, (left, top, panel), last)
        figure.legend(
            handles=key,
            loc="lower left",
            bbox_to_anchor=(LEFT / width, 0.62 / height),
            borderaxespad=0.0,
            ncols=min(per_line, max(1, len(key))),
            frameon=False,
            fontsize=SMALL,
            handlelength=1.3,
            handleheight=0.8,
            columnspacing=1.2,
        )
        self._draw_scale(figure, (LEFT / width, 0.42 / height, 2.4 / width, 0.1 / height))
        return figure

    def _draw_arm(
        self, figure: Figure, arm: ArmTrace, place: tuple[float, float, float], last: bool
    ) -> None:
        left, top, panel = place
        width, height = figure.get_size_inches()
        panels: list[Axes] = []
        for inches in self._heights:
            top -= inches
            axes = figure.add_axes(
                (left / width, top / height, panel / width, inches / height),
                sharex=panels[0] if panels else None,
            )
            axes.tick_params(length=2.5, labelsize=SMALL, labelbottom=False)
            axes.spines[["top", "right"]].set_visible(False)
            panels.append(axes)
            top -= GAP
        panels[0].set_xlim(float(self._edges[0]), float(self._edges[-1]))
        self._draw_states(panels[0], arm)
        self._draw_errors(panels[1], arm)
        self._draw_heading(panels[2], arm)
        self._draw_bends(panels[3], arm)
        if self._touched:
            self._draw_touches(panels[4], arm)
        for axes in panels[1:]:
            axes.yaxis.set_label_coords(-0.5 / panel, 0.5)
        if last:
            panels[-1].tick_params(labelbottom=True)
            panels[-1].set_xlabel("time [s]", size=FONT_SIZE - 1.0, labelpad=2.0)

    def _draw_states(self, axes: Axes, arm: ArmTrace) -> None:
        axes.set_ylim(0.0, 1.0)
        axes.axis("off")
        if not self._single:
            axes.set_title(
                f"arm {arm.number}",
                size=FONT_SIZE,
                weight="bold",
                loc="left",
                pad=3.0,
                color=palette.arm_colour(arm.number),
            )
        figure_width = axes.get_figure().get_size_inches()[0]
        length = float(self._edges[-1] - self._edges[0])
        inches_a_second = axes.get_position().width * figure_width / length
        for first, end, state in runs(arm.states):
            start, stop = float(self._edges[first]), float(self._edges[end])
            axes.axvspan(start, stop, color=_state_colour(state), linewidth=0.0)
            if (stop - start) * inches_a_second > LETTER * (len(state) + 1):
                axes.text(
                    (start + stop) / 2.0,
                    0.5,
                    state,
                    size=LETTER_SIZE,
                    color=_ink_on(_state_colour(state)),
                    ha="center",
                    va="center_baseline",
                )

    def _draw_errors(self, axes: Axes, arm: ArmTrace) -> None:
        scale = 1000.0 if self._unit == METRE else 1.0
        colour = palette.arm_colour(arm.number)
        axes.plot(
            self._trace.seconds, tip_errors(arm) * scale, color=colour, linewidth=1.3, zorder=3.0
        )
        top = self._largest_error * scale * 1.08
        axes.set_ylim(0.0, top if top > 0.0 else 1.0)
        shown = "mm" if self._unit == METRE else "px"
        axes.set_ylabel(f"tip error\n[{shown}]", size=SMALL)
        axes.yaxis.set_major_locator(MaxNLocator(4 if self._single else 3))
        axes.grid(True, color=palette.GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        for number, _, seconds in self._trace.captures:
            if number == arm.number:
                axes.plot(seconds, 0.0, clip_on=False, **_CAPTURE)

    def _draw_heading(self, axes: Axes, arm: ArmTrace) -> None:
        heading = np.degrees(np.unwrap(arm.angles[:, 0]))
        axes.plot(self._trace.seconds, heading, color=palette.INK, linewidth=1.0)
        low, high = float(heading.min()), float(heading.max())
        spare = max(20.0, 0.08 * (high - low))
        axes.set_ylim(low - spare, high + spare)
        axes.set_ylabel("base\nheading", size=SMALL)
        axes.yaxis.set_major_locator(MaxNLocator(3, steps=[1, 1.5, 3, 4.5, 6, 9, 10]))
        axes.yaxis.set_major_formatter(FuncFormatter(_degrees))
        axes.grid(True, color=palette.GRID, linewidth=0.8)
        axes.set_axisbelow(True)

    def _draw_bends(self, axes: Axes, arm: ArmTrace) -> None:
        count = arm.angles.shape[1]
        stride = math.ceil(len(self._trace.seconds) / MOST_COLUMNS)
        edges = np.append(self._edges[:-1][::stride], self._edges[-1])
        bends = np.degrees(arm.angles[::stride, 1:]).T
        if count > 1:
            axes.pcolormesh(
                edges,
                np.arange(count) + 1.5,
                bends,
                norm=self._bends,
                cmap=BEND_COLOURS,
                shading="flat",
                rasterized=True,
            )
        self._number_segments(axes, count, "bend of\njoint", 1.5)

    def _draw_touches(self, axes: Axes, arm: ArmTrace) -> None:
        count = arm.angles.shape[1]
        for kind, colour in KIND_COLOURS.items():
            touches = [touch for touch in arm.touches if touch.kind is kind]
            if touches:
                starts = self._edges[[touch.row for touch in touches]]
                ends = self._edges[[touch.row + 1 for touch in touches]]
                segments = [touch.segment for touch in touches]
                axes.hlines(segments, starts, ends, color=colour, linewidth=2.0)
        self._number_segments(axes, count, "contact of\nsegment", 0.5)
        axes.grid(True, axis="x", color=palette.GRID, linewidth=0.8)
        axes.set_axisbelow(True)

    def _number_segments(self, axes: Axes, count: int, label: str, low: float) -> None:
        axes.set_ylim(low, max(count, low) + 0.5)
        axes.set_ylabel(label, size=SMALL)
        locator = MaxNLocator(4 if self._single else 2, integer=True, min_n_ticks=1)
        axes.yaxis.set_major_locator(locator)

    def _key(self) -> list[Any]:
        trace = self._trace
        seen = {state for arm in trace.arms for state in arm.states}
        states = [state for state in STATE_COLOURS if state in seen]
        states += sorted(seen - STATE_COLOURS.keys())
        key: list[Any] = [Patch(color=_state_colour(state), label=state) for state in states]
        numbers = {arm.number for arm in trace.arms}
        if any(number in numbers for number, _, _ in trace.captures):
            key.append(Line2D([], [], label="object grasped", **_CAPTURE))
        kinds = {touch.kind for arm in trace.arms for touch in arm.touches}
        for kind, colour in KIND_COLOURS.items():
            if kind in kinds:
                label = f"touches {_ARTICLES[kind]}"
                key.append(Line2D([], [], color=colour, linewidth=2.5, label=label))
        return key

    def _draw_scale(self, figure: Figure, place: tuple[float, float, float, float]) -> None:
        axes = figure.add_axes(place)
        bar = figure.colorbar(
            ScalarMappable(self._bends, BEND_COLOURS), cax=axes, orientation="horizontal"
        )
        bar.outline.set_visible(False)
        bar.set_ticks([self._bends.vmin or 0.0, 0.0, self._bends.vmax or 0.0])
        axes.xaxis.set_major_formatter(FuncFormatter(_degrees))
        axes.tick_params(length=2.5, labelsize=SMALL)
        axes.text(1.06, 0.5, "bend of a joint", size=SMALL, va="center", transform=axes.transAxes)


_CAPTURE: dict[str, Any] = {
    "marker": "^",
    "markersize": 7.0,
    "linestyle": "none",
    "markerfacecolor": palette.FOOD,
    "markeredgecolor": palette.FOOD_EDGE,
    "markeredgewidth": 1.0,
    "zorder": 4.0,
}
_ARTICLES = {
    ObjectKind.FOOD: "food",
    ObjectKind.OBSTACLE: "an obstacle",
    ObjectKind.HAZARD: "a hazard",
}


def tip_errors(arm: ArmTrace) -> Floats:
    """Give how far the tip of an arm is from where it is to go, shape (T,), in the scene's unit.

    NaN while the arm is idle: nobody asks then.

    Args:
        arm: the arm.
    """
    errors: Floats = np.hypot(*(arm.tips - arm.targets).T)
    errors[[state == "Idle" for state in arm.states]] = np.nan
    return errors


def runs(states: Sequence[str]) -> list[tuple[int, int, str]]:
    """Give stretches of equal states: (first, one past the last, state) each.

    Args:
        states: states in the order of time.
    """
    stretches = []
    first = 0
    for state, members in groupby(states):
        end = first + sum(1 for _ in members)
        stretches.append((first, end, state))
        first = end
    return stretches


def _undated(path: str) -> dict[str, None]:
    """Give what keeps the moment of drawing out of a file: the same trace gives the same bytes."""
    names = {".svg": "Date", ".pdf": "CreationDate"}
    return {name: None for suffix, name in names.items() if path.lower().endswith(suffix)}


def _edges(seconds: Floats) -> Floats:
    """Give when each moment begins to count and when the last one ends, shape (T + 1,), s."""
    length = float(seconds[-1] - seconds[-2]) if len(seconds) > 1 else 1.0
    return np.append(seconds, seconds[-1] + length)


def _symmetric(largest: float) -> tuple[float, float]:
    """Give limits around zero that hold `largest`, degrees, as a round number."""
    top = 5.0 * math.ceil(max(largest, 1.0) / 5.0 - 1e-9)
    return -top, top


def _degrees(value: float, place: int | None = None) -> str:
    return f"{value:g}°".replace("-", "\N{MINUS SIGN}")


def _ink_on(colour: str) -> str:
    """Give a colour of letters that can be read on a background."""
    red, green, blue = to_rgb(colour)
    return palette.INK if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else palette.PAPER


def _state_colour(state: str) -> str:
    return STATE_COLOURS.get(state, OTHER_STATE)
