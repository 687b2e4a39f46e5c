"""Documents become octopuses, and events happen to them."""

from __future__ import annotations

import pytest
from scene_documents import REEF, minimal

from octo_reach.model.octopus import UnknownArmError
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind, UnknownObjectError
from octo_reach.scenes import Event, NewObject, apply_event, build_octopus, parse_scene


def test_the_octopus_has_the_arms_and_objects_of_the_document() -> None:
    octopus = build_octopus(parse_scene(REEF))
    assert octopus.numbers == (1, 2, 3, 4, 5, 6, 7, 8)
    assert octopus.rules == ReachRules.pixel()
    assert octopus.objects.numbers.tolist() == [1, 2, 3, 4]
    assert octopus.objects.kinds.tolist() == [1, 1, 2, 3]
    assert octopus.objects.positions.tolist()[0] == [346.8, 221.0]
    assert [octopus.arm(number).active for number in octopus.numbers] == [
        number in (2, 5) for number in octopus.numbers
    ]
    assert octopus.arm(5).base.tolist() == [432.0, 425.0]
    assert octopus.arm(5).target.tolist() == [346.8, 221.0]
    assert octopus.arm(3).parameters.segment_count == 2
    assert octopus.ticks == 0


def test_a_listed_layout_has_no_arms_but_its_own() -> None:
    document = parse_scene(minimal(layout="listed", units="metre", arms=[{"number": 12}]))
    octopus = build_octopus(document)
    assert octopus.numbers == (12,)
    assert octopus.rules == ReachRules.metre()


def test_other_rules_can_be_given() -> None:
    rules = ReachRules.metre(0.002)
    assert build_octopus(parse_scene(minimal(units="metre")), rules=rules).rules is rules


def test_a_scene_without_arms_can_be_built_and_stepped() -> None:
    octopus = build_octopus(parse_scene(minimal(layout="listed", food=[{"position": [1, 2]}])))
    octopus.step(1.0 / 120.0)
    assert len(octopus.objects) == 1


def test_a_reach_event_sends_an_arm() -> None:
    octopus = build_octopus(parse_scene(REEF))
    apply_event(octopus, Event(1, arm=4, reach=(410.0, 500.0)))
    assert octopus.arm(4).active
    assert octopus.arm(4).target.tolist() == [410.0, 500.0]


def test_events_add_move_and_remove_objects_by_the_numbers_of_the_format() -> None:
    document = parse_scene(
        minimal(
            food=[{"position": [1, 2]}],
            events=[
                {"tick": 1, "remove": 1},
                {"tick": 2, "add": {"kind": "hazard", "position": [3, 4], "radius": 5}},
                {"tick": 3, "move": 2, "position": [6, 7]},
            ],
        )
    )
    octopus = build_octopus(document)
    for event in document.events:
        apply_event(octopus, event)
    (thing,) = octopus.objects
    assert thing.number == 2
    assert thing.kind is ObjectKind.HAZARD
    assert thing.position == (6.0, 7.0)
    assert thing.radius == 5.0


def test_actions_do_what_they_are_called() -> None:
    scene = minimal(
        body=[400, 425],
        food=[{"id": "a", "position": [480, 300], "radius": 14}],
        arms=[{"number": 1, "target": {"food": "a"}}],
    )
    octopus = build_octopus(parse_scene(scene))
    for _ in range(240):
        octopus.step(1.0 / 120.0)
    arm = octopus.arm(1)
    assert arm.state == "Holding"
    apply_event(octopus, Event(241, arm=1, action="retract"))
    assert arm.state == "Retracting"
    apply_event(octopus, Event(241, arm=1, action="idle"))
    assert arm.state == "Holding"
    apply_event(octopus, Event(241, arm=1, action="release"))
    assert arm.grip is None
    octopus.step(1.0 / 120.0)
    held_pose = arm.angles.tolist()
    apply_event(octopus, Event(242, arm=1, action="reset"))
    assert arm.angles.tolist() != held_pose
    assert arm.angles.tolist()[1] == 0.06


def test_events_on_what_is_not_there_are_the_errors_of_the_model() -> None:
    octopus = build_octopus(parse_scene(minimal(layout="listed", arms=[{"number": 2}])))
    with pytest.raises(UnknownArmError):
        apply_event(octopus, Event(1, arm=1, action="idle"))
    with pytest.raises(UnknownObjectError):
        apply_event(octopus, Event(1, move=(1, (0.0, 0.0))))
    with pytest.raises(UnknownObjectError):
        apply_event(octopus, Event(1, remove=1))
    with pytest.raises(ValueError, match=r"action must be one of idle, release, retract, reset"):
        apply_event(octopus, Event(1, arm=2, action="jump"))


def test_an_added_object_takes_the_next_number_that_was_never_used() -> None:
    octopus = build_octopus(parse_scene(REEF))
    apply_event(octopus, Event(1, remove=4))
    apply_event(octopus, Event(1, add=NewObject(ObjectKind.FOOD, (1.0, 2.0), 3.0)))
    assert octopus.objects.numbers.tolist() == [1, 2, 3, 5]
