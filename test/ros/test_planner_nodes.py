"""Planners in the controller, planners as nodes of their own, and one that a user wrote."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
from harness import REPOSITORY, NodeProcess
from sensor_msgs.msg import JointState
from stage import (
    FOOD,
    NOTHING_DROPPED,
    OBSTACLE,
    SEGMENTS,
    SPEED,
    Stage,
    angles_of,
    closest_point,
    joints_of,
    speed_of,
    tip_of,
)
from visualization_msgs.msg import MarkerArray

from octo_reach.planners import PLANNERS, prepare_planner
from octo_reach.ros.frames import joint_names
from octo_reach.ros.objects import WorldObject, delete_all_marker
from octo_reach.ros.quality_of_service import LATCHED

CONTROLLER = "reach_controller"
PERIOD = 1.0 / 120.0
TARGETS = ((0.1, 0.12), (-0.12, 0.1))
OWN = [name for name in PLANNERS if name != "external"]


@pytest.fixture(scope="module")
def running(shared_stage) -> Stage:
    """A stage with a controller of one arm, and its process as `process`."""
    for name in OWN:  # or on a new machine a node would take longer to start than any test waits
        prepare_planner(name)
    shared_stage.process = shared_stage.controller(
        shared_stage.write_scene(), catch_up=NOTHING_DROPPED
    )
    return shared_stage


@pytest.fixture
def arm(running) -> Stage:
    """The same, with the arm in its starting pose, idle."""
    running.probe.send("objects", MarkerArray(markers=[delete_all_marker()]), qos=LATCHED)
    since = running.states.count
    running.probe.trigger("arm_1/release")
    running.probe.trigger("reach_controller/reset")
    running.wait_for_state("Idle", since=since)
    running.process.mark()
    return running


def set_planner(stage, name):
    (result,) = stage.probe.set_parameters(CONTROLLER, planner=name)
    assert result.successful, result.reason
    return stage.wait_for_report(lambda report: report.planner == name, f"has {name}")


def start_planner(stage, name, parameters=None, ready=r"ready: "):
    """Start a planner node as `ros2 run octo_reach NAME` does."""
    code = f"import sys; from octo_reach.nodes.executables import {name}; sys.exit({name}())"
    command = [sys.executable, "-c", code, "--ros-args", "-r", f"__ns:={stage.start.namespace}"]
    for key, value in (parameters or {}).items():
        command += ["-p", f"{key}:={value}"]
    process = NodeProcess(name, command, stage.folder)
    if ready is not None:
        process.wait_for_line(ready)
    return process


def stop(process):
    assert process.stop() == 0, process.output
    assert "Traceback" not in process.output


def wait_until_reached(stage, x, y):
    stage.send(1, x, y, listeners=2)
    stage.wait_for_target(x, y)
    stage.wait_for_state("Reached")
    assert math.dist(tip_of(stage.fresh_joint_states(), 1), (x, y)) <= 0.0021


# In the controller


def test_every_planner_may_be_chosen_while_the_arm_moves_without_a_jump(arm):
    heard = arm.joint_states
    arm.fresh_joint_states()
    heard.clear()
    for count, name in enumerate([*PLANNERS, "neighbour"]):
        arm.send(1, *TARGETS[count % 2])
        report = set_planner(arm, name)
        assert not report.planner_note.startswith("failed")
        heard.wait_for_next(12)
    positions = np.array([message.position for message in heard.messages])
    turns = np.diff(positions, axis=0)
    turns = (turns + math.pi) % (2.0 * math.pi) - math.pi
    assert np.abs(turns).max() <= SPEED * PERIOD * (1.0 + 1e-6)
    assert np.abs(turns).max() > 0.5 * SPEED * PERIOD
    values = arm.wait_for_diagnostics(lambda values: True, "any")
    assert values["planner failures"] == "0"


@pytest.mark.parametrize("name", [name for name in OWN if name != "neighbour"])
def test_an_arm_reaches_with_each_planner_in_the_controller(arm, name):
    set_planner(arm, name)
    arm.send(1, *TARGETS[1])
    arm.wait_for_target(*TARGETS[1])
    arm.wait_for_state("Reached")
    assert math.dist(tip_of(arm.fresh_joint_states(), 1), TARGETS[1]) <= 0.0021


# As nodes


def test_a_planner_node_heeds_obstacles_and_targets_that_were_there_before_it_came(arm):
    set_planner(arm, "external")
    obstacle = WorldObject(4, OBSTACLE, (0.06, 0.1), 0.012)
    arm.place(obstacle)
    arm.send(1, 0.15, 0.1)
    arm.wait_for_target(0.15, 0.1)
    heard = arm.joint_states
    heard.clear()
    process = start_planner(arm, "guided_planner", {"seed": 7})
    arm.wait_for_state("Reached")
    for message in heard.messages:
        joints = joints_of(angles_of(message, 1), (0.0, 0.0))
        for start, end in itertools.pairwise(joints):
            gap = math.dist(closest_point(start, end, obstacle.position), obstacle.position)
            assert gap >= obstacle.radius + 0.003 - 1e-6
    stop(process)


def test_a_planner_node_carries_what_the_arm_holds_and_brings_it_home(arm):
    set_planner(arm, "external")
    process = start_planner(arm, "jacobian_planner", {"method": "transpose"})
    wait_until_reached(arm, 0.1, 0.12)
    arm.place(WorldObject(7, FOOD, (0.1, 0.12), 0.012), listeners=2)
    arm.send(1, 0.05, 0.15, listeners=2)
    arm.wait_for_report(lambda report: report.object == 7, "holds the food")
    since = arm.states.count
    arm.send(1, -0.1, 0.12, listeners=2)
    report = arm.wait_for_report(
        lambda report: report.state == "Holding" and report.tip_error < 0.01, "is there", 1, since
    )
    assert report.target == pytest.approx((-0.1, 0.12))
    # Where it goes home, only the controller knows, and says so in arm_states.
    since = arm.states.count
    assert arm.probe.trigger("arm_1/retract").success
    arm.wait_for_state("Retracting", since=since)
    arm.wait_for_state("Holding", since=arm.states.count)
    stop(process)


def test_it_says_once_that_the_arm_has_another_planner_and_goes_on_when_it_listens(arm):
    set_planner(arm, "neighbour")
    process = start_planner(arm, "fabrik_planner")
    arm.probe.wait_for_line(process, "arm_1 has the planner neighbour: proposals count once its")
    proposals = arm.probe.listen(JointState, "arm_1/joint_proposal")
    arm.send(1, *TARGETS[0], listeners=2)
    arm.wait_for_state("Reached")
    assert proposals.count == 0
    set_planner(arm, "external")
    heard = arm.joint_states
    heard.clear()
    wait_until_reached(arm, *TARGETS[1])
    speeds = list(map(speed_of, heard.messages))
    assert 0.5 * SPEED < max(speeds) <= SPEED * (1.0 + 1e-6)
    assert list(proposals.latest.name) == joint_names(1, SEGMENTS)
    assert len(process.matching("proposals count once")) == 1
    arm.probe.stop_listening(proposals)
    stop(process)


def test_without_a_controller_it_waits_and_says_so(stage):
    process = start_planner(stage, "fabrik_planner")
    process.wait_for_line("waiting for robot_description")
    stop(process)


# A user's own


def test_the_example_of_a_planner_of_your_own_reaches(stage):
    defaults = {"segment_count": SEGMENTS, "segment_length": 0.018, "turning_speed_degrees": 300}
    stage.controller(stage.write_scene(defaults=defaults), planner="external")
    example = REPOSITORY / "examples" / "my_planner.py"
    command = [sys.executable, str(example), "--ros-args", "-r", f"__ns:={stage.start.namespace}"]
    process = NodeProcess("my_planner", command, stage.folder)
    for x, y in ((0.1, 0.2), (-0.15, 0.1)):
        stage.send(1, x, y, listeners=2)
        stage.wait_for_target(x, y)
        stage.wait_for_state("Reached")
    process.send_signal(2)
    assert process.wait() == 0, process.output


def test_the_example_is_as_short_as_an_example_should_be():
    source = (REPOSITORY / "examples" / "my_planner.py").read_text(encoding="utf-8")
    code = source.split('"""', 2)[2].splitlines()
    assert len([line for line in code if line.strip() and '"""' not in line]) <= 50


def test_a_planner_node_that_is_not_installed_whole_says_what_is_missing():
    code = (
        "import sys; sys.modules['rclpy'] = sys.modules['builtin_interfaces'] = None;"
        "from octo_reach.nodes import executables; sys.exit(executables.guided_planner())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "is not installed here" in done.stderr


# Planners in trouble

TROUBLED = """
import pathlib, sys, time
import octo_reach.planners as planners
from octo_reach.nodes import planner_preparation, reach_controller

class Broken(planners.Planner):
    name = "fabrik"
    def propose(self, arm, target, obstacles, dt):
        raise ArithmeticError("no pose at all")

planners._MAKERS["fabrik"] = Broken

def prepare(name, report):
    if name == "guided":
        report("compiling guided")
        while not pathlib.Path("compiled").exists():
            time.sleep(0.01)

planner_preparation.PlannerPreparation.__init__.__defaults__ = (prepare,)
sys.exit(reach_controller.main())
"""


@pytest.fixture
def troubled(stage):
    """A stage with a controller of arms 1 and 2 in which fabrik fails and guided has to wait."""
    scene = stage.write_scene((1, 2), target=TARGETS[0])
    namespace = f"__ns:={stage.start.namespace}"
    command = [sys.executable, "-c", TROUBLED, "--ros-args", "-r", namespace]
    stage.process = NodeProcess(CONTROLLER, [*command, "-p", f"scene:={scene}"], stage.folder)
    stage.process.wait_for_line("ready: ")
    yield stage
    stop(stage.process)


def test_a_planner_that_fails_holds_its_arm_alone_and_is_told_of_once(troubled):
    name = "arms__arm_1__planner"
    assert troubled.probe.set_parameters(CONTROLLER, **{name: "fabrik"})[0].successful
    report = troubled.wait_for_report(lambda report: report.planner == "fabrik", "has fabrik")
    troubled.send(1, *TARGETS[1])
    report = troubled.wait_for_report(lambda report: report.planner_note, "says so")
    assert report.planner_note == "failed: ArithmeticError: no pose at all"
    assert (report.state, report.warns) == ("Failed", True)
    still = angles_of(troubled.fresh_joint_states(), 1)
    troubled.wait_for_state("Reached", 2)
    assert angles_of(troubled.fresh_joint_states(), 1) == still
    values = troubled.wait_for_diagnostics(
        lambda values: int(values["planner failures"]) > 1, "failures are counted"
    )
    assert int(values["missed steps"]) < int(values["steps"])
    troubled.process.wait_for_line("planner fabrik of arm 1 failed, the arm holds")
    said = troubled.process.matching("planner fabrik of arm 1 failed, the arm holds")
    assert 1 <= len(said) <= 2  # for each of its two targets
    # With none of its own it has that of all arms again.
    assert troubled.probe.set_parameters(CONTROLLER, **{name: ""})[0].successful
    assert troubled.wait_for_state("Reached", 1).planner == "neighbour"


def test_while_a_planner_is_compiled_the_arm_goes_on_with_the_one_it_has(troubled):
    troubled.joint_states.wait_for()
    assert troubled.probe.set_parameters(CONTROLLER, planner="guided")[0].successful
    troubled.probe.wait_for_line(troubled.process, "compiling guided")
    troubled.send(1, *TARGETS[1])
    troubled.wait_for_target(*TARGETS[1])
    assert troubled.wait_for_state("Reached").planner == "neighbour"
    (troubled.folder / "compiled").touch()
    for number in (1, 2):
        troubled.wait_for_report(lambda report: report.planner == "guided", "has it", number)
