"""The topics from which anybody learns where the arms and the objects are."""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from octo_reach.nodes.monitor import KEPT, NEWEST
from octo_reach.nodes.objects_subscription import ObjectsSubscription
from octo_reach.nodes.sightings import Sightings
from octo_reach.ros.quality_of_service import LATCHED, STREAM


def hear_topics(node: Node, sightings: Sightings) -> None:
    """Let a node hear arms and objects; contacts and markers it may hear as well.

    Args:
        node: the node that listens.
        sightings: takes what is heard.
    """
    node.create_subscription(
        JointState, "joint_states", sightings.hear_joint_states, NEWEST, raw=True
    )
    node.create_subscription(DiagnosticArray, "arm_states", sightings.hear_states, KEPT)
    node.create_subscription(DiagnosticArray, "/diagnostics", sightings.hear_diagnostics, STREAM)
    node.create_subscription(String, "robot_description", sightings.hear_description, LATCHED)
    ObjectsSubscription(node, sightings.hear_objects)
