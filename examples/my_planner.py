"""A planner of your own, as a node: what it proposes, the arm does, within its limits.

Let the arm listen to it, start it beside, and send the arm somewhere:

    ros2 launch octo_reach reach.launch.py planner:=external
    python3 my_planner.py
    ros2 topic pub -1 -w 2 /arm_1/target geometry_msgs/msg/PointStamped "{point: {x: 0.1, y: 0.2}}"

The method here is cyclic coordinate descent: joint by joint, from the tip to the base, turn what
lies beyond the joint so that the tip points at the target. Put yours in its place.
"""

from contextlib import suppress
from math import atan2, cos, pi, remainder, sin, tau

import rclpy
from geometry_msgs.msg import PointStamped
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from sensor_msgs.msg import JointState

ARM = "arm_1"
BASE = (0.0, 0.0)  # m
LENGTH = 0.018  # of every segment, m
LARGEST_BEND = pi / 3.0  # of every joint but the base, which turns freely


class MyPlanner(Node):
    """Hears how the arm stands and where it is sent; proposes joint angles."""

    def __init__(self):
        """Wait for a target."""
        super().__init__("my_planner")
        self.target = None
        self.proposals = self.create_publisher(JointState, f"{ARM}/joint_proposal", 10)
        self.create_subscription(PointStamped, f"{ARM}/target", self.take_target, 10)
        self.create_subscription(JointState, "joint_states", self.propose, 10)

    def take_target(self, message):
        """Note where the tip should go."""
        self.target = (message.point.x, message.point.y)

    def propose(self, message):
        """Answer every step of the arm with the angles it should have."""
        if self.target is None:
            return
        places = [i for i, name in enumerate(message.name) if name.startswith(f"{ARM}/")]
        angles = [message.position[i] for i in places]
        for joint in reversed(range(len(angles))):
            points = joint_positions(angles)
            turn = direction(points[joint], self.target) - direction(points[joint], points[-1])
            angles[joint] = remainder(angles[joint] + turn, tau)
            if joint > 0:
                angles[joint] = min(max(angles[joint], -LARGEST_BEND), LARGEST_BEND)
        names = [message.name[i] for i in places]
        self.proposals.publish(JointState(name=names, position=angles))


def joint_positions(angles):
    """Give where the joints are, and the tip: (x, y) from the base on, m."""
    points, heading = [BASE], 0.0
    for angle in angles:
        heading += angle
        x, y = points[-1]
        points.append((x + LENGTH * cos(heading), y + LENGTH * sin(heading)))
    return points


def direction(start, end):
    """Give the heading from one point to another, rad."""
    return atan2(end[1] - start[1], end[0] - start[0])


if __name__ == "__main__":
    rclpy.init()
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(MyPlanner())
