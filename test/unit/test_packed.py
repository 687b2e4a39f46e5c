"""Messages that stay bytes are read as the messages they stand for."""

import math
import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("rclpy", reason="rclpy is not installed")

from geometry_msgs.msg import Point, PointStamped, PoseStamped
from nav_msgs.msg import Path
from rclpy.serialization import deserialize_message
from ros_messages import STAMP
from sensor_msgs.msg import JointState, PointCloud2
from std_msgs.msg import ColorRGBA, Float64, Header
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.ros.encoding import HEADER, encode_message
from octo_reach.ros.packed import PackedMessage, PackedPart, PackedSequence, StampView
from octo_reach.ros.packed_markers import PackedMarker, empty_points, marker_array

pytestmark = pytest.mark.ros

numbers = st.floats(allow_nan=False, width=64)
shares = st.floats(0.0, 1.0, width=32)
texts = st.text(string.ascii_letters + "µ ", max_size=20)


# ------------------------------------------------------------------------------- one message


@given(frame=texts, x=numbers, y=numbers, z=numbers)
def test_what_is_written_into_a_packed_message_is_read_from_it(frame, x, y, z):
    template = PointStamped(header=Header(frame_id=frame), point=Point(x=1.0, y=2.0, z=3.0))
    packed = PackedMessage(template)
    assert bytes(packed) == encode_message(template)
    packed.numbers("point")[:] = x, y, z
    StampView(packed).write(STAMP)
    wanted = PointStamped(header=Header(frame_id=frame, stamp=STAMP), point=Point(x=x, y=y, z=z))
    assert deserialize_message(bytes(packed), PointStamped) == wanted


@given(names=st.lists(texts, max_size=9), value=numbers)
def test_a_field_is_changed_and_nothing_beside_it(names, value):
    template = JointState(name=names)
    template.position = [float(place) for place in range(len(names))]
    template.velocity = [-1.5] * len(names)
    packed = PackedMessage(template)
    assert packed.numbers("position").tolist() == list(template.position)
    packed.numbers("velocity")[:] = value
    template.velocity = [value] * len(names)
    template.effort = []
    assert deserialize_message(bytes(packed), JointState) == template


def test_bytes_that_were_given_away_stay_as_they_were():
    packed = PackedMessage(Float64(data=1.0))
    before = bytes(packed)
    packed.numbers("data")[0] = 2.0
    assert deserialize_message(before, Float64).data == 1.0
    assert deserialize_message(bytes(packed), Float64).data == 2.0


def test_numbers_lie_as_the_bytes_say_whatever_the_machine():
    packed = PackedMessage(PointCloud2(width=258))
    width = packed.numbers("width")
    assert (width.dtype.str, width.shape, width.tolist()) == ("<u4", (1,), [258])
    assert packed.numbers("is_bigendian").tolist() == [False]


def test_what_is_no_field_of_numbers_is_refused_by_name():
    packed = PackedMessage(Marker(points=[Point()]))
    with pytest.raises(LookupError, match="'colour'"):
        packed.numbers("colour")
    with pytest.raises(TypeError, match="header"):
        packed.numbers("header")
    for path in ("text", "points"):
        with pytest.raises(TypeError, match="cannot be encoded as numbers"):
            packed.numbers(path)
    some = PackedPart(Marker(), fields=("pose", "scale"))
    with pytest.raises(LookupError, match="'id'"):
        some.numbers("id")


@settings(deadline=None)
@given(frame=texts, poses=st.lists(st.tuples(numbers, numbers), max_size=12))
def test_a_sequence_has_as_many_elements_as_are_asked_for(frame, poses):
    path = Path(header=Header(frame_id=frame))
    pose = PoseStamped(header=Header(frame_id="world"))
    pose.pose.orientation.w = 1.0
    head = PackedMessage(path, fields=("header",))
    if (head.size + (-head.size) % 4) % 8 == 0:
        # Behind the number of elements the first would begin in the middle of 8 bytes.
        with pytest.raises(ValueError, match="multiple of 8 bytes"):
            PackedSequence(pose, head.size, 12)
        return
    sequence = PackedSequence(pose, head.size, 12)
    places = sequence.numbers("pose.position")
    assert places.shape == (12, 3)
    for place, (x, y) in enumerate(poses):
        places[place, :2] = x, y
        element = PoseStamped(header=Header(frame_id="world"))
        element.pose.orientation.w = 1.0
        element.pose.position.x, element.pose.position.y = x, y
        path.poses.append(element)
    assert deserialize_message(bytes(head) + sequence.first(len(poses)), Path) == path


def test_elements_that_do_not_lie_alike_are_refused():
    with pytest.raises(ValueError, match="multiple of 8 bytes, Header takes 17"):
        PackedSequence(Header(frame_id="four"), 0, 3)


# ------------------------------------------------------------------------------- markers


@st.composite
def markers(draw):
    """A marker as it is encoded, and what is done to it then."""
    marker = Marker(ns=draw(texts), id=draw(st.integers(0, 2**31 - 1)), text=draw(texts))
    marker.header.frame_id = draw(texts)
    marker.header.stamp = STAMP
    marker.type = draw(st.integers(0, 11))
    marker.pose.position.z = draw(numbers)
    marker.pose.orientation.w = draw(numbers)
    marker.scale.x = draw(numbers)
    marker.color.a = draw(shares)
    marker.frame_locked = draw(st.booleans())
    marker.mesh_resource = draw(texts)
    points = draw(st.lists(st.tuples(numbers, numbers, numbers), max_size=4))
    colours = draw(st.lists(st.tuples(shares, shares, shares, shares), max_size=4))
    return (
        marker,
        points,
        colours,
        draw(st.booleans()),
        draw(texts),
        draw(st.tuples(shares, numbers)),
    )


@settings(deadline=None, max_examples=60)
@given(st.lists(markers(), max_size=6))
def test_an_array_of_packed_markers_is_read_as_the_markers(drawn):
    packed = []
    for marker, points, colours, shown, text, (share, x) in drawn:
        one = PackedMarker(marker)
        place = empty_points(len(points))
        one.draw(place, np.array(colours, dtype="<f4").reshape(-1, 4))
        place[:] = np.array(points).reshape(-1, 3)
        one.show(shown)
        one.move(x, -x)
        one.paint((share, 0.5, 0.25))
        one.write(text)
        packed.append(one)
        marker.action = Marker.ADD if shown else Marker.DELETE
        marker.pose.position.x, marker.pose.position.y = x, -x
        marker.color.r, marker.color.g, marker.color.b = share, 0.5, 0.25
        marker.text = text
        marker.points = [Point(x=x, y=y, z=z) for x, y, z in points]
        marker.colors = [ColorRGBA(r=r, g=g, b=b, a=a) for r, g, b, a in colours]
    wanted = MarkerArray(markers=[marker for marker, *_ in drawn])
    data = marker_array(packed)
    assert deserialize_message(data, MarkerArray) == wanted
    assert data == encode_message(wanted)


def test_a_marker_is_the_same_wherever_in_the_message_it_comes_to_lie():
    last = PackedMarker(Marker(ns="last", id=7))
    last.draw(empty_points(2))
    for length in range(9):
        first = PackedMarker(Marker(ns="n" * length))
        last.move(length, math.pi)
        _, read = deserialize_message(marker_array([first, last]), MarkerArray).markers
        assert (read.ns, read.id, len(read.points)) == ("last", 7, 2)
        assert (read.pose.position.x, read.pose.position.y) == (length, math.pi)


def test_no_markers_are_an_empty_array():
    assert marker_array([]) == HEADER + bytes(4)
