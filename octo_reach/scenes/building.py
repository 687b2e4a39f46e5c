"""Documents to the octopus of the model, and their events onto it."""

from __future__ import annotations

from collections.abc import Mapping

from octo_reach.model.octopus import Octopus
from octo_reach.model.reach import Planner
from octo_reach.model.rules import ReachRules
from octo_reach.scenes.document import ACTIONS, Event, SceneDocument


def build_octopus(
    document: SceneDocument,
    planners: Mapping[int, Planner] | None = None,
    rules: ReachRules | None = None,
) -> Octopus:
    """Build what a document describes, before its first step and its first event.

    Args:
        document: a checked scene.
        planners: a planner by arm number; arms without one use the neighbour rules.
        rules: other constants than those of the document's unit, in that unit.

    Returns:
        The octopus with its objects, in the unit and frame of the document.
    """
    octopus = Octopus(document.placements(), rules or document.rules, planners)
    for thing in document.objects:
        octopus.add_object(thing.kind, thing.position, thing.radius, thing.number)
    return octopus


def apply_event(octopus: Octopus, event: Event) -> None:
    """Do what an event says; it is called just before the step of its tick.

    Args:
        octopus: the octopus built from the document of the event.
        event: one of its events.

    Raises:
        UnknownArmError: the octopus does not have the arm.
        UnknownObjectError: the object is not there, or not any more.
    """
    if event.reach is not None and event.arm is not None:
        octopus.reach(event.arm, event.reach)
    elif event.action is not None and event.arm is not None:
        if event.action == "idle":
            octopus.idle(event.arm)
        elif event.action == "release":
            octopus.release(event.arm)
        elif event.action == "retract":
            octopus.retract(event.arm)
        elif event.action == "reset":
            octopus.reset(event.arm)
        else:
            raise ValueError(f"action must be one of {', '.join(ACTIONS)}, got {event.action!r}")
    elif event.add is not None:
        octopus.add_object(event.add.kind, event.add.position, event.add.radius)
    elif event.move is not None:
        octopus.move_object(*event.move)
    elif event.remove is not None:
        octopus.remove_object(event.remove)
