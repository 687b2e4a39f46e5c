import json
import math
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.geometry import forward_kinematics, segment_distance
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind
from octo_reach.planners import motion_planning
from octo_reach.planners.guided.body import body_of
from octo_reach.planners.motion_planning import (
    ALGORITHMS,
    MissingLibraryError,
    UnknownAlgorithmError,
    is_clear,
    plan_path,
    rest_of_path,
)
from octo_reach.planners.trajectory import Trajectory, TrajectoryPlanner
from octo_reach.scenes import build_octopus, parse_scene

SAMPLE = Path(__file__).parents[1] / "data" / "reach-public-sample.json"
WALL = [(120.0, 60.0, 25.0), (60.0, -90.0, 20.0), (200.0, 20.0, 12.0)]
TARGET = (240.0, 60.0)


def octopus_among(circles, rules=None, count=20):
    rules = rules or ReachRules.pixel()
    parameters = ArmParameters(count, 360.0 / count * rules.unit)
    octopus = Octopus([ArmPlacement(1, parameters)], rules)
    for x, y, radius in circles:
        place = (x * rules.unit, y * rules.unit)
        octopus.add_object(ObjectKind.OBSTACLE, place, radius * rules.unit)
    return octopus


def plan_among(circles, target=TARGET, rules=None, **choices):
    octopus = octopus_among(circles, rules)
    arm = octopus.arm(1)
    unit = arm.rules.unit
    aim = (target[0] * unit, target[1] * unit)
    plan = plan_path(body_of(arm), arm.angles, aim, np.array(circles) * unit, **choices)
    return arm, aim, plan


def least_gap(arm, path, circles):
    """Smallest distance of the arm's centre line from a surface, at many places of the path."""
    gap = math.inf
    base, length = tuple(arm.base.tolist()), arm.parameters.segment_length
    for start, end in pairwise(path):
        for share in np.linspace(0.0, 1.0, 40):
            joints = forward_kinematics(base, length, start + share * (end - start))[0].tolist()
            for (a, b), (x, y, radius) in (
                (pair, circle) for pair in pairwise(joints) for circle in circles
            ):
                gap = min(gap, segment_distance(*a, *b, x, y) - radius)
    return gap


def test_what_is_missing_without_the_library_is_said_in_one_line(monkeypatch):
    for name in ("ompl", "ompl.base", "ompl.geometric", "ompl.util"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingLibraryError) as caught:
        motion_planning.require_library()
    assert "needs ompl" in str(caught.value)
    assert ".[planning]" in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(MissingLibraryError):
        plan_among(WALL)


@pytest.mark.parametrize("name", ["rrtconnect", "PRM", "", None, 3])
def test_an_unknown_algorithm_is_refused_with_the_choices(name):
    with pytest.raises(
        UnknownAlgorithmError, match="algorithm must be one of RRTConnect, "
    ) as error:
        plan_among(WALL, algorithm=name)
    assert repr(name) in str(error.value)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"seconds": 0.0}, "seconds must be a finite number above 0, got 0.0"),
        ({"seconds": math.nan}, "seconds must be a finite number above 0, got nan"),
        ({"seed": 0}, "seed must be from 1 to 1073741823, got 0"),
        ({"target": (math.inf, 0.0)}, "target must be two finite numbers"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(changes, text):
    with pytest.raises(ValueError, match=text):
        plan_among(WALL, **changes)


def test_what_is_left_of_a_path_begins_where_the_arm_is():
    path = np.array([[3.0, 0.0], [3.4, 0.4], [3.4, 0.8]])
    rest = rest_of_path(path, np.array([3.2 - 2.0 * math.pi, 0.2]))
    assert rest == pytest.approx(np.array([[3.2, 0.2], [3.4, 0.4], [3.4, 0.8]]))
    assert rest_of_path(path, path[1]) == pytest.approx(path[1:])
    assert rest_of_path(path, path[2]) == pytest.approx(path[[2, 2]])


def test_a_path_that_was_clear_is_not_where_an_obstacle_has_come_into_its_way():
    octopus = octopus_among([])
    arm = octopus.arm(1)
    turned = arm.angles.copy()
    turned[0] += 1.0
    path = np.array((arm.angles, turned))
    assert is_clear(body_of(arm), path, np.array([[-50.0, 0.0, 10.0]]), 0.3)
    assert not is_clear(body_of(arm), path, np.array([[100.0, 80.0, 10.0]]), 0.3)


class TestWithTheLibrary:
    @pytest.fixture(autouse=True)
    def _library(self):
        pytest.importorskip("ompl", reason="OMPL is not installed: the extra planning has it")

    @pytest.mark.parametrize("rules", [ReachRules.pixel(), ReachRules.metre()])
    def test_a_path_leads_from_where_the_arm_is_to_its_target_and_is_clear_all_along(self, rules):
        arm, aim, plan = plan_among(WALL, rules=rules)
        assert plan.reason == ""
        assert plan.path[0].tolist() == arm.angles.tolist()
        base, length = tuple(arm.base.tolist()), arm.parameters.segment_length
        tip = forward_kinematics(base, length, plan.path[-1])[0][-1]
        assert math.dist(tip, aim) <= 0.1 * rules.unit
        assert np.all(np.abs(plan.path[:, 1:]) <= arm.parameters.maximum_bend + 1e-12)
        circles = np.array(WALL) * rules.unit
        needed = rules.arm_clearance + plan.margin
        assert plan.margin > 0.0
        assert least_gap(arm, plan.path, circles.tolist()) >= needed - 1e-9 * rules.unit

    def test_an_arm_can_follow_a_path_in_the_time_it_says(self):
        octopus = octopus_among(WALL)
        arm = octopus.arm(1)
        plan = plan_path(body_of(arm), arm.angles, TARGET, WALL)
        times = plan.times(arm.parameters.turning_speed)
        assert times[0] == 0.0
        assert times[-1] == pytest.approx(plan.duration / arm.parameters.turning_speed)
        follower = TrajectoryPlanner()
        octopus.set_planner(1, follower)
        octopus.reach(1, TARGET)
        joints = np.arange(len(arm.angles))
        follower.follow(Trajectory(joints, times, plan.path, np.full_like(plan.path, np.nan)))
        for _ in range(round(1.5 * times[-1] * 120) + 120):
            octopus.step(1.0 / 120.0)
        assert arm.state == "Reached"
        assert arm.tip_error < 0.2

    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    def test_every_algorithm_plans_in_an_easy_scene(self, algorithm):
        easy = [(150.0, 120.0, 15.0)]
        _, _, plan = plan_among(easy, (260.0, -40.0), algorithm=algorithm, seconds=0.4)
        assert plan.reason == ""
        assert len(plan.path) >= 2

    def test_the_same_seed_gives_the_same_path_and_another_one_another(self):
        paths = [plan_among(WALL, seed=seed)[2].path for seed in (2, 2, 6)]
        assert paths[0].tobytes() == paths[1].tobytes()
        assert paths[0].tobytes() != paths[2].tobytes()

    def test_what_is_held_is_brought_to_the_target_and_kept_clear_too(self):
        octopus = octopus_among(WALL)
        body = body_of(octopus.arm(1))._replace(holder=15, along=5.0, across=12.0, payload=10.0)
        plan = plan_path(body, octopus.arm(1).angles, (120.0, 150.0), WALL)
        assert plan.reason == ""
        for start, end in pairwise(plan.path):
            for share in np.linspace(0.0, 1.0, 20):
                pose = start + share * (end - start)
                joints, headings = forward_kinematics((0.0, 0.0), 18.0, pose)
                c, s = math.cos(headings[14]), math.sin(headings[14])
                centre = joints[15] + np.array([c * 5.0 - s * 12.0, s * 5.0 + c * 12.0])
                assert min(math.dist(centre, wall[:2]) - wall[2] for wall in WALL) >= 10.0
        assert centre == pytest.approx([120.0, 150.0], abs=0.15)

    @pytest.mark.parametrize(
        ("circles", "target", "reason"),
        [
            ([(60.0, 0.0, 20.0)], TARGET, "the arm does not keep its clearance where it is"),
            (WALL, (500.0, 0.0), "the target lies beyond the arm's reach"),
            (WALL, (120.0, 65.0), "no clear pose of the arm was found that reaches the target"),
        ],
    )
    def test_where_there_is_no_path_it_is_said_why(self, circles, target, reason):
        _, _, plan = plan_among(circles, target)
        assert plan.path is None
        assert plan.reason == reason
        assert plan.duration == math.inf
        with pytest.raises(ValueError, match=f"there is no path: {reason}"):
            plan.times(1.0)

    def test_a_target_that_is_walled_in_takes_the_time_it_is_given_and_no_more(self):
        ring = [
            (-200.0 + 45.0 * math.cos(turn), 150.0 + 45.0 * math.sin(turn), 14.0)
            for turn in np.linspace(0.0, 2.0 * math.pi, 12, endpoint=False)
        ]
        _, _, plan = plan_among(ring, (-200.0, 150.0), seconds=0.3)
        assert plan.path is None
        assert plan.reason.startswith(("no clear pose", "RRTConnect found no way"))

    def test_it_can_be_stopped(self):
        asked = []

        def stopped():
            asked.append(None)
            return len(asked) > 3

        octopus = octopus_among(WALL)
        arm = octopus.arm(1)
        plan = plan_path(body_of(arm), arm.angles, TARGET, WALL, seconds=60.0, stopped=stopped)
        assert plan.path is None
        assert plan.reason == "planning was stopped"

    def test_the_sample_of_reference_scenes_can_be_reached(self):
        for entry in json.loads(SAMPLE.read_text()):
            octopus = build_octopus(parse_scene(entry["scene"]))
            (arm,) = octopus.arms
            things = [thing for thing in octopus.objects if thing.kind is ObjectKind.OBSTACLE]
            circles = [(*thing.position, thing.radius) for thing in things]
            plan = plan_path(body_of(arm), arm.angles, arm.target, circles)
            assert plan.reason == "", entry["scene"]["name"]
