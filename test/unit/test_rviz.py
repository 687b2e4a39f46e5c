"""The RViz file asks for what the nodes offer: topics, types and qualities of service."""

from __future__ import annotations

import pytest
import yaml

from octo_reach.installation import share_path
from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.ros.colours import arm_colour

# Topic: class of display or tool, whether its publisher keeps the last message for late joiners.
SHOWN = {
    "robot_description": ("rviz_default_plugins/RobotModel", True),
    "objects": ("rviz_default_plugins/MarkerArray", True),
    "markers": ("rviz_default_plugins/MarkerArray", False),
    "contacts": ("rviz_default_plugins/PointCloud2", False),
    "arm_1/tip": ("rviz_default_plugins/PointStamped", False),
    **{f"arm_{n}/trail": ("rviz_default_plugins/Path", False) for n in range(1, 9)},
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


def displays(group):
    """Every display, those in groups too."""
    for entry in group["Displays"]:
        yield entry
        if entry["Class"] == "rviz_common/Group":
            yield from displays(entry)


def entries(manager, group):
    found = displays(manager) if group == "Displays" else manager[group]
    return {topic_of(entry)["Value"]: entry for entry in found if topic_of(entry)}


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
    serialization = pytest.importorskip("rclpy.serialization", reason="rclpy is not installed")
    markers = pytest.importorskip("octo_reach.ros.markers", reason="rclpy is not installed")
    octopus = Octopus([ArmPlacement(1, ArmParameters(5, 0.02))], ReachRules.metre())
    drawing = markers.ArmMarkers()
    message = serialization.deserialize_message(drawing.fill(octopus), drawing.kind)
    drawn = {marker.ns for marker in message.markers}
    namespaces = entries(manager, "Displays")["markers"]["Namespaces"]
    assert set(namespaces) == drawn
    # What is not told apart here is drawn whatever the ticks say.
    assert all(type(shown) is bool for shown in namespaces.values())
    assert [name for name, shown in namespaces.items() if not shown] == ["manipulability"]


def test_handles_are_shown_and_can_be_dragged_at_once(manager):
    (handles,) = [
        entry
        for entry in displays(manager)
        if entry["Class"] == "rviz_default_plugins/InteractiveMarkers"
    ]
    assert handles["Enabled"] is True
    # Relative, so that a namespace moves it.
    assert handles["Interactive Markers Namespace"] == "handles"
    # The first tool is the one that is chosen at the start.
    assert manager["Tools"][0]["Class"] == "rviz_default_plugins/Interact"


def test_trails_have_the_colours_of_the_arms_and_show_the_newest_only(manager):
    for topic, entry in entries(manager, "Displays").items():
        arm, _, last = topic.partition("/")
        if last != "trail":
            continue
        assert entry["Buffer Length"] == 1
        colour = [int(word) / 255.0 for word in entry["Color"].split(";")]
        expected = arm_colour(int(arm.removeprefix("arm_")))
        assert colour == pytest.approx(expected, abs=0.003)


def test_nothing_is_heard_twice_to_show_the_same(manager):
    """The tips are shown by their trails, contacts by the markers: the streams are off at first."""
    shown = entries(manager, "Displays")
    for topic in ("arm_1/tip", "contacts"):
        assert shown[topic]["Enabled"] is shown[topic]["Value"] is False
