"""What is heard on the topics, as snapshots for the viewer.

What comes every step is taken as bytes and read only when somebody looks. Callbacks and `snapshot`
may run in different threads.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState, PointCloud2
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.model.arm import ArmPlacement
from octo_reach.model.geometry import Floats, forward_kinematics
from octo_reach.model.scene import ObjectKind
from octo_reach.nodes.summary import RateMeter
from octo_reach.ros.colours import (
    CONTACT_COLOURS,
    KIND_COLOURS,
    PLAIN,
    arm_colour,
    state_colour,
)
from octo_reach.ros.contacts import contacts_from_cloud
from octo_reach.ros.description import arm_radii, arms_from_description
from octo_reach.ros.frames import position_in_world
from octo_reach.ros.joint_states import JointStateReader
from octo_reach.ros.objects import ADD, DELETE_ALL, ObjectChange, objects_from_markers
from octo_reach.ros.states import ArmReport, arm_reports
from octo_reach.ros.validation import RejectedInput
from octo_reach.viewer.snapshot import SeenArm, SeenObject, SeenThoughts, Snapshot, Touch

SILENCE = 2.5
"""How long nothing may be heard of a node that says something once a second, s."""

MOST_TOUCHES = 200
"""Most contacts that are looked at one by one."""

SLENDER = 0.15
"""Radius of an arm whose description tells none, as a share of a segment's length."""


class _Pose(NamedTuple):
    joints: Floats
    headings: Floats


class Sightings:
    """Takes messages, gives snapshots."""

    def __init__(
        self,
        controller: str,
        reject: Callable[[RejectedInput], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Know nothing yet.

        Args:
            controller: full name of the controller, as its diagnostics call it.
            reject: told of every message that cannot be used; what was known before stays.
            clock: seconds of a steady clock.
        """
        self._controller = controller
        self._reject = reject
        self._clock = clock
        self._lock = threading.Lock()
        self._steps = RateMeter()
        self._reader = JointStateReader("joint_states")
        self._raw: dict[str, bytes] = {}
        self._placements: dict[int, ArmPlacement] = {}
        self._radii: dict[int, tuple[float, float]] = {}
        self._poses: dict[int, _Pose] = {}
        self._reports: dict[int, ArmReport] = {}
        self._objects: dict[int, tuple[ObjectChange, float]] = {}
        self._objects_heard = -math.inf
        self._joints_heard = -math.inf
        self._status_heard = -math.inf
        self._status: DiagnosticStatus | None = None
        self._contacts: Any = ()
        self._thoughts: dict[int, SeenThoughts] = {}

    # Hearing

    def hear_joint_states(self, message: bytes) -> None:
        """Take joint states, not deserialised."""
        now = self._clock()
        with self._lock:
            self._steps.note(now)
            self._joints_heard = now
            self._raw["joint_states"] = message

    def hear_contacts(self, message: bytes) -> None:
        """Take contacts, not deserialised."""
        with self._lock:
            self._raw["contacts"] = message

    def hear_markers(self, message: bytes) -> None:
        """Take the controller's markers, not deserialised."""
        with self._lock:
            self._raw["markers"] = message

    def hear_states(self, message: DiagnosticArray) -> None:
        """Take what the arms are doing."""
        reports = arm_reports(message)
        with self._lock:
            self._reports.update(reports)

    def hear_description(self, message: String) -> None:
        """Take the robot model."""
        try:
            placements = {arm.number: arm for arm in arms_from_description(message.data)}
            radii = arm_radii(message.data)
        except ValueError as failure:
            self._reject(_unreadable("robot_description", "bad description", failure))
            return
        with self._lock:
            self._placements, self._radii = placements, radii

    def hear_objects(self, message: MarkerArray) -> None:
        """Take a report about the objects."""
        try:
            changes = objects_from_markers("objects", message)
        except RejectedInput as rejection:
            self._reject(rejection)
            return
        now = self._clock()
        with self._lock:
            self._objects_heard = now
            for change in changes:
                if change.action == DELETE_ALL or change.number is None:
                    self._objects.clear()
                elif change.action == ADD:
                    expires = now + change.lifetime if change.lifetime > 0.0 else math.inf
                    self._objects[change.number] = (change, expires)
                else:
                    known = self._objects.get(change.number)
                    if known is not None and known[0].kind is change.kind:
                        del self._objects[change.number]

    def hear_diagnostics(self, message: DiagnosticArray) -> None:
        """Take what nodes say of themselves."""
        for status in message.status:
            if status.name == self._controller:
                with self._lock:
                    self._status, self._status_heard = status, self._clock()

    # Knowing

    @property
    def arms(self) -> tuple[int, ...]:
        """Numbers of the arms that are described."""
        with self._lock:
            return tuple(sorted(self._placements))

    def find_object(self, number: int) -> ObjectKind | None:
        """Give the kind of an object, or None where there is no such object."""
        with self._lock:
            known = self._objects.get(number)
            return None if known is None else known[0].kind

    @property
    def highest_number(self) -> int:
        """Largest number of an object, 0 where there are none."""
        with self._lock:
            return max(self._objects, default=0)

    # Telling

    def snapshot(self, thoughts: bool = False) -> Snapshot:
        """Give what there is now.

        Args:
            thoughts: whether what only `markers` tell is wanted.
        """
        now = self._clock()
        with self._lock:
            raw, self._raw = self._raw, {}
            if not thoughts and "markers" in raw:
                self._thoughts = {}
            placements, radii = self._placements, self._radii
            reports = dict(self._reports)
            objects = [change for change, expires in self._objects.values() if expires > now]
            rate = self._steps.rate(now)
            status = self._status if now - self._status_heard < SILENCE else None
        self._read(raw, placements, thoughts)
        contacts = self._contacts
        seen_objects = self._seen_objects(objects)
        names = {thing.number: thing.name for thing in seen_objects}
        counts = _counts(contacts)
        arms = tuple(
            _seen_arm(
                placements[number],
                pose,
                radii.get(number),
                reports.get(number),
                counts.get(number, 0),
                names,
            )
            for number, pose in sorted(self._poses.items())
            if number in placements
        )
        values = {} if status is None else {value.key: value.value for value in status.values}
        warns = status is not None and status.level != DiagnosticStatus.OK
        return Snapshot(
            arms=arms,
            objects=seen_objects,
            touches=_touches(contacts),
            thoughts=self._thoughts if thoughts else {},
            # Its own figure: what is heard of its steps is fewer where the network, or this node,
            # is too slow for all of them.
            rate=_number(values.get("rate (Hz)", "")) if status is not None else rate,
            wanted_rate=_number(values.get("wanted rate (Hz)", "")),
            paused=values.get("paused") == "yes",
            controller=now - self._joints_heard < SILENCE or status is not None,
            world=now - self._objects_heard < SILENCE,
            problems=(status.message,) if status is not None and warns else (),
        )

    def _read(
        self, raw: Mapping[str, bytes], placements: Mapping[int, ArmPlacement], thoughts: bool
    ) -> None:
        """Read the newest message of each topic that has one."""
        if "joint_states" in raw:
            try:
                angles = self._reader.read(deserialize_message(raw["joint_states"], JointState))
            except RejectedInput as rejection:
                self._reject(rejection)
            else:
                self._place(angles, placements)
        if "contacts" in raw:
            try:
                self._contacts = contacts_from_cloud(
                    deserialize_message(raw["contacts"], PointCloud2)
                )
            except ValueError as failure:
                self._reject(_unreadable("contacts", "bad type", failure))
        if thoughts and "markers" in raw:
            self._thoughts = _thoughts(deserialize_message(raw["markers"], MarkerArray))

    def _place(self, angles: Mapping[int, Floats], placements: Mapping[int, ArmPlacement]) -> None:
        """Bend the arms that are described as they were heard to be."""
        self._poses = {
            number: _Pose(*forward_kinematics(arm.base, arm.parameters.segment_length, bends))
            for number, bends in angles.items()
            if (arm := placements.get(number)) is not None
            and arm.parameters.segment_count == len(bends)
        }

    def _seen_objects(self, objects: list[ObjectChange]) -> tuple[SeenObject, ...]:
        seen = []
        for change in objects:
            assert change.kind is not None and change.number is not None
            assert change.position is not None and change.radius is not None
            position = change.position
            if change.holder is not None:
                arm, segment = change.holder
                pose = self._poses.get(arm)
                if pose is None or segment > len(pose.headings):
                    continue  # in the hands of an arm that is not heard
                x, y = pose.joints[segment].tolist()
                position = position_in_world(position, (x, y), float(pose.headings[segment - 1]))
            seen.append(
                SeenObject(
                    change.number,
                    change.kind.label,
                    position,
                    change.radius,
                    KIND_COLOURS[change.kind],
                )
            )
        return tuple(seen)


def _unreadable(topic: str, cause: str, failure: ValueError) -> RejectedInput:
    return RejectedInput(topic, cause, "another", str(failure))


def _seen_arm(
    placement: ArmPlacement,
    pose: _Pose,
    radii: tuple[float, float] | None,
    report: ArmReport | None,
    contacts: int,
    objects: Mapping[int, str],
) -> SeenArm:
    thick = SLENDER * placement.parameters.segment_length
    base_radius, tip_radius = radii or (thick, 0.5 * thick)
    known: dict[str, Any] = {}
    if report is not None:
        held = report.object
        known = {
            "state": report.state,
            "state_colour": state_colour(report.state),
            "target": report.target,
            "tip_error": report.tip_error,
            "holds": "" if held is None else objects.get(held, f"object {held}"),
            "planner": report.planner,
            "note": report.warning or report.planner_note,
        }
        if held is None and report.target is not None:
            # Newer than what was reported: of this very pose.
            known["tip_error"] = math.dist(pose.joints[-1].tolist(), report.target)
    return SeenArm(
        number=placement.number,
        joints=pose.joints,
        base_radius=base_radius,
        tip_radius=tip_radius,
        colour=arm_colour(placement.number),
        contacts=contacts,
        **known,
    )


def _counts(contacts: Any) -> dict[int, int]:
    """Give the number of contacts by arm."""
    if not len(contacts):
        return {}
    arms, counts = np.unique(contacts["arm"], return_counts=True)
    return dict(zip(arms.tolist(), counts.tolist(), strict=True))


def _touches(contacts: Any) -> tuple[Touch, ...]:
    if not len(contacts):
        return ()
    return tuple(
        Touch(
            (int(contact["arm"]), int(contact["segment"]), int(contact["object"])),
            (float(contact["x"]), float(contact["y"])),
            CONTACT_COLOURS.get(contact["kind"], PLAIN),
        )
        for contact in contacts[:MOST_TOUCHES]
    )


def _thoughts(message: MarkerArray) -> dict[int, SeenThoughts]:
    """Read what the markers of a controller tell of its arms."""
    requests: dict[int, Floats] = {}
    waypoints: dict[int, Floats] = {}
    clearances: dict[int, float] = {}
    ellipses: dict[int, Floats] = {}
    for marker in message.markers:
        if marker.action != Marker.ADD:
            continue
        if marker.ns == "requests":
            points = _points(marker)
            requests[marker.id] = points[: len(points) // 2 * 2].reshape(-1, 2, 2)
        elif marker.ns == "waypoints":
            waypoints[marker.id] = _points(marker)
        elif marker.ns == "clearance":
            clearances[marker.id] = 0.5 * float(marker.scale.x)
        elif marker.ns == "manipulability":
            ellipses[marker.id] = _points(marker)
    return {
        number: SeenThoughts(
            requests.get(number, np.empty((0, 2, 2))),
            waypoints.get(number, np.empty((0, 2))),
            clearances.get(number, 0.0),
            ellipses.get(number, np.empty((0, 2))),
        )
        for number in {*requests, *waypoints, *clearances, *ellipses}
    }


def _points(marker: Marker) -> Floats:
    points = np.array([(point.x, point.y) for point in marker.points], dtype=np.float64)
    return points.reshape(-1, 2)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
