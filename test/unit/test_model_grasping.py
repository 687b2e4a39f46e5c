import math
from dataclasses import replace

import pytest

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.grasping import Candidate, Capture, Grip
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind

STRAIGHT = replace(ReachRules.pixel(), initial_curve=0.0)
TICK = 1.0 / 120.0
FAR = (60.0, 300.0)
"""A target an arm turns to and never reaches."""


def straight_octopus(*targets, heading=0.0) -> Octopus:
    """Arms of six segments of ten along the x axis, one over the other."""
    return Octopus(
        [
            ArmPlacement(number, ArmParameters(6, 10.0), (0.0, 0.0), heading, target)
            for number, target in enumerate(targets, 1)
        ],
        STRAIGHT,
    )


def run(octopus: Octopus, steps: int, dt: float = TICK) -> list[Capture]:
    return [capture for _ in range(steps) for capture in octopus.step(dt)]


# --------------------------------------------------------------------------------- candidates


def test_two_segments_in_a_row_on_food_make_a_candidate():
    octopus = straight_octopus(FAR)
    octopus.add_object(ObjectKind.FOOD, (30.0, 2.0), 1.0)
    octopus.step(TICK)
    assert octopus.arm(1).candidate == Candidate(object=1, segment=4)
    assert octopus.arm(1).dwell == TICK
    assert octopus.arm(1).state == "Grasping"


def test_of_a_longer_run_the_first_pair_counts():
    octopus = straight_octopus(FAR)
    octopus.add_object(ObjectKind.FOOD, (30.0, 2.0), 20.0)
    octopus.step(TICK)
    assert octopus.contacts.segments.tolist() == [1, 2, 3, 4, 5, 6]
    assert octopus.arm(1).candidate == Candidate(object=1, segment=2)


@pytest.mark.parametrize("kind", [ObjectKind.OBSTACLE, ObjectKind.HAZARD])
def test_only_food_is_a_candidate(kind):
    octopus = straight_octopus(FAR)
    octopus.add_object(kind, (30.0, 2.0), 1.0)
    octopus.step(TICK)
    assert octopus.arm(1).candidate is None


def test_one_segment_alone_is_no_candidate():
    octopus = straight_octopus(FAR)
    octopus.add_object(ObjectKind.FOOD, (25.0, 2.0), 0.5)
    octopus.step(TICK)
    assert octopus.arm(1).candidate is None
    assert octopus.arm(1).state == "Contact"


def test_two_segments_with_a_gap_between_them_are_no_candidate():
    # Folded to a square, the first and the last segment meet at the base.
    turn = math.pi / 2.0
    parameters = ArmParameters(4, 10.0, turn)
    rules = replace(STRAIGHT, initial_curve=turn)
    octopus = Octopus([ArmPlacement(1, parameters, target=(90.0, 90.0))], rules)
    octopus.add_object(ObjectKind.FOOD, (0.0, 0.0), 1.0)
    assert octopus.contacts.segments.tolist() == [1, 4]
    octopus.step(TICK)
    assert octopus.arm(1).candidate is None


def test_the_lowest_number_counts_whatever_the_order_of_the_scene():
    octopus = straight_octopus(FAR)
    octopus.add_object(ObjectKind.FOOD, (10.0, 0.0), 1.0, number=8)
    octopus.add_object(ObjectKind.FOOD, (50.0, 0.0), 1.0, number=3)
    octopus.step(TICK)
    assert octopus.arm(1).candidate == Candidate(object=3, segment=6)


def test_an_idle_arm_starts_no_grasp():
    octopus = straight_octopus(None)
    octopus.add_object(ObjectKind.FOOD, (30.0, 2.0), 1.0)
    assert run(octopus, 60) == []
    assert octopus.arm(1).candidate is None
    assert octopus.arm(1).state == "Contact"


# ------------------------------------------------------------------------------------- dwell


def test_a_grasp_matures_in_a_quarter_of_a_second_and_is_reported_once():
    octopus = straight_octopus(FAR)
    food = octopus.add_object(ObjectKind.FOOD, (30.0, 2.0), 1.0)
    assert run(octopus, 29) == []
    assert octopus.arm(1).grip is None
    captures = octopus.step(TICK)
    assert captures == [Capture(arm=1, object=food, seconds=octopus.time)]
    assert octopus.time == pytest.approx(0.25)
    assert run(octopus, 60) == []
    assert octopus.captures == captures


def test_the_arm_holds_its_pose_meanwhile_and_shows_no_other_trouble():
    octopus = straight_octopus(FAR)
    octopus.add_object(ObjectKind.OBSTACLE, FAR, 5.0)
    octopus.step(TICK)
    assert octopus.arm(1).blocked
    octopus.add_object(ObjectKind.FOOD, (30.0, 2.0), 1.0)
    angles = octopus.arm(1).angles.copy()
    run(octopus, 20)
    assert octopus.arm(1).angles.tobytes() == angles.tobytes()
    assert not octopus.arm(1).blocked
    assert octopus.arm(1).updates == 0


def test_a_captured_object_is_latched_where_it_lies():
    octopus = straight_octopus(FAR, heading=math.pi / 2.0)
    food = octopus.add_object(ObjectKind.FOOD, (-2.0, 31.0), 1.0)
    run(octopus, 30)
    arm = octopus.arm(1)
    assert arm.grip == Grip(food, 4, arm.grip.offset)
    # Segment 4 ends at (0, 40); along it is up the y axis, across it is towards -x.
    assert arm.grip.offset == pytest.approx((-9.0, 2.0))
    assert octopus.objects.at(0).position == (-2.0, 31.0)
    assert octopus.owners == {food: 1}
    assert not arm.active
    assert arm.candidate is None
    assert arm.dwell == 0.0
    assert arm.state == "Holding"


def test_dwell_grows_by_the_length_of_every_step():
    octopus = straight_octopus(FAR)
    octopus.add_object(ObjectKind.FOOD, (30.0, 2.0), 1.0)
    for dt in (0.1, 0.05, 0.0):
        octopus.step(dt)
    assert octopus.arm(1).dwell == pytest.approx(0.15)
    assert octopus.step(0.1) == [Capture(1, 1, octopus.time)]


def test_another_candidate_starts_the_dwell_over():
    octopus = straight_octopus(FAR)
    octopus.add_object(ObjectKind.FOOD, (30.0, 2.0), 1.0, number=5)
    run(octopus, 20)
    octopus.add_object(ObjectKind.FOOD, (10.0, 0.0), 1.0, number=2)
    octopus.step(TICK)
    assert octopus.arm(1).candidate == Candidate(object=2, segment=2)
    assert octopus.arm(1).dwell == TICK


def test_the_same_food_on_another_pair_starts_the_dwell_over():
    octopus = straight_octopus(FAR)
    octopus.add_object(ObjectKind.FOOD, (30.0, 2.0), 1.0)
    run(octopus, 20)
    octopus.move_object(1, (40.0, 2.0))
    assert octopus.arm(1).candidate is None
    assert octopus.arm(1).dwell == 0.0
    octopus.step(TICK)
    assert octopus.arm(1).candidate == Candidate(object=1, segment=5)
    assert octopus.arm(1).dwell == TICK


def test_an_edit_that_takes_the_food_away_forgets_the_candidate():
    octopus = straight_octopus(FAR)
    octopus.add_object(ObjectKind.FOOD, (30.0, 2.0), 1.0)
    run(octopus, 20)
    octopus.remove_object(1)
    assert octopus.arm(1).candidate is None
    assert octopus.arm(1).dwell == 0.0


def test_an_edit_that_leaves_the_pair_alone_leaves_the_dwell_alone():
    octopus = straight_octopus(FAR)
    octopus.add_object(ObjectKind.FOOD, (30.0, 2.0), 1.0)
    run(octopus, 20)
    dwell = octopus.arm(1).dwell
    octopus.add_object(ObjectKind.HAZARD, (30.0, 1.0), 2.0)
    octopus.add_object(ObjectKind.FOOD, (10.0, 1.0), 1.0)
    octopus.move_object(1, (30.5, -1.0))
    octopus.remove_object(2)
    assert octopus.arm(1).dwell == dwell
    run(octopus, 9)
    assert octopus.step(TICK) == [Capture(1, 1, octopus.time)]


@pytest.mark.parametrize("order", ["reach", "idle", "release", "reset"])
def test_a_new_assignment_starts_the_dwell_over(order):
    octopus = straight_octopus(FAR)
    octopus.add_object(ObjectKind.FOOD, (30.0, 2.0), 1.0)
    run(octopus, 29)
    if order == "reach":
        octopus.reach(1, FAR)
    else:
        getattr(octopus, order)(1)
    assert octopus.arm(1).candidate is None
    assert octopus.arm(1).dwell == 0.0
    assert octopus.step(TICK) == []


def test_food_that_is_not_touched_any_more_forgets_the_candidate():
    octopus = straight_octopus(FAR, FAR)
    octopus.add_object(ObjectKind.FOOD, (30.0, 2.0), 1.0)
    run(octopus, 10)
    octopus.remove_object(1)
    run(octopus, 10)
    octopus.add_object(ObjectKind.FOOD, tuple(octopus.arm(1).joints[3]), 1.0)
    octopus.step(TICK)
    assert octopus.arm(1).dwell == TICK


# ------------------------------------------------------------------------------------ claims


def test_the_first_arm_to_complete_a_claim_owns_the_object():
    octopus = straight_octopus(FAR, FAR)
    food = octopus.add_object(ObjectKind.FOOD, (30.0, 2.0), 1.0)
    assert run(octopus, 30) == [Capture(1, food, octopus.time)]
    assert octopus.owners == {food: 1}
    second = octopus.arm(2)
    assert second.grip is None
    assert second.candidate is None
    assert second.dwell == 0.0
    assert second.active


def test_an_earlier_claim_of_a_later_arm_wins():
    octopus = straight_octopus(None, FAR)
    food = octopus.add_object(ObjectKind.FOOD, (30.0, 2.0), 1.0)
    octopus.step(TICK)
    octopus.reach(1, FAR)
    assert run(octopus, 29) == [Capture(2, food, octopus.time)]
    assert octopus.owners == {food: 2}


def test_the_arm_that_lost_a_claim_starts_over_with_what_is_left_in_the_same_step():
    octopus = straight_octopus(FAR, FAR)
    octopus.add_object(ObjectKind.FOOD, (30.0, 2.0), 1.0)
    octopus.add_object(ObjectKind.FOOD, (10.0, 2.0), 1.0)
    assert run(octopus, 30) == [Capture(1, 1, octopus.time)]
    assert octopus.arm(2).candidate == Candidate(object=2, segment=2)
    assert octopus.arm(2).dwell == TICK
    assert run(octopus, 29) == [Capture(2, 2, octopus.time)]
    assert octopus.owners == {1: 1, 2: 2}


def test_two_arms_capture_two_objects_in_one_step():
    parameters = ArmParameters(6, 10.0)
    placements = [ArmPlacement(n, parameters, (0.0, 90.0 * n), target=FAR) for n in (1, 2)]
    octopus = Octopus(placements, STRAIGHT)
    octopus.add_object(ObjectKind.FOOD, (30.0, 182.0), 1.0)
    octopus.add_object(ObjectKind.FOOD, (30.0, 92.0), 1.0)
    assert run(octopus, 30) == [Capture(1, 2, octopus.time), Capture(2, 1, octopus.time)]


def test_an_object_let_go_can_be_taken_by_another_arm():
    octopus = straight_octopus(FAR, None)
    food = octopus.add_object(ObjectKind.FOOD, (30.0, 2.0), 1.0)
    run(octopus, 30)
    octopus.reach(2, FAR)
    octopus.release(1)
    assert run(octopus, 30) == [Capture(2, food, octopus.time)]


def test_an_arm_that_let_go_does_not_grasp_at_once_again():
    octopus = straight_octopus(FAR)
    octopus.add_object(ObjectKind.FOOD, (30.0, 2.0), 1.0)
    run(octopus, 30)
    assert octopus.release(1) == 1
    assert run(octopus, 60) == []
    assert octopus.arm(1).state == "Contact"
