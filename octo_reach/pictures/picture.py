"""A whole run in one picture: where the arms were, went and are, among what, with a legend."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon

from octo_reach.pictures import palette
from octo_reach.pictures.drawing import (
    GHOST,
    PATH,
    SOLID,
    ArmArtist,
    draw_arm_number,
    draw_body,
    draw_object,
    draw_target,
    drawing_style,
    former_target_style,
    make_page,
    object_style,
    shown_title,
)
from octo_reach.pictures.legend import ROW, draw_arm_list, draw_key, key_entries
from octo_reach.pictures.recording import Frame, Recording
from octo_reach.pictures.shapes import arm_outline, limb_scale, view_limits

SIDE = 7.0
"""Length of the longer side of the scene on the page, inch."""
PANEL = 2.15
"""Width of the legend, inch."""
DOTS_PER_INCH = 150.0


def save_picture(recording: Recording, path: str | os.PathLike[str], title: str) -> None:
    """Draw a finished run and write it to a file.

    Args:
        recording: a run, after `finish`.
        path: a file that ends in .png, .svg or .pdf.
        title: what stands above the picture.

    Raises:
        OSError: the file cannot be written.
        ValueError: nothing was recorded.
    """
    with drawing_style():
        figure = draw_picture(recording, title)
        # Without the date the same run is the same file.
        metadata: dict[str, Any] = {
            ".svg": {"Date": None},
            ".pdf": {"CreationDate": None},
        }.get(Path(path).suffix.lower(), {})
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata=metadata)


def draw_picture(recording: Recording, title: str) -> Figure:
    """Draw a finished run.

    Args:
        recording: a run, after `finish`.
        title: what stands above the picture.

    Returns:
        A figure of its own, known to no window and no other figure.

    Raises:
        ValueError: nothing was recorded.
    """
    first, last = recording.first, recording.last
    if first is None or last is None:
        raise ValueError("there is nothing to draw: record a run and finish the recording first")
    entries = key_entries(recording)
    rows = len(entries) + len(recording.numbers) + 2
    limits = view_limits(recording, (first, last))
    figure, axes, panel = make_page(recording, limits, SIDE, PANEL, rows * ROW)
    axes.set_title(
        shown_title(f"{title}, after {last.seconds:.1f} s"), size=12, weight="bold", loc="left"
    )
    draw_body(axes, recording)
    _draw_former_objects(axes, recording)
    _draw_carried_paths(axes, recording)
    for thing in last.objects:
        draw_object(axes, thing, last.owners.get(thing.number))
    _draw_arms(axes, recording, first, last)
    _draw_targets(axes, recording, last)
    top = draw_key(panel, entries, 0.0)
    draw_arm_list(panel, recording.numbers, last.states, top + ROW)
    return figure


def _draw_former_objects(axes: Axes, recording: Recording) -> None:
    """Draw, as dashed outlines, where objects first were that moved or are gone."""
    for thing in recording.displaced:
        style = object_style(thing.kind)
        axes.add_patch(
            Circle(
                thing.position,
                thing.radius,
                facecolor=palette.mixed(style["facecolor"], palette.PAPER, 0.75),
                edgecolor=palette.mixed(style["edgecolor"], palette.PAPER, 0.35),
                linestyle=(0, (2.5, 2.0)),
                linewidth=1.1,
                zorder=GHOST + 0.1,
            )
        )


def _draw_carried_paths(axes: Axes, recording: Recording) -> None:
    for thing in recording.carried:
        path = recording.object_path(thing.number)
        axes.plot(
            path[:, 0],
            path[:, 1],
            color=palette.FOOD_EDGE,
            linestyle=(0, (1.2, 1.4)),
            linewidth=1.8,
            zorder=PATH + 0.5,
        )


def _draw_arms(axes: Axes, recording: Recording, first: Frame, last: Frame) -> None:
    for row, number in enumerate(recording.numbers):
        colour = palette.arm_colour(number)
        if number in recording.moved_arms:
            joints = first.joints[row]
            axes.add_patch(
                Polygon(
                    arm_outline(joints, limb_scale(joints, recording.unit)),
                    closed=True,
                    facecolor=palette.mixed(colour, palette.PAPER, 0.86),
                    edgecolor=palette.mixed(colour, palette.PAPER, 0.6),
                    linewidth=0.8,
                    zorder=GHOST,
                )
            )
            path = recording.tip_path(number)
            # The pale seam parts the path from ghosts and other paths, but must not cut an object.
            seam: dict[str, Any] = {"color": palette.PAPER, "linewidth": 2.8, "zorder": SOLID - 0.4}
            axes.plot(path[:, 0], path[:, 1], **seam)
            axes.plot(path[:, 0], path[:, 1], color=colour, linewidth=1.4, zorder=PATH)
        ArmArtist(axes, number, last.joints[row], recording.unit)
        draw_arm_number(axes, number, recording.bases[row])


def _draw_targets(axes: Axes, recording: Recording, last: Frame) -> None:
    for row, number in enumerate(recording.numbers):
        current = last.targets[row]
        for place in dict.fromkeys(recording.sent[number]):
            if place != current:
                axes.plot(*place, **former_target_style(palette.arm_colour(number)))
        if current is not None:
            draw_target(axes, number, current)
