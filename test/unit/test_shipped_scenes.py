"""What every shipped scene shows, by its opening comment, and that it shows it however it is timed.

Over ROS 2 the events of a scene come a few steps earlier or later than in a headless run, and the
objects reach the arms some steps after the first one; none of that may spoil a scene.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from octo_reach.model.compilation import COMPILED
from octo_reach.model.octopus import Octopus
from octo_reach.model.scene import ObjectKind
from octo_reach.planners import create_planner
from octo_reach.scenes import SceneDocument, apply_event, build_octopus, load_scene
from octo_reach.scenes.document import Event
from octo_reach.scenes.running import STEP, run_scene, standard_ticks
from octo_reach.scenes.shipped import shipped_scenes

SCENES = shipped_scenes()
CARRIED = 0.002
"""How near a carried object comes to its destination, m (reach-model: carry tolerance)."""
CLEARANCE = 0.003

QUICK = "grasp_and_carry"
"""A scene of one arm whose events need a grip."""

needs_speed = pytest.mark.skipif(not COMPILED, reason="minutes without numba")


@dataclass(frozen=True)
class Timing:
    """How a run differs from the headless one, in steps.

    Attributes:
        late: the objects come so much later, and the clock of the events starts so much later.
        shift: every event is so much later.
        seed: every event is up to ten steps earlier or later on top, drawn with this seed.
    """

    late: int = 0
    shift: int = 0
    seed: int | None = None


EXACT = Timing()
TIMINGS = [
    EXACT,
    *(Timing(shift=shift) for shift in (-10, -5, 5, 10)),
    *(Timing(late=late) for late in (1, 6, 12)),
    *(Timing(late=3 * seed, seed=seed) for seed in range(4)),
]


def timing_name(timing: Timing) -> str:
    return f"late{timing.late}-shift{timing.shift}-seed{timing.seed}"


every_timing = pytest.mark.parametrize(
    "timing",
    [
        pytest.param(timing, marks=() if timing is EXACT else needs_speed, id=timing_name(timing))
        for timing in TIMINGS
    ],
)
by_name = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs_speed if name == "reef" else ()) for name in SCENES]
)


def retimed(document: SceneDocument, timing: Timing) -> SceneDocument:
    """Move the events, but never past each other: messages keep their order."""
    draw = random.Random(timing.seed)
    events, latest = [], 1
    for event in document.events:
        spread = 0 if timing.seed is None else draw.randint(-10, 10)
        latest = max(latest, event.tick + timing.shift + timing.late + spread)
        events.append(replace(event, tick=latest))
    return replace(document, events=tuple(events))


def play(
    document: SceneDocument,
    timing: Timing,
    ticks: int,
    planner: str = "neighbour",
    refused: list[Event] | None = None,
) -> Iterator[Octopus]:
    """Run a scene whose objects come late; its events are those of `retimed`.

    Args:
        document: the scene.
        timing: how the run differs from the headless one.
        ticks: steps to take.
        planner: planner of every arm.
        refused: gets the events that a controller would refuse, as the arm holds nothing.
    """
    octopus = build_octopus(
        replace(document, objects=()) if timing.late else document,
        {placement.number: create_planner(planner) for placement in document.placements()},
    )
    yield octopus
    waiting = list(document.events)
    for tick in range(1, ticks + 1):
        if timing.late and tick == timing.late + 1:
            for thing in document.objects:
                octopus.add_object(thing.kind, thing.position, thing.radius, thing.number)
        while waiting and waiting[0].tick == tick:
            event = waiting.pop(0)
            needs_grip = event.action in ("retract", "release")
            if refused is not None and needs_grip and octopus.arm(event.arm).grip is None:
                refused.append(event)
            apply_event(octopus, event)
        octopus.step(STEP)
        yield octopus


@dataclass
class Film:
    """A run, tick by tick."""

    document: SceneDocument
    states: list[dict[int, str]] = field(default_factory=list)
    owners: list[dict[int, int]] = field(default_factory=list)
    places: list[dict[int, tuple[float, float]]] = field(default_factory=list)
    tips: list[dict[int, tuple[float, float]]] = field(default_factory=list)
    joints: list[dict[int, np.ndarray]] = field(default_factory=list)
    captures: list[tuple[int, int, float]] = field(default_factory=list)

    def ticks_in_state(self, arm: int, state: str, first: int, last: int) -> int:
        return sum(states[arm] == state for states in self.states[first : last + 1])

    def away(self, thing: int, tick: int, place: tuple[float, float]) -> float:
        return math.dist(self.places[tick][thing], place)

    def tip_away(self, arm: int, tick: int, place: tuple[float, float]) -> float:
        return math.dist(self.tips[tick][arm], place)


def film(name: str, timing: Timing = EXACT, without: tuple[int, ...] = ()) -> Film:
    """Run a shipped scene to the end of what happens in it.

    Args:
        name: its name.
        timing: how the run differs from the headless one.
        without: numbers of objects whose circles are made too small to matter.
    """
    document = retimed(load_scene(SCENES[name]), timing)
    played = replace(
        document,
        objects=tuple(
            replace(thing, radius=1e-9, position=(9.0, 9.0)) if thing.number in without else thing
            for thing in document.objects
        ),
    )
    result = Film(document)
    for octopus in play(played, timing, standard_ticks(document)):
        result.states.append({arm.number: arm.state for arm in octopus.arms})
        result.owners.append(octopus.owners)
        table = octopus.objects
        result.places.append(
            dict(zip(table.numbers.tolist(), map(tuple, table.positions.tolist()), strict=True))
        )
        result.tips.append({arm.number: tuple(arm.tip.tolist()) for arm in octopus.arms})
        result.joints.append({arm.number: arm.joints.copy() for arm in octopus.arms})
    result.captures = [(c.arm, c.object, c.seconds) for c in octopus.captures]
    return result


def gap(joints: np.ndarray, place: tuple[float, float], radius: float) -> float:
    """Give how far an arm is from a circle, by the nearest point of its segments."""
    start, along = joints[:-1], np.diff(joints, axis=0)
    share = np.clip(((place - start) * along).sum(1) / (along * along).sum(1), 0.0, 1.0)
    return float(np.hypot(*(start + share[:, None] * along - place).T).min()) - radius


def least_gap(run: Film, arm: int, thing, first: int, last: int) -> float:
    return min(
        gap(run.joints[tick][arm], thing.position, thing.radius) for tick in range(first, last + 1)
    )


def event_ticks(run: Film, arm: int) -> list[int]:
    return [event.tick for event in run.document.events if event.arm == arm]


# ---------------------------------------------------------------- all of them


def test_the_scenes_that_the_readme_and_the_launch_files_name_are_shipped():
    assert {"first_reach", "detour", "grasp_and_carry", "reef"} <= SCENES.keys()


@pytest.mark.parametrize("name", SCENES)
def test_a_shipped_scene_is_in_metres_and_says_at_its_top_what_to_watch(name):
    lines = SCENES[name].read_text(encoding="utf-8").splitlines()
    comment = [line for line in lines[: lines.index("version: 1")] if line.startswith("# ")]
    assert len(comment) >= 3
    assert "watch" in " ".join(comment).lower()
    assert load_scene(SCENES[name]).units == "metre"


@pytest.mark.parametrize("name", SCENES)
def test_a_shipped_scene_has_room_to_play_its_last_event_out(name):
    document = load_scene(SCENES[name])
    last = max((event.tick for event in document.events), default=0)
    assert standard_ticks(document) >= last + 600


@pytest.mark.parametrize("name", SCENES)
def test_additions_of_a_shipped_scene_never_share_a_tick(name):
    ticks = [event.tick for event in load_scene(SCENES[name]).events if event.add]
    assert len(set(ticks)) == len(ticks)


@by_name
def test_arms_of_a_shipped_scene_never_come_nearer_to_an_obstacle_than_their_clearance(name):
    for octopus in run_scene(load_scene(SCENES[name]), 2400):
        for thing in octopus.objects:
            if thing.kind is ObjectKind.OBSTACLE:
                for arm in octopus.arms:
                    assert gap(arm.joints, thing.position, thing.radius) >= CLEARANCE - 1e-9


@pytest.mark.parametrize("timing", [EXACT, *(t for t in TIMINGS if t.seed)], ids=timing_name)
@pytest.mark.parametrize(
    ("name", "planner"),
    [
        pytest.param(
            name, planner, marks=needs_speed if (name, planner) != (QUICK, "neighbour") else ()
        )
        for name in SCENES
        for planner in ("neighbour", "guided")
        if load_scene(SCENES[name]).events
    ],
)
def test_no_event_of_a_shipped_scene_is_refused_under_either_planner(name, planner, timing):
    document = retimed(load_scene(SCENES[name]), timing)
    refused: list[Event] = []
    for _ in play(document, timing, standard_ticks(document), planner, refused):
        pass
    assert refused == []


# ---------------------------------------------------------------- first_reach


@every_timing
def test_first_reach_arrives_within_three_seconds_and_stays(timing):
    run = film("first_reach", timing)
    assert all(states[1] == "Reached" for states in run.states[360:])
    assert run.captures == []


def test_first_reach_moves_its_tip_at_once_and_its_base_only_when_the_request_arrives():
    document = load_scene(SCENES["first_reach"])
    count = document.arms[0].parameters.segment_count
    moves = {0: [], count - 1: []}
    previous = None
    for octopus in run_scene(document, 2 * count):
        angles = octopus.arm(1).angles.copy()
        if previous is not None:
            for joint, ticks in moves.items():
                if abs(angles[joint] - previous[joint]) > 1e-9:
                    ticks.append(octopus.ticks)
        previous = angles
    assert moves[count - 1][0] == 1
    assert moves[0][0] == count


def test_first_reach_grasps_its_food_when_it_is_sent_there():
    document = load_scene(SCENES["first_reach"])
    *_, octopus = run_scene(document, 600)
    octopus.reach(1, document.objects[0].position)
    for _ in range(600):
        octopus.step(STEP)
    assert octopus.owners == {1: 1}


# ---------------------------------------------------------------- detour


@every_timing
def test_detour_reaches_both_targets_within_five_seconds_and_stays(timing):
    run = film("detour", timing)
    (sent,) = event_ticks(run, 1)
    first, second = run.document.arms[0].target, run.document.events[0].reach
    assert all(run.tip_away(1, tick, first) <= CARRIED for tick in range(600, sent))
    end = len(run.tips)
    assert all(run.tip_away(1, tick, second) <= CARRIED for tick in range(sent + 600, end))
    assert run.ticks_in_state(1, "Avoiding", 0, sent - 1) > 60
    assert run.ticks_in_state(1, "Avoiding", sent, end) > 60


def test_detour_would_sweep_over_its_obstacles_were_they_not_there():
    run = film("detour", without=(1, 2, 3, 4))
    _, lower, large, _ = run.document.objects
    assert least_gap(run, 1, lower, 0, 839) < 0.0
    assert least_gap(run, 1, large, 840, len(run.joints) - 1) < 0.0


def test_detour_runs_up_to_the_upper_obstacle_and_passes_below_the_lower_one():
    run = film("detour")
    upper, lower, _, _ = run.document.objects
    close = min(gap(run.joints[tick][1], upper.position, upper.radius) for tick in range(240))
    assert close < 0.01
    crossings = [
        run.tips[tick][1][1]
        for tick in range(1, 839)
        if run.tips[tick - 1][1][0] >= lower.position[0] > run.tips[tick][1][0]
    ]
    assert crossings
    assert all(height < lower.position[1] - lower.radius for height in crossings)


# ---------------------------------------------------------------- grasp_and_carry


@every_timing
def test_grasp_and_carry_does_what_its_comment_says_in_time(timing):
    run = film("grasp_and_carry", timing)
    carry, retract, again, release = event_ticks(run, 1)
    events = run.document.events
    assert [(arm, thing) for arm, thing, _ in run.captures] == [(1, 1)]
    assert run.captures[0][2] < 3.0
    assert run.ticks_in_state(1, "Grasping", 0, carry) >= 29
    for sent, done, place in (
        (carry, retract, events[0].reach),
        (retract, again, (0.0, 0.04)),
        (again, release, events[2].reach),
    ):
        # A second to spare each time.
        assert run.states[done - 120][1] == "Holding"
        assert run.away(1, done - 120, place) <= CARRIED
        assert run.ticks_in_state(1, "Retracting", sent, done - 1) == 0 or sent == retract
    assert run.ticks_in_state(1, "Avoiding", carry, retract) > 30
    assert all(owners == {} for owners in run.owners[release:])
    assert all(run.away(1, tick, events[2].reach) <= CARRIED for tick in range(release, 2400))


def test_grasp_and_carry_keeps_the_food_clear_of_the_obstacles():
    run = film("grasp_and_carry")
    food, *obstacles = run.document.objects
    for places in run.places:
        for thing in obstacles:
            assert math.dist(places[1], thing.position) >= food.radius + thing.radius - 1e-9


# ---------------------------------------------------------------- reef

CATCHES = {
    1: {1, 15, 20, 27},
    2: {11, 16, 21},
    3: {24},
    4: {10, 23},
    5: {9, 10, 25},
    6: {2, 13, 19},
    7: {17, 22},
    8: {12, 18, 26},
}
"""What each arm of the reef catches."""
SHELL, BOULDER, ANEMONE, MORSEL = 10, 14, 8, 27
SECOND = 120
SPARE = 36
"""Steps by which everything is over before the event that follows it."""


@pytest.fixture(
    scope="module",
    params=[pytest.param(timing, marks=needs_speed, id=timing_name(timing)) for timing in TIMINGS],
)
def reef_run(request):
    return film("reef", request.param)


def test_every_arm_of_the_reef_catches_food_and_brings_it_home_before_it_is_eaten(reef_run):
    run = reef_run
    caught: dict[int, set[int]] = {number: set() for number in CATCHES}
    for arm, thing, _ in run.captures:
        caught[arm].add(thing)
    assert caught == CATCHES
    homes = {
        placement.number: tuple(
            place + 0.04 * part
            for place, part in zip(
                placement.base,
                (math.cos(placement.heading), math.sin(placement.heading)),
                strict=True,
            )
        )
        for placement in run.document.placements()
    }
    eaten = {event.remove: event.tick for event in run.document.events if event.remove}
    brought = set()
    for event in run.document.events:
        if event.action != "retract":
            continue
        (thing,) = (
            number for number, owner in run.owners[event.tick - SPARE].items() if owner == event.arm
        )
        home = eaten[thing] - SPARE
        assert run.states[home][event.arm] == "Holding", (event.arm, thing)
        assert run.away(thing, home, homes[event.arm]) <= CARRIED, (event.arm, thing)
        brought.add((event.arm, thing))
    assert brought == {(arm, thing) for arm, things in CATCHES.items() for thing in things} - {
        (4, SHELL)
    }


def test_the_rest_of_the_reef_happens_as_its_comment_says(reef_run):
    run = reef_run
    events = run.document.events
    retract = next(e.tick for e in events if e.arm == 2 and e.action == "retract")
    assert run.ticks_in_state(2, "Avoiding", retract, retract + 3 * SECOND) > 5

    up, down, up_again, *_ = (event for event in events if event.arm == 3)
    for sent, after in ((up, down), (down, up_again)):
        assert run.tip_away(3, after.tick - SPARE, sent.reach) <= CARRIED
    assert run.tip_away(3, up_again.tick + 5 * SECOND, up_again.reach) <= CARRIED
    assert run.ticks_in_state(3, "Avoiding", down.tick, up_again.tick) > 30
    assert run.ticks_in_state(3, "Avoiding", up_again.tick, up_again.tick + 6 * SECOND) > 30

    _, put, release, *_ = (event for event in events if event.arm == 4)
    assert run.away(SHELL, release.tick - SPARE, put.reach) <= CARRIED
    assert run.owners[release.tick].get(SHELL) is None
    takes = [arm for arm, thing, _ in run.captures if thing == SHELL]
    assert takes == [4, 5]

    withdraw = next(event.tick for event in events if event.arm == 7)
    assert run.ticks_in_state(7, "Contact", 0, withdraw) > SECOND

    assert [arm for arm, thing, _ in run.captures if thing == MORSEL] == [1]
    idle = next(event.tick for event in events if event.arm == 8 and event.action == "idle")
    assert run.ticks_in_state(8, "Contact", idle - 3 * SECOND, idle) > 30
    assert run.owners[-1] == {}


@needs_speed
@pytest.mark.parametrize("timing", TIMINGS, ids=timing_name)
def test_the_guided_arms_of_the_reef_catch_and_bring_home_the_same(timing):
    document = retimed(load_scene(SCENES["reef"]), timing)
    eaten: dict[int, int] = {}
    meals = [event for event in document.events if event.remove]
    for octopus in play(document, timing, standard_ticks(document), "guided"):
        for event in meals:
            owner = octopus.owners.get(event.remove)
            if octopus.ticks == event.tick - SPARE and owner is not None:
                assert octopus.arm(owner).state == "Holding", (owner, event.remove)
                eaten[event.remove] = owner
    caught: dict[int, set[int]] = {number: set() for number in CATCHES}
    for capture in octopus.captures:
        caught[capture.arm].add(capture.object)
    assert caught == CATCHES
    brought = {(arm, thing) for arm, things in CATCHES.items() for thing in things}
    assert {(arm, thing) for thing, arm in eaten.items()} == brought - {(4, SHELL)}


@needs_speed
def test_the_boulder_of_the_reef_lies_where_its_arm_would_sweep():
    document = load_scene(SCENES["reef"])
    boulder = next(event.add for event in document.events if event.add and event.tick == 960)
    harmless = replace(boulder, position=(9.0, 9.0))
    events = tuple(
        replace(event, add=harmless) if event.add is boulder else event for event in document.events
    )
    gaps = [
        gap(octopus.arm(3).joints, boulder.position, boulder.radius)
        for octopus in run_scene(replace(document, events=events), 2400)
    ]
    assert min(gaps[960:]) < CLEARANCE
    assert min(gaps[940:980]) > CLEARANCE
