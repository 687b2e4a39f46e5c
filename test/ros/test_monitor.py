"""What the monitor makes of the messages of a controller and a world."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from harness import CEILING
from rcl_interfaces.srv import ListParameters
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState, PointCloud2

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind
from octo_reach.nodes.monitor import Monitor, name_rivals
from octo_reach.nodes.visiting import NoGraphError, announce_often, full_namespace, visiting
from octo_reach.ros.contacts import ContactCloudBuilder
from octo_reach.ros.diagnostics import OK, WARN, NodeDiagnostics
from octo_reach.ros.grasps import GraspMarkers
from octo_reach.ros.objects import ObjectMarkers, WorldObject
from octo_reach.ros.quality_of_service import LATCHED, STREAM
from octo_reach.ros.states import ArmStatesBuilder

NOW = Time()
FOOD = WorldObject(5, ObjectKind.FOOD, (0.2, 0.0), 0.014)


def make_octopus() -> Octopus:
    """Arm 1 reaches along x for the food 5, which touches its tip; arm 2 is idle far away."""
    parameters = ArmParameters(segment_length=0.01)
    octopus = Octopus(
        [
            ArmPlacement(1, parameters, base=(0.0, 0.0), target=(0.2, 0.0)),
            ArmPlacement(2, parameters, base=(5.0, 5.0)),
        ],
        ReachRules.metre(),
    )
    octopus.add_object(FOOD.kind, FOOD.position, FOOD.radius, FOOD.number)
    octopus.step(1 / 120)
    return octopus


def let_grasp(octopus: Octopus) -> None:
    for _ in range(240):
        octopus.step(1 / 120)
        if octopus.arm(1).grip is not None:
            return
    raise AssertionError("arm 1 does not grasp the food")


def states_of(octopus: Octopus) -> DiagnosticArray:
    return deserialize_message(ArmStatesBuilder().fill(octopus, NOW), DiagnosticArray)


@pytest.fixture
def monitor(ros_context, namespace):
    with visiting(lambda: Monitor((1, 2, 3), namespace)) as monitor:
        yield monitor


class Controller:
    """Speaks as a controller and its world do, through a probe, once it is heard."""

    def __init__(self, probe) -> None:
        self._probe = probe

    def __call__(self, topic, message, qos=STREAM) -> None:
        self._probe.send(topic, message, qos=qos)

    def diagnose(self, level: bytes, summary: str, **values: object) -> None:
        name = f"{self._probe.node.get_namespace()}/reach_controller"
        named = {key.replace("_", " "): value for key, value in values.items()}
        named = {
            {"rate": "rate (Hz)", "wanted rate": "wanted rate (Hz)"}.get(key, key): value
            for key, value in named.items()
        }
        self("/diagnostics", NodeDiagnostics(name).fill(NOW, level, summary, named))


@pytest.fixture
def say(probe):
    return Controller(probe)


def wait_for(monitor, condition):
    deadline = time.monotonic() + CEILING
    while not condition(summary := monitor.summary()):
        assert time.monotonic() < deadline, summary
        time.sleep(0.01)
    return summary


def test_before_anything_is_heard_the_expected_arms_are_there(monitor):
    summary = monitor.summary()

    assert [arm.number for arm in summary.arms] == [1, 2, 3]
    assert not summary.started
    assert (summary.rate, summary.steps, summary.simulated_seconds) == (0.0, 0, None)


def test_whoever_lists_the_parameters_of_all_nodes_gets_its_answer(monitor, probe):
    answer = probe.call(ListParameters, "octo_reach_monitor/list_parameters")

    assert "use_sim_time" in answer.result.names


def test_arms_are_told_with_contacts_captures_and_what_they_hold(monitor, say):
    octopus = make_octopus()
    grasps = GraspMarkers()
    say("objects", ObjectMarkers().fill([FOOD]), LATCHED)
    say("grasps", grasps.start(octopus.numbers), LATCHED)
    let_grasp(octopus)
    say("grasps", grasps.fill(octopus), LATCHED)
    contacts = ContactCloudBuilder().fill(octopus.contacts, NOW)
    say("contacts", deserialize_message(contacts, PointCloud2))
    say("arm_states", states_of(octopus), LATCHED)
    summary = wait_for(
        monitor,
        lambda summary: (
            summary.captures and summary.arms[0].contacts and summary.arms[0].holds == "food 5"
        ),
    )

    first, second, third = summary.arms
    assert first.state == octopus.arm(1).state
    assert first.contacts == len(octopus.arm(1).contacts().arms)
    assert first.captures == 1
    assert first.target == pytest.approx(octopus.arm(1).target.tolist())
    assert first.tip_error == pytest.approx(octopus.arm(1).tip_error, abs=1e-6)
    assert first.planner == "neighbour"
    assert (second.state, second.contacts, second.captures, second.holds) == ("Idle", 0, 0, "")
    assert third.state == ""


def test_steps_are_counted_between_two_reports(monitor, say):
    say.diagnose(OK, "fine", rate=119.9, wanted_rate=120.0, steps=600, missed_steps=2)
    wait_for(monitor, lambda summary: summary.steps == 600)
    for _ in range(3):
        say("joint_states", JointState())
    summary = wait_for(monitor, lambda summary: summary.steps == 603)
    assert (summary.reported_rate, summary.wanted_rate) == (119.9, 120.0)
    assert summary.simulated_seconds == pytest.approx(603 / 120)
    assert summary.rate > 0.0

    say.diagnose(OK, "fine", rate=120.0, wanted_rate=120.0, steps=720, missed_steps=3)
    summary = wait_for(monitor, lambda summary: summary.steps == 720)
    assert summary.missed_steps == 5
    assert summary.problems == ()


def test_problems_of_the_nodes_are_told_and_those_of_other_namespaces_not(monitor, say, probe):
    other = NodeDiagnostics("/elsewhere/reach_controller").fill(NOW, WARN, "late", {"steps": 9})
    say("/diagnostics", other)
    say.diagnose(WARN, "90.0 of 120 steps a second", paused="yes", rejected_inputs=4)
    summary = wait_for(monitor, lambda summary: summary.problems)

    assert summary.problems == ("reach_controller: 90.0 of 120 steps a second",)
    assert (summary.paused, summary.rejected, summary.steps) == (True, 4, 0)


def test_a_foreign_cloud_of_contacts_counts_for_nothing(monitor, say):
    octopus = make_octopus()
    say("arm_states", states_of(octopus), LATCHED)
    say("contacts", PointCloud2(width=3, height=1))
    summary = wait_for(monitor, lambda summary: summary.started)

    assert [arm.contacts for arm in summary.arms] == [0, 0, 0]


def test_alone_there_are_no_rivals(monitor):
    assert name_rivals(monitor, (1, 2), threading.Event(), window=0.2) == ""


def test_a_controller_of_the_same_arms_is_a_rival(monitor, say):
    say("arm_states", states_of(make_octopus()), LATCHED)

    text = name_rivals(monitor, (2, 3), threading.Event())
    assert text.endswith("/probe already moves arm_2")


def test_a_controller_of_other_arms_is_none(monitor, say):
    say("arm_states", states_of(make_octopus()), LATCHED)
    wait_for(monitor, lambda summary: summary.started)

    assert name_rivals(monitor, (3, 4), threading.Event(), window=0.1) == ""


def test_a_node_that_is_seen_but_not_heard_is_starting(monitor, start, ros_context, namespace):
    import rclpy

    node = rclpy.create_node("reach_controller", context=ros_context, namespace=namespace)
    try:
        text = name_rivals(monitor, (1,), threading.Event(), window=0.5)
    finally:
        node.destroy_node()
    assert text == f"{namespace}/reach_controller is starting"


def test_the_search_for_rivals_can_be_stopped(monitor):
    stop = threading.Event()
    stop.set()
    begun = time.monotonic()

    assert name_rivals(monitor, (1,), stop, window=60.0) == ""
    assert time.monotonic() - begun < CEILING


def test_without_ros_2_a_visit_says_why_in_one_line(ros_context, monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", "everywhere")

    with pytest.raises(NoGraphError) as caught, visiting(Monitor):
        pass
    assert str(caught.value).startswith("ROS 2 does not start: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "namespace"), [("", "/"), ("/", "/"), ("lab", "/lab"), ("/lab/two/", "/lab/two")]
)
def test_a_namespace_is_written_in_full(text, namespace):
    assert full_namespace(text) == namespace


@pytest.mark.parametrize("text", ["9", "a//b", "a b", "ä"])
def test_what_cannot_be_a_namespace_is_named(text):
    with pytest.raises(ValueError, match="a namespace must consist of"):
        full_namespace(text)


PROFILES = ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE")


def test_nodes_announce_themselves_often(monkeypatch):
    for name in PROFILES:
        monkeypatch.setenv(name, "")  # so that whatever is set here is undone
        monkeypatch.delenv(name)
    announce_often()

    chosen = [os.environ[name] for name in PROFILES if name in os.environ]
    assert [Path(path).name for path in chosen] == ["quick_discovery.xml"]
    assert Path(chosen[0]).is_file()


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_that_the_user_has_chosen_stay(monkeypatch, name):
    for other in PROFILES:
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, "/home/me/profiles.xml")
    announce_often()

    assert {key: os.environ.get(key) for key in PROFILES if key in os.environ} == {
        name: "/home/me/profiles.xml"
    }
