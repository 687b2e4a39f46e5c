"""What of an arm decides where it fits: its geometry, its limits, and what it carries."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats
from octo_reach.model.guard import held_centre

if TYPE_CHECKING:
    from octo_reach.model.octopus import Arm


class Body(NamedTuple):
    """One arm as the kernels of this planner take it; lengths in the scene's unit, angles in rad.

    Attributes:
        segments: how many there are, N.
        length: length of a segment.
        bend: largest bend of every joint but the base.
        base_x: x of the base.
        base_y: y of the base.
        clearance: distance the arm keeps from obstacles.
        unit: length of a pixel.
        holder: the segment that holds an object, from 1; 0 where nothing is held.
        along: the held object's place along that segment, from its end.
        across: the held object's place across that segment.
        payload: radius of the held object.
    """

    segments: int
    length: float
    bend: float
    base_x: float
    base_y: float
    clearance: float
    unit: float
    holder: int
    along: float
    across: float
    payload: float

    @property
    def reach(self) -> float:
        """Farthest the effector can be from the base: the tip, or what is held."""
        if not self.holder:
            return self.segments * self.length
        return (self.holder - 1) * self.length + math.hypot(self.length + self.along, self.across)


def body_of(arm: Arm) -> Body:
    """Describe an arm as it is now."""
    parameters = arm.parameters
    grip = arm.grip
    along, across = (0.0, 0.0) if grip is None else grip.offset
    base_x, base_y = arm.base.tolist()
    return Body(
        segments=int(parameters.segment_count),
        length=float(parameters.segment_length),
        bend=float(parameters.maximum_bend),
        base_x=base_x,
        base_y=base_y,
        clearance=float(arm.rules.arm_clearance),
        unit=float(arm.rules.unit),
        holder=0 if grip is None else grip.segment,
        along=along,
        across=across,
        payload=arm.grip_radius,
    )


@compiled
def place_effector(angles: Floats, body: Body) -> tuple[float, float]:
    """Give where a pose puts what is to arrive, (x, y): the tip, or the held object's centre."""
    x = body.base_x
    y = body.base_y
    heading = 0.0
    last = body.segments if body.holder == 0 else body.holder
    for i in range(last):
        heading += angles[i]
        x += body.length * math.cos(heading)
        y += body.length * math.sin(heading)
    if body.holder == 0:
        return x, y
    return held_centre(x, y, heading, body.along, body.across)
