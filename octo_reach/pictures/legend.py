"""The key of a picture: every sign that is in it, drawn as it is drawn there, and what it means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Polygon

from octo_reach.model.scene import ObjectKind
from octo_reach.pictures import palette
from octo_reach.pictures.drawing import (
    FONT_SIZE,
    former_target_style,
    object_style,
    reticle_style,
)
from octo_reach.pictures.recording import Recording
from octo_reach.pictures.shapes import arm_outline

ROW = 0.27
"""Height of a line of the panel, inch."""
SIGN_LEFT = 0.05
SIGN_RIGHT = 0.45
TEXT_LEFT = 0.56
RADIUS = 0.085
INK = palette.mixed(palette.INK, palette.PAPER, 0.3)
"""Colour of signs that come in the colour of every arm."""

Entry = tuple[Callable[[Axes, float], None], str]
"""What draws a sign at a height of the panel, inch, and what the sign means."""


def key_entries(recording: Recording) -> list[Entry]:
    """Give the signs that a picture of a run has, in the order of the key.

    Args:
        recording: a run, after `finish`.
    """
    last = recording.last
    assert last is not None
    kinds = {thing.kind for thing in last.objects}
    entries: list[Entry] = [(_arm, "arm, with its number")] if recording.numbers else []
    if recording.moved_arms:
        entries += [(_ghost, "starting pose"), (_tip_path, "path of the tip")]
    if any(target is not None for target in last.targets):
        entries.append((_target, "target of an arm"))
    if any(
        place != last.targets[row]
        for row, number in enumerate(recording.numbers)
        for place in recording.sent[number]
    ):
        entries.append((_former_target, "former target"))
    if ObjectKind.FOOD in kinds:
        entries.append((_food, "food, with its number"))
    if last.owners:
        entries.append((_held, "food held by an arm"))
    if recording.carried:
        entries.append((_carried_path, "path of carried food"))
    if recording.displaced:
        entries.append((_former_object, "initial position"))
    if ObjectKind.OBSTACLE in kinds:
        entries.append((_obstacle, "obstacle"))
    if ObjectKind.HAZARD in kinds:
        entries.append((_hazard, "hazard"))
    return entries


def moving_entries(recording: Recording) -> list[Entry]:
    """Give the signs that an animation of a run has, in the order of the key.

    Args:
        recording: a run, after `finish`.
    """
    kinds = {thing.kind for thing in recording.seen}
    entries: list[Entry] = []
    if any(recording.sent.values()):
        entries.append((_target, "target"))
    if recording.moved_arms:
        entries.append((_tip_path, "path of a tip"))
    if ObjectKind.FOOD in kinds:
        entries.append((_food, "food"))
    if any(frame.owners for frame in recording.frames):
        entries.append((_held, "held food"))
    if ObjectKind.OBSTACLE in kinds:
        entries.append((_obstacle, "obstacle"))
    if ObjectKind.HAZARD in kinds:
        entries.append((_hazard, "hazard"))
    return entries


def draw_key(panel: Axes, entries: Sequence[Entry], top: float) -> float:
    """Draw the key.

    Args:
        panel: axes in inches, downwards.
        entries: the signs and what they mean.
        top: where to begin, inch.

    Returns:
        Where it ends, inch.
    """
    for row, (draw, meaning) in enumerate(entries):
        height = top + (row + 0.5) * ROW
        draw(panel, height)
        panel.text(TEXT_LEFT, height, meaning, size=FONT_SIZE - 0.5, va="center_baseline")
    return top + len(entries) * ROW


def draw_arm_list(
    panel: Axes, numbers: Sequence[int], states: Sequence[str], top: float
) -> list[Any]:
    """List the arms with their colours and what they are doing.

    Args:
        panel: axes in inches, downwards.
        numbers: arm numbers.
        states: what each arm is doing.
        top: where to begin, inch.

    Returns:
        The texts of the states, to be changed as they change.
    """
    texts = []
    for row, (number, state) in enumerate(zip(numbers, states, strict=True)):
        height = top + (row + 0.5) * ROW
        panel.text(
            0.5 * (SIGN_LEFT + SIGN_RIGHT),
            height,
            str(number),
            size=FONT_SIZE - 1.0,
            weight="bold",
            color=palette.PAPER,
            ha="center",
            va="center_baseline",
            bbox={
                "boxstyle": "circle,pad=0.2",
                "facecolor": palette.arm_colour(number),
                "edgecolor": "none",
            },
        )
        texts.append(
            panel.text(TEXT_LEFT, height, state, size=FONT_SIZE - 0.5, va="center_baseline")
        )
    return texts


def _outline(height: float) -> Any:
    along = np.linspace(SIGN_LEFT, SIGN_RIGHT, 7)
    joints = np.stack([along, height + 0.03 * np.sin(np.linspace(0.0, 5.5, 7))], axis=1)
    return arm_outline(joints, 0.0105)


def _arm(panel: Axes, height: float) -> None:
    edge = palette.mixed(INK, "#000000", 0.45)
    panel.add_patch(Polygon(_outline(height), facecolor=INK, edgecolor=edge, linewidth=0.8))


def _ghost(panel: Axes, height: float) -> None:
    panel.add_patch(
        Polygon(
            _outline(height),
            facecolor=palette.mixed(INK, palette.PAPER, 0.86),
            edgecolor=palette.mixed(INK, palette.PAPER, 0.6),
            linewidth=0.8,
        )
    )


def _tip_path(panel: Axes, height: float) -> None:
    panel.plot([SIGN_LEFT, SIGN_RIGHT], [height, height], color=INK, linewidth=1.4)


def _target(panel: Axes, height: float) -> None:
    _mark(panel, height, reticle_style(INK))


def _former_target(panel: Axes, height: float) -> None:
    _mark(panel, height, former_target_style(INK))


def _mark(panel: Axes, height: float, style: dict[str, Any]) -> None:
    panel.plot([0.5 * (SIGN_LEFT + SIGN_RIGHT)], [height], **style)


def _circle(panel: Axes, height: float, **style: Any) -> None:
    panel.add_patch(Circle((0.5 * (SIGN_LEFT + SIGN_RIGHT), height), RADIUS, **style))


def _food(panel: Axes, height: float) -> None:
    _circle(panel, height, **object_style(ObjectKind.FOOD))


def _held(panel: Axes, height: float) -> None:
    style = {**object_style(ObjectKind.FOOD), "edgecolor": INK, "linewidth": 2.4}
    _circle(panel, height, **style)


def _former_object(panel: Axes, height: float) -> None:
    _circle(
        panel,
        height,
        facecolor=palette.mixed(INK, palette.PAPER, 0.93),
        edgecolor=palette.mixed(INK, palette.PAPER, 0.2),
        linestyle=(0, (2.5, 2.0)),
        linewidth=1.1,
    )


def _carried_path(panel: Axes, height: float) -> None:
    panel.plot(
        [SIGN_LEFT, SIGN_RIGHT],
        [height, height],
        color=palette.FOOD_EDGE,
        linestyle=(0, (1.2, 1.4)),
        linewidth=1.8,
    )


def _obstacle(panel: Axes, height: float) -> None:
    _circle(panel, height, **object_style(ObjectKind.OBSTACLE))


def _hazard(panel: Axes, height: float) -> None:
    _circle(panel, height, **object_style(ObjectKind.HAZARD))
