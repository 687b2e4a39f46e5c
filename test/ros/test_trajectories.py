"""Trajectories that a reach controller is told to follow, over real topics."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from builtin_interfaces.msg import Duration, Time
from stage import (
    FOOD,
    NOTHING_DROPPED,
    OBSTACLE,
    SEGMENTS,
    SPEED,
    Stage,
    angles_of,
    base_of,
    closest_point,
    joints_of,
    tip_of,
)
from test_time import HeldClock, settle
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import MarkerArray

from octo_reach.ros.frames import joint_names
from octo_reach.ros.objects import WorldObject, delete_all_marker
from octo_reach.ros.quality_of_service import LATCHED

CONTROLLER = "reach_controller"
TOPIC = "arm_1/joint_trajectory"
PERIOD = 1.0 / 120.0
ENDED = "the trajectory has ended: holding its last point"
TESTS = itertools.count(1)


@pytest.fixture(scope="module")
def running(shared_stage) -> Stage:
    """A stage with a controller of one arm, and its process as `process`."""
    shared_stage.process = shared_stage.controller(
        shared_stage.write_scene(), catch_up=NOTHING_DROPPED
    )
    return shared_stage


@pytest.fixture
def arm(running) -> Stage:
    """The same, with the arm idle in its starting pose under the neighbour rules."""
    probe = running.probe
    probe.set_flag("reach_controller/pause", False)
    probe.set_parameters(CONTROLLER, planner="neighbour")
    probe.send("objects", MarkerArray(markers=[delete_all_marker()]), qos=LATCHED)
    # A trajectory that the last test has left would take the planner's place.
    up = 0.15 + 1e-6 * next(TESTS)
    running.send(1, 0.05, up)
    running.wait_for_target(0.05, up)
    since = running.states.count
    probe.trigger("arm_1/release")
    probe.trigger("reach_controller/reset")
    running.wait_for_state("Idle", since=since)
    running.process.mark()
    return running


def trajectory(*rows, joints=("joint_1",), stamp=None) -> JointTrajectory:
    """Give a message of rows (time, angle, ...), one angle for each joint."""
    message = JointTrajectory(joint_names=list(joints))
    if stamp is not None:
        seconds, rest = divmod(stamp, 10**9)
        message.header.stamp = Time(sec=seconds, nanosec=rest)
    for time, *angles in rows:
        seconds, rest = divmod(round(time * 1e9), 10**9)
        point = JointTrajectoryPoint(time_from_start=Duration(sec=seconds, nanosec=rest))
        point.positions = [float(angle) for angle in angles]
        message.points.append(point)
    return message


def wait_for_planner(stage, planner):
    return stage.wait_for_report(lambda report: report.planner == planner, f"has {planner}")


def is_at(place, angle):
    return lambda message: math.isclose(angles_of(message, 1)[place], angle, abs_tol=1e-6)


def test_an_idle_arm_passes_every_point_at_its_time_and_holds_the_last(arm):
    heard = arm.joint_states
    start = angles_of(arm.fresh_joint_states(), 1)
    heard.clear()
    arm.probe.send(
        TOPIC,
        trajectory((0.2, 1.2, 0.2), (0.4, 1.4, -0.2), joints=("arm_1/joint_1", "joint_4")),
    )
    report = arm.wait_for_report(lambda report: report.planner_note == ENDED, "is at the end")
    assert (report.planner, report.state) == ("trajectory", "Reached")
    arm.fresh_joint_states()
    rows = np.array([angles_of(message, 1) for message in heard.messages])
    moving = np.flatnonzero(rows[:, 0] != start[0])
    # Every step is heard, so that the first after the start and the 24th stand for their times.
    first = moving[0]
    assert rows[first + 23, [0, 3]] == pytest.approx((1.2, 0.2))
    assert rows[first + 47, [0, 3]] == pytest.approx((1.4, -0.2))
    assert rows[first + 11, 0] == pytest.approx((start[0] + 1.2) / 2.0)
    assert rows[first + 35, [0, 3]] == pytest.approx((1.3, 0.0))
    # Joints that were not named have held, and so does everything afterwards.
    others = [joint for joint in range(SEGMENTS) if joint not in (0, 3)]
    assert (rows[:, others] == np.array(start)[others]).all()
    end = angles_of(arm.fresh_joint_states(), 1)
    assert angles_of(heard.wait_for_next(30), 1) == end


def test_its_target_is_where_the_tip_will_be(arm):
    angles = [1.0] + [0.02 * place for place in range(1, SEGMENTS)]
    arm.probe.send(TOPIC, trajectory((0.5, *angles), joints=joint_names(1, SEGMENTS)))
    report = wait_for_planner(arm, "trajectory")
    assert report.target == pytest.approx(joints_of(angles, base_of(1))[-1], abs=1e-5)
    report = arm.wait_for_report(lambda report: report.planner_note == ENDED, "is at the end")
    assert tip_of(arm.fresh_joint_states(), 1) == pytest.approx(report.target, abs=1e-5)


@pytest.mark.parametrize("planner", ["neighbour", "external"])
def test_a_new_target_overrides_it_and_gives_the_arm_its_planner_back(arm, planner):
    arm.probe.set_parameters(CONTROLLER, planner=planner)
    arm.probe.send(TOPIC, trajectory((5.0, 3.0)))
    wait_for_planner(arm, "trajectory")
    arm.send(1, 0.1, 0.12)
    report = wait_for_planner(arm, planner)
    assert report.target == pytest.approx((0.1, 0.12))
    if planner == "neighbour":
        arm.wait_for_state("Reached")
    else:
        assert report.planner_note == "waiting for a joint proposal"


def test_a_new_trajectory_replaces_the_one_that_is_followed(arm):
    arm.probe.send(TOPIC, trajectory((20.0, 0.0)))
    wait_for_planner(arm, "trajectory")
    arm.probe.send(TOPIC, trajectory((0.1, 1.3)))
    arm.wait_for_report(lambda report: report.planner_note == ENDED, "is at the end")
    assert is_at(0, 1.3)(arm.fresh_joint_states())


@pytest.mark.parametrize("service", ["arm_1/idle", "arm_1/release", "arm_1/reset"])
def test_services_that_end_an_assignment_end_it(arm, service):
    arm.probe.send(TOPIC, trajectory((20.0, 0.0)))
    wait_for_planner(arm, "trajectory")
    since = arm.states.count
    assert arm.probe.trigger(service).success
    arm.wait_for_report(lambda report: report.planner == "neighbour", "is itself", 1, since)
    if service != "arm_1/reset":
        still = angles_of(arm.fresh_joint_states(), 1)
        assert angles_of(arm.joint_states.wait_for_next(20), 1) == still


def test_a_pause_stops_its_time_and_a_step_is_one_step_of_it(arm):
    start = angles_of(arm.fresh_joint_states(), 1)[0]
    arm.probe.set_flag("reach_controller/pause", True)
    arm.still_joint_states()
    arm.probe.send(TOPIC, trajectory((30 * PERIOD, start + 0.3)))
    wait_for_planner(arm, "trajectory")
    heard = arm.joint_states
    for count in range(1, 4):
        assert arm.probe.trigger("reach_controller/step").success
        heard.wait_for(is_at(0, start + 0.01 * count), f"step {count}")
        # What passes meanwhile does not count.
        heard.wait_for_next(1)
    arm.probe.set_flag("reach_controller/pause", False)
    heard.clear()
    heard.wait_for(is_at(0, start + 0.3), "the end")
    rows = np.array([angles_of(message, 1)[0] for message in heard.messages])
    assert np.diff(rows).max() == pytest.approx(0.01, rel=1e-6)
    assert rows[-1] == pytest.approx(start + 0.3)


def test_the_speed_limit_and_the_bend_limit_hold_whatever_it_asks_for(arm):
    heard = arm.joint_states
    arm.fresh_joint_states()
    heard.clear()
    arm.probe.send(
        TOPIC, trajectory((0.01, 5.0, 3.0), (0.02, 0.0, -3.0), joints=("joint_1", "joint_2"))
    )
    arm.wait_for_report(lambda report: "speed limit" in report.planner_note, "is slower")
    arm.wait_for_report(lambda report: report.planner_note == ENDED, "is at the end")
    arm.fresh_joint_states()
    rows = np.unwrap(np.array([angles_of(message, 1) for message in heard.messages]), axis=0)
    assert np.abs(np.diff(rows, axis=0)).max() <= SPEED * PERIOD * (1.0 + 1e-6)
    assert np.abs(rows[:, 1]).max() == pytest.approx(math.pi / 3)
    # The short way to the first point, and from there as far as it says.
    assert rows[-1, 0] == pytest.approx(-2.0 * math.pi)
    assert np.abs(rows[:, 0] - (5.0 - 2.0 * math.pi)).min() < 0.06


def test_the_guard_holds_it_and_it_goes_on_when_the_way_is_free(arm):
    heard = arm.joint_states
    angles = angles_of(arm.fresh_joint_states(), 1)
    middle = joints_of(angles, base_of(1))[SEGMENTS // 2]
    obstacle = WorldObject(4, OBSTACLE, (middle[0] - 0.04, middle[1]), 0.012)
    arm.place(obstacle)
    heard.clear()
    arm.probe.send(TOPIC, trajectory((0.5, angles[0] + 1.2)))
    report = arm.wait_for_report(lambda report: "guard" in report.planner_note, "waits")
    assert (report.state, report.warns) == ("Blocked", True)
    heard.wait_for_next(5)
    for message in heard.messages:
        joints = joints_of(angles_of(message, 1), base_of(1))
        for start, end in itertools.pairwise(joints):
            point = closest_point(start, end, obstacle.position)
            assert math.dist(point, obstacle.position) >= obstacle.radius + 0.003 - 1e-6
    arm.probe.send("objects", MarkerArray(markers=[delete_all_marker()]), qos=LATCHED)
    arm.wait_for_report(lambda report: report.planner_note == ENDED, "is at the end")


def test_food_on_the_way_is_grasped(arm):
    angles = angles_of(arm.fresh_joint_states(), 1)
    middle = joints_of(angles, base_of(1))[SEGMENTS // 2]
    arm.place(WorldObject(4, FOOD, (middle[0] - 0.03, middle[1]), 0.012))
    arm.probe.send(TOPIC, trajectory((1.0, angles[0] + 1.2)))
    report = arm.wait_for_report(lambda report: report.object == 4, "holds the food")
    assert report.state == "Holding"
    assert report.planner == "neighbour"


REFUSED = (
    (trajectory(), "points must hold between 1 and 10000 points, got 0 points"),
    (trajectory((0.5,), joints=()), "joint_names must name joints of arm_1 .* got no names"),
    (trajectory((0.5, 0.1), (0.5, 0.2)), "must increase from point to point, got 0.5 s at point 2"),
    (trajectory((0.5, math.nan)), "every position must be finite, got nan at point 1"),
    (trajectory((0.5, 0.1), joints=("joint_99",)), None),
    (trajectory((0.5, 0.1), stamp=1), None),
)
"""With the reason, where no other one before had the same cause: that is said only now and then."""


def test_what_cannot_be_followed_is_refused_with_the_reason_and_nothing_changes(arm):
    before = int(arm.wait_for_diagnostics(lambda values: True, "any")["rejected inputs"])
    for message, reason in REFUSED:
        arm.probe.send(TOPIC, message)
        if reason is not None:
            arm.probe.wait_for_line(arm.process, f"rejected {TOPIC}: .*{reason}")
    values = arm.wait_for_diagnostics(
        lambda values: int(values["rejected inputs"]) == before + len(REFUSED), "all are rejected"
    )
    assert int(values["rejected: wrong joint names"]) == 2
    assert (arm.report().state, arm.report().planner) == ("Idle", "neighbour")


# On a clock that the test holds in its hand


@pytest.fixture(scope="module")
def simulated(module_stage) -> Stage:
    """A stage with a controller of one arm that lives by the clock of the test, `stage.clock`."""
    # However late a busy machine lets it be, it is to drop nothing.
    module_stage.controller(module_stage.write_scene(), use_sim_time=True, catch_up=NOTHING_DROPPED)
    module_stage.clock = HeldClock(module_stage)
    module_stage.probe.wait_until(
        lambda: module_stage.clock._publisher.get_subscription_count(), "somebody reads the clock"
    )
    settle(module_stage, module_stage.clock)
    return module_stage


@pytest.fixture(scope="module")
def module_stage(ros_context, tmp_path_factory):
    """A second stage for this module: the first has another clock."""
    stage = Stage(ros_context, tmp_path_factory.mktemp("simulated"), "/simulated_trajectories")
    try:
        yield stage
    finally:
        stage.close()


def send_at_rest(stage, message):
    """Send a trajectory while the clock stands, and wait until it is noted."""
    stage.probe.trigger("reach_controller/reset")
    stage.probe.trigger("arm_1/idle")
    start = angles_of(stage.still_joint_states(), 1)[0]
    stage.probe.send(TOPIC, message)
    wait_for_planner(stage, "trajectory")
    return start


def test_its_time_is_that_of_the_clock_however_fast_that_runs(simulated):
    simulated.states.wait_for()
    start = send_at_rest(simulated, trajectory((1.0, 2.0)))
    simulated.clock.run(0.5, factor=5.0)
    settle(simulated, simulated.clock)
    half = angles_of(simulated.joint_states.latest, 1)[0]
    assert half == pytest.approx((start + 2.0) / 2.0, abs=2 * PERIOD)
    simulated.clock.run(0.6, factor=5.0)
    settle(simulated, simulated.clock)
    assert angles_of(simulated.joint_states.latest, 1)[0] == pytest.approx(2.0)


def test_a_stamp_in_the_future_is_waited_for(simulated):
    simulated.states.wait_for()
    stamp = simulated.clock.now + 500_000_000
    start = send_at_rest(simulated, trajectory((0.5, 1.0), stamp=stamp))
    assert "starts within 1 s" in simulated.report().planner_note
    simulated.clock.run(0.45, factor=5.0)
    settle(simulated, simulated.clock)
    assert angles_of(simulated.joint_states.latest, 1)[0] == start
    simulated.clock.run(0.3, factor=5.0)
    settle(simulated, simulated.clock)
    half = angles_of(simulated.joint_states.latest, 1)[0]
    assert half == pytest.approx((start + 1.0) / 2.0, abs=2 * PERIOD)


def test_a_stamp_in_the_past_means_it_is_under_way(simulated):
    simulated.states.wait_for()
    stamp = simulated.clock.now - 500_000_000
    send_at_rest(simulated, trajectory((0.0, 1.0), (1.0, 2.0), stamp=stamp))
    simulated.clock.run(0.6, factor=5.0)
    settle(simulated, simulated.clock)
    # Half of it was over; a moment went by on the way to it.
    assert angles_of(simulated.joint_states.latest, 1)[0] == pytest.approx(2.0)
    rows = [angles_of(message, 1)[0] for message in simulated.joint_states.messages]
    assert min(rows[-80:]) >= 1.4
