"""What RViz shows of the arms beside the robot model: state, target, requests, steering."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Protocol

import numpy as np
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
from octo_reach.ros.packed_markers import PackedMarker, empty_points, marker_array

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
_CIRCLE = np.column_stack((np.cos(_AROUND), np.sin(_AROUND), np.ones(len(_AROUND))))
"""Points of a circle, and what the middle is multiplied with."""

_CONTACT_COLOURS = np.array([(*CONTACT_COLOURS[kind], 1.0) for kind in ObjectKind], dtype="<f4")
"""Colours of contacts: row K - 1 for the kind K."""


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
        lift = max(0.0, clearance - _THICKEST)
        colour = arm_colour(number)
        self.parameters = arm.parameters

        def lifted(marker: Marker) -> PackedMarker:
            marker.pose.position.z += lift
            return PackedMarker(marker)

        self.strip = lifted(_marker("arm", number, Marker.LINE_STRIP, 0.8 * width, _STRIP_Z))
        size = TEXT_SIZE * arm.parameters.reach
        self.text = lifted(_text("state", number, "", size))
        self._text_height = 1.5 * size
        self.clearance = PackedMarker(
            _marker("clearance", number, Marker.LINE_STRIP, 2.0 * width, _CLEARANCE_Z, colour, 0.15)
        )
        size = max(2.0 * tolerance, width)
        self.target = lifted(_marker("target", number, Marker.SPHERE, size, _MARK_Z, colour))
        self.requests = lifted(
            _marker("requests", number, Marker.LINE_LIST, 0.15 * width, _REQUEST_Z, colour, 0.6)
        )
        self.waypoints = lifted(
            _marker(
                "waypoints", number, Marker.SPHERE_LIST, width, _MARK_Z, STATE_COLOURS["Avoiding"]
            )
        )
        self.ellipse = lifted(
            _marker("manipulability", number, Marker.LINE_STRIP, 0.3 * width, _MARK_Z, colour, 0.8)
        )
        self._joints = empty_points(count + 1)
        # The same points under both, so that they are written once.
        self.strip.draw(self._joints)
        self.clearance.draw(self._joints)
        self._outline = empty_points(len(_CIRCLE))
        self.ellipse.draw(self._outline)
        self._requests = empty_points(2 * count)
        self.requests.draw(self._requests)
        self._waypoints = empty_points(count)
        self.all = (
            self.clearance,  # below the arm, whatever follows above it
            self.strip,
            self.requests,
            self.waypoints,
            self.target,
            self.ellipse,
            self.text,
        )
        self._name = arm_name(number)
        self._state = ""

    def fill(self, arm: Arm, ellipse: Ellipse | None) -> None:
        """Draw the arm as it is now."""
        state = arm.state
        if state != self._state:
            self._state = state
            colour = state_colour(state)
            self.strip.paint(colour)
            self.text.paint(colour)
            self.text.write(f"{self._name}: {state}")
        joints = arm.joints
        x, y = joints[-1].tolist()
        self.text.move(x, y + self._text_height)
        self._joints[:, :2] = joints
        self.target.move(*arm.aim.tolist())
        active = arm.active
        self.target.show(active)
        self.ellipse.show(ellipse is not None)
        if ellipse is not None:
            np.matmul(_CIRCLE, _ellipse_axes(ellipse, x, y), out=self._outline)
        # Only the neighbour rules send requests and steer; other planners leave both as they were.
        neighbours = active and arm.planner_name == NEIGHBOUR
        self.requests.show(neighbours)
        if neighbours:
            self._requests[0::2, :2] = joints[:-1]
            self._requests[1::2, :2] = arm.requests
        count = 0
        if neighbours and arm.avoiding:
            goals = arm.goals[arm.steered]
            count = len(goals)
            self._waypoints[:count, :2] = goals
        self.waypoints.show(count > 0)
        if count != len(self.waypoints.points):
            self.waypoints.draw(self._waypoints[:count])


class _ContactMarker:
    """All contacts as one marker: balls that are larger than the arm is wide."""

    def __init__(self, clearance: float) -> None:
        size = 3.0 * clearance if clearance > 0.0 else 0.009
        marker = _marker("contacts", 0, Marker.SPHERE_LIST, size, _MARK_Z)
        marker.pose.position.z += max(0.0, clearance - _THICKEST)
        self.marker = PackedMarker(marker)

    def fill(self, contacts: ContactReadings) -> None:
        """Draw the contacts there are now."""
        count = min(len(contacts.arms), MOST_CONTACTS)
        self.marker.show(count > 0)
        if count or len(self.marker.points):
            points = empty_points(count)
            points[:, :2] = contacts.points[:count]
            self.marker.draw(points, _CONTACT_COLOURS[contacts.kinds[:count] - 1])


class ArmMarkers:
    """The drawing of all arms as one message whose bytes are changed in place.

    With the arm's number as id there are the namespaces `arm` (strip, coloured by state), `state`
    (the same in words, at the tip), `clearance`, `target`, `requests`, `waypoints` and
    `manipulability` (how far the tip goes when the joints turn by 0.1 rad all in all). `contacts`
    has the id 0. `ground`, an invisible plate that makes clicks land, and `legend`, which says
    what the colours mean, never move and are not in every message. All lie in `world` and carry
    stamp 0.

    Attributes:
        kind: the class of the message.
    """

    kind = MarkerArray

    def __init__(self) -> None:
        """Draw nothing yet; arms come with the first filling."""
        self._clear = PackedMarker(_clear())
        self._sets: dict[int, _ArmSet] = {}
        self._contacts = _ContactMarker(0.0)
        ground = _marker("ground", 0, Marker.CUBE, 1.0, _GROUND_Z, PLAIN, 0.0)
        self._still = [PackedMarker(marker) for marker in (ground, *_legend())]
        self._moving: list[PackedMarker] = []
        self._gone: list[PackedMarker] = []
        self._gone_left = 0
        self._still_left = 0

    def fill(
        self,
        octopus: Octopus,
        ellipses: Mapping[int, Ellipse] | None = None,
        anew: bool = False,
    ) -> bytes:
        """Draw all arms as they are now.

        Args:
            octopus: the arms.
            ellipses: manipulability of arms by their numbers; of an arm left out none is drawn.
            anew: whether somebody hears this who has not heard what was said before: then
                everything is in the message, and whatever else was drawn is cleared.

        Returns:
            The message, encoded.
        """
        arms = octopus.arms
        known = {number: drawn.parameters for number, drawn in self._sets.items()}
        if known != {arm.number: arm.parameters for arm in arms}:
            self._lay_out(octopus)
        for arm in arms:
            self._sets[arm.number].fill(arm, (ellipses or {}).get(arm.number))
        self._contacts.fill(octopus.contacts)
        markers = [self._clear] if anew else []
        if self._gone_left:
            self._gone_left -= 1
            markers += self._gone
        if anew or self._still_left == 0:
            self._still_left = REPEATED
            markers += self._still
        self._still_left -= 1
        markers += self._moving
        return marker_array(markers)

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
        there = {(marker.namespace, marker.number) for marker in self._moving}
        self._gone = [marker for marker in before if (marker.namespace, marker.number) not in there]
        for marker in self._gone:
            marker.show(False)
        self._gone_left = REPEATED if self._gone else 0
        self._still_left = 0
        if octopus.arms:
            self._still = [PackedMarker(marker) for marker in _still_markers(octopus.arms)]


def _still_markers(arms: Sequence[Arm]) -> list[Marker]:
    """Make the plate, twice as large as all that any arm can reach, and the legend beside it."""
    reaches = np.array([[arm.parameters.reach] for arm in arms])
    bases = np.array([arm.base for arm in arms])
    low = (bases - 2.0 * reaches).min(axis=0)
    high = (bases + 2.0 * reaches).max(axis=0)
    ground = _marker("ground", 0, Marker.CUBE, 1.0, _GROUND_Z, PLAIN, 0.0)
    ground.pose.position.x, ground.pose.position.y = ((low + high) / 2.0).tolist()
    ground.scale.x, ground.scale.y = (high - low).tolist()
    ground.scale.z = _GROUND_THICKNESS
    low, high = (bases - reaches).min(axis=0), (bases + reaches).max(axis=0)
    size = TEXT_SIZE * float(max(high - low)) / 2.0
    # To the left of whatever the arms can reach.
    x, y = float(low[0]) - 5.0 * size, float(high[1])
    return [ground, *_legend(size, x, y)]


def _legend(size: float = 1.0, x: float = 0.0, y: float = 0.0) -> list[Marker]:
    """Write the legend, its first line at a place, m."""
    lines = []
    for place, (text, colour) in enumerate(LEGEND):
        marker = _text("legend", place + 1, text, size, colour)
        marker.pose.position.x = x
        marker.pose.position.y = y - 1.5 * size * place
        lines.append(marker)
    return lines


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
    marker.color.r, marker.color.g, marker.color.b = colour
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


def _ellipse_axes(ellipse: Ellipse, x: float, y: float) -> Floats:
    """Give what makes the points of an ellipse around (x, y), m, of rows of `_CIRCLE`."""
    cosine, sine = math.cos(ellipse.angle), math.sin(ellipse.angle)
    major, minor = ELLIPSE_TURN * ellipse.major, ELLIPSE_TURN * ellipse.minor
    return np.array(
        (
            (major * cosine, major * sine, 0.0),
            (-minor * sine, minor * cosine, 0.0),
            (x, y, 0.0),
        )
    )
