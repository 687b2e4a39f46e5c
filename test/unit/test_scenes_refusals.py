"""Every rule of the format, broken once: the message names the field, the rule and the value."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from scene_documents import minimal, reef

from octo_reach.scenes import SceneError, parse_scene


def problems(values: Any) -> tuple[str, ...]:
    with pytest.raises(SceneError) as caught:
        parse_scene(values, "reef.json")
    return caught.value.problems


def food(**changes: Any) -> dict[str, Any]:
    return minimal(food=[{"position": [1, 2], "radius": 3, **changes}])


def arm(**changes: Any) -> dict[str, Any]:
    return minimal(arms=[{"number": 1, **changes}])


def arm_parameters(**changes: Any) -> dict[str, Any]:
    return arm(parameters=changes)


def event(**changes: Any) -> dict[str, Any]:
    return minimal(food=[{"position": [1, 2]}], events=[{"tick": 1, **changes}])


def listed(*numbers: Any, **changes: Any) -> dict[str, Any]:
    return minimal(layout="listed", arms=[{"number": number} for number in numbers], **changes)


INTEGER = "must be an integer between 1 and 2147483647"
POINT = "must be a list of two numbers [x, y]"
OBJECT = "must be the number of an object there is at tick 1 (there are 1)"

REFUSED: list[tuple[dict[str, Any], str]] = [
    # version and name
    ({"name": "a"}, "version is missing; it must be the integer 1"),
    (minimal(version=2), "version must be the integer 1, got 2"),
    (minimal(version=1.0), "version must be the integer 1, got 1.0"),
    (minimal(version=True), "version must be the integer 1, got true"),
    (minimal(version="1"), "version must be the integer 1, got the text '1'"),
    (minimal(version=None), "version must be the integer 1, got nothing (null)"),
    ({"version": 1}, "name is missing; it must be text that is not empty"),
    (minimal(name=""), "name must be text that is not empty, got the text ''"),
    (minimal(name=7), "name must be text that is not empty, got 7"),
    (minimal(name=True), "name must be text that is not empty, got true"),
    (minimal(name=["a"]), "name must be text that is not empty, got a list of 1 value"),
    (
        minimal(name="\ud800"),
        "name must not hold half a character (a lone surrogate), got the text '\\ud800'",
    ),
    # units, layout, body
    (minimal(units="mm"), "units must be pixel or metre, got the text 'mm'"),
    (minimal(units=None), "units must be pixel or metre, got nothing (null)"),
    (minimal(layout="ring"), "layout must be octopus or listed, got the text 'ring'"),
    (minimal(body=[1]), f"body {POINT}, got a list of 1 value"),
    (minimal(body=[]), f"body {POINT}, got an empty list"),
    (minimal(body={"x": 1}), f"body {POINT}, got a mapping"),
    (minimal(body="12"), f"body {POINT}, got the text '12'"),
    (minimal(body=[True, 2]), "body[0] must be a number, got true"),
    (minimal(body=[1, "2"]), "body[1] must be a number, got the text '2'"),
    (minimal(body=[1, float("nan")]), "body[1] must be a finite number, got NaN"),
    (
        minimal(body=[float("-inf"), 1]),
        "body[0] must be a finite number, got minus infinity, or a number too large for a float",
    ),
    (
        minimal(body=[1, 10**400]),
        "body[1] must be a finite number, got an integer of about 401 digits",
    ),
    # keys
    (
        minimal(unit="pixel"),
        "unit is no key of a scene; did you mean units? (it can have version, name, units, body, "
        "layout, defaults, food, obstacles, hazards, arms, events)",
    ),
    (minimal(**{"a b": 1}), "'a b' is no key of a scene"),
    ({**minimal(), 5: 1}, "the document has the key 5, which is not text"),
    ({**minimal(), None: 1}, "the document has the key nothing (null), which is not text"),
    (food(colour="red"), "food[0].colour is no key of an entry of food"),
    (arm(food="a"), "arms[0].food is no key of an arm"),
    (
        arm(target={"position": [1, 2], "point": [1, 2]}),
        "arms[0].target.point is no key of a target",
    ),
    (
        arm_parameters(maximum_bend=1),
        "arms[0].parameters.maximum_bend is no key of arm parameters; "
        "did you mean maximum_bend_degrees?",
    ),
    (
        minimal(obstacles=[{"id": "rock", "position": [1, 2]}]),
        "obstacles[0].id is no key of an entry of obstacles",
    ),
    # parameters
    (minimal(defaults=None), "defaults must be a mapping"),
    (minimal(defaults=[]), "defaults must be a mapping"),
    (
        minimal(defaults={"segment_count": 1}),
        "defaults.segment_count must be an integer between 2 and 100, got 1",
    ),
    (
        arm_parameters(segment_count=101),
        "arms[0].parameters.segment_count must be an integer between 2 and 100, got 101",
    ),
    (
        arm_parameters(segment_count=20.0),
        "arms[0].parameters.segment_count must be an integer between 2 and 100, got 20.0",
    ),
    (
        arm_parameters(segment_count=True),
        "arms[0].parameters.segment_count must be an integer between 2 and 100, got true",
    ),
    (
        arm_parameters(segment_count=10**5000),
        "arms[0].parameters.segment_count must be an integer between 2 and 100, "
        "got an integer of about 5001 digits",
    ),
    (
        arm_parameters(segment_length=0),
        "arms[0].parameters.segment_length must be a number above 0, got 0",
    ),
    (
        arm_parameters(segment_length=-1.5),
        "arms[0].parameters.segment_length must be a number above 0, got -1.5",
    ),
    (
        arm_parameters(segment_length=1.5e307, segment_count=100),
        "arms[0].parameters must not make the arm (segment_count x segment_length) too long",
    ),
    (
        arm_parameters(maximum_bend_degrees=180.1),
        "arms[0].parameters.maximum_bend_degrees must be a number above 0 and at most 180, "
        "got 180.1",
    ),
    (
        arm_parameters(maximum_bend_degrees=0),
        "arms[0].parameters.maximum_bend_degrees must be a number above 0 and at most 180, got 0",
    ),
    (
        arm_parameters(maximum_bend_degrees=5e-324),
        "arms[0].parameters.maximum_bend_degrees must be a number above 0 in radians too, "
        "got 5e-324",
    ),
    (
        arm_parameters(turning_speed_degrees=0.0),
        "arms[0].parameters.turning_speed_degrees must be a number above 0, got 0.0",
    ),
    (
        arm_parameters(turning_speed_degrees="10"),
        "arms[0].parameters.turning_speed_degrees must be a number above 0, got the text '10'",
    ),
    (
        arm_parameters(turning_speed_degrees=float("inf")),
        "arms[0].parameters.turning_speed_degrees must be a finite number above 0, got infinity",
    ),
    # objects
    (minimal(food={}), "food must be a list, got an empty mapping"),
    (minimal(obstacles=None), "obstacles must be a list, got nothing (null)"),
    (minimal(hazards=[[1, 2]]), "hazards[0] must be a mapping (it can have position, radius)"),
    (minimal(obstacles=[{}]), f"obstacles[0].position is missing; it {POINT}"),
    (food(position=[1, 2, 3]), f"food[0].position {POINT}, got a list of 3 values"),
    (food(position=[1, None]), "food[0].position[1] must be a number, got nothing (null)"),
    (food(radius=0), "food[0].radius must be a number above 0, got 0"),
    (food(radius=-14), "food[0].radius must be a number above 0, got -14"),
    (food(radius=True), "food[0].radius must be a number above 0, got true"),
    (food(radius=None), "food[0].radius must be a number above 0, got nothing (null)"),
    (food(radius=float("nan")), "food[0].radius must be a finite number above 0, got NaN"),
    (food(id=""), "food[0].id must be text that is not blank, got the text ''"),
    (food(id=" \t"), "food[0].id must be text that is not blank, got the text ' \\t'"),
    (food(id=1), "food[0].id must be text that is not blank, got 1"),
    (food(id=None), "food[0].id must be text that is not blank, got nothing (null)"),
    (
        minimal(food=[{"id": "a", "position": [1, 2]}, {"id": "a", "position": [3, 4]}]),
        "food[1].id must be unique, but food[0].id is the same, got the text 'a'",
    ),
    # arms
    (minimal(arms={}), "arms must be a list, got an empty mapping"),
    (minimal(arms=[3]), "arms[0] must be a mapping"),
    (minimal(arms=[{}]), "arms[0].number is missing; it must be an integer between 1 and 8"),
    (
        arm(number=9),
        "arms[0].number must be an integer between 1 and 8 (layout listed takes any from 1), got 9",
    ),
    (arm(number=0), "arms[0].number must be an integer between 1 and 8"),
    (arm(number=True), "arms[0].number must be an integer between 1 and 8"),
    (arm(number=1.0), "arms[0].number must be an integer between 1 and 8"),
    (arm(number="1"), "arms[0].number must be an integer between 1 and 8"),
    (listed(0), f"arms[0].number {INTEGER}, got 0"),
    (listed(2**31), f"arms[0].number {INTEGER}, got 2147483648"),
    (
        listed(4, 5, 4),
        "arms[2].number must be unique, but arms[0].number is the same, got 4",
    ),
    (arm(base=[1]), f"arms[0].base {POINT}"),
    (arm(heading_degrees="up"), "arms[0].heading_degrees must be a number, got the text 'up'"),
    (arm(heading_degrees=False), "arms[0].heading_degrees must be a number, got false"),
    # targets
    (
        arm(target=None),
        "arms[0].target must be a mapping (it can have position, food), got nothing",
    ),
    (
        arm(target=[1, 2]),
        "arms[0].target must be a mapping (it can have position, food), got a list",
    ),
    (arm(target={}), "arms[0].target must have either position or food, has neither"),
    (
        {**food(id="a"), "arms": [{"number": 1, "target": {"position": [1, 2], "food": "a"}}]},
        "arms[0].target must have either position or food, not both",
    ),
    (arm(target={"position": [1, "a"]}), "arms[0].target.position[1] must be a number"),
    (arm(target={"food": 1}), "arms[0].target.food must be text, the id of a food of this file"),
    (
        arm(target={"food": "a"}),
        "arms[0].target.food must be the id of a food of this file (the file names none), "
        "got the text 'a'",
    ),
    (
        {**food(id="meal-1"), "arms": [{"number": 1, "target": {"food": "meal-2"}}]},
        "arms[0].target.food must be the id of a food of this file (the file has 'meal-1'), "
        "got the text 'meal-2'",
    ),
    # events
    (minimal(events=None), "events must be a list, got nothing (null)"),
    (minimal(events=["reach"]), "events[0] must be a mapping"),
    (minimal(events=[{"remove": 1}]), "events[0].tick is missing; it must be the number of a step"),
    (event(tick=0, remove=1), f"events[0].tick {INTEGER}, got 0"),
    (event(tick=1.0, remove=1), f"events[0].tick {INTEGER}, got 1.0"),
    (event(tick=True, remove=1), f"events[0].tick {INTEGER}, got true"),
    (
        event(),
        "events[0] must have exactly one of reach, action, add, move, remove; it has none of them",
    ),
    (
        event(move=1, position=[1, 2], remove=1),
        "events[0] must have exactly one of reach, action, add, move, remove; "
        "it has move and remove",
    ),
    (event(arm=1, reach="here"), f"events[0].reach {POINT}, got the text 'here'"),
    (event(arm=1, reach=None), f"events[0].reach {POINT}, got nothing (null)"),
    (
        event(reach=[1, 2]),
        "events[0].arm is missing; it must be the number of an arm of this scene",
    ),
    (
        event(arm=9, reach=[1, 2]),
        "events[0].arm must be the number of an arm of this scene (1 to 8), got 9",
    ),
    (event(arm=True, action="idle"), "events[0].arm must be the number of an arm of this scene"),
    (event(arm=1.0, action="idle"), "events[0].arm must be the number of an arm of this scene"),
    (event(arm=[1], action="idle"), "events[0].arm must be the number of an arm of this scene"),
    (
        listed(3, 12, events=[{"tick": 1, "arm": 4, "action": "idle"}]),
        "events[0].arm must be the number of an arm of this scene (3, 12), got 4",
    ),
    (
        event(arm=1, action="jump"),
        "events[0].action must be idle, release, retract or reset, got the text 'jump'",
    ),
    (event(arm=1, action=["idle"]), "events[0].action must be idle, release, retract or reset"),
    (
        event(arm=1, action="idle", position=[1, 2]),
        "events[0].position does not belong to an event with action (it has tick, arm, action)",
    ),
    (event(arm=1, remove=1), "events[0].arm does not belong to an event with remove"),
    (event(add=None), "events[0].add must be a mapping (it can have kind, position, radius)"),
    (event(add={"position": [1, 2]}), "events[0].add.kind is missing"),
    (
        event(add={"kind": "rock", "position": [1, 2]}),
        "events[0].add.kind must be food, obstacle or hazard, got the text 'rock'",
    ),
    (event(add={"kind": 1, "position": [1, 2]}), "events[0].add.kind must be food, obstacle"),
    (event(add={"kind": "food"}), "events[0].add.position is missing"),
    (
        event(add={"kind": "food", "position": [1, 2], "radius": 0}),
        "events[0].add.radius must be a number above 0, got 0",
    ),
    (
        event(add={"kind": "food", "position": [1, 2], "id": "a"}),
        "events[0].add.id is no key of an added object",
    ),
    (event(move=1), "events[0].position is missing"),
    (event(move="a", position=[1, 2]), f"events[0].move {INTEGER}, got the text 'a'"),
    (event(move=2, position=[1, 2]), f"events[0].move {OBJECT}, got 2"),
    (event(remove=0), f"events[0].remove {INTEGER}, got 0"),
    (event(remove=True), f"events[0].remove {INTEGER}, got true"),
    (event(remove=7), f"events[0].remove {OBJECT}, got 7"),
    (
        minimal(events=[{"tick": 1, "remove": 1}]),
        "events[0].remove must be the number of an object there is at tick 1 (there are none)",
    ),
    (
        reef(events=[{"tick": 9, "remove": 2}, {"tick": 9, "move": 2, "position": [1, 2]}]),
        "events[1].move must be the number of an object there is at tick 9 "
        "(that one was removed at tick 9 by events[0]), got 2",
    ),
    (
        reef(
            events=[
                {"tick": 9, "add": {"kind": "food", "position": [1, 2]}},
                {"tick": 8, "remove": 5},
            ]
        ),
        "events[1].remove must be the number of an object there is at tick 8 "
        "(that one is added only at tick 9 by events[0]), got 5",
    ),
]


@pytest.mark.parametrize(("values", "expected"), REFUSED, ids=[text[:60] for _, text in REFUSED])
def test_a_broken_rule_is_the_one_problem_named(values: dict[str, Any], expected: str) -> None:
    (problem,) = problems(values)
    assert problem.startswith(expected)


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "scene", [], [{}], object()])
def test_only_a_mapping_is_a_scene(value: Any) -> None:
    (problem,) = problems(value)
    assert problem.startswith("the document must be a mapping (it can have version, name, ")


def test_all_problems_are_named_at_once_each_with_the_file() -> None:
    values = reef(version=3, body=[1], hazards=[{"position": [1, 2], "radius": 0}])
    values["arms"][2]["parameters"]["segment_count"] = 1
    with pytest.raises(SceneError) as caught:
        parse_scene(values, "scenes/reef.json")
    assert str(caught.value).splitlines() == [
        "scenes/reef.json: version must be the integer 1, got 3",
        f"scenes/reef.json: body {POINT}, got a list of 1 value",
        "scenes/reef.json: hazards[0].radius must be a number above 0, got 0",
        "scenes/reef.json: arms[2].parameters.segment_count must be an integer between 2 and 100, "
        "got 1",
    ]


@pytest.mark.parametrize(
    "values",
    [
        # The list with the named food, the objects, or the arms is itself broken.
        reef(food=3),
        reef(layout="ring"),
        minimal(
            food=[{"id": 5, "position": [1, 2]}], arms=[{"number": 1, "target": {"food": "5"}}]
        ),
        listed("a", 2, events=[{"tick": 1, "arm": 3, "action": "idle"}]),
        minimal(
            events=[
                {"tick": 0, "add": {"kind": "food", "position": [1, 2]}},
                {"tick": 2, "remove": 1},
            ]
        ),
        minimal(
            events=[
                {"tick": 1, "add": {"kind": "rock", "position": [1, 2]}},
                {"tick": 2, "remove": 1},
            ]
        ),
    ],
)
def test_what_hangs_on_a_broken_part_is_not_blamed_as_well(values: dict[str, Any]) -> None:
    assert len(problems(values)) == 1


def test_the_text_of_an_error_stays_short_however_many_problems_there_are() -> None:
    with pytest.raises(SceneError) as caught:
        parse_scene(minimal(obstacles=[{}] * 100_000), "reef.json")
    assert len(caught.value.problems) == 1000
    assert len(str(caught.value).splitlines()) == 31
    assert str(caught.value).splitlines()[-1] == "reef.json: and 970 more problems"


def test_a_long_text_is_cut_in_a_message() -> None:
    assert all(len(problem) < 250 for problem in problems(minimal(units="x" * 10_000)))
    assert all(len(problem) < 250 for problem in problems(minimal(**{"y" * 10_000: 1})))


def test_an_error_survives_pickling() -> None:
    with pytest.raises(SceneError) as caught:
        parse_scene(minimal(units="mm", version=2), "reef.json")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)
    assert copy.problems == caught.value.problems
    assert isinstance(copy, ValueError)
