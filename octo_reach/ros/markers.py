"""What RViz shows of the arms beside the robot model: state, target, requests, steering."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
from geometry_msgs.msg import Point
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.model.geometry import Floats
from octo_reach.model.octopus import NEIGHBOUR, Arm, Octopus
from octo_reach.ros.colours import PLAIN, STATE_COLOURS, Colour, arm_colour, state_colour
from octo_reach.ros.frames import WORLD

# Heights keep strips that lie over each other from flickering; only the top view matters.
_CLEARANCE_Z = -0.004
_STRIP_Z = 0.012
_REQUEST_Z = 0.014
_MARK_Z = 0.016
_GROUND_Z = -0.02
_GROUND_THICKNESS = 0.001

ELLIPSE_TURN = 0.1
"""The ellipse is drawn for joint motions of this norm, rad: for one of 1 it would hide the arm."""

_AROUND = np.linspace(0.0, 2.0 * math.pi, 49)
_CIRCLE = np.column_stack((np.cos(_AROUND), np.sin(_AROUND)))


class Ellipse(Protocol):
    """How far the tip goes by joint motions of norm 1, whichever way."""

    @property
    def major(self) -> float:
        """Half length of the longer axis, m/rad."""

    @property
    def minor(self) -> float:
        """Half length of the shorter axis, m/rad."""

    @property
    def angle(self) -> float:
        """Direction of the longer axis, rad."""


class _ArmSet:
    """The markers of one arm."""

    def __init__(self, arm: Arm, clearance: float, tolerance: float) -> None:
        number, count = arm.number, arm.parameters.segment_count
        length = arm.parameters.segment_length
        width = max(clearance, 0.1 * length)
        colour = arm_colour(number)
        self.parameters = arm.parameters
        self.strip = _marker("arm", number, Marker.LINE_STRIP, 0.5 * width, _STRIP_Z)
        self.clearance = _marker(
            "clearance", number, Marker.LINE_STRIP, 2.0 * width, _CLEARANCE_Z, colour, 0.15
        )
        self.target = _marker(
            "target", number, Marker.SPHERE, max(2.0 * tolerance, width), _MARK_Z, colour
        )
        self.requests = _marker(
            "requests", number, Marker.LINE_LIST, 0.15 * width, _REQUEST_Z, colour, 0.6
        )
        self.waypoints = _marker(
            "waypoints", number, Marker.SPHERE_LIST, width, _MARK_Z, STATE_COLOURS["Avoiding"]
        )
        self.ellipse = _marker(
            "manipulability", number, Marker.LINE_STRIP, 0.3 * width, _MARK_Z, colour, 0.8
        )
        self.ellipse.points = [Point() for _ in _CIRCLE]
        self.strip.points = [Point() for _ in range(count + 1)]
        # The same points under both, so that they are written once.
        self.clearance.points = self.strip.points
        self.requests.points = [Point() for _ in range(2 * count)]
        self.all = (
            self.clearance,
            self.strip,
            self.requests,
            self.waypoints,
            self.target,
            self.ellipse,
        )
        self._state = ""
        self._spare = [Point() for _ in range(count)]

    def fill(self, arm: Arm, ellipse: Ellipse | None) -> None:
        """Draw the arm as it is now."""
        state = arm.state
        if state != self._state:
            self._state = state
            _paint(self.strip, state_colour(state))
        joints = arm.joints
        _write_points(self.strip.points, joints)
        self.target.pose.position.x, self.target.pose.position.y = arm.aim.tolist()
        self.target.action = Marker.ADD if arm.active else Marker.DELETE
        self.ellipse.action = Marker.DELETE if ellipse is None else Marker.ADD
        if ellipse is not None:
            _write_points(self.ellipse.points, _outline(arm, ellipse))
        # Only the neighbour rules send requests and steer; other planners leave both as they were.
        neighbours = arm.active and arm.planner_name == NEIGHBOUR
        self.requests.action = Marker.ADD if neighbours else Marker.DELETE
        if neighbours:
            _write_points(self.requests.points[0::2], joints[:-1])
            _write_points(self.requests.points[1::2], arm.requests)
        goals = arm.goals[arm.steered] if neighbours and arm.avoiding else ()
        self.waypoints.action = Marker.ADD if len(goals) else Marker.DELETE
        self.waypoints.points = self._spare[: len(goals)]
        _write_points(self.waypoints.points, goals)


class ArmMarkers:
    """The drawing of all arms as one message that is changed in place.

    Namespaces are `arm` (strip, coloured by state), `clearance`, `target`, `requests`,
    `waypoints`, `manipulability` (how far the tip goes when the joints turn by 0.1 rad all in all),
    with the arm's number as id, and `ground`, an invisible plate that makes clicks land. All lie in
    `world` and carry stamp 0.
    """

    def __init__(self) -> None:
        """Make the message; arms come with the first filling."""
        self.message = MarkerArray()
        self._sets: dict[int, _ArmSet] = {}
        self._ground = _marker("ground", 0, Marker.CUBE, 1.0, _GROUND_Z, PLAIN, 0.0)
        self._ground.pose.position.z = _GROUND_Z

    def fill(self, octopus: Octopus, ellipses: Mapping[int, Ellipse] | None = None) -> MarkerArray:
        """Draw all arms as they are now.

        Args:
            octopus: the arms.
            ellipses: manipulability of arms by their numbers; of an arm left out none is drawn.

        Returns:
            The message, the same object every time.
        """
        arms = octopus.arms
        known = {number: drawn.parameters for number, drawn in self._sets.items()}
        if known != {arm.number: arm.parameters for arm in arms}:
            rules = octopus.rules
            self._sets = {
                arm.number: _ArmSet(arm, rules.arm_clearance, rules.reach_tolerance) for arm in arms
            }
            self._lay_ground(arms)
            self.message.markers = [
                self._ground,
                *(marker for drawn in self._sets.values() for marker in drawn.all),
            ]
        for arm in arms:
            self._sets[arm.number].fill(arm, (ellipses or {}).get(arm.number))
        return self.message

    def _lay_ground(self, arms: Sequence[Arm]) -> None:
        """Spread the plate over twice all that any arm can reach."""
        if not arms:
            return
        reaches = np.array([[arm.parameters.reach] for arm in arms])
        bases = np.array([arm.base for arm in arms])
        low = (bases - 2.0 * reaches).min(axis=0)
        high = (bases + 2.0 * reaches).max(axis=0)
        position, scale = self._ground.pose.position, self._ground.scale
        position.x, position.y = ((low + high) / 2.0).tolist()
        scale.x, scale.y = (high - low).tolist()
        scale.z = _GROUND_THICKNESS


def _marker(
    namespace: str,
    number: int,
    shape: int,
    size: float,
    z: float,
    colour: Colour = PLAIN,
    opacity: float = 1.0,
) -> Marker:
    """Make a marker in the world; `z` lifts its pose, and with it all its points."""
    marker = Marker()
    marker.header.frame_id = WORLD
    marker.ns = namespace
    marker.id = number
    marker.type = shape
    marker.action = Marker.ADD
    marker.pose.position.z = z
    marker.pose.orientation.w = 1.0
    marker.scale.x = size
    if shape not in (Marker.LINE_STRIP, Marker.LINE_LIST):
        marker.scale.y = marker.scale.z = size
    _paint(marker, colour)
    marker.color.a = opacity
    return marker


def _outline(arm: Arm, ellipse: Ellipse) -> Floats:
    """Give the points of an ellipse around an arm's tip, shape (K, 2), m."""
    cosine, sine = math.cos(ellipse.angle), math.sin(ellipse.angle)
    axes = np.array(
        (
            (ellipse.major * cosine, ellipse.major * sine),
            (-ellipse.minor * sine, ellipse.minor * cosine),
        )
    )
    points: Floats = arm.tip + ELLIPSE_TURN * (_CIRCLE @ axes)
    return points


def _paint(marker: Marker, colour: Colour) -> None:
    marker.color.r, marker.color.g, marker.color.b = colour


def _write_points(points: Iterable[Point], positions: Floats | tuple[()]) -> None:
    """Write positions, shape (K, 2), into K points."""
    rows = positions.tolist() if isinstance(positions, np.ndarray) else []
    for point, (x, y) in zip(points, rows, strict=True):
        point.x = x
        point.y = y
