"""Objects from markers, and objects as markers."""

import math

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from rclpy.serialization import serialize_message
from ros_messages import received
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.model.scene import ObjectKind
from octo_reach.ros import objects
from octo_reach.ros.objects import (
    ADD,
    DELETE,
    DELETE_ALL,
    REPEATED_DELETES,
    ObjectChange,
    ObjectMarkers,
    ObjectsReader,
    WorldObject,
    checked_kinds,
    delete_all_marker,
    delete_marker,
    grasps_from_markers,
    object_from_marker,
    object_marker,
    objects_from_markers,
)
from octo_reach.ros.validation import RejectedInput

pytestmark = pytest.mark.ros

ARMS = {1: 20, 3: 4}
FOOD, OBSTACLE, HAZARD = ObjectKind.FOOD, ObjectKind.OBSTACLE, ObjectKind.HAZARD


def make_marker(**fields):
    """Give the marker of food 1 at (0.1, 0.2), with some fields, by their path, changed."""
    marker = object_marker(WorldObject(1, FOOD, (0.1, 0.2), 0.014))
    for path, value in fields.items():
        *holders, name = path.split("__")
        owner = marker
        for holder in holders:
            owner = getattr(owner, holder)
        setattr(owner, name, value)
    return marker


def make_message(*markers):
    message = MarkerArray()
    message.markers = list(markers)
    return message


def cause_of(*markers, read=objects_from_markers, **arguments):
    with pytest.raises(RejectedInput) as caught:
        read("objects", make_message(*markers), ARMS, **arguments)
    assert caught.value.topic == "objects"
    return caught.value.cause


# Reading


@pytest.mark.parametrize("shape", [Marker.CYLINDER, Marker.SPHERE])
@pytest.mark.parametrize("frame", ["", "world"])
def test_a_circle_in_the_world_is_an_object(shape, frame):
    marker = make_marker(type=shape, header__frame_id=frame, ns="hazard", id=7)
    assert objects_from_markers("objects", make_message(marker), ARMS) == [
        ObjectChange(ADD, HAZARD, 7, (0.1, 0.2), 0.014)
    ]


def test_a_circle_in_the_frame_of_a_segment_is_held_by_it():
    (change,) = objects_from_markers(
        "objects", make_message(make_marker(header__frame_id="arm_3/segment_4")), ARMS
    )
    assert change.holder == (3, 4)
    assert change.position == (0.1, 0.2)


def test_any_segment_frame_is_taken_where_the_arms_are_not_known():
    marker = make_marker(header__frame_id="arm_99/segment_99")
    assert object_from_marker("objects", marker).holder == (99, 99)


def test_a_lifetime_is_read_in_seconds():
    marker = make_marker(lifetime__sec=2, lifetime__nanosec=500_000_000)
    assert object_from_marker("objects", marker).lifetime == 2.5


def test_delete_needs_only_ns_and_id_and_deleteall_nothing():
    delete = Marker(ns="obstacle", id=4, action=Marker.DELETE)
    everything = Marker(action=Marker.DELETEALL)
    changes = objects_from_markers("objects", make_message(everything, delete), ARMS)
    assert changes == [ObjectChange(DELETE_ALL), ObjectChange(DELETE, OBSTACLE, 4)]


def test_changes_keep_the_order_of_the_markers():
    markers = [make_marker(id=3), Marker(action=Marker.DELETEALL), make_marker(id=2)]
    changes = objects_from_markers("objects", make_message(*markers), ARMS)
    assert [(change.action, change.number) for change in changes] == [
        (ADD, 3),
        (DELETE_ALL, None),
        (ADD, 2),
    ]


def test_an_empty_message_says_nothing():
    assert objects_from_markers("objects", MarkerArray(), ARMS) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"pose__position__z": math.nan},
        {"pose__orientation__w": math.nan},
        {"scale__z": math.nan},
        {"scale__z": -1.0},
        {"color__a": 0.0},
        {"header__stamp__sec": 2_000_000_000},
        {"pose__orientation__w": 0.0},
    ],
)
def test_what_does_not_matter_is_not_looked_at(fields):
    assert object_from_marker("objects", make_marker(**fields)).number == 1


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"pose__position__x": math.nan}, "not finite"),
        ({"pose__position__y": math.inf}, "not finite"),
        ({"pose__position__x": -1e7}, "out of range"),
        ({"scale__x": math.nan}, "not finite"),
        ({"scale__y": math.inf}, "not finite"),
        ({"scale__x": -0.028, "scale__y": -0.028}, "bad radius"),
        ({"scale__x": 0.0, "scale__y": 0.0}, "bad radius"),
        ({"scale__x": 1e9, "scale__y": 1e9}, "bad radius"),
        ({"scale__y": 0.03}, "bad radius"),
        ({"id": 0}, "bad id"),
        ({"id": -3}, "bad id"),
        ({"ns": ""}, "unknown ns"),
        ({"ns": "Food"}, "unknown ns"),
        ({"ns": "FOOD"}, "unknown ns"),
        ({"ns": "rocks"}, "unknown ns"),
        ({"header__frame_id": "map"}, "unknown frame"),
        ({"header__frame_id": "arm_1/base"}, "unknown frame"),
        ({"header__frame_id": "arm_1/tip"}, "unknown frame"),
        ({"header__frame_id": "arm_2/segment_1"}, "unknown frame"),
        ({"header__frame_id": "arm_3/segment_5"}, "unknown frame"),
        ({"header__frame_id": "arm_3/segment_0"}, "unknown frame"),
        ({"type": Marker.CUBE}, "bad type"),
        ({"type": Marker.ARROW}, "bad type"),
        ({"type": 99}, "bad type"),
        ({"action": 1}, "unknown action"),
        ({"action": -5}, "unknown action"),
        ({"lifetime__sec": -1}, "out of range"),
        ({"action": Marker.DELETE, "id": 0}, "bad id"),
        ({"action": Marker.DELETE, "ns": "x"}, "unknown ns"),
    ],
)
def test_a_bad_marker_rejects_the_whole_message(fields, cause):
    assert cause_of(make_marker(**fields)) == cause
    assert cause_of(make_marker(id=8), make_marker(**fields), make_marker(id=9)) == cause


def test_a_rejection_says_which_object_it_is_about():
    with pytest.raises(RejectedInput, match=r"objects: the radius of food 1 .*above 0"):
        object_from_marker("objects", make_marker(scale__x=-1.0, scale__y=-1.0))


@pytest.mark.parametrize("named", ["a food", "an obstacle", "a hazard"])
def test_a_rejection_has_the_article_that_a_reader_expects(named):
    with pytest.raises(RejectedInput, match=f"id of {named} must be at least 1"):
        object_from_marker("objects", make_marker(ns=named.split()[1], id=0))


def test_an_object_named_twice_rejects_the_message():
    assert cause_of(make_marker(), make_marker()) == "duplicate"
    assert cause_of(make_marker(), make_marker(action=Marker.DELETE)) == "duplicate"
    assert cause_of(make_marker(action=Marker.DELETE), make_marker()) == "duplicate"


def test_one_id_under_two_ns_rejects_the_message():
    assert cause_of(make_marker(), make_marker(ns="obstacle")) == "duplicate"


def test_an_object_may_change_its_kind_by_delete_and_add():
    message = make_message(make_marker(action=Marker.DELETE), make_marker(ns="obstacle"))
    changes = objects_from_markers("objects", message, ARMS, known={1: FOOD})
    assert [(change.action, change.kind) for change in changes] == [(DELETE, FOOD), (ADD, OBSTACLE)]


def test_an_id_that_another_kind_has_already_is_rejected():
    assert cause_of(make_marker(), known={1: HAZARD}) == "duplicate"
    wrong_delete = make_marker(action=Marker.DELETE, ns="obstacle")
    assert cause_of(wrong_delete, make_marker(), known={1: HAZARD}) == "duplicate"


def test_an_id_of_the_same_kind_and_one_freed_by_deleteall_are_taken():
    message = make_message(make_marker())
    assert objects_from_markers("objects", message, ARMS, known={1: FOOD, 2: HAZARD})
    message = make_message(Marker(action=Marker.DELETEALL), make_marker())
    assert objects_from_markers("objects", message, ARMS, known={1: HAZARD})


def test_known_kinds_are_not_changed_by_the_check():
    known = {1: FOOD}
    checked_kinds("objects", [ObjectChange(DELETE_ALL), ObjectChange(ADD, HAZARD, 1)], known)
    assert known == {1: FOOD}


# Grasps


def test_grasps_are_claims_and_letting_go():
    held = WorldObject(5, FOOD, (9.0, 9.0), 0.01, (1, 12), (0.01, -0.02))
    message = make_message(
        delete_all_marker("arm_3/base"),
        delete_all_marker(),
        delete_marker(FOOD, 2, (0.3, 0.4)),
        object_marker(held),
    )
    assert grasps_from_markers("grasps", received(message), ARMS) == [
        ObjectChange(DELETE_ALL, arm=3),
        ObjectChange(DELETE_ALL),
        ObjectChange(DELETE, FOOD, 2, (0.3, 0.4)),
        ObjectChange(ADD, FOOD, 5, (0.01, -0.02), 0.01, (1, 12)),
    ]


@pytest.mark.parametrize(
    ("marker", "cause"),
    [
        (make_marker(), "unknown frame"),
        (make_marker(header__frame_id="arm_1/segment_21"), "unknown frame"),
        (make_marker(action=Marker.DELETE, header__frame_id="arm_1/segment_1"), "unknown frame"),
        (make_marker(action=Marker.DELETE, pose__position__x=math.nan), "not finite"),
        (make_marker(action=Marker.DELETEALL, header__frame_id="arm_1"), "unknown frame"),
    ],
)
def test_a_bad_grasp_rejects_the_message(marker, cause):
    assert cause_of(marker, read=grasps_from_markers) == cause


def test_an_object_claimed_twice_rejects_the_message():
    one = make_marker(header__frame_id="arm_1/segment_2")
    other = make_marker(header__frame_id="arm_3/segment_2")
    assert cause_of(one, other, read=grasps_from_markers) == "duplicate"


# Writing


def test_an_object_is_written_as_the_interface_says():
    marker = received(object_marker(WorldObject(4, OBSTACLE, (1, 2), 1)))
    assert (marker.ns, marker.id, marker.type) == ("obstacle", 4, Marker.CYLINDER)
    assert marker.action == Marker.ADD
    assert marker.header.frame_id == "world"
    assert (marker.header.stamp.sec, marker.header.stamp.nanosec) == (0, 0)
    assert (marker.pose.position.x, marker.pose.position.y) == (1.0, 2.0)
    assert marker.pose.orientation.w == 1.0
    assert marker.scale.x == marker.scale.y == 2.0
    assert marker.scale.z > 0.0
    assert marker.color.a == 1.0
    assert not marker.frame_locked


def test_kinds_have_colours_of_their_own():
    colours = set()
    for kind in ObjectKind:
        colour = object_marker(WorldObject(1, kind, (0.0, 0.0), 1.0)).color
        colours.add((colour.r, colour.g, colour.b))
    assert len(colours) == 3


def test_a_held_object_is_locked_to_its_segment_at_the_offset():
    thing = WorldObject(1, FOOD, (9.0, 9.0), 0.01, (1, 12), (0.01, -0.02))
    marker = received(object_marker(thing))
    assert marker.header.frame_id == "arm_1/segment_12"
    assert (marker.pose.position.x, marker.pose.position.y) == (0.01, -0.02)
    assert marker.frame_locked


def told(message):
    """Give what the markers of a message say, briefly."""
    return [
        (change.action, change.number, change.position, change.holder)
        for change in objects_from_markers("objects", received(message), ARMS)
    ]


def test_a_message_holds_every_object_and_is_changed_in_place():
    builder = ObjectMarkers()
    one, two = WorldObject(1, FOOD, (0.0, 0.0), 0.01), WorldObject(2, HAZARD, (1.0, 0.0), 0.02)
    message = builder.fill([one, two])
    first, second = message.markers
    held = WorldObject(1, FOOD, (0.5, 0.5), 0.01, (1, 3), (0.01, 0.0))
    assert builder.fill([held, two]) is message
    assert message.markers[0] is first and message.markers[1] is second
    assert told(message) == [(ADD, 1, (0.01, 0.0), (1, 3)), (ADD, 2, (1.0, 0.0), None)]
    assert first.frame_locked
    builder.fill([one, two])
    assert told(message) == [(ADD, 1, (0.0, 0.0), None), (ADD, 2, (1.0, 0.0), None)]
    assert not first.frame_locked


def test_radius_and_kind_of_an_object_may_change():
    builder = ObjectMarkers()
    builder.fill([WorldObject(1, FOOD, (0.0, 0.0), 0.01)])
    builder.fill([WorldObject(1, FOOD, (0.0, 0.0), 0.03)])
    assert builder.message.markers[0].scale.x == 0.06
    builder.fill([WorldObject(1, HAZARD, (0.0, 0.0), 0.03)])
    changes = objects_from_markers("objects", received(builder.message), ARMS, known={1: FOOD})
    assert [(change.action, change.kind) for change in changes] == [(DELETE, FOOD), (ADD, HAZARD)]


def test_what_is_gone_is_deleted_for_a_while_and_then_forgotten():
    builder = ObjectMarkers()
    one, two = WorldObject(1, FOOD, (0.0, 0.0), 0.01), WorldObject(2, FOOD, (1.0, 0.0), 0.01)
    builder.fill([one, two])
    for _ in range(REPEATED_DELETES):
        assert [entry[:2] for entry in told(builder.fill([two]))] == [(DELETE, 1), (ADD, 2)]
    assert [entry[:2] for entry in told(builder.fill([two]))] == [(ADD, 2)]


def test_what_comes_back_is_not_deleted():
    builder = ObjectMarkers()
    one = WorldObject(1, FOOD, (0.0, 0.0), 0.01)
    builder.fill([one])
    builder.fill([])
    assert [entry[:2] for entry in told(builder.fill([one]))] == [(ADD, 1)]


def test_a_scene_may_start_by_clearing_what_was_known():
    builder = ObjectMarkers()
    one = WorldObject(1, FOOD, (0.0, 0.0), 0.01)
    cleared = told(builder.fill([one], clear_first=True))
    assert [entry[:2] for entry in cleared] == [(DELETE_ALL, None), (ADD, 1)]
    assert [entry[:2] for entry in told(builder.fill([one]))] == [(ADD, 1)]


def test_a_message_is_read_from_its_bytes_and_its_repetition_not_again(monkeypatch):
    reads = []

    def counted(*arguments):
        reads.append(arguments)
        return objects_from_markers(*arguments)

    monkeypatch.setattr(objects, "objects_from_markers", counted)
    reader = ObjectsReader()
    first = make_message(make_marker(), make_marker(id=2))
    second = make_message(make_marker(pose__position__x=0.3))
    for message, count in ((first, 1), (first, 1), (second, 2), (first, 3)):
        data = serialize_message(message)
        assert reader.read(data) == objects_from_markers("objects", message)
        assert len(reads) == count


def test_a_refused_message_is_refused_as_often_as_it_comes_and_the_one_before_stays_known():
    reader = ObjectsReader()
    good = serialize_message(make_message(make_marker()))
    bad = serialize_message(make_message(make_marker(scale__x=-1.0)))
    known = reader.read(good)
    for _ in range(2):
        with pytest.raises(RejectedInput):
            reader.read(bad)
    assert reader.read(good) == known
