"""Plots beside the scene: tip errors, contacts and the achieved rate of the last minute."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from viser import GuiApi, GuiUplotHandle

from octo_reach.model.geometry import Floats
from octo_reach.viewer.snapshot import Colour, Snapshot

WINDOW = 60.0
"""How much of the past is shown, s."""
SAMPLE_PERIOD = 0.2
"""Time between two samples, s."""
GREY = "#8a8f98"
"""Readable on white and on black."""


class History:
    """The last minute of some figures, sample by sample."""

    def __init__(self, window: float = WINDOW, period: float = SAMPLE_PERIOD) -> None:
        """Remember nothing yet.

        Args:
            window: how much is remembered, s.
            period: shortest time between two samples, s.
        """
        self._window = window
        self._period = period
        self._samples: deque[tuple[float, dict[str, float]]] = deque()

    def note(self, now: float, figures: dict[str, float]) -> bool:
        """Take a sample, unless the last one is too young.

        Args:
            now: the time on a steady clock, s.
            figures: the figures by name.

        Returns:
            Whether it was taken.
        """
        if self._samples and now - self._samples[-1][0] < self._period:
            return False
        # By their time, not their number: they come when a picture does, later than they could.
        while self._samples and now - self._samples[0][0] >= self._window:
            self._samples.popleft()
        self._samples.append((now, figures))
        return True

    def columns(self, names: list[str]) -> tuple[Floats, ...]:
        """Give the time before the last sample, s, and figures by their names.

        The plots cannot draw around what is missing: only samples that have all of them count.

        Args:
            names: names of the figures.

        Returns:
            Finite arrays of the same length, at least 1.
        """
        rows = [
            (time, *figures)
            for time, sample in self._samples
            if all(map(math.isfinite, figures := [sample.get(name, math.nan) for name in names]))
        ]
        table = np.array(rows or [(0.0,) * (len(names) + 1)])
        table[:, 0] -= table[-1, 0]
        return tuple(np.ascontiguousarray(column) for column in table.T)


def hex_colour(colour: Colour) -> str:
    """Give a colour as style sheets write it: `#1f77b4`."""
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour)


class Plots:
    """Three plots, for as many arms as there are."""

    def __init__(self, gui: GuiApi) -> None:
        """Show none yet; they come with the first arms.

        Args:
            gui: where to put them; called inside the container they are to stand in.
        """
        self._gui = gui
        self._container = gui.add_folder("The last minute", expand_by_default=True)
        self._history = History()
        self._news = False
        self._arms: tuple[tuple[str, Colour], ...] = ()
        self._plots: dict[str, tuple[GuiUplotHandle, list[str]]] = {}

    def note(self, snapshot: Snapshot, now: float) -> None:
        """Take a sample if it is time.

        Args:
            snapshot: what there is now.
            now: the time on a steady clock, s.
        """
        figures = {"rate": snapshot.rate, "wanted": snapshot.wanted_rate}
        for arm in snapshot.arms:
            figures[f"error {arm.name}"] = 1e3 * arm.tip_error
            figures[f"contacts {arm.name}"] = float(arm.contacts)
        if self._history.note(now, figures):
            self._news = True

    def show(self, snapshot: Snapshot) -> None:
        """Draw what was noted since the last call."""
        arms = tuple((arm.name, arm.colour) for arm in snapshot.arms)
        if arms != self._arms:
            self._arms = arms
            self._build()
        elif not self._news:
            return
        self._news = False
        for plot, names in self._plots.values():
            plot.data = self._history.columns(names)

    def _build(self) -> None:
        for plot, _ in self._plots.values():
            plot.remove()
        self._plots.clear()
        if not self._arms:
            return
        arms = [(name, hex_colour(colour)) for name, colour in self._arms]
        # The later one is drawn over the earlier.
        rates = [("wanted", GREY), ("rate", "#2f7de1")]
        with self._container:
            self._add("tip error, mm", [(f"error {name}", name, colour) for name, colour in arms])
            self._add("contacts", [(f"contacts {name}", name, colour) for name, colour in arms])
            self._add("steps a second", [(name, name, colour) for name, colour in rates])

    def _add(self, title: str, lines: list[tuple[str, str, str]]) -> None:
        names = [name for name, _, _ in lines]
        series = [{"label": "s"}] + [
            {"label": label, "stroke": colour, "width": 1.5, "points": {"show": False}}
            for _, label, colour in lines
        ]
        plot = self._gui.add_uplot(
            self._history.columns(names),
            tuple(series),  # type: ignore[arg-type]
            title=title,
            scales={
                "x": {"time": False},
                # Never below zero, and a rate that wavers a little must not look like a drama.
                "y": {"range": (0.0, None)},  # type: ignore[typeddict-item]
            },
            axes=({"size": 28}, {"size": 46}),
            legend={"show": False},
            height=150,
            padding=(10, 12, 0, 0),
        )
        self._plots[title] = (plot, names)
