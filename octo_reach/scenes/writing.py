"""Checked documents back to scene files."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import yaml

from octo_reach.model.arm import ArmParameters
from octo_reach.model.scene import ObjectKind
from octo_reach.scenes.checking import OBJECT_LISTS
from octo_reach.scenes.document import (
    OCTOPUS,
    PIXEL,
    VERSION,
    Event,
    FileArm,
    FileObject,
    NewObject,
    Point,
    SceneDocument,
    standard_parameters,
)
from octo_reach.scenes.reading import file_format, parse_scene
from octo_reach.scenes.spelling import plain_scalar

LARGEST_WHOLE = 2.0**53
"""Up to here every whole number is a float; such numbers are written without a fraction."""


def scene_to_mapping(document: SceneDocument) -> dict[str, Any]:
    """Give the plain values that a scene file of the document holds.

    What the format fills in by itself is left out, so that a pixel scene of an octopus has no key
    the OctopusController project does not know. Reading the values again gives an equal document,
    except that an angle which is no whole float of degrees (no file can hold such a one) comes
    back within one unit in its last place.

    Args:
        document: a checked scene.

    Returns:
        Plain values in the order of the format: dict, list, str, int, float.
    """
    values: dict[str, Any] = {"version": VERSION, "name": document.name}
    if document.units != PIXEL:
        values["units"] = document.units
    values["body"] = _point(document.body)
    if document.layout != OCTOPUS:
        values["layout"] = document.layout
    standard = standard_parameters(document.units, document.layout)
    values["defaults"] = {
        "segment_count": document.defaults.segment_count,
        "segment_length": _number(document.defaults.segment_length),
        **_parameters(document.defaults, standard),
    }
    for key, kind in OBJECT_LISTS.items():
        things = [_object(thing) for thing in document.objects if thing.kind is kind]
        if things or kind is not ObjectKind.HAZARD:
            values[key] = things
    values["arms"] = [_arm(arm, document) for arm in document.arms]
    if document.events:
        values["events"] = [_event(event) for event in document.events]
    return values


def scene_text(document: SceneDocument, format: str) -> str:
    """Give the text of a scene file, an object, arm or event a line.

    Args:
        document: a checked scene.
        format: 'json' or 'yaml'.

    Raises:
        SceneError: the document breaks a rule of the format.
    """
    values = scene_to_mapping(document)
    parse_scene(values, document.name)
    return _json_text(values) if format == "json" else _yaml_text(values)


def save_scene(document: SceneDocument, path: str | os.PathLike[str]) -> None:
    """Write a scene file.

    Args:
        document: a checked scene.
        path: a file that ends in .json, .yaml or .yml; it is replaced whole or not at all.

    Raises:
        SceneError: the suffix is none of these, or the document breaks a rule of the format.
        OSError: the file cannot be written.
    """
    text = scene_text(document, file_format(path))
    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        partial.write_text(text, encoding="utf-8", newline="\n")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _number(value: float) -> int | float:
    # A whole number is written as people write it; -0.0 has no other way of keeping its sign.
    negative_zero = value == 0.0 and math.copysign(1.0, value) < 0.0
    whole = float(value).is_integer() and abs(value) < LARGEST_WHOLE and not negative_zero
    return int(value) if whole else float(value)


def _point(point: Point) -> list[int | float]:
    return [_number(point[0]), _number(point[1])]


def _degrees(radians: float) -> int | float:
    """Give the shortest degrees that are read as exactly `radians`, or else the nearest."""
    nearest = math.degrees(radians)
    for digits in range(16):
        rounded = round(nearest, digits)
        if math.radians(rounded) == radians:
            return _number(rounded)
    for direction in (math.inf, -math.inf):
        neighbour = nearest
        for _ in range(2):
            neighbour = math.nextafter(neighbour, direction)
            if math.radians(neighbour) == radians:
                return _number(neighbour)
    return nearest


def _parameters(parameters: ArmParameters, defaults: ArmParameters) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if parameters.segment_count != defaults.segment_count:
        values["segment_count"] = parameters.segment_count
    if parameters.segment_length != defaults.segment_length:
        values["segment_length"] = _number(parameters.segment_length)
    if parameters.maximum_bend != defaults.maximum_bend:
        values["maximum_bend_degrees"] = _degrees(parameters.maximum_bend)
    if parameters.turning_speed != defaults.turning_speed:
        values["turning_speed_degrees"] = _degrees(parameters.turning_speed)
    return values


def _object(thing: FileObject | NewObject) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if isinstance(thing, FileObject) and thing.identifier is not None:
        values["id"] = thing.identifier
    if isinstance(thing, NewObject):
        values["kind"] = thing.kind.label
    return {**values, "position": _point(thing.position), "radius": _number(thing.radius)}


def _arm(arm: FileArm, document: SceneDocument) -> dict[str, Any]:
    values: dict[str, Any] = {"number": arm.number}
    left_out = document.octopus_arm(arm.number)
    parameters = _parameters(arm.parameters, document.defaults)
    if parameters:
        values["parameters"] = parameters
    if arm.food is not None:
        values["target"] = {"food": arm.food}
    elif arm.target is not None:
        values["target"] = {"position": _point(arm.target)}
    if arm.base != left_out.base:
        values["base"] = _point(arm.base)
    if arm.heading != left_out.heading:
        values["heading_degrees"] = _degrees(arm.heading)
    return values


def _event(event: Event) -> dict[str, Any]:
    values: dict[str, Any] = {"tick": event.tick}
    if event.arm is not None:
        values["arm"] = event.arm
    if event.reach is not None:
        values["reach"] = _point(event.reach)
    if event.action is not None:
        values["action"] = event.action
    if event.add is not None:
        values["add"] = _object(event.add)
    if event.move is not None:
        number, position = event.move
        values["move"] = number
        values["position"] = _point(position)
    if event.remove is not None:
        values["remove"] = event.remove
    return values


def _json_text(values: dict[str, Any]) -> str:
    def line(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    fields = []
    for key, value in values.items():
        if key in (*OBJECT_LISTS, "arms", "events") and value:
            entries = ",\n".join(f"    {line(entry)}" for entry in value)
            fields.append(f"  {line(key)}: [\n{entries}\n  ]")
        else:
            fields.append(f"  {line(key)}: {line(value)}")
    return "{\n" + ",\n".join(fields) + "\n}\n"


class _SceneDumper(yaml.SafeDumper):
    """Writes text in quotes wherever the reader would take it for anything else."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write every value out; anchors are for people."""
        return True


def _text_node(dumper: _SceneDumper, text: str) -> yaml.ScalarNode:
    # Other quotes would let YAML fold the rarer line ends into blanks.
    plain = text.isprintable() and isinstance(plain_scalar(text), str)
    style = None if plain else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_SceneDumper.add_representer(str, _text_node)


def _yaml_text(values: dict[str, Any]) -> str:
    def flow(value: Any) -> str:
        # One line whatever its length: a line folded in the middle of a name is hard to read.
        return yaml.dump(
            value,
            Dumper=_SceneDumper,
            default_flow_style=True,
            sort_keys=False,
            allow_unicode=True,
            width=math.inf,
        ).removesuffix("\n")

    lines = []
    for key, value in values.items():
        if key in (*OBJECT_LISTS, "arms", "events") and value:
            lines.append(f"{key}:")
            lines += [f"  - {flow(entry)}" for entry in value]
        else:
            # Inside braces a single value needs no end mark; what stands there can stand alone.
            lines.append(flow({key: value})[1:-1])
    return "\n".join(lines) + "\n"
