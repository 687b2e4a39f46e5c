"""A listener that keeps a plain summary of what arms and nodes are doing.

What comes every step is taken as bytes and read only when somebody looks, so that listening to
eight arms at 120 Hz costs next to nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState, PointCloud2
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.nodes.signal_flag import SignalFlag
from octo_reach.nodes.summary import ArmSummary, CaptureCounter, RateMeter, Summary, list_arms
from octo_reach.ros.contacts import contacts_from_cloud
from octo_reach.ros.frames import parse_frame
from octo_reach.ros.quality_of_service import STREAM
from octo_reach.ros.states import ArmReport, arm_reports

NEWEST = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)
"""Reader of a stream of which only the newest message is looked at."""

KEPT = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=20,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""Reader of changes, from the last one before it came."""

UNKNOWN_NODE = "_NODE_NAME_UNKNOWN_"
"""What the graph calls a node as long as it only knows what the node publishes."""

FORGOTTEN_AFTER = 5.0
"""Age from which what a node said of itself no longer counts, s: it says so once a second."""


@dataclass
class NodeReport:
    """What a node last said of itself.

    Attributes:
        warns: whether it needs attention.
        message: the report in one line.
        values: figures by name.
        received: when it was heard, on the steady clock, s.
    """

    warns: bool = False
    message: str = ""
    values: dict[str, str] = field(default_factory=dict)
    received: float = 0.0

    def number(self, key: str) -> float | None:
        """Give one of the figures, or None where it is not there."""
        try:
            return float(self.values[key])
        except (KeyError, ValueError):
            return None


class Monitor(Node):
    """Listens to the controller and the world of its namespace; `summary` tells how they do.

    Its callbacks and `summary` may run in different threads.
    """

    def __init__(self, arms: Iterable[int] = (), namespace: str | None = None) -> None:
        """Listen from now on.

        Args:
            arms: numbers of the arms that are expected, so that one not heard of is told too.
            namespace: where the nodes live; None for that of the process.
        """
        # With its parameter services: `ros2 param list` would wait for them, and complain.
        super().__init__("octo_reach_monitor", namespace=namespace, enable_rosout=False)
        prefix = self.get_namespace().rstrip("/")
        self._controller = f"{prefix}/reach_controller"
        self._world = f"{prefix}/simulated_world"
        self._lock = threading.Lock()
        self._expected = tuple(arms)
        self._reports: dict[int, ArmReport] = {}
        self._steps = RateMeter()
        self._steps_since = 0
        self._captures = CaptureCounter()
        self._missed_steps = 0
        self._nodes: dict[str, NodeReport] = {}
        self._contacts: bytes | None = None
        self._objects: bytes | None = None
        self._heard_objects = False
        self._labels: dict[int, str] = {}
        self.create_subscription(DiagnosticArray, "arm_states", self._hear_states, KEPT)
        self.create_subscription(MarkerArray, "grasps", self._hear_grasps, KEPT)
        self.create_subscription(DiagnosticArray, "/diagnostics", self._hear_diagnostics, STREAM)
        self.create_subscription(JointState, "joint_states", self._hear_joints, STREAM, raw=True)
        self.create_subscription(PointCloud2, "contacts", self._hear_contacts, NEWEST, raw=True)
        self.create_subscription(MarkerArray, "objects", self._hear_objects, KEPT, raw=True)

    # Listening

    def _hear_states(self, message: DiagnosticArray) -> None:
        reports = arm_reports(message)
        with self._lock:
            self._reports.update(reports)

    def _hear_grasps(self, message: MarkerArray) -> None:
        held = {}
        for marker in message.markers:
            holder = parse_frame(marker.header.frame_id)
            if marker.action == Marker.ADD and holder is not None:
                held[int(marker.id)] = holder
        with self._lock:
            self._captures.hear(held)

    def _hear_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name not in (self._controller, self._world):
                continue
            report = NodeReport(
                warns=status.level != DiagnosticStatus.OK,
                message=status.message,
                values={value.key: value.value for value in status.values},
                received=time.monotonic(),
            )
            with self._lock:
                self._nodes[status.name] = report
                if status.name == self._controller:
                    # Those of the last second; what is caught up later counts too.
                    self._missed_steps += int(report.number("missed steps") or 0)
                    self._steps_since = 0

    def _hear_joints(self, message: bytes) -> None:
        with self._lock:
            self._steps.note(time.monotonic())
            self._steps_since += 1

    def _hear_contacts(self, message: bytes) -> None:
        self._contacts = message

    def _hear_objects(self, message: bytes) -> None:
        with self._lock:
            self._objects = message
            self._heard_objects = True

    # Telling

    @property
    def heard_arms(self) -> tuple[int, ...]:
        """Numbers of the arms whose states were heard."""
        with self._lock:
            return tuple(sorted(self._reports))

    @property
    def heard_objects(self) -> bool:
        """Whether a message about objects was heard."""
        return self._heard_objects

    def starting_controller(self) -> str:
        """Give the full name of a controller that is there but publishes nothing yet, or nothing.

        It may be compiling its kernels for the first time.
        """
        if self._controller in self.controllers():
            return ""
        return self._controller if self._controller in self._nodes_there() else ""

    def has_company(self) -> bool:
        """Tell whether there are other nodes, wherever they live; tools that hide do not count."""
        hidden = (name.rpartition("/")[2].startswith("_") for name in self._nodes_there())
        return list(hidden).count(False) > 1

    def _nodes_there(self) -> list[str]:
        nodes = self.get_node_names_and_namespaces()
        return [f"{folder.rstrip('/')}/{name}" for name, folder in nodes]

    def controllers(self) -> list[str]:
        """Give the full names of the nodes that publish `arm_states`, as far as is known yet."""
        return self._speakers("arm_states")

    def worlds(self) -> list[str]:
        """Give the full names of the nodes that publish `objects` as our world does."""
        return [name for name in self._speakers("objects") if name == self._world]

    def _speakers(self, topic: str) -> list[str]:
        return sorted(
            {
                f"{end.node_namespace.rstrip('/')}/{end.node_name}"
                for end in self.get_publishers_info_by_topic(topic)
                if end.node_name != UNKNOWN_NODE
            }
        )

    def summary(self) -> Summary:
        """Give what is known now."""
        now = time.monotonic()
        contacts = self._count_contacts()
        labels = self._object_labels()
        with self._lock:
            numbers = sorted({*self._expected, *self._reports})
            arms = tuple(
                _arm_summary(
                    number,
                    self._reports.get(number),
                    contacts,
                    self._captures.counts.get(number, 0),
                    labels,
                )
                for number in numbers
            )
            nodes = {
                name: report
                for name, report in self._nodes.items()
                if now - report.received < FORGOTTEN_AFTER
            }
            controller = nodes.get(self._controller, NodeReport())
            paused = controller.values.get("paused") == "yes"
            since = 0 if paused else self._steps_since
            return Summary(
                arms=arms,
                rate=self._steps.rate(now),
                reported_rate=controller.number("rate (Hz)"),
                wanted_rate=controller.number("wanted rate (Hz)"),
                steps=int(controller.number("steps") or 0) + since,
                missed_steps=self._missed_steps,
                rejected=int(controller.number("rejected inputs") or 0),
                paused=paused,
                problems=tuple(
                    f"{name.rpartition('/')[2]}: {report.message}"
                    for name, report in sorted(nodes.items())
                    if report.warns
                ),
            )

    def _count_contacts(self) -> Mapping[int, int]:
        """Give the number of contacts by arm in the newest message."""
        message = self._contacts
        if message is None:
            return {}
        try:
            contacts = contacts_from_cloud(deserialize_message(message, PointCloud2))
        except ValueError:
            return {}  # somebody else's cloud
        arms, counts = np.unique(contacts["arm"], return_counts=True)
        return dict(zip(arms.tolist(), counts.tolist(), strict=True))

    def _object_labels(self) -> Mapping[int, str]:
        """Give what every object that was ever seen is called, by its number."""
        with self._lock:
            message, self._objects = self._objects, None
        if message is not None:
            for marker in deserialize_message(message, MarkerArray).markers:
                if marker.action == Marker.ADD:
                    self._labels[int(marker.id)] = f"{marker.ns} {marker.id}"
        return self._labels


def _arm_summary(
    number: int,
    report: ArmReport | None,
    contacts: Mapping[int, int],
    captures: int,
    labels: Mapping[int, str],
) -> ArmSummary:
    if report is None:
        return ArmSummary(number)
    holds = "" if report.object is None else labels.get(report.object, f"object {report.object}")
    return ArmSummary(
        number=number,
        state=report.state,
        target=report.target,
        tip_error=report.tip_error,
        contacts=contacts.get(number, 0),
        captures=captures,
        holds=holds,
        planner=report.planner,
        note=report.warning or report.planner_note,
    )


def name_rivals(
    monitor: Monitor, arms: Collection[int], stop: SignalFlag, window: float = 1.0
) -> str:
    """Wait until others had the time to be heard, and say who is there already.

    The graph still lists a node for a while that was killed, so one that is seen must be heard too.

    Args:
        monitor: a listener, its callbacks running in another thread.
        arms: numbers of the arms; none for whichever there are.
        stop: ends the wait when it is set.
        window: time others have to be seen, s; where there are any, they have three times as much
            to be heard.

    Returns:
        One line, or nothing where there is nobody.
    """
    begun = time.monotonic()
    while True:
        waited = time.monotonic() - begun
        controllers = monitor.controllers()
        taken = sorted({*monitor.heard_arms} & ({*arms} or {*monitor.heard_arms}))
        # What a publisher publishes may be heard before the graph knows its node.
        if taken and (controllers or waited > window):
            return f"{', '.join(controllers) or 'a controller'} already moves {list_arms(taken)}"
        worlds = monitor.worlds()
        if worlds and monitor.heard_objects:
            return f"{worlds[0]} is already running"
        if waited > (3.0 * window if taken or monitor.has_company() else window):
            starting = monitor.starting_controller()
            return f"{starting} is starting" if starting else ""
        if stop.wait(0.02):
            return ""
