import math
from dataclasses import replace

import numpy as np
import pytest

from octo_reach.model.arm import ArmParameters, ArmPlacement, default_target, initial_angles
from octo_reach.model.grasping import Capture
from octo_reach.model.octopus import Octopus, UnknownArmError, compile_kernels
from octo_reach.model.reach import Planner
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind, SceneObject, UnknownObjectError

PIXEL = ReachRules.pixel()
STRAIGHT = replace(PIXEL, initial_curve=0.0)
TICK = 1.0 / 120.0
FAR = (60.0, 300.0)
THERE = (20.0, 22.0)
"""A place the arm of `holding` can bring its object to."""
FOOD, OBSTACLE, HAZARD = ObjectKind.FOOD, ObjectKind.OBSTACLE, ObjectKind.HAZARD


def one_arm(target=FAR, rules=STRAIGHT, planner=None, **parameters) -> Octopus:
    parameters = {"segment_count": 6, "segment_length": 10.0} | parameters
    placement = ArmPlacement(1, ArmParameters(**parameters), target=target)
    return Octopus([placement], rules, None if planner is None else {1: planner})


def holding(target=FAR) -> Octopus:
    """An arm along the x axis that holds object 1, food at (30, 2)."""
    octopus = one_arm(target)
    octopus.add_object(FOOD, (30.0, 2.0), 1.0)
    run(octopus, 30)
    assert octopus.owners == {1: 1}
    return octopus


def run(octopus: Octopus, steps: int, dt: float = TICK) -> None:
    for _ in range(steps):
        octopus.step(dt)


class Counting(Planner):
    """A planner that holds its arm and counts how often it is told to start anew."""

    name = "counting"
    note = "counting resets"
    gated = False

    def __init__(self):
        self.resets = 0

    def propose(self, arm, target, obstacles, dt):
        return None

    def reset(self):
        self.resets += 1


class Insisting(Counting):
    """One that wants its arm to be where it is."""

    def propose(self, arm, target, obstacles, dt):
        return arm.angles.copy()


# ------------------------------------------------------------------------------- the beginning


def test_arms_stand_in_their_starting_pose_in_the_order_of_their_numbers():
    parameters = ArmParameters(5, 12.0)
    octopus = Octopus(
        [
            ArmPlacement(4, parameters, (3.0, 4.0), 0.5),
            ArmPlacement(2, ArmParameters(9), target=(1.0, 2.0)),
        ],
        PIXEL,
    )
    assert octopus.numbers == (2, 4)
    assert [arm.number for arm in octopus.arms] == [2, 4]
    arm = octopus.arm(4)
    assert arm.index == 1
    assert arm.parameters == parameters
    assert arm.base.tolist() == [3.0, 4.0]
    assert arm.initial_heading == 0.5
    assert arm.angles.tolist() == initial_angles(parameters, 0.5, PIXEL).tolist()
    assert arm.joints.shape == (6, 2)
    assert arm.headings.shape == arm.request_headings.shape == arm.steered.shape == (5,)
    assert arm.requests.tolist() == arm.joints[:-1].tolist()
    assert arm.request_headings.tolist() == arm.headings.tolist()
    assert arm.goals.tolist() == arm.joints[1:].tolist()
    assert arm.tip.tolist() == arm.joints[-1].tolist()
    assert (octopus.time, octopus.ticks, octopus.captures, octopus.owners) == (0.0, 0, [], {})


def test_an_arm_without_a_target_is_idle_and_shows_the_default_one():
    octopus = Octopus([ArmPlacement(1, ArmParameters(), (1.0, 2.0), 0.5)], PIXEL)
    assert not octopus.arm(1).active
    assert octopus.arm(1).state == "Idle"
    assert octopus.arm(1).target.tolist() == list(default_target((1.0, 2.0), 0.5, PIXEL))


def test_there_may_be_no_arms_at_all():
    octopus = Octopus([], PIXEL)
    octopus.add_object(FOOD, (0.0, 0.0), 1.0)
    octopus.step(TICK)
    assert octopus.arms == ()
    assert len(octopus.contacts) == 0


def test_two_arms_cannot_share_a_number():
    with pytest.raises(ValueError, match=r"arm numbers must be unique, got \[3, 3\]"):
        Octopus([ArmPlacement(3, ArmParameters())] * 2, PIXEL)


def test_a_planner_for_an_arm_there_is_not_is_refused():
    with pytest.raises(UnknownArmError, match="no arm has the number 5; there are: 1"):
        Octopus([ArmPlacement(1, ArmParameters())], PIXEL, {5: Counting()})


def test_an_unknown_arm_is_told_with_those_there_are():
    octopus = Octopus([ArmPlacement(n, ArmParameters()) for n in (2, 7)], PIXEL)
    with pytest.raises(UnknownArmError) as caught:
        octopus.arm(3)
    assert isinstance(caught.value, KeyError)
    assert str(caught.value) == "no arm has the number 3; there are: 2, 7"
    for act in (octopus.idle, octopus.release, octopus.retract, octopus.reset):
        with pytest.raises(UnknownArmError):
            act(3)
    with pytest.raises(UnknownArmError):
        octopus.reach(3, (0.0, 0.0))
    with pytest.raises(UnknownArmError):
        octopus.set_planner([], None)
    with pytest.raises(UnknownArmError, match="there are: none"):
        Octopus([], PIXEL).arm(1)


def test_nobody_writes_through_a_view():
    arm = one_arm().arm(1)
    for name in ("angles", "joints", "headings", "tip", "base", "target", "destination"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(arm, name)[0] = 1.0
    for name in ("requests", "request_headings", "goals", "steered"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(arm, name)[0] = 1.0


# ------------------------------------------------------------------------------------- time


def test_time_is_the_sum_of_the_steps():
    octopus = one_arm()
    for dt in (0.25, 0.125, 1):
        octopus.step(dt)
    assert octopus.time == 1.375
    assert octopus.ticks == 3


def test_no_time_does_nothing():
    octopus = one_arm()
    before = octopus.arm(1).requests.copy()
    assert octopus.step(0.0) == []
    assert (octopus.time, octopus.ticks, octopus.arm(1).updates) == (0.0, 0, 0)
    assert octopus.arm(1).requests.tobytes() == before.tobytes()


@pytest.mark.parametrize("dt", [-TICK, math.nan, math.inf, -math.inf, "1", None, True])
def test_a_duration_that_is_none_is_refused_and_changes_nothing(dt):
    octopus = one_arm()
    before = octopus.arm(1).angles.copy()
    with pytest.raises(ValueError, match=r"^dt must"):
        octopus.step(dt)
    assert (octopus.time, octopus.ticks, octopus.arm(1).updates) == (0.0, 0, 0)
    assert octopus.arm(1).angles.tobytes() == before.tobytes()


def test_a_step_of_a_year_keeps_to_the_limits():
    octopus = one_arm(target=(0.0, 50.0))
    octopus.add_object(OBSTACLE, (30.0, 30.0), 5.0)
    octopus.step(3e7)
    assert np.all(np.abs(octopus.arm(1).angles[1:]) <= octopus.arm(1).parameters.maximum_bend)


# ------------------------------------------------------------------------------- assignments


def test_reach_sends_the_tip():
    octopus = one_arm(target=None)
    octopus.reach(1, np.array([50.0, 20.0]))
    arm = octopus.arm(1)
    assert arm.active
    assert arm.target.tolist() == arm.destination.tolist() == [50.0, 20.0]
    run(octopus, 240)
    assert arm.state == "Reached"
    assert arm.tip_error <= 2.0
    assert arm.tip_error == pytest.approx(math.dist(arm.tip, arm.target))


@pytest.mark.parametrize(
    "position", [(math.nan, 0.0), (0.0, math.inf), (1.0,), (1.0, 2.0, 3.0), "ab", None, 5.0]
)
def test_a_position_that_is_none_is_refused_and_changes_nothing(position):
    octopus = one_arm(target=None)
    target = octopus.arm(1).target.copy()
    with pytest.raises(ValueError, match="target of arm 1 must"):
        octopus.reach(1, position)
    assert not octopus.arm(1).active
    assert octopus.arm(1).target.tobytes() == target.tobytes()


def test_a_new_target_keeps_the_requests_under_way():
    octopus = one_arm()
    run(octopus, 5)
    requests = octopus.arm(1).requests.copy()
    octopus.reach(1, (-50.0, 0.0))
    assert octopus.arm(1).requests.tobytes() == requests.tobytes()


def test_idle_keeps_the_pose_and_the_grip():
    octopus = holding()
    octopus.reach(1, (0.0, 40.0))
    run(octopus, 10)
    octopus.idle(1)
    angles = octopus.arm(1).angles.copy()
    run(octopus, 10)
    assert octopus.arm(1).angles.tobytes() == angles.tobytes()
    assert octopus.arm(1).grip is not None
    assert octopus.arm(1).state == "Holding"


def test_idle_clears_what_was_shown_of_the_last_assignment():
    octopus = one_arm(target=FAR)
    octopus.add_object(OBSTACLE, FAR, 5.0)
    octopus.step(TICK)
    assert octopus.arm(1).blocked
    octopus.idle(1)
    assert not octopus.arm(1).blocked
    assert octopus.arm(1).state == "Idle"


def test_a_held_object_is_carried_to_the_destination_and_held_there():
    octopus = holding()
    octopus.reach(1, THERE)
    assert octopus.arm(1).state == "Carrying"
    run(octopus, 600)
    arm = octopus.arm(1)
    assert arm.state == "Holding"
    assert math.dist(octopus.objects.at(0).position, THERE) <= 2.0
    assert octopus.captures == [Capture(1, 1, octopus.captures[0].seconds)]


def test_an_object_at_its_destination_is_held_at_once():
    octopus = holding()
    octopus.reach(1, (31.9, 2.0))
    angles = octopus.arm(1).angles.copy()
    octopus.step(TICK)
    assert not octopus.arm(1).active
    assert octopus.arm(1).angles.tobytes() == angles.tobytes()
    octopus.reach(1, (32.1, 2.0))
    octopus.step(TICK)
    assert octopus.arm(1).active


def test_a_carried_object_does_not_pass_through_an_obstacle():
    octopus = holding()
    octopus.add_object(OBSTACLE, (29.0, 12.0), 2.0)
    octopus.reach(1, THERE)
    refused = 0
    for _ in range(240):
        octopus.step(TICK)
        refused += octopus.arm(1).blocked
        assert math.dist(octopus.objects.at(0).position, (29.0, 12.0)) >= 3.0 - 1e-6
    assert refused > 0


def test_a_large_payload_is_stopped_by_an_obstacle_far_beyond_the_arm():
    octopus = Octopus([ArmPlacement(1, ArmParameters(4, 10.0), target=(35.0, 0.0))], PIXEL)
    octopus.add_object(FOOD, (98.0, 0.0), 70.0)
    octopus.add_object(OBSTACLE, (0.0, 170.0), 20.0)
    run(octopus, 60)
    assert octopus.owners == {1: 1}
    octopus.reach(1, (0.0, 110.0))
    blocked = 0
    for _ in range(240):
        octopus.step(TICK)
        blocked += octopus.arm(1).blocked
        assert math.dist(octopus.objects.at(0).position, (0.0, 170.0)) >= 90.0 - 1e-6
    assert blocked > 0


def test_retract_brings_the_object_home():
    octopus = Octopus([ArmPlacement(1, ArmParameters(8, 10.0), target=FAR)], STRAIGHT)
    octopus.add_object(FOOD, (60.0, 2.0), 1.0)
    run(octopus, 30)
    assert octopus.retract(1) is True
    assert octopus.arm(1).destination.tolist() == [40.0, 0.0]
    assert octopus.arm(1).state == "Retracting"
    assert octopus.arm(1).retracting
    octopus.reach(1, (50.0, 0.0))
    assert octopus.arm(1).state == "Carrying"
    assert not octopus.arm(1).retracting


def test_retract_goes_outwards_along_the_initial_heading_in_the_unit_of_the_scene():
    rules = replace(ReachRules.metre(), initial_curve=0.0)
    placement = ArmPlacement(1, ArmParameters(6, 0.01), (0.1, 0.2), math.pi / 2.0, (0.5, 0.5))
    octopus = Octopus([placement], rules)
    octopus.add_object(FOOD, (0.1, 0.23), 0.001)
    run(octopus, 30)
    assert octopus.retract(1)
    assert octopus.arm(1).destination == pytest.approx([0.1, 0.24])


def test_retract_without_a_grip_does_nothing():
    octopus = one_arm(target=None)
    target = octopus.arm(1).target.tolist()
    assert octopus.retract(1) is False
    assert not octopus.arm(1).active
    assert octopus.arm(1).target.tolist() == target


def test_release_leaves_the_object_where_it_is():
    octopus = holding()
    octopus.reach(1, THERE)
    run(octopus, 40)
    place = octopus.objects.at(0).position
    assert octopus.release(1) == 1
    arm = octopus.arm(1)
    assert (arm.grip, arm.active, octopus.owners) == (None, False, {})
    run(octopus, 10)
    assert octopus.objects.at(0).position == place
    assert octopus.release(1) is None


# ------------------------------------------------------------------------------------- reset


def test_reset_rebuilds_the_starting_pose_with_fresh_requests():
    octopus = one_arm(rules=PIXEL)
    start = octopus.arm(1).angles.copy()
    run(octopus, 60)
    octopus.reset(1)
    arm = octopus.arm(1)
    assert arm.angles.tobytes() == start.tobytes()
    assert arm.requests.tolist() == arm.joints[:-1].tolist()
    assert arm.request_headings.tolist() == arm.headings.tolist()


def test_a_reset_arm_moves_as_a_fresh_one():
    fresh, used = one_arm(rules=PIXEL), one_arm(rules=PIXEL)
    run(used, 100)
    used.reset(1)
    for _ in range(50):
        fresh.step(TICK)
        used.step(TICK)
        assert used.arm(1).angles.tobytes() == fresh.arm(1).angles.tobytes()


@pytest.mark.parametrize("active", [True, False])
def test_reset_keeps_the_target_and_whether_the_arm_is_active(active):
    octopus = one_arm()
    if not active:
        octopus.idle(1)
    octopus.reset(1)
    assert octopus.arm(1).active is active
    assert octopus.arm(1).target.tolist() == list(FAR)


@pytest.mark.parametrize("first", [FAR, None])
def test_an_arm_that_starts_over_is_as_it_was_placed_and_moves_as_it_did(first):
    octopus = one_arm(first)
    fresh = one_arm(first)
    octopus.reach(1, (-50.0, 10.0))
    run(octopus, 40)
    if first is not None:
        octopus.idle(1)
    octopus.start_over(1)
    for _ in range(60):
        arm, new = octopus.arm(1), fresh.arm(1)
        assert arm.active is new.active
        assert arm.target.tobytes() == new.target.tobytes()
        assert arm.joints.tobytes() == new.joints.tobytes()
        assert arm.requests.tobytes() == new.requests.tobytes()
        run(octopus, 1)
        run(fresh, 1)


def test_an_arm_that_starts_over_lets_go_where_the_object_is():
    octopus = holding()
    octopus.reach(1, THERE)
    run(octopus, 10)
    place = octopus.objects.at(0).position
    octopus.start_over(1)
    assert octopus.owners == {}
    assert octopus.objects.at(0).position == place
    assert octopus.arm(1).target.tolist() == list(FAR)


@pytest.mark.parametrize("end", ["reset", "release", "remove"])
def test_an_arm_that_lets_go_on_its_way_keeps_the_target_it_was_sent_to(end):
    octopus = holding()
    octopus.reach(1, THERE)
    run(octopus, 10)
    assert octopus.arm(1).target.tolist() != list(THERE)
    octopus.remove_object(1) if end == "remove" else getattr(octopus, end)(1)
    assert octopus.owners == {}
    assert octopus.arm(1).target.tolist() == octopus.arm(1).aim.tolist() == list(THERE)
    assert octopus.arm(1).active is (end == "reset")


def test_a_planner_is_told_when_its_arm_starts_over():
    planner = Counting()
    octopus = one_arm(planner=planner)
    before = planner.resets
    octopus.start_over(1)
    assert planner.resets == before + 1


def test_reset_lets_go_where_the_object_is():
    octopus = holding()
    octopus.reach(1, THERE)
    run(octopus, 40)
    place = octopus.objects.at(0).position
    octopus.reset(1)
    assert octopus.owners == {}
    assert octopus.objects.at(0).position == place


def test_reset_takes_new_geometry_longer_than_every_arm_before():
    octopus = Octopus(
        [ArmPlacement(n, ArmParameters(6, 10.0), (0.0, 500.0 * n), target=FAR) for n in (1, 2)],
        PIXEL,
    )
    octopus.add_object(OBSTACLE, (40.0, 520.0), 6.0)
    twin = Octopus(
        [
            ArmPlacement(1, ArmParameters(100, 3.0, 0.5, 2.0), (0.0, 500.0), target=FAR),
            ArmPlacement(2, ArmParameters(6, 10.0), (0.0, 1000.0), target=FAR),
        ],
        PIXEL,
    )
    twin.add_object(OBSTACLE, (40.0, 520.0), 6.0)
    run(octopus, 20)
    other = octopus.arm(2).angles.copy()
    octopus.reset(1, ArmParameters(100, 3.0, 0.5, 2.0))
    assert octopus.arm(1).parameters.segment_count == 100
    assert octopus.arm(1).joints.shape == (101, 2)
    assert octopus.arm(2).angles.tobytes() == other.tobytes()
    for _ in range(40):
        octopus.step(TICK)
        twin.step(TICK)
        assert octopus.arm(1).angles.tobytes() == twin.arm(1).angles.tobytes()


def test_a_shorter_arm_shows_nothing_of_the_longer_one_before():
    octopus = one_arm(segment_count=50)
    octopus.reset(1, ArmParameters(2, 10.0))
    arm = octopus.arm(1)
    assert arm.angles.shape == (2,)
    assert arm.tip == pytest.approx([20.0, 0.0])
    octopus.add_object(FOOD, (100.0, 0.0), 5.0)
    octopus.step(TICK)
    assert len(octopus.contacts) == 0


def test_reset_feels_the_objects_around_the_new_pose_at_once():
    octopus = one_arm()
    octopus.add_object(HAZARD, (59.0, 0.0), 1.0)
    run(octopus, 60)
    assert len(octopus.contacts) == 0
    octopus.reset(1)
    assert octopus.contacts.segments.tolist() == [6]


# ------------------------------------------------------------------------------------ objects


def test_objects_are_numbered_in_the_order_they_come_and_never_again():
    octopus = one_arm()
    assert octopus.add_object(FOOD, (0.0, 90.0), 1.0) == 1
    assert octopus.add_object(HAZARD, (0.0, 90.0), 1.0) == 2
    octopus.remove_object(2)
    assert octopus.add_object(OBSTACLE, (0.0, 90.0), 1.0) == 3
    octopus.clear_objects()
    assert len(octopus.objects) == 0
    assert octopus.add_object(FOOD, (0.0, 90.0), 1.0, number=7) == 7
    assert octopus.add_object(FOOD, (0.0, 90.0), 1.0) == 8


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((FOOD, (math.nan, 0.0), 1.0), "x of position of object 2 must be finite"),
        ((FOOD, (0.0, 0.0), 0.0), "radius of object 2 must be above 0, got 0.0"),
        ((FOOD, (0.0, 0.0), -1.0), "radius of object 2 must be above 0, got -1.0"),
        ((FOOD, (0.0, 0.0), math.inf), "radius of object 2 must be finite, got inf"),
        ((FOOD, (0.0, 0.0), "1"), "radius of object 2 must be a number, got '1'"),
        ((FOOD, (0.0, 0.0), None), "radius of object 2 must be a number, got None"),
        ((FOOD, (0.0, 0.0), 1.0, 1), "object number 1 is taken"),
        ((FOOD, (0.0, 0.0), 1.0, 0), "object number must be at least 1, got 0"),
        ((9, (0.0, 0.0), 1.0), "9 is not a valid ObjectKind"),
    ],
)
def test_an_object_that_cannot_be_is_refused_and_changes_nothing(arguments, text):
    octopus = one_arm()
    octopus.add_object(FOOD, (0.0, 90.0), 1.0)
    with pytest.raises(ValueError, match=text):
        octopus.add_object(*arguments)
    assert octopus.objects.numbers.tolist() == [1]
    assert octopus.add_object(FOOD, (0.0, 90.0), 1.0) == 2


def test_a_missing_object_can_neither_be_moved_nor_removed():
    octopus = one_arm()
    octopus.add_object(FOOD, (0.0, 90.0), 1.0)
    with pytest.raises(UnknownObjectError, match="no object has the number 5; there are: 1"):
        octopus.move_object(5, (0.0, 0.0))
    with pytest.raises(UnknownObjectError):
        octopus.remove_object(5)
    with pytest.raises(ValueError, match="position of object 1 must"):
        octopus.move_object(1, (0.0, math.nan))
    assert octopus.objects.at(0).position == (0.0, 90.0)


def test_many_arms_and_no_objects_step():
    octopus = Octopus([ArmPlacement(n, ArmParameters(), target=FAR) for n in range(1, 13)], PIXEL)
    run(octopus, 3)
    assert [arm.updates for arm in octopus.arms] == [3] * 12


def test_a_held_object_that_is_moved_is_let_go_and_does_not_snap_back():
    octopus = holding()
    octopus.reach(1, THERE)
    octopus.move_object(1, (30.0, 3.0))
    arm = octopus.arm(1)
    assert (arm.grip, arm.active, octopus.owners) == (None, False, {})
    run(octopus, 10)
    assert octopus.objects.at(0).position == (30.0, 3.0)


def test_a_held_object_that_is_moved_by_next_to_nothing_stays_held():
    octopus = holding()
    octopus.move_object(1, (30.0, 2.0 + 9e-7))
    assert octopus.owners == {1: 1}
    octopus.move_object(1, (30.0, 2.0 + 1.1e-6))
    assert octopus.owners == {}


def test_a_held_object_that_vanishes_leaves_the_arm_idle_with_nothing():
    octopus = holding()
    octopus.reach(1, THERE)
    octopus.remove_object(1)
    arm = octopus.arm(1)
    assert (arm.grip, arm.active, octopus.owners) == (None, False, {})
    run(octopus, 10)


def test_an_edit_elsewhere_keeps_every_grip_on_its_object():
    octopus = holding()
    grip = octopus.arm(1).grip
    octopus.add_object(OBSTACLE, (500.0, 0.0), 3.0)
    octopus.add_object(HAZARD, (0.0, 90.0), 3.0)
    octopus.remove_object(2)
    assert octopus.arm(1).grip == grip
    octopus.reach(1, THERE)
    run(octopus, 600)
    assert math.dist(octopus.objects.at(octopus.objects.index_of(1)).position, THERE) <= 2.0


def test_replacing_all_objects_keeps_the_grips_on_those_that_stay():
    octopus = holding()
    grip = octopus.arm(1).grip
    held = octopus.objects.at(0)
    octopus.replace_objects([SceneObject(9, OBSTACLE, (500.0, 0.0), 2.0), held])
    assert octopus.objects.numbers.tolist() == [9, 1]
    assert octopus.arm(1).grip == grip
    assert octopus.owners == {1: 1}
    octopus.reach(1, THERE)
    run(octopus, 20)
    assert octopus.objects.at(0).position == (500.0, 0.0)
    assert octopus.objects.at(1).position != held.position
    assert octopus.add_object(FOOD, (0.0, 0.0), 1.0) == 10


@pytest.mark.parametrize(
    "changed",
    [{"position": (31.0, 2.0)}, {"kind": HAZARD}, {"number": 2}],
    ids=["moved", "of another kind", "renumbered"],
)
def test_replacing_all_objects_lets_go_of_one_that_is_not_the_same(changed):
    octopus = holding()
    octopus.reach(1, THERE)
    octopus.replace_objects([replace(octopus.objects.at(0), **changed)])
    assert octopus.owners == {}
    assert octopus.arm(1).grip is None
    assert not octopus.arm(1).active


def test_a_held_object_may_change_its_size():
    octopus = holding()
    octopus.replace_objects([replace(octopus.objects.at(0), radius=5.0)])
    assert octopus.owners == {1: 1}
    assert octopus.objects.at(0).radius == 5.0


def test_a_replacement_with_a_number_twice_is_refused_and_changes_nothing():
    octopus = holding()
    twice = [SceneObject(4, FOOD, (0.0, 0.0), 1.0)] * 2
    with pytest.raises(ValueError, match=r"object numbers must be unique, got \[4, 4\]"):
        octopus.replace_objects(twice)
    assert octopus.objects.numbers.tolist() == [1]
    assert octopus.owners == {1: 1}


def test_the_same_objects_again_change_nothing():
    octopus, twin = holding(), holding()
    for one in (octopus, twin):
        one.add_object(OBSTACLE, (24.0, 22.0), 6.0)
        one.reach(1, THERE)
    for _ in range(60):
        octopus.replace_objects(list(octopus.objects))
        octopus.step(TICK)
        twin.step(TICK)
        assert octopus.arm(1).angles.tobytes() == twin.arm(1).angles.tobytes()
        assert octopus.objects.positions.tobytes() == twin.objects.positions.tobytes()


def test_an_obstacle_dropped_on_an_arm_may_not_be_pressed_in_deeper():
    octopus = one_arm(target=(0.0, 50.0))
    octopus.add_object(OBSTACLE, (30.0, 4.0), 6.0)
    depth = octopus.contacts.distances.min()
    run(octopus, 120)
    assert octopus.contacts.distances.min() >= depth - 120 * 1e-8


# ------------------------------------------------------------------------------------ planners


def test_an_arm_without_a_planner_follows_the_neighbour_rules():
    assert one_arm().arm(1).planner_name == "neighbour"
    assert one_arm().arm(1).planner_note == ""


def test_an_arm_shows_the_name_and_the_note_of_its_planner():
    octopus = one_arm(planner=Counting())
    arm = octopus.arm(1)
    assert arm.planner_name == "counting"
    assert arm.planner_note == "counting resets"
    octopus.idle(1)
    assert arm.planner_note == ""


def test_a_planner_starts_anew_with_every_assignment_and_reset():
    planner = Counting()
    octopus = one_arm(planner=planner)
    counts = [planner.resets]
    for act in (octopus.idle, octopus.release, octopus.reset):
        act(1)
        counts.append(planner.resets)
    octopus.reach(1, FAR)
    counts.append(planner.resets)
    octopus.step(TICK)
    octopus.retract(1)
    counts.append(planner.resets)
    assert counts == [1, 2, 3, 4, 5, 5]


@pytest.mark.parametrize("planned", [1, 2, 3])
def test_a_planner_of_any_arm_is_asked_and_the_others_follow_their_own_rules(planned):
    placements = [ArmPlacement(n, ArmParameters(6, 10.0), target=FAR) for n in (1, 2, 3)]
    octopus = Octopus(placements, PIXEL, {planned: Counting()})
    before = [arm.angles.copy() for arm in octopus.arms]
    run(octopus, 3)
    moved = [
        arm.number
        for arm, angles in zip(octopus.arms, before, strict=True)
        if arm.angles.tobytes() != angles.tobytes()
    ]
    assert moved == [number for number in (1, 2, 3) if number != planned]
    octopus.set_planner(planned, None)
    run(octopus, 1)
    assert octopus.arm(planned).angles.tobytes() != before[planned - 1].tobytes()


def test_a_planner_can_be_changed_on_the_way():
    octopus = one_arm()
    run(octopus, 10)
    octopus.set_planner(1, Counting())
    angles = octopus.arm(1).angles.copy()
    run(octopus, 10)
    assert octopus.arm(1).angles.tobytes() == angles.tobytes()
    octopus.set_planner(1, None)
    arm = octopus.arm(1)
    assert arm.planner_name == "neighbour"
    assert arm.requests.tolist() == arm.joints[:-1].tolist()
    run(octopus, 10)
    assert octopus.arm(1).angles.tobytes() != angles.tobytes()


def test_a_planner_without_gates_makes_way_for_the_gates_again():
    octopus = one_arm(target=(60.0, 0.0), planner=Insisting())
    octopus.step(TICK)
    assert octopus.arm(1).updates == 1
    octopus.set_planner(1, None)
    octopus.step(TICK)
    assert octopus.arm(1).updates == 1


def test_an_update_in_which_an_ungated_planner_lets_the_arm_rest_does_not_count():
    octopus = one_arm(target=(60.0, 0.0), planner=Counting())
    run(octopus, 3)
    assert octopus.arm(1).updates == 0


# -------------------------------------------------------------------------------------- state


def test_a_target_beyond_the_reach_is_named_so_in_the_end():
    octopus = one_arm(target=(61.0, 0.0))
    assert octopus.arm(1).state == "Reached"
    octopus.reach(1, (63.0, 0.0))
    assert octopus.arm(1).state == "Beyond reach"
    octopus.reach(1, (0.0, 59.0))
    assert octopus.arm(1).state == "Reaching"


def test_states_are_shown_in_their_order():
    octopus = one_arm(target=(80.0, 2.0))
    octopus.add_object(HAZARD, (30.0, 3.0), 1.0)
    assert octopus.arm(1).state == "Contact"
    octopus.add_object(OBSTACLE, (80.0, 3.0), 4.0)
    octopus.step(TICK)
    assert octopus.arm(1).state == "Blocked"
    octopus.reach(1, (90.0, 2.0))
    octopus.step(TICK)
    assert octopus.arm(1).avoiding
    assert octopus.arm(1).state == "Avoiding"
    octopus.idle(1)
    assert octopus.arm(1).state == "Contact"
    octopus.clear_objects()
    assert octopus.arm(1).state == "Idle"


def test_blocked_comes_before_carrying():
    octopus = holding()
    octopus.reach(1, THERE)
    octopus.step(TICK)
    assert octopus.arm(1).state == "Carrying"
    octopus.add_object(OBSTACLE, tuple(octopus.arm(1).joints[4] + (0.0, 4.0)), 2.0)
    octopus.step(TICK)
    assert octopus.arm(1).blocked
    assert octopus.arm(1).state == "Blocked"


def test_a_live_view_follows_the_octopus():
    octopus = one_arm()
    arm = octopus.arm(1)
    before = arm.tip.copy()
    octopus.step(TICK)
    assert arm.tip.tolist() != before.tolist()
    assert octopus.objects is octopus.objects
    octopus.add_object(FOOD, (0.0, 90.0), 1.0)
    assert octopus.objects.numbers.tolist() == [1]


def test_the_kernels_can_be_run_beforehand_without_a_word():
    compile_kernels()


def test_a_planner_that_raises_ends_no_step_halfway():
    class Failing(Planner):
        name = "failing"

        def propose(self, arm, target, obstacles, dt):
            raise ZeroDivisionError(f"arm {arm.number}")

    placements = [
        ArmPlacement(n, ArmParameters(4, 20.0), base=(500.0 * n, 0.0), target=(500.0 * n, 40.0))
        for n in (1, 2, 3, 4)
    ]
    octopus = Octopus(placements, ReachRules.pixel(), {2: Failing(), 3: Failing()})
    before = {arm.number: arm.angles.copy() for arm in octopus.arms}
    with pytest.raises(ZeroDivisionError, match="arm 2"):
        octopus.step(0.1)
    assert (octopus.time, octopus.ticks) == (0.1, 1)
    moved = [n for n in octopus.numbers if (octopus.arm(n).angles != before[n]).any()]
    assert moved == [1, 4]
