"""The RViz file asks for what the nodes offer: topics, types and qualities of service."""

from __future__ import annotations

import pytest
import yaml

from octo_reach.installation import share_path
from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules

# Topic: class of display or tool, whether its publisher keeps the last message for late joiners.
SHOWN = {
    "robot_description": ("rviz_default_plugins/RobotModel", True),
    "objects": ("rviz_default_plugins/MarkerArray", True),
    "markers": ("rviz_default_plugins/MarkerArray", False),
    "contacts": ("rviz_default_plugins/PointCloud2", False),
    "arm_1/tip": ("rviz_default_plugins/PointStamped", False),
}
SENT = {
    "arm_1/target": ("rviz_default_plugins/PublishPoint", False),
    "arm_1/target_pose": ("rviz_default_plugins/SetGoal", False),
}


@pytest.fixture(scope="module")
def manager():
    text = share_path("rviz", "octo_reach.rviz").read_text(encoding="utf-8")
    return yaml.safe_load(text)["Visualization Manager"]


def topic_of(entry):
    return entry.get("Topic") or entry.get("Description Topic")


def entries(manager, group):
    return {topic_of(entry)["Value"]: entry for entry in manager[group] if topic_of(entry)}


def durability(latched):
    return "Transient Local" if latched else "Volatile"


def test_every_topic_there_is_something_to_see_of_is_shown(manager):
    assert set(entries(manager, "Displays")) == set(SHOWN)


def test_both_click_tools_are_wired(manager):
    assert set(entries(manager, "Tools")) == set(SENT)


@pytest.mark.parametrize(
    ("group", "topic"),
    [*(("Displays", topic) for topic in SHOWN), *(("Tools", topic) for topic in SENT)],
)
def test_class_and_quality_of_service_fit_the_other_end(manager, group, topic):
    entry = entries(manager, group)[topic]
    kind, latched = {**SHOWN, **SENT}[topic]
    assert entry["Class"] == kind
    asked = topic_of(entry)
    assert asked["Durability Policy"] == durability(latched)
    assert asked["Reliability Policy"] == "Reliable"
    assert asked["History Policy"] == "Keep Last"
    assert asked["Depth"] >= 1


@pytest.mark.parametrize("group", ["Displays", "Tools"])
def test_topics_are_relative_so_that_a_namespace_moves_them(manager, group):
    assert not [topic for topic in entries(manager, group) if topic.startswith("/")]


def test_contacts_are_coloured_by_kind_on_a_fixed_scale(manager):
    cloud = entries(manager, "Displays")["contacts"]
    assert cloud["Color Transformer"] == "Intensity"
    assert cloud["Channel Name"] == "kind"
    # With bounds of its own making a cloud of one kind has one colour, whatever the kind.
    assert cloud["Autocompute Intensity Bounds"] is False
    assert (cloud["Min Intensity"], cloud["Max Intensity"]) == (0, 3)


def test_everything_is_seen_from_above_in_the_world(manager):
    assert manager["Global Options"]["Fixed Frame"] == "world"
    assert manager["Views"]["Current"]["Class"] == "rviz_default_plugins/TopDownOrtho"


def test_frames_are_there_but_off(manager):
    (frames,) = [
        entry for entry in manager["Displays"] if entry["Class"] == "rviz_default_plugins/TF"
    ]
    assert frames["Enabled"] is False


def test_namespaces_of_the_markers_are_those_there_are_and_the_ellipse_is_off_at_first(manager):
    markers = pytest.importorskip("octo_reach.ros.markers", reason="rclpy is not installed")
    octopus = Octopus([ArmPlacement(1, ArmParameters(5, 0.02))], ReachRules.metre())
    drawn = {marker.ns for marker in markers.ArmMarkers().fill(octopus).markers}
    namespaces = entries(manager, "Displays")["markers"]["Namespaces"]
    assert set(namespaces) == drawn
    assert [name for name, shown in namespaces.items() if not shown] == ["manipulability"]
