"""Handles as interactive markers, and what was done with them."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("rclpy", reason="rclpy is not installed")

from ros_messages import received
from transforms3d.quaternions import rotate_vector
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerControl,
    InteractiveMarkerFeedback,
    MenuEntry,
)

from octo_reach.model.scene import ObjectKind
from octo_reach.planners import PLANNERS
from octo_reach.ros.interactive_markers import (
    ARM_ACTIONS,
    SCENE_ACTIONS,
    Choice,
    Drag,
    Owner,
    arm_handle,
    object_handle,
    parse_handle_name,
    read_feedback,
    scene_handle,
)
from octo_reach.ros.validation import RejectedInput

pytestmark = pytest.mark.ros

HANDLES = {
    "arm_3": arm_handle(3, (0.1, -0.2), 0.01, tuple(PLANNERS), "neighbour"),
    "food_7": object_handle("food", 7, (0.1, -0.2), 0.02),
    "obstacle_8": object_handle("obstacle", 8, (0.1, -0.2), 0.005),
    "hazard_9": object_handle("hazard", 9, (0.1, -0.2), 0.005),
    "scene": scene_handle((0.1, -0.2), 0.01, paused=False),
}


def feedback(name, event, **fields):
    message = InteractiveMarkerFeedback(marker_name=name, event_type=event)
    message.header.frame_id = fields.pop("frame", "world")
    message.pose.position.x, message.pose.position.y = fields.pop("position", (0.0, 0.0))
    message.menu_entry_id = fields.pop("entry", 0)
    return message


def choose(handle, title):
    """What RViz says when the entry of this title is chosen."""
    (entry,) = (entry for entry in handle.menu_entries if entry.title == title)
    assert entry.command_type == MenuEntry.FEEDBACK
    return feedback(handle.name, InteractiveMarkerFeedback.MENU_SELECT, entry=entry.id)


@pytest.mark.parametrize("name", HANDLES)
def test_a_handle_can_be_dragged_in_the_plane_of_the_arms(name):
    handle = received(HANDLES[name])
    assert handle.name == name
    # Without a stamp it stays in its frame, and is heard of in that frame.
    assert (handle.header.frame_id, handle.header.stamp.sec) == ("world", 0)
    assert (handle.pose.position.x, handle.pose.position.y) == (0.1, -0.2)
    assert handle.pose.orientation.w == 1.0
    assert handle.scale > 0.0
    (control,) = handle.controls
    assert control.interaction_mode == InteractiveMarkerControl.MOVE_PLANE
    turn = control.orientation
    quaternion = (turn.w, turn.x, turn.y, turn.z)
    assert math.hypot(*quaternion) == pytest.approx(1.0)
    across = rotate_vector((1.0, 0.0, 0.0), quaternion)
    assert abs(across[2]) == pytest.approx(1.0)
    # A control without markers cannot be taken hold of.
    assert control.markers and control.always_visible
    for marker in control.markers:
        assert marker.pose.orientation.w == 1.0
        assert marker.color.a > 0.0
        assert marker.scale.x > 0.0 and marker.scale.z > 0.0


@pytest.mark.parametrize("name", HANDLES)
def test_menu_entries_have_numbers_of_their_own_and_come_after_their_parents(name):
    known = {0}
    for entry in HANDLES[name].menu_entries:
        assert entry.id not in known
        assert entry.parent_id in known
        assert entry.title
        known.add(entry.id)


def test_an_object_can_be_taken_hold_of_wherever_it_is_seen():
    (grip,) = HANDLES["food_7"].controls[0].markers
    assert grip.scale.x / 2.0 > 0.02
    assert grip.pose.position.z > 0.005


def test_names_of_handles_read_back_and_others_are_nobodys():
    for name in HANDLES:
        assert parse_handle_name(name).name == name
    for name in ("", "arm_0", "arm_x", "food", "food_0", "pond_1", "scene_1", "food_1_2"):
        assert parse_handle_name(name) is None


@settings(max_examples=30, deadline=None)
@given(
    name=st.sampled_from(sorted(HANDLES)),
    position=st.tuples(st.floats(-100.0, 100.0), st.floats(-100.0, 100.0)),
)
def test_a_drag_tells_whose_handle_is_where(name, position):
    message = feedback(name, InteractiveMarkerFeedback.POSE_UPDATE, position=position)
    assert read_feedback(message, PLANNERS) == Drag(parse_handle_name(name), position)


def test_arms_can_be_told_what_to_do():
    handle = HANDLES["arm_3"]
    arm = Owner("arm", 3)
    for action in ARM_ACTIONS:
        message = choose(handle, action.capitalize())
        assert read_feedback(message, PLANNERS) == Choice(arm, action)
    for planner in PLANNERS:
        message = choose(handle, f"[{'x' if planner == 'neighbour' else ' '}] {planner}")
        assert read_feedback(message, PLANNERS) == Choice(arm, "planner", planner)


def test_objects_can_be_taken_away():
    for name in ("food_7", "obstacle_8", "hazard_9"):
        kind, _, number = name.partition("_")
        message = choose(HANDLES[name], f"Delete {kind} {number}")
        assert read_feedback(message, PLANNERS) == Choice(Owner(kind, int(number)), "delete")


def test_the_pin_adds_objects_and_stops_and_starts_everything():
    for kind in ObjectKind:
        message = choose(HANDLES["scene"], f"Add {kind.label}")
        assert read_feedback(message, PLANNERS) == Choice(Owner("scene"), "add", kind.label)
    paused = scene_handle((0.0, 0.0), 0.01, paused=True)
    for action in SCENE_ACTIONS:
        handle = HANDLES["scene"] if action != "resume" else paused
        message = choose(handle, action.capitalize())
        assert read_feedback(message, PLANNERS) == Choice(Owner("scene"), action)
    assert "Resume" not in {entry.title for entry in HANDLES["scene"].menu_entries}
    assert "Pause" not in {entry.title for entry in paused.menu_entries}


@pytest.mark.parametrize(
    "event",
    [
        InteractiveMarkerFeedback.KEEP_ALIVE,
        InteractiveMarkerFeedback.MOUSE_DOWN,
        InteractiveMarkerFeedback.MOUSE_UP,
        InteractiveMarkerFeedback.BUTTON_CLICK,
    ],
)
def test_a_button_that_goes_down_asks_for_nothing(event):
    assert read_feedback(feedback("arm_3", event), PLANNERS) is None


@pytest.mark.parametrize("name", [*HANDLES, "pond_1"])
@pytest.mark.parametrize("entry", [0, 50, 99, 100, 100 + len(PLANNERS) + 1, 2**32 - 1])
def test_an_entry_no_menu_has_asks_for_nothing(name, entry):
    message = feedback(name, InteractiveMarkerFeedback.MENU_SELECT, entry=entry)
    assert read_feedback(message, PLANNERS) is None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"position": (math.nan, 0.0)}, "handle arm_3"),
        ({"position": (0.0, math.inf)}, "handle arm_3"),
        ({"position": (1e9, 0.0)}, "handle arm_3"),
        ({"frame": "map"}, "frame_id must be 'world'"),
    ],
)
def test_a_place_that_is_none_is_rejected(fields, said):
    with pytest.raises(RejectedInput, match=said):
        read_feedback(feedback("arm_3", InteractiveMarkerFeedback.POSE_UPDATE, **fields), PLANNERS)


def test_a_handle_is_what_the_server_takes():
    assert all(type(handle) is InteractiveMarker for handle in HANDLES.values())
