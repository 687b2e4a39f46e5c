"""Trajectories from messages: what is taken, and what is refused with which reason."""

import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from builtin_interfaces.msg import Duration, Time
from hypothesis import given
from hypothesis import strategies as st
from ros_messages import received
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from octo_reach.ros.trajectories import MOST_POINTS, trajectory_from_message
from octo_reach.ros.validation import CAUSES, RejectedInput

pytestmark = pytest.mark.ros

TOPIC = "arm_3/joint_trajectory"
NOW = 50_000_000_000
NAMES = ["arm_3/joint_2", "joint_1"]


def point(time, positions, nanoseconds=0, **fields):
    seconds, rest = divmod(round(time * 1e9) + nanoseconds, 10**9)
    message = JointTrajectoryPoint(time_from_start=Duration(sec=seconds, nanosec=rest))
    message.positions = [float(number) for number in positions]
    for name, values in fields.items():
        setattr(message, name, [float(number) for number in values])
    return message


def message(*points, names=NAMES, stamp=None):
    made = JointTrajectory(joint_names=names, points=list(points))
    if stamp is not None:
        made.header.stamp = stamp
    return made


def read(sent, now=NOW):
    return trajectory_from_message(TOPIC, received(sent), 3, 5, now)


def test_joints_in_any_order_times_positions_and_velocities_are_read():
    request = read(
        message(
            point(0.0, (0.1, 0.2)),
            point(0.5, (0.3, 0.4), velocities=(1.0, 2.0), accelerations=(9.0, 9.0)),
            point(2.25, (7.0, -7.0), effort=(9.0, 9.0)),
        )
    )
    assert request.stamp == 0
    assert request.joints.tolist() == [1, 0]
    assert request.times.tolist() == [0.0, 0.5, 2.25]
    assert request.positions.tolist() == [[0.1, 0.2], [0.3, 0.4], [7.0, -7.0]]
    np.testing.assert_array_equal(
        request.velocities, [[math.nan, math.nan], [1.0, 2.0], [math.nan, math.nan]]
    )


@pytest.mark.parametrize("seconds", [49, 50, 100])
def test_a_stamp_may_be_past_as_long_as_the_end_is_not(seconds):
    sent = message(point(1.5, (0.1, 0.2)), stamp=Time(sec=seconds, nanosec=7))
    assert read(sent).stamp == seconds * 10**9 + 7


def test_one_that_was_over_before_it_came_is_refused():
    sent = message(point(1.5, (0.1, 0.2)), stamp=Time(sec=48))
    with pytest.raises(RejectedInput, match=r"ended 0\.5 s ago") as refusal:
        read(sent)
    assert refusal.value.cause == "out of range"


def test_a_stamp_means_nothing_until_the_clock_begins():
    later = message(point(1.5, (0.1, 0.2)), stamp=Time(sec=60))
    with pytest.raises(RejectedInput, match="until the clock begins"):
        read(later, now=0)
    assert read(message(point(1.5, (0.1, 0.2))), now=0).stamp == 0


GOOD = ((0.5, (0.1, 0.2)), (1.0, (0.3, 0.4)))


@pytest.mark.parametrize(
    ("sent", "cause", "reason"),
    [
        (message(), "unequal lengths", "between 1 and 10000 points, got 0 points"),
        (message(names=[]), "wrong joint names", "got no names"),
        (message(point(0.5, ()), names=[]), "wrong joint names", "got no names"),
        (
            message(point(0.5, (0.1, 0.2)), names=["joint_6", "joint_1"]),
            "wrong joint names",
            "joint_6",
        ),
        (
            message(point(0.5, (0.1, 0.2)), names=["arm_1/joint_2", "joint_1"]),
            "wrong joint names",
            "arm_1/joint_2",
        ),
        (
            message(point(0.5, (0.1, 0.2)), names=["arm_3/joint_2", "joint_2"]),
            "wrong joint names",
            "'joint_2', which stands there twice",
        ),
        (message(point(0.5, (0.1,))), "unequal lengths", "1 numbers at point 1"),
        (
            message(point(0.5, ())),
            "unequal lengths",
            "positions must hold one number for each of 2",
        ),
        (
            message(point(0.5, (0.1, 0.2), velocities=(1.0,))),
            "unequal lengths",
            "velocities must be empty or hold one number for each of 2",
        ),
        (message(point(0.5, (0.1, 0.2), effort=(1.0,))), "unequal lengths", "effort must be empty"),
        (message(point(-0.5, (0.1, 0.2))), "out of range", "-0.5 s at point 1"),
        (
            message(point(0.5, (0.1, 0.2)), point(0.5, (0.1, 0.2))),
            "out of range",
            "must increase from point to point, got 0.5 s at point 2",
        ),
        (message(point(1.0, (0, 0)), point(0.5, (0, 0))), "out of range", "0.5 s at point 2"),
        (
            message(point(2e9, (0, 0)), point(2e9, (0, 0), nanoseconds=1)),
            "out of range",
            "at most 1000000 s, got 2e\\+09 s",
        ),
        (message(point(0.5, (0.1, math.nan))), "not finite", "nan at point 1"),
        (message(point(0.5, (0.1, -math.inf))), "not finite", "-inf at point 1"),
        (message(point(0.5, (0.1, 1e7))), "out of range", "within 1e\\+06 rad of zero"),
        (
            message(point(0.5, (0.1, 0.2), velocities=(math.nan, 0.0))),
            "not finite",
            "every velocity must be finite",
        ),
        (
            message(point(0.5, (0.1, 0.2), velocities=(1e7, 0.0))),
            "out of range",
            "within 1e\\+06 rad/s of zero",
        ),
        (
            message(point(0.5, (0.1, 0.2)), stamp=Time(sec=-1)),
            "out of range",
            "header.stamp must not be negative",
        ),
    ],
)
def test_what_cannot_be_followed_is_refused_with_the_reason(sent, cause, reason):
    with pytest.raises(RejectedInput, match=reason) as refusal:
        read(sent)
    assert refusal.value.cause == cause
    assert refusal.value.topic == TOPIC
    assert str(refusal.value).startswith(TOPIC)


def test_more_points_than_anybody_needs_are_refused():
    few = [point(0.001 * place, (0.1,)) for place in range(MOST_POINTS + 1)]
    assert len(read(message(*few[:-1], names=["joint_1"])).times) == MOST_POINTS
    with pytest.raises(RejectedInput, match="10001 points"):
        read(message(*few, names=["joint_1"]))


numbers = st.floats(width=64, allow_nan=True, allow_infinity=True)


@given(
    st.lists(st.sampled_from(["joint_1", "arm_3/joint_2", "joint_9", "", "x" * 500]), max_size=3),
    st.lists(
        st.tuples(
            st.integers(-(2**31), 2**31 - 1),
            st.integers(0, 2**32 - 1),
            st.lists(numbers, max_size=3),
            st.lists(numbers, max_size=3),
        ),
        max_size=3,
    ),
    st.integers(-(2**31), 2**31 - 1),
)
def test_any_message_is_taken_whole_or_refused(names, rows, seconds):
    sent = JointTrajectory(joint_names=names)
    sent.header.stamp = Time(sec=seconds)
    for second, nanosecond, positions, velocities in rows:
        row = JointTrajectoryPoint(positions=positions, velocities=velocities)
        row.time_from_start = Duration(sec=second, nanosec=nanosecond)
        sent.points.append(row)
    try:
        request = trajectory_from_message(TOPIC, sent, 3, 5, NOW)
    except RejectedInput as rejection:
        assert rejection.cause in CAUSES
        assert len(str(rejection)) < 400
        return
    assert request.positions.shape == (len(rows), len(names))
    assert np.isfinite(request.positions).all()
    assert (np.diff(request.times) > 0.0).all()


def test_the_longest_time_still_tells_two_nanoseconds_apart():
    request = read(message(point(999_999, (0, 0)), point(999_999, (0, 0), nanoseconds=1)))
    assert request.times[1] > request.times[0]
