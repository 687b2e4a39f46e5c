"""States of the arms as diagnostics, and read back."""

import math

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from ros_messages import STAMP, STEP, filled, make_grasping_octopus, make_octopus, received

from octo_reach.model.reach import Planner
from octo_reach.model.scene import ObjectKind
from octo_reach.ros.colours import PLAIN, state_colour
from octo_reach.ros.encoding import encode_message
from octo_reach.ros.frames import arm_name
from octo_reach.ros.states import ArmStatesBuilder, arm_reports

pytestmark = pytest.mark.ros


def test_every_arm_is_reported_with_its_state_and_figures():
    octopus = make_octopus((1, 4))
    octopus.step(STEP)
    builder = ArmStatesBuilder()
    message = filled(builder, octopus, STAMP)
    assert [status.name for status in message.status] == ["arm_1", "arm_4"]
    assert message.header.stamp == STAMP
    for number, report in arm_reports(message).items():
        arm = octopus.arm(number)
        assert report.number == number
        assert report.state == arm.state == "Reaching"
        assert not report.warns
        assert report.target == pytest.approx(arm.target.tolist(), rel=1e-5)
        assert report.tip_error == pytest.approx(arm.tip_error, abs=1e-6)
        assert report.object is None
        assert (report.dwell, report.planner, report.planner_note) == (0.0, "neighbour", "")
        assert report.updates == arm.updates == 1
        assert report.warning == ""


def test_arms_of_every_length_of_name_and_warning_are_read_as_they_were_written():
    octopus = make_octopus((1, 20, 300, 4000))
    for warning in ("", "a", "ab", "abc", "abcd", "µ"):
        message = filled(ArmStatesBuilder(), octopus, STAMP, warning)
        assert encode_message(message) == ArmStatesBuilder().fill(octopus, STAMP, warning)
        assert [status.name for status in message.status] == [
            arm_name(number) for number in octopus.numbers
        ]
        for status in message.status:
            assert [value.key for value in status.values][-2:] == ["updates", "warning"]
            assert status.values[-1].value == warning
            assert status.hardware_id == "octo_reach"


def test_a_held_object_is_named():
    octopus = make_grasping_octopus()
    report = arm_reports(filled(ArmStatesBuilder(), octopus, STAMP))[1]
    assert (report.state, report.object) == ("Holding", 5)


def test_a_maturing_grasp_shows_its_dwell():
    octopus = make_grasping_octopus(seconds=0.1)
    report = arm_reports(filled(ArmStatesBuilder(), octopus, STAMP))[1]
    assert report.state == "Grasping"
    assert report.dwell == pytest.approx(0.1, abs=1e-3)


def test_a_planner_that_finds_no_way_is_heard_and_seen():
    class Lost(Planner):
        name = "lost"
        state = "No way"
        note = "all of it was searched"

        def propose(self, arm, target, obstacles, dt):
            return None

    octopus = make_octopus((1,), planners={1: Lost()})
    octopus.step(STEP)
    report = arm_reports(filled(ArmStatesBuilder(), octopus, STAMP))[1]
    assert (report.state, report.warns) == ("No way", True)
    assert (report.planner, report.planner_note) == ("lost", "all of it was searched")
    assert PLAIN not in (state_colour("No way"), state_colour("Failed"))


def test_an_arm_that_cannot_do_as_told_warns():
    octopus = make_octopus((1, 2))
    octopus.reach(1, (5.0, 5.0))
    octopus.add_object(ObjectKind.OBSTACLE, tuple(octopus.arm(2).target.tolist()), 0.01)
    octopus.step(STEP)
    reports = arm_reports(filled(ArmStatesBuilder(), octopus, STAMP))
    assert [(reports[n].state, reports[n].warns) for n in (1, 2)] == [
        ("Beyond reach", True),
        ("Blocked", True),
    ]


def test_a_warning_reaches_every_arm_and_leaves_the_state():
    octopus = make_octopus()
    message = filled(ArmStatesBuilder(), octopus, STAMP, "the object feed is silent")
    assert all(status.level == DiagnosticStatus.WARN for status in message.status)
    for report in arm_reports(message).values():
        assert report.state == "Reaching"
        assert report.warning == "the object feed is silent"


def test_an_arm_that_an_obstacle_lies_on_warns_of_it_whatever_its_state():
    octopus = make_octopus((1, 2))
    octopus.idle(1)
    x, y = octopus.arm(1).joints[6].tolist()
    octopus.add_object(ObjectKind.OBSTACLE, (x, y), 0.007, 8)
    octopus.add_object(ObjectKind.OBSTACLE, octopus.arm(1).joints[12].tolist(), 0.005, 9)
    reports = arm_reports(filled(ArmStatesBuilder(), octopus, STAMP, "no feed"))
    assert reports[1].warning == "no feed; obstacle 8 lies on it, 7.0 mm deep"
    assert reports[2].warning == "no feed"
    reports = arm_reports(filled(ArmStatesBuilder(), octopus, STAMP))
    assert [(reports[n].warns, reports[n].warning) for n in (1, 2)] == [
        (True, "obstacle 8 lies on it, 7.0 mm deep"),
        (False, ""),
    ]
    octopus.move_object(8, (x + 1.0, y))
    octopus.remove_object(9)
    assert arm_reports(filled(ArmStatesBuilder(), octopus, STAMP))[1].warning == ""


@pytest.mark.parametrize("target", [(1e-12, 0.2), (-0.0, 0.2), (0.1234567891, -3e-17)])
def test_a_target_is_reported_to_six_digits_however_small_so_that_who_sent_it_knows_it(target):
    octopus = make_octopus((1,))
    octopus.reach(1, target)
    report = arm_reports(filled(ArmStatesBuilder(), octopus, STAMP))[1]
    assert [f"{value:.6g}" for value in report.target] == [f"{value:.6g}" for value in target]


def test_only_what_is_worth_a_report_is_a_change():
    octopus = make_octopus((1,))
    builder = ArmStatesBuilder()
    assert builder.changed(octopus)
    builder.fill(octopus, STAMP)
    octopus.step(STEP)
    assert not builder.changed(octopus)
    assert builder.changed(octopus, "a warning")
    octopus.reach(1, (0.1, 0.05))
    assert builder.changed(octopus)
    builder.fill(octopus, STAMP)
    assert not builder.changed(octopus)
    octopus.idle(1)
    assert builder.changed(octopus)


def test_reports_of_others_and_unreadable_values_do_no_harm():
    message = DiagnosticArray()
    message.status = [
        DiagnosticStatus(name="reach_controller", message="fine"),
        DiagnosticStatus(
            name="arm_2",
            message="Idle",
            level=DiagnosticStatus.OK,
            values=[
                KeyValue(key="target", value="nan, nan"),
                KeyValue(key="tip error", value="near"),
                KeyValue(key="updates", value=""),
            ],
        ),
        DiagnosticStatus(name="arm_3", message="Idle", level=DiagnosticStatus.OK),
    ]
    reports = arm_reports(received(message))
    assert sorted(reports) == [2, 3]
    assert reports[2].target is None
    assert math.isnan(reports[2].tip_error)
    assert reports[3].updates == 0
