"""The node that plans by OMPL and sends trajectories."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys

import pytest
from stage import LENGTH, OBSTACLE, SEGMENTS, angles_of, closest_point, joints_of, tip_of
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from octo_reach.ros.frames import joint_names
from octo_reach.ros.objects import WorldObject, delete_all_marker
from octo_reach.ros.quality_of_service import LATCHED

OBSTACLES = (
    WorldObject(4, OBSTACLE, (0.06, 0.1), 0.012),
    WorldObject(5, OBSTACLE, (-0.1, 0.12), 0.015),
)


@pytest.fixture
def planned(stage):
    """A stage with one arm that waits for others to move it, and an OMPL planner."""
    pytest.importorskip("ompl", reason="OMPL is not installed: the extra planning has it")
    stage.controller(stage.write_scene(), planner="external")
    stage.process = stage.start("ompl_planner", {"planning_time": 3.0, "seed": 5})
    return stage


def test_an_arm_follows_the_planned_way_to_one_target_after_another_clear_of_obstacles(planned):
    sent = planned.probe.listen(JointTrajectory, "arm_1/joint_trajectory")
    planned.place(*OBSTACLES, listeners=2)
    heard = planned.joint_states
    for x, y in ((0.15, 0.1), (-0.17, 0.12)):
        planned.send(1, x, y, listeners=2)
        planned.wait_for_report(lambda report: report.planner == "trajectory", "follows")
        planned.wait_for_report(
            lambda report, x=x, y=y: (
                report.state == "Reached" and math.dist(report.target, (x, y)) < 2e-4
            ),
            "is there",
        )
        assert math.dist(tip_of(planned.fresh_joint_states(), 1), (x, y)) <= 0.0023
    for message in heard.messages:
        joints = joints_of(angles_of(message, 1), (0.0, 0.0))
        for (start, end), thing in itertools.product(itertools.pairwise(joints), OBSTACLES):
            gap = math.dist(closest_point(start, end, thing.position), thing.position)
            assert gap >= thing.radius + 0.003 - 1e-6
    # Once it is there no way is sent any more: what the controller reports is no new target.
    there = sent.count
    planned.states.wait_for_next(3)
    assert sent.count == there
    assert list(sent.latest.joint_names) == joint_names(1, SEGMENTS)


def test_an_arm_without_a_way_is_told_of_and_goes_when_the_way_is_free(planned):
    planned.place(WorldObject(4, OBSTACLE, (0.15, 0.1), 0.012), listeners=2)
    planned.send(1, 0.15, 0.1, listeners=2)
    planned.probe.wait_for_line(
        planned.process, "arm_1 stays where it is: no clear pose of the arm was found"
    )
    planned.probe.send("objects", MarkerArray(markers=[delete_all_marker()]), qos=LATCHED)
    planned.wait_for_state("Reached")
    assert len(planned.process.matching("stays where it is")) == 1


def test_an_obstacle_that_comes_into_the_way_is_planned_around(stage):
    pytest.importorskip("ompl", reason="OMPL is not installed: the extra planning has it")
    defaults = {"segment_count": SEGMENTS, "segment_length": LENGTH, "turning_speed_degrees": 10}
    stage.controller(stage.write_scene(defaults=defaults), planner="external")
    process = stage.start("ompl_planner")
    stage.send(1, 0.21, 0.02, listeners=2)
    stage.probe.wait_for_line(process, "gets a way of")
    stage.place(WorldObject(4, OBSTACLE, (0.15, 0.13), 0.012), listeners=2)
    stage.probe.wait_until(
        lambda: len(process.matching("gets a way of")) > 1,
        "another way",
        10.0,
        lambda: process.output,
    )


def test_without_the_library_it_says_in_one_line_what_to_install():
    code = (
        "import sys; sys.modules['ompl'] = None;"
        "from octo_reach.nodes import ompl_planner; sys.exit(ompl_planner.main([]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "needs ompl" in done.stderr
    assert ".[planning]" in done.stderr
