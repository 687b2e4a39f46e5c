"""Planners as nodes of their own: they hear what the controller says, and propose joint angles.

Wiring only. Any node that speaks the same topics can take the place of one of these. Callbacks, in
a thread of their own, note what arrives; the main thread plans and publishes.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PointStamped, PoseStamped
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from octo_reach.model.arm import ArmPlacement
from octo_reach.model.octopus import compile_kernels
from octo_reach.model.reach import Planner
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import SceneObject
from octo_reach.nodes.objects_subscription import ObjectsSubscription
from octo_reach.nodes.signal_flag import SignalFlag
from octo_reach.nodes.spinning import run_node
from octo_reach.planners import ExternalPlanner, create_planner
from octo_reach.planners.guided.planner import GuidedPlanner
from octo_reach.planners.leading import LeadingArm
from octo_reach.planners.preparation import run_once
from octo_reach.planners.trajectory import TrajectoryPlanner
from octo_reach.ros.description import arms_from_description
from octo_reach.ros.frames import arm_name, joint_names
from octo_reach.ros.joint_states import JointStateReader
from octo_reach.ros.objects import (
    ADD,
    DELETE_ALL,
    ObjectChange,
    grasps_from_markers,
    objects_from_markers,
)
from octo_reach.ros.parameters import (
    CHOICE,
    WHOLE,
    ParameterTable,
    Setting,
    chosen_arms,
    effective_rules,
    planner_settings,
    rule_settings,
)
from octo_reach.ros.quality_of_service import INPUT, LATCHED, STREAM
from octo_reach.ros.reported_scene import ReportedScene
from octo_reach.ros.states import ArmReport, arm_reports
from octo_reach.ros.targets import target_from_point, target_from_pose
from octo_reach.ros.validation import RejectedInput, RejectionLog

EXTERNAL = ExternalPlanner.name
TRAJECTORY = TrajectoryPlanner.name
RESTING = ("Idle", "Holding")
"""States of an arm that has nowhere to go."""
CLAIM_GRACE = 0.25
PATIENCE = 2.0
"""How long a proposal may go unheard, or a description be missing, before that is said, s."""
HAND = 0.3
"""For so long after a target was heard itself, what arm_states says of it may be older, s."""


@dataclass(frozen=True)
class PlannerKind:
    """What makes one planner node different from another.

    Attributes:
        name: name of the node.
        settings: parameters of its own.
        make: makes the planner of one arm from the parameters.
    """

    name: str
    settings: tuple[Setting, ...]
    make: Callable[[ParameterTable], Planner]


FABRIK = PlannerKind("fabrik_planner", (), lambda table: create_planner("fabrik"))
JACOBIAN = PlannerKind(
    "jacobian_planner",
    (
        Setting(
            "method",
            CHOICE,
            "dls",
            "How a step is found: by the transpose of the Jacobian or by damped least squares",
            choices=("transpose", "dls"),
            fixed=True,
        ),
    ),
    lambda table: create_planner(f"jacobian_{table['method']}"),
)
GUIDED = PlannerKind(
    "guided_planner",
    (
        Setting(
            "seed",
            WHOLE,
            1,
            "Of the numbers the search draws by lot",
            minimum=0,
            maximum=2**31 - 1,
            fixed=True,
        ),
    ),
    lambda table: GuidedPlanner(table["seed"]),
)
KINDS = {kind.name: kind for kind in (FABRIK, JACOBIAN, GUIDED)}


class LedArm:
    """One arm the node plans for: its copy, what is known of it, and where proposals go."""

    def __init__(self, leader: LeadingArm, publisher: Publisher) -> None:
        """Know nothing yet."""
        self.leader = leader
        self.scene = ReportedScene(leader.octopus, CLAIM_GRACE, lambda text: None)
        self.publisher = publisher
        self.message = JointState()
        count = len(leader.octopus.arm(leader.number).angles)
        self.message.name = joint_names(leader.number, count)
        self.planner = EXTERNAL
        self.resting = False
        self.aimed = -PATIENCE
        self.unheard_since: float | None = None
        self.unheard_said = False

    @property
    def wanted(self) -> bool:
        """Whether somebody waits for proposals, as far as is known."""
        return self.planner == EXTERNAL and not self.resting


class PlannerNode(Node):
    """Hears arms, objects and targets; publishes joint proposals."""

    def __init__(self, kind: PlannerKind) -> None:
        """Bring up everything that needs no robot description."""
        super().__init__(kind.name)
        logger = self.get_logger()
        compile_kernels(logger.info)
        self._kind = kind
        self._table = ParameterTable(self)
        self._table.declare((*planner_settings(), *kind.settings))
        rules = ReachRules.metre(self._table["metres_per_pixel"])
        self._table.declare(rule_settings(rules))
        self._table.warn_unknown()
        self._rules = effective_rules(self._table, rules)
        run_once(kind.make(self._table), logger.info)

        self._lock = threading.RLock()
        self._rejections = RejectionLog(logger.warning)
        self._reader = JointStateReader()
        self._arms: dict[int, LedArm] = {}
        self._placements: dict[int, ArmPlacement] = {}
        self._changes: list[tuple[list[ObjectChange], float]] = []
        self.create_subscription(String, "robot_description", self._take_description, LATCHED)
        self.create_subscription(JointState, "joint_states", self._take_joints, STREAM)
        self.create_subscription(DiagnosticArray, "arm_states", self._take_states, LATCHED)
        self.create_subscription(MarkerArray, "grasps", self._take_grasps, LATCHED)
        ObjectsSubscription(self, self._take_objects)

    # ---------------------------------------------------------------- inputs

    def _take_description(self, message: String) -> None:
        try:
            placements = arms_from_description(message.data)
            numbers = chosen_arms(self._table["arms"], [arm.number for arm in placements])
        except ValueError as error:
            rule = "the description must be that of the arms"
            self._rejections.reject(
                RejectedInput("robot_description", "bad description", str(error), rule)
            )
            return
        with self._lock:
            for placement in placements:
                if placement.number in numbers:
                    self._place(placement)

    def _place(self, placement: ArmPlacement) -> None:
        """Plan for an arm, or anew for one that has another geometry now."""
        number = placement.number
        if self._placements.get(number) == placement:
            return
        known = self._arms.get(number)
        self._placements[number] = placement
        planner = self._kind.make(self._table)
        leader = LeadingArm(placement, self._rules, planner, self.get_logger().warning)
        name = arm_name(number)
        if known is None:
            publisher = self.create_publisher(JointState, f"{name}/joint_proposal", INPUT)
            for kind, topic, read in (
                (PointStamped, "target", target_from_point),
                (PoseStamped, "target_pose", target_from_pose),
            ):
                taker = self._target_taker(number, f"{name}/{topic}", read)
                self.create_subscription(kind, f"{name}/{topic}", taker, INPUT)
        else:
            publisher = known.publisher
        led = LedArm(leader, publisher)
        for change, received in self._changes:
            led.scene.apply(change, received)
        if known is not None:
            led.planner, led.resting = known.planner, known.resting
            if known.leader.target is not None:
                leader.aim(known.leader.target)
        self._arms[number] = led

    def _target_taker(
        self, number: int, topic: str, read: Callable[[str, Any], tuple[float, float]]
    ) -> Callable[[Any], None]:
        def take(message: Any) -> None:
            try:
                target = read(topic, message)
            except RejectedInput as rejection:
                self._rejections.reject(rejection)
                return
            with self._lock:
                led = self._arms[number]
                led.leader.aim(target)
                led.aimed = time.monotonic()
                led.resting = False

        return take

    def _take_joints(self, message: JointState) -> None:
        try:
            angles = self._reader.read(message)
        except RejectedInput as rejection:
            self._rejections.reject(rejection)
            return
        with self._lock:
            for number, led in self._arms.items():
                if number in angles:
                    led.leader.hear_angles(angles[number])

    def _take_states(self, message: DiagnosticArray) -> None:
        with self._lock:
            for number, report in arm_reports(message).items():
                led = self._arms.get(number)
                if led is None:
                    continue
                before, led.planner = led.planner, report.planner
                led.resting = report.state in RESTING
                # Of a trajectory the arm comes back by itself.
                if before != report.planner and report.planner not in (EXTERNAL, TRAJECTORY):
                    self.get_logger().warning(
                        f"{arm_name(number)} has the planner {report.planner}: proposals count once"
                        f" its planner is {EXTERNAL}",
                        throttle_duration_sec=5.0,
                    )
                self._take_reported_target(led, report)

    def _take_reported_target(self, led: LedArm, report: ArmReport) -> None:
        """Take over a target that came on no topic: the scene's first one, or a retraction."""
        target = report.target
        if target is None or time.monotonic() - led.aimed < HAND:
            return
        known = led.leader.target
        # Reports are rounded.
        if known is None or any(
            f"{one:.6g}" != f"{other:.6g}" for one, other in zip(known, target, strict=True)
        ):
            led.leader.aim(target)

    def _take_grasps(self, message: MarkerArray) -> None:
        try:
            changes = grasps_from_markers("grasps", message, None)
        except RejectedInput as rejection:
            self._rejections.reject(rejection)
            return
        with self._lock:
            for change in changes:
                self._take_grasp(change)

    def _take_grasp(self, change: ObjectChange) -> None:
        for number, led in self._arms.items():
            grip = led.leader.octopus.arm(number).grip
            if change.action == ADD and change.holder is not None and change.holder[0] == number:
                assert change.number is not None and change.kind is not None
                assert change.radius is not None and change.position is not None
                if grip is None or grip.object != change.number:
                    thing = SceneObject(change.number, change.kind, (0.0, 0.0), change.radius)
                    led.leader.take_grip(thing, change.holder[1], change.position)
            elif grip is not None and (
                change.number == grip.object
                or (change.action == DELETE_ALL and change.arm in (None, number))
            ):
                led.leader.take_grip(None)

    def _take_objects(self, message: MarkerArray) -> None:
        received = time.monotonic()
        try:
            changes = objects_from_markers("objects", message, None)
        except RejectedInput as rejection:
            self._rejections.reject(rejection)
            return
        with self._lock:
            if not self._arms:
                # Until the arms are known; the world says everything again.
                self._changes = [*self._changes[-50:], (changes, received)]
            for led in self._arms.values():
                led.scene.apply(changes, received)

    # ------------------------------------------------------------------ time

    def live(self, stop: SignalFlag) -> None:
        """Propose until `stop` is set."""
        self.get_logger().info(
            f"ready: proposals of {self._kind.name} at {self._table['proposal_rate']:g} Hz"
        )
        begun = last = due = time.monotonic()
        waiting_said = False
        while not stop.is_set():
            now = time.monotonic()
            period = 1.0 / self._table["proposal_rate"]
            with self._lock:
                arms = list(self._arms.values())
            if not arms and not waiting_said and now - begun > PATIENCE:
                self.get_logger().warning("waiting for robot_description: is a controller running?")
                waiting_said = True
            for led in arms:
                with self._lock:
                    self._propose(led, min(now - last, 2.0 * period), now)
            last = now
            due = max(due + period, now)
            stop.wait(max(0.0, due - time.monotonic()))

    def _propose(self, led: LedArm, seconds: float, now: float) -> None:
        led.scene.expire(now)
        if not self._is_heard(led, now) or not led.wanted or seconds <= 0.0:
            return
        angles = led.leader.lead(seconds)
        if angles is None:
            return
        led.message.header.stamp = self.get_clock().now().to_msg()
        led.message.position = angles.tolist()
        led.publisher.publish(led.message)

    def _is_heard(self, led: LedArm, now: float) -> bool:
        """Tell whether anybody listens; when nobody does for long, say so once."""
        if led.publisher.get_subscription_count():
            led.unheard_since = None
            led.unheard_said = False
            return True
        if led.unheard_since is None:
            led.unheard_since = now
        elif not led.unheard_said and now - led.unheard_since > PATIENCE:
            led.unheard_said = True
            self.get_logger().warning(f"nobody listens to {led.publisher.topic_name}")
        return False


def main(name: str, args: Sequence[str] | None = None) -> int:
    """Run a planner node until SIGINT or SIGTERM; give the exit code.

    Args:
        name: which one, a key of `KINDS`.
        args: command line arguments; those of the process where left out.
    """
    return run_node(lambda: PlannerNode(KINDS[name]), args)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in KINDS:
        sys.exit(f"the first argument must be one of {', '.join(KINDS)}")
    sys.exit(main(sys.argv.pop(1)))
