"""Documents that the tests of the scenes share: one by hand, and any that the format allows."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

REEF: dict[str, Any] = {
    "version": 1,
    "name": "Reef",
    "body": [400, 425],
    "defaults": {
        "segment_count": 20,
        "segment_length": 12,
        "maximum_bend_degrees": 60,
        "turning_speed_degrees": 85.9,
    },
    "food": [
        {"id": "meal-1", "position": [346.8, 221.0], "radius": 14},
        {"position": [10, 20]},
    ],
    "obstacles": [{"position": [548.7, 288.3], "radius": 10}],
    "hazards": [{"position": [300, 300], "radius": 20}],
    "arms": [
        {
            "number": 5,
            "parameters": {"turning_speed_degrees": 10},
            "target": {"food": "meal-1"},
            "base": [432, 425],
            "heading_degrees": 0,
        },
        {"number": 2, "target": {"position": [500, 600]}},
        {"number": 3, "parameters": {"segment_count": 2}},
    ],
    "events": [
        {"tick": 120, "remove": 2},
        {"tick": 30, "arm": 1, "reach": [425, 435]},
        {"tick": 99, "move": 5, "position": [450, 420]},
        {"tick": 60, "arm": 5, "action": "idle"},
        {"tick": 80, "add": {"kind": "obstacle", "position": [430, 442], "radius": 9}},
        {"tick": 30, "arm": 5, "action": "retract"},
    ],
}
"""A valid pixel scene with every part of the format but `units` and `layout`."""

MINIMAL: dict[str, Any] = {"version": 1, "name": "Nothing much"}
"""The least a scene file can say."""


def reef(**changes: Any) -> dict[str, Any]:
    """The reef, free to be changed, with some keys of the document replaced."""
    return {**copy.deepcopy(REEF), **changes}


def minimal(**changes: Any) -> dict[str, Any]:
    """The least document, with some keys added."""
    return {**MINIMAL, **changes}


def finite(**limits: Any) -> st.SearchStrategy[float]:
    return st.floats(allow_nan=False, allow_infinity=False, **limits)


coordinates = st.one_of(
    st.integers(-10_000, 10_000), finite(min_value=-1e6, max_value=1e6), finite()
)
points = st.tuples(coordinates, coordinates).map(list)
lengths = st.one_of(st.integers(1, 100), finite(min_value=1e-300, max_value=1e300))
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@st.composite
def parameters(draw: st.DrawFn) -> dict[str, Any]:
    fields = {
        "segment_count": st.integers(2, 100),
        "segment_length": lengths,
        "maximum_bend_degrees": finite(min_value=1e-300, max_value=180.0),
        "turning_speed_degrees": st.one_of(st.integers(1, 360), finite(min_value=1e-300)),
    }
    return draw(st.fixed_dictionaries({}, optional=fields))


@st.composite
def events(
    draw: st.DrawFn, arms: list[int], objects: int, radii: st.SearchStrategy[float]
) -> list[dict[str, Any]]:
    """Events that can happen, in any order in the file."""
    ticks = sorted(draw(st.lists(st.integers(1, 40), max_size=8)))
    existing = list(range(1, objects + 1))
    made: list[dict[str, Any]] = []
    for tick in ticks:
        forms = ["add"] + ["reach", "action"] * bool(arms) + ["move", "remove"] * bool(existing)
        form = draw(st.sampled_from(forms))
        event: dict[str, Any] = {"tick": tick}
        if form == "add":
            objects += 1
            existing.append(objects)
            kind = draw(st.sampled_from(["food", "obstacle", "hazard"]))
            event["add"] = {"kind": kind, "position": draw(points), "radius": draw(radii)}
        elif form == "reach":
            event |= {"arm": draw(st.sampled_from(arms)), "reach": draw(points)}
        elif form == "action":
            actions = ["idle", "release", "retract", "reset"]
            event["arm"] = draw(st.sampled_from(arms))
            event["action"] = draw(st.sampled_from(actions))
        elif form == "move":
            event |= {"move": draw(st.sampled_from(existing)), "position": draw(points)}
        else:
            event["remove"] = draw(st.sampled_from(existing))
            existing.remove(event["remove"])
        made.append(event)
    # Events of one tick keep their order, those of different ticks may stand anywhere.
    order = draw(st.permutations(sorted(set(ticks))))
    return [event for tick in order for event in made if event["tick"] == tick]


@st.composite
def scenes(draw: st.DrawFn) -> dict[str, Any]:
    """Any document that the format allows."""
    layout = draw(st.sampled_from(["octopus", "listed"]))
    scene: dict[str, Any] = {"version": 1, "name": draw(names)}
    optional = {
        "units": st.sampled_from(["pixel", "metre"]),
        "body": points,
        "defaults": parameters(),
        "obstacles": st.lists(circles(), max_size=3),
        "hazards": st.lists(circles(), max_size=3),
    }
    scene |= draw(st.fixed_dictionaries({}, optional=optional))
    if layout == "listed" or draw(st.booleans()):
        scene["layout"] = layout
    identifiers = draw(st.lists(names.filter(str.strip), max_size=3, unique=True))
    food = [{"id": identifier, **draw(circles())} for identifier in identifiers]
    food += draw(st.lists(circles(), max_size=2))
    scene["food"] = draw(st.permutations(food))
    largest = 8 if layout == "octopus" else 2**31 - 1
    numbers = draw(st.lists(st.integers(1, largest), max_size=4, unique=True))
    targets: st.SearchStrategy[Any] = points.map(lambda point: {"position": point})
    if identifiers:
        targets |= st.sampled_from(identifiers).map(lambda identifier: {"food": identifier})
    rest = {
        "parameters": parameters(),
        "target": targets,
        "base": points,
        "heading_degrees": finite(),
    }
    scene["arms"] = [
        {"number": number, **draw(st.fixed_dictionaries({}, optional=rest))} for number in numbers
    ]
    count = len(food) + len(scene.get("obstacles", [])) + len(scene.get("hazards", []))
    known = list(range(1, 9)) if layout == "octopus" else numbers
    scene["events"] = draw(events(known, count, lengths))
    return scene


def circles() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"position": points}, optional={"radius": lengths})


values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.sampled_from([0, 1, 10**400, -(10**400), 2**31, 1e308, 5e-324]),
        st.floats(),
        st.text(max_size=6),
        st.sampled_from(["pixel", "metre", "octopus", "listed", "food", "meal-1", "idle"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.one_of(
                st.sampled_from(
                    [
                        "version name units body layout defaults food obstacles hazards arms",
                        "events number parameters target base heading_degrees position radius id",
                        "tick arm reach action add kind move remove segment_count",
                    ]
                ).flatmap(lambda words: st.sampled_from(words.split())),
                st.text(max_size=4),
            ),
            inner,
            max_size=6,
        ),
    ),
    max_leaves=30,
)
"""Anything that JSON can say, with the words of the format among it."""
