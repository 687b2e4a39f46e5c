"""Sends what people ask for, with the mouse say, over the topics and services anybody has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from geometry_msgs.msg import PointStamped
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.srv import SetParameters
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import Marker

from octo_reach.model.scene import ObjectKind
from octo_reach.nodes.sightings import Sightings
from octo_reach.ros.frames import arm_name
from octo_reach.ros.objects import WorldObject, delete_marker, object_marker
from octo_reach.ros.parameters import arm_setting
from octo_reach.ros.quality_of_service import INPUT
from octo_reach.ros.targets import target_message
from octo_reach.viewer.orders import (
    ACTIONS,
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

CONTROLLER = "reach_controller"
WORLD_NODE = "simulated_world"
EDITS = "scene/edit"
PATIENCE = 2.0
"""How long to wait for an answer before it is said that none comes, s."""
STEADY = Clock(clock_type=ClockType.STEADY_TIME)
"""Not the node's clock: that may stand still."""


class OrderSender:
    """Speaks for a node that takes orders. It waits for nobody: answers come when they come."""

    def __init__(
        self, node: Node, sightings: Sightings, tell: Callable[[str, str], object]
    ) -> None:
        """Prepare what needs no arms.

        Args:
            node: the node that speaks.
            sightings: what is known of the arms and objects.
            tell: told of what was asked for in vain: the topic or service, and why.
        """
        self._node = node
        self._sightings = sightings
        self._tell = tell
        self._number = 0
        self._targets: dict[int, Publisher] = {}
        self._callers: dict[str, Any] = {}
        self._edits = node.create_publisher(Marker, EDITS, INPUT)
        self._caller(SetBool, f"{CONTROLLER}/pause")
        for action in ("step", "reset"):
            self._caller(Trigger, f"{CONTROLLER}/{action}")
        self._caller(Trigger, f"{WORLD_NODE}/reset")
        self._caller(SetParameters, f"{CONTROLLER}/set_parameters")

    def prepare(self, arms: Iterable[int]) -> None:
        """Find those who hear for arms, so that they are found when the first order comes.

        Args:
            arms: numbers of the arms.
        """
        for number in arms:
            if number in self._targets:
                continue
            name = arm_name(number)
            self._targets[number] = self._node.create_publisher(
                PointStamped, f"{name}/target", INPUT
            )
            for action in ACTIONS:
                self._caller(Trigger, f"{name}/{action}")

    def obey(self, order: Order) -> None:
        """Send an order.

        Args:
            order: the order.
        """
        if isinstance(order, SendArm):
            if order.arm in self._targets:
                self._targets[order.arm].publish(target_message(*order.position))
        elif isinstance(order, PutObject):
            self._put(order)
        elif isinstance(order, RemoveObject):
            if self._sightings.find_object(order.number) is not None:
                self._edit(delete_marker(ObjectKind.from_label(order.kind), order.number))
        elif isinstance(order, Act):
            self._call(Trigger, f"{arm_name(order.arm)}/{order.action}")
        elif isinstance(order, Pause):
            self._call(SetBool, f"{CONTROLLER}/pause", SetBool.Request(data=order.paused))
        elif isinstance(order, Step):
            self._call(Trigger, f"{CONTROLLER}/step")
        elif isinstance(order, ResetAll):
            # One after the other: what the arms let go of, the world lays back.
            world = f"{WORLD_NODE}/reset"
            self._call(Trigger, f"{CONTROLLER}/reset", then=lambda: self._call(Trigger, world))
        elif isinstance(order, ChoosePlanner):
            name = arm_setting(order.arm, "planner")
            value: ParameterMessage = Parameter(name, value=order.planner).to_parameter_msg()
            request = SetParameters.Request(parameters=[value])
            self._call(SetParameters, f"{CONTROLLER}/set_parameters", request)

    def _put(self, order: PutObject) -> None:
        number = order.number
        if number is None:
            # Several may be added before the world has answered.
            self._number = number = max(self._number, self._sightings.highest_number) + 1
        elif self._sightings.find_object(number) is None:
            return  # taken away while it was dragged
        self._edit(
            object_marker(
                WorldObject(number, ObjectKind.from_label(order.kind), order.position, order.radius)
            )
        )

    def _edit(self, marker: Marker) -> None:
        if self._edits.get_subscription_count():
            self._edits.publish(marker)
        else:
            self._tell(EDITS, "no simulated_world hears it")

    def _caller(self, kind: Any, service: str) -> Any:
        if service not in self._callers:
            self._callers[service] = self._node.create_client(kind, service)
        return self._callers[service]

    def _call(
        self,
        kind: Any,
        service: str,
        request: Any = None,
        then: Callable[[], object] | None = None,
    ) -> None:
        """Call a service; go on with `then` when it has answered, or where no answer comes."""
        client = self._caller(kind, service)
        if not client.service_is_ready():
            self._tell(service, "nobody offers it")
            if then is not None:
                then()
            return
        future = client.call_async(request if request is not None else kind.Request())
        future.add_done_callback(lambda done: self._hear_answer(service, done))
        if then is not None:
            self._go_on_after(service, future, then)

    def _go_on_after(self, service: str, future: Any, then: Callable[[], object]) -> None:
        def go_on(done: Any) -> None:
            # Whichever comes first, the answer or the end of patience.
            if not timer.is_canceled():
                timer.cancel()
                self._node.destroy_timer(timer)
                then()

        def give_up() -> None:
            self._tell(service, "does not answer")
            go_on(None)

        timer = self._node.create_timer(PATIENCE, give_up, clock=STEADY)
        future.add_done_callback(go_on)

    def _hear_answer(self, service: str, future: Any) -> None:
        answer = future.result()
        if answer is None:
            return
        if isinstance(answer, SetParameters.Response):
            refusals = [result.reason for result in answer.results if not result.successful]
        else:
            refusals = [] if answer.success else [answer.message]
        for refusal in refusals:
            self._tell(service, refusal)
