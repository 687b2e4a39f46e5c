"""A stage for reach controllers: scenes made to measure, and a probe that watches the arms."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import rclpy
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from harness import CEILING, NodeProcess, NodeStarter, Probe, Recorder, status_values
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from visualization_msgs.msg import MarkerArray

from octo_reach.model.scene import ObjectKind
from octo_reach.ros.frames import arm_name
from octo_reach.ros.objects import WorldObject, object_marker
from octo_reach.ros.quality_of_service import LATCHED, OBJECTS
from octo_reach.ros.states import ArmReport, arm_reports
from octo_reach.ros.targets import target_message

FOOD, OBSTACLE, HAZARD = ObjectKind.FOOD, ObjectKind.OBSTACLE, ObjectKind.HAZARD

SEGMENTS = 20
LENGTH = 0.012
REACH = SEGMENTS * LENGTH
SPACING = 1.0
"""From the base of one arm to that of the next, m: too far to meet."""

SPEED = 6.0
"""Turning speed of the arms, rad/s: fast, so that nobody has to wait."""

NOTHING_DROPPED = 10.0
"""Value of `catch_up`, s, for tests that follow an arm step by step on a machine that may halt."""

DEEP = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
"""Steps that are caught up come all at once, more of them than a queue of 10 holds."""

NUMBERS = itertools.count(1)


def base_of(number: int) -> tuple[float, float]:
    """Give where an arm of `write_scene` stands, (x, y), m; it starts upwards, along y."""
    return (number - 1) * SPACING, 0.0


def stamp_of(message: Any) -> int:
    """Give the stamp of a message, ns."""
    return int(message.header.stamp.sec) * 1_000_000_000 + int(message.header.stamp.nanosec)


def angles_of(message: JointState, number: int) -> list[float]:
    """Give the joint angles of one arm in a message, from base to tip, rad."""
    prefix = f"{arm_name(number)}/"
    pairs = zip(message.name, message.position, strict=True)
    return [angle for name, angle in pairs if name.startswith(prefix)]


def speed_of(message: JointState) -> float:
    """Give how fast the fastest joint of a message turns, rad/s."""
    return max(map(abs, message.velocity))


def joints_of(
    angles: Sequence[float], base: tuple[float, float], length: float = LENGTH
) -> list[tuple[float, float]]:
    """Give the joint positions of an arm, (x, y) from base to tip, m."""
    x, y = base
    heading = 0.0
    joints = [(x, y)]
    for angle in angles:
        heading += angle
        x += length * math.cos(heading)
        y += length * math.sin(heading)
        joints.append((x, y))
    return joints


def closest_point(
    start: tuple[float, float], end: tuple[float, float], point: tuple[float, float]
) -> tuple[float, float]:
    """Give the point of a segment that is closest to a point, (x, y), m."""
    x, y = end[0] - start[0], end[1] - start[1]
    along = ((point[0] - start[0]) * x + (point[1] - start[1]) * y) / (x * x + y * y)
    share = min(1.0, max(0.0, along))
    return start[0] + share * x, start[1] + share * y


def tip_of(message: JointState, number: int) -> tuple[float, float]:
    """Give where the tip of an arm of `write_scene` is, (x, y), m."""
    return joints_of(angles_of(message, number), base_of(number))[-1]


def objects_message(*things: WorldObject) -> MarkerArray:
    """Give an `objects` message."""
    return MarkerArray(markers=[object_marker(thing) for thing in things])


class Stage:
    """A namespace with its nodes and a probe.

    Attributes:
        start: starts nodes.
        probe: speaks, listens and calls.
        folder: where files may be put.
    """

    def __init__(self, context: rclpy.Context, folder: Path, namespace: str) -> None:
        """Set the stage; nothing is on it.

        Args:
            context: the session's context.
            folder: where files may be put.
            namespace: where its nodes live.
        """
        self.folder = folder
        self.start = NodeStarter(folder, namespace)
        self.probe = Probe(context, namespace)
        self._context = context
        self._recorders: dict[str, Recorder[Any]] = {}

    def close(self) -> None:
        """End everything on it."""
        try:
            self.start.stop_all()
        finally:
            self.probe.close()

    def write_scene(
        self,
        numbers: Iterable[int] = (1,),
        *,
        target: tuple[float, float] | None = None,
        food: Iterable[tuple[float, float]] = (),
        obstacles: Iterable[tuple[float, float]] = (),
        radius: float = 0.012,
        **changes: Any,
    ) -> str:
        """Write a scene of arms that stand side by side, and give its file.

        Args:
            numbers: numbers of the arms.
            target: first target of every arm, relative to its base, m; None: they are idle.
            food: centres of pieces of food, m.
            obstacles: centres of obstacles, m.
            radius: radius of all of them, m.
            changes: other keys of the file.
        """
        arms = []
        for number in numbers:
            x, y = base_of(number)
            arm: dict[str, Any] = {"number": number, "base": [x, y], "heading_degrees": 90}
            if target is not None:
                arm["target"] = {"position": [x + target[0], y + target[1]]}
            arms.append(arm)
        scene = {
            "version": 1,
            "name": "Stage",
            "units": "metre",
            "layout": "listed",
            "defaults": {
                "segment_count": SEGMENTS,
                "segment_length": LENGTH,
                "turning_speed_degrees": math.degrees(SPEED),
            },
            "food": [{"position": list(place), "radius": radius} for place in food],
            "obstacles": [{"position": list(place), "radius": radius} for place in obstacles],
            "arms": arms,
            **changes,
        }
        path = self.folder / f"scene_{next(NUMBERS)}.yaml"
        path.write_text(yaml.safe_dump(scene), encoding="utf-8")
        return str(path)

    def controller(self, scene: str, **options: Any) -> NodeProcess:
        """Start a reach controller.

        Args:
            scene: file of the scene.
            options: parameters by name, '__' standing for a dot; `name`, `ready`, `remappings`,
                `arguments` as for `NodeStarter`.
        """
        keywords = {
            key: options.pop(key)
            for key in ("name", "namespace", "ready", "remappings", "arguments")
            if key in options
        }
        values = {name.replace("__", "."): value for name, value in options.items()}
        return self.start("reach_controller", {"scene": scene, **values}, **keywords)

    def world(self, scene: str, **options: Any) -> NodeProcess:
        """Start a simulated world; see `controller`."""
        keywords = {key: options.pop(key) for key in ("name", "ready") if key in options}
        return self.start("simulated_world", {"scene": scene, **options}, **keywords)

    # What arms do

    @property
    def joint_states(self) -> Recorder[JointState]:
        """What was heard of joint_states since this was first asked for."""
        return self._recorder(
            "joint_states", lambda: self.probe.listen(JointState, "joint_states", DEEP)
        )

    @property
    def states(self) -> Recorder[DiagnosticArray]:
        """What was heard of arm_states since this was first asked for."""
        return self._recorder(
            "arm_states", lambda: self.probe.listen(DiagnosticArray, "arm_states", OBJECTS)
        )

    @property
    def diagnostics(self) -> Recorder[DiagnosticArray]:
        """What was heard of /diagnostics since this was first asked for."""
        return self._recorder("diagnostics", self.probe.listen_to_diagnostics)

    def fresh_joint_states(self) -> JointState:
        """Wait for joint states of now or later: what was done before counts in them.

        What was heard last may be older than it looks where the machine is busy.
        """
        now = self.probe.node.get_clock().now().nanoseconds
        return self.joint_states.wait_for(
            lambda message: stamp_of(message) >= now, "joint states of now"
        )

    def still_joint_states(self) -> JointState:
        """Wait for joint states of an arm whose time stands: their stamp stays the same."""
        self.joint_states.clear()
        self.joint_states.wait_for(
            lambda message: (
                [stamp_of(m) for m in self.joint_states.messages][-2:] == [stamp_of(message)] * 2
            ),
            "joint states that stay",
        )
        return self.joint_states.latest

    def _recorder(self, name: str, listen: Callable[[], Recorder[Any]]) -> Recorder[Any]:
        if name not in self._recorders:
            self._recorders[name] = listen()
        return self._recorders[name]

    def send(self, number: int, x: float, y: float, listeners: int = 1) -> None:
        """Send an arm to a target."""
        topic = f"{arm_name(number)}/target"
        self.probe.send(topic, target_message(x, y), listeners=listeners)

    def place(self, *things: WorldObject, listeners: int = 1) -> None:
        """Report objects as a world would, latched."""
        self.probe.send("objects", objects_message(*things), qos=LATCHED, listeners=listeners)

    def report(self, number: int = 1) -> ArmReport:
        """Give what arm_states said last of an arm."""
        return arm_reports(self.states.latest)[number]

    def wait_for_report(
        self,
        condition: Callable[[ArmReport], Any],
        what: str,
        number: int = 1,
        since: int | None = None,
    ) -> ArmReport:
        """Wait until arm_states says something of an arm.

        Args:
            condition: what must be true of the report.
            what: what is waited for, for the failure.
            number: the arm.
            since: value of `states.count` from which on messages count; None: from now on.
        """
        states = self.states
        seen_count = states.count if since is None else since

        def search() -> ArmReport | None:
            nonlocal seen_count
            fresh = min(states.count - seen_count, len(states.messages))
            seen_count = states.count
            for message in list(states.messages)[len(states.messages) - fresh :]:
                report = arm_reports(message).get(number)
                if report is not None and condition(report):
                    return report
            return None

        def seen() -> str:
            return str(arm_reports(states.latest).get(number)) if states.messages else "nothing"

        return self.probe.wait_until(search, f"{arm_name(number)} {what}", report=seen)

    def wait_for_state(self, state: str, number: int = 1, since: int | None = None) -> ArmReport:
        """Wait until an arm is in a state; see `wait_for_report`."""
        return self.wait_for_report(lambda report: report.state == state, state, number, since)

    def has_target(self, x: float, y: float, number: int = 1) -> bool:
        """Tell whether arm_states said last that an arm has a target, to the digits it gives."""
        target = self.report(number).target if self.states.messages else None
        return target is not None and [f"{v:.6g}" for v in target] == [f"{v:.6g}" for v in (x, y)]

    def wait_for_target(self, x: float, y: float, number: int = 1) -> ArmReport:
        """Wait until an arm has a target, or give its report at once where it has."""
        what = f"{arm_name(number)} has the target {x:g}, {y:g}"
        states = self.states
        self.probe.wait_until(
            lambda: self.has_target(x, y, number),
            what,
            report=lambda: str(states.messages and self.report(number)),
        )
        return self.report(number)

    def wait_for_diagnostics(
        self,
        condition: Callable[[dict[str, str]], Any],
        what: str,
        name: str = "reach_controller",
        timeout: float = CEILING,
    ) -> dict[str, str]:
        """Wait for fresh diagnostics of a node of this stage, and give their values."""
        recorder = self.diagnostics
        heard = recorder.count
        full_name = f"{self.start.namespace.rstrip('/')}/{name}"

        def search() -> dict[str, str] | None:
            fresh = min(recorder.count - heard, len(recorder.messages))
            for message in list(recorder.messages)[len(recorder.messages) - fresh :]:
                values = status_values(message, full_name)
                if values and condition(values):
                    return values
            return None

        def seen() -> str:
            found = [status_values(message, full_name) for message in recorder.messages]
            return str([values for values in found if values][-1:])

        return self.probe.wait_until(search, f"diagnostics: {what}", timeout, seen)
