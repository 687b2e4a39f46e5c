"""What arrives on a topic never ends a reach controller, nor does it leave its state half changed.

Every test sends what is wrong, waits until diagnostics have counted just that, and looks whether
the arms still do what they did.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter

import numpy as np
import pytest
from geometry_msgs.msg import PointStamped, PoseStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState, PointCloud2
from stage import (
    FOOD,
    HAZARD,
    OBSTACLE,
    SEGMENTS,
    Stage,
    angles_of,
    base_of,
    joints_of,
    stamp_of,
)
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.ros.contacts import contacts_from_cloud
from octo_reach.ros.frames import joint_names
from octo_reach.ros.objects import WorldObject, delete_all_marker, delete_marker, object_marker
from octo_reach.ros.quality_of_service import LATCHED
from octo_reach.ros.targets import target_message

CONTROLLER = "reach_controller"
HOME = (0.05, 0.15)
INFINITY, NAN = math.inf, math.nan

# Deep enough for a whole burst: whatever is sent here must arrive, or nothing can be counted.
VOLATILE = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
TRANSIENT_LOCAL = QoSProfile(
    depth=1000,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)


@pytest.fixture(scope="module")
def running(shared_stage) -> Stage:
    """A stage with a controller of one arm, and its process as `process`."""
    # Rejections are said once in 5 s for each topic and cause; the log is not looked at here.
    # A machine that halts for a moment loses no step by that; one that is flooded would.
    shared_stage.process = shared_stage.controller(
        shared_stage.write_scene(target=HOME), catch_up=1.0
    )
    return shared_stage


def rejections(values: dict[str, str]) -> Counter:
    """Give the rejected inputs that diagnostics count, by cause."""
    found = {
        key.removeprefix("rejected: "): int(value)
        for key, value in values.items()
        if key.startswith("rejected: ")
    }
    assert int(values["rejected inputs"]) == sum(found.values())
    return Counter(found)


class Watch:
    """What diagnostics counted before, and what they are to count now."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._before = Counter()

    def forget(self) -> dict[str, str]:
        """Count from what was counted so far, and give the diagnostics."""
        values = self._stage.wait_for_diagnostics(lambda values: True, "any")
        self._before = rejections(values)
        return values

    def expect(self, **causes: int) -> None:
        """Wait until so many inputs more were rejected, by cause ('_' for a blank), and no other.

        The controller still steps then, and the arm still goes where it was sent.
        """
        added = Counter({cause.replace("_", " "): count for cause, count in causes.items()})
        expected = self._before + added
        values = self._stage.wait_for_diagnostics(
            lambda values: sum(rejections(values).values()) >= sum(expected.values()),
            f"{dict(expected)} rejected",
        )
        assert rejections(values) == expected
        self._before = expected
        assert self._stage.process.running
        stamp = stamp_of(self._stage.joint_states.wait_for_next())
        assert stamp_of(self._stage.joint_states.wait_for_next(3)) > stamp


@pytest.fixture(scope="module")
def watch(running) -> Watch:
    return Watch(running)


@pytest.fixture
def home(running):
    """The arm at rest at its target, with no objects; afterwards it must still be so."""
    if not running.has_target(*HOME) or running.report().state != "Reached":
        running.send(1, *HOME)
        running.wait_for_target(*HOME)
        running.wait_for_state("Reached")
    yield
    running.probe.send("objects", MarkerArray(markers=[delete_all_marker()]), qos=TRANSIENT_LOCAL)
    running.wait_for_state("Reached")
    assert running.has_target(*HOME)
    assert running.report().tip_error <= 0.002


def pose_message(x, y, frame="world"):
    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.position.x, message.pose.position.y = x, y
    return message


def point_message(x, y, frame="world"):
    message = target_message(x, y)
    message.header.frame_id = frame
    return message


# Targets


def test_targets_that_are_none_are_rejected_and_counted(running, home, watch):
    running.probe.send(
        "arm_1/target",
        point_message(NAN, 0.1),
        point_message(0.1, INFINITY),
        point_message(-INFINITY, NAN),
        point_message(1e300, 0.0),
        point_message(0.0, -1e7),
        point_message(0.1, 0.1, "map"),
        point_message(0.1, 0.1, "arm_1/base"),
    )
    running.probe.send(
        "arm_1/target_pose",
        pose_message(NAN, 0.1),
        pose_message(0.1, 1e9),
        pose_message(0.1, 0.1, "odom"),
    )
    watch.expect(not_finite=4, out_of_range=3, unknown_frame=3)
    # One warning for each topic and cause, which names topic, value and rule.
    rule = "header.frame_id of a target must be 'world' or empty, got 'map' (unknown frame)"
    running.process.wait_for_line("rejected arm_1/target_pose: .*unknown frame")
    assert len(running.process.matching("rejected arm_1/target: ")) == 3
    assert len(running.process.matching(re.escape(f"rejected arm_1/target: {rule}"))) == 1


def test_text_that_is_no_text_and_messages_cut_short_are_survived(running, home, watch):
    whole = serialize_message(point_message(0.1, 0.1, "wonderland"))
    broken = whole.replace(b"wonderland", b"\xff\xfe\x80onderland"[:10])
    running.probe.send("arm_1/target", point_message(0.1, 0.1, "nowhere"))
    publisher = running.probe.publisher(PointStamped, "arm_1/target")
    publisher.publish(broken)
    publisher.publish(whole[:14])
    publisher.publish(whole[:4])
    publisher.publish(point_message(0.1, 0.1, "nowhere"))
    watch.expect(unknown_frame=3)


def test_five_thousand_targets_at_once_leave_the_last_one_and_lose_no_step(running, home):
    heard = running.joint_states
    before = running.wait_for_diagnostics(lambda values: True, "any")
    heard.clear()
    targets = [point_message(0.1 + 1e-6 * count, 0.1) for count in range(5000)]
    running.probe.send("arm_1/target", *targets)
    running.wait_for_target(0.1 + 1e-6 * 4999, 0.1)
    running.wait_for_state("Reached")
    heard.wait_for_next(2)
    stamps = [stamp_of(message) for message in heard.messages]
    assert max(np.diff(stamps)) <= 8_333_334
    values = running.wait_for_diagnostics(lambda values: True, "any")
    assert values["rejected inputs"] == before["rejected inputs"]
    running.send(1, *HOME)
    running.wait_for_target(*HOME)
    running.wait_for_state("Reached")


def test_of_what_was_said_before_it_came_it_finds_latched_objects_and_no_targets(stage):
    stage.place(WorldObject(3, HAZARD, HOME, 0.01), listeners=0)
    early = stage.probe.publisher(PointStamped, "arm_1/target")
    early.publish(point_message(-0.1, 0.1))
    latched = stage.probe.publisher(PointStamped, "arm_1/target", LATCHED)
    latched.publish(point_message(-0.12, 0.1))
    stage.controller(stage.write_scene(target=HOME))
    stage.wait_for_target(*HOME)
    stage.wait_for_state("Contact")
    stage.probe.wait_until(lambda: known_objects(stage) == [3], "the hazard is felt")
    # From now on targets are heard, whatever is kept of them for late joiners.
    for publisher, x in ((early, -0.1), (latched, -0.12)):
        stage.probe.wait_until(publisher.get_subscription_count, "the controller listens")
        publisher.publish(point_message(x, 0.1))
        stage.wait_for_target(x, 0.1)


def test_a_best_effort_target_is_not_heard_and_the_log_says_why(running, home):
    quality = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    node = running.probe.node
    publisher = node.create_publisher(PointStamped, "arm_1/target", quality)
    line = running.process.wait_for_line("offering incompatible QoS")
    assert "arm_1/target" in line and "RELIABILITY" in line
    publisher.publish(point_message(0.1, 0.1))
    node.destroy_publisher(publisher)


# Objects


def marker_of(kind=OBSTACLE, number=50, position=(0.3, 0.3), radius=0.01, **fields) -> Marker:
    """Give the marker of an object out of reach, with some fields, by their path, changed."""
    marker = object_marker(WorldObject(number, kind, position, radius))
    for path, value in fields.items():
        *holders, name = path.split("__")
        owner = marker
        for holder in holders:
            owner = getattr(owner, holder)
        setattr(owner, name, value)
    return marker


WRONG_MARKERS = {
    "not finite": [
        marker_of(pose__position__x=NAN),
        marker_of(pose__position__y=-INFINITY),
        marker_of(scale__x=NAN, scale__y=NAN),
    ],
    "out of range": [
        marker_of(pose__position__x=1e200),
    ],
    "bad radius": [
        marker_of(scale__x=-0.02, scale__y=-0.02),
        marker_of(scale__x=0.0, scale__y=0.0),
        marker_of(scale__x=0.02, scale__y=0.03),
        marker_of(scale__x=1e9, scale__y=1e9),
    ],
    "unknown frame": [
        marker_of(header__frame_id="map"),
        marker_of(header__frame_id="arm_1/segment_0"),
    ],
    "bad id": [
        marker_of(id=0),
        marker_of(id=-2147483648),
    ],
    "unknown ns": [
        marker_of(ns="rock"),
        marker_of(ns=""),
    ],
    "bad type": [
        marker_of(type=Marker.CUBE),
    ],
    "unknown action": [
        marker_of(action=7),
    ],
}


def message_of(*markers: Marker) -> MarkerArray:
    return MarkerArray(markers=list(markers))


def known_objects(running) -> list[int]:
    """Give the numbers of the objects that the arm touches: all that are where it is."""
    clouds = running.probe.listen(PointCloud2, "contacts")
    numbers = sorted(set(contacts_from_cloud(clouds.wait_for())["object"].tolist()))
    running.probe.stop_listening(clouds)
    return numbers


@pytest.mark.parametrize("durability", ["latched", "volatile"])
def test_a_message_with_one_wrong_object_is_rejected_whole(running, home, watch, durability):
    quality = TRANSIENT_LOCAL if durability == "latched" else VOLATILE
    x, y = HOME
    # A hazard changes nothing about the motion, and is felt where it is.
    running.probe.send("objects", message_of(marker_of(HAZARD, 5, HOME)), qos=quality)
    running.probe.wait_until(lambda: known_objects(running) == [5], "the hazard is felt")
    for wrong in itertools.chain.from_iterable(WRONG_MARKERS.values()):
        right = marker_of(HAZARD, 6, (x, y - 0.001))
        running.probe.send("objects", message_of(right, wrong), qos=quality)
    twice = [marker_of(HAZARD, 6, HOME), marker_of(HAZARD, 6, HOME)]
    running.probe.send("objects", message_of(*twice), qos=quality)
    other = [marker_of(HAZARD, 6, HOME), marker_of(FOOD, 6, HOME)]
    running.probe.send("objects", message_of(*other), qos=quality)
    counts = {cause.replace(" ", "_"): len(markers) for cause, markers in WRONG_MARKERS.items()}
    watch.expect(**counts, duplicate=2)
    assert known_objects(running) == [5]


def test_a_volatile_publisher_is_heard_beside_a_latched_one_and_nothing_twice(running, home, watch):
    # The volatile one makes the controller listen twice; the latched one is heard both ways.
    running.probe.send("objects", message_of(marker_of(HAZARD, 8, HOME)), qos=VOLATILE)
    running.probe.send(
        "objects", message_of(marker_of(HAZARD, 9, HOME)), qos=TRANSIENT_LOCAL, listeners=2
    )
    running.probe.wait_until(lambda: known_objects(running)[-2:] == [8, 9], "both are felt")
    running.process.wait_for_line("a publisher of objects is volatile: it is heard as well")
    for quality in (TRANSIENT_LOCAL, VOLATILE):
        running.probe.send("objects", message_of(marker_of(id=0)), qos=quality)
    watch.expect(bad_id=2)


def test_deletes_of_what_there_is_not_are_nothing(running, home, watch):
    running.probe.send(
        "objects",
        message_of(delete_marker(FOOD, 77), delete_marker(OBSTACLE, 1), delete_all_marker()),
        message_of(),
        qos=VOLATILE,
    )
    running.probe.send("objects", message_of(marker_of(ns="rock")), qos=VOLATILE)
    watch.expect(unknown_ns=1)


def test_very_many_objects_and_an_enormous_one_are_survived(running, home, watch):
    running.probe.send(
        "objects",
        message_of(*[marker_of(HAZARD, 100 + i, (3.0 + 0.1 * i, 3.0)) for i in range(2000)]),
        qos=VOLATILE,
    )
    running.probe.send(
        "objects", message_of(marker_of(HAZARD, 5000, (500.0, 0.0), 400.0)), qos=VOLATILE
    )
    running.probe.send("objects", message_of(delete_all_marker()), qos=VOLATILE)
    running.probe.send("objects", message_of(marker_of(ns="rock")), qos=VOLATILE)
    watch.expect(unknown_ns=1)


def test_an_arm_buried_in_an_obstacle_is_blocked_and_goes_on_when_it_is_gone(running, home, watch):
    angles = angles_of(running.fresh_joint_states(), 1)
    middle = joints_of(angles, base_of(1))[SEGMENTS // 2]
    running.probe.send("objects", message_of(marker_of(position=middle, radius=5.0)), qos=VOLATILE)
    running.wait_for_state("Blocked")
    running.probe.send("objects", message_of(delete_marker(OBSTACLE, 50)), qos=VOLATILE)
    running.wait_for_state("Reached")


# Proposals


def proposal(names, positions, **fields) -> JointState:
    message = JointState()
    message.name, message.position = list(names), [float(angle) for angle in positions]
    for field, value in fields.items():
        setattr(message, field, value)
    return message


def test_proposals_that_are_none_are_rejected_and_counted(running, home, watch):
    names = joint_names(1, SEGMENTS)
    zeros = [0.0] * SEGMENTS
    (result,) = running.probe.set_parameters(CONTROLLER, planner="external")
    assert result.successful
    pose = list(running.fresh_joint_states().position)
    running.probe.send(
        "arm_1/joint_proposal",
        proposal(names, [NAN, *zeros[1:]]),
        proposal(names, [*zeros[1:], -INFINITY]),
        proposal(names, [1e300, *zeros[1:]]),
        proposal(names, zeros[1:]),
        proposal(names, zeros, velocity=[0.0]),
    )
    running.probe.send(
        "arm_1/joint_proposal",
        proposal(names[1:], zeros[1:]),
        proposal([*names[1:], "arm_1/joint_21"], zeros),
        proposal([*names[1:], names[1]], zeros),
        proposal(joint_names(2, SEGMENTS), zeros),
        proposal([], []),
    )
    watch.expect(not_finite=2, out_of_range=1, unequal_lengths=2, wrong_joint_names=5)
    assert list(running.fresh_joint_states().position) == pose
    report = running.report()
    assert report.planner_note == "waiting for a joint proposal"
    (result,) = running.probe.set_parameters(CONTROLLER, planner="neighbour")
    assert result.successful


def test_proposals_for_a_planner_that_takes_none_change_nothing(running, home):
    turned = [1.0, *[0.2] * (SEGMENTS - 1)]
    message = proposal(joint_names(1, SEGMENTS), turned)
    heard = running.joint_states
    heard.clear()
    running.probe.send("arm_1/joint_proposal", *[message] * 20)
    heard.wait_for_next(30)
    positions = np.array([message.position for message in heard.messages])
    assert np.ptp(positions, axis=0).max() < 0.05


def test_everything_wrong_at_once_and_mixed_with_what_is_right(running, home, watch):
    wrong = list(itertools.chain.from_iterable(WRONG_MARKERS.values()))
    points = [point_message(NAN, NAN), point_message(0.0, 0.1, "map")]
    for _ in range(20):
        for marker in wrong:
            running.probe.send("objects", message_of(marker), qos=VOLATILE)
        running.probe.send("arm_1/target", *points, point_message(*HOME))
    # A burst longer than the queues may lose some of itself, but never the last of a topic.
    running.probe.send("objects", message_of(marker_of(HAZARD, 3, HOME)), qos=VOLATILE)
    running.probe.wait_until(lambda: known_objects(running) == [3], "the last one is felt")
    values = watch.forget()
    assert float(values["rate (Hz)"]) > 60.0
    assert int(values["rejected inputs"]) > 100
    running.probe.send("objects", message_of(delete_all_marker()), qos=VOLATILE)


def test_the_controller_has_said_nothing_awful(running):
    assert running.process.running
    assert not running.process.matching(r"\[ERROR\]|Traceback|a callback failed")
