"""What the RViz file listens to and sends is what running nodes offer and take."""

from __future__ import annotations

import re

import pytest
import yaml
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

from octo_reach.installation import share_path

TYPES = {
    "rviz_default_plugins/Path": "nav_msgs/msg/Path",
    "rviz_default_plugins/MarkerArray": "visualization_msgs/msg/MarkerArray",
    "rviz_default_plugins/PointCloud2": "sensor_msgs/msg/PointCloud2",
    "rviz_default_plugins/PointStamped": "geometry_msgs/msg/PointStamped",
    "rviz_default_plugins/PublishPoint": "geometry_msgs/msg/PointStamped",
    "rviz_default_plugins/RobotModel": "std_msgs/msg/String",
    "rviz_default_plugins/SetGoal": "geometry_msgs/msg/PoseStamped",
}


@pytest.fixture
def manager():
    text = share_path("rviz", "octo_reach.rviz").read_text(encoding="utf-8")
    return yaml.safe_load(text)["Visualization Manager"]


@pytest.fixture
def system(start):
    start("simulated_world")
    start("reach_controller", ready="ready: ")


def displays(group):
    """Every display, those in groups too."""
    for entry in group["Displays"]:
        yield entry
        yield from displays(entry) if entry["Class"] == "rviz_common/Group" else ()


def test_every_display_hears_its_publisher(manager, system, probe, namespace):
    for display in displays(manager):
        asked = display.get("Topic") or display.get("Description Topic")
        # Of the octopus's arms there is one here.
        if asked is None or re.match("arm_[2-8]/", asked["Value"]):
            continue
        topic = f"{namespace}/{asked['Value']}"
        (offered,) = probe.wait_until(
            lambda topic=topic: probe.node.get_publishers_info_by_topic(topic),
            f"a publisher of {topic}",
        )
        assert offered.topic_type == TYPES[display["Class"]]
        assert offered.qos_profile.reliability == ReliabilityPolicy.RELIABLE
        kept = offered.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
        # Asking for what is not kept shows nothing and says OK; not asking misses what is kept.
        assert (asked["Durability Policy"] == "Transient Local") == kept, topic


def test_every_tool_is_heard(manager, system, probe, namespace):
    for tool in manager["Tools"]:
        if "Topic" not in tool:
            continue
        topic = f"{namespace}/{tool['Topic']['Value']}"
        (listener,) = probe.wait_until(
            lambda topic=topic: probe.node.get_subscriptions_info_by_topic(topic),
            f"a listener on {topic}",
        )
        assert listener.topic_type == TYPES[tool["Class"]]
        # A volatile sender is heard by a volatile listener only.
        assert tool["Topic"]["Durability Policy"] == "Volatile"
        assert listener.qos_profile.durability == DurabilityPolicy.VOLATILE
