"""A node's own health as diagnostics."""

import re

import pytest
import yaml

pytest.importorskip("rclpy", reason="rclpy is not installed")

from ros_messages import STAMP, STEP, make_grasping_octopus, make_octopus, received

from octo_reach.installation import share_path
from octo_reach.planners.external import ExternalPlanner
from octo_reach.ros.diagnostics import (
    ERROR,
    OK,
    WARN,
    NodeDiagnostics,
    PartReport,
    arm_parts,
    controller_report,
)

pytestmark = pytest.mark.ros

WELL = {
    "rate": 119.97,
    "wanted_rate": 120.0,
    "steps": 4000,
    "worst_step": 0.0012,
    "missed_steps": 0,
    "dropped_seconds": 0.0,
    "rejected": {},
    "feed_age": 0.4,
    "object_timeout": 2.0,
}


def test_a_controller_that_is_well_says_ok_with_its_figures():
    diagnostics = NodeDiagnostics("reach_controller")
    message = diagnostics.fill(STAMP, *controller_report(**WELL))
    assert message is diagnostics.message
    (status,) = received(message).status
    assert (status.name, status.level) == ("reach_controller", OK)
    values = {value.key: value.value for value in status.values}
    assert values["rate (Hz)"] == "119.97"
    assert values["worst step (ms)"] == "1.2"
    assert values["missed steps"] == "0"
    assert values["rejected inputs"] == "0"
    assert values["object feed age (s)"] == "0.4"


def test_rejected_inputs_are_listed_by_cause():
    _, _, values = controller_report(**{**WELL, "rejected": {"not finite": 3, "bad id": 1}})
    assert values["rejected inputs"] == 4
    assert values["rejected: not finite"] == 3
    assert values["rejected: bad id"] == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rate": 80.0}, "80.0 of 120"),
        ({"feed_age": 3.2}, "3.2 s old"),
        ({"feed_age": None}, "silent so far"),
        ({"notes": ["a second publisher of arm_1/joint_1"]}, "second publisher"),
    ],
)
def test_what_is_wrong_is_a_warning_that_says_so(change, words):
    level, summary, _ = controller_report(**{**WELL, **change})
    assert level == WARN
    assert words in summary


@pytest.mark.parametrize(
    "change",
    [
        {"rate": 0.0, "paused": True},
        {"feed_age": 99.0, "object_timeout": 0.0},
        {"feed_age": None, "object_timeout": 0.0},
    ],
)
def test_a_pause_and_a_feed_nobody_waits_for_are_no_warning(change):
    assert controller_report(**{**WELL, **change})[0] == OK


def test_parts_follow_the_node_under_its_name_and_are_what_their_status_is_about():
    diagnostics = NodeDiagnostics("/tank/reach_controller")
    octopus = make_octopus((1, 3))
    octopus.step(STEP)
    report = controller_report(**WELL)
    message = received(diagnostics.fill(STAMP, *report, arm_parts(octopus)))
    node, *arms = message.status
    assert (node.name, node.hardware_id) == ("/tank/reach_controller", "octo_reach")
    assert [(arm.name, arm.hardware_id, arm.message, arm.level) for arm in arms] == [
        ("/tank/reach_controller: arm_1", "arm_1", "Reaching", OK),
        ("/tank/reach_controller: arm_3", "arm_3", "Reaching", OK),
    ]
    values = {value.key: value.value for value in arms[0].values}
    assert float(values["tip error (m)"]) == pytest.approx(octopus.arm(1).tip_error, rel=1e-5)
    assert values["planner"] == "neighbour"
    assert values["holds"] == "nothing"


def test_a_part_that_is_gone_is_left_out():
    diagnostics = NodeDiagnostics("node")
    parts = [PartReport(name, OK, "well") for name in ("one", "two")]
    diagnostics.fill(STAMP, OK, "well", {}, parts)
    message = diagnostics.fill(STAMP, OK, "well", {}, parts[1:])
    assert [status.name for status in message.status] == ["node", "node: two"]


def test_an_arm_that_cannot_do_as_told_warns_and_one_whose_planner_fails_is_an_error():
    class Broken(ExternalPlanner):
        state = "Failed"

    octopus = make_octopus((1, 2, 3), planners={3: Broken()})
    octopus.reach(2, (5.0, 0.0))
    octopus.step(STEP)
    parts = {part.name: part for part in arm_parts(octopus)}
    assert (parts["arm_1"].level, parts["arm_1"].summary) == (OK, "Reaching")
    assert (parts["arm_2"].level, parts["arm_2"].summary) == (WARN, "Beyond reach")
    assert (parts["arm_3"].level, parts["arm_3"].summary) == (ERROR, "Failed")


def test_what_holds_all_arms_back_is_said_of_each():
    for part in arm_parts(make_octopus((1, 2)), "the object feed is too old: holding"):
        assert part.level == WARN
        assert part.summary.endswith(": the object feed is too old: holding")


def test_what_an_arm_holds_is_told():
    octopus = make_grasping_octopus()
    held = {arm.number: arm.grip.object for arm in octopus.arms if arm.grip is not None}
    assert held
    for part in arm_parts(octopus):
        number = int(part.name.rpartition("_")[2])
        expected = f"object {held[number]}" if number in held else "nothing"
        assert part.values["holds"] == expected


def placed_by_aggregator(name):
    """Where an aggregator with the shipped parameters puts a status, as robot monitors show it."""
    text = share_path("config", "diagnostics.yaml").read_text(encoding="utf-8")
    parameters = yaml.safe_load(text)["/**"]["ros__parameters"]
    found = []
    for analyzer in parameters.values():
        if isinstance(analyzer, dict) and any(re.fullmatch(r, name) for r in analyzer["regex"]):
            # Slashes would make branches of the tree, so it turns them into spaces.
            leaf = name.replace("/", " ")
            (prefix,) = (text.replace("/", " ") for text in analyzer["remove_prefix"])
            leaf = leaf.removeprefix(prefix).removeprefix(":").lstrip(" ")
            found.append(f"/{parameters['path']}/{analyzer['path']}/{leaf}")
    return found


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("/reach_controller", "/octo_reach/Nodes/reach_controller"),
        ("/simulated_world", "/octo_reach/Nodes/simulated_world"),
        ("/tank/reach_controller", "/octo_reach/Nodes/tank reach_controller"),
        ("/reach_controller: arm_1", "/octo_reach/Arms/arm_1"),
        ("/reach_controller: arm_12", "/octo_reach/Arms/arm_12"),
        ("/tank/reach_controller: arm_1", "/octo_reach/Arms/tank reach_controller: arm_1"),
    ],
)
def test_in_a_robot_monitor_every_status_has_one_place(name, place):
    assert placed_by_aggregator(name) == [place]
