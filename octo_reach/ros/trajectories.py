"""Trajectories from messages, with the rules of ros2_control's joint trajectory controller."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from builtin_interfaces.msg import Duration, Time
from numpy.typing import NDArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from octo_reach.ros.frames import arm_name, joint_names
from octo_reach.ros.validation import FARTHEST, RejectedInput

MOST_POINTS = 10_000
"""Most points of a trajectory: more than a minute and a half of a point every hundredth."""

LONGEST = 1_000_000
"""Longest time of a trajectory, s: up to there two nanoseconds stay different in seconds."""

_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True)
class TrajectoryRequest:
    """What a `joint_trajectory` message asks for.

    Attributes:
        stamp: when it starts on the node's clock, ns; 0: with the next step.
        joints: places of the joints it moves, from 0 at the base, shape (J,).
        times: when each point is due, from the start, shape (K,), s.
        positions: angles there, shape (K, J), rad.
        velocities: speeds there, shape (K, J), rad/s; NaN in the rows of points that give none.
    """

    stamp: int
    joints: NDArray[np.int64]
    times: NDArray[np.float64]
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]


def trajectory_from_message(
    topic: str, message: JointTrajectory, arm: int, segment_count: int, now: int
) -> TrajectoryRequest:
    """Give the trajectory a message asks an arm to follow.

    Joints may be left out: they hold. They are named as `arm_1/joint_3` or `joint_3`, in any
    order. Accelerations and efforts are ignored. Angles beyond the bend limit are not refused but
    clipped when the arm gets there, as ros2_control's joint limiter does.

    Args:
        topic: where the message came from, for the error.
        message: the message.
        arm: number of the arm.
        segment_count: number of the arm's joints.
        now: time on the node's clock, ns; 0: it shows none yet.

    Raises:
        RejectedInput: no joints, no points or too many, unknown or doubled joints, arrays of
            unequal length, numbers NaN, infinite or too large, times that do not increase, are
            negative or too long, a trajectory that was over before it came, or a stamp without a
            clock.
    """
    joints = _checked_joints(topic, list(message.joint_names), arm, segment_count)
    points = message.points
    if not 0 < len(points) <= MOST_POINTS:
        rule = f"points must hold between 1 and {MOST_POINTS} points"
        raise RejectedInput(topic, "unequal lengths", f"{len(points)} points", rule)
    times = _checked_times(topic, [_nanoseconds(point.time_from_start) for point in points])
    stamp = _nanoseconds(message.header.stamp)
    if stamp < 0:
        rule = "header.stamp must not be negative"
        raise RejectedInput(topic, "out of range", f"{stamp} ns", rule)
    if stamp != 0 and now == 0:
        rule = "header.stamp must be 0 (now) until the clock begins"
        raise RejectedInput(topic, "out of range", f"{stamp} ns", rule)
    if stamp != 0 and stamp + times[-1] < now:
        late = (now - stamp - times[-1]) / _NANOSECONDS
        rule = "header.stamp must be 0 (now) or such that the last point is still to come"
        raise RejectedInput(topic, "out of range", f"one that ended {late:.3g} s ago", rule)
    positions, velocities = _checked_points(topic, points, len(joints))
    return TrajectoryRequest(
        stamp=stamp,
        joints=joints,
        times=np.array(times, dtype=np.float64) / _NANOSECONDS,
        positions=positions,
        velocities=velocities,
    )


def _nanoseconds(moment: Time | Duration) -> int:
    return int(moment.sec) * _NANOSECONDS + int(moment.nanosec)


def _checked_joints(topic: str, names: list[str], arm: int, count: int) -> NDArray[np.int64]:
    """Give the places of the named joints, from 0."""
    known = {name: place for place, name in enumerate(joint_names(arm, count))}
    prefix = arm_name(arm) + "/"
    rule = f"joint_names must name joints of {arm_name(arm)} ({prefix}joint_1 to joint_{count})"
    if not names:
        raise RejectedInput(topic, "wrong joint names", "no names", rule)
    places: dict[int, None] = {}
    for name in names:
        place = known.get(name if name.startswith(prefix) else prefix + name)
        if place is None:
            raise RejectedInput(topic, "wrong joint names", repr(name), rule)
        if place in places:
            shown = f"{name!r}, which stands there twice"
            raise RejectedInput(topic, "wrong joint names", shown, rule)
        places[place] = None
    return np.array(list(places), dtype=np.int64)


def _checked_times(topic: str, times: list[int]) -> list[int]:
    """Give the times of the points, ns."""
    rule = "time_from_start must not be negative and must increase from point to point"
    before = -1
    for place, time in enumerate(times, start=1):
        if time <= before:
            shown = f"{time / _NANOSECONDS:g} s at point {place}"
            raise RejectedInput(topic, "out of range", shown, rule)
        before = time
    if before > LONGEST * _NANOSECONDS:
        rule = f"time_from_start must be at most {LONGEST} s"
        raise RejectedInput(topic, "out of range", f"{before / _NANOSECONDS:g} s", rule)
    return times


def _checked_points(
    topic: str, points: list[JointTrajectoryPoint], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give positions and velocities of all points, each of shape (K, J)."""
    positions = np.empty((len(points), count))
    velocities = np.full((len(points), count), math.nan)
    for row, point in enumerate(points):
        for field in ("velocities", "accelerations", "effort"):
            length = len(getattr(point, field))
            if length not in (0, count):
                rule = f"{field} must be empty or hold one number for each of {count} joint_names"
                shown = f"{length} numbers at point {row + 1}"
                raise RejectedInput(topic, "unequal lengths", shown, rule)
        if len(point.positions) != count:
            rule = f"positions must hold one number for each of {count} joint_names"
            shown = f"{len(point.positions)} numbers at point {row + 1}"
            raise RejectedInput(topic, "unequal lengths", shown, rule)
        positions[row] = point.positions
        _check_numbers(topic, "position", "rad", positions[row], row)
        if len(point.velocities):
            velocities[row] = point.velocities
            _check_numbers(topic, "velocity", "rad/s", velocities[row], row)
    return positions, velocities


def _check_numbers(
    topic: str, what: str, unit: str, numbers: NDArray[np.float64], row: int
) -> None:
    if not np.isfinite(numbers).all():
        worst = float(numbers[~np.isfinite(numbers)][0])
        shown = f"{worst} at point {row + 1}"
        raise RejectedInput(topic, "not finite", shown, f"every {what} must be finite")
    if np.abs(numbers).max() > FARTHEST:
        shown = f"{float(np.abs(numbers).max())} at point {row + 1}"
        rule = f"every {what} must lie within {FARTHEST:g} {unit} of zero"
        raise RejectedInput(topic, "out of range", shown, rule)
