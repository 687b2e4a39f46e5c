"""The planners that follow the Jacobian, under the octopus's own limits and guard."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.geometry import forward_kinematics
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind
from octo_reach.planners import create_planner
from octo_reach.planners.guided.retreat import Retreat
from octo_reach.planners.inverse_kinematics.steps import keep_at_ease
from octo_reach.planners.jacobian import BEYOND_REACH, NO_NEARER, OBSTRUCTED
from octo_reach.scenes import load_scene
from octo_reach.scenes.running import run_scene, standard_ticks
from octo_reach.scenes.shipped import shipped_scenes

TICK = 1.0 / 120.0
PLANNERS = ("jacobian_transpose", "jacobian_dls")
both = pytest.mark.parametrize("planner", PLANNERS)


def octopus_with(planner, target, obstacles=(), heading=0.0, **parameters):
    placement = ArmPlacement(1, ArmParameters(**parameters), target=target, heading=heading)
    octopus = Octopus([placement], ReachRules.pixel(), {1: create_planner(planner)})
    for x, y, radius in obstacles:
        octopus.add_object(ObjectKind.OBSTACLE, (x, y), radius)
    return octopus


@dataclass
class Film:
    """Poses and tips of an arm, step by step."""

    poses: list[np.ndarray] = field(default_factory=list)
    tips: list[np.ndarray] = field(default_factory=list)

    def reversals(self):
        """How often the tip turned back by more than a right angle."""
        moves = [b - a for a, b in itertools.pairwise(self.tips)]
        return sum(a @ b < 0.0 for a, b in itertools.pairwise(moves))

    def still(self, ticks):
        return all(pose.tobytes() == self.poses[-1].tobytes() for pose in self.poses[-ticks:])


def play(octopus, seconds):
    arm, film = octopus.arm(1), Film()
    for _ in range(round(seconds / TICK)):
        octopus.step(TICK)
        film.poses.append(arm.angles.copy())
        film.tips.append(arm.tip.copy())
    return film


def spread_targets(count, reach):
    """Targets all around, at any distance, the same every time."""
    random = np.random.default_rng(count)
    distances = 0.97 * reach * np.sqrt(random.uniform(0.0, 1.0, count))
    directions = random.uniform(-math.pi, math.pi, count)
    return np.column_stack((distances * np.cos(directions), distances * np.sin(directions)))


# ------------------------------------------------------------------------------- free space


def test_damped_least_squares_reaches_targets_all_around_in_free_space():
    for target in [*spread_targets(20, 360.0).tolist(), (-200.0, 0.0), (-340.0, 3.0), (0.0, 0.0)]:
        octopus = octopus_with("jacobian_dls", tuple(target))
        play(octopus, 6.0)
        assert octopus.arm(1).state == "Reached", target
        assert octopus.arm(1).planner_note == ""


def test_the_transpose_reaches_most_of_them_and_comes_near_the_others():
    errors = []
    for target in [*spread_targets(20, 360.0).tolist(), (-200.0, 0.0), (-300.0, 3.0), (0.0, 0.0)]:
        octopus = octopus_with("jacobian_transpose", tuple(target))
        play(octopus, 6.0)
        errors.append(octopus.arm(1).tip_error)
    assert sum(error <= 2.0 for error in errors) >= 21
    assert max(errors) < 30.0


def test_a_hooked_arm_lets_go_once_and_reaches():
    # From its start the arm hooks around at its largest bends and points its tip at the target.
    octopus = octopus_with("jacobian_dls", (-171.57354409990262, -220.5132393949966))
    film = play(octopus, 3.0)
    assert octopus.arm(1).state == "Reaching"
    assert np.count_nonzero(np.abs(film.poses[-1][1:]) >= math.pi / 3.0 - 1e-6) >= 4
    play(octopus, 3.0)
    assert octopus.arm(1).state == "Reached"


@both
def test_the_same_run_gives_the_same_poses(planner):
    obstacles = [(150.0, 60.0, 15.0), (60.0, -100.0, 20.0)]
    films = [play(octopus_with(planner, (-100.0, 150.0), obstacles), 1.5) for _ in range(2)]
    assert all(a.tobytes() == b.tobytes() for a, b in zip(*(f.poses for f in films), strict=True))


@both
def test_the_tip_goes_straighter_than_joints_clipped_one_by_one_would_lead_it(planner):
    octopus = octopus_with(planner, (150.0, 280.0))
    start = octopus.arm(1).tip.copy()
    film = play(octopus, 3.0)
    path = sum(math.dist(a, b) for a, b in itertools.pairwise([start, *film.tips]))
    assert octopus.arm(1).state == "Reached"
    assert path < 1.15 * math.dist(start, (150.0, 280.0))


@both
def test_a_planner_that_takes_over_a_moving_arm_makes_no_jump(planner):
    octopus = octopus_with("neighbour", (-150.0, 200.0))
    arm = octopus.arm(1)
    before = arm.angles.copy()
    for tick in range(90):
        if tick in (20, 60):
            octopus.set_planner(1, create_planner(planner))
        if tick == 40:
            octopus.set_planner(1, create_planner("neighbour"))
        octopus.step(TICK)
        turns = np.abs(np.angle(np.exp(1j * (arm.angles - before))))
        assert np.all(turns <= 1.5 * TICK + 1e-12)
        assert tick < 61 or np.any(turns > 0.0) or arm.state == "Reached"
        before = arm.angles.copy()


# --------------------------------------------------------------------------- out of reach


@both
@pytest.mark.parametrize("target", [(500.0, 100.0), (-420.0, 40.0), (30.0, -380.0)])
def test_out_of_reach_the_arm_stretches_without_trembling_and_keeps_still(planner, target):
    octopus = octopus_with(planner, target)
    film = play(octopus, 20.0)
    arm = octopus.arm(1)
    assert arm.state == "Beyond reach"
    assert arm.planner_note == BEYOND_REACH
    assert arm.tip_error - (math.hypot(*target) - 360.0) < 4.0
    assert film.reversals() <= 2
    if planner == "jacobian_dls":
        assert film.still(ticks=120)
        assert arm.tip_error - (math.hypot(*target) - 360.0) < 0.2


@both
def test_what_the_bends_do_not_allow_settles_still_and_is_said(planner):
    octopus = octopus_with(planner, (20.0, 0.0), segment_count=10, maximum_bend=0.2)
    film = play(octopus, 10.0)
    assert film.still(ticks=120)
    assert film.reversals() <= 2
    # Ten segments, each turned 0.2 rad against the one before: the nearest their tip comes.
    circle = abs(sum(18.0 * np.exp(0.2j * k) for k in range(10)))
    assert octopus.arm(1).tip_error == pytest.approx(circle - 20.0, abs=0.1)
    assert octopus.arm(1).planner_note == NO_NEARER


@both
@pytest.mark.parametrize("target", [(80.0, 0.0), (25.0, 0.0), (-60.0, 0.0)])
def test_an_arm_that_lies_straight_in_line_with_its_target_folds_at_once(planner, target):
    straight = ReachRules(initial_curve=0.0)
    placement = ArmPlacement(1, ArmParameters(6, 18.0, math.pi), target=target)
    octopus = Octopus([placement], straight, {1: create_planner(planner)})
    assert not np.any(octopus.arm(1).angles)
    play(octopus, 0.1)
    assert np.max(np.abs(octopus.arm(1).angles)) > 1e-3
    play(octopus, 4.0)
    assert octopus.arm(1).state == "Reached"


# ------------------------------------------------------------------------------- obstacles


def gap(arm, x, y, radius):
    return gap_of(arm.joints, x, y, radius)


def gap_of(joints, x, y, radius):
    start, along = joints[:-1], np.diff(joints, axis=0)
    share = np.clip((((x, y) - start) * along).sum(1) / (along * along).sum(1), 0.0, 1.0)
    return float(np.hypot(*(start + share[:, None] * along - (x, y)).T).min()) - radius


def test_damped_least_squares_goes_round_what_stops_the_transpose():
    wall = [(200.0, -30.0, 20.0), (200.0, 0.0, 20.0), (200.0, 30.0, 20.0)]
    states = {}
    for planner in PLANNERS:
        octopus = octopus_with(planner, (300.0, 0.0), wall, heading=0.5)
        play(octopus, 10.0)
        states[planner] = (octopus.arm(1).state, octopus.arm(1).planner_note)
    assert states == {
        "jacobian_transpose": ("Reaching", OBSTRUCTED),
        "jacobian_dls": ("Reached", ""),
    }


def at_ease(circles, angles, **changed):
    """What an arm whose tip is where it should be does besides: its step, and its tip's motion."""
    joints, _ = forward_kinematics((0.0, 0.0), 18.0, angles)
    arguments = {
        "joints": joints,
        "angles": angles,
        "comfortable": angles.copy(),
        "circles": np.array(circles, dtype=np.float64).reshape(-1, 3),
        "clearance": 4.0,
        "distance": 27.0,
        "payload": np.zeros(5),
        "bend": math.pi / 3.0,
        "largest_turn": 0.0125,
        "manipulability": 0.5,
        "step": np.zeros(len(angles)),
        **changed,
    }
    keep_at_ease(*arguments.values())
    moved, _ = forward_kinematics((0.0, 0.0), 18.0, angles + arguments["step"])
    return arguments["step"], math.dist(moved[-1], joints[-1]), moved


def test_what_the_tip_leaves_free_takes_the_arm_away_from_an_obstacle():
    angles = np.full(12, 0.1)
    joints, _ = forward_kinematics((0.0, 0.0), 18.0, angles)
    stone = (*(joints[5] + (4.0, -20.0)), 10.0)
    step, drift, moved = at_ease([stone], angles)
    assert 1e-4 < np.max(np.abs(step)) <= 0.0125
    assert drift < 0.02
    assert gap_of(moved, *stone) > gap_of(joints, *stone) + 0.01


def test_without_obstacles_it_takes_the_arm_towards_a_comfortable_pose():
    angles = np.array([0.3, 0.8, -0.9, 0.7, -0.8, 0.6, 0.4, -0.2])
    comfortable = np.array([0.3, *[0.06] * 7])
    step, drift, _ = at_ease([], angles, comfortable=comfortable)
    assert drift < 0.02
    before = np.linalg.norm(angles - comfortable)
    assert np.linalg.norm(angles + step - comfortable) < before - 1e-4
    # A stretched arm is to stay stretched.
    assert not np.any(at_ease([], angles, comfortable=comfortable, manipulability=0.0)[0])


def test_a_step_aside_never_deepens_an_overlap(monkeypatch):
    # As where there is no way out of it.
    monkeypatch.setattr(Retreat, "step", lambda *arguments: None)
    octopus = octopus_with("jacobian_dls", (250.0, 180.0))
    play(octopus, 2.0)
    arm = octopus.arm(1)
    x, y = arm.joints[10] + (0.0, 4.0)
    octopus.add_object(ObjectKind.OBSTACLE, (x, y), 10.0)
    octopus.reach(1, (255.0, 150.0))
    before = gap(arm, x, y, 10.0)
    play(octopus, 1.0)
    assert gap(arm, x, y, 10.0) >= before - 1e-6
    assert arm.planner_note == OBSTRUCTED


@both
def test_before_a_fence_the_arm_ends_still_and_sets_out_again_when_it_is_gone(planner):
    places = [math.pi / 3.0 * k for k in range(6)]
    fence = [(200.0 + 26.0 * math.cos(k), 100.0 + 26.0 * math.sin(k), 20.0) for k in places]
    octopus = octopus_with(planner, (200.0, 100.0), fence)
    film = play(octopus, 12.0)
    assert film.still(ticks=120)
    assert octopus.arm(1).planner_note == OBSTRUCTED
    octopus.clear_objects()
    play(octopus, 3.0)
    assert octopus.arm(1).state == "Reached"


def test_what_is_carried_is_taken_around_obstacles_as_well():
    document = load_scene(shipped_scenes()["grasp_and_carry"])
    carry, retract, again, release = (event.tick for event in document.events)
    places = {retract: document.events[0].reach, again: (0.0, 0.04), release: (-0.01, 0.17)}
    meal, *stones = document.objects
    for octopus in run_scene(document, release - 1, "jacobian_dls"):
        place = octopus.objects.positions[0]
        for stone in stones:
            assert math.dist(place, stone.position) >= meal.radius + stone.radius - 1e-9
        if octopus.ticks + 1 in places:
            assert octopus.arm(1).state == "Holding"
            assert math.dist(place, places[octopus.ticks + 1]) <= 0.002
    assert octopus.ticks > carry


def test_a_note_is_forgotten_with_the_assignment_it_was_made_for():
    octopus = octopus_with("jacobian_dls", (500.0, 0.0))
    play(octopus, 0.5)
    assert octopus.arm(1).planner_note == BEYOND_REACH
    octopus.reach(1, (100.0, 100.0))
    assert octopus.arm(1).planner_note == ""


# ------------------------------------------------------------------- the scenes made for them


def ends(name, planner):
    """State, tip error in millimetres and angles of arm 1 before each event and at the end."""
    document = load_scene(shipped_scenes()[name])
    last = standard_ticks(document)
    ticks = [event.tick - 1 for event in document.events] + [last]
    return [
        (octopus.arm(1).state, 1000.0 * octopus.arm(1).tip_error, octopus.arm(1).angles.copy())
        for octopus in run_scene(document, last, planner)
        if octopus.ticks in ticks
    ]


@both
def test_one_link_points_where_it_is_sent(planner):
    *reached, inside, outside = ends("one_link", planner)
    assert [state for state, _, _ in reached] == ["Reached"] * 3
    assert inside[1] == pytest.approx(200.0 - 50.0 * math.sqrt(5.0), abs=0.1)
    assert inside[2][0] == pytest.approx(math.atan2(-0.1, 0.05), abs=0.01)
    assert outside[0] == "Beyond reach"
    assert outside[1] == pytest.approx(60.0, abs=0.1)


def test_two_links_come_through_their_own_middle_by_damped_least_squares_alone():
    damped = ends("two_link", "jacobian_dls")
    assert [state for state, _, _ in damped] == ["Reached"] * 4 + ["Beyond reach"]
    assert damped[-1][1] == pytest.approx(1000.0 * math.hypot(0.1, 0.36) - 300.0, abs=0.2)
    for other in ("jacobian_transpose", "neighbour"):
        assert ends("two_link", other)[1][0] == "Reaching"


def test_three_links_bend_around_and_come_back_to_another_pose():
    first, second, third = ends("three_link", "jacobian_dls")
    assert {first[0], second[0], third[0]} == {"Reached"}
    assert np.max(np.abs(third[2] - first[2])) > 0.4
    caught = ends("three_link", "jacobian_transpose")[1]
    assert caught[0] == "Reaching" and caught[1] > 100.0
