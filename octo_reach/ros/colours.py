"""Colours of arms, states and objects, as red, green and blue from 0 to 1."""

from __future__ import annotations

from octo_reach.model.scene import ObjectKind

Colour = tuple[float, float, float]

ARM_COLOURS: tuple[Colour, ...] = (
    (0.12, 0.47, 0.71),
    (1.00, 0.50, 0.05),
    (0.55, 0.34, 0.29),
    (0.58, 0.40, 0.74),
    (0.09, 0.75, 0.81),
    (0.89, 0.47, 0.76),
    (0.74, 0.74, 0.13),
    (0.35, 0.35, 0.60),
)
"""Colours by arm number; after the eighth comes the first again."""

STATE_COLOURS: dict[str, Colour] = {
    "Blocked": (0.85, 0.10, 0.10),
    "Avoiding": (0.95, 0.60, 0.10),
    "Holding": (0.10, 0.55, 0.25),
    "Retracting": (0.10, 0.55, 0.45),
    "Carrying": (0.15, 0.70, 0.35),
    "Grasping": (0.55, 0.80, 0.20),
    "Contact": (0.85, 0.75, 0.20),
    "Idle": (0.55, 0.55, 0.60),
    "Reached": (0.20, 0.45, 0.90),
    "Beyond reach": (0.75, 0.25, 0.65),
    "No way": (0.55, 0.10, 0.45),
    "Failed": (0.95, 0.10, 0.55),
    "Reaching": (0.30, 0.60, 0.90),
}
"""Colours of the strip of an arm by its state."""

PLAIN: Colour = (0.5, 0.5, 0.5)
"""Colour of what has none of its own."""

KIND_COLOURS: dict[ObjectKind, Colour] = {
    ObjectKind.FOOD: (0.25, 0.70, 0.30),
    ObjectKind.OBSTACLE: (0.45, 0.45, 0.50),
    ObjectKind.HAZARD: (0.85, 0.25, 0.20),
}
"""Colours of objects by kind."""


CONTACT_COLOURS: dict[ObjectKind, Colour] = {
    ObjectKind.FOOD: (1.00, 0.85, 0.10),
    ObjectKind.OBSTACLE: (1.00, 0.45, 0.00),
    ObjectKind.HAZARD: (1.00, 0.00, 0.30),
}
"""Colours of contacts by the kind of the object: they stand out from objects and states."""


def arm_colour(number: int) -> Colour:
    """Give the colour of an arm by its number, from 1."""
    return ARM_COLOURS[(number - 1) % len(ARM_COLOURS)]


def state_colour(state: str) -> Colour:
    """Give the colour of a state; one without gets `PLAIN`."""
    return STATE_COLOURS.get(state, PLAIN)
