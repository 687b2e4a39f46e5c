"""The node that measures a reach controller from outside: what it says, and how soon it answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PointStamped
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from octo_reach.benchmarks.node import Progress
from octo_reach.nodes.topic_listener import topics_of
from octo_reach.ros.frames import arm_name
from octo_reach.ros.joint_states import JointStateReader
from octo_reach.ros.quality_of_service import INPUT, STREAM
from octo_reach.ros.targets import target_message

RESTING_STEPS = 3
"""An arm that looks the same in so many messages stands still."""


class NodeMeter(Node):
    """Hears the controller of its namespace, sends its arms about, and times an answer.

    Callbacks run in another thread than the methods.
    """

    def __init__(self, arms: Iterable[int]) -> None:
        """Listen from now on.

        Args:
            arms: numbers of the controller's arms.
        """
        super().__init__("node_meter", enable_rosout=False)
        numbers = tuple(arms)
        controller = f"{self.get_namespace().rstrip('/')}/reach_controller"
        self._controller = controller
        self._news = threading.Condition()
        self._reports: list[Progress] = []
        self._reader = JointStateReader()
        self._heard = 0
        self._latest = b""
        self._poses: dict[int, bytes] = {}
        self._watched: int | None = None
        self._pose: bytes = b""
        self._same = 0
        self._moved = 0
        self._targets = {
            number: self.create_publisher(PointStamped, f"{arm_name(number)}/target", INPUT)
            for number in numbers
        }
        self._actions = {
            (number, action): self.create_client(Trigger, f"{arm_name(number)}/{action}")
            for number in numbers
            for action in ("idle", "reset")
        }
        self.create_subscription(DiagnosticArray, "/diagnostics", self._hear_report, STREAM)
        self.create_subscription(JointState, "joint_states", self._hear_joints, STREAM, raw=True)

    # Listening

    def _hear_report(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name != self._controller:
                continue
            values = {value.key: value.value for value in status.values}
            stamp = message.header.stamp
            with self._news:
                self._reports.append(
                    Progress(
                        time=stamp.sec + 1e-9 * stamp.nanosec,
                        steps=int(values["steps"]),
                        missed=int(values["missed steps"]),
                        worst_step=float(values["worst step (ms)"]),
                    )
                )
                self._news.notify_all()

    def _hear_joints(self, message: bytes) -> None:
        now = time.monotonic_ns()
        self._heard += 1
        self._latest = message
        watched = self._watched
        if watched is None:
            return
        # Only now: to read 160 names takes longer than to notice that they came.
        pose = self._read_poses(message).get(watched, b"")
        with self._news:
            if pose == self._pose:
                self._same += 1
            else:
                self._pose, self._same = pose, 1
                self._moved = now
            self._news.notify_all()

    def _read_poses(self, message: bytes) -> dict[int, bytes]:
        """Give something that differs where the poses do, by the number of the arm."""
        angles = self._reader.read(deserialize_message(message, JointState))
        return {number: np.round(pose, 12).tobytes() for number, pose in angles.items()}

    # Telling

    @property
    def heard(self) -> int:
        """How many joint_states were heard."""
        return self._heard

    def reports(self) -> list[Progress]:
        """Give what the controller has said since `forget`."""
        with self._news:
            return list(self._reports)

    def forget(self) -> None:
        """Forget what the controller has said so far."""
        with self._news:
            self._reports.clear()

    def missing_ears(self, subscribers: int) -> list[str]:
        """Give the topics that so many listeners beside this node have not found yet.

        Args:
            subscribers: how many processes should hear every topic.
        """
        own = {"joint_states": 1, "/diagnostics": 1}
        # The world hears them as well.
        worlds = {"joint_states": 1, "grasps": 1, "robot_description": 1}
        return [
            topic
            for topic in topics_of(len(self._targets))
            if self.count_subscribers(topic)
            < subscribers + own.get(topic, 0) + worlds.get(topic, 0)
        ]

    def is_heard(self) -> bool:
        """Tell whether the controller takes the targets of every arm, and serves them."""
        return all(
            publisher.get_subscription_count() for publisher in self._targets.values()
        ) and all(client.service_is_ready() for client in self._actions.values())

    def send(self, arm: int, target: tuple[float, float]) -> None:
        """Send an arm to a target, (x, y), m."""
        self._targets[arm].publish(target_message(*target))

    def free_stuck_arms(self) -> None:
        """Put arms back into their starting poses that stand as they did at the last call.

        The local rules can be trapped, and an arm that is makes no work for anybody.
        """
        poses = self._read_poses(self._latest) if self._latest else {}
        for number, pose in poses.items():
            if self._poses.get(number) == pose:
                self.reset_arm(number)
        self._poses = poses

    def reset_arm(self, arm: int) -> None:
        """Put an arm back into its starting pose."""
        self._call(arm, "reset")

    def _call(self, arm: int, action: str) -> threading.Event:
        """Call a service of an arm; the event is set when it has answered."""
        done = threading.Event()
        future = self._actions[arm, action].call_async(Trigger.Request())
        future.add_done_callback(lambda _: done.set())
        return done

    # Timing

    def stop_arm(self, arm: int, patience: float) -> bool:
        """Let an arm stand still, and wait until it does.

        Args:
            arm: its number.
            patience: longest to wait, s.

        Returns:
            Whether it does.
        """
        deadline = time.monotonic() + patience
        if not self._call(arm, "idle").wait(patience):
            return False
        with self._news:
            self._watched, self._pose, self._same = arm, b"", 0
            while self._same < RESTING_STEPS:
                left = deadline - time.monotonic()
                if left <= 0.0:
                    self._watched = None
                    return False
                self._news.wait(left)
        return True

    def time_answer(self, arm: int, target: tuple[float, float], patience: float) -> float | None:
        """Send an arm that stands still, and time the first joint_states in which it has moved.

        `stop_arm` comes before.

        Args:
            arm: its number.
            target: where it should go, (x, y), m.
            patience: longest to wait, s.

        Returns:
            Time from before the target was published to when the message came, s; None where the
            arm did not move.
        """
        message = target_message(*target)
        with self._news:
            resting = self._pose
        begun = time.monotonic_ns()
        self._targets[arm].publish(message)
        deadline = time.monotonic() + patience
        with self._news:
            try:
                while self._pose == resting:
                    left = deadline - time.monotonic()
                    if left <= 0.0:
                        return None
                    self._news.wait(left)
                return (self._moved - begun) * 1e-9
            finally:
                self._watched = None
