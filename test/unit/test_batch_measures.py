"""What is measured of a run, beside the same worked out the long way from every step."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scene_documents import minimal

from octo_reach.batch import measure_run, vary_obstacles, vary_targets
from octo_reach.batch.measures import smallest_gap
from octo_reach.model.compilation import COMPILED
from octo_reach.model.scene import ObjectKind
from octo_reach.scenes import load_scene, parse_scene
from octo_reach.scenes.running import run_scene
from octo_reach.scenes.shipped import find_scene

TICKS = 600 if COMPILED else 120


def listed(**changes):
    return parse_scene(minimal(layout="listed", units="metre", **changes))


def brute_gap(octopus, arm):
    """The smallest distance of an arm's centre line from the surface of an obstacle."""
    gaps = [math.inf]
    for thing in octopus.objects:
        if thing.kind is ObjectKind.OBSTACLE:
            start, end = arm.joints[:-1], arm.joints[1:]
            along = end - start
            share = ((thing.position - start) * along).sum(1) / (along**2).sum(1)
            nearest = start + np.clip(share, 0, 1)[:, None] * along
            distances = np.hypot(*(nearest - thing.position).T)
            gaps.append(float(distances.min()) - thing.radius)
    return min(gaps)


@pytest.mark.parametrize(
    ("name", "vary"),
    [("detour", vary_obstacles), ("reef", None), ("reef", vary_targets), ("grasp_and_carry", None)],
)
def test_clearance_captures_and_end_are_those_of_every_step(name, vary):
    document = load_scene(find_scene(name))
    if vary is not None:
        document = vary(document, 3)
    gaps: dict[int, float] = {}
    for octopus in run_scene(document, TICKS):
        for arm in octopus.arms:
            gaps[arm.number] = min(gaps.get(arm.number, math.inf), brute_gap(octopus, arm))
    for measures, arm in zip(measure_run(document, TICKS), octopus.arms, strict=True):
        assert measures.arm == arm.number
        if math.isinf(gaps[arm.number]):
            assert measures.clearance is None
        else:
            assert measures.clearance == pytest.approx(gaps[arm.number], abs=1e-12)
        assert measures.captures == [c.arm for c in octopus.captures].count(arm.number)
        assert measures.state == arm.state
        sent = arm.active or arm.grip is not None
        assert measures.tip_error == (arm.tip_error if sent else None)


def test_the_way_to_the_target_is_that_of_the_tip_until_it_is_there():
    document = load_scene(find_scene("detour"))
    target = document.arms[0].target
    tips = []
    for octopus in run_scene(document, 839):
        tips.append(octopus.arm(1).tip.tolist())
        if math.dist(tips[-1], target) <= 0.002:
            break
    else:
        pytest.fail("the arm of detour does not reach its first target")
    path = sum(math.dist(*pair) for pair in pairwise(tips))
    (measures,) = measure_run(document, 1500)
    assert measures.reached is True
    assert measures.seconds == (len(tips) - 1) / 120
    assert measures.tip_path == pytest.approx(path)
    assert measures.path_ratio == pytest.approx(path / math.dist(tips[0], target))
    assert measures.path_ratio > 1.0


HERE = {"number": 1, "base": [0, 0]}


def arm_to(position):
    return {**HERE, "target": {"position": position}}


def test_an_arm_nobody_sends_anywhere_has_nothing_to_reach():
    (measures,) = measure_run(listed(arms=[{"number": 3}]), 30)
    assert measures.arm == 3
    assert (measures.reached, measures.seconds, measures.tip_path, measures.path_ratio) == (
        None,
        None,
        None,
        None,
    )
    assert (measures.clearance, measures.tip_error, measures.state) == (None, None, "Idle")


def test_an_arm_that_is_there_at_once_takes_no_time_and_no_way():
    still = listed(arms=[HERE])
    x, y = next(iter(run_scene(still, 0))).arm(1).tip.tolist()
    (measures,) = measure_run(listed(arms=[arm_to([x, y + 0.001])]), 30)
    assert (measures.reached, measures.seconds, measures.tip_path) == (True, 0.0, 0.0)
    assert measures.path_ratio == 0.0


def test_time_counts_from_the_event_that_sends_the_arm():
    at_once = listed(arms=[arm_to([0.2, 0.2])])
    later = listed(arms=[HERE], events=[{"tick": 61, "arm": 1, "reach": [0.2, 0.2]}])
    (first,) = measure_run(at_once, 600)
    (second,) = measure_run(later, 660)
    assert first.reached
    assert (second.seconds, second.tip_path) == (first.seconds, first.tip_path)


@pytest.mark.parametrize(
    "event",
    [
        {"reach": [0.0, -0.2]},
        {"action": "idle"},
        {"action": "reset"},
    ],
    ids=["reach", "idle", "reset"],
)
def test_what_comes_after_the_first_order_does_not_count(event):
    cut = listed(arms=[arm_to([0.2, 0.2])], events=[{"tick": 11, "arm": 1, **event}])
    (short,) = measure_run(listed(arms=[arm_to([0.2, 0.2])]), 10)
    (measures,) = measure_run(cut, 900)
    assert measures.reached is False
    assert measures.seconds is None
    assert measures.path_ratio is None
    assert measures.tip_path == short.tip_path
    assert short.tip_path > 0.0


def test_a_retract_of_an_arm_that_holds_nothing_ends_no_order():
    plain = listed(arms=[arm_to([0.2, 0.2])])
    told = listed(arms=[arm_to([0.2, 0.2])], events=[{"tick": 11, "arm": 1, "action": "retract"}])
    assert measure_run(told, 600) == measure_run(plain, 600)
    assert measure_run(told, 600)[0].reached


def test_an_obstacle_that_is_moved_to_a_still_arm_is_noticed():
    document = listed(
        obstacles=[{"position": [0.1, 0.5], "radius": 0.01}],
        arms=[{**HERE, "heading_degrees": 0}],
        events=[
            {"tick": 5, "move": 1, "position": [-0.02, 0.0]},
            {"tick": 6, "move": 1, "position": [0.1, 0.5]},
        ],
    )
    (measures,) = measure_run(document, 20)
    assert measures.clearance == pytest.approx(0.01)


def test_the_gap_is_negative_inside_a_circle_and_infinite_without_any():
    joints = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0]])
    assert smallest_gap(joints, np.array([[1.0, 0.5, 1.0], [9.0, 9.0, 1.0]])) == (-0.5, 2.0, 2.0)
    assert smallest_gap(joints, np.empty((0, 3)))[0] == math.inf
