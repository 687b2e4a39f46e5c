"""Plain values to a checked `SceneDocument`, with every problem named by its field.

Nothing is built from a document that has a problem. What depends on a broken part (an event on an
object whose list could not be read) is not reported a second time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

from octo_reach.model.arm import FEWEST_SEGMENTS, MOST_SEGMENTS, OCTOPUS_ARMS, ArmParameters
from octo_reach.model.scene import ObjectKind
from octo_reach.scenes.document import (
    ACTIONS,
    LAYOUTS,
    LISTED,
    OCTOPUS,
    PIXEL,
    UNITS,
    VERSION,
    Event,
    FileArm,
    FileObject,
    NewObject,
    Point,
    SceneDocument,
    standard_body,
    standard_parameters,
    standard_radius,
)
from octo_reach.scenes.fields import MISSING, FieldCheck, counted, shown_key

LARGEST_NUMBER = 2**31 - 1
"""Largest number of an arm, an object or a tick: what the id of a ROS marker can carry."""

OBJECT_LISTS = {
    "food": ObjectKind.FOOD,
    "obstacles": ObjectKind.OBSTACLE,
    "hazards": ObjectKind.HAZARD,
}
"""The keys of the objects, in the order in which objects are numbered."""
KIND_LABELS = tuple(kind.label for kind in ObjectKind)
DOCUMENT_KEYS = (
    "version",
    "name",
    "units",
    "body",
    "layout",
    "defaults",
    *OBJECT_LISTS,
    "arms",
    "events",
)
PARAMETER_KEYS = (
    "segment_count",
    "segment_length",
    "maximum_bend_degrees",
    "turning_speed_degrees",
)
ARM_KEYS = ("number", "parameters", "target", "base", "heading_degrees")
TARGET_KEYS = ("position", "food")
EVENT_FORMS = {
    "reach": ("tick", "arm", "reach"),
    "action": ("tick", "arm", "action"),
    "add": ("tick", "add"),
    "move": ("tick", "move", "position"),
    "remove": ("tick", "remove"),
}
"""The keys of an event, by the one that says what happens."""
EVENT_KEYS = ("tick", "arm", "reach", "action", "add", "move", "position", "remove")
ADDITION_KEYS = ("kind", "position", "radius")


@dataclass
class _Objects:
    """What became of the object lists."""

    read: list[FileObject] = field(default_factory=list)
    count: int = 0
    counted: bool = True
    food: dict[str, Point | None] = field(default_factory=dict)
    food_known: bool = True


@dataclass
class _Arms:
    """What became of the list of arms; `known` is None where it cannot be told which there are."""

    read: list[FileArm] = field(default_factory=list)
    known: set[int] | None = None

    @cached_property
    def numbers(self) -> str:
        """The numbers of the arms, for a reader."""
        return counted(self.known or ())


@dataclass
class _Edit:
    """An event, where it stands in the file, and the key that says what happens."""

    path: str
    form: str
    event: Event


class DocumentCheck:
    """One pass over the values of a document.

    Attributes:
        fields: the checks of single values, with the problems they found.
    """

    def __init__(self) -> None:
        """Begin with no problem."""
        self.fields = FieldCheck()

    @property
    def problems(self) -> list[str]:
        """What is wrong, as `field rule, got value`."""
        return self.fields.problems

    def document(self, value: object) -> SceneDocument | None:
        """Give the document that `value` says, or None where anything is wrong with it."""
        values = self.fields.mapping("", value, DOCUMENT_KEYS, "a scene")
        if values is None:
            return None
        self._version(values)
        name = self.fields.required("", values, "name", "text that is not empty")
        if name is not MISSING:
            name = self.fields.text("name", name, "must be text that is not empty")
        units = self.fields.choice("units", values.get("units", PIXEL), UNITS)
        layout = self.fields.choice("layout", values.get("layout", OCTOPUS), LAYOUTS)
        # A broken document is checked to its end; what stands in for its broken parts is of no
        # consequence, for nothing is built.
        frame = SceneDocument(
            name=name if isinstance(name, str) else "",
            units=units or PIXEL,
            body=standard_body(units or PIXEL),
            layout=layout or OCTOPUS,
            defaults=standard_parameters(units or PIXEL, layout or OCTOPUS),
        )
        if "body" in values:
            frame = replace(frame, body=self.fields.point("body", values["body"]) or frame.body)
        if "defaults" in values:
            defaults = self._parameters("defaults", values["defaults"], frame.defaults)
            frame = replace(frame, defaults=defaults)
        objects = self._objects(values, frame)
        arms = self._arms(values, frame, objects, layout)
        events = self._events(values, frame, objects, arms)
        if self.problems:
            return None
        return replace(frame, objects=tuple(objects.read), arms=tuple(arms.read), events=events)

    def _version(self, values: dict[Any, Any]) -> None:
        version = self.fields.required("", values, "version", f"the integer {VERSION}")
        # 1.0 and true equal 1 in Python; a version is neither.
        if version is not MISSING and (type(version) is not int or version != VERSION):
            self.fields.problem("version", f"must be the integer {VERSION}", version)

    def _parameters(self, path: str, value: object, defaults: ArmParameters) -> ArmParameters:
        values = self.fields.mapping(path, value, PARAMETER_KEYS, "arm parameters")
        if values is None:
            return defaults
        checked: dict[str, Any] = {}
        if "segment_count" in values:
            checked["segment_count"] = self.fields.integer(
                f"{path}.segment_count", values["segment_count"], FEWEST_SEGMENTS, MOST_SEGMENTS
            )
        if "segment_length" in values:
            checked["segment_length"] = self.fields.number(
                f"{path}.segment_length", values["segment_length"], above=0.0
            )
        if "maximum_bend_degrees" in values:
            checked["maximum_bend"] = self.fields.degrees(
                f"{path}.maximum_bend_degrees",
                values["maximum_bend_degrees"],
                above=0.0,
                most=180.0,
            )
        if "turning_speed_degrees" in values:
            checked["turning_speed"] = self.fields.degrees(
                f"{path}.turning_speed_degrees", values["turning_speed_degrees"], above=0.0
            )
        given = {name: value for name, value in checked.items() if value is not None}
        parameters = replace(defaults, **given)
        if not math.isfinite(parameters.reach):
            self.fields.problem(
                path, "must not make the arm (segment_count x segment_length) too long for a float"
            )
        return parameters

    def _required_point(self, path: str, values: dict[Any, Any]) -> Point | None:
        place = self.fields.required(path, values, "position", "a list of two numbers [x, y]")
        return None if place is MISSING else self.fields.point(f"{path}.position", place)

    def _circle(
        self, path: str, values: dict[Any, Any], units: str
    ) -> tuple[Point | None, float | None]:
        position = self._required_point(path, values)
        radius: float | None = standard_radius(units)
        if "radius" in values:
            radius = self.fields.number(f"{path}.radius", values["radius"], above=0.0)
        return position, radius

    def _objects(self, values: dict[Any, Any], frame: SceneDocument) -> _Objects:
        objects = _Objects()
        first_use: dict[str, str] = {}
        for key, kind in OBJECT_LISTS.items():
            is_food = kind is ObjectKind.FOOD
            entries = self.fields.entries(values, key)
            if entries is None:
                objects.counted = False
                objects.food_known = objects.food_known and not is_food
                continue
            keys = ("id", "position", "radius") if is_food else ("position", "radius")
            for index, entry in enumerate(entries):
                objects.count += 1
                path = f"{key}[{index}]"
                entry_values = self.fields.mapping(path, entry, keys, f"an entry of {key}")
                if entry_values is None:
                    objects.food_known = objects.food_known and not is_food
                    continue
                identifier = None
                if is_food and "id" in entry_values:
                    identifier = self._identifier(f"{path}.id", entry_values["id"], first_use)
                    objects.food_known = objects.food_known and identifier is not None
                position, radius = self._circle(path, entry_values, frame.units)
                if identifier is not None:
                    objects.food.setdefault(identifier, position)
                if position is not None and radius is not None:
                    number = objects.count
                    objects.read.append(FileObject(number, kind, position, radius, identifier))
        return objects

    def _identifier(self, path: str, value: object, first_use: dict[str, str]) -> str | None:
        identifier = self.fields.text(path, value, "must be text that is not blank")
        if identifier is None:
            return None
        if not identifier.strip():
            self.fields.problem(path, "must be text that is not blank", value)
            return None
        if identifier in first_use:
            self.fields.problem(
                path, f"must be unique, but {first_use[identifier]} is the same", value
            )
        first_use.setdefault(identifier, path)
        return identifier

    def _arms(
        self,
        values: dict[Any, Any],
        frame: SceneDocument,
        objects: _Objects,
        layout: str | None,
    ) -> _Arms:
        arms = _Arms()
        entries = self.fields.entries(values, "arms")
        first_use: dict[int, str] = {}
        all_numbered = entries is not None
        for index, entry in enumerate(entries or ()):
            path = f"arms[{index}]"
            entry_values = self.fields.mapping(path, entry, ARM_KEYS, "an arm")
            if entry_values is None:
                all_numbered = False
                continue
            number = self._arm_number(path, entry_values, layout, first_use)
            all_numbered = all_numbered and number is not None
            arms.read.append(self._arm(path, entry_values, number or 1, frame, objects))
        if layout == OCTOPUS:
            arms.known = set(range(1, OCTOPUS_ARMS + 1))
        elif layout == LISTED and all_numbered:
            arms.known = set(first_use)
        return arms

    def _arm_number(
        self, path: str, values: dict[Any, Any], layout: str | None, first_use: dict[int, str]
    ) -> int | None:
        octopus = layout == OCTOPUS
        most = OCTOPUS_ARMS if octopus else LARGEST_NUMBER
        value = self.fields.required(path, values, "number", f"an integer between 1 and {most}")
        if value is MISSING:
            return None
        note = f" (layout {LISTED} takes any from 1)" if octopus else ""
        number = self.fields.integer(f"{path}.number", value, 1, most, note)
        if number is None:
            return None
        if number in first_use:
            self.fields.problem(
                f"{path}.number", f"must be unique, but {first_use[number]} is the same", number
            )
        first_use.setdefault(number, f"{path}.number")
        return number

    def _arm(
        self,
        path: str,
        values: dict[Any, Any],
        number: int,
        frame: SceneDocument,
        objects: _Objects,
    ) -> FileArm:
        arm = frame.octopus_arm(number)
        if "parameters" in values:
            parameters = self._parameters(
                f"{path}.parameters", values["parameters"], arm.parameters
            )
            arm = replace(arm, parameters=parameters)
        if "base" in values:
            arm = replace(arm, base=self.fields.point(f"{path}.base", values["base"]) or arm.base)
        if "heading_degrees" in values:
            heading = self.fields.degrees(f"{path}.heading_degrees", values["heading_degrees"])
            arm = replace(arm, heading=arm.heading if heading is None else heading)
        if "target" in values:
            target, food = self._target(f"{path}.target", values["target"], objects)
            arm = replace(arm, target=target, food=food)
        return arm

    def _target(
        self, path: str, value: object, objects: _Objects
    ) -> tuple[Point | None, str | None]:
        values = self.fields.mapping(path, value, TARGET_KEYS, "a target")
        if values is None:
            return None, None
        forms = [key for key in TARGET_KEYS if key in values]
        if len(forms) != 1:
            rule = "must have either position or food"
            self.fields.problem(path, f"{rule}, not both" if forms else f"{rule}, has neither")
            return None, None
        if forms == ["position"]:
            return self.fields.point(f"{path}.position", values["position"]), None
        food = self.fields.text(
            f"{path}.food", values["food"], "must be text, the id of a food of this file"
        )
        if food is not None and food not in objects.food and objects.food_known:
            known = ", ".join(shown_key(key) for key in islice(objects.food, 20))
            known = f"the file has {known}" if known else "the file names none"
            self.fields.problem(
                f"{path}.food", f"must be the id of a food of this file ({known})", food
            )
        return objects.food.get(food or ""), food

    def _events(
        self, values: dict[Any, Any], frame: SceneDocument, objects: _Objects, arms: _Arms
    ) -> tuple[Event, ...]:
        edits: list[_Edit] = []
        all_clear = objects.counted
        for index, entry in enumerate(self.fields.entries(values, "events") or ()):
            edit = self._event(f"events[{index}]", entry, frame, arms)
            if edit is None:
                all_clear = False
            else:
                edits.append(edit)
        edits.sort(key=lambda edit: edit.event.tick)
        # Without the length of every list and the time of every event, numbers mean nothing.
        if all_clear:
            self._object_numbers(edits, objects.count)
        return tuple(edit.event for edit in edits)

    def _event(self, path: str, value: object, frame: SceneDocument, arms: _Arms) -> _Edit | None:
        """Give an event, or None where it is unclear when or on which object it acts."""
        values = self.fields.mapping(path, value, EVENT_KEYS, "an event")
        if values is None:
            return None
        tick = self.fields.required(path, values, "tick", "the number of a step, from 1")
        if tick is not MISSING:
            tick = self.fields.integer(f"{path}.tick", tick, 1, LARGEST_NUMBER)
        forms = [key for key in EVENT_FORMS if key in values]
        if len(forms) != 1:
            found = f"has {' and '.join(forms)}" if forms else "has none of them"
            rule = f"must have exactly one of {', '.join(EVENT_FORMS)}"
            self.fields.problem(path, f"{rule}; it {found}")
            return None
        form = forms[0]
        for key in EVENT_KEYS:
            if key in values and key not in EVENT_FORMS[form]:
                keys = ", ".join(EVENT_FORMS[form])
                self.fields.problem(
                    f"{path}.{key}", f"does not belong to an event with {form} (it has {keys})"
                )
        parts = self._event_parts(path, values, form, frame, arms)
        if not isinstance(tick, int) or parts is None:
            return None
        return _Edit(path, form, Event(tick=tick, **parts))

    def _event_parts(
        self, path: str, values: dict[Any, Any], form: str, frame: SceneDocument, arms: _Arms
    ) -> dict[str, Any] | None:
        if form == "reach":
            arm = self._event_arm(path, values, arms)
            return {"arm": arm, "reach": self.fields.point(f"{path}.reach", values["reach"])}
        if form == "action":
            arm = self._event_arm(path, values, arms)
            action = self.fields.choice(f"{path}.action", values["action"], ACTIONS)
            return {"arm": arm, "action": action}
        if form == "add":
            return {"add": self._addition(f"{path}.add", values["add"], frame.units)}
        number = self.fields.integer(f"{path}.{form}", values[form], 1, LARGEST_NUMBER)
        if form == "remove":
            return None if number is None else {"remove": number}
        position = self._required_point(path, values)
        return None if number is None else {"move": (number, position or (0.0, 0.0))}

    def _event_arm(self, path: str, values: dict[Any, Any], arms: _Arms) -> int | None:
        what = f"an integer between 1 and {LARGEST_NUMBER}"
        if arms.known is not None:
            what = f"the number of an arm of this scene ({arms.numbers})"
        value = self.fields.required(path, values, "arm", what)
        if value is MISSING:
            return None
        if arms.known is None:
            return self.fields.integer(f"{path}.arm", value, 1, LARGEST_NUMBER)
        if isinstance(value, int) and not isinstance(value, bool) and value in arms.known:
            return int(value)
        self.fields.problem(f"{path}.arm", f"must be {what}", value)
        return None

    def _addition(self, path: str, value: object, units: str) -> NewObject | None:
        values = self.fields.mapping(path, value, ADDITION_KEYS, "an added object")
        if values is None:
            return None
        label = self.fields.required(path, values, "kind", "food, obstacle or hazard")
        if label is not MISSING:
            label = self.fields.choice(f"{path}.kind", label, KIND_LABELS)
        position, radius = self._circle(path, values, units)
        if not isinstance(label, str) or position is None or radius is None:
            return None
        return NewObject(ObjectKind.from_label(label), position, radius)

    def _object_numbers(self, edits: list[_Edit], count: int) -> None:
        """Follow the events in time and report every edit of an object that is not there then.

        Args:
            edits: the events, in the order in which they are applied.
            count: how many objects the scene starts with.
        """
        additions = [edit for edit in edits if edit.form == "add"]
        added = {count + index: edit for index, edit in enumerate(additions, start=1)}
        existing = set(range(1, count + 1))
        waiting = iter(added)
        removed: dict[int, _Edit] = {}
        for edit in edits:
            event = edit.event
            if edit.form == "add":
                existing.add(next(waiting))
                continue
            number = event.remove if event.move is None else event.move[0]
            if number is None or self.fields.full:
                continue
            if number not in existing:
                if number in removed:
                    other = removed[number]
                    reason = f"that one was removed at tick {other.event.tick} by {other.path}"
                elif number in added:
                    other = added[number]
                    reason = f"that one is added only at tick {other.event.tick} by {other.path}"
                else:
                    reason = f"there are {counted(existing)}"
                self.fields.problem(
                    f"{edit.path}.{edit.form}",
                    f"must be the number of an object there is at tick {event.tick} ({reason})",
                    number,
                )
            elif edit.form == "remove":
                existing.discard(number)
                removed[number] = edit
