"""Colours that stay apart for colour-blind eyes, and in print: Paul Tol's "muted" scheme, mostly.

An arm also carries its number and an object its shape and hatching, so that no meaning hangs on
colour alone.
"""

from __future__ import annotations

ARM_COLOURS = (
    "#332288",
    "#cc6677",
    "#66b3e0",
    "#882255",
    "#44aa99",
    "#8a8a2b",
    "#aa4499",
    "#117733",
)
"""Colours by arm number, in the order that keeps neighbours in the ring furthest apart."""

FOOD = "#f5b041"
FOOD_EDGE = "#8a5a00"
OBSTACLE = "#a3a9b3"
OBSTACLE_EDGE = "#4a4f57"
HAZARD = "#fbe3df"
HAZARD_EDGE = "#b03a2e"
BODY = "#e7e2ee"
BODY_EDGE = "#9d94b0"
INK = "#30343b"
FAINT_INK = "#8b9099"
GRID = "#e9ebee"
PAPER = "#ffffff"


def arm_colour(number: int) -> str:
    """Give the colour of an arm by its number, from 1."""
    return ARM_COLOURS[(number - 1) % len(ARM_COLOURS)]


def mixed(colour: str, other: str, share: float) -> str:
    """Give the colour a `share` of the way from `colour` to `other`, all as `#rrggbb`.

    Opaque mixtures instead of transparent colours keep ghosts and fills the same wherever they
    lie, and the palette of an animation small.
    """
    channels = (
        round(
            int(colour[place : place + 2], 16) * (1.0 - share)
            + int(other[place : place + 2], 16) * share
        )
        for place in (1, 3, 5)
    )
    return "#" + "".join(f"{channel:02x}" for channel in channels)
