"""The simulated world: the objects of a scene, in a ROS graph.

Wiring only. Callbacks, in a thread of their own, hand what arrives to the authority on objects and
to the clock of the scene's events; the main thread publishes what came of it. It goes by a steady
clock, so that this node can be the one that publishes `/clock`.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PointStamped
from rclpy.client import Client
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.task import Future
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.installation import share_path
from octo_reach.model.arm import ArmPlacement
from octo_reach.model.rules import UPDATE_RATE
from octo_reach.nodes.signal_flag import SignalFlag
from octo_reach.nodes.simulated_clock import SimulatedClock
from octo_reach.nodes.spinning import informed, run_node
from octo_reach.nodes.summary import count_of
from octo_reach.ros.description import arms_from_description
from octo_reach.ros.diagnostics import OK, WARN, NodeDiagnostics
from octo_reach.ros.frames import WORLD, arm_name, is_world, segment_frame
from octo_reach.ros.joint_states import JointStateReader
from octo_reach.ros.objects import (
    ADD,
    DELETE,
    RESTING_PERIOD,
    ObjectChange,
    ObjectMarkers,
    checked_kinds,
    grasps_from_markers,
    object_from_marker,
)
from octo_reach.ros.parameters import (
    ARM_FIELDS,
    ParameterTable,
    Setting,
    arm_settings,
    controller_settings,
    effective_arm,
    world_settings,
)
from octo_reach.ros.quality_of_service import LATCHED, OBJECTS, OBJECTS_VOLATILE, STREAM
from octo_reach.ros.targets import target_message
from octo_reach.ros.validation import RejectedInput, RejectionLog
from octo_reach.scenes import Event, SceneDocument, load_scene, to_metres
from octo_reach.scenes.arm_feed import ArmFeed
from octo_reach.scenes.event_clock import EventClock
from octo_reach.scenes.shipped import find_scene
from octo_reach.scenes.world import (
    SILENCE,
    ClaimAnswer,
    FixedObject,
    FullSceneError,
    SceneAuthority,
)

DEFAULT_SCENE = ("config", "scenes", "first_reach.yaml")
TURN = 1.0 / 120.0
"""How often the main thread looks after everything, s."""
CARRYING_PERIOD = 1.0 / 60.0
PUBLISHING_SHARE = 0.25
"""Most of the time that may go into publishing a scene of very many objects."""
ANSWERING_TIME = 0.5
"""How long after a refused claim the scene is published as often as while something is carried, so
that the arm need not wait for its answer, s."""
LONGEST_OPENING = 3.5
"""How long the first message about objects waits for a controller to be found, s.

An arm that is shown its object lying free lets go of it, so a world that was started anew must
first hear what was latched on grasps. A participant that is not found at once is found when it
announces itself again, by default every 3 s.
"""
SHORTEST_OPENING = 0.25
"""How long it waits for a second controller to be found after the first, s."""
EVENT_PATIENCE = 2.0
"""How long an event waits for the arm it is for to be found in the graph, s."""
STALL = 0.3
"""A turn that comes so late tells of a stop of this node, not of others' silence, s."""
REPORT_PERIOD = 1.0
MOST_REFUSALS_SAID = 10
"""Most warnings of refused claims between two reports."""
SHORTEST_CLOCK_PERIOD = 0.001
"""At high real-time factors a message on /clock stands for several steps, s."""
PAUSED_CLOCK_PERIOD = 0.1
"""How often a paused clock says what time it is, for those who come late, s."""


class SimulatedWorld(Node):
    """Publishes objects, plays events, and answers claims and edits."""

    def __init__(self) -> None:
        """Bring up everything but the main loop.

        Raises:
            ValueError: the scene cannot be found or used; the text names file and fields.
        """
        super().__init__("simulated_world")
        logger = self.get_logger()
        self._table = ParameterTable(self, on_change=self._change_parameters)
        self._table.declare(world_settings())
        path, document = self._load_scene()
        placements = document.placements()
        self._table.declare(_geometry_settings(placements))
        arms = [
            arm.with_parameters(effective_arm(self._table, arm.number, arm.parameters))
            for arm in placements
        ]

        now = time.monotonic()
        self._lock = threading.RLock()
        self._authority = SceneAuthority(document, ArmFeed(arms))
        self._event_clock = EventClock(document.events)
        self._arm_events: dict[int, deque[tuple[Event, float]]] = {}
        self._rejections = RejectionLog(logger.warning)
        self._simulated_clock = self._start_clock(now)
        self._begun = now
        self._opened = False
        self._clear_first = True
        self._grasp_messages = 0
        self._refused_claims = 0
        self._refusals_said = 0
        self._refused: set[tuple[int, int]] = set()
        self._published_version = -1
        self._published_time = now
        self._publishing_pause = 0.0
        self._answering_until = now
        self._clock_time = now
        self._report_time = now
        self._contested: tuple[int, ...] = ()

        self._make_outputs(document.events)
        self._make_inputs()
        self._make_services()
        logger.info(
            f"ready: scene '{document.name}' ({path}) with"
            f" {count_of(len(self._authority), 'object')}"
            f" and {count_of(len(document.events), 'event')}"
        )

    # ------------------------------------------------------------- beginning

    def _load_scene(self) -> tuple[Path, SceneDocument]:
        name = self._table["scene"]
        path = find_scene(name) if name else share_path(*DEFAULT_SCENE)
        return path, to_metres(load_scene(path), self._table["metres_per_pixel"])

    def _start_clock(self, now: float) -> SimulatedClock | None:
        if not self._table["publish_clock"]:
            return None
        return SimulatedClock(UPDATE_RATE, self._table["real_time_factor"], now)

    def _make_outputs(self, events: Iterable[Event]) -> None:
        self._objects = self.create_publisher(MarkerArray, "objects", LATCHED)
        self._markers = ObjectMarkers()
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", STREAM)
        self._report = NodeDiagnostics(self.get_fully_qualified_name())
        self._clock_publisher: Publisher | None = None
        if self._simulated_clock is not None:
            self._clock_publisher = self.create_publisher(Clock, "/clock", STREAM)
        # Made now, so that the arms have found them when the first event is due.
        self._targets: dict[int, Publisher] = {}
        self._actions: dict[tuple[int, str], Client] = {}
        for event in events:
            if event.arm is None:
                continue
            name = arm_name(event.arm)
            if event.reach is not None and event.arm not in self._targets:
                self._targets[event.arm] = self.create_publisher(
                    PointStamped, f"{name}/target", STREAM
                )
            key = (event.arm, event.action or "")
            if event.action is not None and key not in self._actions:
                self._actions[key] = self.create_client(Trigger, f"{name}/{event.action}")

    def _make_inputs(self) -> None:
        self._reader = JointStateReader("joint_states")
        self._joint_states = self.create_subscription(
            JointState, "joint_states", informed(self._take_joint_states), STREAM
        )
        # Each message tells all grips of one controller; deeper than its publishers, since there
        # may be several.
        self._grasps = self.create_subscription(
            MarkerArray, "grasps", self._taker(self._take_grasps), OBJECTS
        )
        # Edits add up, so the queue is longer than that of other inputs.
        self.create_subscription(
            Marker, "scene/edit", self._taker(self._take_edit), OBJECTS_VOLATILE
        )
        self.create_subscription(
            String, "robot_description", self._taker(self._take_description), LATCHED
        )

    def _make_services(self) -> None:
        self.create_service(Trigger, "~/reset", self._reset)
        self.create_service(Trigger, "~/clear", self._clear)
        self.create_service(SetBool, "~/pause", self._pause)
        self.create_service(Trigger, "~/step", self._step)

    # ---------------------------------------------------------------- inputs

    def _taker(self, take: Callable[[Any], None]) -> Callable[[Any], None]:
        """Make the callback that counts what is rejected."""

        def take_or_reject(message: Any) -> None:
            try:
                take(message)
            except RejectedInput as rejection:
                with self._lock:
                    self._rejections.reject(rejection)

        return take_or_reject

    def _take_joint_states(self, message: JointState, information: Mapping[str, Any]) -> None:
        try:
            angles = self._reader.read(message)
        except RejectedInput as rejection:
            with self._lock:
                self._rejections.reject(rejection)
            return
        stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
        now = time.monotonic()
        with self._lock:
            sequence = information.get("publication_sequence_number")
            freed = self._authority.hear_angles(angles, stamp * 1e-9, now, sequence)
            self._say_freed(freed, "its controller was started anew")
            for event in self._event_clock.hear(dict.fromkeys(angles, stamp), now):
                self._play(event, now)

    def _take_grasps(self, message: MarkerArray) -> None:
        with self._lock:
            self._grasp_messages += 1
            changes = grasps_from_markers("grasps", message)
            for change in changes:
                self._check_holder(change)
            for change in changes:
                self._take_grasp(change)

    def _check_holder(self, change: ObjectChange) -> None:
        """Refuse a grip by a segment that the arm is known not to have, or by an unknown arm."""
        if change.holder is None:
            return
        arm, segment = change.holder
        feed = self._authority.feed
        count = feed.segment_count(arm)
        if arm in feed.arms and (count is None or segment <= count):
            return
        if count is None:
            known = ", ".join(map(arm_name, feed.arms)) or "none"
            rule = f"header.frame_id must be the frame of a segment of an arm; there are: {known}"
        else:
            rule = f"header.frame_id must be the frame of a segment; {arm_name(arm)} has {count}"
        raise RejectedInput("grasps", "unknown frame", repr(segment_frame(arm, segment)), rule)

    def _take_grasp(self, change: ObjectChange) -> None:
        authority, logger = self._authority, self.get_logger()
        if change.kind is None or change.number is None:
            for thing in authority.let_go_all(change.arm):
                logger.info(f"{_holder_name(thing)} has let go of {_name(thing)}")
            if change.arm is None:
                self._refused.clear()
            else:
                self._refused = {key for key in self._refused if key[1] != change.arm}
            return
        what = f"{change.kind.label} {change.number}"
        if change.action == DELETE and change.position is not None:
            arm = authority.let_go(change.kind, change.number, change.position, change.arm)
            if arm is not None:
                logger.info(f"{arm_name(arm)} has let go of {what}")
            self._refused = {key for key in self._refused if key[0] != change.number}
        elif change.holder is not None and change.position is not None:
            now = time.monotonic()
            arm = change.holder[0]
            answer = authority.claim(
                change.kind, change.number, change.holder, change.position, now
            )
            if answer is ClaimAnswer.GRANTED:
                logger.info(f"{arm_name(arm)} holds {what}")
            if not answer.refused:
                self._refused.discard((change.number, arm))
                return
            self._answering_until = now + ANSWERING_TIME
            if (change.number, arm) not in self._refused:
                self._refused.add((change.number, arm))
                self._refused_claims += 1
                self._refusals_said += 1
                if self._refusals_said <= MOST_REFUSALS_SAID:
                    logger.warning(f"{arm_name(arm)} may not hold {what}: {answer.value}")

    def _take_edit(self, marker: Marker) -> None:
        frame = marker.header.frame_id
        if marker.action == Marker.ADD and not is_world(frame):
            rule = f"header.frame_id of an edit must be '{WORLD}' or empty, an arm takes by itself"
            raise RejectedInput("scene/edit", "unknown frame", repr(frame), rule)
        change = object_from_marker("scene/edit", marker, {})
        with self._lock:
            checked_kinds("scene/edit", [change], self._authority.kinds)
            self._edit(change)

    def _edit(self, change: ObjectChange) -> None:
        authority, logger = self._authority, self.get_logger()
        if change.kind is None or change.number is None:
            self._clear_all()
            logger.info("the scene was cleared")
            return
        what = f"{change.kind.label} {change.number}"
        if change.action != ADD or change.position is None or change.radius is None:
            if not authority.remove(change.number, change.kind):
                logger.info(
                    f"scene/edit: there is no {what} to delete", throttle_duration_sec=5.0
                )
            return
        lifetime = change.lifetime or float("inf")
        try:
            arm = authority.put(
                change.kind,
                change.number,
                change.position,
                change.radius,
                time.monotonic() + lifetime,
            )
        except FullSceneError as error:
            raise RejectedInput("scene/edit", "out of range", what, str(error)) from None
        if arm is not None:
            logger.info(f"{what} was taken from {arm_name(arm)}")

    def _take_description(self, message: String) -> None:
        try:
            placements = arms_from_description(message.data)
        except ValueError as error:
            shown = f"a text of {len(message.data)} characters"
            raise RejectedInput(
                "robot_description", "bad description", shown, str(error)
            ) from None
        with self._lock:
            self._authority.feed.describe(placements)

    def _change_parameters(self, changes: dict[str, Any]) -> None:
        factor = changes.get("real_time_factor")
        with self._lock:
            if factor is not None and self._simulated_clock is not None:
                self._simulated_clock.set_factor(factor, time.monotonic())

    # -------------------------------------------------------------- services

    def _reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        with self._lock:
            self._authority.reset()
            self._event_clock.restart()
            self._arm_events.clear()
            self._clear_first = True
            count = len(self._authority)
        lie = "lies" if count == 1 else "lie"
        response.message = f"{count_of(count, 'object')} {lie} as in the scene file"
        response.success = True
        return response

    def _clear(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        with self._lock:
            count = len(self._authority)
            self._clear_all()
        response.success = True
        response.message = f"{count_of(count, 'object')} {'is' if count == 1 else 'are'} gone"
        return response

    def _clear_all(self) -> None:
        self._authority.clear()
        self._clear_first = True

    def _pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        with self._lock:
            if self._simulated_clock is None:
                response.message = "this node has no clock to pause: publish_clock is false"
                return response
            self._simulated_clock.pause(request.data, time.monotonic())
            self._publish_clock()
        response.success = True
        response.message = "the clock is paused" if request.data else "the clock is running"
        return response

    def _step(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        with self._lock:
            if self._simulated_clock is None:
                response.message = "this node has no clock to step: publish_clock is false"
                return response
            try:
                self._simulated_clock.take_step()
            except ValueError as error:
                response.message = str(error)
                return response
            self._publish_clock()
            response.message = f"the clock is at {self._simulated_clock.nanoseconds * 1e-9:.9f} s"
        response.success = True
        return response

    # ---------------------------------------------------------------- events

    def _play(self, event: Event, now: float) -> None:
        """Do an event about objects; let one about an arm wait until the arm is found."""
        if event.arm is not None:
            self._arm_events.setdefault(event.arm, deque()).append((event, now + EVENT_PATIENCE))
            self._play_arm_events(now)
            return
        try:
            number = self._authority.apply(event)
        except FullSceneError as error:
            self.get_logger().warning(f"event at tick {event.tick}: {error}")
            return
        if number is None:
            self.get_logger().warning(
                f"event at tick {event.tick}: the object it is about is not there any more"
            )

    def _play_arm_events(self, now: float) -> None:
        """Send every arm what its events say, each event after the arm's last."""
        for arm, events in self._arm_events.items():
            while events:
                event, deadline = events[0]
                if not self._send(event):
                    if now < deadline:
                        break
                    what = "target" if event.reach is not None else event.action
                    self.get_logger().warning(
                        f"event at tick {event.tick}: nobody listens to {arm_name(arm)}/{what}"
                    )
                events.popleft()

    def _send(self, event: Event) -> bool:
        """Tell an arm what an event says; give whether it is there to be told."""
        assert event.arm is not None
        if event.reach is not None:
            publisher = self._targets[event.arm]
            if publisher.get_subscription_count() == 0:
                return False
            publisher.publish(target_message(*event.reach))
            return True
        assert event.action is not None
        client = self._actions[event.arm, event.action]
        if not client.service_is_ready():
            return False
        what = f"event at tick {event.tick}: {arm_name(event.arm)}/{event.action}"
        client.call_async(Trigger.Request()).add_done_callback(
            lambda future: self._hear_answer(what, future)
        )
        return True

    def _hear_answer(self, what: str, future: Future) -> None:
        answer = future.result()
        if answer is not None and not answer.success:
            self.get_logger().warning(f"{what} was refused: {answer.message}")

    # --------------------------------------------------------------- running

    def live(self, stop: SignalFlag) -> None:
        """Publish until told to stop.

        Args:
            stop: set when the node is to end.
        """
        turn = time.monotonic()
        while not stop.is_set():
            now = time.monotonic()
            with self._lock:
                if now - turn > STALL:
                    # What came meanwhile still waits: the silence was this node's own.
                    self._authority.feed.forgive(now)
                if now >= turn:
                    turn = max(turn + TURN, now)
                    self._look_after_everything(now)
                wait = min(turn - now, self._run_clock(now))
            stop.wait(max(wait, 0.0002))

    def _look_after_everything(self, now: float) -> None:
        self._authority.expire(now)
        freed = self._authority.drop_silent(now)
        self._say_freed(freed, f"nothing was heard of it for {SILENCE:g} s", warn=True)
        self._play_arm_events(now)
        self._publish_objects(now)
        if now - self._report_time >= REPORT_PERIOD:
            self._report_time = now
            self._publish_report(now)

    def _run_clock(self, now: float) -> float:
        """Publish the clock when it has moved; give how long it needs no attention, s."""
        clock = self._simulated_clock
        if clock is None:
            return TURN
        since = now - self._clock_time
        moved = since >= SHORTEST_CLOCK_PERIOD and clock.advance(now)
        if moved or (clock.paused and since >= PAUSED_CLOCK_PERIOD):
            self._publish_clock()
        return max(clock.wait(now), SHORTEST_CLOCK_PERIOD - (now - self._clock_time))

    def _publish_clock(self) -> None:
        assert self._simulated_clock is not None and self._clock_publisher is not None
        self._clock_time = time.monotonic()
        self._clock_publisher.publish(Clock(clock=_stamp(self._simulated_clock.nanoseconds)))

    def _open(self, now: float) -> bool:
        """Tell whether it is time to say where objects lie: whoever holds some has said so."""
        if not self._opened:
            waited = now - self._begun
            publishers = self.count_publishers(self._grasps.topic_name)
            heard = 1 <= publishers <= self._grasp_messages
            self._opened = waited >= LONGEST_OPENING or (heard and waited >= SHORTEST_OPENING)
        return self._opened

    def _publish_objects(self, now: float) -> None:
        if not self._open(now):
            return
        authority = self._authority
        since = now - self._published_time
        if since < self._publishing_pause:
            return
        lively = authority.carrying or now < self._answering_until
        # A little early rather than one whole turn late.
        period = (CARRYING_PERIOD if lively else RESTING_PERIOD) - TURN / 2.0
        if authority.version == self._published_version and since < period:
            return
        message = self._markers.fill(authority.objects, self._clear_first)
        self._objects.publish(message)
        self._clear_first = False
        self._published_version = authority.version
        self._published_time = now
        spent = time.monotonic() - now
        self._publishing_pause = spent / PUBLISHING_SHARE

    def _say_freed(self, freed: Iterable[FixedObject], reason: str, warn: bool = False) -> None:
        logger = self.get_logger()
        for thing in freed:
            text = f"{_holder_name(thing)} holds {_name(thing)} no more: {reason}"
            if warn:
                logger.warning(text)
            else:
                logger.info(text)

    # --------------------------------------------------------------- reports

    def _contested_arms(self, now: float) -> tuple[int, ...]:
        """Give the arms that more than one node moves."""
        topic = self._joint_states.topic_name
        several = self.count_publishers(topic) > 1
        folder = topic.rpartition("/")[0]
        feed = self._authority.feed
        for arm in feed.heard_arms:
            # Every reach controller has a tip for each of its arms.
            tips = self.count_publishers(f"{folder}/{arm_name(arm)}/tip") if several else 0
            feed.note_publishers(arm, tips, now)
        return feed.disputed(now) if several else ()

    def _note_contested(self, now: float) -> str:
        contested = self._contested_arms(now)
        text = ""
        if contested:
            topic = self._joint_states.topic_name
            nodes = sorted(
                f"{info.node_namespace.rstrip('/')}/{info.node_name}"
                for info in self.get_publishers_info_by_topic(topic)
            )
            text = (
                f"more than one node publishes the joints of"
                f" {', '.join(map(arm_name, contested))} on joint_states: {', '.join(nodes)}"
            )
            if not set(contested) <= set(self._contested):
                self.get_logger().warning(text)
        self._contested = contested
        return text

    def _publish_report(self, now: float) -> None:
        authority, events = self._authority, self._event_clock
        self._refusals_said = 0
        problems = list(self._table.refused)
        contested = self._note_contested(now)
        if contested:
            problems.append(contested)
        silent = authority.feed.silent(now, SILENCE)
        if silent:
            problems.append(f"nothing is heard of {', '.join(map(arm_name, silent))}")
        held = [f"{_name(thing)} by {_holder_name(thing)}" for thing in authority.held]
        values: dict[str, object] = {
            "objects": len(authority),
            "held": ", ".join(held) or "nothing",
            "arms heard of": ", ".join(map(arm_name, authority.feed.heard_arms)) or "none",
            "event clock (s)": float(events.seconds),
            "events to come": events.left + sum(map(len, self._arm_events.values())),
            "refused claims": self._refused_claims,
            "rejected inputs": self._rejections.total,
        }
        for cause, count in sorted(self._rejections.counts.items()):
            values[f"rejected: {cause}"] = count
        if self._simulated_clock is not None:
            values["clock (s)"] = self._simulated_clock.nanoseconds * 1e-9
            values["real-time factor"] = self._simulated_clock.factor
            values["clock paused"] = "yes" if self._simulated_clock.paused else "no"
        level = WARN if problems else OK
        summary = "; ".join(problems) or f"{count_of(len(authority), 'object')}, {len(held)} held"
        stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(self._report.fill(stamp, level, summary, values))


def _geometry_settings(placements: Sequence[ArmPlacement]) -> list[Setting]:
    """Give the parameters of arms that tell where a held object is, fixed here.

    They are the controller's too; while it runs, its `robot_description` tells of changes.
    """
    every = [setting for setting in controller_settings(()) if setting.name in ARM_FIELDS]
    single = [
        setting
        for setting in arm_settings([placement.number for placement in placements], ())
        if setting.name.rpartition(".")[2] in ARM_FIELDS
    ]
    remark = "; a change resets the arm"
    return [
        replace(setting, fixed=True, description=setting.description.replace(remark, ""))
        for setting in (*every, *single)
    ]


def _name(thing: FixedObject) -> str:
    return f"{thing.kind.label} {thing.number}"


def _holder_name(thing: FixedObject) -> str:
    return arm_name(thing.holder[0]) if thing.holder is not None else "nobody"


def _stamp(nanoseconds: int) -> Time:
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return Time(sec=seconds, nanosec=rest)


def main(args: Sequence[str] | None = None) -> int:
    """Run the simulated world until SIGINT or SIGTERM; give the exit code."""
    return run_node(SimulatedWorld, args)


if __name__ == "__main__":
    sys.exit(main())
