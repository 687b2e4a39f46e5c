"""The reach controller as others see it: real processes, real topics."""

from __future__ import annotations

import itertools
import math
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PointStamped, PoseStamped
from harness import status_values
from nav_msgs.msg import Path
from rcl_interfaces.srv import DescribeParameters, ListParameters
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from sensor_msgs.msg import JointState, PointCloud2
from stage import (
    FOOD,
    HAZARD,
    NOTHING_DROPPED,
    OBSTACLE,
    REACH,
    SEGMENTS,
    SPEED,
    Stage,
    angles_of,
    base_of,
    closest_point,
    joints_of,
    speed_of,
    stamp_of,
    tip_of,
)
from std_msgs.msg import Float64, String
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.model.compilation import COMPILED
from octo_reach.planners import PLANNERS
from octo_reach.ros.contacts import contacts_from_cloud
from octo_reach.ros.description import arms_from_description
from octo_reach.ros.frames import arm_name, joint_names, position_in_world
from octo_reach.ros.objects import (
    ADD,
    DELETE,
    WorldObject,
    delete_all_marker,
    grasps_from_markers,
)
from octo_reach.ros.quality_of_service import LATCHED, OBJECTS
from octo_reach.ros.states import arm_reports
from octo_reach.ros.targets import target_message

PERIOD = 1.0 / 120.0
CONTROLLER = "reach_controller"
ARMS = (1, 3)
TESTS = itertools.count(1)

PUBLISHED = {
    "joint_states": "sensor_msgs/msg/JointState",
    "contacts": "sensor_msgs/msg/PointCloud2",
    "grasps": "visualization_msgs/msg/MarkerArray",
    "arm_states": "diagnostic_msgs/msg/DiagnosticArray",
    "markers": "visualization_msgs/msg/MarkerArray",
    "robot_description": "std_msgs/msg/String",
    "/diagnostics": "diagnostic_msgs/msg/DiagnosticArray",
    **{
        f"{arm_name(arm)}/{topic}": kind
        for arm in ARMS
        for topic, kind in (
            ("tip", "geometry_msgs/msg/PointStamped"),
            ("tip_error", "std_msgs/msg/Float64"),
            ("trail", "nav_msgs/msg/Path"),
        )
    },
}
SUBSCRIBED = {
    "objects": "visualization_msgs/msg/MarkerArray",
    **{
        f"{arm_name(arm)}/{topic}": kind
        for arm in ARMS
        for topic, kind in (
            ("target", "geometry_msgs/msg/PointStamped"),
            ("target_pose", "geometry_msgs/msg/PoseStamped"),
            ("joint_proposal", "sensor_msgs/msg/JointState"),
            ("joint_trajectory", "trajectory_msgs/msg/JointTrajectory"),
        )
    },
}
SERVED = {
    "reach_controller/pause": "std_srvs/srv/SetBool",
    "reach_controller/step": "std_srvs/srv/Trigger",
    "reach_controller/reset": "std_srvs/srv/Trigger",
    **{
        f"{arm_name(arm)}/{action}": "std_srvs/srv/Trigger"
        for arm in ARMS
        for action in ("idle", "release", "retract", "reset")
    },
}
LATCHED_TOPICS = {"grasps", "arm_states", "robot_description"}


@pytest.fixture(scope="module")
def running(shared_stage) -> Stage:
    """A stage with a controller of arms 1 and 3, in a namespace of two levels."""
    shared_stage.controller(
        shared_stage.write_scene(ARMS, target=(0.05, 0.15)), catch_up=NOTHING_DROPPED
    )
    node = shared_stage.probe.node
    # What a node offers is told by another topic than what it says.
    shared_stage.probe.wait_until(
        lambda: (CONTROLLER, node.get_namespace()) in node.get_node_names_and_namespaces(),
        "the controller is known by name",
    )
    return shared_stage


@pytest.fixture
def arms(running) -> Stage:
    """The same, with the arms in their starting poses on their way to (0.05, 0.15)."""
    probe = running.probe
    probe.set_flag("reach_controller/pause", False)
    for result in probe.set_parameters(CONTROLLER, planner="neighbour", turning_speed=SPEED):
        assert result.successful, result.reason
    probe.send("objects", MarkerArray(markers=[delete_all_marker()]), qos=LATCHED)
    probe.trigger("reach_controller/reset")
    # No two tests have the same target, so that what is heard of it is not of the test before.
    up = 0.15 + 1e-6 * next(TESTS)
    for arm in ARMS:
        running.send(arm, base_of(arm)[0] + 0.05, up)
    for arm in ARMS:
        running.wait_for_target(base_of(arm)[0] + 0.05, up, arm)
    return running


def bare(name: str) -> str:
    return name.rsplit("/", 1)[-1]


# Topics


def test_publishes_the_topics_of_the_interface_with_their_types_and_qualities(running):
    node = running.probe.node
    published = dict(node.get_publisher_names_and_types_by_node(CONTROLLER, node.get_namespace()))
    expected = {node.resolve_topic_name(name): [kind] for name, kind in PUBLISHED.items()}
    others = {name for name in published if bare(name) in ("rosout", "parameter_events")}
    assert {name: published[name] for name in published.keys() - others} == expected
    for name in expected:
        mine = [
            info
            for info in node.get_publishers_info_by_topic(name)
            if (info.node_name, info.node_namespace) == (CONTROLLER, node.get_namespace())
        ]
        assert len(mine) == 1, name
        latched = bare(name) in LATCHED_TOPICS
        quality = mine[0].qos_profile
        assert quality.reliability is ReliabilityPolicy.RELIABLE, name
        assert (quality.durability is DurabilityPolicy.TRANSIENT_LOCAL) is latched, name


def test_hears_the_topics_of_the_interface_with_their_types_and_qualities(running):
    node = running.probe.node
    heard = dict(node.get_subscriber_names_and_types_by_node(CONTROLLER, node.get_namespace()))
    expected = {node.resolve_topic_name(name): [kind] for name, kind in SUBSCRIBED.items()}
    others = {name for name in heard if bare(name) in ("rosout", "parameter_events", "clock")}
    assert {name: heard[name] for name in heard.keys() - others} == expected
    for name in expected:
        mine = [
            info
            for info in node.get_subscriptions_info_by_topic(name)
            if (info.node_name, info.node_namespace) == (CONTROLLER, node.get_namespace())
        ]
        assert mine, name
        latched = bare(name) == "objects"
        quality = mine[0].qos_profile
        assert quality.reliability is ReliabilityPolicy.RELIABLE, name
        assert (quality.durability is DurabilityPolicy.TRANSIENT_LOCAL) is latched, name


def test_serves_the_services_of_the_interface(running):
    node = running.probe.node
    served = dict(node.get_service_names_and_types_by_node(CONTROLLER, node.get_namespace()))
    for name, kind in SERVED.items():
        assert served[f"{node.get_namespace()}/{name}"] == [kind]
    parameter_services = {
        f"{node.get_namespace()}/{CONTROLLER}/{name}"
        for name in (
            "describe_parameters",
            "get_parameter_types",
            "get_parameters",
            "get_type_description",
            "list_parameters",
            "set_parameters",
            "set_parameters_atomically",
        )
    }
    own = {f"{node.get_namespace()}/{name}" for name in SERVED}
    assert served.keys() - own <= parameter_services


def test_joint_states_name_every_joint_in_order_and_skip_no_step(arms):
    heard = arms.joint_states
    heard.clear()
    heard.wait_for_next(60)
    names = [name for arm in ARMS for name in joint_names(arm, SEGMENTS)]
    for message in heard.messages:
        assert list(message.name) == names
        assert len(message.position) == len(message.velocity) == len(names)
        assert len(message.effort) == 0
    stamps = [stamp_of(message) for message in heard.messages]
    # Stamps are the deadlines, so no gap is anything but a period, to the nanosecond.
    assert set(np.diff(stamps)) <= {8_333_333, 8_333_334}


def test_everything_comes_at_its_rate(arms):
    for arm in ARMS:
        arms.probe.trigger(f"arm_{arm}/idle")
    for arm in ARMS:
        arms.wait_for_state("Idle", arm)
    markers = arms.probe.listen(MarkerArray, "markers")
    markers.wait_for()
    heard = {
        "joint_states": (arms.joint_states, 120.0),
        "markers": (markers, 30.0),
        "arm_states": (arms.states, 2.0),
    }
    for recorder in (arms.joint_states, markers, arms.states, arms.diagnostics):
        recorder.clear()
    begun = time.monotonic()
    arms.states.wait_for_next(4)
    passed = time.monotonic() - begun
    for topic, (recorder, rate) in heard.items():
        # The median: a machine that halts for a moment makes one gap long, and the next short.
        assert np.median(np.diff(recorder.times)) == pytest.approx(1.0 / rate, rel=0.25), topic
    assert 1 <= arms.diagnostics.count <= passed + 1.5
    values = arms.wait_for_diagnostics(
        lambda values: math.isclose(float(values["rate (Hz)"]), 120.0, abs_tol=12.0), "its rate"
    )
    assert float(values["wanted rate (Hz)"]) == 120.0
    assert int(values["steps"]) > 0
    assert float(values["worst step (ms)"]) > 0.0
    assert int(values["missed steps"]) >= 0
    assert values["paused"] == "no"
    assert {"rejected inputs", "object feed age (s)", "dropped time (s)"} <= values.keys()
    arms.probe.stop_listening(markers)


def test_markers_draw_every_arm_in_the_world(arms):
    markers = arms.probe.listen(MarkerArray, "markers")
    message = markers.wait_for()
    drawn = {(marker.ns, marker.id) for marker in message.markers}
    for arm in ARMS:
        assert {("arm", arm), ("target", arm), ("requests", arm), ("clearance", arm)} <= drawn
        (ellipse,) = (m for m in message.markers if (m.ns, m.id) == ("manipulability", arm))
        assert ellipse.action == Marker.ADD
    assert {marker.header.frame_id for marker in message.markers} == {"world"}
    arms.probe.stop_listening(markers)


def test_arm_states_come_when_something_changes_and_tell_everything(arms):
    begun = time.monotonic()
    for count in range(4):
        arms.send(1, 0.05, 0.1 + 0.01 * count)
        arms.wait_for_target(0.05, 0.1 + 0.01 * count)
    # Waiting for the next report of two a second would take longer.
    assert time.monotonic() - begun < 1.2
    report = arms.wait_for_state("Reached")
    assert report.tip_error <= 0.002
    assert report.object is None
    assert report.dwell == 0.0
    assert report.planner == "neighbour"
    assert report.updates > 0
    assert not report.warns


def test_velocities_are_the_change_over_the_last_step(arms):
    heard = arms.joint_states
    arms.probe.trigger("reach_controller/reset")
    heard.clear()
    heard.wait_for_next(60)
    messages = list(heard.messages)
    checked = 0
    for before, after in itertools.pairwise(messages):
        turns = np.array(after.position) - np.array(before.position)
        turns = (turns + math.pi) % (2 * math.pi) - math.pi
        if np.abs(turns).max() > SPEED * PERIOD * 1.001:
            continue  # the reset itself
        assert np.array(after.velocity) == pytest.approx(turns / PERIOD, abs=1e-6)
        checked += np.abs(turns).max() > 1e-4
    assert checked > 20


def test_stamps_are_not_ahead_of_the_clock(arms):
    heard = arms.joint_states
    clock = arms.probe.node.get_clock()
    for _ in range(30):
        message = heard.wait_for_next()
        assert 0 <= clock.now().nanoseconds - stamp_of(message) < 500_000_000


def test_a_tip_comes_every_step_and_is_where_the_joints_put_it(arms):
    tips = arms.probe.listen(PointStamped, "arm_3/tip")
    tips.wait_for_next()
    heard = arms.joint_states
    heard.clear()
    tips.clear()
    heard.wait_for_next(30)
    tips.wait_for_next()
    by_stamp = {stamp_of(message): message for message in heard.messages}
    shared = [tip for tip in tips.messages if stamp_of(tip) in by_stamp]
    assert len(shared) > 20
    for tip in shared:
        x, y = tip_of(by_stamp[stamp_of(tip)], 3)
        assert (tip.point.x, tip.point.y) == pytest.approx((x, y), abs=1e-9)
        assert tip.point.z == 0.0
        assert tip.header.frame_id == "world"
    arms.probe.stop_listening(tips)


def test_a_tip_error_comes_every_step_as_a_plain_number(arms):
    errors = arms.probe.listen(Float64, "arm_3/tip_error")
    errors.wait_for_next()
    heard = arms.joint_states
    heard.clear()
    errors.clear()
    heard.wait_for_next(30)
    errors.wait_for_next()
    target = arms.report(3).target
    distances = [math.dist(tip_of(message, 3), target) for message in heard.messages]
    # Of the same steps, but for one or two at either end.
    matched = [
        error.data
        for error in errors.messages
        if any(error.data == pytest.approx(distance, abs=2e-6) for distance in distances)
    ]
    assert len(matched) > 20
    arms.probe.stop_listening(errors)


def points_of(path):
    return [(pose.pose.position.x, pose.pose.position.y) for pose in path.poses]


def test_a_trail_follows_the_tip_until_a_reset(arms):
    trail = arms.probe.listen(Path, "arm_1/trail")
    arms.wait_for_state("Reached")
    arms.send(1, -0.1, 0.1)
    arms.wait_for_target(-0.1, 0.1)
    arms.wait_for_state("Reached")
    path = trail.wait_until_latest(
        lambda path: path.poses and math.dist(points_of(path)[-1], (-0.1, 0.1)) < 0.003,
        "a trail to the target",
    )
    assert path.header.frame_id == "world"
    assert len(path.poses) > 10
    assert all(pose.pose.orientation.w == 1.0 for pose in path.poses)
    steps = [math.dist(*pair) for pair in itertools.pairwise(points_of(path))]
    assert max(steps) < 0.1 * REACH
    arms.probe.set_flag("reach_controller/pause", True)
    arms.still_joint_states()
    trail.clear()
    arms.probe.trigger("arm_1/reset")
    trail.wait_for(lambda path: not path.poses, "no trail any more")
    arms.probe.stop_listening(trail)


def test_whoever_is_new_to_the_markers_hears_all_of_them_and_to_clear_those_before(arms):
    first = arms.probe.listen(MarkerArray, "markers")
    message = first.wait_for()
    assert message.markers[0].action == Marker.DELETEALL
    assert {"ground", "legend", "arm"} <= {marker.ns for marker in message.markers}
    first.clear()
    second = arms.probe.listen(MarkerArray, "markers")
    second.wait_for(
        lambda message: message.markers[0].action == Marker.DELETEALL, "all of them once more"
    )
    first.wait_until_latest(
        lambda message: message.markers[0].action != Marker.DELETEALL, "changes only again"
    )
    arms.probe.stop_listening(first)
    arms.probe.stop_listening(second)


def test_diagnostics_tell_of_every_arm_beside_the_node(arms):
    arms.probe.trigger("arm_1/idle")
    arms.send(3, base_of(3)[0] + 9.0, 0.0)
    arms.wait_for_state("Idle", 1)
    arms.wait_for_state("Beyond reach", 3)
    name = f"{arms.start.namespace}/{CONTROLLER}"
    arms.diagnostics.clear()
    message = arms.diagnostics.wait_for(
        lambda message: message.status[0].name == name and len(message.status) > 1, "of the node"
    )
    _, *rest = message.status
    assert [(s.name, s.hardware_id, s.message, s.level) for s in rest] == [
        (f"{name}: arm_1", "arm_1", "Idle", DiagnosticStatus.OK),
        (f"{name}: arm_3", "arm_3", "Beyond reach", DiagnosticStatus.WARN),
    ]


def test_arm_states_find_a_late_joiner(arms):
    late = arms.probe.listen_latched(DiagnosticArray, "arm_states")
    message = late.wait_for()
    assert [status.name for status in message.status] == ["arm_1", "arm_3"]
    assert {value.key for value in message.status[0].values} >= {
        "target",
        "tip error",
        "object",
        "dwell",
        "planner",
        "updates",
    }
    arms.probe.stop_listening(late)


# Targets


def test_a_target_changes_where_the_arm_goes(arms):
    arms.send(1, 0.15, 0.1)
    arms.wait_for_target(0.15, 0.1)
    arms.wait_for_state("Reached")
    assert math.dist(tip_of(arms.fresh_joint_states(), 1), (0.15, 0.1)) <= 0.0021
    arms.send(1, -0.1, 0.15)
    arms.wait_for_target(-0.1, 0.15)
    arms.wait_for_state("Reached")
    assert math.dist(tip_of(arms.fresh_joint_states(), 1), (-0.1, 0.15)) <= 0.0021
    # The other one has not been sent anywhere.
    x, y = base_of(3)
    assert arms.report(3).target == pytest.approx((x + 0.05, y + 0.15), abs=1e-3)


def test_a_target_pose_does_the_same_for_its_arm(arms):
    x, y = base_of(3)
    message = PoseStamped()
    message.header.frame_id = "world"
    message.pose.position.x, message.pose.position.y = x - 0.1, y + 0.12
    message.pose.position.z = 7.0
    arms.probe.send("arm_3/target_pose", message)
    arms.wait_for_target(x - 0.1, y + 0.12, 3)
    arms.wait_for_state("Reached", 3)
    assert math.dist(tip_of(arms.fresh_joint_states(), 3), (x - 0.1, y + 0.12)) <= 0.0021


def test_an_empty_frame_is_the_world_and_z_is_ignored(arms):
    message = PointStamped()
    message.point.x, message.point.y, message.point.z = -0.1, 0.1, math.nan
    arms.probe.send("arm_1/target", message)
    arms.wait_for_target(-0.1, 0.1)


def test_a_target_out_of_reach_is_said_to_be_and_the_arm_stretches_towards_it(arms):
    arms.send(1, 2.0 * REACH, 0.1)
    report = arms.wait_for_state("Beyond reach")
    assert report.warns


# Objects


def test_an_obstacle_added_by_a_message_is_avoided(arms):
    arms.probe.trigger("arm_1/idle")
    arms.probe.trigger("arm_1/reset")
    obstacle = WorldObject(4, OBSTACLE, (0.05, 0.1), 0.01)
    arms.place(obstacle)
    heard = arms.joint_states
    heard.clear()
    arms.send(1, 0.15, 0.1)
    arms.wait_for_state("Avoiding")
    arms.wait_for_state("Reached")
    for message in heard.messages:
        joints = joints_of(angles_of(message, 1), base_of(1))
        for start, end in itertools.pairwise(joints):
            point = closest_point(start, end, obstacle.position)
            assert math.dist(point, obstacle.position) >= obstacle.radius + 0.003 - 1e-6


def test_contacts_are_points_where_segments_touch_objects(arms):
    clouds = arms.probe.listen(PointCloud2, "contacts")
    clouds.wait_for()
    arms.probe.trigger("reach_controller/reset")
    arms.probe.set_flag("reach_controller/pause", True)
    state = arms.still_joint_states()
    joints = {arm: joints_of(angles_of(state, arm), base_of(arm)) for arm in ARMS}
    things = [
        WorldObject(4, HAZARD, (joints[1][7][0] + 0.004, joints[1][7][1]), 0.01),
        WorldObject(9, OBSTACLE, (joints[3][3][0] - 0.005, joints[3][3][1] + 0.002), 0.008),
    ]
    arms.place(*things)
    while True:
        clouds.clear()
        arms.probe.trigger("reach_controller/step")
        cloud = clouds.wait_for()
        if cloud.width:
            break
    assert [(field.name, field.offset, field.datatype) for field in cloud.fields] == [
        ("x", 0, 7),
        ("y", 4, 7),
        ("z", 8, 7),
        ("distance", 12, 7),
        ("arm", 16, 6),
        ("segment", 20, 6),
        ("object", 24, 6),
        ("kind", 28, 6),
    ]
    assert cloud.header.frame_id == "world"
    state = arms.joint_states.latest
    joints = {arm: joints_of(angles_of(state, arm), base_of(arm)) for arm in ARMS}
    expected = []
    for arm in ARMS:
        for segment in range(1, SEGMENTS + 1):
            for thing in things:
                ends = joints[arm][segment - 1], joints[arm][segment]
                x, y = closest_point(*ends, thing.position)
                gap = math.dist((x, y), thing.position) - thing.radius
                if gap <= 0.003:
                    expected.append((x, y, 0.0, gap, arm, segment, thing.number, thing.kind))
    assert len(expected) >= 4
    points = contacts_from_cloud(cloud)
    assert [tuple(point)[4:] for point in points.tolist()] == [row[4:] for row in expected]
    got = [tuple(point)[:4] for point in points.tolist()]
    assert np.array(got) == pytest.approx(np.array([row[:4] for row in expected]), abs=1e-6)
    arms.probe.send("objects", MarkerArray(markers=[delete_all_marker()]), qos=LATCHED)
    arms.probe.set_flag("reach_controller/pause", False)
    empty = clouds.wait_for(lambda cloud: cloud.width == 0, "an empty cloud")
    assert len(empty.data) == 0
    arms.probe.stop_listening(clouds)


def test_a_grasp_is_claimed_in_the_frame_of_the_segment_and_a_release_says_so(arms):
    grasps = arms.probe.listen(MarkerArray, "grasps", OBJECTS)
    arms.send(1, 0.1, 0.12)
    arms.wait_for_state("Reached")
    arms.probe.trigger("arm_1/idle")
    x, y = tip_of(arms.fresh_joint_states(), 1)
    arms.place(WorldObject(7, FOOD, (x, y), 0.012))
    arms.send(1, -0.1, 0.1)
    arms.wait_for_state("Grasping")
    report = arms.wait_for_report(lambda report: report.object == 7, "holds the food")
    assert report.state == "Holding"
    message = grasps.wait_for(lambda message: any(m.action == Marker.ADD for m in message.markers))
    (claim,) = grasps_from_markers("grasps", message)
    assert (claim.action, claim.kind, claim.number, claim.radius) == (ADD, FOOD, 7, 0.012)
    assert claim.holder is not None and claim.holder[0] == 1
    (marker,) = message.markers
    assert marker.frame_locked and marker.color.a == 1.0
    assert marker.header.frame_id == f"arm_1/segment_{claim.holder[1]}"
    # The offset puts the object where it is, seen from that segment.
    angles = angles_of(arms.fresh_joint_states(), 1)
    segment = claim.holder[1]
    origin = joints_of(angles, base_of(1))[segment]
    there = position_in_world(claim.position, origin, sum(angles[:segment]))
    assert there == pytest.approx((x, y), abs=1e-6)
    late = arms.probe.listen_latched(MarkerArray, "grasps")
    assert late.wait_for().markers[0].id == 7
    arms.probe.stop_listening(late)
    # It carries, retracts and lets go.
    arms.send(1, -0.1, 0.1)
    arms.wait_for_state("Carrying")
    since = arms.states.count
    answer = arms.probe.trigger("arm_1/retract")
    assert answer.success and answer.message == "arm_1 retracts"
    arms.wait_for_state("Retracting", since=since)
    answer = arms.probe.trigger("arm_1/release")
    assert answer.success
    assert answer.message == "arm_1 has let go of object 7 and is idle"
    message = grasps.wait_for(lambda m: any(marker.action == Marker.DELETE for marker in m.markers))
    (release,) = grasps_from_markers("grasps", message)
    assert (release.action, release.kind, release.number) == (DELETE, FOOD, 7)
    angles = angles_of(arms.fresh_joint_states(), 1)
    origin = joints_of(angles, base_of(1))[segment]
    there = position_in_world(claim.position, origin, sum(angles[:segment]))
    assert release.position == pytest.approx(there, abs=1e-6)
    answer = arms.probe.trigger("arm_1/release")
    assert answer.success
    assert answer.message == "arm_1 held nothing and is idle"
    answer = arms.probe.trigger("arm_1/retract")
    assert not answer.success
    assert answer.message == "arm_1 holds nothing to retract with"
    arms.probe.stop_listening(grasps)


def test_a_refused_claim_makes_the_arm_let_go_and_say_so(arms):
    arms.probe.trigger("arm_3/idle")
    x, y = tip_of(arms.fresh_joint_states(), 3)
    food = WorldObject(8, FOOD, (x, y), 0.012)
    arms.place(food)
    base_x, base_y = base_of(3)
    since = arms.states.count
    arms.send(3, base_x - 0.1, base_y + 0.1)
    arms.wait_for_report(lambda report: report.object == 8, "holds the food", 3, since)

    # Nobody grants it: the object is reported to lie where it was, as if nothing had been said.
    def has_let_go():
        arms.place(food)
        arms.probe.spin_for(0.02)
        return arms.report(3).object is None

    arms.probe.wait_until(has_let_go, "arm 3 lets go")
    held = [m for m in arms.states.messages if arm_reports(m)[3].object == 8]
    free = [m for m in arms.states.messages if stamp_of(m) > stamp_of(held[-1])]
    # The answer counts after the grace, and not before. Stamps may be late by a tenth of a second.
    assert 0.14e9 < stamp_of(free[0]) - stamp_of(held[0]) < 2e9
    assert arms.report(3).state in ("Idle", "Contact")
    grasps = arms.probe.listen_latched(MarkerArray, "grasps")
    released = {(m.action, m.ns, m.id) for m in grasps.wait_for().markers}
    assert (Marker.DELETE, "food", 8) in released
    arms.probe.stop_listening(grasps)


# Services


def test_a_pause_stops_the_arms_and_they_say_that_they_are_still_there(arms):
    answer = arms.probe.set_flag("reach_controller/pause", True)
    assert answer.success and answer.message == "paused"
    heard = arms.joint_states
    first = arms.still_joint_states()
    heard.wait_for_next(4)
    last = heard.latest
    assert list(last.position) == list(first.position)
    assert set(last.velocity) == {0.0}
    # The stamp stands still as well: whoever counts time by stamps pauses too.
    assert stamp_of(last) == stamp_of(first)
    values = arms.wait_for_diagnostics(lambda values: values["paused"] == "yes", "paused")
    assert float(values["dropped time (s)"]) == pytest.approx(0.0, abs=0.5)
    before = values["dropped time (s)"]
    answer = arms.probe.set_flag("reach_controller/pause", False)
    assert answer.success and answer.message == "running"
    arms.wait_for_state("Reached")
    # The time that was paused is not caught up, nor dropped.
    values = arms.wait_for_diagnostics(lambda values: values["paused"] == "no", "running")
    assert values["dropped time (s)"] == before


def test_a_step_is_one_step_and_only_while_paused(arms):
    answer = arms.probe.trigger("reach_controller/step")
    assert not answer.success
    assert answer.message == "not paused: steps are taken as time goes by"
    arms.probe.set_flag("reach_controller/pause", True)
    heard = arms.joint_states
    before = arms.still_joint_states()
    arms.send(1, -0.15, 0.05)
    arms.wait_for_target(-0.15, 0.05)
    taken = []
    for _ in range(5):
        stamp = stamp_of(heard.latest)
        answer = arms.probe.trigger("reach_controller/step")
        assert answer.success
        taken.append(int(re.fullmatch(r"step (\d+) taken", answer.message)[1]))
        arms.probe.wait_until(lambda s=stamp: stamp_of(heard.latest) > s, "the step's message")
    assert taken == list(range(taken[0], taken[0] + 5))
    turns = np.abs(np.array(heard.latest.position) - np.array(before.position))
    # At rest or under way, wherever an earlier test has left the arms: never more than five steps.
    assert turns.max() <= 5 * SPEED * PERIOD + 1e-9


def test_a_reset_lets_every_arm_start_over_paused_or_not(arms):
    starting = [math.pi / 2] + [-0.06] * (SEGMENTS - 1)
    arms.wait_for_state("Reached")
    arms.send(1, 0.1, 0.12)
    arms.wait_for_target(0.1, 0.12)
    arms.probe.trigger("arm_3/idle")
    arms.probe.set_flag("reach_controller/pause", True)
    answer = arms.probe.trigger("reach_controller/reset")
    assert answer.success and answer.message == "2 arms start over"
    for arm in ARMS:
        arms.joint_states.wait_for(
            lambda message, arm=arm: np.allclose(np.abs(angles_of(message, arm)), np.abs(starting)),
            "the starting pose",
        )
    arms.probe.set_flag("reach_controller/pause", False)
    # The targets of the scene come back, those sent since are forgotten.
    for arm in ARMS:
        report = arms.wait_for_state("Reached", arm)
        expected = (base_of(arm)[0] + 0.05, 0.15)
        assert report.target == pytest.approx(expected, abs=1e-9)


def test_one_arm_is_reset_or_idle_without_the_other(arms):
    for arm in ARMS:
        arms.wait_for_state("Reached", arm)
    updates = arms.report(3).updates
    assert arms.probe.trigger("arm_1/idle").message == "arm_1 is idle"
    arms.wait_for_state("Idle", 1)
    pose = angles_of(arms.fresh_joint_states(), 1)
    assert arms.probe.trigger("arm_1/reset").message == "arm_1 is in its starting pose"
    moved = angles_of(arms.fresh_joint_states(), 1)
    assert np.abs(np.array(moved) - np.array(pose)).max() > 0.01
    # Idle it stays, so it does not go back.
    assert angles_of(arms.joint_states.wait_for_next(30), 1) == moved
    report = arms.wait_for_state("Reached", 3)
    assert report.updates == updates


# Planners


def follow(arms, angles, names=None, listeners=1):
    """Propose joint angles for arm 1."""
    message = JointState()
    message.name = names or joint_names(1, SEGMENTS)
    message.position = [float(angle) for angle in angles]
    arms.probe.send("arm_1/joint_proposal", message, listeners=listeners)


def set_planner(arms, planner):
    (result,) = arms.probe.set_parameters(CONTROLLER, planner=planner)
    assert result.successful, result.reason
    return arms.wait_for_report(lambda report: report.planner == planner, f"has {planner}")


def test_switching_the_planner_makes_no_jump(arms):
    heard = arms.joint_states
    arms.wait_for_state("Reached")
    arms.send(1, -0.15, 0.1)
    arms.wait_for_target(-0.15, 0.1)
    heard.clear()
    set_planner(arms, "external")
    set_planner(arms, "neighbour")
    arms.wait_for_state("Reached")
    positions = np.array([message.position for message in heard.messages])
    turns = np.diff(positions, axis=0)
    turns = (turns + math.pi) % (2 * math.pi) - math.pi
    assert np.abs(turns).max() <= SPEED * PERIOD * 1.001


def test_an_external_planner_without_proposals_holds_and_says_so(arms):
    report = set_planner(arms, "external")
    assert report.planner_note == "waiting for a joint proposal"
    first = arms.fresh_joint_states()
    last = arms.joint_states.wait_for_next(30)
    assert list(first.position) == list(last.position)


def test_proposals_are_followed_at_the_speed_of_the_arm(arms):
    set_planner(arms, "external")
    heard = arms.joint_states
    start = angles_of(arms.fresh_joint_states(), 1)
    wanted = [start[0] + 0.8] + [0.03 * place - 0.3 for place in range(1, SEGMENTS)]
    heard.clear()
    # By any order of the names, and by the bare ones.
    order = list(range(SEGMENTS))[::-1]
    follow(arms, [wanted[i] for i in order], [f"joint_{i + 1}" for i in order])
    report = arms.wait_for_report(lambda report: not report.planner_note, "follows")
    assert report.planner == "external"

    def is_there(message):
        turns = np.array(angles_of(message, 1)) - np.array(wanted)
        return np.abs((turns + math.pi) % (2 * math.pi) - math.pi).max() < 1e-6

    heard.wait_for(is_there, "the pose that was proposed")
    speeds = list(map(speed_of, heard.messages))
    assert max(speeds) <= SPEED * (1 + 1e-9)
    assert max(speeds) > 0.5 * SPEED
    # A new target is a new assignment: what was proposed for the last one is over.
    arms.send(1, 0.1, 0.1)
    arms.wait_for_report(lambda report: report.planner_note, "waits again")


def test_proposals_stay_within_the_bend_limit(arms):
    set_planner(arms, "external")
    start = angles_of(arms.fresh_joint_states(), 1)
    wanted = [start[0]] + [3.0 if place % 2 else -3.0 for place in range(1, SEGMENTS)]
    follow(arms, wanted)
    limit = math.pi / 3
    ends = [start[0]] + [math.copysign(limit, angle) for angle in wanted[1:]]
    arms.joint_states.wait_for(
        lambda message: np.allclose(angles_of(message, 1), ends, atol=1e-6), "the largest bends"
    )
    for message in arms.joint_states.messages:
        assert np.abs(angles_of(message, 1)[1:]).max() <= limit + 1e-9


def test_proposals_do_not_push_an_arm_through_an_obstacle(arms):
    set_planner(arms, "external")
    heard = arms.joint_states
    angles = angles_of(arms.fresh_joint_states(), 1)
    joints = joints_of(angles, base_of(1))
    # To the left of the middle of the arm, and the arm is to turn to the left.
    middle = joints[SEGMENTS // 2]
    obstacle = WorldObject(4, OBSTACLE, (middle[0] - 0.04, middle[1]), 0.012)
    arms.place(obstacle)
    heard.clear()
    follow(arms, [angles[0] + 1.2, *angles[1:]])
    report = arms.wait_for_state("Blocked")
    assert report.warns
    heard.wait_for_next(30)
    turned = angles_of(heard.latest, 1)[0] - angles[0]
    assert 0.02 < turned < 1.0
    for message in heard.messages:
        joints = joints_of(angles_of(message, 1), base_of(1))
        for start, end in itertools.pairwise(joints):
            point = closest_point(start, end, obstacle.position)
            assert math.dist(point, obstacle.position) >= obstacle.radius + 0.003 - 1e-6


# Parameters


def own_parameters(arms) -> list[str]:
    names = arms.probe.call(ListParameters, f"{CONTROLLER}/list_parameters").result.names
    others = ("use_sim_time", "start_type_description_service")
    return [n for n in names if n not in others and not n.startswith("qos_overrides.")]


def test_every_parameter_is_described_with_its_unit_and_its_range(running):
    names = own_parameters(running)
    assert {
        "scene",
        "arms",
        "planner",
        "rate",
        "catch_up",
        "markers_rate",
        "object_timeout",
        "claim_grace",
        "metres_per_pixel",
        "segment_count",
        "segment_length",
        "maximum_bend",
        "turning_speed",
        "reach_tolerance",
        "sensor_radius",
        "arm_clearance",
        "steering_margin",
        "waypoint_margin",
        "grasp_dwell",
        "arms.arm_1.segment_count",
        "arms.arm_3.planner",
    } <= set(names)
    request = DescribeParameters.Request(names=names)
    answer = running.probe.call(DescribeParameters, f"{CONTROLLER}/describe_parameters", request)
    for descriptor in answer.descriptors:
        assert descriptor.description, descriptor.name
        limits = descriptor.additional_constraints
        assert ("fixed at the start" in limits) is descriptor.read_only, descriptor.name
        assert ("may change at run time" in limits) is not descriptor.read_only, descriptor.name
        if descriptor.name.endswith(("segment_length", "_radius", "_margin", "_tolerance")):
            assert descriptor.description.endswith(", m"), descriptor.name
            assert descriptor.floating_point_range, descriptor.name
        if descriptor.name.endswith("segment_count"):
            assert [(r.from_value, r.to_value) for r in descriptor.integer_range] == [(2, 100)]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("rate", "fast", "a number between 5 and 1000 Hz"),
        ("rate", 0.0, "Min: 5.0, Max: 1000.0"),
        ("rate", math.nan, "Min: 5.0, Max: 1000.0"),
        ("turning_speed", -1.0, "Min: 0.0"),
        ("turning_speed", 0.0, "a number above 0 and at most 1000 rad/s"),
        ("turning_speed", True, "a number above 0 and at most 1000 rad/s"),
        ("maximum_bend", 4.0, "Max: 3.14159"),
        ("segment_count", 1, "Min: 2, Max: 100"),
        ("segment_count", 20.5, "an integer between 2 and 100"),
        ("arms.arm_3.segment_count", 101, "Min: 2, Max: 100"),
        ("planner", "magic", f"one of {', '.join(PLANNERS)}"),
        ("markers_rate", [1.0, 2.0], "a number between 0 and 240 Hz"),
        ("object_timeout", -0.5, "Min: 0.0, Max: 3600.0"),
    ],
)
def test_a_wrong_value_is_refused_by_name_and_value_and_nothing_changes(
    running, name, value, words
):
    before = running.probe.get_parameter(CONTROLLER, name)
    (result,) = running.probe.set_parameters(CONTROLLER, **{name.replace(".", "__"): value})
    assert not result.successful
    # A number out of its range is refused by rclpy itself, everything else by us.
    assert re.match(f"[Pp]arameter {re.escape(name)} (must be|out of range)", result.reason)
    assert words in result.reason
    assert result.reason.endswith(repr(value))
    assert running.probe.get_parameter(CONTROLLER, name) == before


@pytest.mark.parametrize("name", ["scene", "arms", "metres_per_pixel", "grasp_dwell"])
def test_what_is_fixed_at_the_start_is_refused(running, name):
    value = 0.5 if name in ("metres_per_pixel", "grasp_dwell") else "1"
    (result,) = running.probe.set_parameters(CONTROLLER, **{name: value})
    assert not result.successful
    assert "read-only" in result.reason and name in result.reason


def test_an_integer_is_taken_for_a_number(running):
    (result,) = running.probe.set_parameters(CONTROLLER, claim_grace=1)
    assert result.successful
    assert running.probe.get_parameter(CONTROLLER, "claim_grace") == 1.0
    running.probe.set_parameters(CONTROLLER, claim_grace=0.25)


def test_the_turning_speed_changes_at_once_and_without_a_reset(arms):
    description = arms.probe.listen_latched(String, "robot_description")
    description.wait_for()
    heard = arms.joint_states
    arms.wait_for_state("Reached")
    arms.send(1, -0.15, 0.1)
    arms.wait_for_target(-0.15, 0.1)
    before = angles_of(heard.latest, 1)
    description.clear()
    (result,) = arms.probe.set_parameters(CONTROLLER, turning_speed=0.25)
    assert result.successful
    arms.fresh_joint_states()
    heard.clear()
    heard.wait_for_next(30)
    speeds = list(map(speed_of, heard.messages))
    assert max(speeds) <= 0.25 * (1 + 1e-9)
    assert max(speeds) > 0.2
    first = angles_of(heard.messages[0], 1)
    assert np.abs(np.array(first) - np.array(before)).max() < 1.0, "it was reset"
    text = description.wait_for().data
    placements = arms_from_description(text)
    assert [arm.parameters.turning_speed for arm in placements] == [0.25, 0.25]
    arms.probe.stop_listening(description)


def test_the_rate_changes_at_run_time(arms):
    heard = arms.joint_states
    (result,) = arms.probe.set_parameters(CONTROLLER, rate=50)
    assert result.successful
    arms.fresh_joint_states()
    heard.clear()
    heard.wait_for_next(20)
    stamps = [stamp_of(message) for message in heard.messages]
    gaps = {later - earlier for earlier, later in itertools.pairwise(stamps)}
    assert gaps == {20_000_000}
    assert max(map(speed_of, heard.messages)) <= SPEED * (1 + 1e-9)
    (result,) = arms.probe.set_parameters(CONTROLLER, rate=120.0)
    assert result.successful
    values = arms.wait_for_diagnostics(lambda values: values["wanted rate (Hz)"] == "120", "120")
    assert int(values["missed steps"]) >= 0


def test_another_geometry_resets_the_arm_and_describes_it_anew(arms):
    description = arms.probe.listen_latched(String, "robot_description")
    assert [
        arm.parameters.segment_count for arm in arms_from_description(description.wait_for().data)
    ] == [SEGMENTS, SEGMENTS]
    arms.wait_for_state("Reached", 1)
    pose = angles_of(arms.fresh_joint_states(), 1)
    description.clear()
    (result,) = arms.probe.set_parameters(CONTROLLER, arms__arm_3__segment_count=30)
    assert result.successful
    names = [*joint_names(1, SEGMENTS), *joint_names(3, 30)]
    message = arms.joint_states.wait_for(lambda message: list(message.name) == names)
    assert len(message.position) == len(message.velocity) == 50
    assert set(message.velocity) == {0.0}
    assert angles_of(message, 1) == pytest.approx(pose, abs=1e-3)
    placements = arms_from_description(description.wait_for().data)
    assert [arm.parameters.segment_count for arm in placements] == [SEGMENTS, 30]
    # The target is still there, and the longer arm goes to it.
    arms.wait_for_state("Reached", 3)
    (result,) = arms.probe.set_parameters(CONTROLLER, arms__arm_3__segment_count=SEGMENTS)
    assert result.successful
    arms.joint_states.wait_for(lambda message: len(message.name) == 2 * SEGMENTS)
    arms.probe.stop_listening(description)


def test_markers_can_be_turned_off(arms):
    markers = arms.probe.listen(MarkerArray, "markers")
    markers.wait_for()
    arms.probe.set_parameters(CONTROLLER, markers_rate=0.0)
    # Some may have been on their way.
    arms.states.wait_for_next(2)
    markers.clear()
    arms.states.wait_for_next(2)
    assert markers.count == 0
    arms.probe.set_parameters(CONTROLLER, markers_rate=30.0)
    markers.wait_for()
    arms.probe.stop_listening(markers)


# The start


def test_wrong_values_at_the_start_are_said_and_the_defaults_kept(stage):
    arguments = ["-p", "rate:=fast", "-p", "maximum_bend:=[1.0, 2.0]", "-p", "turnin_speed:=3.0"]
    process = stage.controller(
        stage.write_scene(ARMS, target=(0.05, 0.15)),
        segment_count=12,
        planner="magic",
        object_timeout=0,
        markers_rate=-1.0,
        turning_speed=2,
        arms__arm_3__segment_count=5,
        arguments=arguments,
    )
    for line in (
        "parameter rate must be a number between 5 and 1000 Hz, got 'fast'; 120.0 is kept",
        f"parameter planner must be one of {', '.join(PLANNERS)}, got 'magic'; 'neighbour' is kept",
        "parameter markers_rate must be a number between 0 and 240 Hz, got -1.0; 30.0 is kept",
        "parameter maximum_bend must be a number above 0 and at most 3.14159265 rad,"
        " got [1.0, 2.0]; no value is kept",
        "parameter turnin_speed is unknown and ignored; did you mean turning_speed?",
    ):
        assert len(process.matching(re.escape(line))) == 1, process.output
    message = stage.joint_states.wait_for()
    # An arm's own value counts more than the one for all, and that more than the scene's.
    assert list(message.name) == [*joint_names(1, 12), *joint_names(3, 5)]
    stage.send(1, -0.1, 0.05)
    assert stage.probe.get_parameter(CONTROLLER, "rate") == 120.0
    assert stage.probe.get_parameter(CONTROLLER, "turning_speed") == 2.0
    stage.joint_states.wait_for(lambda message: speed_of(message) > 1.5, "an arm that turns")
    stage.joint_states.wait_for_next(20)
    assert max(map(speed_of, stage.joint_states.messages)) <= 2.0 * (1 + 1e-9)
    heard = stage.diagnostics
    report = heard.wait_for(lambda message: status_values(message, stage.start.namespace))
    assert report.status[0].level == report.status[0].WARN
    assert "parameter rate must be" in report.status[0].message


OCTOPUS = {
    "version": 1,
    "name": "Octopus",
    "units": "metre",
    "layout": "octopus",
    "arms": [{"number": 2, "target": {"position": [0.15, 0.1]}}],
}


@pytest.fixture(scope="module")
def octopuses(running) -> Stage:
    """Beside the others, a controller of all arms of an octopus, and one of three, renamed."""
    scene = running.write_scene(**OCTOPUS)
    namespace = running.start.namespace
    eight = running.controller(scene, namespace=f"{namespace}/all", ready=None)
    some = running.controller(
        scene,
        arms="2-4",
        namespace=f"{namespace}/some",
        name="brain",
        remappings={"arm_2/target": "goal", "joint_states": "robot/joint_states"},
        ready=None,
    )
    eight.wait_for_line("ready: 8 arms at 120 Hz")
    some.wait_for_line("ready: 3 arms at 120 Hz")
    return running


def test_an_octopus_has_eight_arms(octopuses):
    probe = octopuses.probe
    message = probe.listen(JointState, "all/joint_states").wait_for()
    assert list(message.name) == [n for arm in range(1, 9) for n in joint_names(arm, SEGMENTS)]
    states = probe.listen(DiagnosticArray, "all/arm_states", OBJECTS)

    def is_settled(message):
        # Arms that the scene sends nowhere are idle; the other one goes.
        found = {number: report.state for number, report in arm_reports(message).items()}
        return found == {arm: "Reached" if arm == 2 else "Idle" for arm in range(1, 9)}

    states.wait_for(is_settled, "one arm at its target and seven idle")


def test_a_part_of_the_arms_can_be_chosen_and_names_can_be_remapped(octopuses):
    probe = octopuses.probe
    message = probe.listen(JointState, "some/robot/joint_states").wait_for()
    assert list(message.name) == [n for arm in (2, 3, 4) for n in joint_names(arm, SEGMENTS)]
    topics = dict(probe.node.get_topic_names_and_types())
    namespace = octopuses.start.namespace
    assert f"{namespace}/all/arm_8/target" in topics
    assert f"{namespace}/some/arm_4/target" in topics
    assert f"{namespace}/some/arm_2/target" not in topics
    assert f"{namespace}/some/arm_5/target" not in topics
    probe.send("some/goal", target_message(0.1, 0.1))
    states = probe.listen(DiagnosticArray, "some/arm_states", OBJECTS)
    states.wait_for(lambda message: arm_reports(message)[2].target == (0.1, 0.1), "the new goal")
    assert probe.set_flag("some/brain/pause", True).success


def test_without_parameters_there_is_one_arm_in_a_small_scene(stage):
    process = stage.start("reach_controller", ready=r"ready: 1 arm at 120 Hz")
    message = stage.joint_states.wait_for()
    assert {name.split("/")[0] for name in message.name} == {"arm_1"}
    assert not process.matching(r"\[(WARN|ERROR)\]")


def test_a_start_that_cannot_be_ends_with_one_line_and_exit_code_1(stage):
    scene = stage.write_scene()
    wrong = stage.write_scene(arms=[{"number": 1, "parameters": {"segment_count": 1}}])
    cases = {
        f"{wrong}: arms[0].parameters.segment_count must be": {"scene": wrong},
        "parameter arms names arm_7, but the scene has arm_1": {"scene": scene, "arms": "7"},
    }
    processes = {
        words: stage.start("reach_controller", values, ready=None)
        for words, values in cases.items()
    }
    for words, process in processes.items():
        assert stage.start.expect_failure(process) == 1, process.output
        said = process.matching("^cannot start: ")
        assert len(said) == 1, process.output
        assert words in said[0]
        assert not process.matching(r"\[(WARN|ERROR)\]|Traceback"), process.output


# The end


def stop(process, *numbers):
    """Send signals and give exit code and time until it has ended, s."""
    begun = time.monotonic()
    for number in numbers:
        process.send_signal(number)
    return process.wait(), time.monotonic() - begun


def test_signals_end_it_clean_and_soon_whatever_it_is_at(stage):
    scene = stage.write_scene(target=(0.05, 0.15))
    namespace = stage.start.namespace
    names = ("paused", "clockless")
    processes = {
        name: stage.controller(
            scene,
            ready=None,
            namespace=f"{namespace}/{name}",
            use_sim_time=name == "clockless",
        )
        for name in names
    }
    for process in processes.values():
        process.wait_for_line("ready: ")
    stage.probe.set_flag("paused/reach_controller/pause", True)
    processes["clockless"].wait_for_line("waiting for /clock")
    ends = {
        "paused": stop(processes["paused"], signal.SIGTERM),
        "clockless": stop(processes["clockless"], signal.SIGINT, signal.SIGINT),
    }
    for name, (code, passed) in ends.items():
        assert code == 0, processes[name].output
        assert passed < 2.0, name
        assert not processes[name].matching(r"\[ERROR\]|Traceback|Exception")


@pytest.mark.skipif(not COMPILED, reason="numba is not installed")
def test_a_signal_ends_a_start_that_is_under_way(stage, monkeypatch):
    # With nothing in the cache the kernels are compiled anew, for many seconds.
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(stage.folder / "cache"))
    process = stage.controller(stage.write_scene(), ready="compiling the kernels")
    code, passed = stop(process, signal.SIGINT)
    assert code == 0, process.output
    assert passed < 2.0
    assert not process.matching("Traceback|cannot start|ready: ")


IN_A_CALLBACK = """
import os, signal, time
from octo_reach.nodes.spinning import StopSignals

signals = StopSignals()

def _raw_object_cache_notify():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.1)
    print("callback done")

try:
    _raw_object_cache_notify()
    time.sleep(10.0)
    print("nothing came")
except KeyboardInterrupt:
    signals.begin()
    print("interrupted")
"""


def test_a_signal_during_a_callback_of_the_compiler_interrupts_after_it(ros_context):
    done = subprocess.run(
        [sys.executable, "-c", IN_A_CALLBACK], capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["callback done", "interrupted"]
