"""A node for as long as it takes to say one thing to a running system and to hear it was taken."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.duration import Duration
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.model.scene import ObjectKind
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
from octo_reach.ros.quality_of_service import INPUT, LATCHED, OBJECTS
from octo_reach.ros.states import arm_reports
from octo_reach.ros.targets import target_from_point, target_message
from octo_reach.ros.validation import RejectedInput

PATIENCE = 5.0
"""How long a listener has to be found, and to answer, s."""
SHORT_PATIENCE = 1.5
"""How long it has still when others of its kind were found, s."""
AGAIN = 0.2
"""How long a message has to arrive before it is sent again, s."""
POLL = 0.01


class NotTakenError(Exception):
    """Nobody listens, or what was sent was refused; the text says which."""


class Messenger(Node):
    """Says things to the controller and the world of a namespace, and waits until they are taken.

    Its callbacks must run in another thread.
    """

    def __init__(self, namespace: str | None = None, patience: float = PATIENCE) -> None:
        """Find nobody yet.

        Args:
            namespace: where they live; None for that of the process.
            patience: how long to wait for a listener, and again for an answer, s.
        """
        super().__init__(
            "octo_reach_send",
            namespace=namespace,
            start_parameter_services=False,
            enable_rosout=False,
        )
        self._patience = patience
        self._lock = threading.Lock()
        self._scene: dict[int, ObjectChange] | None = None
        self._targets: dict[int, tuple[float, float] | None] = {}

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
        self._find(
            lambda: self.count_subscribers(topic),
            f"no reach_controller hears {self.resolve_topic_name(topic)}",
            self._describe_arms,
        )
        self.create_subscription(DiagnosticArray, "arm_states", self._take_states, LATCHED)
        # A recorder and a planner hear it too: that one of them has it says nothing.
        deadline = time.monotonic() + self._patience
        while True:
            self._say(topic, message)
            if self._wait(lambda: self._is_sent_to(arm, x, y), SHORT_PATIENCE):
                return f"{topic}: {x:g}, {y:g}"
            if time.monotonic() > deadline:
                full = self.resolve_topic_name(topic)
                raise NotTakenError(f"{full} was sent, but arm_{arm} goes elsewhere; see its log")

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

    def start_over(self) -> str:
        """Put every arm and every object back to where the scene has them, events and all.

        Returns:
            What the controller and the world answer, a line each.

        Raises:
            NotTakenError: one of them is not there, or does not answer; the world is only asked
                once the arms have let go.
        """
        arms = self.order("reach_controller/reset")
        world = self._call(
            Trigger, "simulated_world/reset", Trigger.Request(), node="simulated_world"
        )
        return f"{arms}\n{world}"

    # Listening

    def _take_states(self, message: DiagnosticArray) -> None:
        with self._lock:
            self._targets.update(
                (number, report.target) for number, report in arm_reports(message).items()
            )

    def _is_sent_to(self, arm: int, x: float, y: float) -> bool:
        with self._lock:
            target = self._targets.get(arm)
        # Reports are rounded.
        return target is not None and [f"{v:.6g}" for v in target] == [f"{x:.6g}", f"{y:.6g}"]

    def _hear_objects(self) -> dict[int, ObjectChange]:
        """Give the objects of the world by number, as soon as they were heard."""
        if self._scene is None:
            self.create_subscription(MarkerArray, "objects", self._take_objects, OBJECTS)
            self._find(
                lambda: self._scene is not None,
                f"no simulated_world publishes {self.resolve_topic_name('objects')}",
            )
        with self._lock:
            return dict(self._scene or {})

    def _take_objects(self, message: MarkerArray) -> None:
        try:
            changes = objects_from_markers("objects", message)
        except RejectedInput:
            return  # nothing of a world's
        with self._lock:
            objects = self._scene = {} if self._scene is None else self._scene
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
        prefix = self.resolve_topic_name("arm_").removesuffix("arm_")
        arms = set()
        for name, _ in self.get_topic_names_and_types():
            found = re.fullmatch(r"(arm_\d+)/target", name.removeprefix(prefix))
            arm = parse_arm_name(found[1]) if found and name.startswith(prefix) else None
            if arm is not None and self.count_subscribers(name):
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

    def _say(self, topic: str, message: Any, done: Callable[[], object] = lambda: False) -> None:
        """Publish a message on a topic that somebody was found to hear, and wait until it is there.

        Said once, it might wait for seconds in a publisher whose reader does not know it yet, so it
        is said again until it has arrived.

        Args:
            topic: name of the topic.
            message: the message.
            done: tells whether what the message asks for was done already.
        """
        publisher = self.create_publisher(type(message), topic, INPUT)
        deadline = time.monotonic() + self._patience
        # Not to the first that is found of several that are known to listen.
        self._wait(
            lambda: 0 < self.count_subscribers(topic) <= publisher.get_subscription_count(),
            SHORT_PATIENCE,
        )
        while time.monotonic() < deadline:
            if not publisher.get_subscription_count():
                time.sleep(POLL)
                continue
            publisher.publish(message)
            if publisher.wait_for_all_acked(Duration(seconds=AGAIN)) or done():
                return
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
        topic = "scene/edit"
        full = self.resolve_topic_name(topic)
        self._find(lambda: self.count_subscribers(topic), f"no simulated_world hears {full}")
        self._say(topic, marker, lambda: done(self._hear_objects()))
        if not self._wait(lambda: done(self._hear_objects()), self._patience):
            raise NotTakenError(f"{full} was sent, but the world has not done it; see its log")

    def _call(
        self, kind: Any, service: str, request: Any, node: str = "reach_controller"
    ) -> str:
        client: Any = self.create_client(kind, service)
        self._find(
            client.service_is_ready,
            f"no {node} offers {client.service_name}",
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
