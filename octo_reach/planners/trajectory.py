"""Joint angles over time, and the planner that leads an arm along them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from octo_reach.model.geometry import Floats, wrap
from octo_reach.model.octopus import Arm
from octo_reach.model.reach import Planner

NOTHING_TO_FOLLOW = "there is no trajectory to follow"
SLOWED = "the trajectory runs slower than it says: the speed limit"
REFUSED = "the trajectory waits: the guard refuses the way on"
ENDED = "the trajectory has ended: holding its last point"

SAME_ANGLE = 1e-6
"""Angles this near are the same, rad."""
SAME_TIME = 1e-9
"""Times this near are the same, s: many steps do not add up to the last bit."""
MOST_GUESSES = 20
"""Most guesses of how far an arm gets in a step, before its share of the time is cut for good."""
LEAST_PACE = 1.0 / 16.0
"""Share of a whole step that is still tried where the guard refuses longer ones."""


@dataclass(frozen=True)
class Trajectory:
    """Points that joints of an arm are to pass, each at its time.

    Attributes:
        joints: places of the joints it moves, from 0 at the base, shape (J,); others hold.
        times: when each point is due, from the trajectory's start, increasing, shape (K,), s.
        positions: angles of those joints at the points, shape (K, J), rad. The base turns on and
            on: between two points it goes as far as their difference says.
        velocities: their speeds there, shape (K, J), rad/s; NaN in the rows of points that give
            none. Between two points that give speeds the way is cubic, else straight.
    """

    joints: NDArray[np.int64]
    times: Floats
    positions: Floats
    velocities: Floats

    def __post_init__(self) -> None:
        """Check that it can be followed.

        Raises:
            ValueError: no joint or no point, shapes that do not fit, a joint twice, times that
                do not increase or begin before 0, or angles that are not finite.
        """
        shape = (len(self.times), len(self.joints))
        if 0 in shape:
            raise ValueError(f"a trajectory must have points and joints, got {shape}")
        if self.positions.shape != shape or self.velocities.shape != shape:
            raise ValueError(
                f"positions and velocities must have the shape {shape},"
                f" got {self.positions.shape} and {self.velocities.shape}"
            )
        if min(self.joints) < 0 or len(set(self.joints.tolist())) != shape[1]:
            raise ValueError(f"joints must be different places from 0, got {self.joints.tolist()}")
        if not (self.times[0] >= 0.0 and np.all(np.diff(self.times) > 0.0)):
            raise ValueError("times must increase from 0 or later")
        if not (np.all(np.isfinite(self.positions)) and math.isfinite(self.times[-1])):
            raise ValueError("positions and times must be finite")

    @property
    def duration(self) -> float:
        """When its last point is due, s."""
        return float(self.times[-1])

    def last_angles(self, angles: Floats, maximum_bend: float) -> Floats:
        """Give the pose an arm ends in.

        Args:
            angles: its joint angles before, shape (N,), rad.
            maximum_bend: its bend limit, rad.

        Returns:
            Joint angles, shape (N,), rad.
        """
        last = np.array(angles)
        last[self.joints] = self.positions[-1]
        last[1:] = np.clip(last[1:], -maximum_bend, maximum_bend)
        return last


class TrajectoryPlanner(Planner):
    """Leads an arm along a trajectory, and keeps it at the end.

    The way begins where the arm is: it goes straight to the first point, to be there at its time;
    where that time is 0 or has passed, as fast as the arm can. From there on the arm stays on the
    trajectory whatever happens: where it asks for more than the speed limit, and where the guard
    refuses a step, its time waits for the arm, so that no corner is cut and nothing is jumped over.
    A refused step is tried again in shorter ones. The time is that of the arm's updates, and stands
    still while the arm does: in a pause, and while a grasp matures.

    It is asked even where the target is blocked or reached: the trajectory decides where to go. So
    it does for an arm that carries: what it holds may pass its last place on the way, or never
    leave it; the arm is done when the trajectory is.

    Attributes:
        name: "trajectory".
        note: says so while the trajectory has not begun, waits, runs late or has ended.
        under_way: until the trajectory has ended.
        gated: False.
        follows_neighbours: False.
    """

    name = "trajectory"
    gated = False

    def __init__(self) -> None:
        """Wait for a trajectory."""
        self.note = NOTHING_TO_FOLLOW
        self._trajectory: Trajectory | None = None
        self._path: _Path | None = None
        self._time = 0.0
        self._next_time = 0.0
        self._asked: Floats | None = None
        self._pace = 1.0
        self._slowed = False

    @property
    def trajectory(self) -> Trajectory | None:
        """What is followed, or None."""
        return self._trajectory

    @property
    def time(self) -> float:
        """How far the arm is on the trajectory, s; negative before its start."""
        return self._time

    def follow(self, trajectory: Trajectory, delay: float = 0.0) -> None:
        """Follow a trajectory from the next update on, in place of any other.

        Args:
            trajectory: what to follow.
            delay: how long until it starts, s; negative: it started so long ago.

        Raises:
            ValueError: the delay is not finite.
        """
        if not math.isfinite(delay):
            raise ValueError(f"delay must be finite, got {delay!r}")
        self.reset()
        self._trajectory = trajectory
        self.under_way = True
        self._time = -delay
        self._note_delay()

    def propose(self, arm: Arm, target: Floats, obstacles: Floats, dt: float) -> Floats | None:
        """Propose the next angles on the trajectory; None before its start and after its end."""
        if self._trajectory is None:
            return None
        time = dt
        if self._path is None:
            if self._time + dt <= 0.0:
                self._time += dt
                self._note_delay()
                return None
            # The start may lie within this update.
            time = dt + min(0.0, self._time)
            self._time = max(0.0, self._time)
            self._path = _Path(self._trajectory, arm, self._time)
            self.note = ""
        path = self._path
        self._note_outcome(arm.angles)
        now = path.at(self._time)
        angles = np.array(arm.angles)
        angles[0] = now[0] + wrap(float(angles[0] - now[0]))
        largest = arm.parameters.turning_speed * dt
        gap = _distance(now, angles)
        if gap > SAME_ANGLE:
            share = min(1.0, largest * self._pace / gap)
            self._next_time = self._time
            self._asked = angles + share * (now - angles)
        elif self._time >= path.end:
            self._asked = None
            self.under_way = False
            self.note = ENDED
        else:
            self._asked = self._move_on(path, angles, time * self._pace, largest)
        return self._asked

    def reset(self) -> None:
        """Follow nothing any more: the pose was reset, or the assignment changed."""
        self.note = NOTHING_TO_FOLLOW
        self.under_way = False
        self._trajectory = None
        self._path = None
        self._time = 0.0
        self._asked = None
        self._pace = 1.0
        self._slowed = False

    def _note_delay(self) -> None:
        """Say once a second when the trajectory starts."""
        left = math.ceil(-self._time)
        self.note = f"the trajectory starts within {left} s" if left > 0 else ""

    def _note_outcome(self, angles: Floats) -> None:
        """Find out whether the arm took the last step."""
        if self._asked is None:
            return
        off = angles - self._asked
        off[0] = wrap(float(off[0]))
        if np.abs(off).max() <= SAME_ANGLE:
            self._time = self._next_time
            self._pace = min(1.0, 2.0 * self._pace)
            self.note = SLOWED if self._slowed else ""
        elif self._pace > LEAST_PACE:
            self._pace /= 2.0
        else:
            self.note = REFUSED

    def _move_on(self, path: _Path, angles: Floats, time: float, largest: float) -> Floats:
        """Give the angles some time later, less where the arm cannot turn so fast."""
        if self._time + time > path.end - SAME_TIME:
            time = path.end - self._time
        asked = path.at(self._time + time)
        tries = 0
        while (turn := _distance(asked, angles)) > largest:
            if time < SAME_TIME:
                break
            # The way is all but straight, so that the first guess is near; where the arm is a hair
            # beside it, no guess is, and the time goes to nothing.
            time *= 0.999 * largest / turn if tries < MOST_GUESSES else 0.1
            tries += 1
            asked = path.at(self._time + time)
            self._slowed = True
        self._next_time = min(self._time + time, path.end)
        return asked


class _Path:
    """A trajectory from the pose of an arm on, for all of its joints."""

    def __init__(self, trajectory: Trajectory, arm: Arm, begin: float) -> None:
        """Join the arm's pose, at the time `begin`, to the trajectory."""
        start = np.array(arm.angles)
        count = len(trajectory.times)
        self._bend = float(arm.parameters.maximum_bend)
        self._times = np.array(trajectory.times)
        self._angles = np.tile(start, (count, 1))
        self._angles[:, trajectory.joints] = trajectory.positions
        # A joint that holds has the speed 0 wherever the others have one.
        self._speeds = np.where(np.isfinite(trajectory.velocities[:, :1]), 0.0, np.nan)
        self._speeds = np.tile(self._speeds, (1, len(start)))
        self._speeds[:, trajectory.joints] = trajectory.velocities
        # A heading is the same after a whole turn: the arm takes the short way to the first point.
        first = self.at(begin)[0]
        self._angles[:, 0] += start[0] + wrap(float(first - start[0])) - first
        if begin < self._times[0]:
            self._times = np.concatenate(([begin], self._times))
            self._angles = np.vstack((start, self._angles))
            self._speeds = np.vstack((np.zeros_like(start), self._speeds))

    @property
    def end(self) -> float:
        return float(self._times[-1])

    def at(self, time: float) -> Floats:
        """Give the joint angles at a time, within the bend limit, shape (N,), rad."""
        times, angles, speeds = self._times, self._angles, self._speeds
        k = int(np.searchsorted(times, time, side="right")) - 1
        if k < 0 or k >= len(times) - 1:
            there: Floats = angles[max(k, 0)].copy()
        else:
            span = times[k + 1] - times[k]
            share = (time - times[k]) / span
            turn = angles[k + 1] - angles[k]
            there = angles[k] + share * turn
            if not (np.isnan(speeds[k, 0]) or np.isnan(speeds[k + 1, 0])):
                # Cubic Hermite: what the speeds at both ends add to the straight way.
                rest = 1.0 - share
                before = span * speeds[k] - turn
                after = span * speeds[k + 1] - turn
                there += share * rest * (rest * before - share * after)
        there[1:] = np.clip(there[1:], -self._bend, self._bend)
        return there


def _distance(one: Floats, other: Floats) -> float:
    """Give the largest difference of any joint angle, rad."""
    return float(np.abs(one - other).max())
