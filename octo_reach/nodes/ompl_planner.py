"""OMPL as a node: plans a whole way for each new target, and sends it as a trajectory.

It hears what the other planner nodes hear. While it plans, which may take seconds, callbacks go on
in their own thread; a newer target ends the search for an older one.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from builtin_interfaces.msg import Duration
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from octo_reach.model.arm import ArmPlacement
from octo_reach.model.geometry import Floats, wrap
from octo_reach.model.scene import ObjectKind
from octo_reach.nodes.planner_node import EXTERNAL, TRAJECTORY, LedArm, PlannerKind, PlannerNode
from octo_reach.nodes.signal_flag import SignalFlag
from octo_reach.nodes.spinning import run_node
from octo_reach.planners import create_planner
from octo_reach.planners.guided.body import Body, body_of, place_effector
from octo_reach.planners.motion_planning import (
    ALGORITHMS,
    SECONDS,
    MissingLibraryError,
    PathPlan,
    is_clear,
    plan_path,
    require_library,
    rest_of_path,
)
from octo_reach.ros.frames import arm_name, joint_names
from octo_reach.ros.parameters import CHOICE, REAL, WHOLE, Setting
from octo_reach.ros.quality_of_service import INPUT
from octo_reach.ros.states import ArmReport
from octo_reach.ros.validation import RejectedInput

STILL = 2.0
"""An arm that stands still for so long on its way is planned for anew, s."""
TAKEN_UP = 1.0
"""How long to wait for the controller to say that it has a target too, s: a trajectory that comes
before the target would be ended by it."""
KEPT = 0.3
"""Share of a path's margin that must be left where the scene has changed."""
SAME_PLACE = 1e-5
"""Reported places are rounded: those nearer to one another than this are one, in reaches."""
TURN = 1e-6
"""What counts as a turn of a joint, rad."""

KIND = PlannerKind(
    "ompl_planner",
    (
        Setting(
            "algorithm",
            CHOICE,
            ALGORITHMS[0],
            "OMPL's planner",
            choices=ALGORITHMS,
        ),
        Setting("planning_time", REAL, SECONDS, "Longest time for one plan", "s", 0.01, 600.0),
        Setting(
            "seed", WHOLE, 1, "Of what is drawn by lot", minimum=1, maximum=2**30 - 1, fixed=True
        ),
    ),
    lambda table: create_planner(EXTERNAL),
)


@dataclass(frozen=True, eq=False)
class Question:
    """What one plan is to be found for.

    Attributes:
        number: number of the arm.
        errand: what the arm was sent to do: while this is the same, so is the question.
        body: the arm.
        angles: its pose, shape (N,), rad.
        target: where its tip, or what it holds, should go, (x, y), m.
        obstacles: centre and radius of each obstacle that it could meet, shape (K, 3), m.
    """

    number: int
    errand: tuple[object, ...]
    body: Body
    angles: Floats
    target: tuple[float, float]
    obstacles: Floats


class OmplPlannerNode(PlannerNode):
    """Hears arms, objects and targets; plans, and publishes joint trajectories."""

    def __init__(self) -> None:
        """Bring up everything that needs no robot description.

        Raises:
            MissingLibraryError: OMPL is not installed.
        """
        require_library()
        self._angles: dict[int, Floats] = {}
        self._moved: dict[int, float] = {}
        self._reported: dict[int, tuple[float, float] | None] = {}
        self._answers: dict[int, tuple[Question, PathPlan]] = {}
        super().__init__(KIND)

    # ---------------------------------------------------------------- inputs

    def _place(self, placement: ArmPlacement) -> None:
        super()._place(placement)
        led = self._arms[placement.number]
        self._answers.pop(placement.number, None)
        if led.publisher.msg_type is JointState:
            self.destroy_publisher(led.publisher)
            topic = f"{arm_name(placement.number)}/joint_trajectory"
            led.publisher = self.create_publisher(JointTrajectory, topic, INPUT)

    def _take_joints(self, message: JointState) -> None:
        try:
            heard = self._reader.read(message)
        except RejectedInput as rejection:
            self._rejections.reject(rejection)
            return
        now = time.monotonic()
        with self._lock:
            for number, angles in heard.items():
                before = self._angles.get(number)
                self._angles[number] = angles
                if before is None or _is_elsewhere(before, angles):
                    self._moved[number] = now

    def _take_reported_target(self, led: LedArm, report: ArmReport) -> None:
        self._reported[report.number] = report.target
        # The controller calls the end of a trajectory the target: that is no new one, and what is
        # told of the last trajectory may come when the next is already on its way.
        if report.planner == TRAJECTORY:
            return
        super()._take_reported_target(led, report)

    # ------------------------------------------------------------------ time

    def live(self, stop: SignalFlag) -> None:
        """Plan until `stop` is set."""
        self.get_logger().info(
            f"ready: plans by {self._table['algorithm']}, each in {self._table['planning_time']:g}"
            " s at the most"
        )
        begun = time.monotonic()
        waiting_said = False
        while not stop.is_set():
            now = time.monotonic()
            with self._lock:
                arms = dict(self._arms)
            if not arms and not waiting_said and now - begun > STILL:
                self.get_logger().warning("waiting for robot_description: is a controller running?")
                waiting_said = True
            for number, led in arms.items():
                with self._lock:
                    question = self._ask(number, led, time.monotonic())
                if question is not None:
                    self._answer(question, led, stop)
            stop.wait(1.0 / self._table["proposal_rate"])

    def _ask(self, number: int, led: LedArm, now: float) -> Question | None:
        """Give what has to be planned for an arm now, if anything."""
        led.scene.expire(now)
        angles = self._angles.get(number)
        target = led.leader.target
        wanted = led.planner in (EXTERNAL, TRAJECTORY) and not led.resting
        if angles is None or target is None or not self._is_heard(led, now) or not wanted:
            return None
        body = body_of(led.leader.octopus.arm(number))
        if len(angles) != body.segments:
            return None
        if not self._is_taken_up(number, target, body) and now - led.aimed < TAKEN_UP:
            return None
        near = led.leader.octopus.rules.reach_tolerance
        if math.dist(place_effector(angles, body), target) <= near:
            return None
        obstacles = _obstacles_near(led, body)
        # What is held must be told apart too: another hold needs another way.
        errand = (target, led.aimed, body)
        question = Question(number, errand, body, angles, target, obstacles)
        answer = self._answers.get(number)
        if answer is None or answer[0].errand != errand:
            return question
        return question if self._is_out_of_date(*answer, question, now) else None

    def _is_taken_up(self, number: int, target: tuple[float, float], body: Body) -> bool:
        reported = self._reported.get(number)
        return reported is not None and math.dist(reported, target) <= SAME_PLACE * body.reach

    def _is_out_of_date(
        self, asked: Question, plan: PathPlan, question: Question, now: float
    ) -> bool:
        """Tell whether an answer to the same errand does not serve any more."""
        changed = not np.array_equal(asked.obstacles, question.obstacles)
        if plan.path is None:
            return changed
        away = question.angles - plan.path[-1]
        away[0] = wrap(float(away[0]))
        if np.abs(away).max() <= 1e-3:
            return False
        if now - self._moved.get(question.number, now) > STILL:
            self._moved[question.number] = now
            return True
        if changed:
            rest = rest_of_path(plan.path, question.angles)
            if not is_clear(question.body, rest, question.obstacles, KEPT * plan.margin):
                return True
            self._answers[question.number] = (question, plan)
        return False

    def _answer(self, question: Question, led: LedArm, stop: SignalFlag) -> None:
        """Plan, and send what was found unless it was asked for something else meanwhile."""

        def is_stale() -> bool:
            return stop.is_set() or (led.leader.target, led.aimed) != question.errand[:2]

        plan = plan_path(
            question.body,
            question.angles,
            question.target,
            question.obstacles,
            self._table["algorithm"],
            self._table["planning_time"],
            self._table["seed"],
            stopped=is_stale,
        )
        name = arm_name(question.number)
        with self._lock:
            if is_stale() or self._arms.get(question.number) is not led:
                return
            self._answers[question.number] = (question, plan)
            self._moved[question.number] = time.monotonic()
        if plan.path is None:
            self.get_logger().warning(f"{name} stays where it is: {plan.reason}")
            return
        times = plan.times(led.leader.octopus.arm(question.number).parameters.turning_speed)
        led.publisher.publish(_trajectory(question.number, plan.path, times))
        self.get_logger().info(
            f"{name} gets a way of {times[-1]:.2f} s over {len(times)} poses, found in"
            f" {plan.seconds:.2f} s"
        )


def _is_elsewhere(before: Floats, angles: Floats) -> bool:
    """Tell whether an arm has moved, or has become another one."""
    if len(before) != len(angles):
        return True
    return bool(np.abs(np.sin(0.5 * (angles - before))).max() > TURN)


def _obstacles_near(led: LedArm, body: Body) -> Floats:
    """Give centre and radius of each obstacle the arm could meet, shape (K, 3)."""
    near = body.reach + body.clearance + 2.0 * body.payload
    base = (body.base_x, body.base_y)
    circles = [
        (*thing.position, thing.radius)
        for thing in led.leader.octopus.objects
        if thing.kind is ObjectKind.OBSTACLE
        and math.dist(thing.position, base) <= near + thing.radius
    ]
    return np.array(circles, dtype=np.float64).reshape(-1, 3)


def _trajectory(number: int, path: Floats, times: Floats) -> JointTrajectory:
    message = JointTrajectory()
    message.joint_names = joint_names(number, path.shape[1])
    for pose, due in zip(path.tolist(), times.tolist(), strict=True):
        point = JointTrajectoryPoint()
        point.positions = pose
        nanoseconds = round(due * 1e9)
        seconds, rest = divmod(nanoseconds, 1_000_000_000)
        point.time_from_start = Duration(sec=seconds, nanosec=rest)
        message.points.append(point)
    return message


def main(args: Sequence[str] | None = None) -> int:
    """Run the planner node until SIGINT or SIGTERM; give the exit code.

    Args:
        args: command line arguments; those of the process where left out.
    """
    try:
        require_library()
    except MissingLibraryError as error:
        print(f"ompl_planner: {error}", file=sys.stderr)
        return 1
    make: Callable[[], OmplPlannerNode] = OmplPlannerNode
    code = run_node(make, args)
    sys.stdout.flush()
    sys.stderr.flush()
    # At an ordinary exit OMPL's bindings list everything that they themselves leave behind.
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
