"""What is published as bytes reaches a subscriber as the message it stands for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from geometry_msgs.msg import Point, PointStamped
from nav_msgs.msg import Path
from sensor_msgs.msg import JointState, PointCloud2
from std_msgs.msg import Float64
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind
from octo_reach.nodes.topic_listener import topics_of
from octo_reach.ros.contacts import ContactCloudBuilder, contacts_from_cloud
from octo_reach.ros.encoding import encode_message
from octo_reach.ros.frames import joint_names
from octo_reach.ros.joint_states import JointStateBuilder
from octo_reach.ros.markers import ArmMarkers
from octo_reach.ros.packed_markers import PackedMarker, empty_points, marker_array
from octo_reach.ros.plain_messages import stamp
from octo_reach.ros.targets import TipBuilder, TipErrorBuilder
from octo_reach.ros.trails import TipTrail

STEP = 1.0 / 120.0


@pytest.fixture
def hears(probe):
    """Publishes bytes, and gives what a subscriber gets."""

    def hear(kind, data):
        publisher = probe.publisher(kind, f"said_as_{kind.__name__}")
        recorder = probe.listen(kind, f"said_as_{kind.__name__}")
        probe.wait_until(publisher.get_subscription_count, "a subscriber of the bytes")
        recorder.clear()
        publisher.publish(data)
        return recorder.wait_for()

    return hear


def test_what_a_controller_says_of_every_step_arrives_as_it_is(hears):
    octopus = Octopus(
        [ArmPlacement(n, ArmParameters(5, 0.02), (n, 0.0), 0.0, (n, 0.1)) for n in (1, 2)],
        ReachRules.metre(),
    )
    arm = octopus.arm(2)
    octopus.add_object(ObjectKind.HAZARD, arm.joints[2].tolist(), 0.05)
    trail = TipTrail()
    way = []
    for _ in range(20):
        octopus.step(STEP)
        trail.note(arm.tip.tolist(), arm.parameters.reach)
        way.append(tuple(arm.tip.tolist()))
    now = stamp(1_500_000_000)
    tip = hears(PointStamped, TipBuilder().fill(arm.tip, now))
    assert (tip.header.frame_id, tip.header.stamp) == ("world", now)
    assert (tip.point.x, tip.point.y, tip.point.z) == (*way[-1], 0.0)
    assert hears(Float64, TipErrorBuilder().fill(arm.tip_error)).data == arm.tip_error
    path = hears(Path, trail.fill(now))
    assert (path.header.frame_id, path.header.stamp) == ("world", now)
    places = [(pose.pose.position.x, pose.pose.position.y) for pose in path.poses]
    assert len(places) > 2
    assert places[-1] == way[-1]
    assert set(places) <= set(way)
    joints = hears(JointState, JointStateBuilder().fill(octopus, now, STEP))
    assert joints.header.stamp == now
    assert joints.name == [*joint_names(1, 5), *joint_names(2, 5)]
    assert joints.position[5:].tolist() == arm.angles.tolist()
    assert len(octopus.contacts) > 0
    cloud = hears(PointCloud2, ContactCloudBuilder().fill(octopus.contacts, now))
    assert cloud.header.stamp == now
    assert cloud.is_dense
    contacts = contacts_from_cloud(cloud)
    np.testing.assert_array_equal(contacts["segment"], octopus.contacts.segments)
    drawing = hears(MarkerArray, ArmMarkers().fill(octopus, anew=True))
    markers = {(marker.ns, marker.id): marker for marker in drawing.markers}
    assert len(markers) == len(drawing.markers)
    for other in octopus.arms:
        strip = markers["arm", other.number]
        points = [(point.x, point.y, point.z) for point in strip.points]
        np.testing.assert_array_equal(points, [(x, y, 0.0) for x, y in other.joints.tolist()])


def test_markers_of_every_length_arrive_equal(hears):
    wanted, packed = [], []
    for place in range(12):
        marker = Marker(ns="n" * place, id=place, text="t" * (place * 5 % 7))
        one = PackedMarker(marker)
        one.draw(empty_points(place % 3))
        one.points[:, :2] = place, math.pi
        packed.append(one)
        marker.points = [Point(x=float(place), y=math.pi) for _ in range(place % 3)]
        wanted.append(marker)
    assert hears(MarkerArray, marker_array(packed)) == MarkerArray(markers=wanted)
    assert hears(MarkerArray, encode_message(MarkerArray(markers=wanted))).markers == wanted


def test_the_listener_of_the_benchmark_hears_every_topic_of_a_controller(start, probe, namespace):
    start("reach_controller", ready="ready: ")
    probe.wait_until(
        lambda: ("reach_controller", namespace) in probe.node.get_node_names_and_namespaces(),
        "the controller is known by name",
    )
    names = probe.node.get_publisher_names_and_types_by_node("reach_controller", namespace)
    said = {
        name.removeprefix(f"{namespace}/"): kinds
        for name, kinds in names
        if not name.endswith(("/rosout", "/parameter_events", "_service_event"))
    }
    assert said == {
        topic: [f"{kind.__module__.split('.')[0]}/msg/{kind.__name__}"]
        for topic, kind in topics_of(1).items()
    }
