"""A run as an animated GIF in real time: arms, objects, targets and what every arm is doing."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from octo_reach.model.geometry import Floats
from octo_reach.pictures import palette
from octo_reach.pictures.drawing import (
    FONT_SIZE,
    HELD,
    PATH,
    SOLID,
    ArmArtist,
    draw_arm_number,
    draw_body,
    draw_object,
    draw_target,
    drawing_style,
    label_layer,
    make_page,
    object_style,
    shown_title,
)
from octo_reach.pictures.legend import ROW, draw_arm_list, draw_key, moving_entries
from octo_reach.pictures.recording import FRAME_RATE, Frame, Recording
from octo_reach.pictures.shapes import view_limits

SIDE = 4.8
"""Length of the longer side of the scene on the page, inch."""
PANEL = 1.75
"""Width of the panel, inch."""
DOTS_PER_INCH = 100.0
TRAIL = 1.0
"""How much of a tip's path is shown behind it, s."""
COLOURS = 128
"""Colours of the file; all frames share them."""
NEAREST_COLOURS = 7.0
"""Distance of the nearest two of them, of 255 steps a channel."""
SAMPLES = 6
"""Frames from which the colours are chosen."""


def save_animation(
    recording: Recording,
    path: str | os.PathLike[str],
    title: str,
    report: Callable[[int], None] | None = None,
) -> None:
    """Draw a finished run and write it as an animated GIF.

    Args:
        recording: a run recorded with a frame rate, after `finish`.
        path: a file that ends in .gif.
        title: what stands above the picture.
        report: told how many frames are done.

    Raises:
        OSError: the file cannot be written.
        ValueError: no frame was recorded.
    """
    if not recording.frames:
        raise ValueError("there is nothing to animate: record a run with a frame rate first")
    with drawing_style():
        stage = _Stage(recording, title)
        count = len(recording.frames)
        chosen = sorted({round(place) for place in np.linspace(0, count - 1, SAMPLES)})
        colours = _common_colours([stage.image(number) for number in chosen])
        frames = _frames(stage, count, colours, report)
        first = next(frames)
        first.save(
            path,
            format="GIF",
            save_all=True,
            append_images=frames,
            duration=round(1000.0 / FRAME_RATE),
            loop=0,
            optimize=False,
        )


def _frames(
    stage: _Stage, count: int, colours: Image.Image, report: Callable[[int], None] | None
) -> Iterator[Image.Image]:
    for number in range(count):
        image = stage.image(number)
        yield image.quantize(palette=colours, dither=Image.Dither.NONE)
        if report is not None:
            report(number + 1)


def _common_colours(images: list[Image.Image]) -> Image.Image:
    """Choose the colours for all frames; frames that share them differ only where things move.

    The flat colours of the page are the most frequent ones and so come out exactly; what is left
    goes to shades of the edges between them, none too near to another.
    """
    counts: Counter[tuple[int, int, int]] = Counter()
    for image in images:
        for count, colour in image.getcolors(image.width * image.height) or []:
            counts[cast("tuple[int, int, int]", colour)] += count
    chosen: list[tuple[int, int, int]] = []
    for colour, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if all(math.dist(colour, other) > NEAREST_COLOURS for other in chosen):
            chosen.append(colour)
            if len(chosen) == COLOURS:
                break
    sheet = Image.new("P", (1, 1))
    sheet.putpalette([channel for colour in chosen for channel in colour])
    return sheet


class _Stage:
    """The page of an animation, drawn once but for what moves."""

    def __init__(self, recording: Recording, title: str) -> None:
        self._recording = recording
        frames = recording.frames
        entries = moving_entries(recording)
        rows = len(entries) + len(recording.numbers) + 1.5
        # Every tenth frame of the arms is enough to know how much room they need.
        limits = view_limits(recording, (*frames[::10], frames[-1]))
        figure, axes, panel = make_page(recording, limits, SIDE, PANEL, rows * ROW)
        self._axes = axes
        self._canvas = FigureCanvasAgg(figure)
        axes.set_title(shown_title(title), size=12, weight="bold", loc="left")
        draw_body(axes, recording)
        start = frames[0]
        self._clock = axes.set_title("", size=FONT_SIZE, loc="right")
        self._states = draw_arm_list(panel, recording.numbers, start.states, 0.0)
        draw_key(panel, entries, (len(recording.numbers) + 0.7) * ROW)
        self._arms = [
            ArmArtist(axes, number, joints, recording.unit)
            for number, joints in zip(recording.numbers, start.joints, strict=True)
        ]
        self._trails = [
            axes.plot([], [], color=palette.arm_colour(number), linewidth=1.4, zorder=PATH)[0]
            for number in recording.numbers
        ]
        self._targets = [draw_target(axes, number, None) for number in recording.numbers]
        self._numbers = [
            draw_arm_number(axes, number, base)
            for number, base in zip(recording.numbers, recording.bases, strict=True)
        ]
        self._objects: dict[int, list[Any]] = {}
        for artist in self._moving():
            artist.set_animated(True)
        self._canvas.draw()
        self._still = self._canvas.copy_from_bbox(figure.bbox)

    def image(self, number: int) -> Image.Image:
        """Draw one frame."""
        frame = self._recording.frames[number]
        self._clock.set_text(f"{frame.seconds:.1f} s")
        for row, state in enumerate(frame.states):
            self._states[row].set_text(state)
            self._arms[row].move(frame.joints[row])
            self._trails[row].set_data(*self._trail(number, row).T)
            target = frame.targets[row]
            self._targets[row].set_data(*([[], []] if target is None else np.array([target]).T))
        self._move_objects(frame)
        self._canvas.restore_region(self._still)
        renderer = self._canvas.get_renderer()
        for artist in sorted(self._moving(), key=lambda artist: float(artist.get_zorder())):
            artist.draw(renderer)
        return Image.fromarray(np.asarray(self._canvas.buffer_rgba())[:, :, :3].copy())

    def _trail(self, number: int, row: int) -> Floats:
        first = max(0, number - round(TRAIL * FRAME_RATE))
        frames = self._recording.frames[first : number + 1]
        return np.array([frame.joints[row][-1] for frame in frames])

    def _moving(self) -> Iterator[Any]:
        yield self._clock
        yield from self._states
        for artists in self._objects.values():
            yield from (artist for artist in artists if artist is not None)
        for arm in self._arms:
            yield from arm.artists
        yield from self._trails
        yield from self._targets
        yield from self._numbers

    def _move_objects(self, frame: Frame) -> None:
        for number in [n for n in self._objects if n not in {o.number for o in frame.objects}]:
            for artist in self._objects.pop(number):
                if artist is not None:
                    artist.remove()
        for thing in frame.objects:
            owner = frame.owners.get(thing.number)
            if thing.number not in self._objects:
                self._objects[thing.number] = draw_object(self._axes, thing, None)
                for artist in self._objects[thing.number]:
                    if artist is not None:
                        artist.set_animated(True)
            circle, label = self._objects[thing.number]
            layer = SOLID if owner is None else HELD
            style = object_style(thing.kind, owner)
            circle.set(
                center=thing.position,
                edgecolor=style["edgecolor"],
                linewidth=style["linewidth"],
                zorder=layer,
            )
            if label is not None:
                label.set(position=thing.position, zorder=label_layer(layer))
