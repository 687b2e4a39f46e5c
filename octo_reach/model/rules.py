"""The constants of the reaching rules, in the unit and on the handedness of one scene.

Lengths are given for a pixel scene in seed 000 (the reach controller); a scene in another unit
multiplies every one of them by the length of a pixel, so the same rules move the same arm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

PIXEL_IN_METRES = 0.001
"""Length of one pixel of a pixel scene, in metres, unless told otherwise."""

UPDATE_RATE = 120.0
"""Updates a second, and so neighbour links a second that a request travels."""


class KernelRules(NamedTuple):
    """The numbers of `ReachRules` as the compiled kernels take them; same names, same units."""

    turn_sign: float
    reach_tolerance: float
    sensor_radius: float
    arm_clearance: float
    steering_margin: float
    waypoint_margin: float
    boundary_step: float
    lookahead_segments: float
    sample_travel: float
    geometry_tolerance: float
    direction_tolerance: float
    steering_response: float
    grasp_dwell: float
    carry_tolerance: float


@dataclass(frozen=True)
class ReachRules:
    """Constants of the rules of seed 000, lengths in the scene's unit.

    Attributes:
        unit: length of one pixel of the seed's scene in this scene's unit (1 or 0.001).
        turn_sign: +1 where y points down (angles turn clockwise on the screen), -1 where y
            points up. Decides which way round an obstacle an arm goes, and on which side the
            initial curve lies, so that a scene and its mirror image move as mirror images.
        reach_tolerance: a tip this near its target has arrived.
        sensor_radius: half width of the sensing strip around a segment.
        arm_clearance: effective radius of the arm: the distance kept from obstacles.
        steering_margin: steering begins this far outside the clearance.
        waypoint_margin: extra room of the waypoint on the boundary circle.
        boundary_step: angle by which the waypoint runs ahead around an obstacle, rad.
        lookahead_segments: how far a segment looks ahead, in segment lengths.
        sample_travel: most motion of any point between two samples of the swept guard.
        geometry_tolerance: slack of the guard, and the shortest distance with a direction to look.
        direction_tolerance: a goal nearer than this gives no direction to turn to.
        detach_tolerance: a held object further than this from its place was moved by someone else.
        steering_response: rate of the exponential easing of a joint, 1/s.
        initial_curve: starting bend of every joint but the base, rad (never over the maximum bend).
        grasp_dwell: how long a contact pair must last before the object is held, s.
        carry_tolerance: a carried object this near its destination has arrived.
        retract_distance: where a retracting arm takes its object, outward from the base.
        default_target_distance: distance from the base of the target of an arm that was given none.
    """

    unit: float = 1.0
    turn_sign: float = 1.0
    reach_tolerance: float = 2.0
    sensor_radius: float = 3.0
    arm_clearance: float = 3.0
    steering_margin: float = 8.0
    waypoint_margin: float = 5.0
    boundary_step: float = 0.4
    lookahead_segments: float = 3.0
    sample_travel: float = 2.0
    geometry_tolerance: float = 1e-8
    direction_tolerance: float = 1e-9
    detach_tolerance: float = 1e-6
    steering_response: float = 20.0
    initial_curve: float = 0.06
    grasp_dwell: float = 0.25
    carry_tolerance: float = 2.0
    retract_distance: float = 40.0
    default_target_distance: float = 180.0

    def __post_init__(self) -> None:
        """Refuse constants no arm could live by.

        Raises:
            ValueError: a constant is not finite, negative, or (where it must not be) zero.
        """
        for name, value in vars(self).items():
            if not math.isfinite(value):
                raise ValueError(f"rules: {name} must be finite, got {value!r}")
        if self.turn_sign not in (1.0, -1.0):
            raise ValueError(f"rules: turn_sign must be 1 or -1, got {self.turn_sign!r}")
        for name in ("unit", "reach_tolerance", "sample_travel", "lookahead_segments"):
            if getattr(self, name) <= 0.0:
                raise ValueError(f"rules: {name} must be above 0, got {getattr(self, name)!r}")
        for name, value in vars(self).items():
            if name != "turn_sign" and value < 0.0:
                raise ValueError(f"rules: {name} must not be negative, got {value!r}")

    @classmethod
    def pixel(cls) -> ReachRules:
        """The rules of a pixel scene: y down, angles clockwise, one unit a pixel (seed 000)."""
        return cls()

    @classmethod
    def metre(cls, metres_per_pixel: float = PIXEL_IN_METRES) -> ReachRules:
        """The same rules in metres, y up and angles counter-clockwise (REP 103).

        Args:
            metres_per_pixel: length of one pixel of the seed's scene, m.
        """
        pixel = cls()
        scaled = {name: getattr(pixel, name) * metres_per_pixel for name in LENGTHS}
        return cls(turn_sign=-1.0, **scaled)

    def for_kernels(self) -> KernelRules:
        """The constants the compiled kernels need, as one tuple."""
        return KernelRules(*(float(getattr(self, name)) for name in KernelRules._fields))


LENGTHS = (
    "unit",
    "reach_tolerance",
    "sensor_radius",
    "arm_clearance",
    "steering_margin",
    "waypoint_margin",
    "sample_travel",
    "geometry_tolerance",
    "direction_tolerance",
    "detach_tolerance",
    "carry_tolerance",
    "retract_distance",
    "default_target_distance",
)
"""Names of the constants that are lengths and so scale with the unit of the scene."""
