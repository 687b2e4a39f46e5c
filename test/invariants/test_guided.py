"""What holds of the planner `guided`, whatever the arm, the obstacles, the edits and the steps."""

import math
from itertools import pairwise

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from stories import Story, chain, gaps, play, rules_of, stories
from test_invariants import (
    assert_guarded,
    assert_payload_guarded,
    assert_within_limits,
    state_bits,
)

from octo_reach.planners import GuidedPlanner
from octo_reach.planners.guided.beginnings import Draws
from octo_reach.planners.guided.body import Body
from octo_reach.planners.guided.clearance import room_of
from octo_reach.planners.guided.first_run import finish
from octo_reach.planners.guided.room import Room
from octo_reach.planners.guided.search import Search

FEW = settings(max_examples=max(2, settings().max_examples // 2))
SAMPLES = 200


def planners_of(story: Story) -> dict[int, GuidedPlanner]:
    return {arm["number"]: GuidedPlanner() for arm in story.scene["arms"]}


@st.composite
def bodies(draw) -> tuple[Body, np.ndarray, np.ndarray]:
    """An arm, with a held object or without, a pose of it, and obstacles that are clear of it."""
    count = draw(st.integers(1, 24))
    length = draw(st.floats(4.0, 40.0))
    bend = draw(st.floats(0.2, math.pi))
    unit = draw(st.sampled_from([1.0, 0.001]))
    holder = draw(st.sampled_from([0, 0, count]))
    body = Body(
        count, length * unit, bend, 0.0, 0.0, 3.0 * unit, unit, holder, unit, 4.0 * unit, 6.0 * unit
    )
    bends = draw(st.lists(st.floats(-1.0, 1.0), min_size=count, max_size=count))
    pose = bend * np.array(bends)
    obstacles = draw(
        st.lists(
            st.tuples(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.floats(2.0, 20.0)),
            max_size=8,
        )
    )
    around = np.array(obstacles).reshape(-1, 3)
    around[:, :2] *= count * length * unit
    around[:, 2] *= unit
    clear = [row for row in around if room_of(pose, body, row.reshape(1, 3)) > 0.05 * unit]
    return body, pose, np.array(clear).reshape(-1, 3)


def held_place(body: Body, pose: np.ndarray) -> tuple[float, float]:
    """Where a pose puts what is held, or the tip where nothing is, by the tests' own geometry."""
    joints = chain((body.base_x, body.base_y), body.length, pose)
    if not body.holder:
        return tuple(joints[-1])
    heading = pose[: body.holder].sum()
    cosine, sine = math.cos(heading), math.sin(heading)
    x, y = joints[body.holder]
    return (
        x + cosine * body.along - sine * body.across,
        y + sine * body.along + cosine * body.across,
    )


def least_room(body: Body, pose: np.ndarray, obstacles: np.ndarray) -> float:
    """The room a pose leaves, by the tests' own geometry."""
    joints = chain((body.base_x, body.base_y), body.length, pose)
    rooms = [math.inf]
    if len(obstacles):
        rooms.append(float((gaps(joints, obstacles) - obstacles[:, 2]).min()) - body.clearance)
    if body.holder and len(obstacles):
        centre = held_place(body, pose)
        away = np.hypot(obstacles[:, 0] - centre[0], obstacles[:, 1] - centre[1])
        rooms.append(float((away - obstacles[:, 2]).min()) - body.payload)
    return min(rooms)


def assert_clear(body: Body, start, end, obstacles: np.ndarray, margin: float) -> None:
    for share in np.linspace(0.0, 1.0, SAMPLES):
        pose = start + share * (end - start)
        assert least_room(body, pose, obstacles) >= margin - 1e-9 * body.unit


@given(bodies(), st.data())
def test_what_is_certified_of_an_edge_is_clear(told, data):
    body, start, obstacles = told
    count = body.segments
    change = data.draw(st.lists(st.floats(-2.0, 2.0), min_size=count, max_size=count))
    end = start + np.array(change)
    margin = 0.04 * body.unit
    room = Room(body, obstacles, margin, Draws(1))
    share = finish(room.clear_part(start, end))
    assert_clear(body, start, start + share * (end - start), obstacles, margin)
    if finish(room.clear(start, end)):
        assert_clear(body, start, end, obstacles, margin)


@FEW
@given(bodies(), st.floats(0.1, 0.95), st.floats(-math.pi, math.pi))
def test_every_edge_of_a_path_is_clear_and_it_ends_at_the_target(told, distance, direction):
    body, start, obstacles = told
    aim = (
        distance * body.reach * math.cos(direction),
        distance * body.reach * math.sin(direction),
    )
    room = room_of(start, body, obstacles)
    tolerance = 1.8 * body.unit
    search = Search(body, start, aim, tolerance, obstacles, room, 0.0125, Draws(1))
    for _ in range(40):
        if not search.done:
            search.advance(150_000)
    assume(search.path is not None)
    for before, after in pairwise(search.path):
        assert_clear(body, before, after, obstacles, search.margin)
        assert np.all(np.abs(after[1:]) <= body.bend)
    assert np.array_equal(search.path[0], start)
    assert math.dist(held_place(body, search.path[-1]), aim) <= tolerance * (1.0 + 1e-9)


@FEW
@given(st.one_of(stories(about=about) for about in ("", "detours", "crowds")))
def test_limits_and_guard_hold_on_every_step(story: Story):
    for frame in play(story, planners_of(story)):
        assert_within_limits(frame)
        assert_guarded(frame)


@FEW
@given(stories(about="food"))
def test_what_is_held_keeps_its_distance_too(story: Story):
    for frame in play(story, planners_of(story)):
        assert_guarded(frame)
        assert_payload_guarded(frame)


@FEW
@given(stories(about="detours"))
def test_the_same_story_is_the_same_to_the_last_bit(story: Story):
    first = [state_bits(frame.octopus) for frame in play(story, planners_of(story))]
    assert [state_bits(frame.octopus) for frame in play(story, planners_of(story))] == first


@FEW
@given(stories(about="detours", kinds=("obstacle",), acts=("reach", "move", "obstacle")))
def test_the_guard_is_never_asked_in_vain(story: Story):
    for frame in play(story, planners_of(story)):
        for arm in frame.octopus.arms:
            assert not arm.blocked
    assert rules_of(story) == frame.octopus.rules
