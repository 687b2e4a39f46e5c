"""Which handles there are, and what is asked for with them; the server is one of the test."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from visualization_msgs.msg import InteractiveMarkerFeedback

from octo_reach.nodes.handle_board import HAND, HandleBoard
from octo_reach.viewer.orders import (
    Act,
    ChoosePlanner,
    Orders,
    Pause,
    PutObject,
    RemoveObject,
    ResetAll,
    SendArm,
    Step,
)
from octo_reach.viewer.snapshot import SeenArm, SeenObject, Snapshot

pytestmark = pytest.mark.ros

MOVED = InteractiveMarkerFeedback.POSE_UPDATE
CHOSEN = InteractiveMarkerFeedback.MENU_SELECT
DOWN = InteractiveMarkerFeedback.MOUSE_DOWN
UP = InteractiveMarkerFeedback.MOUSE_UP


class Server:
    """Shows handles as RViz would."""

    def __init__(self):
        self.handles = {}
        self.callbacks = {}
        self.inserted = []
        self.moved = []
        self.changes = 0

    def insert(self, marker, *, feedback_callback):
        self.handles[marker.name] = marker
        self.callbacks[marker.name] = feedback_callback
        self.inserted.append(marker.name)

    def setPose(self, name, pose):  # noqa: N802 - its name there
        self.handles[name].pose = pose
        self.moved.append(name)

    def erase(self, name):
        del self.handles[name]

    def applyChanges(self):  # noqa: N802 - its name there
        self.changes += 1

    def place(self, name):
        position = self.handles[name].pose.position
        return position.x, position.y


class Desk:
    """A board with everything around it."""

    def __init__(self):
        self.now = 100.0
        self.server = Server()
        self.orders = Orders()
        self.rejected = []
        self.board = HandleBoard(
            self.server, self.orders, ("neighbour", "guided"), self.rejected.append, self.clock
        )
        self.snapshot = Snapshot(
            arms=(ARM, dataclasses.replace(ARM, number=2, state="Idle")), objects=(FOOD,)
        )
        self.show()

    def clock(self):
        return self.now

    def show(self, **changes):
        self.snapshot = dataclasses.replace(self.snapshot, **changes)
        self.board.show(self.snapshot)

    def say(self, name, event, position=None, title=None):
        message = InteractiveMarkerFeedback(marker_name=name, event_type=event)
        message.header.frame_id = "world"
        x, y = position or self.server.place(name)
        message.pose.position.x, message.pose.position.y = x, y
        if title is not None:
            (message.menu_entry_id,) = (
                entry.id for entry in self.server.handles[name].menu_entries if entry.title == title
            )
        self.server.callbacks[name](message)


ARM = SeenArm(
    number=1,
    joints=np.column_stack((np.linspace(0.0, 0.2, 11), np.zeros(11))),
    base_radius=0.003,
    tip_radius=0.001,
    colour=(1.0, 0.0, 0.0),
    state="Reaching",
    target=(0.1, 0.15),
    planner="neighbour",
)
FOOD = SeenObject(5, "food", (0.05, 0.1), 0.01, (0.0, 1.0, 0.0))


@pytest.fixture
def desk():
    return Desk()


def test_arms_have_handles_at_their_targets_idle_ones_at_their_tips_objects_around_them(desk):
    assert set(desk.server.handles) == {"arm_1", "arm_2", "food_5", "scene"}
    assert desk.server.place("arm_1") == (0.1, 0.15)
    assert desk.server.place("arm_2") == (0.2, 0.0)
    assert desk.server.place("food_5") == (0.05, 0.1)
    assert desk.server.place("scene")[1] < -0.2


def test_handles_follow_what_they_stand_for_and_stay_the_same_handles(desk):
    inserted = list(desk.server.inserted)
    desk.show()
    assert desk.server.moved == []
    moved = dataclasses.replace(FOOD, position=(0.06, 0.1))
    sent = dataclasses.replace(ARM, target=(0.0, 0.1))
    desk.show(objects=(moved,), arms=(sent, *desk.snapshot.arms[1:]))
    assert desk.server.moved == ["arm_1", "food_5"]
    assert desk.server.place("food_5") == (0.06, 0.1)
    assert desk.server.place("arm_1") == (0.0, 0.1)
    assert desk.server.inserted == inserted


def test_handles_go_with_what_they_stand_for(desk):
    desk.show(objects=(), arms=desk.snapshot.arms[1:])
    assert set(desk.server.handles) == {"arm_2", "scene"}
    desk.show(arms=())
    assert desk.server.handles == {}
    desk.show(objects=(FOOD,))
    assert set(desk.server.handles) == {"food_5"}


def test_a_drag_of_an_arms_handle_sends_the_arm(desk):
    desk.say("arm_1", DOWN)
    for x in (0.11, 0.12, 0.13):
        desk.say("arm_1", MOVED, (x, 0.15))
    desk.say("arm_1", UP, (0.13, 0.15))
    # Of a drag only the newest place counts.
    assert desk.orders.take() == [SendArm(1, (0.13, 0.15))]


def test_a_drag_of_an_objects_handle_moves_the_object(desk):
    desk.say("food_5", MOVED, (0.0, 0.2))
    assert desk.orders.take() == [PutObject("food", (0.0, 0.2), 0.01, 5)]


def test_a_click_is_no_drag(desk):
    # RViz says where the handle is before it says that the button went down.
    for event in (MOVED, DOWN, MOVED, UP):
        desk.say("arm_2", event)
        desk.say("food_5", event)
    assert desk.orders.take() == []


def test_a_handle_is_not_moved_while_somebody_has_it_in_hand(desk):
    desk.say("food_5", MOVED, (0.0, 0.2))
    for _ in range(5):
        desk.now += 0.5 * HAND
        desk.say("food_5", InteractiveMarkerFeedback.KEEP_ALIVE, (0.0, 0.2))
        desk.show(objects=(dataclasses.replace(FOOD, position=(0.3, desk.now)),))
    assert "food_5" not in desk.server.moved
    desk.now += 1.01 * HAND
    desk.show(objects=(dataclasses.replace(FOOD, position=(0.0, 0.21)),))
    assert desk.server.place("food_5") == (0.0, 0.21)


def test_a_move_that_the_world_refused_is_taken_back(desk):
    desk.say("food_5", MOVED, (0.0, 0.2))
    desk.now += 1.01 * HAND
    desk.show()
    assert desk.server.moved == ["food_5"]
    assert desk.server.place("food_5") == FOOD.position


def test_an_object_that_is_gone_cannot_be_moved(desk):
    hear = desk.server.callbacks["food_5"]
    desk.show(objects=())
    message = InteractiveMarkerFeedback(marker_name="food_5", event_type=MOVED)
    hear(message)
    assert desk.orders.take() == []


def test_the_menu_of_an_arm_tells_it_what_to_do_and_ticks_its_planner(desk):
    for title in ("Idle", "Release", "Retract", "Reset"):
        desk.say("arm_1", CHOSEN, title=title)
    desk.say("arm_1", CHOSEN, title="[ ] guided")
    assert desk.orders.take() == [
        *(Act(1, action) for action in ("idle", "release", "retract", "reset")),
        ChoosePlanner(1, "guided"),
    ]
    desk.show(arms=(dataclasses.replace(ARM, planner="guided"), desk.snapshot.arms[1]))
    titles = {entry.title for entry in desk.server.handles["arm_1"].menu_entries}
    assert {"[x] guided", "[ ] neighbour"} <= titles


def test_the_menu_of_an_object_takes_it_away(desk):
    desk.say("food_5", CHOSEN, title="Delete food 5")
    assert desk.orders.take() == [RemoveObject("food", 5)]


def test_what_is_added_is_put_where_the_pin_was_dragged(desk):
    desk.say("scene", MOVED, (0.3, 0.1))
    desk.now += 1.01 * HAND
    desk.show()
    assert desk.server.moved == []
    desk.board.radius = 0.02
    for kind in ("food", "obstacle", "hazard"):
        desk.say("scene", CHOSEN, title=f"Add {kind}")
    assert desk.orders.take() == [
        PutObject(kind, (0.3, 0.1), 0.02) for kind in ("food", "obstacle", "hazard")
    ]


def test_the_pin_pauses_steps_and_resets(desk):
    desk.say("scene", CHOSEN, title="Pause")
    desk.show(paused=True)
    for title in ("Step", "Resume", "Reset"):
        desk.say("scene", CHOSEN, title=title)
    assert desk.orders.take() == [Pause(True), Step(), Pause(False), ResetAll()]


def test_what_cannot_be_used_is_rejected_and_moves_nothing(desk):
    desk.say("arm_1", MOVED, (float("nan"), 0.0))
    assert len(desk.rejected) == 1
    assert desk.orders.take() == []
    desk.show()
    assert desk.server.moved == []
