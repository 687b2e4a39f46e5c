"""The simulated world as others see it: real processes, real topics."""

from __future__ import annotations

import math
import signal
import time
from itertools import pairwise

import pytest
import yaml
from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from fake_controller import FakeController, tip_of
from geometry_msgs.msg import PointStamped
from harness import NodeStarter, Recorder, status_values
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.scene import ObjectKind
from octo_reach.ros.frames import joint_names
from octo_reach.ros.objects import (
    WorldObject,
    delete_all_marker,
    delete_marker,
    object_marker,
)
from octo_reach.ros.quality_of_service import LATCHED, OBJECTS_VOLATILE, STREAM

FOOD, OBSTACLE, HAZARD = ObjectKind.FOOD, ObjectKind.OBSTACLE, ObjectKind.HAZARD
COUNT = 4
LENGTH = 0.05
STILL = [0.3, 0.1, 0.1, 0.1]
TANK = {
    "version": 1,
    "name": "Tank",
    "units": "metre",
    "layout": "listed",
    "defaults": {"segment_count": COUNT, "segment_length": LENGTH},
    "food": [{"position": [0.2, 0.1], "radius": 0.01}],
    "obstacles": [{"position": [0.3, 0.0], "radius": 0.02}],
    "hazards": [{"position": [-0.1, 0.3], "radius": 0.03}],
    "arms": [
        {"number": 1, "base": [0.0, 0.0], "target": {"position": [0.1, 0.1]}},
        {"number": 2, "base": [0.5, 0.0]},
    ],
}


@pytest.fixture
def scene(tmp_path):
    """Writes scene files: `scene(events=[...])` is the tank with something else in it."""

    def write(**changes) -> str:
        path = tmp_path / "tank.yaml"
        path.write_text(yaml.safe_dump({**TANK, **changes}), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture(scope="module")
def tank(ros_context, tmp_path_factory):
    """A world with the tank in it that many tests use one after the other."""
    folder = tmp_path_factory.mktemp("tank")
    path = folder / "tank.yaml"
    path.write_text(yaml.safe_dump(TANK), encoding="utf-8")
    starter = NodeStarter(folder, "/tank")
    try:
        yield starter("simulated_world", {"scene": str(path)})
    finally:
        starter.stop_all()


@pytest.fixture
def namespace(request, namespace) -> str:
    return "/tank" if "world" in request.fixturenames else namespace


@pytest.fixture
def controller(probe):
    """A controller of both arms that holds nothing and stands still."""
    controller = FakeController(probe, {1: STILL, 2: STILL})
    yield controller
    controller.die()


@pytest.fixture
def world(tank, probe, controller):
    """The shared world as it was in the beginning, and a controller."""
    tank.mark()
    # A controller that is heard for the first time is taken for the last one, started anew: what it
    # has claimed before that is freed.
    controller.wait_until_heard()
    assert probe.trigger("simulated_world/reset").success
    return tank


@pytest.fixture
def fresh_world(controller, start, scene):
    """A world of the test's own, and a controller."""
    return start("simulated_world", {"scene": scene()})


@pytest.fixture
def objects(probe) -> Recorder[MarkerArray]:
    return probe.listen_latched(MarkerArray, "objects")


def marker_of(message: MarkerArray, number: int) -> Marker | None:
    """Give the ADD marker of an object in a message."""
    for marker in message.markers:
        if marker.action == Marker.ADD and marker.id == number:
            return marker
    return None


def frame_of(message: MarkerArray, number: int) -> str | None:
    marker = marker_of(message, number)
    return None if marker is None else marker.header.frame_id


def place_of(message: MarkerArray, number: int) -> tuple[float, float] | None:
    marker = marker_of(message, number)
    return None if marker is None else (marker.pose.position.x, marker.pose.position.y)


def numbers(message: MarkerArray) -> list[int]:
    return sorted(marker.id for marker in message.markers if marker.action == Marker.ADD)


def thing(kind: ObjectKind, number: int, x: float, y: float, radius: float = 0.01) -> Marker:
    return object_marker(WorldObject(number, kind, (x, y), radius))


def wait_for_frame(objects: Recorder[MarkerArray], number: int, frame: str) -> MarkerArray:
    """Wait until the newest message has an object in a frame, and give that message."""
    return wait_for_latest(
        objects, lambda message: frame_of(message, number) == frame, f"object {number} in {frame}"
    )


def wait_for_latest(objects: Recorder, condition, what: str) -> MarkerArray:
    return objects.wait_until_latest(condition, what)


def wait_for_status(recorder: Recorder[DiagnosticArray], condition, what: str) -> DiagnosticStatus:
    """Wait for a report of the test's own world of which a condition holds."""
    name = f"{recorder.namespace}/simulated_world"

    def matches(message: DiagnosticArray) -> bool:
        # /diagnostics is absolute: the worlds of other tests are heard as well.
        return message.status[0].name == name and condition(message)

    return recorder.wait_for(matches, what).status[0]


# The scene and who sees it


def test_the_scene_file_stands_in_objects_as_whoever_joins_late_sees(probe, world, objects):
    first = objects.wait_for()
    late = probe.listen_latched(MarkerArray, "objects").wait_for()
    for message in (first, late):
        assert numbers(message) == [1, 2, 3]
        food = marker_of(message, 1)
        assert (food.ns, food.type, food.header.frame_id) == ("food", Marker.CYLINDER, "world")
        assert (food.pose.position.x, food.pose.position.y) == (0.2, 0.1)
        assert (food.scale.x, food.scale.y) == (0.02, 0.02)
        assert (food.pose.orientation.w, food.color.a) == (1.0, 1.0)
        assert (food.header.stamp.sec, food.header.stamp.nanosec) == (0, 0)
        assert [marker_of(message, n).ns for n in (2, 3)] == ["obstacle", "hazard"]
    info = probe.node.get_publishers_info_by_topic(objects.subscription.topic_name)[0]
    assert info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
    assert info.qos_profile.reliability == ReliabilityPolicy.RELIABLE


def test_the_first_message_clears_what_readers_know_of_a_former_world(
    objects, controller, start, scene
):
    start("simulated_world", {"scene": scene()})
    message = objects.wait_for()
    assert message.markers[0].action == Marker.DELETEALL
    assert numbers(message) == [1, 2, 3]


def test_one_object_and_one_event_are_told_of_in_the_singular(probe, start, scene):
    events = [{"tick": 900_000, "move": 1, "position": [0.4, 0.5]}]
    path = scene(food=[], hazards=[], events=events)
    process = start("simulated_world", {"scene": path})
    probe.wait_for_line(process, r"ready: .* with 1 object and 1 event$")
    answer = probe.trigger("simulated_world/reset")
    assert answer.message == "1 object lies as in the scene file"
    assert probe.trigger("simulated_world/clear").message == "1 object is gone"


def test_a_volatile_reader_hears_the_scene_once_a_second(probe, world):
    volatile = probe.listen(MarkerArray, "objects", STREAM)
    volatile.wait_for()
    volatile.wait_for_next(2)
    last, second = volatile.times[-1], volatile.times[-2]
    assert 0.8 < last - second < 1.3


def test_a_pixel_scene_is_turned_into_metres_around_its_body(start, probe, controller, tmp_path):
    path = tmp_path / "pixels.json"
    path.write_text(
        '{"version": 1, "name": "Pixels", "body": [400, 300],'
        ' "food": [{"position": [500, 250], "radius": 10}]}'
    )
    start("simulated_world", {"scene": str(path), "metres_per_pixel": 0.002})
    message = probe.listen_latched(MarkerArray, "objects").wait_for()
    assert place_of(message, 1) == pytest.approx((0.2, 0.1))
    assert marker_of(message, 1).scale.x == pytest.approx(0.04)


def test_a_world_without_any_controller_shows_its_scene_too(start, scene, objects):
    start("simulated_world", {"scene": scene()})
    assert numbers(objects.wait_for()) == [1, 2, 3]


# Edits


def test_edits_add_replace_and_remove_and_are_told_at_once(probe, world, objects):
    probe.send("scene/edit", thing(OBSTACLE, 7, 0.4, 0.1))
    message = wait_for_latest(objects, lambda m: 7 in numbers(m), "the obstacle")
    assert place_of(message, 7) == (0.4, 0.1)

    probe.send("scene/edit", thing(OBSTACLE, 7, 0.5, 0.2, radius=0.03))
    message = wait_for_latest(objects, lambda m: place_of(m, 7) == (0.5, 0.2), "its new place")
    assert marker_of(message, 7).scale.x == pytest.approx(0.06)

    begun = time.monotonic()
    probe.send("scene/edit", delete_marker(OBSTACLE, 7))
    message = wait_for_latest(objects, lambda m: numbers(m) == [1, 2, 3], "its end")
    assert objects.times[-1] - begun < 0.5
    assert [(m.ns, m.id) for m in message.markers if m.action == Marker.DELETE] == [("obstacle", 7)]

    probe.send("scene/edit", delete_marker(FOOD, 2), delete_all_marker(), thing(HAZARD, 9, 0, 0))
    message = wait_for_latest(objects, lambda m: numbers(m) == [9], "an all but empty scene")


def test_a_burst_of_edits_is_taken_to_the_last_and_told_in_few_messages(probe, world, objects):
    wait_for_latest(objects, lambda m: numbers(m) == [1, 2, 3], "the scene")
    before = objects.count
    burst = [thing(OBSTACLE, number, number * 0.01, 1.0) for number in range(100, 140)]
    probe.send("scene/edit", *burst, qos=OBJECTS_VOLATILE)
    wait_for_latest(objects, lambda m: len(numbers(m)) == 43, "43 objects")
    assert objects.count - before < 20


def test_an_object_goes_when_its_lifetime_is_over(probe, world, objects):
    mortal = thing(OBSTACLE, 8, 0.4, 0.1)
    mortal.lifetime = Duration(sec=0, nanosec=400_000_000)
    probe.send("scene/edit", mortal)
    wait_for_latest(objects, lambda m: 8 in numbers(m), "the obstacle")
    appeared = objects.times[-1]
    wait_for_latest(objects, lambda m: 8 not in numbers(m), "its end")
    assert 0.3 < objects.times[-1] - appeared < 0.8
    assert numbers(objects.latest) == [1, 2, 3]


def edit_with(**changes) -> Marker:
    """Make an edit of object 50 with some fields changed; a dot in a name is spelled '__'."""
    marker = thing(OBSTACLE, 50, 0.4, 0.1)
    for name, value in changes.items():
        *path, last = name.split("__")
        part = marker
        for step in path:
            part = getattr(part, step)
        setattr(part, last, value)
    return marker


BAD_EDITS = [
    ("not finite", edit_with(pose__position__x=math.nan)),
    ("not finite", edit_with(pose__position__y=math.inf)),
    ("not finite", edit_with(pose__position__y=-math.inf)),
    ("not finite", edit_with(scale__x=math.nan, scale__y=math.nan)),
    ("not finite", edit_with(scale__x=math.inf, scale__y=math.inf)),
    ("out of range", edit_with(pose__position__x=1e300)),
    ("bad radius", edit_with(scale__x=0.0, scale__y=0.0)),
    ("bad radius", edit_with(scale__x=-0.02, scale__y=-0.02)),
    ("bad radius", edit_with(scale__x=1e9, scale__y=1e9)),
    ("bad radius", edit_with(scale__x=0.01, scale__y=0.05)),
    ("unknown frame", edit_with(header__frame_id="map")),
    ("unknown frame", edit_with(header__frame_id="arm_1/segment_2")),
    ("unknown frame", edit_with(header__frame_id="arm_1/segment_0")),
    ("unknown ns", edit_with(ns="")),
    ("unknown ns", edit_with(ns="fish")),
    ("unknown ns", edit_with(ns="Food")),
    ("bad id", edit_with(id=0)),
    ("bad id", edit_with(id=-5)),
    ("bad type", edit_with(type=Marker.CUBE)),
    ("unknown action", edit_with(action=77)),
    ("duplicate", edit_with(id=1)),
    ("out of range", edit_with(lifetime=Duration(sec=-1))),
]


def test_bad_edits_change_nothing_and_are_counted_by_cause(probe, fresh_world, objects):
    reports = probe.listen_to_diagnostics()
    good = [thing(HAZARD, 1000 + n, 0.1, 0.1) for n in range(len(BAD_EDITS))]
    for (_, bad), after in zip(BAD_EDITS, good, strict=True):
        probe.send("scene/edit", bad, after)
        probe.wait_until(lambda n=after.id: objects.count and n in numbers(objects.latest), "it")
    assert numbers(objects.latest) == [1, 2, 3, *(marker.id for marker in good)]
    assert place_of(objects.latest, 1) == (0.2, 0.1)

    expected: dict[str, int] = {}
    for cause, _ in BAD_EDITS:
        expected[cause] = expected.get(cause, 0) + 1

    def counts(message: DiagnosticArray) -> dict[str, int]:
        values = status_values(message, "simulated_world")
        return {
            key.removeprefix("rejected: "): int(value)
            for key, value in values.items()
            if key.startswith("rejected: ")
        }

    wait_for_status(reports, lambda m: counts(m) == expected, f"the counts {expected}")
    # Once a topic and cause, not once a message; and it says what was wrong.
    probe.wait_until(
        lambda: len(fresh_world.matching("rejected scene/edit")) >= len(expected), "all are said"
    )
    assert len(fresh_world.matching("rejected scene/edit")) == len(expected)
    assert len(fresh_world.matching(r"rejected scene/edit: ns must be one of food, obstacle")) == 1


def test_messages_of_other_joints_are_rejected_and_counted(probe, fresh_world, controller, objects):
    reports = probe.listen_to_diagnostics()
    objects.wait_for()
    names = joint_names(1, COUNT)
    bad = [
        JointState(name=["gripper"], position=[0.1]),
        JointState(name=names, position=[0.1] * 3),
        JointState(name=names[1:], position=[0.1] * 3),
        JointState(name=[names[0]] * 4, position=[0.1] * 4),
        JointState(name=names, position=[math.nan] * 4),
        JointState(name=names, position=[1e200] * 4),
        JointState(),
    ]
    probe.send("joint_states", *bad, qos=STREAM)
    status = wait_for_status(
        reports,
        lambda m: status_values(m, "world")["rejected inputs"] == str(len(bad)),
        "seven rejected inputs",
    )
    counts = {value.key: value.value for value in status.values}
    assert counts["rejected: wrong joint names"] == "4"
    assert counts["rejected: unequal lengths"] == "1"


def test_a_robot_description_that_is_none_is_rejected(probe, fresh_world):
    reports = probe.listen_to_diagnostics()
    probe.send("robot_description", String(data="<robot name='other'/>"), qos=LATCHED)
    wait_for_status(
        reports,
        lambda m: status_values(m, "world").get("rejected: bad description") == "1",
        "a rejected description",
    )
    fresh_world.wait_for_line("rejected robot_description: .*there is no arm")


# Claims


def test_a_claim_for_a_free_object_fixes_it_to_the_segment_until_it_is_let_go(
    probe, world, controller, objects
):
    wait_for_frame(objects, 1, "world")
    controller.claim(1, 3, 1, (0.01, 0.02))
    food = marker_of(wait_for_frame(objects, 1, "arm_1/segment_3"), 1)
    assert food.frame_locked
    assert (food.pose.position.x, food.pose.position.y) == (0.01, 0.02)

    objects.clear()
    begun = time.monotonic()
    objects.wait_for_next(30)
    rate = 30 / (time.monotonic() - begun)
    # At rest it would be 1, and on a busy machine it is less than 60.
    assert 10.0 < rate < 120.0

    controller.let_go(1, (0.15, 0.05))
    food = marker_of(wait_for_frame(objects, 1, "world"), 1)
    assert not food.frame_locked
    assert (food.pose.position.x, food.pose.position.y) == (0.15, 0.05)


def test_a_claim_for_an_object_in_another_hand_is_refused(probe, start, scene, objects):
    one = FakeController(probe, {1: STILL}, "one")
    two = FakeController(probe, {2: STILL}, "two")
    world = start("simulated_world", {"scene": scene()})
    wait_for_frame(objects, 1, "world")
    one.claim(1, 2, 1)
    wait_for_frame(objects, 1, "arm_1/segment_2")
    two.claim(2, 4, 1)
    probe.wait_for_line(world, "arm_2 may not hold food 1: another arm holds it")
    objects.wait_for_next(3)
    assert frame_of(objects.latest, 1) == "arm_1/segment_2"
    # What one lets go of, the other may take; that the other lets go as well changes nothing.
    two.let_go(1, (0.9, 0.9))
    two.claim(2, 3, 77)
    probe.wait_for_line(world, "arm_2 may not hold food 77")
    objects.wait_for_next(2)
    assert frame_of(objects.latest, 1) == "arm_1/segment_2"
    one.let_go(1, (0.2, 0.2))
    assert place_of(wait_for_frame(objects, 1, "world"), 1) == (0.2, 0.2)
    two.claim(2, 4, 1)
    wait_for_frame(objects, 1, "arm_2/segment_4")
    one.die()
    two.die()


def test_a_claim_for_an_object_that_is_gone_is_refused_and_answered_soon(
    probe, world, controller, objects
):
    wait_for_frame(objects, 1, "world")
    probe.send("scene/edit", delete_marker(FOOD, 1))
    wait_for_latest(objects, lambda m: numbers(m) == [2, 3], "the end of the food")
    before = objects.count
    controller.claim(1, 2, 1)
    controller.claim(1, 2, 77)
    controller.claim(1, 2, 2)  # it is an obstacle, not food
    probe.wait_for_line(world, "arm_1 may not hold food 1: there is no such object")
    # Not only once a second, as at rest: the arm is waiting to let go.
    probe.wait_until(lambda: objects.count >= before + 10, "answers", timeout=6.0)
    assert numbers(objects.latest) == [2, 3]
    assert frame_of(objects.latest, 2) == "world"


def test_an_edit_takes_a_held_object_out_of_the_hand_for_good(probe, world, controller, objects):
    wait_for_frame(objects, 1, "world")
    controller.claim(1, 2, 1, (0.0, 0.02))
    wait_for_frame(objects, 1, "arm_1/segment_2")
    probe.send("scene/edit", thing(FOOD, 1, 0.7, 0.7))
    message = wait_for_frame(objects, 1, "world")
    assert place_of(message, 1) == (0.7, 0.7)
    # The controller has not noticed yet, and repeats the grip beside another one.
    controller.claim(2, 1, 5)
    probe.wait_for_line(world, "arm_2 may not hold food 5")
    probe.wait_for_line(world, "arm_1 may not hold food 1: it was taken out of this very grip")
    objects.wait_for_next(2)
    assert place_of(objects.latest, 1) == (0.7, 0.7)
    # It lets go where it thinks the object is, which is no news, and may then take it again.
    controller.let_go(1, (0.1, 0.1))
    controller.claim(1, 4, 1, (0.0, 0.02))
    wait_for_frame(objects, 1, "arm_1/segment_4")


def grasp_with(**changes) -> Marker:
    marker = object_marker(WorldObject(1, FOOD, (0.0, 0.0), 0.01, (1, 2), (0.0, 0.02)))
    for name, value in changes.items():
        *path, last = name.split("__")
        part = marker
        for step in path:
            part = getattr(part, step)
        setattr(part, last, value)
    return marker


BAD_GRASPS = [
    ("unknown frame", [grasp_with(header__frame_id="world")]),
    ("unknown frame", [grasp_with(header__frame_id="")]),
    ("unknown frame", [grasp_with(header__frame_id="map")]),
    ("unknown frame", [grasp_with(header__frame_id="arm_9/segment_1")]),
    ("unknown frame", [grasp_with(header__frame_id="arm_1/segment_5")]),
    ("unknown frame", [grasp_with(header__frame_id="arm_1/base")]),
    ("not finite", [grasp_with(pose__position__x=math.nan)]),
    ("not finite", [grasp_with(scale__x=math.nan)]),
    ("bad radius", [grasp_with(scale__x=-1.0, scale__y=-1.0)]),
    ("bad id", [grasp_with(id=0)]),
    ("unknown ns", [grasp_with(ns="tip")]),
    ("duplicate", [grasp_with(), grasp_with(header__frame_id="arm_2/segment_1")]),
    ("not finite", [grasp_with(), delete_marker(FOOD, 2, (math.nan, 0.0))]),
    ("unknown frame", [delete_all_marker("arm_x/base")]),
    ("unknown action", [grasp_with(action=9)]),
]


def test_bad_grasps_change_nothing_and_are_counted_by_cause(
    probe, fresh_world, controller, objects
):
    reports = probe.listen_to_diagnostics()
    wait_for_frame(objects, 1, "world")
    expected: dict[str, int] = {}
    for number, (cause, markers) in enumerate(BAD_GRASPS, 1001):
        controller.publish_grasps(*markers)
        expected[cause] = expected.get(cause, 0) + 1
        # A latched topic keeps one message: the answer to a claim for an object that does not exist
        # shows that the messages before were taken.
        before = objects.count
        controller.claim(1, 2, number)
        probe.wait_until(lambda n=before: objects.count >= n + 2, "an answer")
        controller.let_go(number, (0.0, 0.0))

    def counts(message: DiagnosticArray) -> dict[str, int]:
        values = status_values(message, "simulated_world")
        return {
            key.removeprefix("rejected: "): int(value)
            for key, value in values.items()
            if key.startswith("rejected: ")
        }

    wait_for_status(reports, lambda m: counts(m) == expected, f"the counts {expected}")
    assert numbers(objects.latest) == [1, 2, 3]
    assert {frame_of(objects.latest, n) for n in (1, 2, 3)} == {"world"}


def test_what_an_arm_held_lies_where_it_is_when_its_controller_starts_anew(
    probe, world, controller, objects
):
    base, length = (0.4, -0.2), 0.07
    controller.describe(
        ArmPlacement(1, ArmParameters(COUNT, length), base),
        ArmPlacement(2, ArmParameters(COUNT, length), base),
    )
    wait_for_frame(objects, 1, "world")
    controller.claim(1, COUNT, 1, (0.03, 0.0))
    wait_for_frame(objects, 1, f"arm_1/segment_{COUNT}")
    controller.turn(1, [1.0, 0.2, -0.1, 0.3])
    controller.wait_until_heard()
    controller.publish_grasps(delete_all_marker("arm_2/base"))
    controller.publish_grasps(delete_all_marker("arm_1/base"))
    message = wait_for_frame(objects, 1, "world")
    # It was 30 mm beyond the tip, on the line of the last segment.
    along = tip_of((0.0, 0.0), [1.4], 0.03)
    expected = tip_of(base, [1.0, 0.2, -0.1, 0.3], length)
    expected = (expected[0] + along[0], expected[1] + along[1])
    assert place_of(message, 1) == pytest.approx(expected, abs=1e-9)


def test_what_a_silent_arm_held_lies_where_it_is_and_the_scene_stays(probe, start, scene, objects):
    controller = FakeController(probe, {1: STILL, 2: STILL})
    world = start("simulated_world", {"scene": scene()})
    reports = probe.listen_to_diagnostics()
    wait_for_frame(objects, 1, "world")
    controller.claim(1, COUNT, 1, (0.0, 0.0))
    wait_for_frame(objects, 1, f"arm_1/segment_{COUNT}")
    died = time.monotonic()
    controller.die()
    message = wait_for_frame(objects, 1, "world")
    assert 0.8 < time.monotonic() - died < 4.0
    assert place_of(message, 1) == pytest.approx(tip_of((0.0, 0.0), STILL, LENGTH), abs=1e-9)
    probe.wait_for_line(world, r"WARN.*arm_1 holds food 1 no more: nothing was heard of it for 1 s")
    status = wait_for_status(
        reports, lambda m: "nothing is heard of arm_1" in m.status[0].message, "a warning"
    )
    assert status.level == DiagnosticStatus.WARN
    objects.clear()
    assert numbers(objects.wait_for()) == [1, 2, 3]
    # The controller comes back in its first pose, and says that it holds nothing.
    back = FakeController(probe, {1: [0.0] * COUNT, 2: STILL})
    back.wait_until_heard()
    back.claim(1, 2, 1)
    wait_for_frame(objects, 1, "arm_1/segment_2")
    wait_for_status(reports, lambda m: m.status[0].level == DiagnosticStatus.OK, "no warning")
    back.die()


def test_a_paused_controller_keeps_what_it_holds(probe, world, objects, controller):
    wait_for_frame(objects, 1, "world")
    controller.claim(1, 2, 1)
    wait_for_frame(objects, 1, "arm_1/segment_2")
    controller.paused = True
    objects.clear()
    probe.spin_for(1.5)
    assert {frame_of(message, 1) for message in objects.messages} == {"arm_1/segment_2"}
    # At rest there would be two.
    assert len(objects.messages) > 20


def test_a_world_that_starts_again_drops_nothing_out_of_a_hand(probe, start, scene, objects):
    controller = FakeController(probe, {1: STILL, 2: STILL})
    first = start("simulated_world", {"scene": scene()})
    wait_for_frame(objects, 1, "world")
    controller.claim(1, 2, 1, (0.0, 0.02))
    wait_for_frame(objects, 1, "arm_1/segment_2")
    probe.send("scene/edit", thing(OBSTACLE, 30, 1.0, 1.0), thing(OBSTACLE, 2, 1.0, 1.2))
    wait_for_latest(objects, lambda m: 30 in numbers(m), "an obstacle")
    controller.claim(2, 1, 30, kind=OBSTACLE)
    wait_for_frame(objects, 30, "arm_2/segment_1")
    start.crash(first)
    objects.clear()
    second = start("simulated_world", {"scene": scene()})
    wait_for_latest(objects, lambda m: m.markers[0].action == Marker.DELETEALL, "a new world")
    probe.spin_for(0.3)
    for message in objects.messages:
        assert frame_of(message, 1) == "arm_1/segment_2"
        # The rest is as in the file: what was added is gone, what was moved is back.
        assert numbers(message) == [1, 2, 3]
        assert place_of(message, 2) == (0.3, 0.0)
    probe.wait_for_line(second, "arm_2 may not hold obstacle 30: there is no such object")
    controller.die()


def test_a_second_controller_of_an_arm_is_reported(probe, start, scene):
    one = FakeController(probe, {1: STILL}, "one")
    two = FakeController(probe, {2: STILL}, "two")
    world = start("simulated_world", {"scene": scene()})
    reports = probe.listen_to_diagnostics()
    status = wait_for_status(
        reports,
        lambda m: status_values(m, "world")["arms heard of"] == "arm_1, arm_2",
        "both arms",
    )
    assert status.level == DiagnosticStatus.OK, status.message
    # Any tool that publishes joint states may be the second one, in a pose of its own.
    tool = FakeController(probe, {2: [1.0, 0.5, 0.5, 0.5]}, "tool", rate=20.0)
    line = probe.wait_for_line(world, "more than one node publishes the joints of arm_2 ")
    assert "WARN" in line and "two" in line and "tool" in line
    status = wait_for_status(
        reports, lambda m: "joints of arm_2 on joint_states" in m.status[0].message, "a warning"
    )
    assert status.level == DiagnosticStatus.WARN
    tool.die()
    reports.clear()
    wait_for_status(
        reports, lambda m: m.status[0].level == DiagnosticStatus.OK, "an end of the warning"
    )
    assert not world.matching("joints of arm_1")
    one.die()
    two.die()


# Events


def test_events_are_played_by_the_stamps_of_the_joint_states(probe, start, scene, objects):
    reached = probe.listen(PointStamped, "arm_1/target")
    calls: list[str] = []

    def serve(name: str):
        def answer(request, response):
            calls.append(name)
            response.success = name != "arm_1/retract"
            response.message = "nothing to retract with"
            return response

        return answer

    for name in ("arm_1/idle", "arm_1/retract", "arm_2/reset"):
        probe.node.create_service(Trigger, name, serve(name))
    events = [
        {"tick": 1, "arm": 1, "reach": [0.11, 0.12]},
        {"tick": 2, "arm": 1, "action": "idle"},
        {"tick": 3, "arm": 1, "action": "retract"},
        {"tick": 4, "arm": 2, "action": "reset"},
        {"tick": 5, "arm": 2, "reach": [0.5, 0.1]},
        {"tick": 40, "add": {"kind": "obstacle", "position": [0.4, 0.4], "radius": 0.02}},
        {"tick": 41, "move": 4, "position": [0.4, 0.5]},
        {"tick": 80, "remove": 2},
        {"tick": 100000, "remove": 1},
    ]
    controller = FakeController(probe, {1: STILL, 2: STILL})
    controller.quiet = True
    world = start("simulated_world", {"scene": scene(events=events)})
    reports = probe.listen_to_diagnostics()
    wait_for_frame(objects, 1, "world")
    assert not reached.count
    controller.quiet = False
    began = controller.stamp
    point = reached.wait_for().point
    assert (point.x, point.y) == (0.11, 0.12)
    probe.wait_until(lambda: len(calls) == 3, "three calls", report=lambda: str(calls))
    assert sorted(calls) == ["arm_1/idle", "arm_1/retract", "arm_2/reset"]
    refusal = "WARN.*event at tick 3: arm_1/retract was refused: nothing to retract with"
    probe.wait_for_line(world, refusal)
    probe.wait_for_line(world, "WARN.*event at tick 5: nobody listens to arm_2/target")

    message = wait_for_latest(objects, lambda m: numbers(m) == [1, 3, 4], "the last event")
    assert place_of(message, 4) == (0.4, 0.5)
    status = wait_for_status(
        reports, lambda m: status_values(m, "world")["events to come"] == "1", "one event to come"
    )
    seconds = float({value.key: value.value for value in status.values}["event clock (s)"])
    assert 80 / 120 - 0.01 < seconds <= (controller.stamp - began) * 1e-9 + 1e-6
    controller.die()


def test_events_wait_while_the_controller_is_paused(probe, start, scene, objects):
    events = [{"tick": 25, "remove": 1}]
    controller = FakeController(probe, {1: STILL, 2: STILL})
    controller.paused = True
    start("simulated_world", {"scene": scene(events=events)})
    wait_for_frame(objects, 1, "world")
    probe.spin_for(0.6)
    assert numbers(objects.latest) == [1, 2, 3]
    controller.paused = False
    wait_for_latest(objects, lambda m: numbers(m) == [2, 3], "the event")
    controller.die()


def test_reset_brings_the_file_back_and_plays_its_events_again(probe, start, scene, objects):
    controller = FakeController(probe, {1: STILL, 2: STILL})
    events = [
        {"tick": 20, "add": {"kind": "food", "position": [0.4, 0.4], "radius": 0.02}},
        {"tick": 30, "move": 4, "position": [0.4, 0.5]},
    ]
    start("simulated_world", {"scene": scene(events=events)})
    wait_for_latest(objects, lambda m: place_of(m, 4) == (0.4, 0.5), "both events")
    probe.send("scene/edit", thing(OBSTACLE, 9, 1.0, 1.0), thing(FOOD, 1, 1.0, 1.0))
    controller.claim(1, 2, 4)
    wait_for_frame(objects, 4, "arm_1/segment_2")

    answer = probe.trigger("simulated_world/clear")
    assert answer.success and "5 objects" in answer.message
    message = wait_for_latest(objects, lambda m: not numbers(m), "an empty scene")
    assert message.markers[0].action == Marker.DELETEALL

    controller.let_go(4, (0.0, 0.0))
    objects.clear()
    assert probe.trigger("simulated_world/reset").success
    message = wait_for_latest(objects, lambda m: numbers(m) == [1, 2, 3], "the file's scene")
    assert message.markers[0].action == Marker.DELETEALL
    assert place_of(message, 1) == (0.2, 0.1)
    wait_for_latest(objects, lambda m: place_of(m, 4) == (0.4, 0.5), "both events again")
    controller.die()


# The clock


def seconds_of(message: Clock) -> float:
    return message.clock.sec + message.clock.nanosec * 1e-9


def test_the_clock_runs_stops_steps_and_changes_its_speed(probe, start, scene):
    start("simulated_world", {"scene": scene(), "publish_clock": True, "use_sim_time": True})
    clock = probe.listen(Clock, "/clock")
    clock.wait_for_next(2)
    clock.clear()
    clock.wait_for_next(60)
    ticks = [seconds_of(message) * 120 for message in clock.messages]
    assert all(abs(tick - round(tick)) < 1e-4 for tick in ticks)
    steps = [round(after - before) for before, after in pairwise(ticks)]
    assert min(steps) == 1 and sum(step == 1 for step in steps) >= 50
    rate = (ticks[-1] - ticks[0]) / (clock.times[-1] - clock.times[0])
    # A busy machine holds messages up; another speed it is not.
    assert 60.0 < rate < 240.0

    assert not probe.trigger("simulated_world/step").success
    assert probe.set_flag("simulated_world/pause", True).success
    clock.clear()
    stopped = seconds_of(clock.wait_for_next(2))
    assert {seconds_of(message) for message in clock.messages} == {stopped}
    assert probe.trigger("simulated_world/step").success
    clock.wait_for(lambda m: round((seconds_of(m) - stopped) * 120) == 1, "one step")
    assert probe.trigger("simulated_world/step").success
    clock.wait_for(lambda m: round((seconds_of(m) - stopped) * 120) == 2, "two steps")

    (result,) = probe.set_parameters("simulated_world", real_time_factor=10)
    assert result.successful, result.reason
    assert probe.set_flag("simulated_world/pause", False).success
    clock.clear()
    clock.wait_for_next(300)
    passed = seconds_of(clock.messages[-1]) - seconds_of(clock.messages[0])
    assert 5.0 < passed / (clock.times[-1] - clock.times[0]) < 20.0
    for value in (0.0, -1.0, 101.0, "fast"):
        (result,) = probe.set_parameters("simulated_world", real_time_factor=value)
        assert not result.successful
        assert "real_time_factor" in result.reason


def test_a_world_without_a_clock_says_so(probe, world):
    for answer in (
        probe.set_flag("simulated_world/pause", True),
        probe.trigger("simulated_world/step"),
    ):
        assert not answer.success
        assert "publish_clock" in answer.message
    assert probe.node.count_publishers("/clock") == 0


# Starting and ending


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("version: 2\nname: Tank\n", r"tank.yaml: version must"),
        ("version: 1\nname: Tank\nfood: [{position: [0, 0], radius: -1}]\n", r"food\[0\].radius"),
        (None, "there is no such file"),
    ],
)
def test_a_scene_that_cannot_be_used_ends_the_start_with_a_plain_line(
    start, tmp_path, text, problem
):
    path = tmp_path / "tank.yaml"
    if text is not None:
        path.write_text(text)
    process = start("simulated_world", {"scene": str(path)}, ready=None)
    assert start.expect_failure(process) == 1
    assert process.matching(f"cannot start: .*{problem}")
    assert "Traceback" not in process.output


def test_parameters_that_are_wrong_or_the_controllers_do_not_hurt(start, scene):
    parameters = {
        "scene": scene(),
        "rate": 60,
        "planner": "external",
        "segment_count": 6,
        "arms": {"arm_1": {"segment_length": 0.02, "planner": "neighbour"}},
        "real_time_factor": -3.0,
        "nonsense": "x",
    }
    process = start("simulated_world", parameters)
    warnings = process.matching("WARN")
    assert len(warnings) == 1 and "real_time_factor" in warnings[0] and "-3.0" in warnings[0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_world_with_0_and_without_a_word(start, scene, number):
    process = start("simulated_world", {"scene": scene(), "publish_clock": True})
    said = len(process.lines)
    assert process.stop(number) == 0
    assert process.lines[said:] == []
