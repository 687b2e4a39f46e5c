"""Parts of a picture: the page with its axes, and the artists of arms and objects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon
from matplotlib.path import Path
from matplotlib.patheffects import withStroke

from octo_reach.model.geometry import Floats
from octo_reach.model.scene import ObjectKind, SceneObject
from octo_reach.pictures import palette
from octo_reach.pictures.recording import Recording
from octo_reach.pictures.shapes import arm_outline, half_widths, limb_scale

FONT_SIZE = 10.0
BODY_RADIUS = 40.0
"""Radius of the drawn body of an octopus, in pixels of a pixel scene."""
SMALLEST_LABELLED = 6.0
"""Objects smaller than this carry no number, in pixels of a pixel scene."""
STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": FONT_SIZE,
    "axes.edgecolor": palette.FAINT_INK,
    "axes.labelcolor": palette.INK,
    "axes.linewidth": 0.8,
    "hatch.linewidth": 0.9,
    "text.color": palette.INK,
    "text.usetex": False,
    "xtick.color": palette.FAINT_INK,
    "ytick.color": palette.FAINT_INK,
    "xtick.labelcolor": palette.INK,
    "ytick.labelcolor": palette.INK,
    "path.simplify_threshold": 0.1,
    "savefig.bbox": None,
    "svg.fonttype": "path",
    "svg.hashsalt": "octo_reach",
}
"""Said in full, so that a user's matplotlibrc changes nothing."""

# What lies over what.
GHOST, BODY, SOLID, PATH, ARM, HELD, MARK, LABEL = 1, 2, 3, 4, 5, 6, 7, 8


@contextmanager
def drawing_style() -> Iterator[None]:
    """Draw in this package's style, whatever the user's settings are."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def make_page(
    recording: Recording,
    limits: tuple[float, float, float, float],
    side: float,
    panel: float,
    least_height: float,
) -> tuple[Figure, Axes, Axes]:
    """Make a figure with the scene at the left and an empty panel at the right.

    Args:
        recording: a run; it knows the unit and which way y points.
        limits: least and largest x, least and largest y of what is shown, in the scene's unit.
        side: length of the longer side of the scene on the page, inch.
        panel: width of the panel, inch.
        least_height: height that the panel needs at least, inch; a flatter scene gets more air.

    Returns:
        The figure, the axes of the scene and those of the panel, whose unit is the inch.
    """
    x_low, x_high, y_low, y_high = limits
    scale = side / max(x_high - x_low, y_high - y_low)
    width, height = (x_high - x_low) * scale, (y_high - y_low) * scale
    left, right, bottom, top = 0.72, 0.15, 0.55, 0.42
    missing = max(0.0, least_height - height)
    height += missing
    y_low -= missing / scale / 2.0
    y_high += missing / scale / 2.0
    page = (left + width + right + panel, bottom + height + top)
    figure = Figure(figsize=page, facecolor=palette.PAPER)
    axes = figure.add_axes((left / page[0], bottom / page[1], width / page[0], height / page[1]))
    axes.set_xlim(x_low, x_high)
    axes.set_ylim(*((y_high, y_low) if recording.y_down else (y_low, y_high)))
    axes.set_aspect("equal", adjustable="box")
    unit = "px" if recording.unit == 1.0 else "m"
    axes.set_xlabel(f"x [{unit}]", labelpad=3.0)
    axes.set_ylabel(f"y [{unit}]", labelpad=3.0)
    axes.grid(True, color=palette.GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=3.0)
    side_axes = figure.add_axes(
        (
            (left + width + right) / page[0],
            bottom / page[1],
            panel / page[0],
            height / page[1],
        )
    )
    side_axes.set_xlim(0.0, panel)
    side_axes.set_ylim(height, 0.0)
    side_axes.axis("off")
    return figure, axes, side_axes


def shown_title(title: str) -> str:
    """Give a title as matplotlib shows it letter by letter: a dollar sign would begin a formula."""
    return title.replace("$", r"\$")


def object_style(kind: ObjectKind, owner: int | None = None) -> dict[str, Any]:
    """Give how an object is filled and edged, as properties of a patch.

    Args:
        kind: what it is.
        owner: number of the arm that holds it: it wears a ring in the colour of that arm.
    """
    style = _kind_style(kind)
    if owner is not None:
        style.update(edgecolor=palette.arm_colour(owner), linewidth=2.4)
    return style


def _kind_style(kind: ObjectKind) -> dict[str, Any]:
    if kind is ObjectKind.FOOD:
        return {"facecolor": palette.FOOD, "edgecolor": palette.FOOD_EDGE, "linewidth": 1.2}
    if kind is ObjectKind.OBSTACLE:
        return {"facecolor": palette.OBSTACLE, "edgecolor": palette.OBSTACLE_EDGE, "linewidth": 1.2}
    return {
        "facecolor": palette.HAZARD,
        "edgecolor": palette.HAZARD_EDGE,
        "linewidth": 1.2,
        "hatch": "////",
    }


def draw_object(axes: Axes, thing: SceneObject, owner: int | None) -> list[Any]:
    """Draw an object with its number; one that is held wears a ring in its arm's colour.

    Args:
        axes: the axes of the scene.
        thing: the object.
        owner: number of the arm that holds it, or None.

    Returns:
        The artists, the circle first, the number (None where it has none) second.
    """
    layer = SOLID if owner is None else HELD
    circle = Circle(thing.position, thing.radius, zorder=layer, **object_style(thing.kind, owner))
    axes.add_patch(circle)
    return [circle, _number_label(axes, thing, layer)]


def label_layer(layer: float) -> float:
    """Give where the number of an object lies: over the paths, even if the object does not."""
    return max(layer, PATH + 0.6) + 0.1


def _number_label(axes: Axes, thing: SceneObject, layer: int) -> Any:
    low, high = axes.get_xlim()
    points_per_unit = axes.bbox.width * 72.0 / axes.figure.dpi / (high - low)
    size = min(FONT_SIZE - 1.0, 1.1 * thing.radius * points_per_unit)
    if size < 4.5:
        return None
    ink = palette.HAZARD_EDGE if thing.kind is ObjectKind.HAZARD else palette.INK
    label = axes.text(
        *thing.position,
        str(thing.number),
        size=size,
        color=ink,
        ha="center",
        va="center_baseline",
        zorder=label_layer(layer),
        clip_on=True,
    )
    if thing.kind is ObjectKind.HAZARD:
        label.set_path_effects([withStroke(linewidth=2.5, foreground=palette.HAZARD)])
    return label


class ArmArtist:
    """The drawn shape of one arm: a tapered limb with a sucker at every joint, and its number."""

    def __init__(self, axes: Axes, number: int, joints: Floats, unit: float) -> None:
        """Draw the arm.

        Args:
            axes: the axes of the scene.
            number: the arm's number.
            joints: its joint positions, shape (N + 1, 2), in the scene's unit.
            unit: length of one pixel of a pixel scene in the scene's unit.
        """
        colour = palette.arm_colour(number)
        self._scale = limb_scale(joints, unit)
        self._limb = Polygon(
            arm_outline(joints, self._scale),
            closed=True,
            facecolor=colour,
            edgecolor=palette.mixed(colour, "#000000", 0.45),
            linewidth=0.8,
            joinstyle="round",
            zorder=ARM + 0.001 * number,
        )
        axes.add_patch(self._limb)
        # One size for each place along the arm, in the scene's unit; only their places change.
        diameters = 0.84 * half_widths(len(joints), self._scale)[1:]
        self._suckers = EllipseCollection(
            diameters,
            diameters,
            np.zeros(len(diameters)),
            units="xy",
            offsets=joints[1:],
            offset_transform=axes.transData,
            facecolor=palette.mixed(colour, palette.PAPER, 0.6),
            edgecolor="none",
            zorder=ARM + 0.001 * number + 0.0005,
        )
        axes.add_collection(self._suckers, autolim=False)
        self.artists: list[Any] = [self._limb, self._suckers]

    def move(self, joints: Floats) -> None:
        """Redraw the arm with its joints elsewhere."""
        self._limb.set_xy(arm_outline(joints, self._scale))
        self._suckers.set_offsets(joints[1:])


def draw_arm_number(axes: Axes, number: int, base: tuple[float, float]) -> Any:
    """Write an arm's number over its base."""
    return axes.text(
        *base,
        str(number),
        size=FONT_SIZE,
        weight="bold",
        color=palette.PAPER,
        ha="center",
        va="center_baseline",
        zorder=LABEL,
        bbox={
            "boxstyle": "circle,pad=0.22",
            "facecolor": palette.arm_colour(number),
            "edgecolor": palette.PAPER,
            "linewidth": 1.0,
        },
        clip_on=True,
    )


def draw_body(axes: Axes, recording: Recording) -> None:
    """Draw the body in the middle of arms that stand in a ring; others get none."""
    bases = np.array(recording.bases)
    if len(bases) < 3:
        return
    centre = bases.mean(axis=0)
    away = np.hypot(*(bases - centre).T)
    if float(away.max()) > BODY_RADIUS * recording.unit or float(away.min()) < 0.5 * away.max():
        return
    axes.add_patch(
        Circle(
            (float(centre[0]), float(centre[1])),
            BODY_RADIUS * recording.unit,
            facecolor=palette.BODY,
            edgecolor=palette.BODY_EDGE,
            linewidth=1.2,
            zorder=BODY,
        )
    )


def _reticle() -> Path:
    """Make the sign of a target: a ring with four ticks, open so that what lies there shows."""
    ring = Path.circle((0.0, 0.0), 0.7)
    ticks = [
        Path([(0.7 * x, 0.7 * y), (x, y)], [Path.MOVETO, Path.LINETO])
        for x, y in ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
    ]
    return Path.make_compound_path(ring, *ticks)


RETICLE = _reticle()


def draw_target(axes: Axes, number: int, place: tuple[float, float] | None) -> Any:
    """Mark where an arm is sent, with a reticle in its colour.

    Args:
        axes: the axes of the scene.
        number: number of the arm.
        place: (x, y), or None for a mark that is placed later.
    """
    (mark,) = axes.plot(*([], []) if place is None else ([place[0]], [place[1]]))
    mark.set(**reticle_style(palette.arm_colour(number)))
    return mark


def reticle_style(colour: str) -> dict[str, Any]:
    """Give the sign of a target, as properties of a line."""
    return {
        "linestyle": "none",
        "marker": RETICLE,
        "markersize": 21.0,
        "markerfacecolor": "none",
        "markeredgecolor": colour,
        "markeredgewidth": 1.8,
        "path_effects": [withStroke(linewidth=3.0, foreground=palette.PAPER)],
        "zorder": MARK,
    }


def former_target_style(colour: str) -> dict[str, Any]:
    """Give the sign of a place an arm was sent to before, as properties of a line."""
    return {
        "linestyle": "none",
        "marker": "X",
        "markersize": 7.0,
        "markerfacecolor": palette.mixed(colour, palette.PAPER, 0.45),
        "markeredgecolor": palette.PAPER,
        "markeredgewidth": 1.2,
        "zorder": SOLID - 0.3,
    }
