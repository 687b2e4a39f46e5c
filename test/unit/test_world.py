"""The authority on objects: edits, lifetimes, events, claims, and arms that vanish."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.geometry import forward_kinematics
from octo_reach.model.scene import ObjectKind
from octo_reach.scenes import parse_scene
from octo_reach.scenes.arm_feed import ArmFeed
from octo_reach.scenes.document import Event, NewObject
from octo_reach.scenes.world import (
    LARGEST_NUMBER,
    MOST_OBJECTS,
    ClaimAnswer,
    FullSceneError,
    SceneAuthority,
)

FOOD, OBSTACLE, HAZARD = ObjectKind.FOOD, ObjectKind.OBSTACLE, ObjectKind.HAZARD
PARAMETERS = ArmParameters(segment_count=4, segment_length=0.05)
BASES = {1: (0.1, -0.2), 2: (0.5, 0.0)}
BENT = np.array([0.4, 0.3, -0.2, 0.5])


def document(events=()):
    return parse_scene(
        {
            "version": 1,
            "name": "Tank",
            "units": "metre",
            "food": [{"position": [0.2, 0.1], "radius": 0.01}],
            "obstacles": [{"position": [0.3, 0.0], "radius": 0.02}],
            "hazards": [{"position": [-0.1, 0.3], "radius": 0.03}],
            "events": list(events),
        }
    )


@pytest.fixture
def feed():
    return ArmFeed(ArmPlacement(number, PARAMETERS, base) for number, base in BASES.items())


@pytest.fixture
def world(feed):
    """A world that has just heard of two arms."""
    world = SceneAuthority(document(), feed)
    hear(world, 0.0)
    return world


def hear(world, now, **angles):
    poses = {1: BENT.copy(), 2: BENT.copy()}
    poses.update({int(name.removeprefix("arm_")): pose for name, pose in angles.items()})
    return world.hear_angles(poses, now, now)


def numbers(world):
    return [thing.number for thing in world.objects]


def expected_place(arm, segment, offset, angles=BENT):
    joints, headings = forward_kinematics(BASES[arm], PARAMETERS.segment_length, angles)
    heading = headings[segment - 1]
    turn = np.array(
        [[math.cos(heading), -math.sin(heading)], [math.sin(heading), math.cos(heading)]]
    )
    return tuple(joints[segment] + turn @ np.array(offset))


# What the file says


def test_a_world_starts_as_its_file(world):
    assert numbers(world) == [1, 2, 3]
    assert world.kinds == {1: FOOD, 2: OBSTACLE, 3: HAZARD}
    assert world[1].position == (0.2, 0.1)
    assert world[3].radius == 0.03
    assert not world.carrying


def test_reset_undoes_every_edit_and_every_grip(world):
    world.put(FOOD, 1, (1.0, 1.0), 0.5)
    world.put(OBSTACLE, 40, (1.0, 1.0), 0.5)
    world.remove(3)
    world.claim(OBSTACLE, 2, (1, 2), (0.0, 0.0), 0.0)
    world.reset()
    assert numbers(world) == [1, 2, 3]
    assert (world[1].position, world[1].radius) == ((0.2, 0.1), 0.01)
    assert world[2].holder is None
    assert world.apply(Event(1, add=NewObject(FOOD, (0.0, 0.0), 0.01))) == 4


# Edits


def test_putting_an_object_that_is_there_replaces_it(world):
    assert world.put(FOOD, 1, (0.5, 0.6), 0.02) is None
    assert numbers(world) == [1, 2, 3]
    assert (world[1].position, world[1].radius) == ((0.5, 0.6), 0.02)


def test_an_object_is_only_removed_under_its_own_kind(world):
    assert not world.remove(1, OBSTACLE)
    assert not world.remove(9, FOOD)
    assert world.remove(1, FOOD)
    assert numbers(world) == [2, 3]


@pytest.mark.parametrize(
    ("kind", "number", "position", "radius", "problem"),
    [
        (OBSTACLE, 1, (0.0, 0.0), 0.1, "object number 1 belongs to food 1, got it for obstacle"),
        (FOOD, 0, (0.0, 0.0), 0.1, "between 1 and"),
        (FOOD, LARGEST_NUMBER + 1, (0.0, 0.0), 0.1, "between 1 and"),
        (FOOD, 9, (math.nan, 0.0), 0.1, "must be finite"),
        (FOOD, 9, (0.0, -math.inf), 0.1, "must be finite"),
    ],
)
def test_a_bad_edit_is_refused_and_changes_nothing(world, kind, number, position, radius, problem):
    before, version = world.objects, world.version
    with pytest.raises(ValueError, match=problem):
        world.put(kind, number, position, radius)
    assert (world.objects, world.version) == (before, version)


def test_a_world_takes_only_so_many_objects_but_those_there_can_still_be_moved(world):
    for number in range(4, MOST_OBJECTS + 1):
        world.put(OBSTACLE, number, (0.0, 0.0), 0.01)
    with pytest.raises(FullSceneError, match=f"at most {MOST_OBJECTS}"):
        world.put(OBSTACLE, MOST_OBJECTS + 1, (0.0, 0.0), 0.01)
    world.put(OBSTACLE, MOST_OBJECTS, (1.0, 0.0), 0.01)
    assert len(world) == MOST_OBJECTS


def test_every_change_and_nothing_else_raises_the_version(world):
    versions = [world.version]
    for change in (
        lambda: world.put(FOOD, 1, (0.3, 0.3), 0.01),
        lambda: world.claim(FOOD, 1, (1, 2), (0.0, 0.0), 0.0),
        lambda: world.let_go(FOOD, 1, (0.3, 0.3)),
        lambda: world.remove(1),
        world.clear,
        world.reset,
    ):
        change()
        versions.append(world.version)
    assert versions == sorted(set(versions))
    world.remove(77)
    world.expire(1e9)
    world.drop_silent(0.5)
    world.let_go(FOOD, 1, (0.0, 0.0))
    world.claim(FOOD, 77, (1, 2), (0.0, 0.0), 0.0)
    hear(world, 0.1)
    assert world.version == versions[-1]


def test_an_object_goes_when_its_lifetime_is_over_out_of_a_hand_too(world):
    world.put(FOOD, 5, (0.0, 0.0), 0.01, expires=2.0)
    world.claim(FOOD, 5, (1, 2), (0.0, 0.0), 0.0)
    assert world.expire(1.9) == []
    assert [thing.number for thing in world.expire(2.0)] == [5]
    assert numbers(world) == [1, 2, 3]


def test_an_edit_without_lifetime_lets_a_mortal_object_stay(world):
    world.put(FOOD, 5, (0.0, 0.0), 0.01, expires=2.0)
    world.put(FOOD, 5, (0.0, 0.0), 0.01)
    assert world.expire(1e9) == []


# Events


def test_an_added_object_takes_the_next_number_that_was_never_used(world):
    world.put(FOOD, 9, (0.0, 0.0), 0.01)
    world.remove(9)
    assert world.apply(Event(1, add=NewObject(FOOD, (0.0, 0.0), 0.01))) == 10


def test_later_events_mean_the_object_the_file_means_whatever_number_it_got(feed):
    events = [
        {"tick": 1, "add": {"kind": "food", "position": [0.5, 0.5], "radius": 0.01}},
        {"tick": 2, "move": 4, "position": [0.6, 0.6]},
        {"tick": 3, "remove": 4},
    ]
    scene = document(events)
    world = SceneAuthority(scene, feed)
    # Somebody else was quicker and has taken the number.
    world.put(OBSTACLE, 4, (0.9, 0.9), 0.01)
    assert [world.apply(event) for event in scene.events[:2]] == [5, 5]
    assert world[5].position == (0.6, 0.6)
    assert world.apply(scene.events[2]) == 5
    assert numbers(world) == [1, 2, 3, 4]
    assert world[4].position == (0.9, 0.9)


def test_an_event_about_an_object_that_is_gone_changes_nothing(world):
    world.remove(2)
    version = world.version
    assert world.apply(Event(1, move=(2, (0.0, 0.0)))) is None
    assert world.apply(Event(1, remove=2)) is None
    assert world.version == version


def test_numbers_start_over_where_none_is_left(world):
    world.put(FOOD, LARGEST_NUMBER, (0.0, 0.0), 0.01)
    assert world.apply(Event(1, add=NewObject(FOOD, (0.0, 0.0), 0.01))) == 4


def test_an_event_takes_a_held_object_out_of_the_hand(world):
    world.claim(FOOD, 1, (1, 2), (0.0, 0.0), 0.0)
    world.apply(Event(1, move=(1, (0.7, 0.7))))
    assert (world[1].position, world[1].holder) == ((0.7, 0.7), None)


# Claims


def test_the_first_claim_for_a_free_object_is_granted_and_every_other_arms_refused(world):
    assert world.claim(FOOD, 1, (1, 3), (0.01, 0.0), 0.0) is ClaimAnswer.GRANTED
    assert world.claim(FOOD, 1, (2, 3), (0.01, 0.0), 0.0) is ClaimAnswer.TAKEN
    assert world.claim(FOOD, 1, (1, 3), (0.01, 0.0), 0.0) is ClaimAnswer.KEPT
    assert (world[1].holder, world[1].offset) == ((1, 3), (0.01, 0.0))
    assert [thing.number for thing in world.held] == [1]


def test_an_arm_may_shift_its_own_grip(world):
    world.claim(FOOD, 1, (1, 3), (0.01, 0.0), 0.0)
    assert world.claim(FOOD, 1, (1, 4), (0.0, 0.02), 0.0) is ClaimAnswer.GRANTED
    assert (world[1].holder, world[1].offset) == ((1, 4), (0.0, 0.02))


def test_a_claim_for_an_object_that_is_gone_or_another_kind_is_refused(world):
    assert world.claim(FOOD, 9, (1, 3), (0.0, 0.0), 0.0) is ClaimAnswer.GONE
    assert world.claim(FOOD, 2, (1, 3), (0.0, 0.0), 0.0) is ClaimAnswer.GONE
    assert world[2].holder is None


def test_what_is_let_go_lies_where_its_arm_says_and_may_be_claimed_again(world):
    world.claim(FOOD, 1, (1, 3), (0.01, 0.0), 0.0)
    assert world.let_go(FOOD, 1, (0.4, 0.4)) == 1
    assert (world[1].position, world[1].holder) == ((0.4, 0.4), None)
    assert world.claim(FOOD, 1, (2, 3), (0.01, 0.0), 0.0) is ClaimAnswer.GRANTED


def test_letting_go_again_what_lies_already_moves_nothing(world):
    world.claim(FOOD, 1, (1, 3), (0.01, 0.0), 0.0)
    world.let_go(FOOD, 1, (0.4, 0.4))
    world.put(FOOD, 1, (0.8, 0.8), 0.01)
    assert world.let_go(FOOD, 1, (0.4, 0.4)) is None
    assert world[1].position == (0.8, 0.8)


def test_an_arm_cannot_let_go_what_another_one_holds(world):
    world.claim(FOOD, 1, (2, 3), (0.01, 0.0), 0.0)
    assert world.let_go(FOOD, 1, (0.4, 0.4), arm=1) is None
    assert world[1].holder == (2, 3)
    assert world.let_go(FOOD, 1, (0.4, 0.4), arm=2) == 2


@pytest.mark.parametrize(
    "edit",
    [
        lambda world: world.put(FOOD, 1, (0.7, 0.7), 0.01),
        lambda world: world.apply(Event(1, move=(1, (0.7, 0.7)))),
        lambda world: world.reset(),
        lambda world: (world.remove(1), world.put(FOOD, 1, (0.7, 0.7), 0.01)),
        lambda world: (world.clear(), world.put(FOOD, 1, (0.7, 0.7), 0.01)),
        lambda world: world.drop_silent(5.0),
    ],
    ids=["put", "event", "reset", "removed and put", "cleared and put", "silence"],
)
def test_a_grip_that_was_ended_from_outside_is_not_granted_by_repeating_it(world, edit):
    world.claim(FOOD, 1, (1, 3), (0.01, 0.0), 0.0)
    edit(world)
    assert world[1].holder is None
    assert world.claim(FOOD, 1, (1, 3), (0.01, 0.0), 0.0) is ClaimAnswer.REVOKED
    # A grip of another arm, or a new one, is another matter.
    assert world.claim(FOOD, 1, (1, 3), (0.0, 0.01), 0.0) is ClaimAnswer.GRANTED


@pytest.mark.parametrize(
    "say",
    [
        lambda world: world.let_go(FOOD, 1, (0.1, 0.1)),
        lambda world: world.let_go(FOOD, 1, (0.1, 0.1), arm=1),
        lambda world: world.let_go_all(1),
        lambda world: world.let_go_all(),
    ],
)
def test_a_grip_that_was_ended_from_outside_may_come_back_once_the_arm_has_let_go(world, say):
    world.claim(FOOD, 1, (1, 3), (0.01, 0.0), 0.0)
    world.put(FOOD, 1, (0.7, 0.7), 0.01)
    say(world)
    assert world[1].position == (0.7, 0.7)
    assert world.claim(FOOD, 1, (1, 3), (0.01, 0.0), 0.0) is ClaimAnswer.GRANTED


# Arms that move, start anew or vanish


def test_a_held_object_is_where_its_segment_carries_it(world):
    world.claim(FOOD, 1, (1, 3), (0.01, 0.02), 0.0)
    assert world.position_of(1) == pytest.approx(expected_place(1, 3, (0.01, 0.02)), abs=1e-12)
    turned = BENT + 0.01
    hear(world, 0.01, arm_1=turned)
    assert world.position_of(1) == pytest.approx(
        expected_place(1, 3, (0.01, 0.02), turned), abs=1e-12
    )


def test_what_an_arm_held_lies_where_it_is_when_a_controller_starts(world):
    world.claim(FOOD, 1, (1, 4), (0.01, 0.02), 0.0)
    world.claim(OBSTACLE, 2, (2, 1), (0.0, 0.0), 0.0)
    freed = world.let_go_all(1)
    assert [thing.number for thing in freed] == [1]
    assert freed[0].holder == (1, 4)
    assert world[1].position == pytest.approx(expected_place(1, 4, (0.01, 0.02)), abs=1e-12)
    assert world[2].holder == (2, 1)
    assert [thing.number for thing in world.let_go_all()] == [2]


def test_what_a_silent_arm_holds_lies_where_it_is_after_a_second(world):
    world.claim(FOOD, 1, (1, 4), (0.0, 0.0), 0.0)
    world.claim(OBSTACLE, 2, (2, 4), (0.0, 0.0), 0.0)
    for tenth in range(1, 16):
        world.hear_angles({2: BENT}, tenth / 10, tenth / 10)
        freed = world.drop_silent(tenth / 10)
        assert [thing.number for thing in freed] == ([1] if tenth == 11 else [])
    assert world[1].position == pytest.approx(expected_place(1, 4, (0.0, 0.0)), abs=1e-12)
    assert world[2].holder == (2, 4)


def test_a_claim_by_an_arm_that_is_never_heard_of_is_over_after_a_second(feed):
    world = SceneAuthority(document(), feed)
    world.claim(FOOD, 1, (1, 4), (0.0, 0.0), 5.0)
    assert world.drop_silent(5.9) == []
    assert [thing.number for thing in world.drop_silent(6.1)] == [1]
    # Nobody knows where the arm was, so it lies where it was taken.
    assert world[1].position == (0.2, 0.1)


def test_an_arm_that_comes_back_in_another_pose_drops_what_it_held_where_it_was(world):
    world.claim(FOOD, 1, (1, 4), (0.0, 0.0), 0.0)
    freed = hear(world, 0.6, arm_1=-2.0 * BENT)
    assert [thing.number for thing in freed] == [1]
    assert world[1].position == pytest.approx(expected_place(1, 4, (0.0, 0.0)), abs=1e-12)


def test_an_arm_that_stood_still_for_a_moment_keeps_what_it_holds(world):
    world.claim(FOOD, 1, (1, 4), (0.0, 0.0), 0.0)
    assert hear(world, 0.6, arm_1=BENT + 0.1) == []
    assert world[1].holder == (1, 4)


# Whatever happens


OBJECTS = st.sampled_from([(1, FOOD), (2, OBSTACLE), (3, HAZARD), (4, FOOD)])
PLACES = st.tuples(st.floats(-1, 1), st.floats(-1, 1))
HOLDERS = st.tuples(st.sampled_from([1, 2]), st.integers(1, 4))
POSES = st.lists(st.floats(-3, 3), min_size=4, max_size=4)
DEEDS = st.one_of(
    st.tuples(st.just("put"), OBJECTS, PLACES),
    st.tuples(st.just("remove"), OBJECTS),
    st.tuples(st.just("claim"), OBJECTS, HOLDERS, PLACES),
    st.tuples(st.just("let go"), OBJECTS, PLACES, st.sampled_from([None, 1, 2])),
    st.tuples(st.just("let go all"), st.sampled_from([None, 1, 2])),
    st.tuples(st.just("hear"), st.sampled_from([1, 2]), POSES),
    st.tuples(st.just("wait"), st.floats(0.0, 1.5)),
    st.tuples(st.just("reset")),
    st.tuples(st.just("clear")),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(DEEDS, max_size=30))
def test_whatever_happens_an_object_has_one_place_and_a_granted_claim_stands(deeds):
    feed = ArmFeed(ArmPlacement(number, PARAMETERS, base) for number, base in BASES.items())
    world = SceneAuthority(document(), feed)
    now = 0.0
    for name, *values in deeds:
        before = {thing.number: thing for thing in world.objects}
        if name == "put":
            (number, kind), place = values
            world.put(kind, number, place, 0.01)
            assert (world[number].position, world[number].holder) == (place, None)
        elif name == "remove":
            assert world.remove(values[0][0]) == (values[0][0] in before)
        elif name == "claim":
            (number, kind), holder, offset = values
            answer = world.claim(kind, number, holder, offset, now)
            if answer.refused:
                assert {thing.number: thing for thing in world.objects} == before
            else:
                assert (world[number].holder, world[number].offset) == (holder, offset)
                assert before[number].holder is None or before[number].holder[0] == holder[0]
        elif name == "let go":
            (number, kind), place, arm = values
            if world.let_go(kind, number, place, arm) is not None:
                assert world[number].position == place
        elif name == "let go all":
            world.let_go_all(values[0])
        elif name == "hear":
            world.hear_angles({values[0]: np.array(values[1])}, now, now)
        elif name == "wait":
            now += values[0]
            world.drop_silent(now)
        else:
            getattr(world, name)()
        for thing in world.objects:
            assert all(map(math.isfinite, (*thing.position, *world.position_of(thing.number))))
            assert thing.holder is not None or thing.offset == (0.0, 0.0)
