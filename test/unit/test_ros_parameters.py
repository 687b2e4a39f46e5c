"""Parameters: what is taken, what is refused and how it is said, at the start and later."""

# ruff: noqa: E402 - what is imported later may not be installed

import math
import os

import pytest

rclpy = pytest.importorskip("rclpy", reason="rclpy is not installed")

from hypothesis import given
from hypothesis import strategies as st
from rcl_interfaces.msg import ParameterType
from rclpy.context import Context
from rclpy.parameter import Parameter

from octo_reach.model.arm import ArmParameters
from octo_reach.model.rules import ReachRules
from octo_reach.ros.parameters import (
    ARMS,
    CHOICE,
    FLAG,
    REAL,
    TEXT,
    WHOLE,
    ParameterTable,
    Setting,
    arm_settings,
    chosen_arms,
    controller_settings,
    effective_arm,
    effective_planner,
    effective_rules,
    planner_settings,
    read_arms,
    rule_settings,
    world_settings,
)

pytestmark = pytest.mark.ros

PLANNERS = ("neighbour", "external")
ALL = (
    *controller_settings(PLANNERS),
    *rule_settings(ReachRules.metre()),
    *arm_settings([1, 12], PLANNERS),
    *world_settings(),
)


@pytest.fixture
def make_node(monkeypatch):
    """Give a function that makes a node with parameters as its command line would."""
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    made = []

    def make(*given, file=None):
        arguments = ["--ros-args"]
        for text in given:
            arguments += ["-p", text]
        if file is not None:
            arguments += ["--params-file", str(file)]
        context = Context()
        rclpy.init(args=arguments, context=context, domain_id=60 + os.getpid() % 40)
        node = rclpy.create_node(
            "reach_controller", namespace=f"test_{os.getpid()}", context=context
        )
        made.append(node)
        return node

    yield make
    for node in made:
        node.destroy_node()
        rclpy.shutdown(context=node.context)


def make_table(node, **arguments):
    table = ParameterTable(node, **arguments)
    table.declare(controller_settings(PLANNERS))
    table.declare(rule_settings(ReachRules.metre()))
    table.declare(arm_settings([1, 2], PLANNERS))
    return table


def set_one(node, name, value):
    (result,) = node.set_parameters([Parameter(name, value=value)])
    return result


# Settings


@pytest.mark.parametrize("setting", ALL, ids=lambda setting: setting.name)
def test_every_parameter_has_a_description_a_unit_where_it_has_one_and_a_range(setting):
    descriptor = setting.descriptor()
    assert len(descriptor.description) > 10
    assert setting.rule in descriptor.additional_constraints
    if setting.kind == REAL:
        (bounds,) = descriptor.floating_point_range
        assert bounds.from_value < bounds.to_value
        assert setting.unit or setting.name == "real_time_factor"
        assert descriptor.description.endswith(setting.unit)
    if setting.kind == WHOLE:
        (bounds,) = descriptor.integer_range
        assert bounds.from_value < bounds.to_value
    assert descriptor.read_only == setting.fixed
    assert ("fixed at the start" in descriptor.additional_constraints) == setting.fixed


@pytest.mark.parametrize("setting", ALL, ids=lambda setting: setting.name)
def test_every_default_is_valid_or_means_not_set(setting):
    if setting.default is None:
        assert setting.optional
    else:
        assert setting.checked(setting.default) == setting.default


@pytest.mark.parametrize(
    ("setting", "good", "bad"),
    [
        (Setting("p", TEXT, "", "text"), ["", "a"], [1, 1.0, True, ["a"], None]),
        (Setting("p", FLAG, True, "flag"), [True, False], [0, 1, "true", None]),
        (
            Setting("p", REAL, 1.0, "real", "m", 0.0, 2.0, above_minimum=True),
            [1, 0.5, 2, 2.0, 1e-9],
            [0, 0.0, -0.0, -1, 2.1, math.nan, math.inf, -math.inf, "1.0", True, [1.0], 10**400],
        ),
        (Setting("p", REAL, 1.0, "real", "m", 0.0, 2.0), [0, 0.0, 2], [-1e-9, 3]),
        (
            Setting("p", WHOLE, 1, "whole", minimum=2, maximum=5),
            [2, 5],
            [1, 6, 2.0, "2", True, None],
        ),
        (Setting("p", CHOICE, "a", "choice", choices=("a", "b")), ["a", "b"], ["", "c", "A", 1]),
        (Setting("p", CHOICE, "", "choice", choices=("", "a")), ["", "a"], [" ", "b", 1, None]),
        (
            Setting("p", ARMS, "", "arms"),
            ["", 3, "1,3", "1-4", "2, 4-5", [1, 3], []],
            [
                "x",
                "0",
                0,
                -1,
                "1,,2",
                "4-1",
                "1-",
                "-1",
                True,
                1.0,
                "1,1",
                [1, 1],
                ["1"],
                [True],
                "1-99999",
            ],
        ),
    ],
    ids=lambda value: value.kind if isinstance(value, Setting) else "",
)
def test_what_is_valid_is_taken_and_the_rest_refused_by_name_value_and_rule(setting, good, bad):
    for value in good:
        assert setting.checked(value) == value
    for value in bad:
        with pytest.raises(ValueError) as caught:
            setting.checked(value)
        assert str(caught.value).startswith("parameter p must be ")
        assert setting.rule in str(caught.value)
        assert str(caught.value).endswith(f"got {value!r}")


@given(st.sets(st.integers(1, 500), min_size=1, max_size=8))
def test_a_list_of_arms_reads_the_same_however_it_is_written(numbers):
    ordered = tuple(sorted(numbers))
    assert read_arms(",".join(map(str, ordered))) == ordered
    assert read_arms(" , ".join(f"{number}-{number}" for number in reversed(ordered))) == ordered
    assert read_arms(list(numbers)) == ordered


def test_arms_that_the_scene_does_not_have_are_refused_with_the_choices():
    assert chosen_arms("", [3, 1]) == (1, 3)
    assert chosen_arms("2-3", [1, 2, 3]) == (2, 3)
    assert chosen_arms(3, [1, 2, 3]) == (3,)
    with pytest.raises(ValueError, match=r"arm_4, arm_5, but the scene has arm_1, arm_2"):
        chosen_arms("1,4-5", [1, 2])


# At the start


def test_without_anything_given_the_defaults_stand_and_nothing_is_explicit(make_node):
    table = make_table(make_node())
    assert table["rate"] == 120.0
    assert table["catch_up"] == 0.1
    assert table["scene"] == ""
    assert table["planner"] == "neighbour"
    assert table["segment_count"] is None
    assert table["arms.arm_2.turning_speed"] is None
    assert table["grasp_dwell"] == 0.25
    assert not any(table.explicit(setting.name) for setting in ALL)
    assert table.refused == []


def test_an_integer_where_a_float_is_meant_is_taken_as_a_float(make_node):
    node = make_node("rate:=60", "turning_speed:=2")
    table = make_table(node)
    assert (table["rate"], type(table["rate"])) == (60.0, float)
    assert table.explicit("rate") and table.explicit("turning_speed")
    assert node.get_parameter("rate").get_parameter_value().type == ParameterType.PARAMETER_DOUBLE


@pytest.mark.parametrize(
    ("name", "text", "value", "rule"),
    [
        ("rate", "fast", "'fast'", "between 5 and 1000 Hz"),
        ("rate", "0", "0", "between 5 and 1000 Hz"),
        ("rate", "1e9", "1000000000.0", "between 5 and 1000 Hz"),
        ("rate", ".nan", "nan", "between 5 and 1000 Hz"),
        ("rate", "[60.0]", "[60.0]", "between 5 and 1000 Hz"),
        ("rate", "true", "True", "between 5 and 1000 Hz"),
        ("scene", "7", "7", "a text"),
        ("planner", "magic", "'magic'", "one of neighbour, external"),
        ("segment_count", "1", "1", "an integer between 2 and 100"),
        ("segment_count", "20.0", "20.0", "an integer between 2 and 100"),
        ("arms", "1-x", "'1-x'", "1-4"),
        ("arms.arm_1.maximum_bend", "4.0", "4.0", "above 0 and at most 3.14159265 rad"),
        ("arms.arm_1.planner", "x", "'x'", "one of neighbour, external"),
        ("reach_tolerance", "-0.1", "-0.1", "above 0"),
        ("claim_grace", "-1", "-1", "between 0 and 10 s"),
    ],
)
def test_a_wrong_value_at_the_start_is_named_and_the_default_stays(
    make_node, capfd, name, text, value, rule
):
    node = make_node(f"{name}:={text}")
    table = make_table(node)
    (complaint,) = table.refused
    assert f"parameter {name} must be" in complaint
    assert f"got {value};" in complaint
    assert rule in complaint
    assert not table.explicit(name)
    default = {setting.name: setting.default for setting in ALL}[name]
    assert table[name] == default
    assert node.get_parameter(name).value == default
    assert capfd.readouterr().err.count(complaint) == 1


def test_parameters_come_from_a_file_for_any_node(make_node, tmp_path):
    file = tmp_path / "parameters.yaml"
    file.write_text(
        "/**:\n  ros__parameters:\n    rate: 100\n    segment_length: null\n"
        "    arms: [1, 2]\n    arms.arm_2.segment_count: 7\n"
    )
    table = make_table(make_node(file=file))
    assert table["rate"] == 100.0
    assert table["arms"] == [1, 2]
    assert table["arms.arm_2.segment_count"] == 7
    assert table["segment_length"] is None
    assert table.refused == []


def test_a_misspelled_parameter_is_named_with_what_it_may_mean(make_node, capfd):
    node = make_node("segmnet_count:=3", "publish_clock:=true", "arms.arm_9.planner:=external")
    table = make_table(node)
    assert table.unknown() == ["arms.arm_9.planner", "segmnet_count"]
    table.warn_unknown()
    assert "segmnet_count is unknown and ignored; did you mean segment_count?" in (
        capfd.readouterr().err
    )


def test_simulated_time_stays_the_business_of_the_node(make_node):
    node = make_node("use_sim_time:=true")
    table = make_table(node)
    assert table.unknown() == []
    assert node.get_parameter("use_sim_time").value is True


# At run time


def test_a_change_is_taken_told_and_explicit(make_node):
    told = []
    node = make_node()
    table = make_table(node, on_change=told.append)
    assert told == []
    assert set_one(node, "rate", 60).successful
    assert set_one(node, "arms.arm_1.segment_count", 7).successful
    assert told == [{"rate": 60.0}, {"arms.arm_1.segment_count": 7}]
    assert (table["rate"], table["arms.arm_1.segment_count"]) == (60.0, 7)
    assert table.explicit("rate")
    assert isinstance(node.get_parameter("rate").value, float)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("rate", "fast", ("rate", "'fast'", "between 5 and 1000 Hz")),
        ("rate", True, ("rate", "True", "between 5 and 1000 Hz")),
        ("rate", 0, ("rate", "0", "1")),
        ("rate", 1e9, ("rate", "1000000000", "1000")),
        ("rate", math.nan, ("rate", "nan")),
        ("segment_count", 2.5, ("segment_count", "2.5", "between 2 and 100")),
        ("segment_count", 101, ("segment_count", "101", "100")),
        ("maximum_bend", 0.0, ("maximum_bend", "0.0", "above 0")),
        ("planner", "magic", ("planner", "'magic'", "neighbour, external")),
        ("planner", "", ("planner", "''", "neighbour, external")),
        ("arms.arm_1.planner", "x", ("arms.arm_1.planner", "neighbour, external, or empty")),
        ("scene", "other.yaml", ("scene", "read-only")),
        ("arms", "1", ("arms", "read-only")),
        ("reach_tolerance", 0.1, ("reach_tolerance", "read-only")),
    ],
)
def test_a_wrong_change_is_refused_by_name_and_value_and_changes_nothing(
    make_node, name, value, words
):
    told = []
    node = make_node()
    table = make_table(node, on_change=told.append)
    before = table[name]
    result = set_one(node, name, value)
    assert not result.successful
    assert all(word in result.reason for word in words), result.reason
    assert table[name] == before == node.get_parameter(name).value
    assert told == []


def test_a_parameter_cannot_be_deleted(make_node):
    node = make_node()
    table = make_table(node)
    (result,) = node.set_parameters([Parameter("rate", Parameter.Type.NOT_SET)])
    assert not result.successful
    assert "rate cannot be deleted" in result.reason
    assert node.has_parameter("rate") and table["rate"] == 120.0


def test_one_wrong_of_several_set_together_stops_them_all(make_node):
    node = make_node()
    table = make_table(node)
    result = node.set_parameters_atomically(
        [Parameter("rate", value=60.0), Parameter("planner", value="magic")]
    )
    assert not result.successful
    assert table["rate"] == 120.0


def test_the_node_may_refuse_what_is_valid_by_itself(make_node):
    node = make_node()
    table = make_table(
        node, check=lambda changes: "rate 60.0 is too slow" if "rate" in changes else None
    )
    assert set_one(node, "rate", 60.0).reason == "rate 60.0 is too slow"
    assert table["rate"] == 120.0
    assert set_one(node, "catch_up", 0.2).successful


def test_a_parameter_of_someone_else_passes(make_node):
    node = make_node()
    told = []
    make_table(node, on_change=told.append)
    node.declare_parameter("lamp", 1)
    assert set_one(node, "lamp", 2).successful
    assert told == []


# What they come to


def test_what_is_set_for_one_arm_wins_over_all_and_all_over_the_scene(make_node):
    node = make_node(
        "segment_count:=10",
        "turning_speed:=2",
        "arms.arm_1.segment_count:=5",
        "arms.arm_2.planner:=external",
    )
    table = make_table(node)
    scene = ArmParameters(30, 0.05, 1.0, 1.0)
    assert effective_arm(table, 1, scene) == ArmParameters(5, 0.05, 1.0, 2.0)
    assert effective_arm(table, 2, scene) == ArmParameters(10, 0.05, 1.0, 2.0)
    assert effective_planner(table, 1) == "neighbour"
    assert effective_planner(table, 2) == "external"


def test_an_arm_that_had_a_planner_of_its_own_may_have_that_of_all_arms_again(make_node):
    node = make_node("arms.arm_1.planner:=''", "arms.arm_2.planner:=external")
    table = make_table(node)
    assert table.refused == []
    assert effective_planner(table, 1) == "neighbour"
    assert effective_planner(table, 2) == "external"
    assert set_one(node, "arms.arm_2.planner", "").successful
    assert effective_planner(table, 2) == "neighbour"
    assert set_one(node, "planner", "external").successful
    assert [effective_planner(table, number) for number in (1, 2)] == ["external"] * 2
    description = node.describe_parameter("arms.arm_2.planner").description
    assert description.endswith("(arm_2); not set or empty: as for all arms")


def test_an_arm_without_parameters_is_as_in_the_scene(make_node):
    scene = ArmParameters(30, 0.05, 1.0, 1.0)
    assert effective_arm(make_table(make_node()), 1, scene) == scene


def test_rules_are_the_scenes_with_what_was_given(make_node):
    rules = ReachRules.metre(0.002)
    table = ParameterTable(make_node("arm_clearance:=0.01", "grasp_dwell:=1"))
    table.declare(rule_settings(rules))
    effective = effective_rules(table, rules)
    assert effective.arm_clearance == 0.01
    assert effective.grasp_dwell == 1.0
    assert effective.reach_tolerance == rules.reach_tolerance == 0.004
    assert effective.turn_sign == rules.turn_sign


# Planner nodes


def test_one_file_may_serve_planner_nodes_as_well(make_node, tmp_path):
    file = tmp_path / "shared.yaml"
    file.write_text(
        "/**:\n  ros__parameters:\n    rate: 100\n    proposal_rate: 60\n    scene: nowhere\n"
        "    arms: [1]\n    arms.arm_1.segment_count: 7\n    arm_clearance: 0.004\n"
    )
    table = ParameterTable(make_node(file=file))
    table.declare(planner_settings())
    table.declare(rule_settings(ReachRules.metre()))
    assert (table["proposal_rate"], table["arms"], table["arm_clearance"]) == (60.0, [1], 0.004)
    assert table.unknown() == []
    controller = make_table(make_node(file=file))
    assert "proposal_rate" not in controller.unknown()
