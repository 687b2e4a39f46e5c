"""What holds on every tick, whatever the arms, the objects, the edits and the durations."""

import math
from collections import Counter

import numpy as np
import plain_stepper
from hypothesis import given, settings
from hypothesis import strategies as st
from stories import (
    TICK,
    Frame,
    Story,
    all_stories,
    apply,
    chain,
    gaps,
    obstacles_of,
    play,
    rules_of,
    stories,
    stubborn_stories,
)

from octo_reach.model.geometry import wrap
from octo_reach.model.octopus import Octopus
from octo_reach.model.scene import ObjectKind
from octo_reach.planners import NeighbourPlanner

TWICE = 2 * settings().max_examples
"""Stories for the tests that see the most; the others are told half as many."""
STEPS_BETWEEN = 7
"""Poses looked at between those before and after a step."""


class SlowNeighbourPlanner(NeighbourPlanner):
    """The neighbour rules asked through the planner protocol, like any other planner."""

    follows_neighbours = False


def slack(frame: Frame) -> float:
    """Give what the guard may let an arm lose, and a little for rounding."""
    rules = frame.octopus.rules
    return rules.geometry_tolerance + 1e-10 * rules.unit


def turned(frame: Frame, index: int) -> np.ndarray:
    """Give how far every joint turned in a step, the base the short way round."""
    change = frame.octopus.arms[index].angles - frame.arms[index].angles
    change[0] = wrap(float(change[0]))
    return change


def assert_within_limits(frame: Frame) -> None:
    for index, arm in enumerate(frame.octopus.arms):
        parameters = arm.parameters
        assert np.all(np.abs(arm.angles[1:]) <= parameters.maximum_bend)
        assert abs(arm.angles[0]) <= math.pi
        most = parameters.turning_speed * frame.dt
        assert np.all(np.abs(turned(frame, index)) <= most + 1e-12)


def assert_guarded(frame: Frame) -> None:
    """A clear segment stays clear and a near one gets no nearer, on the whole way of a step."""
    obstacles = obstacles_of(frame.objects)
    clear = obstacles[:, 2] + frame.octopus.rules.arm_clearance
    for index, (before, arm) in enumerate(zip(frame.arms, frame.octopus.arms, strict=True)):
        if not len(obstacles) or np.array_equal(before.angles, arm.angles):
            continue
        least = np.minimum(clear, gaps(before.joints, obstacles)) - slack(frame)
        change = turned(frame, index)
        for share in np.linspace(0.0, 1.0, STEPS_BETWEEN + 2)[1:]:
            between = before.angles + share * change
            joints = chain(arm.base, arm.parameters.segment_length, between)
            assert np.all(gaps(joints, obstacles) >= least)
        assert np.all(gaps(arm.joints, obstacles) >= least)


def assert_held_in_place(frame: Frame) -> None:
    for arm in frame.octopus.arms:
        if arm.grip is None:
            continue
        heading = np.sum(arm.angles[: arm.grip.segment])
        cosine, sine = math.cos(heading), math.sin(heading)
        along, across = arm.grip.offset
        x, y = arm.joints[arm.grip.segment]
        place = (x + cosine * along - sine * across, y + sine * along + cosine * across)
        objects = frame.octopus.objects
        centre = objects.at(objects.index_of(arm.grip.object)).position
        # An edit may put it elsewhere by as much as goes unnoticed, until the arm moves on.
        unnoticed = frame.octopus.rules.detach_tolerance if frame.edited else 0.0
        assert math.dist(place, centre) <= 1e-9 * frame.octopus.rules.unit + unnoticed


def assert_payload_guarded(frame: Frame) -> None:
    obstacles = obstacles_of(frame.objects)
    now = {thing.number: thing for thing in frame.octopus.objects}
    for before in frame.objects:
        if not len(obstacles) or now[before.number].position == before.position:
            continue
        clear = before.radius + obstacles[:, 2]
        old = np.linalg.norm(obstacles[:, :2] - before.position, axis=1)
        new = np.linalg.norm(obstacles[:, :2] - now[before.number].position, axis=1)
        assert np.all(new >= np.minimum(clear, old) - slack(frame))


def state_bits(octopus: Octopus) -> list:
    """Give everything that can be seen of an octopus, to the last bit."""
    return [
        octopus.time,
        [capture.__dict__ for capture in octopus.captures],
        octopus.owners,
        octopus.objects.positions.tobytes(),
        [arm_bits(octopus, index) for index in range(len(octopus.arms))],
    ]


def arm_bits(octopus: Octopus, index: int) -> list:
    """Give everything that can be seen of an arm, but for the names of what it touches."""
    arm = octopus.arms[index]
    contacts = arm.contacts()
    return [
        arm.angles.tobytes(),
        arm.joints.tobytes(),
        arm.target.tobytes(),
        arm.state,
        arm.grip,
        arm.candidate,
        arm.dwell,
        arm.blocked,
        arm.avoiding,
        contacts.segments.tobytes(),
        contacts.objects.tobytes(),
        contacts.points.tobytes(),
    ]


# ------------------------------------------------------------------------- the arm's own body


@given(all_stories())
def test_segments_keep_their_length(story: Story):
    for frame in play(story):
        for arm in frame.octopus.arms:
            length = arm.parameters.segment_length
            measured = np.linalg.norm(np.diff(arm.joints, axis=0), axis=1)
            assert np.all(np.abs(measured - length) <= 1e-9 * length)


@given(all_stories())
def test_joints_and_headings_follow_from_the_angles(story: Story):
    for frame in play(story):
        for arm in frame.octopus.arms:
            joints = chain(arm.base, arm.parameters.segment_length, arm.angles)
            scale = arm.parameters.reach
            np.testing.assert_allclose(arm.joints, joints, rtol=0, atol=1e-12 * scale)
            np.testing.assert_allclose(arm.headings, np.cumsum(arm.angles), atol=1e-12)


@given(all_stories())
def test_bends_and_speeds_stay_within_their_limits(story: Story):
    for frame in play(story):
        assert_within_limits(frame)


@given(all_stories())
def test_the_base_stays_where_it_is_to_the_last_bit(story: Story):
    bases = [np.array(arm["base"]).tobytes() for arm in story.scene["arms"]]
    for frame in play(story):
        for base, arm in zip(bases, frame.octopus.arms, strict=True):
            assert arm.joints[0].tobytes() == base
            assert arm.base.tobytes() == base


# --------------------------------------------------------------------------------- obstacles


@given(st.one_of(stories(about=about) for about in ("detours", "crowds")))
def test_no_step_breaks_a_clearance_or_deepens_an_overlap(story: Story):
    for frame in play(story):
        assert_guarded(frame)


@given(stories(about="detours", kinds=("obstacle",), acts=("reach", "idle")))
def test_an_arm_that_starts_clear_is_clear_for_ever(story: Story):
    octopus = story.octopus()
    obstacles = obstacles_of(octopus.objects)
    if not len(obstacles):
        return
    clear = obstacles[:, 2] + octopus.rules.arm_clearance
    starts = [np.minimum(clear, gaps(arm.joints, obstacles)) for arm in octopus.arms]
    lost = 0.0
    for frame in play(story):
        lost += slack(frame)
        for start, arm in zip(starts, frame.octopus.arms, strict=True):
            assert np.all(gaps(arm.joints, obstacles) >= start - lost)


@given(stories(about="food"))
def test_no_step_carries_an_object_into_an_obstacle(story: Story):
    for frame in play(story):
        assert_payload_guarded(frame)


# ---------------------------------------------------------------------------------- requests


@given(stories(kinds=(), acts=(), most_arms=1), st.floats(1.0, 6.0), st.integers(0, 12))
def test_a_new_target_is_felt_one_segment_further_in_with_every_update(story, away, late):
    here, there = story.octopus(), story.octopus()
    for octopus in (here, there):
        octopus.reach(1, (3.0 * octopus.arms[0].parameters.reach, 0.0))
        for _ in range(late):
            octopus.step(TICK)
    reach = here.arms[0].parameters.reach
    there.reach(1, (-2.0 * reach * math.cos(away), -2.0 * reach * math.sin(away)))
    count = len(here.arms[0].angles)
    for updates in range(1, count + 1):
        here.step(TICK)
        there.step(TICK)
        one, other = here.arms[0], there.arms[0]
        unaware = count - updates
        for mine, yours in (
            (one.requests, other.requests),
            (one.request_headings, other.request_headings),
            (one.goals, other.goals),
            (one.angles, other.angles),
        ):
            assert mine[:unaware].tobytes() == yours[:unaware].tobytes()
        assert not np.array_equal(one.requests[unaware], other.requests[unaware])


# ----------------------------------------------------------------------------------- grasping


@given(stories(about="food"))
def test_a_held_object_never_leaves_its_place_on_the_segment(story: Story):
    for frame in play(story):
        assert_held_in_place(frame)


@given(stories(about="food"))
def test_a_grip_keeps_its_segment_and_offset_while_it_lasts(story: Story):
    grips: dict[int, object] = {}
    for frame in play(story):
        if frame.edited:
            grips.clear()
        for arm in frame.octopus.arms:
            if arm.number in grips:
                assert arm.grip == grips[arm.number]
            if arm.grip is not None:
                grips[arm.number] = arm.grip


@given(stories(about="food"))
def test_an_object_has_one_owner_at_most(story: Story):
    for frame in play(story):
        held = {arm.grip.object: arm.number for arm in frame.octopus.arms if arm.grip is not None}
        holders = [arm for arm in frame.octopus.arms if arm.grip is not None]
        assert len(held) == len(holders)
        assert frame.octopus.owners == held


@given(stories(about="food"))
def test_only_food_is_held_and_every_grip_was_reported(story: Story):
    known = 0
    for frame in play(story):
        octopus = frame.octopus
        fresh = octopus.captures[known:]
        known = len(octopus.captures)
        gripped = {
            (arm.number, arm.grip.object)
            for before, arm in zip(frame.arms, octopus.arms, strict=True)
            if arm.grip is not None and before.held != arm.grip.object
        }
        assert {(capture.arm, capture.object) for capture in fresh} == gripped
        assert all(capture.seconds == octopus.time for capture in fresh)
        for number in octopus.owners:
            assert octopus.objects.at(octopus.objects.index_of(number)).kind == ObjectKind.FOOD


@given(stories(about="food"))
def test_nothing_moves_by_a_step_but_what_is_held(story: Story):
    for frame in play(story):
        now = {thing.number: thing for thing in frame.octopus.objects}
        carried = {before.held for before in frame.arms}
        for before in frame.objects:
            if before.number not in carried:
                assert now[before.number] == before


# ------------------------------------------------------------------------------ whatever is asked


@given(stubborn_stories(stories(kinds=(), acts=("reach", "reset"))))
def test_no_planner_gets_an_arm_past_its_limits(told):
    story, planners = told
    for frame in play(story, planners):
        assert_within_limits(frame)


@given(stubborn_stories(all_stories()))
def test_no_planner_gets_an_arm_or_its_payload_past_the_guard(told):
    story, planners = told
    for frame in play(story, planners):
        assert_guarded(frame)
        assert_payload_guarded(frame)
        assert_held_in_place(frame)


# ------------------------------------------------------------------------------ the same again


@given(stubborn_stories(all_stories()))
def test_the_same_story_twice_gives_the_same_bits(told):
    story, planners = told
    first = [state_bits(frame.octopus) for frame in play(story, planners)]
    assert [state_bits(frame.octopus) for frame in play(story, planners)] == first


@given(all_stories(), st.sets(st.integers(1, 3), min_size=1))
def test_planners_among_the_neighbour_arms_change_nothing(story: Story, asked: set[int]):
    # A new assignment tells an ordinary planner to start anew, so none comes while it is at work.
    edits = tuple(edit for edit in story.edits if edit[1] in ("food", "obstacle", "hazard"))
    story = Story(story.scene, edits, story.steps)
    numbers = [arm["number"] for arm in story.scene["arms"]]
    plain = [state_bits(frame.octopus) for frame in play(story)]
    named = {number: NeighbourPlanner() for number in numbers}
    assert [state_bits(frame.octopus) for frame in play(story, named)] == plain
    slow = {number: SlowNeighbourPlanner(rules_of(story)) for number in asked & set(numbers)}
    for mine, yours in zip(play(story), play(story, slow), strict=True):
        assert_same_motion(mine.octopus, yours.octopus)


def assert_same_motion(one: Octopus, other: Octopus) -> None:
    """Hold two octopuses against each other: numbers to rounding, the rest exactly."""
    unit = one.rules.unit
    np.testing.assert_allclose(
        one.objects.positions, other.objects.positions, rtol=0, atol=1e-9 * unit
    )
    assert one.captures == other.captures
    assert one.owners == other.owners
    for mine, yours in zip(one.arms, other.arms, strict=True):
        np.testing.assert_allclose(mine.angles, yours.angles, rtol=0, atol=1e-9)
        np.testing.assert_allclose(mine.joints, yours.joints, rtol=0, atol=1e-9 * unit)
        assert mine.blocked == yours.blocked
        assert mine.updates == yours.updates
        assert mine.candidate == yours.candidate
        assert mine.dwell == yours.dwell
        assert mine.contacts().segments.tolist() == yours.contacts().segments.tolist()


@given(stories(kinds=("obstacle", "obstacle", "hazard"), acts=("reach", "idle", "obstacle")))
def test_arms_do_not_feel_each_other_without_food(story: Story):
    together = [
        [arm_bits(frame.octopus, index) for index in range(len(frame.arms))]
        for frame in play(story)
    ]
    numbers = [arm["number"] for arm in story.scene["arms"]]
    for index, number in enumerate(numbers):
        alone = Story(
            dict(story.scene, arms=[story.scene["arms"][index]]),
            tuple(
                (tick, what, 0, point, size)
                for tick, what, which, point, size in story.edits
                if what == "obstacle" or numbers[which % len(numbers)] == number
            ),
            story.steps,
        )
        bits = [arm_bits(frame.octopus, 0) for frame in play(alone)]
        assert bits == [frame[index] for frame in together]


# ---------------------------------------------------------------------- beside the plain stepper


def assert_alike(record: dict, octopus: Octopus, tolerance: float) -> None:
    """Hold a snapshot of the plain stepper against an octopus."""
    unit = octopus.rules.unit
    near = {"rtol": 0.0, "atol": tolerance}
    far = {"rtol": 0.0, "atol": tolerance * unit}
    assert octopus.ticks == record["tick"]
    assert octopus.time == record["seconds"]
    for arm, told in zip(octopus.arms, record["arms"], strict=True):
        assert arm.number == told["number"]
        assert arm.state == told["state"]
        np.testing.assert_allclose(arm.angles, told["angles"], **near)
        np.testing.assert_allclose(arm.tip, told["tip"], **far)
        np.testing.assert_allclose(arm.target, told["target"], **far)
        if told["grip"] is None:
            assert arm.grip is None
        else:
            assert arm.grip is not None
            assert arm.grip.object == told["grip"]["object"]
            assert arm.grip.segment == told["grip"]["segment"]
            np.testing.assert_allclose(arm.grip.offset, told["grip"]["offset"], **far)
        contacts = arm.contacts()
        kinds = [ObjectKind(kind).label for kind in contacts.kinds.tolist()]
        touched = zip(contacts.segments.tolist(), contacts.objects.tolist(), kinds, strict=True)
        assert list(touched) == [tuple(contact[:3]) for contact in told["contacts"]]
        points = np.array([contact[3] for contact in told["contacts"]]).reshape(-1, 2)
        np.testing.assert_allclose(contacts.points, points, **far)
    objects = list(octopus.objects)
    assert [(thing.number, thing.kind.label, thing.radius) for thing in objects] == [
        (number, kind, radius) for number, _, kind, radius in record["objects"]
    ]
    places = np.array([place for _, place, _, _ in record["objects"]]).reshape(-1, 2)
    np.testing.assert_allclose(octopus.objects.positions, places, **far)
    assert [[capture.arm, capture.object, capture.seconds] for capture in octopus.captures] == (
        record["captures"]
    )


@settings(max_examples=TWICE)
@given(all_stories())
def test_every_step_is_that_of_the_plain_stepper(story: Story):
    plain = plain_stepper.PlainOctopus.from_scene(story.scene)

    def also(event, dt):
        if event is None:
            plain.step(dt)
        else:
            plain.apply_event(event)

    assert_alike(plain.snapshot(), story.octopus(), 1e-12)
    for frame in play(story, also=also):
        assert_alike(plain.snapshot(), frame.octopus, 1e-9)
        for arm, told in zip(frame.octopus.arms, plain._arms.values(), strict=True):
            messages = np.array(told.messages)
            scale = frame.octopus.rules.unit
            np.testing.assert_allclose(arm.requests, messages[:, :2], rtol=0, atol=1e-9 * scale)
            turn = arm.request_headings - messages[:, 2]
            np.testing.assert_allclose(np.sin(turn / 2.0), 0.0, atol=1e-9)
            assert arm.dwell == told.dwell
            assert (arm.blocked, arm.avoiding) == (told.blocked, told.avoiding)


@given(all_stories(metres=False))
def test_in_metres_with_y_up_the_mirror_image_moves(story: Story):
    mirrored = story.mirrored()
    for mine, yours in zip(play(story), play(mirrored), strict=True):
        for arm, image in zip(mine.octopus.arms, yours.octopus.arms, strict=True):
            turn = arm.angles + image.angles
            turn[0] = wrap(float(turn[0]))
            np.testing.assert_allclose(turn, 0.0, atol=1e-9)
            image_joints = image.joints * (1000.0, -1000.0)
            np.testing.assert_allclose(arm.joints, image_joints, rtol=0, atol=1e-6)
            assert arm.state == image.state
            assert (arm.grip is None) == (image.grip is None)
            contacts, image_contacts = arm.contacts(), image.contacts()
            assert contacts.segments.tolist() == image_contacts.segments.tolist()
            assert contacts.objects.tolist() == image_contacts.objects.tolist()
        assert [(capture.arm, capture.object) for capture in mine.octopus.captures] == [
            (capture.arm, capture.object) for capture in yours.octopus.captures
        ]


# -------------------------------------------------------------------------- the stories themselves


def told(strategy, wanted: tuple[str, ...]) -> None:
    """Listen to stories until everything that is wanted has happened in one."""
    seen: Counter[str] = Counter()

    @settings(max_examples=max(TWICE, 100))
    @given(strategy)
    def listen(story: Story) -> None:
        for frame in play(story):
            obstacles = obstacles_of(frame.objects)
            for before, arm in zip(frame.arms, frame.octopus.arms, strict=True):
                seen[arm.state] += 1
                if before.held is not None:
                    seen["held and blocked"] += arm.blocked
                    seen["carried"] += not np.array_equal(before.angles, arm.angles)
                elif len(obstacles) and not np.array_equal(before.angles, arm.angles):
                    room = gaps(before.joints, obstacles) - obstacles[:, 2]
                    seen["moved by an obstacle"] += room.min() < 11.0 * frame.octopus.rules.unit
            sought = [arm.candidate.object for arm in frame.octopus.arms if arm.candidate]
            seen["sought by two"] += len(sought) > len(set(sought))

    listen()
    assert not [what for what in wanted if not seen[what]], seen


def test_there_are_stories_of_grasping_carrying_and_rivalry():
    wanted = ("Grasping", "Holding", "Carrying", "carried", "held and blocked", "sought by two")
    told(stories(about="food"), wanted)


def test_there_are_stories_of_detours_and_dead_ends():
    told(stories(about="detours"), ("Avoiding", "Blocked", "moved by an obstacle"))


def test_there_are_stories_of_everyday_life():
    told(stories(), ("Idle", "Contact", "Reaching", "Blocked"))


def test_a_story_applies_its_edits():
    scene = {
        "version": 1,
        "name": "edits",
        "units": "pixel",
        "layout": "listed",
        "body": [0, 0],
        "food": [],
        "obstacles": [],
        "hazards": [],
        "arms": [{"number": 4, "base": [0, 0], "heading_degrees": 0}],
    }
    edits = ((1, "food", 0, (500.0, 0.0), 5.0), (2, "reach", 0, (90.0, 9.0), 0.0))
    frames = [
        (len(frame.objects), frame.octopus.arms[0].active)
        for frame in play(Story(scene, edits, (TICK, TICK)))
    ]
    assert frames == [(1, False), (1, True)]
    octopus = Story(scene, (), ()).octopus()
    apply(octopus, {"arm": 4, "reach": [1.0, 2.0]})
    assert octopus.arm(4).target.tolist() == [1.0, 2.0]
