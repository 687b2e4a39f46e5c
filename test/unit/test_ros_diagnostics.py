"""A node's own health as diagnostics."""

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from ros_messages import STAMP, received

from octo_reach.ros.diagnostics import OK, WARN, NodeDiagnostics, controller_report

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
