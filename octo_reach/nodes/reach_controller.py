"""The reach controller: any number of arms, stepped at a fixed rate, in a ROS graph.

Wiring only. The main thread steps the arms on absolute deadlines and publishes; callbacks run in a
second thread and only note what arrived. The rules are the model's, messages `octo_reach.ros`'s.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PointStamped, PoseStamped
from rclpy.clock import JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from octo_reach.installation import share_path
from octo_reach.model.octopus import Octopus, compile_kernels
from octo_reach.model.rules import ReachRules
from octo_reach.nodes.audience import Audience
from octo_reach.nodes.inbox import Inbox
from octo_reach.nodes.objects_subscription import ObjectsSubscription
from octo_reach.nodes.planner_preparation import SHORT_WAIT, PlannerPreparation
from octo_reach.nodes.signal_flag import SignalFlag
from octo_reach.nodes.spinning import run_node
from octo_reach.nodes.step_schedule import NANOSECONDS, StepSchedule
from octo_reach.nodes.tip_topics import TipTopics
from octo_reach.planners import PLANNERS, create_planner
from octo_reach.planners.chosen import ChosenPlanners
from octo_reach.planners.inverse_kinematics.jacobian import planar_jacobian
from octo_reach.planners.inverse_kinematics.manipulability import (
    ManipulabilityEllipse,
    manipulability_ellipses,
)
from octo_reach.planners.trajectory import Trajectory
from octo_reach.ros.contacts import ContactCloudBuilder
from octo_reach.ros.description import robot_description
from octo_reach.ros.diagnostics import NodeDiagnostics, arm_parts, controller_report
from octo_reach.ros.frames import arm_name
from octo_reach.ros.grasps import GraspMarkers
from octo_reach.ros.joint_states import JointStateBuilder, proposal_from_joint_state
from octo_reach.ros.markers import ArmMarkers
from octo_reach.ros.objects import RESTING_PERIOD, ObjectsReader
from octo_reach.ros.parameters import (
    ParameterTable,
    arm_settings,
    chosen_arms,
    controller_settings,
    effective_arm,
    effective_planner,
    effective_rules,
    rule_settings,
)
from octo_reach.ros.quality_of_service import INPUT, LATCHED, STREAM
from octo_reach.ros.reported_scene import ReportedScene
from octo_reach.ros.states import ArmStatesBuilder
from octo_reach.ros.targets import target_from_point, target_from_pose
from octo_reach.ros.trajectories import TrajectoryRequest, trajectory_from_message
from octo_reach.ros.validation import RejectedInput, RejectionLog
from octo_reach.scenes import SceneDocument, load_scene, to_metres
from octo_reach.scenes.shipped import find_scene

DEFAULT_SCENE = ("config", "scenes", "first_reach.yaml")
LONGEST_WAIT = 0.1
"""Longest the main thread sleeps before it looks at its inputs again, s."""
STANDSTILL = 0.25
"""A clock that has shown the same time for so long stands still, s."""
LONGEST_OPENING = 1.0
"""How long the start waits for the world to lay down what the arms are said to hold, s."""
SHORTEST_OPENING = 0.25
"""How long it waits for a world that says anything at all, s."""
STATES_PERIOD = 0.5
REPORT_PERIOD = 1.0
CLOCK_PATIENCE = 1.0
"""How long a clock may be silent at the start before the node says that it waits, s."""


class ReachController(Node):
    """Subscribes to targets and objects, steps the arms, publishes joints, contacts and grasps."""

    def __init__(self) -> None:
        """Bring up everything but the steps."""
        super().__init__("reach_controller")
        logger = self.get_logger()
        compile_kernels(logger.info)
        self._table = ParameterTable(self, on_change=self._take_change)
        self._table.declare(controller_settings(PLANNERS))
        document = self._load_scene()
        numbers = [placement.number for placement in document.placements()]
        rules = ReachRules.metre(self._table["metres_per_pixel"])
        self._table.declare(rule_settings(rules))
        self._table.declare(arm_settings(numbers, PLANNERS))
        self._table.warn_unknown()
        self._warn_of_short_timeout()
        self._octopus = self._build(document, effective_rules(self._table, rules))
        self._preparation = PlannerPreparation(logger.info, logger.warning)
        self._planners = self._choose_first_planners()
        self._planners_awaited = False

        self._lock = threading.RLock()
        self._inbox = Inbox()
        self._rejections = RejectionLog(logger.warning)
        self._schedule = StepSchedule(self._table["rate"], self._table["catch_up"])
        self._paused = False
        self._steps = 0
        self._clock_moved = threading.Event()
        self._tick = 0
        self._simulated = False
        self._shown = 0
        self._shown_since = self._looked = time.monotonic()
        self._stamped = 0
        self._spoke = 0.0
        self._feed_received: float | None = None
        self._scene = ReportedScene(self._octopus, self._table["claim_grace"], self._say_let_go)
        self._worst_step = 0.0
        self._steps_reported = 0
        self._missed_reported = 0
        self._report_time = time.monotonic()
        self._report_clock = 0
        self._states_time = 0.0
        self._markers_time = 0.0

        self._make_outputs()
        self._make_inputs()
        self._make_services()
        self._jump_handle = self.get_clock().create_jump_callback(
            JumpThreshold(
                min_forward=Duration(nanoseconds=1),
                min_backward=Duration(nanoseconds=-1),
                on_clock_change=True,
            ),
            post_callback=self._note_clock,
        )

    # ------------------------------------------------------------- beginning

    def _load_scene(self) -> SceneDocument:
        name = self._table["scene"]
        path = find_scene(name) if name else share_path(*DEFAULT_SCENE)
        return to_metres(load_scene(path), self._table["metres_per_pixel"])

    def _build(self, document: SceneDocument, rules: ReachRules) -> Octopus:
        """Make the arms of the scene with whatever parameters override; objects come by topic."""
        table = self._table
        placements = document.placements()
        wanted = chosen_arms(table["arms"], [placement.number for placement in placements])
        arms = [
            placement.with_parameters(effective_arm(table, placement.number, placement.parameters))
            for placement in placements
            if placement.number in wanted
        ]
        return Octopus(arms, rules)

    def _choose_first_planners(self) -> ChosenPlanners:
        """Give every arm its planner, compiled before the first step."""
        octopus = self._octopus
        names = {number: effective_planner(self._table, number) for number in octopus.numbers}
        for name in set(names.values()):
            self._preparation.ready(name, None)
        planners = {number: create_planner(name) for number, name in names.items()}
        return ChosenPlanners(octopus, planners, self.get_logger().warning)

    def _make_outputs(self) -> None:
        octopus = self._octopus
        self._joint_states = self.create_publisher(JointStateBuilder.kind, "joint_states", STREAM)
        self._contacts = self.create_publisher(ContactCloudBuilder.kind, "contacts", STREAM)
        self._grasps = self.create_publisher(MarkerArray, "grasps", LATCHED)
        self._arm_states = self.create_publisher(ArmStatesBuilder.kind, "arm_states", LATCHED)
        self._markers = self.create_publisher(ArmMarkers.kind, "markers", STREAM)
        self._description = self.create_publisher(String, "robot_description", LATCHED)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", STREAM)
        self._audience = Audience(self._joint_states, self._contacts)
        self._tips = {number: TipTopics(self, number) for number in octopus.numbers}
        self._joint_builder = JointStateBuilder()
        self._contact_builder = ContactCloudBuilder()
        self._grasp_builder = GraspMarkers()
        self._states_builder = ArmStatesBuilder()
        self._markers_heard = 0
        self._marker_builder = ArmMarkers()
        self._marker_builder.fill(octopus, self._ellipses())  # compiled before the first step
        self._report_builder = NodeDiagnostics(self.get_fully_qualified_name())
        # What arms of these names held before this start lies where it is now.
        self._grasps.publish(self._grasp_builder.start(octopus.numbers))
        self._publish_description()

    def _make_inputs(self) -> None:
        for number in self._octopus.numbers:
            name = arm_name(number)
            self.create_subscription(
                PointStamped, f"{name}/target", self._taker(number, target_from_point), INPUT
            )
            self.create_subscription(
                PoseStamped, f"{name}/target_pose", self._taker(number, target_from_pose), INPUT
            )
            self.create_subscription(
                JointState, f"{name}/joint_proposal", self._proposal_taker(number), INPUT
            )
            self.create_subscription(
                JointTrajectory, f"{name}/joint_trajectory", self._trajectory_taker(number), INPUT
            )
        self._objects_reader = ObjectsReader("objects")
        ObjectsSubscription(
            self, self._take_objects, raw=True, tell=lambda line: self.get_logger().info(line)
        )

    def _make_services(self) -> None:
        self.create_service(SetBool, "~/pause", self._pause)
        self.create_service(Trigger, "~/step", self._step_once)
        self.create_service(Trigger, "~/reset", self._reset_all)
        for number in self._octopus.numbers:
            for action, act in (
                ("idle", self._idle),
                ("release", self._release),
                ("retract", self._retract),
                ("reset", self._reset),
            ):
                self.create_service(
                    Trigger, f"{arm_name(number)}/{action}", self._server(number, act)
                )

    def _warn_of_short_timeout(self) -> None:
        timeout = self._table["object_timeout"]
        if 0.0 < timeout <= RESTING_PERIOD:
            self.get_logger().warning(
                f"object_timeout is {timeout:g} s, but a world at rest reports its objects every"
                f" {RESTING_PERIOD:g} s: arms will hold in between"
            )

    # ---------------------------------------------------------------- inputs

    def _taker(
        self, number: int, read: Callable[[str, Any], tuple[float, float]]
    ) -> Callable[[Any], None]:
        name = arm_name(number)

        def take(message: Any) -> None:
            topic = f"{name}/{'target' if isinstance(message, PointStamped) else 'target_pose'}"
            try:
                self._inbox.put_assignment(number, read(topic, message))
            except RejectedInput as rejection:
                self._rejections.reject(rejection)

        return take

    def _proposal_taker(self, number: int) -> Callable[[JointState], None]:
        topic = f"{arm_name(number)}/joint_proposal"
        arm = self._octopus.arm(number)

        def take(message: JointState) -> None:
            try:
                count = arm.parameters.segment_count
                self._inbox.put_proposal(
                    number, proposal_from_joint_state(topic, message, number, count)
                )
            except RejectedInput as rejection:
                self._rejections.reject(rejection)

        return take

    def _trajectory_taker(self, number: int) -> Callable[[JointTrajectory], None]:
        topic = f"{arm_name(number)}/joint_trajectory"
        arm = self._octopus.arm(number)

        def take(message: JointTrajectory) -> None:
            try:
                count = arm.parameters.segment_count
                self._inbox.put_assignment(
                    number, trajectory_from_message(topic, message, number, count, self._now())
                )
            except RejectedInput as rejection:
                self._rejections.reject(rejection)

        return take

    def _take_objects(self, message: bytes) -> None:
        received = time.monotonic()
        try:
            changes = self._objects_reader.read(message)
        except RejectedInput as rejection:
            self._rejections.reject(rejection)
            return
        self._inbox.put_changes(changes, received)

    def _read_inbox(self, time_now: int) -> None:
        """Give the model what has arrived. Objects first: a target may be meant for one of them.

        Args:
            time_now: time on the node's clock, ns.
        """
        arrivals = self._inbox.empty()
        if arrivals.changes:
            self._feed_received = arrivals.changes[-1][1]
            self._scene.apply_all(arrivals.changes)
        self._scene.expire(time.monotonic())
        for number, assignment in arrivals.assignments.items():
            if isinstance(assignment, TrajectoryRequest):
                self._follow(number, assignment, time_now)
            else:
                self._octopus.reach(number, assignment)
        self._planners.settle()
        for number, angles in arrivals.proposals.items():
            self._planners.offer(number, angles)

    def _follow(self, number: int, request: TrajectoryRequest, time_now: int) -> None:
        delay = (request.stamp - time_now) / NANOSECONDS if request.stamp else 0.0
        try:
            trajectory = Trajectory(
                request.joints, request.times, request.positions, request.velocities
            )
            self._planners.follow(number, trajectory, delay)
        except ValueError as error:
            # The arm has become shorter since the message was checked.
            topic = f"{arm_name(number)}/joint_trajectory"
            self._rejections.reject(
                RejectedInput(topic, "wrong joint names", "one for another arm", str(error))
            )

    def _note_clock(self, jump: TimeJump) -> None:
        self._tick = int(jump.delta.nanoseconds)
        self._clock_moved.set()

    def _take_change(self, changes: dict[str, Any]) -> None:
        if "object_timeout" in changes:
            self._warn_of_short_timeout()
        self._change_parameters(changes)

    # -------------------------------------------------------------- services

    def _server(self, number: int, act: Callable[[int], tuple[bool, str]]) -> Any:
        def serve(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            with self._lock:
                self._read_inbox(self._now())
                response.success, response.message = act(number)
                self._publish_changes(self._now())
            return response

        return serve

    def _idle(self, number: int) -> tuple[bool, str]:
        self._octopus.idle(number)
        return True, f"{arm_name(number)} is idle"

    def _release(self, number: int) -> tuple[bool, str]:
        released = self._octopus.release(number)
        if released is None:
            return True, f"{arm_name(number)} held nothing and is idle"
        return True, f"{arm_name(number)} has let go of object {released} and is idle"

    def _retract(self, number: int) -> tuple[bool, str]:
        if self._octopus.retract(number):
            return True, f"{arm_name(number)} retracts"
        return False, f"{arm_name(number)} holds nothing to retract with"

    def _reset(self, number: int) -> tuple[bool, str]:
        self._octopus.reset(number)
        self._note_jump(number)
        return True, f"{arm_name(number)} is in its starting pose"

    def _note_jump(self, number: int) -> None:
        """An arm is elsewhere now and did not go there: no joint turned, and its trail ends."""
        self._joint_builder.restart()
        self._tips[number].restart()

    def _reset_all(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        with self._lock:
            now = self._now()
            self._read_inbox(now)
            for number in self._octopus.numbers:
                self._octopus.start_over(number)
                self._note_jump(number)
            if self._paused and now > 0:
                self._publish_joints(now, 0.0)
            self._publish_changes(now)
        response.success = True
        count = len(self._octopus.numbers)
        response.message = "1 arm starts over" if count == 1 else f"{count} arms start over"
        return response

    def _pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        with self._lock:
            if self._paused and not request.data:
                # Nothing is owed for the time that was paused.
                self._rest_schedule(self._now())
            self._paused = bool(request.data)
        response.success = True
        response.message = "paused" if self._paused else "running"
        return response

    def _step_once(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        with self._lock:
            now = self._now()
            response.success = self._paused and now > 0
            if response.success:
                self._step(now)
                response.message = f"step {self._steps} taken"
            elif self._paused:
                response.message = "waiting for /clock: no step was taken"
            else:
                response.message = "not paused: steps are taken as time goes by"
        return response

    def _change_parameters(self, changes: dict[str, Any]) -> None:
        """Make parameters that were changed at run time count."""
        table = self._table
        deadline = time.monotonic() + SHORT_WAIT
        for name in {effective_planner(table, number) for number in self._octopus.numbers}:
            # Not under the lock: steps go on meanwhile.
            self._preparation.ready(name, max(0.0, deadline - time.monotonic()))
        with self._lock:
            if "rate" in changes or "catch_up" in changes:
                self._schedule.change(table["rate"], table["catch_up"])
            self._scene.grace = table["claim_grace"]
            described = [arm.placement for arm in self._octopus.arms]
            for arm in self._octopus.arms:
                self._change_arm(arm.number)
            self._change_planners()
            if [arm.placement for arm in self._octopus.arms] != described:
                self._publish_description()
            self._publish_changes(self._now())

    def _change_planners(self) -> None:
        """Give arms the planners they should have; one that is not ready yet comes later."""
        self._planners_awaited = False
        for number in self._octopus.numbers:
            name = effective_planner(self._table, number)
            if name == self._planners.name(number):
                continue
            if self._preparation.ready(name):
                self._planners.choose(number, create_planner(name))
            else:
                self._planners_awaited = True

    def _change_arm(self, number: int) -> None:
        """Give one arm its changed limits; where its geometry changes, it is reset."""
        arm = self._octopus.arm(number)
        wanted = effective_arm(self._table, number, arm.parameters)
        if wanted.turning_speed != arm.parameters.turning_speed:
            self._octopus.limit_speed(number, wanted.turning_speed)
        if wanted != arm.parameters:
            self._octopus.reset(number, wanted)
            self._note_jump(number)

    # ------------------------------------------------------------------ time

    def live(self, stop: SignalFlag) -> None:
        """Step the arms until `stop` is set."""
        self._open(stop)
        arms = len(self._octopus.numbers)
        self.get_logger().info(
            f"ready: {arms} {'arm' if arms == 1 else 'arms'} at {self._table['rate']:g} Hz"
        )
        started = self._report_time = time.monotonic()
        self._report_clock = self._now()
        waiting_said = False
        while not stop.is_set():
            now = self._now()
            self._watch_clock(now)
            if now == 0:
                if not waiting_said and time.monotonic() - started > CLOCK_PATIENCE:
                    self.get_logger().warning("waiting for /clock")
                    waiting_said = True
            elif not self._paused:
                self._take_due_steps(stop)
            with self._lock:
                if self._planners_awaited:
                    self._change_planners()
                if time.monotonic() - self._spoke >= LONGEST_WAIT:
                    self._rest(self._now())
                self._publish_report()
            self._wait(stop)

    def _open(self, stop: SignalFlag) -> None:
        """Let the world lay down what these arms held before it hears how they stand now.

        Otherwise a controller that comes back at once would take along what it does not hold.
        """
        begun = time.monotonic()
        while not stop.wait(0.01):
            with self._lock:
                self._read_inbox(self._now())
                heard = self._feed_received is not None
                if heard and not self._scene.disputed_grips():
                    return
            if time.monotonic() - begun > (LONGEST_OPENING if heard else SHORTEST_OPENING):
                return

    def _now(self) -> int:
        clock = self.get_clock()
        if not clock.ros_time_is_active:
            return time.time_ns()  # what the node's clock shows then, in a fraction of the time
        return int(clock.now().nanoseconds)

    def _watch_clock(self, now: int) -> None:
        """Note whether the clock is another one, and since when it has shown what it shows."""
        simulated = bool(self.get_clock().ros_time_is_active)
        if simulated is not self._simulated:
            self._simulated = simulated
            with self._lock:
                self._schedule.restart()
        self._looked = time.monotonic()
        if now != self._shown:
            self._shown = now
            self._shown_since = self._looked

    @property
    def _stands_still(self) -> bool:
        """Whether the clock shows what it has shown for a while, steps that took long left out."""
        return self._looked - self._shown_since > STANDSTILL

    def _take_due_steps(self, stop: SignalFlag) -> None:
        """Take what is due, but look up again before long: the rest stays due."""
        begun = time.monotonic()
        with self._lock:
            # Asked here: a service may have looked at the clock while the lock was waited for, and
            # what was asked before that would look like a clock that goes backwards.
            if self._schedule.look(self._now(), self._tick if self._simulated else 0):
                self._go_back()
            due = self._schedule.take()
        while due is not None:
            # Let go between the steps, so that callers of services need not wait for all of them.
            with self._lock:
                if self._paused:
                    return
                self._step(due)
                if stop.is_set() or time.monotonic() - begun > LONGEST_WAIT:
                    return
                due = self._schedule.take()

    def _rest(self, now: int) -> None:
        """Take inputs while no step is due, and let others know that the arms are still here.

        Args:
            now: time on the node's clock, ns.
        """
        self._read_inbox(now)
        if self._paused:
            self._rest_schedule(now)
        stands = self._paused or self._stands_still
        if stands and now > 0 and self._joint_states.get_subscription_count():
            # The stamp stays that of the last step: whoever lives by the stamps must pause as well.
            stamp = _stamp(min(self._stamped or now, now))
            self._joint_states.publish(self._joint_builder.fill(self._octopus, stamp, 0.0))
        self._publish_changes(now)

    def _rest_schedule(self, now: int) -> None:
        """Owe no steps for the time so far."""
        if now == 0:
            self._schedule.restart()
        elif self._schedule.rest(now):
            self._go_back()

    def _go_back(self) -> None:
        """The clock jumped back: what has lasted so far has not, and everything is fresh."""
        self.get_logger().warning("the clock jumped back", throttle_duration_sec=5.0)
        self._octopus.interrupt_grasps()
        if self._feed_received is not None:
            self._feed_received = time.monotonic()

    def _wait(self, stop: SignalFlag) -> None:
        if self._simulated:
            self._clock_moved.wait(LONGEST_WAIT)
            self._clock_moved.clear()
        elif self._paused:
            stop.wait(LONGEST_WAIT)
        else:
            stop.wait(min(self._schedule.wait(self._now()), LONGEST_WAIT))

    def _step(self, due: int) -> None:
        """Take one step, and publish what came of it.

        Args:
            due: the step's place on the node's clock, ns.
        """
        begun = time.perf_counter()
        self._read_inbox(due)
        seconds = self._schedule.period
        if not self._hold_reason():
            self._octopus.step(seconds)
        self._steps += 1
        self._publish_joints(due, seconds)
        self._publish_changes(due)
        self._worst_step = max(self._worst_step, time.perf_counter() - begun)

    def _hold_reason(self) -> str:
        """Give why the arms must hold, or nothing."""
        limit = self._table["object_timeout"]
        if limit <= 0.0:
            return ""
        if self._feed_received is None:
            return "nothing was heard of objects: holding"
        if time.monotonic() - self._feed_received > limit:
            return "the object feed is too old: holding"
        return ""

    # --------------------------------------------------------------- outputs

    def _publish_joints(self, due: int, seconds: float) -> None:
        """Publish what every step has to say."""
        self._stamped = due
        stamp = _stamp(due)
        octopus = self._octopus
        joints = self._joint_builder.fill(octopus, stamp, seconds)
        of_joints, of_contacts = self._audience.counts(time.monotonic())
        said: list[tuple[Publisher, bytes]] = []
        if of_joints:
            said.append((self._joint_states, joints))
        if of_contacts:
            said.append((self._contacts, self._contact_builder.fill(octopus.contacts, stamp)))
        for arm in octopus.arms:
            said += self._tips[arm.number].messages(arm, stamp)
        # In a row: the middleware is quicker while its code and data are in the caches.
        for publisher, message in said:
            publisher.publish(message)

    def _publish_changes(self, due: int) -> None:
        """Publish what only changes and slower rates are published of."""
        octopus = self._octopus
        self._planners.settle()
        now = time.monotonic()
        self._spoke = now
        self._scene.note_grips(now)
        if self._grasp_builder.changed(octopus):
            self._grasps.publish(self._grasp_builder.fill(octopus))
        reason = self._hold_reason()
        states_due = now - self._states_time >= STATES_PERIOD
        if states_due or self._states_builder.changed(octopus, reason):
            self._states_time = now
            self._arm_states.publish(self._states_builder.fill(octopus, _stamp(due), reason))
        rate = self._table["markers_rate"]
        if rate > 0.0 and now - self._markers_time >= 1.0 / rate:
            # On from the time they were due, or whole steps would make the rate too low.
            self._markers_time = max(self._markers_time + 1.0 / rate, now - 1.0 / rate)
            self._publish_markers()

    def _publish_markers(self) -> None:
        listeners = self._markers.get_subscription_count()
        # Whoever is new has what a controller before this one drew, or nothing.
        anew = listeners > self._markers_heard
        self._markers_heard = listeners
        if listeners:
            self._markers.publish(
                self._marker_builder.fill(self._octopus, self._ellipses(), anew=anew)
            )

    def _ellipses(self) -> dict[int, ManipulabilityEllipse]:
        octopus = self._octopus
        jacobians = [planar_jacobian(arm.joints) for arm in octopus.arms]
        return dict(zip(octopus.numbers, manipulability_ellipses(jacobians), strict=True))

    def _publish_description(self) -> None:
        placements = [arm.placement for arm in self._octopus.arms]
        text = robot_description(placements, self._octopus.rules)
        self._description.publish(String(data=text))

    def _publish_report(self) -> None:
        """Once a second: say how it goes, and set right who holds what."""
        now = time.monotonic()
        passed = now - self._report_time
        if passed < REPORT_PERIOD:
            return
        self._report_time = now
        disputed = self._scene.disputed_grips()
        if disputed:
            self._grasp_builder.disown(disputed)
            self._grasps.publish(self._grasp_builder.fill(self._octopus))
        schedule = self._schedule
        clock = self._now()
        # Where time is simulated, its seconds count; where it stands, no rate is to be expected.
        since, self._report_clock = self._report_clock, clock
        if clock > 0 and since == 0:
            return  # the clock has begun just now
        elapsed = (clock - since) / NANOSECONDS if self._simulated else passed
        standing = ""
        if clock == 0:
            standing = "waiting for /clock"
        elif self._stands_still:
            standing = "the clock stands still"
        steps = self._steps - self._steps_reported
        level, summary, values = controller_report(
            rate=steps / elapsed if elapsed > 0.0 else 0.0,
            wanted_rate=self._table["rate"],
            steps=self._steps,
            worst_step=self._worst_step,
            missed_steps=schedule.missed - self._missed_reported,
            dropped_seconds=schedule.dropped_time,
            rejected=dict(self._rejections.counts),
            feed_age=None if self._feed_received is None else now - self._feed_received,
            object_timeout=self._table["object_timeout"],
            paused=self._paused,
            standing=standing,
            notes=self._table.refused,
        )
        values["planner failures"] = self._planners.failures
        self._steps_reported = self._steps
        self._missed_reported = schedule.missed
        self._worst_step = 0.0
        parts = arm_parts(self._octopus, self._hold_reason())
        self._diagnostics.publish(
            self._report_builder.fill(_stamp(clock), level, summary, values, parts)
        )

    def _say_let_go(self, text: str) -> None:
        # No worry: food is eaten, somebody moves what is held, another arm was first.
        self.get_logger().info(text)


def _stamp(nanoseconds: int) -> Time:
    seconds, rest = divmod(nanoseconds, NANOSECONDS)
    return Time(sec=seconds, nanosec=rest)


def main(args: Sequence[str] | None = None) -> int:
    """Run the reach controller until SIGINT or SIGTERM; give the exit code."""
    return run_node(ReachController, args)


if __name__ == "__main__":
    sys.exit(main())
