"""Parameters of the nodes: what there is, what each takes, and one place that judges values.

    table = ParameterTable(node, on_change=self.apply)
    table.declare(controller_settings(planners=("neighbour", "external")))
    table["rate"]                        # 120.0
    table.explicit("segment_count")      # was it given, at the start or since?

A wrong value never ends a node: at the start the default stays and one warning is written, at
run time the setter is told the name, the value and what would be valid.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter

from octo_reach.model.arm import FEWEST_SEGMENTS, MOST_SEGMENTS, ArmParameters
from octo_reach.model.rules import PIXEL_IN_METRES, UPDATE_RATE, ReachRules
from octo_reach.ros.frames import arm_name

TEXT = "text"
REAL = "real"
WHOLE = "whole"
FLAG = "flag"
CHOICE = "choice"
ARMS = "arms"

UNSET_TEXT = "null"
"""What `ros2 param dump` writes for a parameter that is not set."""

ARM_FIELDS = ("segment_count", "segment_length", "maximum_bend", "turning_speed")
"""The fields of `ArmParameters` that parameters override, for all arms or for one."""

RULE_FIELDS = (
    "reach_tolerance",
    "sensor_radius",
    "arm_clearance",
    "steering_margin",
    "waypoint_margin",
    "grasp_dwell",
)
"""The fields of `ReachRules` that are parameters."""

_OWN_NAMES = ("use_sim_time", "start_type_description_service")
_OWN_PREFIX = "qos_overrides."


@dataclass(frozen=True)
class Setting:
    """One parameter: what it takes and what it is for.

    Attributes:
        name: its name.
        kind: `TEXT`, `REAL` (an integer is taken too), `WHOLE`, `FLAG`, `CHOICE` or `ARMS` (all,
            one or several arm numbers).
        default: value where none is given; None only where `optional`.
        description: what it is for.
        unit: unit of the value.
        minimum: smallest value.
        maximum: largest value.
        above_minimum: whether the smallest value itself is refused.
        choices: valid texts of a `CHOICE`.
        fixed: whether it is read once, at the start.
        optional: whether it may be left without a value, which then comes from elsewhere.
    """

    name: str
    kind: str
    default: Any
    description: str
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    above_minimum: bool = False
    choices: tuple[str, ...] = ()
    fixed: bool = False
    optional: bool = False

    @property
    def rule(self) -> str:
        """What a valid value is, in words."""
        if self.kind == TEXT:
            return "a text"
        if self.kind == FLAG:
            return "true or false"
        if self.kind == CHOICE:
            words = f"one of {', '.join(filter(None, self.choices))}"
            return f"{words}, or empty" if "" in self.choices else words
        if self.kind == ARMS:
            return "empty (all), an arm number, or a list such as '1,3' or '1-4'"
        words = "an integer" if self.kind == WHOLE else "a number"
        if self.minimum is not None and self.maximum is not None and not self.above_minimum:
            words += f" between {self.minimum:.9g} and {self.maximum:.9g}"
        else:
            bounds = []
            if self.minimum is not None:
                bounds.append(f"{'above' if self.above_minimum else 'at least'} {self.minimum:.9g}")
            if self.maximum is not None:
                bounds.append(f"at most {self.maximum:.9g}")
            words = " ".join((words, " and ".join(bounds))).rstrip()
        return f"{words} {self.unit}".rstrip()

    def checked(self, value: Any) -> Any:
        """Give a value as the node works with it: a float for `REAL`, whatever was given.

        Raises:
            ValueError: it is not valid; the text names parameter, value and valid values.
        """
        if not self._takes(value):
            raise ValueError(f"parameter {self.name} must be {self.rule}, got {value!r}")
        if self.kind == REAL:
            return float(value)
        if self.kind == ARMS and not isinstance(value, (int, str)):
            return [int(number) for number in value]
        return value

    def _takes(self, value: Any) -> bool:
        if self.kind == TEXT:
            return isinstance(value, str)
        if self.kind == FLAG:
            return isinstance(value, bool)
        if self.kind == CHOICE:
            return isinstance(value, str) and value in self.choices
        if self.kind == ARMS:
            try:
                read_arms(value)
            except ValueError:
                return False
            return True
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        if isinstance(value, float) and (self.kind == WHOLE or not math.isfinite(value)):
            return False
        if self.minimum is not None and value < self.minimum:
            return False
        if self.above_minimum and value == self.minimum:
            return False
        return self.maximum is None or value <= self.maximum

    def descriptor(self) -> ParameterDescriptor:
        """Make what ROS tools show of the parameter."""
        notes = [self.rule]
        if self.kind == REAL:
            notes.append("an integer is taken too")
        if self.optional:
            notes.append("not set: see the description")
        notes.append("fixed at the start" if self.fixed else "may change at run time")
        descriptor = ParameterDescriptor(
            name=self.name,
            description=f"{self.description}, {self.unit}" if self.unit else self.description,
            additional_constraints="; ".join(notes),
            read_only=self.fixed,
            # Types are judged by `checked`, so that a refusal says more than "wrong type".
            dynamic_typing=True,
        )
        if self.minimum is not None and self.maximum is not None:
            if self.kind == REAL:
                descriptor.floating_point_range = [
                    FloatingPointRange(from_value=float(self.minimum), to_value=float(self.maximum))
                ]
            elif self.kind == WHOLE:
                descriptor.integer_range = [
                    IntegerRange(from_value=int(self.minimum), to_value=int(self.maximum), step=1)
                ]
        return descriptor


class ParameterTable:
    """The parameters a node declared, with checked values.

    Attributes:
        refused: what was wrong with the values given at the start, a line each.
    """

    def __init__(
        self,
        node: Node,
        on_change: Callable[[dict[str, Any]], None] | None = None,
        check: Callable[[dict[str, Any]], str | None] | None = None,
    ) -> None:
        """Watch the parameters of a node.

        Args:
            node: the node.
            on_change: called with the new values, by name, after valid parameters were set at
                run time; in the thread of the executor.
            check: called with new values that are valid each by itself, before they are set;
                gives the reason to refuse them, naming parameter and value, or None.
        """
        self.refused: list[str] = []
        self._node = node
        self._on_change = on_change
        self._check = check
        self._settings: dict[str, Setting] = {}
        self._values: dict[str, Any] = {}
        self._explicit: set[str] = set()
        self._declaring = False
        node.add_pre_set_parameters_callback(self._convert)
        node.add_on_set_parameters_callback(self._judge)
        node.add_post_set_parameters_callback(self._take)

    def declare(self, settings: Iterable[Setting]) -> None:
        """Declare parameters and take the values given at the start; may be called again.

        A value that is not valid is left out with one warning; the default stands then.

        Args:
            settings: the parameters.
        """
        self._declaring = True
        try:
            for setting in settings:
                self._declare(setting)
        finally:
            self._declaring = False

    def _declare(self, setting: Setting) -> None:
        name, value = setting.name, setting.default
        given = self._given(name)
        if given is not None and not (setting.optional and given == UNSET_TEXT):
            try:
                value = setting.checked(given)
                self._explicit.add(name)
            except ValueError as error:
                kept = "no value" if value is None else repr(value)
                text = f"{error}; {kept} is kept"
                self.refused.append(text)
                self._node.get_logger().warning(text)
        self._settings[name] = setting
        self._values[name] = value
        self._node.declare_parameter(name, value, setting.descriptor(), ignore_override=True)

    def _given(self, name: str) -> Any:
        """Give the value handed over at the start, of whatever type, or None."""
        # A wrong type or range would end a plain declaration with an exception, so the value is
        # fetched through a declaration that takes anything.
        anything = ParameterDescriptor(dynamic_typing=True)
        given = self._node.declare_parameter(name, None, anything).value
        self._node.undeclare_parameter(name)
        # Arrays come as array.array or list.
        return given if given is None or isinstance(given, (str, int, float)) else list(given)

    def __getitem__(self, name: str) -> Any:
        """Give the value of a parameter: None where it is optional and not set.

        Raises:
            KeyError: no such parameter was declared.
        """
        return self._values[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Give the value of a parameter, or `default` where it was not declared."""
        return self._values.get(name, default)

    def __contains__(self, name: object) -> bool:
        """Tell whether a parameter was declared."""
        return name in self._values

    def explicit(self, name: str) -> bool:
        """Tell whether a value was given by someone, at the start or since."""
        return name in self._explicit

    def unknown(self) -> list[str]:
        """Give the names of parameters that were handed over at the start but are none.

        Names of the other node's parameters are left out: one file may serve both.
        """
        # rclpy has no public way to ask for these.
        given = getattr(self._node, "_parameter_overrides", {})
        others = {
            setting.name
            for settings in (controller_settings(()), world_settings(), planner_settings())
            for setting in settings
        }
        others.update(RULE_FIELDS)
        return sorted(
            name
            for name in given
            if name not in self._values
            and name not in others
            and name not in _OWN_NAMES
            and not (name.startswith("arms.") and "scene" not in self._values)
            and not name.startswith(_OWN_PREFIX)
            and not self._node.has_parameter(name)
        )

    def warn_unknown(self) -> None:
        """Write a warning for each parameter handed over at the start that there is not."""
        for name in self.unknown():
            near = difflib.get_close_matches(name, self._values, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            self._node.get_logger().warning(f"parameter {name} is unknown and ignored{hint}")

    def _convert(self, parameters: list[Parameter[Any]]) -> list[Parameter[Any]]:
        """Turn integers meant as numbers into floats, so that tools show one type."""
        return [self._converted(parameter) for parameter in parameters]

    def _converted(self, parameter: Parameter[Any]) -> Parameter[Any]:
        setting = self._settings.get(parameter.name)
        whole = isinstance(parameter.value, int) and not isinstance(parameter.value, bool)
        if setting is None or setting.kind != REAL or not whole:
            return parameter
        return Parameter(parameter.name, Parameter.Type.DOUBLE, float(parameter.value))

    def _changes(self, parameters: Iterable[Parameter[Any]]) -> dict[str, Any]:
        """Give the checked values of the parameters that are in the table."""
        changes = {}
        for parameter in parameters:
            setting = self._settings.get(parameter.name)
            if setting is None:
                continue
            if parameter.type_ == Parameter.Type.NOT_SET:
                raise ValueError(f"parameter {parameter.name} cannot be deleted or unset")
            value = parameter.value
            plain = isinstance(value, (str, int, float))
            changes[parameter.name] = setting.checked(value if plain else list(value))
        return changes

    def _judge(self, parameters: list[Parameter[Any]]) -> SetParametersResult:
        if self._declaring:
            return SetParametersResult(successful=True)
        try:
            changes = self._changes(parameters)
        except ValueError as error:
            return SetParametersResult(successful=False, reason=str(error))
        reason = self._check(changes) if self._check is not None and changes else None
        if reason:
            return SetParametersResult(successful=False, reason=reason)
        return SetParametersResult(successful=True)

    def _take(self, parameters: list[Parameter[Any]]) -> None:
        if self._declaring:
            return
        changes = self._changes(parameters)
        self._values.update(changes)
        self._explicit.update(changes)
        if changes and self._on_change is not None:
            self._on_change(changes)


# What there is


def _scene_setting() -> Setting:
    return Setting(
        "scene",
        TEXT,
        "",
        "Scene file (JSON or YAML); empty: a small scene with one arm",
        fixed=True,
    )


def _pixel_setting() -> Setting:
    return Setting(
        "metres_per_pixel",
        REAL,
        PIXEL_IN_METRES,
        "Length of one pixel of a pixel scene; the reaching rules scale with it",
        unit="m",
        minimum=0.0,
        maximum=1.0,
        above_minimum=True,
        fixed=True,
    )


def _arm_fields(planners: Sequence[str]) -> tuple[Setting, ...]:
    """Give what may be set for all arms or for one."""
    return (
        Setting(
            "segment_count",
            WHOLE,
            None,
            "Number of segments; a change resets the arm",
            minimum=FEWEST_SEGMENTS,
            maximum=MOST_SEGMENTS,
            optional=True,
        ),
        Setting(
            "segment_length",
            REAL,
            None,
            "Length of every segment; a change resets the arm",
            unit="m",
            minimum=0.0,
            maximum=1000.0,
            above_minimum=True,
            optional=True,
        ),
        Setting(
            "maximum_bend",
            REAL,
            None,
            "Largest bend of every joint but the base; a change resets the arm",
            unit="rad",
            minimum=0.0,
            maximum=math.pi,
            above_minimum=True,
            optional=True,
        ),
        Setting(
            "turning_speed",
            REAL,
            None,
            "Fastest turn of every joint",
            unit="rad/s",
            minimum=0.0,
            maximum=1000.0,
            above_minimum=True,
            optional=True,
        ),
        Setting(
            "planner",
            CHOICE,
            None,
            "What proposes the next joint angles",
            choices=("", *planners),
            optional=True,
        ),
    )


def controller_settings(planners: Sequence[str]) -> tuple[Setting, ...]:
    """Give the parameters of the reach controller that no scene has to be known for.

    Args:
        planners: names of the planners there are; the first is the default.
    """
    fields = [
        replace(setting, description=f"{setting.description}; not set: as in the scene")
        for setting in _arm_fields(planners)
        if setting.name != "planner"
    ]
    return (
        _scene_setting(),
        _pixel_setting(),
        Setting(
            "arms",
            ARMS,
            "",
            "Arms of the scene this node moves: empty for all, 3, '1,3' or '1-4'",
            fixed=True,
        ),
        Setting(
            "planner",
            CHOICE,
            planners[0] if planners else "",
            "What proposes the next joint angles of every arm that has no planner of its own",
            choices=tuple(planners),
        ),
        *fields,
        Setting("rate", REAL, UPDATE_RATE, "Steps a second", "Hz", 5.0, 1000.0),
        Setting(
            "catch_up",
            REAL,
            0.1,
            "Most time that is caught up after a delay; the rest is dropped and counted",
            "s",
            0.0,
            10.0,
        ),
        Setting(
            "markers_rate",
            REAL,
            30.0,
            "Messages a second on markers, for RViz; 0 turns them off",
            "Hz",
            0.0,
            240.0,
        ),
        Setting(
            "object_timeout",
            REAL,
            0.0,
            "Age of the object feed from which the arms hold; 0: never; a world at rest reports"
            " its objects once a second",
            "s",
            0.0,
            3600.0,
        ),
        Setting(
            "claim_grace",
            REAL,
            0.25,
            "Time after a claim or a release in which no report counts as its answer",
            "s",
            0.0,
            10.0,
        ),
    )


_RULE_DESCRIPTIONS = {
    "reach_tolerance": ("A tip this near its target has arrived", "m", True),
    "sensor_radius": ("Half width of the sensing strip around a segment", "m", False),
    "arm_clearance": ("Distance every segment keeps from obstacles", "m", False),
    "steering_margin": ("Steering begins this far outside the clearance", "m", False),
    "waypoint_margin": ("Extra room of the waypoint beside an obstacle", "m", False),
    "grasp_dwell": ("How long two segments must touch food before it is held", "s", False),
}


def rule_settings(rules: ReachRules, fixed: bool = True) -> tuple[Setting, ...]:
    """Give the constants of the reaching rules that are parameters.

    Args:
        rules: the rules of the scene; their values are the defaults.
        fixed: whether they are read once, at the start.
    """
    return tuple(
        Setting(
            name,
            REAL,
            float(getattr(rules, name)),
            description,
            unit=unit,
            minimum=0.0,
            maximum=1000.0 if unit == "m" else 3600.0,
            above_minimum=above,
            fixed=fixed,
        )
        for name, (description, unit, above) in _RULE_DESCRIPTIONS.items()
    )


def arm_settings(numbers: Iterable[int], planners: Sequence[str]) -> tuple[Setting, ...]:
    """Give the parameters of single arms: `arms.arm_1.segment_count` and so on.

    A planner may be empty, which counts as not set: ROS cannot unset what was set.

    Args:
        numbers: numbers of the arms.
        planners: names of the planners there are.
    """
    return tuple(
        replace(
            setting,
            name=arm_setting(number, setting.name),
            description=f"{setting.description} ({arm_name(number)});"
            f" not set{' or empty' if setting.kind == CHOICE else ''}: as for all arms",
        )
        for number in numbers
        for setting in _arm_fields(planners)
    )


def world_settings() -> tuple[Setting, ...]:
    """Give the parameters of the simulated world."""
    return (
        _scene_setting(),
        _pixel_setting(),
        Setting(
            "publish_clock",
            FLAG,
            False,
            "Whether this node publishes /clock for nodes with use_sim_time",
            fixed=True,
        ),
        Setting(
            "real_time_factor",
            REAL,
            1.0,
            "Simulated seconds for each second, while publish_clock is set",
            minimum=0.0,
            maximum=100.0,
            above_minimum=True,
        ),
    )


def planner_settings() -> tuple[Setting, ...]:
    """Give the parameters that every planner node has."""
    return (
        _pixel_setting(),
        Setting(
            "arms",
            ARMS,
            "",
            "Arms this node plans for: empty for all of the robot description, 3, '1,3' or '1-4'",
            fixed=True,
        ),
        Setting("proposal_rate", REAL, 30.0, "Proposals a second for each arm", "Hz", 5.0, 240.0),
    )


# What they come to


def arm_setting(number: int, field: str) -> str:
    """Give the name of a parameter of one arm: `arms.arm_1.segment_count`."""
    return f"arms.{arm_name(number)}.{field}"


def read_arms(value: Any) -> tuple[int, ...] | None:
    """Give the arm numbers that the parameter `arms` names, or None for all.

    Args:
        value: empty text or list, 3, '1,3', '1-4' or [1, 3].

    Raises:
        ValueError: it is none of these, or a number is below 1 or above 10000 or stands twice.
    """
    if isinstance(value, str):
        numbers = [number for part in value.split(",") for number in _read_range(value, part)]
    elif isinstance(value, int) and not isinstance(value, bool):
        numbers = [value]
    elif isinstance(value, (list, tuple)) and not any(
        isinstance(number, bool) or not isinstance(number, int) for number in value
    ):
        numbers = list(value)
    else:
        raise ValueError(f"arms must be arm numbers, got {value!r}")
    if len(set(numbers)) != len(numbers):
        raise ValueError(f"arms must name every arm once, got {value!r}")
    if any(not 1 <= number <= 10000 for number in numbers):
        raise ValueError(f"arms must be between 1 and 10000, got {value!r}")
    return tuple(sorted(numbers)) or None


def _read_range(value: str, part: str) -> range | list[int]:
    """Give the numbers of one part of a list: '3', '1-4', or nothing where all is empty."""
    if not value.strip():
        return []
    first, dash, last = part.strip().partition("-")
    words = [word.strip() for word in ((first, last) if dash else (first, first))]
    if not all(word.isascii() and word.isdigit() and len(word) <= 5 for word in words):
        raise ValueError(f"arms must be numbers such as '1,3' or '1-4', got {value!r}")
    low, high = (int(word) for word in words)
    if low > high:
        raise ValueError(f"arms must run upwards, got {value!r}")
    return range(low, high + 1)


def chosen_arms(value: Any, available: Iterable[int]) -> tuple[int, ...]:
    """Give the arms of a scene that the parameter `arms` names.

    Args:
        value: the parameter, see `read_arms`.
        available: numbers of the arms in the scene.

    Raises:
        ValueError: it names an arm that the scene does not have; the text names the choices.
    """
    numbers = tuple(sorted(available))
    wanted = read_arms(value)
    if wanted is None:
        return numbers
    missing = [number for number in wanted if number not in numbers]
    if missing:
        raise ValueError(
            f"parameter arms names {', '.join(map(arm_name, missing))}, but the scene has"
            f" {', '.join(map(arm_name, numbers)) or 'no arm'}"
        )
    return wanted


def effective_arm(
    table: Mapping[str, Any] | ParameterTable, number: int, parameters: ArmParameters
) -> ArmParameters:
    """Give the geometry and limits of an arm: what is set for it, else for all, else the scene's.

    Args:
        table: the parameters.
        number: number of the arm.
        parameters: what the scene says.
    """
    values: dict[str, Any] = {}
    for field in ARM_FIELDS:
        for name in (arm_setting(number, field), field):
            if table.get(name) is not None:
                values[field] = table.get(name)
                break
    return replace(parameters, **values)


def effective_planner(table: Mapping[str, Any] | ParameterTable, number: int) -> str:
    """Give the name of the planner of an arm: what is set for it and not empty, else for all."""
    return str(table.get(arm_setting(number, "planner")) or table.get("planner"))


def effective_rules(table: Mapping[str, Any] | ParameterTable, rules: ReachRules) -> ReachRules:
    """Give the rules of a scene with the parameters' values in them.

    Args:
        table: the parameters.
        rules: the rules of the scene.
    """
    values = {name: table.get(name) for name in RULE_FIELDS}
    given: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    return replace(rules, **given)
