"""The planner that leads an arm along joint angles over time."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind
from octo_reach.planners import trajectory
from octo_reach.planners.trajectory import (
    ENDED,
    NOTHING_TO_FOLLOW,
    REFUSED,
    SLOWED,
    Trajectory,
    TrajectoryPlanner,
)

STEP = 1.0 / 120.0
JOINTS = 5
SPEED = 4.0
NAN = math.nan


def make(target=(40.0, 40.0), heading=0.0):
    planner = TrajectoryPlanner()
    placement = ArmPlacement(
        1, ArmParameters(JOINTS, 20.0, turning_speed=SPEED), heading=heading, target=target
    )
    return Octopus([placement], ReachRules.pixel(), {1: planner}), planner


def points(*rows, joints=None, velocities=None):
    """Rows of a time and angles: those of the first joints unless others are named."""
    table = np.array(rows, dtype=float)
    count = table.shape[1] - 1
    return Trajectory(
        joints=np.array(range(count) if joints is None else joints),
        times=table[:, 0],
        positions=table[:, 1:],
        velocities=np.full((len(table), count), NAN)
        if velocities is None
        else np.array(velocities, dtype=float).reshape(len(table), count),
    )


def run(octopus, steps):
    """Give the angles after each step, the first row before all of them."""
    rows = [octopus.arm(1).angles.copy()]
    for _ in range(steps):
        octopus.step(STEP)
        rows.append(octopus.arm(1).angles.copy())
    return np.array(rows)


def test_the_arm_is_at_every_point_at_its_time_and_on_the_straight_way_between():
    octopus, planner = make()
    start = octopus.arm(1).angles.copy()
    planner.follow(points((0.5, 0.4, 0.2), (1.0, -0.3, 0.1)))
    rows = run(octopus, 120)
    np.testing.assert_allclose(rows[60, :2], (0.4, 0.2), atol=1e-9)
    np.testing.assert_allclose(rows[120, :2], (-0.3, 0.1), atol=1e-9)
    np.testing.assert_allclose(
        rows[30, :2], (start[0] / 2.0 + 0.2, start[1] / 2.0 + 0.1), atol=1e-9
    )
    np.testing.assert_allclose(rows[90, :2], (0.05, 0.15), atol=1e-9)
    assert planner.note == ""
    run(octopus, 1)
    assert planner.note == ENDED


def test_joints_that_are_not_named_hold():
    octopus, planner = make()
    planner.follow(points((0.25, 0.3), joints=[3]))
    rows = run(octopus, 60)
    assert rows[-1, 3] == pytest.approx(0.3)
    assert (rows[:, [0, 1, 2, 4]] == rows[0, [0, 1, 2, 4]]).all()


def test_velocities_make_the_way_between_two_points_cubic():
    octopus, planner = make()
    rows = ((0.0, 0.0), (1.0, 1.0), (2.0, 0.0))
    planner.follow(points(*rows, joints=[1], velocities=[0.0, 0.0, NAN]))
    start = octopus.arm(1).angles[1]
    approach = math.ceil(abs(start) / (SPEED * STEP) - 1e-9)
    angles = run(octopus, approach + 240)[approach:, 1]
    shares = np.arange(121) / 120.0
    np.testing.assert_allclose(angles[:121], shares**2 * (3.0 - 2.0 * shares), atol=1e-9)
    # The last point gives none: straight.
    np.testing.assert_allclose(angles[120:], 1.0 - np.arange(121) / 120.0, atol=1e-9)


def test_a_first_point_at_once_is_gone_to_as_fast_as_the_arm_can_and_the_time_waits():
    octopus, planner = make()
    start = octopus.arm(1).angles[2]
    planner.follow(points((0.0, 0.6), (0.5, 0.5), joints=[2]))
    steps = math.ceil((0.6 - start) / (SPEED * STEP))
    rows = run(octopus, steps + 60)
    assert rows[steps, 2] == pytest.approx(0.6)
    assert np.diff(rows[: steps - 1, 2]) == pytest.approx(SPEED * STEP)
    assert rows[-1, 2] == pytest.approx(0.5)


def test_a_trajectory_that_asks_for_too_much_is_passed_slower_but_whole():
    octopus, planner = make()
    planner.follow(points((0.1, 0.9, -0.5), (0.2, -0.9, 0.5)))
    corner, end = np.array((0.9, -0.5)), np.array((-0.9, 0.5))
    rows = run(octopus, 30)
    assert planner.note == SLOWED
    rows = np.concatenate((rows, run(octopus, 120)[1:]))
    assert planner.note == ENDED
    turns = np.abs(np.diff(rows, axis=0))
    assert turns.max() <= SPEED * STEP * (1.0 + 1e-9)
    # Every pose lies on one of the two straight ways.
    start = rows[0, :2]
    for row in rows[:, :2]:
        assert min(off_line(row, start, corner), off_line(row, corner, end)) < 0.02
    # Nor is the corner left out by more than a step.
    assert np.abs(rows[:, :2] - corner).max(axis=1).min() <= 1.1 * SPEED * STEP


def off_line(point, start, end):
    way = end - start
    share = np.clip(np.dot(point - start, way) / np.dot(way, way), 0.0, 1.0)
    return np.abs(point - start - share * way).max()


def test_a_delay_is_waited_for_to_the_fraction_of_a_step():
    octopus, planner = make()
    start = octopus.arm(1).angles[1]
    delay = 2.25 * STEP
    planner.follow(points((10.0 * STEP, start + 0.1), joints=[1]), delay)
    assert "starts within" in planner.note
    rows = run(octopus, 13)
    assert (rows[:3, 1] == start).all()
    assert rows[3, 1] == pytest.approx(start + 0.1 * 0.075)
    assert rows[12, 1] == pytest.approx(start + 0.1 * 0.975)
    assert rows[13, 1] == pytest.approx(start + 0.1)
    assert planner.note == ""


def test_one_that_is_already_under_way_is_joined_where_it_is_now():
    octopus, planner = make()
    planner.follow(points((0.0, 0.0), (1.0, 1.0), joints=[1]), delay=-0.5)
    # It is joined at 0.5, and followed from there in time.
    start = octopus.arm(1).angles[1]
    steps = math.ceil((0.5 - start) / (SPEED * STEP))
    rows = run(octopus, steps + 60)
    assert rows[steps, 1] == pytest.approx(0.5)
    assert rows[steps + 30, 1] == pytest.approx(0.75)
    assert rows[-1, 1] == pytest.approx(1.0)


@pytest.mark.parametrize("turns", [-3, -1, 0, 2])
def test_the_base_takes_the_short_way_to_the_first_point_and_then_turns_as_told(turns):
    octopus, planner = make(heading=3.0)
    whole = 2.0 * math.pi * turns
    planner.follow(points((1.0, whole - 3.0), (3.0, whole - 3.0 - 2.0 * math.pi), joints=[0]))
    rows = run(octopus, 360)
    headings = np.unwrap(rows[:, 0])
    # Over the back to -3.0, not once around; and then once around, though it ends where it was.
    assert headings[120] - headings[0] == pytest.approx(2.0 * math.pi - 6.0)
    assert headings[360] - headings[120] == pytest.approx(-2.0 * math.pi)


def test_bends_beyond_the_limit_are_clipped_to_it_on_the_way():
    octopus, planner = make()
    limit = octopus.arm(1).parameters.maximum_bend
    planner.follow(points((1.0, 2.0 * limit), (2.0, 0.0), joints=[1]))
    rows = run(octopus, 241)
    assert rows[:, 1].max() == pytest.approx(limit)
    assert rows[120, 1] == pytest.approx(limit)
    assert rows[240, 1] == pytest.approx(0.0)
    assert planner.note == ENDED


def wall(octopus):
    """Put an obstacle beside the arm, where a turn to the left meets it."""
    x, y = octopus.arm(1).joints[3].tolist()
    return octopus.add_object(ObjectKind.OBSTACLE, (x, y + 30.0), 8.0)


def test_where_the_guard_refuses_the_way_the_time_waits_and_goes_on_when_it_is_free():
    octopus, planner = make()
    number = wall(octopus)
    planner.follow(points((1.0, 1.5), joints=[0]))
    run(octopus, 240)
    assert planner.note == REFUSED
    assert octopus.arm(1).state == "Blocked"
    stopped = octopus.arm(1).angles[0]
    assert 0.1 < stopped < 1.0
    assert planner.time < 1.0
    octopus.remove_object(number)
    rows = run(octopus, 120)
    assert rows[-1, 0] == pytest.approx(1.5)
    # On from where it was, with no jump ahead.
    assert np.abs(np.diff(rows[:, 0])).max() <= 1.6 * STEP
    assert planner.note == ENDED


def test_the_same_trajectory_gives_the_same_motion_to_the_last_bit():
    runs = []
    for _ in range(2):
        octopus, planner = make()
        wall(octopus)
        planner.follow(points((0.3, 1.5, 0.3), (0.5, -1.5, -0.3)))
        runs.append(run(octopus, 300))
    assert runs[0].tobytes() == runs[1].tobytes()


def test_a_reset_ends_it():
    octopus, planner = make()
    planner.follow(points((0.5, 0.4), joints=[1]))
    octopus.reach(1, (10.0, 40.0))
    assert planner.note == NOTHING_TO_FOLLOW
    assert planner.trajectory is None
    rows = run(octopus, 5)
    assert (rows == rows[0]).all()


def test_it_waits_while_a_grasp_matures_on_the_way():
    octopus, planner = make()
    planner.follow(points((1.0, 0.5), joints=[0]))
    run(octopus, 30)
    x, y = octopus.arm(1).joints[3].tolist()
    octopus.add_object(ObjectKind.FOOD, (x, y), 10.0)
    time = planner.time
    run(octopus, 10)
    assert octopus.arm(1).state == "Grasping"
    assert planner.time == time
    run(octopus, 40)
    assert octopus.arm(1).grip is not None


rows_of_angles = st.lists(
    st.tuples(
        st.floats(0.001, 0.5), st.lists(st.floats(-4.0, 4.0), min_size=JOINTS, max_size=JOINTS)
    ),
    min_size=1,
    max_size=3,
)


@given(rows_of_angles, st.booleans(), st.floats(-0.5, 0.1))
def test_whatever_is_asked_for_limits_hold_and_the_end_is_reached(rows, cubic, delay):
    octopus, planner = make()
    times = list(itertools.accumulate(row[0] for row in rows))
    table = [(time, *row[1]) for time, row in zip(times, rows, strict=True)]
    velocities = [[3.0] * JOINTS] * len(rows) if cubic else None
    trajectory = points(*table, velocities=velocities)
    planner.follow(trajectory, delay)
    limit = octopus.arm(1).parameters.maximum_bend
    last = trajectory.last_angles(octopus.arm(1).angles, limit)
    for _ in range(40):
        states = run(octopus, 60)
        turns = np.diff(states, axis=0)
        turns[:, 0] = (turns[:, 0] + math.pi) % (2.0 * math.pi) - math.pi
        assert np.abs(turns).max() <= SPEED * STEP * (1.0 + 1e-9)
        assert np.abs(states[:, 1:]).max() <= limit
        if planner.note == ENDED:
            break
    assert planner.note == ENDED
    off = octopus.arm(1).angles - last
    off[0] = (off[0] + math.pi) % (2.0 * math.pi) - math.pi
    assert np.abs(off).max() < 1e-5


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"joints": np.array([], dtype=int)}, "must have points and joints"),
        ({"joints": np.array([1, 1])}, "joints must be different"),
        ({"joints": np.array([-1, 1])}, "joints must be different"),
        ({"times": np.array([0.5, 0.5])}, "times must increase"),
        ({"times": np.array([-0.1, 0.5])}, "times must increase"),
        ({"times": np.array([NAN, 0.5])}, "times must increase"),
        ({"times": np.array([0.1, math.inf])}, "must be finite"),
        ({"positions": np.array([[0.0, NAN], [0.0, 0.0]])}, "must be finite"),
        ({"positions": np.zeros((2, 3))}, r"must have the shape \(2, 2\)"),
        ({"velocities": np.zeros((1, 2))}, r"must have the shape \(2, 2\)"),
    ],
)
def test_what_cannot_be_followed_is_no_trajectory(changes, reason):
    fields = {
        "joints": np.array([0, 1]),
        "times": np.array([0.1, 0.2]),
        "positions": np.zeros((2, 2)),
        "velocities": np.full((2, 2), NAN),
    }
    Trajectory(**fields)
    with pytest.raises(ValueError, match=reason):
        Trajectory(**{**fields, **changes})


def test_a_delay_must_be_finite():
    _, planner = make()
    with pytest.raises(ValueError, match="delay must be finite"):
        planner.follow(points((0.5, 0.4)), NAN)


def test_a_slow_arm_a_hair_beside_the_way_does_not_guess_for_ever(monkeypatch):
    octopus, planner = make()
    octopus.limit_speed(1, 1e-7)
    start = float(octopus.arm(1).angles[0])
    planner.follow(points((0.0, start + 5e-7), (1.0, start + 1.0)))
    calls = []
    place = trajectory._Path.at
    monkeypatch.setattr(
        trajectory._Path, "at", lambda path, time: calls.append(time) or place(path, time)
    )
    run(octopus, 20)
    assert len(calls) < 20 * 50
