"""The viewer: a page in a browser that shows the system, and takes orders for it.

Wiring only. It is a process of its own that hears and says what any ROS user can, so that a browser
that is slow, or gone, costs the controller nothing, and several viewers agree with one another.
Callbacks, in a thread of their own, take what arrives; the main thread shows the newest of it and
sends the orders.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PointStamped
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.srv import SetParameters
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState, PointCloud2
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.model.scene import ObjectKind
from octo_reach.nodes.monitor import KEPT, NEWEST
from octo_reach.nodes.sightings import Sightings
from octo_reach.nodes.signal_flag import SignalFlag
from octo_reach.nodes.spinning import informed, run_node
from octo_reach.planners import PLANNERS
from octo_reach.ros.frames import arm_name
from octo_reach.ros.objects import WorldObject, delete_marker, object_marker
from octo_reach.ros.parameters import (
    REAL,
    TEXT,
    WHOLE,
    ParameterTable,
    Setting,
    arm_setting,
)
from octo_reach.ros.quality_of_service import (
    INPUT,
    LATCHED,
    OBJECTS,
    OBJECTS_VOLATILE,
    STREAM,
    DuplicateFilter,
)
from octo_reach.ros.targets import target_message
from octo_reach.ros.validation import RejectionLog
from octo_reach.viewer.address import HOST, PORT
from octo_reach.viewer.orders import (
    Act,
    ChoosePlanner,
    Order,
    Pause,
    PutObject,
    RemoveObject,
    ResetAll,
    SendArm,
    Step,
)
from octo_reach.viewer.server import address, open_server
from octo_reach.viewer.window import Window

CONTROLLER = "reach_controller"
WORLD_NODE = "simulated_world"
EDITS = "scene/edit"

UNWATCHED_PERIOD = 0.2
"""Time between two looks at the topics while no browser is there, for the plots, s."""

SETTINGS = (
    Setting(
        "host",
        TEXT,
        HOST,
        "address the page is served at: this machine's own, or 0.0.0.0 for whoever can reach it",
        fixed=True,
    ),
    Setting(
        "port",
        WHOLE,
        PORT,
        "port the page is served at; 0: any that is free",
        minimum=0,
        maximum=65535,
        fixed=True,
    ),
    Setting(
        "rate",
        REAL,
        30.0,
        "most pictures a second that a browser is sent",
        "Hz",
        minimum=1.0,
        maximum=60.0,
    ),
)


class Viewer(Node):
    """Shows what is heard in a browser, and sends what is asked for there."""

    def __init__(self) -> None:
        """Bring up everything but the main loop.

        Raises:
            OSError: the page's address cannot be had; the text says why.
        """
        super().__init__("viewer")
        self._table = ParameterTable(self)
        self._table.declare(SETTINGS)
        self._table.warn_unknown()
        prefix = self.get_namespace().rstrip("/")
        self._rejections = RejectionLog(self.get_logger().warning)
        self._sightings = Sightings(f"{prefix}/{CONTROLLER}", self._rejections.reject)
        self._number = 0
        self._targets: dict[int, Publisher] = {}
        self._callers: dict[str, Any] = {}
        server = open_server(self._table["host"], self._table["port"])
        self._window = Window(server, tuple(PLANNERS))
        self._edits = self.create_publisher(Marker, EDITS, INPUT)
        self._make_inputs()
        self.get_logger().info(f"ready: {address(server)}")

    def _make_inputs(self) -> None:
        sightings = self._sightings
        for kind, topic, hear in (
            (JointState, "joint_states", sightings.hear_joint_states),
            (PointCloud2, "contacts", sightings.hear_contacts),
            (MarkerArray, "markers", sightings.hear_markers),
        ):
            self.create_subscription(kind, topic, hear, NEWEST, raw=True)
        self.create_subscription(DiagnosticArray, "arm_states", sightings.hear_states, KEPT)
        self.create_subscription(
            DiagnosticArray, "/diagnostics", sightings.hear_diagnostics, STREAM
        )
        self.create_subscription(String, "robot_description", sightings.hear_description, LATCHED)
        self._duplicates = DuplicateFilter()
        self._volatile_objects: Any = None
        self.create_subscription(
            MarkerArray,
            "objects",
            informed(self._take_objects),
            OBJECTS,
            event_callbacks=SubscriptionEventCallbacks(incompatible_qos=self._hear_volatile),
        )

    def _hear_volatile(self, event: Any) -> None:
        """Listen to a publisher that keeps nothing for late joiners, as well."""
        if self._volatile_objects is None:
            self._volatile_objects = self.create_subscription(
                MarkerArray, "objects", informed(self._take_objects), OBJECTS_VOLATILE
            )

    def _take_objects(self, message: MarkerArray, information: Any) -> None:
        if self._duplicates.is_new(information):
            self._sightings.hear_objects(message)

    # ------------------------------------------------------------- main loop

    def live(self, stop: SignalFlag) -> None:
        """Show what there is and send what is asked for, until `stop` is set."""
        due = time.monotonic()
        while not stop.wait(max(0.0, due - time.monotonic())):
            now = time.monotonic()
            self._turn(now)
            period = 1.0 / self._table["rate"] if self._window.watched else UNWATCHED_PERIOD
            # A picture that came too late is left out, not made up for.
            due = max(due + period, time.monotonic())

    def _turn(self, now: float) -> None:
        for number in self._sightings.arms:
            if number not in self._targets:
                # Made now, so that the arm has found it when the first target is sent.
                topic = f"{arm_name(number)}/target"
                self._targets[number] = self.create_publisher(PointStamped, topic, INPUT)
        for order in self._window.take_orders():
            self._obey(order)
        self._window.show(self._sightings.snapshot(self._window.wants_thoughts), now)

    def destroy_node(self) -> None:
        """Close the page and give everything back."""
        self._window.close()
        super().destroy_node()

    # ---------------------------------------------------------------- orders

    def _obey(self, order: Order) -> None:
        if isinstance(order, SendArm):
            if order.arm in self._targets:
                self._targets[order.arm].publish(target_message(*order.position))
        elif isinstance(order, PutObject):
            self._put(order)
        elif isinstance(order, RemoveObject):
            if self._sightings.find_object(order.number) is not None:
                self._edit(delete_marker(_kind(order.kind), order.number))
        elif isinstance(order, Act):
            self._call(Trigger, f"{arm_name(order.arm)}/{order.action}", Trigger.Request())
        elif isinstance(order, Pause):
            self._call(SetBool, f"{CONTROLLER}/pause", SetBool.Request(data=order.paused))
        elif isinstance(order, Step):
            self._call(Trigger, f"{CONTROLLER}/step", Trigger.Request())
        elif isinstance(order, ResetAll):
            self._call(Trigger, f"{WORLD_NODE}/reset", Trigger.Request())
            self._call(Trigger, f"{CONTROLLER}/reset", Trigger.Request())
        elif isinstance(order, ChoosePlanner):
            self._choose_planner(order)

    def _put(self, order: PutObject) -> None:
        number = order.number
        if number is None:
            # Several may be added before the world has answered.
            self._number = number = max(self._number, self._sightings.highest_number) + 1
        elif self._sightings.find_object(number) is None:
            return  # taken away while it was dragged
        self._edit(
            object_marker(WorldObject(number, _kind(order.kind), order.position, order.radius))
        )

    def _edit(self, marker: Marker) -> None:
        if not self._edits.get_subscription_count():
            self._window.tell(EDITS, "no simulated_world hears it", bad=True)
            return
        self._edits.publish(marker)

    def _choose_planner(self, order: ChoosePlanner) -> None:
        value: ParameterMessage = Parameter(
            arm_setting(order.arm, "planner"), value=order.planner
        ).to_parameter_msg()
        request = SetParameters.Request(parameters=[value])
        self._call(SetParameters, f"{CONTROLLER}/set_parameters", request)

    def _call(self, kind: Any, service: str, request: Any) -> None:
        """Call a service; whoever looks is told when it is refused."""
        if service not in self._callers:
            self._callers[service] = self.create_client(kind, service)
        client = self._callers[service]
        if not client.service_is_ready() and not client.wait_for_service(timeout_sec=0.3):
            self._window.tell(service, "nobody offers it", bad=True)
            return
        future = client.call_async(request)
        future.add_done_callback(lambda done: self._hear_answer(service, done))

    def _hear_answer(self, service: str, future: Any) -> None:
        answer = future.result()
        if answer is None:
            return
        if isinstance(answer, SetParameters.Response):
            refusals = [result.reason for result in answer.results if not result.successful]
        else:
            refusals = [] if answer.success else [answer.message]
        for refusal in refusals:
            self._window.tell(service, refusal, bad=True)


def _kind(label: str) -> ObjectKind:
    return next(kind for kind in ObjectKind if kind.label == label)


def main() -> int:
    """Run the node; give the exit code."""
    return run_node(Viewer)


if __name__ == "__main__":
    sys.exit(main())
