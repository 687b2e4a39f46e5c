"""Objects of the scene as markers, and edits of it from markers.

An object is a marker: its namespace is the kind, its id the number, its frame what it is fixed
to: the world, or the segment that holds it. Messages are read as RViz reads them: ADD puts or
replaces, DELETE removes, DELETEALL clears, a lifetime runs out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from builtin_interfaces.msg import Duration
from rclpy.serialization import deserialize_message
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.model.scene import ObjectKind
from octo_reach.ros.colours import KIND_COLOURS
from octo_reach.ros.frames import (
    WORLD,
    arm_name,
    base_frame,
    is_world,
    parse_arm_name,
    parse_base_frame,
    parse_frame,
    segment_frame,
)
from octo_reach.ros.validation import RejectedInput, checked_coordinates, checked_radius

ADD = "add"
DELETE = "delete"
DELETE_ALL = "delete_all"

RESTING_PERIOD = 1.0
"""How often a world reports its objects while nothing happens to them, s."""
OBJECT_HEIGHT = 0.01
"""Height of an object as drawn, m."""

REPEATED_DELETES = 30
"""How many messages name an object that is gone: half a second's worth at 60 Hz."""

_KINDS = {kind.label: kind for kind in ObjectKind}
_SHAPES = {Marker.CYLINDER: "CYLINDER", Marker.SPHERE: "SPHERE"}


@dataclass(frozen=True)
class ObjectChange:
    """One thing a marker says about the objects.

    Attributes:
        action: `ADD` (put or replace), `DELETE` or `DELETE_ALL`.
        kind: kind of the object; None for `DELETE_ALL`.
        number: number of the object; None for `DELETE_ALL`.
        position: centre, (x, y), m: in the world, or in the frame of `holder`. None where the
            message does not say.
        radius: radius, m; None but for `ADD`.
        holder: (arm, segment) whose frame the object is fixed to, or None for the world.
        lifetime: seconds after which the object goes of itself; 0 = it stays.
        arm: the only arm a `DELETE_ALL`, or a `DELETE` of grasps, is about; None for any.
    """

    action: str
    kind: ObjectKind | None = None
    number: int | None = None
    position: tuple[float, float] | None = None
    radius: float | None = None
    holder: tuple[int, int] | None = None
    lifetime: float = 0.0
    arm: int | None = None


class PlacedObject(Protocol):
    """What `ObjectMarkers` needs to know of an object; `WorldObject` is one."""

    @property
    def number(self) -> int:
        """Its number, from 1."""

    @property
    def kind(self) -> ObjectKind:
        """Its kind."""

    @property
    def position(self) -> tuple[float, float]:
        """Its centre in the world, (x, y), m; not read while it is held."""

    @property
    def radius(self) -> float:
        """Its radius, m."""

    @property
    def holder(self) -> tuple[int, int] | None:
        """(arm, segment) that holds it, or None."""

    @property
    def offset(self) -> tuple[float, float]:
        """Its centre in the frame of the segment that holds it, (along, across), m."""


@dataclass(frozen=True)
class WorldObject:
    """An object and what it is fixed to.

    Attributes:
        number: its number, from 1, unique over all kinds.
        kind: food, obstacle or hazard.
        position: centre in the world, (x, y), m.
        radius: radius, m.
        holder: (arm, segment) that holds it, or None.
        offset: centre in the frame of that segment, (along, across), m.
    """

    number: int
    kind: ObjectKind
    position: tuple[float, float]
    radius: float
    holder: tuple[int, int] | None = None
    offset: tuple[float, float] = (0.0, 0.0)


# Reading


def _checked_holder(
    topic: str, what: str, frame_id: str, arms: Mapping[int, int] | None
) -> tuple[int, int] | None:
    """Give what a frame id says an object is fixed to."""
    if is_world(frame_id):
        return None
    holder = parse_frame(frame_id)
    if holder is None or (arms is not None and not holder[1] <= arms.get(holder[0], 0)):
        rule = f"header.frame_id of {what} must be '{WORLD}', empty or the frame of a segment"
        if arms:
            rule += " of " + ", ".join(
                f"{arm_name(arm)} (1 to {count})" for arm, count in sorted(arms.items())
            )
        raise RejectedInput(topic, "unknown frame", repr(frame_id), rule)
    return holder


def _checked_lifetime(topic: str, what: str, lifetime: Duration) -> float:
    """Give a lifetime, s."""
    seconds: float = lifetime.sec + lifetime.nanosec * 1e-9
    if seconds < 0.0:
        rule = f"the lifetime of {what} must not be negative"
        raise RejectedInput(topic, "out of range", f"{seconds!r} s", rule)
    return seconds


def _checked_identity(topic: str, marker: Marker) -> tuple[ObjectKind, int]:
    """Give kind and number of the object a marker stands for."""
    kind = _KINDS.get(marker.ns)
    if kind is None:
        rule = f"ns must be one of {', '.join(_KINDS)}"
        raise RejectedInput(topic, "unknown ns", repr(marker.ns), rule)
    if marker.id < 1:
        article = "an" if kind is ObjectKind.OBSTACLE else "a"
        rule = f"id of {article} {kind.label} must be at least 1"
        raise RejectedInput(topic, "bad id", marker.id, rule)
    return kind, marker.id


def _checked_addition(topic: str, marker: Marker, arms: Mapping[int, int] | None) -> ObjectChange:
    """Give what an ADD says."""
    kind, number = _checked_identity(topic, marker)
    what = f"{kind.label} {number}"
    if marker.type not in _SHAPES:
        rule = f"type of {what} must be {' or '.join(_SHAPES.values())} ({min(_SHAPES)}, " + (
            f"{max(_SHAPES)})"
        )
        raise RejectedInput(topic, "bad type", marker.type, rule)
    holder = _checked_holder(topic, what, marker.header.frame_id, arms)
    position = marker.pose.position
    return ObjectChange(
        action=ADD,
        kind=kind,
        number=number,
        position=checked_coordinates(topic, f"the position of {what}", position.x, position.y),
        radius=checked_radius(topic, what, marker.scale.x, marker.scale.y),
        holder=holder,
        lifetime=_checked_lifetime(topic, what, marker.lifetime),
    )


def object_from_marker(
    topic: str, marker: Marker, arms: Mapping[int, int] | None = None
) -> ObjectChange:
    """Give what one marker says about the objects.

    z, orientation, colour, height and stamp do not matter and are not looked at; a DELETE needs
    ns and id, a DELETEALL nothing.

    Args:
        topic: where the message came from, for the error.
        marker: the marker.
        arms: number of segments of each arm there is, by arm number; None takes any frame that
            is named like a segment's.

    Raises:
        RejectedInput: the marker breaks a rule; see `octo_reach.ros.validation`.
    """
    if marker.action == Marker.ADD:
        return _checked_addition(topic, marker, arms)
    if marker.action == Marker.DELETE:
        kind, number = _checked_identity(topic, marker)
        return ObjectChange(DELETE, kind=kind, number=number)
    if marker.action == Marker.DELETEALL:
        return ObjectChange(DELETE_ALL)
    rule = f"action must be ADD ({Marker.ADD}), DELETE ({Marker.DELETE}) or "
    rule += f"DELETEALL ({Marker.DELETEALL})"
    raise RejectedInput(topic, "unknown action", marker.action, rule)


def _checked_once(topic: str, changes: Sequence[ObjectChange]) -> None:
    """Refuse a message that names one object twice, or gives one number to two kinds."""
    named: set[tuple[ObjectKind | None, int | None]] = set()
    added: dict[int | None, ObjectKind | None] = {}
    for change in changes:
        if change.action == DELETE_ALL or change.kind is None:
            continue
        key = (change.kind, change.number)
        shown = f"{change.kind.label} {change.number}"
        if key in named:
            raise RejectedInput(topic, "duplicate", shown, "a message must name an object once")
        named.add(key)
        if change.action == ADD:
            other = added.setdefault(change.number, change.kind)
            if other is not None and other is not change.kind:
                rule = "an id must be unique over all ns"
                value = f"{shown} and {other.label} {change.number}"
                raise RejectedInput(topic, "duplicate", value, rule)


def checked_kinds(
    topic: str, changes: Sequence[ObjectChange], known: Mapping[int, ObjectKind]
) -> None:
    """Refuse a message that adds an object under the number another kind of object has.

    Args:
        topic: where the message came from, for the error.
        changes: what the message says.
        known: kinds of the objects there are, by number.

    Raises:
        RejectedInput: an ADD reuses a number under another ns, and the message did not delete
            the old object first.
    """
    kinds = dict(known)
    for change in changes:
        if change.action == DELETE_ALL:
            kinds.clear()
        elif change.kind is None or change.number is None:
            continue
        elif change.action == DELETE:
            if kinds.get(change.number) is change.kind:
                del kinds[change.number]
        else:
            other = kinds.setdefault(change.number, change.kind)
            if other is not change.kind:
                shown = f"{change.kind.label} {change.number}"
                rule = f"an id must be unique over all ns, and {other.label} {change.number} exists"
                raise RejectedInput(topic, "duplicate", shown, rule)


def objects_from_markers(
    topic: str,
    message: MarkerArray,
    arms: Mapping[int, int] | None = None,
    known: Mapping[int, ObjectKind] | None = None,
) -> list[ObjectChange]:
    """Give what an `objects` message says, in its order.

    Args:
        topic: where the message came from, for the error.
        message: the message.
        arms: number of segments of each arm there is, by arm number; None takes any frame that
            is named like a segment's.
        known: kinds of the objects there are, by number; None leaves them unchecked.

    Raises:
        RejectedInput: any marker breaks a rule; nothing of the message counts then.
    """
    changes = [object_from_marker(topic, marker, arms) for marker in message.markers]
    _checked_once(topic, changes)
    if known is not None:
        checked_kinds(topic, changes, known)
    return changes


class ObjectsReader:
    """What `objects` messages say, from their bytes: one that repeats the last is not read again.

    While anything is carried the world repeats itself sixty times a second, and to turn thirty
    markers into Python objects takes a quarter of a step.
    """

    def __init__(self, topic: str = "objects") -> None:
        """Read messages of one topic.

        Args:
            topic: its name, for the error.
        """
        self._topic = topic
        self._message: bytes | None = None
        self._changes: list[ObjectChange] = []

    def read(self, message: bytes) -> list[ObjectChange]:
        """Give what a message says, in its order; see `objects_from_markers`.

        Args:
            message: a serialised `MarkerArray`, as a raw subscription gets it.

        Raises:
            RejectedInput: any marker breaks a rule; nothing of the message counts then.
        """
        if message != self._message:
            markers = deserialize_message(message, MarkerArray)
            self._changes = objects_from_markers(self._topic, markers)
            self._message = message
        return self._changes


def grasps_from_markers(
    topic: str, message: MarkerArray, arms: Mapping[int, int] | None = None
) -> list[ObjectChange]:
    """Give what a `grasps` message says, in its order.

    An `ADD` claims an object for a segment (holder and offset), a `DELETE` lets it go where its
    position says (in the world; its text may name the arm), a `DELETE_ALL` lets go everything, or
    what one arm holds.

    Args:
        topic: where the message came from, for the error.
        message: the message.
        arms: number of segments of each arm there is, by arm number; None takes any.

    Raises:
        RejectedInput: any marker breaks a rule; nothing of the message counts then.
    """
    changes = [_grasp_from_marker(topic, marker, arms) for marker in message.markers]
    _checked_once(topic, changes)
    return changes


def _grasp_from_marker(topic: str, marker: Marker, arms: Mapping[int, int] | None) -> ObjectChange:
    change = object_from_marker(topic, marker, arms)
    frame = marker.header.frame_id
    if change.action == ADD:
        if change.holder is None:
            rule = "header.frame_id of a held object must be the frame of a segment"
            raise RejectedInput(topic, "unknown frame", repr(frame), rule)
        return change
    if change.action == DELETE:
        assert change.kind is not None
        what = f"{change.kind.label} {change.number}"
        if not is_world(frame):
            rule = f"header.frame_id of {what}, which is let go, must be '{WORLD}' or empty"
            raise RejectedInput(topic, "unknown frame", repr(frame), rule)
        position = marker.pose.position
        where = checked_coordinates(topic, f"the position of {what}", position.x, position.y)
        arm = parse_arm_name(marker.text)
        return ObjectChange(
            DELETE, kind=change.kind, number=change.number, position=where, arm=arm
        )
    if is_world(frame):
        return change
    arm = parse_base_frame(frame)
    if arm is None:
        rule = f"header.frame_id of a DELETEALL must be '{WORLD}', empty or {base_frame(1)} ..."
        raise RejectedInput(topic, "unknown frame", repr(frame), rule)
    return ObjectChange(DELETE_ALL, arm=arm)


# Writing


def _place(marker: Marker, thing: PlacedObject) -> None:
    """Write where an object is, and what it is fixed to, into its marker."""
    if thing.holder is None:
        marker.header.frame_id = WORLD
        x, y = thing.position
    else:
        marker.header.frame_id = segment_frame(*thing.holder)
        x, y = thing.offset
    marker.frame_locked = thing.holder is not None
    marker.pose.position.x = float(x)
    marker.pose.position.y = float(y)
    marker.scale.x = marker.scale.y = 2.0 * float(thing.radius)


def _bare_marker(frame_id: str, action: int) -> Marker:
    marker = Marker()
    marker.header.frame_id = frame_id
    marker.action = action
    marker.pose.orientation.w = 1.0
    return marker


def object_marker(thing: PlacedObject) -> Marker:
    """Make the marker of an object: an ADD, stamp 0, opaque, lifetime unlimited.

    Args:
        thing: the object.
    """
    kind = ObjectKind(thing.kind)
    marker = _bare_marker(WORLD, Marker.ADD)
    marker.ns = kind.label
    marker.id = int(thing.number)
    marker.type = Marker.CYLINDER
    marker.scale.z = OBJECT_HEIGHT
    marker.color.r, marker.color.g, marker.color.b = KIND_COLOURS[kind]
    marker.color.a = 1.0
    _place(marker, thing)
    return marker


def delete_marker(
    kind: ObjectKind, number: int, position: tuple[float, float] = (0.0, 0.0)
) -> Marker:
    """Make the marker that removes an object, or lets it go.

    Args:
        kind: its kind.
        number: its number.
        position: where it lies from now on, (x, y) in the world, m; only `grasps` need it.
    """
    marker = _bare_marker(WORLD, Marker.DELETE)
    marker.ns = kind.label
    marker.id = number
    marker.type = Marker.CYLINDER
    marker.pose.position.x = float(position[0])
    marker.pose.position.y = float(position[1])
    return marker


def delete_all_marker(frame_id: str = WORLD) -> Marker:
    """Make the marker that removes every object, or lets everything go.

    Args:
        frame_id: in `grasps`: an arm's base frame, for what that arm holds only.
    """
    return _bare_marker(frame_id, Marker.DELETEALL)


_Written = tuple[ObjectKind, float, tuple[int, int] | None, float, float]
"""What a marker says: kind, radius, holder, and place in its frame."""


class ObjectMarkers:
    """The objects of the world as one message that is changed in place.

    Markers of objects that did not change are left alone. An object that is gone is named with
    DELETE in this message and the next `REPEATED_DELETES` - 1, so that a reader who missed one
    still hears of it, and later messages do not grow with the past.
    """

    def __init__(self) -> None:
        """Make the message, with no objects."""
        self.message = MarkerArray()
        self._markers: dict[int, Marker] = {}
        self._written: dict[int, _Written] = {}
        self._gone: dict[tuple[ObjectKind, int], tuple[Marker, int]] = {}

    def fill(self, objects: Iterable[PlacedObject], clear_first: bool = False) -> MarkerArray:
        """Put the objects into the message, in their order.

        Args:
            objects: every object there is.
            clear_first: put a DELETEALL in front, so that what readers know from before is gone.

        Returns:
            The message, the same object every time.
        """
        present: dict[int, Marker] = {}
        written: dict[int, _Written] = {}
        for thing in objects:
            number = thing.number
            held = thing.holder is not None
            place = thing.offset if held else thing.position
            kind = ObjectKind(thing.kind)
            key = (kind, thing.radius, thing.holder, float(place[0]), float(place[1]))
            old = self._written.get(number)
            if old is None or old[0] is not kind:
                marker = object_marker(thing)
            else:
                marker = self._markers[number]
                if old != key:
                    _place(marker, thing)
            present[number] = marker
            written[number] = key
        self._note_gone(written)
        self._markers = present
        self._written = written
        markers = [delete_all_marker()] if clear_first else []
        markers.extend(self._deletes())
        markers.extend(present.values())
        self.message.markers = markers
        return self.message

    def _note_gone(self, written: Mapping[int, _Written]) -> None:
        """Remember what was there last time and is not any more, and forget what came back."""
        for number, old in self._written.items():
            if number not in written or written[number][0] is not old[0]:
                self._gone[old[0], number] = (delete_marker(old[0], number), REPEATED_DELETES)
        for number, new in written.items():
            self._gone.pop((new[0], number), None)

    def _deletes(self) -> list[Marker]:
        """Give the DELETE markers of this message, and count it."""
        markers = [marker for marker, _ in self._gone.values()]
        self._gone = {
            key: (marker, left - 1) for key, (marker, left) in self._gone.items() if left > 1
        }
        return markers
