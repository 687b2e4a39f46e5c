"""What RViz shows of the arms beside the robot model: state, target, requests, steering."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Protocol

import numpy as np
from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.model.geometry import Floats
from octo_reach.model.octopus import NEIGHBOUR, Arm, Octopus
from octo_reach.model.scene import ObjectKind
from octo_reach.model.sensing import ContactReadings
from octo_reach.ros.colours import (
    CONTACT_COLOURS,
    PLAIN,
    STATE_COLOURS,
    Colour,
    arm_colour,
    state_colour,
)
from octo_reach.ros.frames import WORLD, arm_name

# Heights keep strips that lie over each other from flickering; only the top view matters.
_CLEARANCE_Z = -0.004
_STRIP_Z = 0.012
_REQUEST_Z = 0.014
_MARK_Z = 0.016
_TEXT_Z = 0.02
_THICKEST = 0.009
"""Half width, m, up to which an arm lies below all that; of a thicker one it is lifted."""
_GROUND_Z = -0.02
_GROUND_THICKNESS = 0.001

ELLIPSE_TURN = 0.1
"""The ellipse is drawn for joint motions of this norm, rad: for one of 1 it would hide the arm."""

TEXT_SIZE = 0.055
"""Height of writing as a share of an arm's length."""

MOST_CONTACTS = 200
"""Most contacts that are drawn one by one."""

REPEATED = 30
"""Every so many messages say again what does not move; so many name an arm that is gone."""

LEGEND: tuple[tuple[str, Colour], ...] = (
    *STATE_COLOURS.items(),
    *((f"touches {kind.label}", colour) for kind, colour in CONTACT_COLOURS.items()),
)
"""Lines of the legend: what a colour means."""

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
        self.strip = _marker("arm", number, Marker.LINE_STRIP, 0.8 * width, _STRIP_Z)
        self.text = _text("state", number, "", TEXT_SIZE * arm.parameters.reach)
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
            self.clearance,  # below the arm, whatever follows above it
            self.strip,
            self.requests,
            self.waypoints,
            self.target,
            self.ellipse,
            self.text,
        )
        for marker in self.all[1:]:
            marker.pose.position.z += max(0.0, clearance - _THICKEST)
        self._name = arm_name(number)
        self._state = ""
        self._spare = [Point() for _ in range(count)]

    def fill(self, arm: Arm, ellipse: Ellipse | None) -> None:
        """Draw the arm as it is now."""
        state = arm.state
        if state != self._state:
            self._state = state
            colour = state_colour(state)
            _paint(self.strip, colour)
            _paint(self.text, colour)
            self.text.text = f"{self._name}: {state}"
        joints = arm.joints
        x, y = joints[-1].tolist()
        self.text.pose.position.x = x
        self.text.pose.position.y = y + 1.5 * self.text.scale.z
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


class _ContactMarker:
    """All contacts as one marker: balls that are larger than the arm is wide."""

    def __init__(self, clearance: float) -> None:
        size = 3.0 * clearance if clearance > 0.0 else 0.009
        self.marker = _marker("contacts", 0, Marker.SPHERE_LIST, size, _MARK_Z)
        self.marker.pose.position.z += max(0.0, clearance - _THICKEST)
        self._points: list[Point] = []
        self._colours = {kind: _opaque(colour) for kind, colour in CONTACT_COLOURS.items()}

    def fill(self, contacts: ContactReadings) -> None:
        """Draw the contacts there are now."""
        count = min(len(contacts.arms), MOST_CONTACTS)
        marker = self.marker
        marker.action = Marker.ADD if count else Marker.DELETE
        while len(self._points) < count:
            self._points.append(Point())
        marker.points = self._points[:count]
        _write_points(marker.points, contacts.points[:count])
        marker.colors = [
            self._colours[ObjectKind(kind)] for kind in contacts.kinds[:count].tolist()
        ]


class ArmMarkers:
    """The drawing of all arms as one message that is changed in place.

    With the arm's number as id there are the namespaces `arm` (strip, coloured by state), `state`
    (the same in words, at the tip), `clearance`, `target`, `requests`, `waypoints` and
    `manipulability` (how far the tip goes when the joints turn by 0.1 rad all in all). `contacts`
    has the id 0. `ground`, an invisible plate that makes clicks land, and `legend`, which says
    what the colours mean, never move and are not in every message. All lie in `world` and carry
    stamp 0.
    """

    def __init__(self) -> None:
        """Make the message; arms come with the first filling."""
        self.message = MarkerArray()
        self._sets: dict[int, _ArmSet] = {}
        self._ground = _marker("ground", 0, Marker.CUBE, 1.0, _GROUND_Z, PLAIN, 0.0)
        self._ground.pose.position.z = _GROUND_Z
        self._legend = [
            _text("legend", line, text, 1.0, colour)
            for line, (text, colour) in enumerate(LEGEND, start=1)
        ]
        self._contacts = _ContactMarker(0.0)
        self._still = [self._ground, *self._legend]
        self._moving: list[Marker] = []
        self._gone: list[Marker] = []
        self._gone_left = 0
        self._still_left = 0

    def fill(
        self,
        octopus: Octopus,
        ellipses: Mapping[int, Ellipse] | None = None,
        anew: bool = False,
    ) -> MarkerArray:
        """Draw all arms as they are now.

        Args:
            octopus: the arms.
            ellipses: manipulability of arms by their numbers; of an arm left out none is drawn.
            anew: whether somebody hears this who has not heard what was said before: then
                everything is in the message, and whatever else was drawn is cleared.

        Returns:
            The message, the same object every time.
        """
        arms = octopus.arms
        known = {number: drawn.parameters for number, drawn in self._sets.items()}
        if known != {arm.number: arm.parameters for arm in arms}:
            self._lay_out(octopus)
        for arm in arms:
            self._sets[arm.number].fill(arm, (ellipses or {}).get(arm.number))
        self._contacts.fill(octopus.contacts)
        markers = [_clear()] if anew else []
        if self._gone_left:
            self._gone_left -= 1
            markers += self._gone
        if anew or self._still_left == 0:
            self._still_left = REPEATED
            markers += self._still
        self._still_left -= 1
        markers += self._moving
        self.message.markers = markers
        return self.message

    def _lay_out(self, octopus: Octopus) -> None:
        """Make the markers of the arms there are, and note those that are to go."""
        rules = octopus.rules
        before = self._moving
        self._sets = {
            arm.number: _ArmSet(arm, rules.arm_clearance, rules.reach_tolerance)
            for arm in octopus.arms
        }
        self._contacts = _ContactMarker(rules.arm_clearance)
        self._moving = [
            *chain.from_iterable(drawn.all for drawn in self._sets.values()),
            self._contacts.marker,
        ]
        there = {(marker.ns, marker.id) for marker in self._moving}
        self._gone = [marker for marker in before if (marker.ns, marker.id) not in there]
        for marker in self._gone:
            marker.action = Marker.DELETE
        self._gone_left = REPEATED if self._gone else 0
        self._still_left = 0
        self._lay_ground(octopus.arms)

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
        self._write_legend((bases - reaches).min(axis=0), (bases + reaches).max(axis=0))

    def _write_legend(self, low: Floats, high: Floats) -> None:
        """Put the legend to the left of whatever the arms can reach."""
        size = TEXT_SIZE * float(max(high - low)) / 2.0
        for place, marker in enumerate(self._legend):
            _size_text(marker, size)
            marker.pose.position.x = float(low[0]) - 5.0 * size
            marker.pose.position.y = float(high[1]) - 1.5 * size * place


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


def _text(namespace: str, number: int, text: str, size: float, colour: Colour = PLAIN) -> Marker:
    """Make a marker that is written."""
    marker = _marker(namespace, number, Marker.TEXT_VIEW_FACING, size, _TEXT_Z, colour)
    marker.text = text
    _size_text(marker, size)
    return marker


def _size_text(marker: Marker, size: float) -> None:
    marker.scale.z = size
    # RViz draws a space as wide as this.
    marker.scale.x = marker.scale.y = 0.5 * size


def _clear() -> Marker:
    """Make the marker that takes away whatever was drawn."""
    marker = _marker("", 0, Marker.CUBE, 1.0, 0.0)
    marker.action = Marker.DELETEALL
    return marker


def _opaque(colour: Colour) -> ColorRGBA:
    red, green, blue = colour
    return ColorRGBA(r=red, g=green, b=blue, a=1.0)


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
