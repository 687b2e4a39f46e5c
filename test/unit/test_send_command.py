"""What `octo-reach send` makes of its command line, without anybody to send to."""

import sys

import pytest

from octo_reach.cli import build_parser, main
from octo_reach.commands import CommandError
from octo_reach.model.scene import ObjectKind


class Recorder:
    """Stands in for the messenger: notes what it is asked to send."""

    def __getattr__(self, name):
        return lambda *arguments: (name, *arguments)


def sent(*words):
    arguments = build_parser().parse_args(["send", *words])
    return arguments.prepare(arguments)(Recorder())


@pytest.mark.parametrize(
    ("words", "call"),
    [
        (["target", "arm_1", "0.15", "0.1"], ("send_target", 1, 0.15, 0.1)),
        (["target", "12", "-1e-3", "-.5"], ("send_target", 12, -0.001, -0.5)),
        (["obstacle", "0.1", "-0.2"], ("put_object", ObjectKind.OBSTACLE, 0.1, -0.2, 0.014, None)),
        (
            ["food", "0", "0", "--radius", "0.02", "--id", "7"],
            ("put_object", ObjectKind.FOOD, 0.0, 0.0, 0.02, 7),
        ),
        (["hazard", "-1", "2"], ("put_object", ObjectKind.HAZARD, -1.0, 2.0, 0.014, None)),
        (["move", "3", "0.1", "0.2"], ("move_object", 3, 0.1, 0.2)),
        (["remove", "3"], ("remove_object", 3)),
        (["idle", "arm_2"], ("order", "arm_2/idle")),
        (["release", "2"], ("order", "arm_2/release")),
        (["retract", "arm_2"], ("order", "arm_2/retract")),
        (["reset", "arm_2"], ("order", "arm_2/reset")),
        (["pause"], ("pause", True)),
        (["resume"], ("pause", False)),
        (["step"], ("order", "reach_controller/step")),
        (["start-over"], ("start_over",)),
    ],
)
def test_every_word_says_one_thing(words, call):
    assert sent(*words) == call


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["target", "arm_0", "1", "1"], "ARM must be the name or number of an arm"),
        (["target", "left", "1", "1"], "got 'left'"),
        (["idle", "arm_1.5"], "got 'arm_1.5'"),
        (["target", "1", "one", "1"], "X must be a number, got 'one'"),
        (["target", "1", "1", ""], "Y must be a number, got ''"),
        (["food", "0", "0", "--radius", "0"], "--radius must be above 0, got '0'"),
        (["food", "0", "0", "--radius", "nan"], "--radius must be above 0, got 'nan'"),
        (["food", "0", "0", "--radius", "inf"], "--radius must be above 0, got 'inf'"),
        (["food", "0", "0", "--id", "0"], "--id must be a whole number from 1, got '0'"),
        (["food", "0", "0", "--id", "1.5"], "--id must be a whole number from 1, got '1.5'"),
        (["remove", "99999999999"], "ID must be a whole number from 1"),
        (["move", "-1", "0", "0"], "ID must be a whole number from 1, got '-1'"),
    ],
)
def test_nonsense_is_named(words, text):
    with pytest.raises(CommandError) as caught:
        sent(*words)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    "words", [["--namespace", "lab", "pause"], ["pause", "--namespace", "lab"]]
)
def test_the_namespace_may_stand_before_or_behind_the_word(words):
    assert build_parser().parse_args(["send", *words]).namespace == "lab"


@pytest.mark.parametrize("words", [[], ["target"], ["target", "1", "2"], ["wave", "1"]])
def test_a_command_that_is_not_complete_ends_with_the_usage(words, capsys):
    with pytest.raises(SystemExit) as caught:
        build_parser().parse_args(["send", *words])
    assert caught.value.code == 2
    assert "usage: octo-reach send" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["run"], ["send", "pause"]])
def test_without_ros_one_line_says_what_to_install(words, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rclpy", None)

    assert main(words) == 2
    assert capsys.readouterr().err == (
        f"octo-reach: octo-reach {words[0]} needs ROS 2: pip install '.[ros]', or source"
        " an installed ROS 2\n"
    )
