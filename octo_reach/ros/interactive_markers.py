"""Handles that are dragged and right-clicked in RViz, as interactive markers, and back.

Of every arm there is one at its target, of every object one around it, and a pin that stands for
the scene: what is added is put where the pin is. A handle's name says whose it is: `arm_1`,
`food_3`, `scene`. Nothing here needs the package interactive_markers, only its messages.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerControl,
    InteractiveMarkerFeedback,
    Marker,
    MenuEntry,
)

from octo_reach.model.scene import ObjectKind
from octo_reach.ros.colours import PLAIN, Colour, arm_colour
from octo_reach.ros.frames import WORLD, is_world, parse_arm_name
from octo_reach.ros.objects import OBJECT_HEIGHT
from octo_reach.ros.validation import RejectedInput, checked_coordinates

SCENE = "scene"
"""Name of the pin."""

FEEDBACK = "handles/feedback"
"""Topic on which RViz says what was done with handles, for errors."""

ARM_ACTIONS = ("idle", "release", "retract", "reset")
SCENE_ACTIONS = ("pause", "resume", "step", "reset")
DELETE = "delete"
ADD = "add"
PLANNER = "planner"

_LABELS = tuple(kind.label for kind in ObjectKind)
_OBJECT = re.compile(f"({'|'.join(_LABELS)})_([1-9][0-9]{{0,8}})")
_UP = math.sqrt(0.5)
_HANDLE_Z = 0.018
_HEIGHT = 0.002
_RIM = 0.004
"""How far the handle of an object stands out around it, m."""
_PLANNERS = 100
"""Number of the menu entry above the planners; theirs follow it."""


@dataclass(frozen=True)
class Owner:
    """Whose a handle is.

    Attributes:
        kind: `arm`, `scene`, or the kind of an object (`food`, `obstacle`, `hazard`).
        number: number of the arm or object; 0 for the scene.
    """

    kind: str
    number: int = 0

    @property
    def name(self) -> str:
        """What the handle is called."""
        return SCENE if self.kind == SCENE else f"{self.kind}_{self.number}"


@dataclass(frozen=True)
class Drag:
    """A handle was dragged.

    Attributes:
        owner: whose it is.
        position: where it is now, (x, y) in the world, m.
    """

    owner: Owner
    position: tuple[float, float]


@dataclass(frozen=True)
class Choice:
    """An entry of a handle's menu was chosen.

    Attributes:
        owner: whose menu it is.
        what: one of `ARM_ACTIONS` or `PLANNER` for an arm, `DELETE` for an object, one of
            `SCENE_ACTIONS` or `ADD` for the scene.
        which: name of the planner, or kind of the object to add; empty for all else.
    """

    owner: Owner
    what: str
    which: str = ""


def parse_handle_name(name: str) -> Owner | None:
    """Give whose handle is called so, or None where no handle is."""
    if name == SCENE:
        return Owner(SCENE)
    arm = parse_arm_name(name)
    if arm is not None:
        return Owner("arm", arm)
    found = _OBJECT.fullmatch(name)
    return Owner(found[1], int(found[2])) if found else None


# Making


def arm_handle(
    number: int,
    position: tuple[float, float],
    radius: float,
    planners: Sequence[str],
    planner: str,
) -> InteractiveMarker:
    """Make the handle of an arm: dragging it sends the arm, its menu tells it what to do.

    Args:
        number: number of the arm.
        position: where the handle is, (x, y), m.
        radius: radius of the handle, m.
        planners: names of all planners, for the menu.
        planner: name of the arm's own, which is ticked.
    """
    handle = _handle(Owner("arm", number), position, radius)
    grip = _disc(radius, _HEIGHT, _HANDLE_Z, arm_colour(number), 0.35)
    handle.controls = [_control([grip])]
    entries = [_entry(place, action) for place, action in enumerate(ARM_ACTIONS, start=1)]
    entries.append(_entry(_PLANNERS, PLANNER))
    entries += [
        _entry(_PLANNERS + place, f"[{'x' if name == planner else ' '}] {name}", _PLANNERS)
        for place, name in enumerate(planners, start=1)
    ]
    handle.menu_entries = entries
    return handle


def object_handle(
    kind: str, number: int, position: tuple[float, float], radius: float
) -> InteractiveMarker:
    """Make the handle of an object: dragging it moves the object, its menu takes it away.

    Args:
        kind: `food`, `obstacle` or `hazard`.
        number: number of the object.
        position: its centre, (x, y), m.
        radius: its radius, m.
    """
    handle = _handle(Owner(kind, number), position, radius + _RIM)
    # Flat, and higher than the object, so that it is taken hold of wherever it is seen.
    grip = _disc(radius + _RIM, _HEIGHT, 0.5 * OBJECT_HEIGHT + _HEIGHT, (1.0, 1.0, 1.0), 0.15)
    handle.controls = [_control([grip])]
    handle.menu_entries = [_entry(1, f"{DELETE} {kind} {number}")]
    return handle


def scene_handle(position: tuple[float, float], size: float, paused: bool) -> InteractiveMarker:
    """Make the pin: its menu adds objects where it is, and pauses, steps and resets everything.

    Args:
        position: where the pin is, (x, y), m.
        size: half its size, m.
        paused: whether the arms pause.
    """
    handle = _handle(Owner(SCENE), position, size)
    plate = _disc(size, _HEIGHT, _HANDLE_Z, PLAIN, 0.35)
    label = _shape(Marker.TEXT_VIEW_FACING, _HANDLE_Z + 0.01, (1.0, 1.0, 1.0), 0.9)
    label.text = "+"
    label.scale.x = label.scale.y = 0.5 * size
    label.scale.z = 1.5 * size
    handle.controls = [_control([plate, label])]
    shown = [action for action in SCENE_ACTIONS if action != ("pause" if paused else "resume")]
    handle.menu_entries = [
        *(_entry(place, f"{ADD} {label}") for place, label in enumerate(_LABELS, start=1)),
        *(_entry(len(_LABELS) + 1 + SCENE_ACTIONS.index(action), action) for action in shown),
    ]
    return handle


def _handle(owner: Owner, position: tuple[float, float], size: float) -> InteractiveMarker:
    handle = InteractiveMarker()
    handle.header.frame_id = WORLD
    handle.name = owner.name
    handle.scale = 2.0 * size
    handle.pose.position.x = float(position[0])
    handle.pose.position.y = float(position[1])
    handle.pose.orientation.w = 1.0
    return handle


def _control(markers: Iterable[Marker]) -> InteractiveMarkerControl:
    control = InteractiveMarkerControl()
    control.name = "move"
    # The plane is the one the control's x axis stands upright on.
    control.orientation.w = _UP
    control.orientation.y = _UP
    control.orientation_mode = InteractiveMarkerControl.INHERIT
    control.interaction_mode = InteractiveMarkerControl.MOVE_PLANE
    control.always_visible = True
    control.markers = list(markers)
    return control


def _shape(shape: int, z: float, colour: Colour, opacity: float) -> Marker:
    marker = Marker()
    marker.type = shape
    marker.pose.position.z = z
    marker.pose.orientation.w = 1.0
    marker.color.r, marker.color.g, marker.color.b = colour
    marker.color.a = opacity
    return marker


def _disc(radius: float, height: float, z: float, colour: Colour, opacity: float) -> Marker:
    marker = _shape(Marker.CYLINDER, z, colour, opacity)
    marker.scale.x = marker.scale.y = 2.0 * radius
    marker.scale.z = height
    return marker


def _entry(number: int, title: str, parent: int = 0) -> MenuEntry:
    entry = MenuEntry()
    entry.id = number
    entry.parent_id = parent
    entry.title = title[0].upper() + title[1:] if title[0] != "[" else title
    entry.command_type = MenuEntry.FEEDBACK
    return entry


# Reading


def read_feedback(
    feedback: InteractiveMarkerFeedback, planners: Sequence[str]
) -> Drag | Choice | None:
    """Give what was done with a handle.

    Args:
        feedback: what RViz says.
        planners: names of all planners, as the menus have them.

    Returns:
        None where it asks for nothing: a button went down or up, or the handle is unknown.

    Raises:
        RejectedInput: the place is not in the world, or no number, or too far away.
    """
    owner = parse_handle_name(feedback.marker_name)
    if owner is None:
        return None
    if feedback.event_type == InteractiveMarkerFeedback.POSE_UPDATE:
        return Drag(owner, _checked_place(owner, feedback))
    if feedback.event_type == InteractiveMarkerFeedback.MENU_SELECT:
        return _choice(owner, int(feedback.menu_entry_id), planners)
    return None


def _checked_place(owner: Owner, feedback: InteractiveMarkerFeedback) -> tuple[float, float]:
    frame = feedback.header.frame_id
    if not is_world(frame):
        rule = f"header.frame_id must be '{WORLD}' or empty: it is RViz's fixed frame"
        raise RejectedInput(FEEDBACK, "unknown frame", repr(frame), rule)
    position = feedback.pose.position
    return checked_coordinates(FEEDBACK, f"the handle {owner.name}", position.x, position.y)


def _choice(owner: Owner, entry: int, planners: Sequence[str]) -> Choice | None:
    if owner.kind == "arm":
        if 1 <= entry <= len(ARM_ACTIONS):
            return Choice(owner, ARM_ACTIONS[entry - 1])
        if 1 <= entry - _PLANNERS <= len(planners):
            return Choice(owner, PLANNER, planners[entry - _PLANNERS - 1])
        return None
    if owner.kind != SCENE:
        return Choice(owner, DELETE) if entry == 1 else None
    if 1 <= entry <= len(_LABELS):
        return Choice(owner, ADD, _LABELS[entry - 1])
    entry -= len(_LABELS)
    return Choice(owner, SCENE_ACTIONS[entry - 1]) if 1 <= entry <= len(SCENE_ACTIONS) else None
