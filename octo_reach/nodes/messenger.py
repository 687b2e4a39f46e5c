"""A node for as long as it takes to say one thing to a running system and to hear it was taken."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable
from typing import Any

import rclpy
from geometry_msgs.msg import PointStamped
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.model.scene import ObjectKind
from octo_reach.nodes.spinning import BackgroundSpinner
from octo_reach.nodes.summary import list_arms
from octo_reach.ros.frames import parse_arm_name
from octo_reach.ros.objects import (
    ADD,
    DELETE,
    ObjectChange,
    WorldObject,
    delete_marker,
    object_from_marker,
    object_marker,
    objects_from_markers,
)
from octo_reach.ros.quality_of_service import INPUT, OBJECTS
from octo_reach.ros.targets import target_from_point, target_message
from octo_reach.ros.validation import RejectedInput

PATIENCE = 5.0
"""How long a listener has to be found, and to answer, s."""
SHORT_PATIENCE = 1.5
"""How long it has still when others of its kind were found, s."""
POLL = 0.01


class NotTakenError(Exception):
    """Nobody listens, or what was sent was refused; the text says which."""


class Messenger:
    """Says things to the controller and the world of a namespace, while it is entered."""

    def __init__(self, namespace: str = "", patience: float = PATIENCE) -> None:
        """Find nobody yet.

        Args:
            namespace: where they live.
            patience: how long to wait for a listener, and again for an answer, s.
        """
        self._namespace = namespace
        self._patience = patience
        self._stack = contextlib.ExitStack()
        self._lock = threading.Lock()
        self._objects: dict[int, ObjectChange] | None = None

    def __enter__(self) -> Messenger:
        """Bring up the node.

        Raises:
            ValueError: the namespace cannot be one.
            RuntimeError: ROS 2 does not start.
        """
        with contextlib.ExitStack() as stack:
            rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
            stack.callback(rclpy.try_shutdown)
            self._node: Node = rclpy.create_node(
                "octo_reach_send",
                namespace=self._namespace,
                start_parameter_services=False,
                enable_rosout=False,
            )
            stack.callback(self._node.destroy_node)
            stack.enter_context(BackgroundSpinner(self._node))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *failure: object) -> None:
        """Take the node away."""
        self._stack.close()

    # Saying

    def send_target(self, arm: int, x: float, y: float) -> str:
        """Send an arm's tip, or what it holds, to a place.

        Args:
            arm: number of the arm.
            x: x of the place, m.
            y: y of the place, m.

        Returns:
            A line that says what was sent.

        Raises:
            RejectedInput: the place is none.
            NotTakenError: no controller hears it.
        """
        topic = f"arm_{arm}/target"
        message = target_message(x, y)
        target_from_point(topic, message)
        publisher = self._node.create_publisher(PointStamped, topic, INPUT)
        self._find(
            publisher.get_subscription_count,
            f"no reach_controller hears {publisher.topic_name}",
            self._describe_arms,
        )
        self._publish(publisher, message)
        return f"{topic}: {x:g}, {y:g}"

    def put_object(
        self, kind: ObjectKind, x: float, y: float, radius: float, number: int | None = None
    ) -> str:
        """Put an object into the scene, in the place of the one with its number if there is one.

        Args:
            kind: its kind.
            x: x of its centre, m.
            y: y of its centre, m.
            radius: its radius, m.
            number: its number; None for the next that is free.

        Returns:
            A line that says what was sent.

        Raises:
            RejectedInput: it can be no object.
            NotTakenError: no world hears it, or the world has refused it.
        """
        checked = object_marker(WorldObject(number or 1, kind, (x, y), radius))
        object_from_marker("scene/edit", checked)
        objects = self._hear_objects()
        if number is None:
            number = max(objects, default=0) + 1
        old = objects.get(number)
        if old is not None and old.kind is not kind:
            raise NotTakenError(f"number {number} is taken by {_describe(old)}")
        return self._put(WorldObject(number, kind, (x, y), radius))

    def move_object(self, number: int, x: float, y: float) -> str:
        """Put an object elsewhere; an arm that holds it lets go.

        Args:
            number: number of the object.
            x: x of its centre, m.
            y: y of its centre, m.

        Returns:
            A line that says what was sent.

        Raises:
            RejectedInput: the place is none.
            NotTakenError: there is no such object, no world hears it, or the world has refused it.
        """
        thing = self._known_object(number)
        return self._put(WorldObject(number, thing.kind, (x, y), thing.radius))

    def remove_object(self, number: int) -> str:
        """Take an object out of the scene.

        Args:
            number: number of the object.

        Returns:
            A line that says what was sent.

        Raises:
            NotTakenError: there is no such object, no world hears it, or the world has refused it.
        """
        thing = self._known_object(number)
        assert thing.kind is not None
        self._edit(delete_marker(thing.kind, number), lambda objects: number not in objects)
        return f"scene/edit: without {_describe(thing)}"

    def order(self, service: str) -> str:
        """Call a Trigger service of the controller.

        Args:
            service: its name.

        Returns:
            What it answers.

        Raises:
            NotTakenError: nobody offers it, nobody answers, or it is refused.
        """
        return self._call(Trigger, service, Trigger.Request())

    def pause(self, pause: bool) -> str:
        """Let the arms pause, or go on.

        Args:
            pause: whether they are to pause.

        Returns:
            What the controller answers.

        Raises:
            NotTakenError: nobody offers it, or nobody answers.
        """
        return self._call(SetBool, "reach_controller/pause", SetBool.Request(data=pause))

    # Listening

    def _hear_objects(self) -> dict[int, ObjectChange]:
        """Give the objects of the world by number, as soon as they were heard."""
        if self._objects is None:
            self._node.create_subscription(MarkerArray, "objects", self._take_objects, OBJECTS)
            self._find(
                lambda: self._objects is not None,
                f"no simulated_world publishes {self._node.resolve_topic_name('objects')}",
            )
        with self._lock:
            return dict(self._objects or {})

    def _take_objects(self, message: MarkerArray) -> None:
        try:
            changes = objects_from_markers("objects", message)
        except RejectedInput:
            return  # nothing of a world's
        with self._lock:
            objects = self._objects = {} if self._objects is None else self._objects
            for change in changes:
                if change.number is None:
                    objects.clear()
                elif change.action == ADD:
                    objects[change.number] = change
                elif change.action == DELETE:
                    objects.pop(change.number, None)

    def _known_object(self, number: int) -> Any:
        objects = self._hear_objects()
        if number not in objects:
            names = ", ".join(_describe(thing) for _, thing in sorted(objects.items()))
            raise NotTakenError(f"there is no object {number}; there are: {names or 'none'}")
        return objects[number]

    def _describe_arms(self) -> str:
        """Say which arms somebody listens for, or nothing where there are none."""
        prefix = self._node.resolve_topic_name("arm_").removesuffix("arm_")
        arms = set()
        for name, _ in self._node.get_topic_names_and_types():
            found = re.fullmatch(r"(arm_\d+)/target", name.removeprefix(prefix))
            arm = parse_arm_name(found[1]) if found and name.startswith(prefix) else None
            if arm is not None and self._node.count_subscribers(name):
                arms.add(arm)
        return f"arms heard: {list_arms(sorted(arms))}" if arms else ""

    # Making sure

    def _wait(self, condition: Callable[[], object], patience: float) -> bool:
        deadline = time.monotonic() + patience
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL)
        return True

    def _find(
        self,
        condition: Callable[[], object],
        failure: str,
        others: Callable[[], str] = lambda: "",
    ) -> None:
        """Wait until somebody is there; not as long where others are there instead."""
        if self._wait(lambda: condition() or others(), self._patience) and (
            self._wait(condition, SHORT_PATIENCE)
        ):
            return
        heard = others() or "is octo-reach run, or another of its nodes, in the same ROS domain?"
        raise NotTakenError(f"{failure}; {heard}")

    def _publish(self, publisher: Any, message: Any) -> None:
        publisher.publish(message)
        # Who is matched may not have matched this side yet; it asks again for what it missed.
        if not publisher.wait_for_all_acked(Duration(seconds=self._patience)):
            raise NotTakenError(f"{publisher.topic_name} was sent, but nobody says it has arrived")

    def _put(self, thing: WorldObject) -> str:
        def is_there(objects: dict[int, ObjectChange]) -> bool:
            there = objects.get(thing.number)
            if there is None or there.kind is not thing.kind:
                return False
            # An arm may have taken it at once.
            return there.holder is not None or there.position == thing.position

        marker = object_marker(thing)
        change = object_from_marker("scene/edit", marker)
        self._edit(marker, is_there)
        x, y = thing.position
        return f"scene/edit: {_describe(change)} at {x:g}, {y:g}, radius {thing.radius:g}"

    def _edit(self, marker: Marker, done: Callable[[dict[int, ObjectChange]], bool]) -> None:
        """Send an edit to the world, and wait until the scene is so."""
        publisher = self._node.create_publisher(Marker, "scene/edit", INPUT)
        topic = publisher.topic_name
        self._find(publisher.get_subscription_count, f"no simulated_world hears {topic}")
        self._publish(publisher, marker)
        if not self._wait(lambda: done(self._hear_objects()), self._patience):
            raise NotTakenError(f"{topic} was sent, but the world has not done it; see its log")

    def _call(self, kind: Any, service: str, request: Any) -> str:
        client: Any = self._node.create_client(kind, service)
        self._find(
            client.service_is_ready,
            f"no reach_controller offers {client.service_name}",
            self._describe_arms,
        )
        future = client.call_async(request)
        if not self._wait(future.done, self._patience):
            raise NotTakenError(f"{client.service_name} does not answer")
        answer = future.result()
        if not answer.success:
            raise NotTakenError(f"{service}: {answer.message}")
        return f"{service}: {answer.message}"


def _describe(thing: ObjectChange) -> str:
    assert thing.kind is not None
    return f"{thing.kind.label} {thing.number}"
