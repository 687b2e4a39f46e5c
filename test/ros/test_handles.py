"""The handles as RViz meets them: a real server, and a client that plays RViz's part.

The package interactive_markers comes with a full ROS 2, not with its wheels.
"""

from __future__ import annotations

import itertools
import time
from typing import Any

import pytest

pytest.importorskip(
    "interactive_markers", reason="interactive_markers comes with ROS 2, not with its wheels"
)

from harness import Probe
from rclpy.qos import QoSProfile
from stage import FOOD, OBSTACLE, Stage, base_of
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerFeedback,
    InteractiveMarkerUpdate,
    MarkerArray,
)
from visualization_msgs.srv import GetInteractiveMarkers

from octo_reach.ros.objects import ADD, objects_from_markers
from octo_reach.ros.quality_of_service import OBJECTS

NAMESPACE = "handles"
DEEP = QoSProfile(depth=100)
DRAGS = itertools.count(1)

NEWNESS = 1.1
"""For a second after a handle has come its server takes nothing from a client it does not know."""


class Client:
    """Plays RViz's part: shows what the server says, and says what is done with it."""

    def __init__(self, probe: Probe) -> None:
        """Ask for the handles there are, and hear of changes."""
        self._probe = probe
        self._updates = probe.listen(InteractiveMarkerUpdate, f"{NAMESPACE}/update", DEEP)
        self._heard = 0
        self.handles: dict[str, InteractiveMarker] = {}
        service = f"{NAMESPACE}/get_interactive_markers"
        asking = probe.node.create_client(GetInteractiveMarkers, service)
        probe.wait_until(asking.service_is_ready, f"the service {service}")
        asked: list[tuple[float, Any]] = []

        def answered() -> Any:
            # RViz asks again as well: who is new may not be known to the server yet.
            if not asked or time.monotonic() - asked[-1][0] > 1.0:
                asked.append((time.monotonic(), asking.call_async(GetInteractiveMarkers.Request())))
            return next((future.result() for _, future in asked if future.done()), None)

        answer = probe.wait_until(answered, f"an answer of {service}")
        probe.node.destroy_client(asking)
        self.handles.update((handle.name, handle) for handle in answer.markers)

    def update(self) -> dict[str, InteractiveMarker]:
        """Take the changes that have come, and give the handles."""
        fresh = list(self._updates.messages)[self._heard :]
        self._heard += len(fresh)
        for message in fresh:
            for name in message.erases:
                self.handles.pop(name, None)
            for handle in message.markers:
                self.handles[handle.name] = handle
            for pose in message.poses:
                self.handles[pose.name].pose = pose.pose
        return self.handles

    def wait_for(self, *names: str) -> None:
        """Wait until there are handles of these names that can be used."""
        self._probe.wait_until(
            lambda: set(names) <= set(self.update()), f"handles {names}", report=self._report
        )
        self._probe.spin_for(NEWNESS)

    def wait_until_gone(self, name: str) -> None:
        """Wait until there is no handle of this name."""
        self._probe.wait_until(
            lambda: name not in self.update(), f"no handle {name}", report=self._report
        )

    def wait_until_at(self, name: str, x: float, y: float) -> None:
        """Wait until a handle is somewhere."""
        self._probe.wait_until(
            lambda: self.place(name) == pytest.approx((x, y), abs=1e-5),
            f"{name} at {x:g}, {y:g}",
            report=lambda: str(self.place(name)),
        )

    def place(self, name: str) -> tuple[float, float]:
        position = self.update()[name].pose.position
        return position.x, position.y

    def _report(self) -> str:
        return str(sorted(self.handles))

    def drag(self, name: str, x: float, y: float) -> None:
        """Drag a handle somewhere as RViz does it, a few places on the way."""
        x0, y0 = self.place(name)
        self._say(name, InteractiveMarkerFeedback.POSE_UPDATE, x0, y0)
        self._say(name, InteractiveMarkerFeedback.MOUSE_DOWN, x0, y0)
        for share in (0.25, 0.5, 0.75, 1.0):
            where = x0 + share * (x - x0), y0 + share * (y - y0)
            self._say(name, InteractiveMarkerFeedback.POSE_UPDATE, *where)
        self._say(name, InteractiveMarkerFeedback.POSE_UPDATE, x, y)
        self._say(name, InteractiveMarkerFeedback.MOUSE_UP, x, y)

    def choose(self, name: str, title: str) -> None:
        """Choose an entry of a handle's menu."""
        entries = self.update()[name].menu_entries
        (number,) = (entry.id for entry in entries if entry.title == title)
        self._say(name, InteractiveMarkerFeedback.MENU_SELECT, *self.place(name), number)

    def _say(self, name: str, event: int, x: float, y: float, entry: int = 0) -> None:
        message = InteractiveMarkerFeedback()
        message.header.frame_id = "world"
        message.client_id = "/rviz/Handles"
        message.marker_name = name
        message.control_name = "move"
        message.event_type = event
        message.menu_entry_id = entry
        message.pose.position.x, message.pose.position.y = x, y
        message.pose.orientation.w = 1.0
        self._probe.send(f"{NAMESPACE}/feedback", message, qos=DEEP)


@pytest.fixture(scope="module")
def system(shared_stage) -> Stage:
    """A stage with a world, a controller of arm 1, and handles, in a namespace of two levels."""
    scene = shared_stage.write_scene(
        target=(0.05, 0.15), food=[(-0.15, 0.1)], obstacles=[(0.2, -0.1)]
    )
    shared_stage.world(scene)
    shared_stage.controller(scene)
    shared_stage.handles = shared_stage.start("handles")
    return shared_stage


@pytest.fixture(scope="module")
def client(system) -> Client:
    client = Client(system.probe)
    client.wait_for("arm_1", "food_1", "obstacle_2", "scene")
    return client


@pytest.fixture(scope="module")
def objects(system):
    return system.probe.listen(MarkerArray, "objects", OBJECTS)


def places(message):
    """The objects of a message as {number: (kind, place)}."""
    return {
        change.number: (change.kind, change.position)
        for change in objects_from_markers("objects", message)
        if change.action == ADD
    }


def test_a_late_joiner_gets_every_handle_with_its_menu(system, client):
    handles = Client(system.probe).update()
    assert set(handles) == {"arm_1", "food_1", "obstacle_2", "scene"}
    for handle in handles.values():
        assert handle.header.frame_id == "world"
        assert handle.menu_entries
        assert [control.markers for control in handle.controls]
    assert client.place("food_1") == pytest.approx((-0.15, 0.1))


def test_a_drag_of_a_target_sends_the_arm_there(system, client):
    x, y = base_of(1)
    target = (x - 0.05, y + 0.18 + 1e-4 * next(DRAGS))
    client.drag("arm_1", *target)
    system.wait_for_target(*target)
    system.wait_for_state("Reached")
    client.wait_until_at("arm_1", *target)


def test_a_target_sent_otherwise_moves_the_handle(system, client):
    target = (0.06, 0.17 + 1e-4 * next(DRAGS))
    system.send(1, *target)
    client.wait_until_at("arm_1", *target)


def test_a_drag_of_an_object_moves_it_in_the_world(system, client, objects):
    target = (-0.2, -0.05)
    client.drag("food_1", *target)
    objects.wait_until_latest(
        lambda message: places(message)[1] == (FOOD, pytest.approx(target)), "the food moved"
    )
    client.wait_until_at("food_1", *target)


def test_a_held_object_can_be_taken_out_of_an_arms_grip(system, client, objects):
    system.probe.trigger("simulated_world/reset")
    client.wait_until_at("food_1", -0.15, 0.1)
    system.send(1, -0.15, 0.1)
    system.wait_for_report(lambda report: report.object == 1, "holds the food")
    # It follows the arm, then the mouse.
    client.drag("food_1", -0.25, -0.1)
    system.wait_for_report(lambda report: report.object is None, "has let go")
    objects.wait_until_latest(
        lambda message: places(message)[1] == (FOOD, pytest.approx((-0.25, -0.1))), "food moved"
    )


def test_the_menu_adds_an_object_at_the_pin_and_takes_it_away_again(system, client, objects):
    client.drag("scene", 0.22, 0.05)
    client.choose("scene", "Add obstacle")
    client.wait_for("obstacle_3")
    assert client.place("obstacle_3") == pytest.approx((0.22, 0.05))
    assert places(objects.latest)[3][0] == OBSTACLE
    client.choose("obstacle_3", "Delete obstacle 3")
    client.wait_until_gone("obstacle_3")
    objects.wait_until_latest(lambda message: 3 not in places(message), "the obstacle gone")


def test_the_menu_of_an_arm_calls_its_services_and_chooses_its_planner(system, client):
    client.choose("arm_1", "Idle")
    system.wait_for_state("Idle")
    other = "[ ] external"
    client.choose("arm_1", other)
    system.wait_for_report(lambda report: report.planner == "external", "has another planner")
    system.probe.wait_until(
        lambda: (
            other.replace("[ ]", "[x]") in {e.title for e in client.update()["arm_1"].menu_entries}
        ),
        "a tick at the planner",
    )
    client.choose("arm_1", "[ ] neighbour")
    system.wait_for_report(lambda report: report.planner == "neighbour", "has its planner back")


def test_the_pin_pauses_and_resumes(system, client):
    client.choose("scene", "Pause")
    system.wait_for_diagnostics(lambda values: values["paused"] == "yes", "paused")
    system.probe.wait_until(
        lambda: "Resume" in {entry.title for entry in client.update()["scene"].menu_entries},
        "an entry to go on",
    )
    client.choose("scene", "Resume")
    system.wait_for_diagnostics(lambda values: values["paused"] == "no", "running")


def test_what_is_refused_is_said(system, client):
    handles = system.handles
    handles.mark()
    client.choose("arm_1", "Retract")
    system.probe.wait_for_line(handles, "arm_1/retract: arm_1 holds nothing to retract with")


def test_without_a_world_the_handles_say_so_and_they_go_when_their_node_ends(stage):
    scene = stage.write_scene()
    stage.controller(scene)
    handles = stage.start("handles")
    client = Client(stage.probe)
    client.wait_for("arm_1", "scene")
    client.choose("scene", "Add food")
    stage.probe.wait_for_line(handles, "scene/edit: no simulated_world hears it")
    assert handles.stop() == 0
    stage.probe.wait_until(lambda: not client.update(), "no handles")
