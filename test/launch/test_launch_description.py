"""What the launch files make of their arguments. Needs ROS 2's own launch packages."""

from __future__ import annotations

import pytest
import yaml

pytest.importorskip("launch_ros", reason="launch_ros comes with a full ROS 2, not with its wheels")

from launch import LaunchContext
from launch.actions import DeclareLaunchArgument, LogInfo
from launch.events.process import ProcessExited
from launch_ros.actions import Node

from octo_reach.installation import share_path
from octo_reach.nodes import launch_description
from octo_reach.nodes.launch_description import (
    describe_arms,
    describe_launch,
    node_actions,
    note_end_of_viewer,
    read_parameters,
)
from octo_reach.planners import PLANNERS
from octo_reach.ros.description import arms_from_description

DEFAULTS = {
    "scene": "",
    "planner": "",
    "arms": "",
    "rviz": "true",
    "handles": "",
    "viewer": "false",
    "viewer_port": "8080",
    "use_sim_time": "false",
    "namespace": "",
    "config": str(share_path("config", "reach.yaml")),
}


def actions(**arguments):
    context = LaunchContext()
    context.launch_configurations.update({**DEFAULTS, **arguments})
    return node_actions(context, "first_reach")


@pytest.fixture
def installed(monkeypatch):
    """The packages that count as installed beside octo_reach itself."""
    packages = {"robot_state_publisher", "rviz2", "interactive_markers"}
    monkeypatch.setattr(launch_description, "_is_installed", packages.__contains__)
    return packages


def executables(found):
    return {action.node_executable for action in found if isinstance(action, Node)}


def notes(found):
    context = LaunchContext()
    return [
        "".join(part.perform(context) for part in action.msg)
        for action in found
        if isinstance(action, LogInfo)
    ]


def test_everything_is_started_where_everything_is_installed(installed):
    found = actions()
    assert executables(found) == {
        "reach_controller",
        "simulated_world",
        "robot_state_publisher",
        "rviz2",
        "handles",
    }
    assert notes(found) == []


NODES_OF = {"interactive_markers": "handles"}


@pytest.mark.parametrize("package", ["robot_state_publisher", "rviz2", "interactive_markers"])
def test_what_is_not_installed_is_said_and_the_rest_goes_on(installed, package):
    before = executables(actions())
    installed.remove(package)
    found = actions()
    assert executables(found) == before - {NODES_OF.get(package, package)}
    assert len(notes(found)) == 1
    assert notes(found)[0].startswith(f"{package} is not installed")


def test_rviz_is_left_out_when_it_is_not_wanted(installed):
    installed.remove("rviz2")
    found = actions(rviz="false")
    assert not {"rviz2", "handles"} & executables(found)
    assert notes(found) == []


@pytest.mark.parametrize(
    ("rviz", "handles", "started"),
    [
        ("true", "", {"rviz2", "handles"}),
        ("true", "false", {"rviz2"}),
        ("false", "true", {"handles"}),
        ("false", "", set()),
    ],
)
def test_handles_come_with_rviz_unless_it_is_said_otherwise(installed, rviz, handles, started):
    found = executables(actions(rviz=rviz, handles=handles))
    assert found & {"rviz2", "handles"} == started


def test_a_page_is_served_when_it_is_asked_for(installed):
    assert "viewer" not in executables(actions())
    before = executables(actions(rviz="false"))
    assert executables(actions(rviz="false", viewer="true")) == before | {"viewer"}


def test_a_viewer_that_fails_is_said_and_ends_nothing_else(installed):
    (viewer,) = [
        action
        for action in actions(viewer="true")
        if isinstance(action, Node) and action.node_executable == "viewer"
    ]
    events = {
        code: ProcessExited(
            returncode=code, action=viewer, name="viewer-1", cmd=[], cwd=None, env=None, pid=1
        )
        for code in (0, 1, -9)
    }
    context = LaunchContext()
    assert note_end_of_viewer(events[0], context) == []
    for code in (1, -9):
        found = note_end_of_viewer(events[code], context)
        assert [type(action) for action in found] == [LogInfo]
        assert notes(found) == ["viewer ended, why stands above: no page; the rest goes on"]


@pytest.mark.parametrize(
    ("argument", "value", "said"),
    [
        ("scene", "no such scene", "no such scene"),
        ("planner", "fastest", "neighbour"),
        ("arms", "x", "arms"),
        ("arms", "7", "arm_7"),
        ("rviz", "maybe", "rviz must be true or false"),
        ("handles", "maybe", "handles must be true or false"),
        ("viewer", "maybe", "viewer must be true or false"),
        ("viewer_port", "web", "viewer_port must be a whole number from 0"),
        ("viewer_port", "-1", "to 65535, got '-1'"),
        ("viewer_port", "65536", "to 65535, got '65536'"),
        ("viewer_port", "9" * 5000, "viewer_port must be a whole number from 0"),
        ("viewer_port", "\N{FULLWIDTH DIGIT EIGHT}0", "viewer_port must be a whole number from 0"),
        ("use_sim_time", "2", "use_sim_time must be true or false"),
        ("config", "/no/such/file.yaml", "/no/such/file.yaml"),
    ],
)
def test_a_wrong_argument_is_refused_before_anything_starts(installed, argument, value, said):
    with pytest.raises(ValueError, match=said):
        actions(**{argument: value})


def test_a_file_that_holds_no_parameters_is_refused(installed, tmp_path):
    path = tmp_path / "notes.yaml"
    path.write_text("just: text\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"notes\.yaml is no parameter file"):
        actions(config=str(path))


def test_every_argument_says_what_it_is_for():
    declared = {
        entity.name: entity.description
        for entity in describe_launch("first_reach", "reach.yaml").entities
        if isinstance(entity, DeclareLaunchArgument)
    }
    assert set(declared) == set(DEFAULTS)
    assert all(len(text) > 20 for text in declared.values())


# --- The robot model that robot_state_publisher is given ---


def described(**given):
    scene = str(share_path("config", "scenes", "first_reach.yaml"))
    return arms_from_description(describe_arms({"scene": scene, **given}))


def test_the_robot_model_follows_the_parameters():
    (arm,) = described(segment_count=7, segment_length=0.02)
    assert arm.parameters.segment_count == 7
    assert arm.parameters.segment_length == pytest.approx(0.02)


def test_what_is_said_for_one_arm_wins_over_what_is_said_for_all():
    (arm,) = described(**{"segment_count": 7, "arms.arm_1.segment_count": 9})
    assert arm.parameters.segment_count == 9


def test_a_value_the_controller_refuses_changes_nothing():
    (arm,) = described(segment_count=-3)
    assert arm.parameters.segment_count == 20


def test_a_node_of_its_name_wins_over_any_node_in_a_parameter_file(tmp_path):
    path = tmp_path / "config.yaml"
    document = {
        "/tank/reach_controller": {"ros__parameters": {"segment_count": 9}},
        "/**": {
            "ros__parameters": {"segment_count": 7, "arms": {"arm_1": {"planner": "external"}}}
        },
    }
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    assert read_parameters(path, "/tank/reach_controller") == {
        "segment_count": 9,
        "arms.arm_1.planner": "external",
    }
    assert read_parameters(path, "/reach_controller")["segment_count"] == 7


@pytest.mark.parametrize("name", ["reach.yaml", "octopus.yaml"])
def test_the_shipped_parameters_are_ones_there_are(name):
    given = read_parameters(share_path("config", name), "/reach_controller")
    settings = {s.name: s for s in launch_description.controller_settings(PLANNERS)}
    for key, value in given.items():
        assert settings[key].checked(value) == value
