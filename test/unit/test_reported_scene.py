"""What a controller makes of reports about objects, and when its arms have to let go."""

import math

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from ros_messages import STEP, make_octopus

from octo_reach.model.scene import ObjectKind
from octo_reach.ros.objects import ADD, DELETE, DELETE_ALL, ObjectChange
from octo_reach.ros.reported_scene import ReportedScene

pytestmark = pytest.mark.ros

FOOD, OBSTACLE = ObjectKind.FOOD, ObjectKind.OBSTACLE
GRACE = 0.25
RADIUS = 0.01


def free(number, position, kind=FOOD, lifetime=0.0):
    return ObjectChange(ADD, kind, number, tuple(position), RADIUS, lifetime=lifetime)


def in_hand(number, arm, segment, offset, kind=FOOD):
    return ObjectChange(ADD, kind, number, tuple(offset), RADIUS, holder=(arm, segment))


class Story:
    """An octopus, what is reported to it, and a steady clock that the test sets."""

    def __init__(self, numbers=(1, 2, 3)):
        self.octopus = make_octopus(numbers)
        self.said = []
        self.scene = ReportedScene(self.octopus, GRACE, self.said.append)
        self.now = 1000.0

    def report(self, *changes, after=0.0):
        self.now += after
        self.scene.apply(changes, self.now)

    def step(self, count=1):
        for _ in range(count):
            self.octopus.step(STEP)
            self.now += STEP
            self.scene.note_grips(self.now)

    def grasp(self, arm=1, number=5):
        """Let an arm take a piece of food that is reported into its tenth bend."""
        self.report(free(number, self.octopus.arm(arm).joints[10].tolist()))
        for _ in range(60):
            self.step()
            if self.octopus.owners:
                break
        assert self.octopus.owners == {number: arm}
        return self.octopus.arm(arm).grip

    def position(self, number=5):
        objects = self.octopus.objects
        return objects.at(objects.index_of(number)).position

    def numbers(self):
        return self.octopus.objects.numbers.tolist()


@pytest.fixture
def story():
    return Story()


def test_reported_objects_are_the_scene_in_the_order_of_their_numbers(story):
    story.report(free(7, (0.3, 0.3), OBSTACLE), free(2, (0.4, 0.1)))
    story.report(free(5, (-0.3, 0.2)))
    assert story.numbers() == [2, 5, 7]
    assert story.octopus.objects.at(2).kind is OBSTACLE


def test_a_report_replaces_and_moves(story):
    story.report(free(2, (0.4, 0.1)))
    story.report(free(2, (0.5, 0.2)))
    assert story.numbers() == [2]
    assert story.position(2) == (0.5, 0.2)


def test_a_delete_takes_only_the_object_of_its_kind(story):
    story.report(free(2, (0.4, 0.1)), free(3, (0.4, 0.3)))
    story.report(ObjectChange(DELETE, OBSTACLE, 2), ObjectChange(DELETE, FOOD, 3))
    assert story.numbers() == [2]


def test_a_world_that_starts_clears_what_was_and_brings_its_own(story):
    story.report(free(2, (0.4, 0.1)), free(3, (0.4, 0.3)))
    story.report(ObjectChange(DELETE_ALL), free(3, (0.4, 0.3)), free(4, (0.5, 0.3)))
    assert story.numbers() == [3, 4]


def test_the_same_report_again_is_no_edit(story):
    """An edit would make a maturing grasp start over."""
    story.report(free(5, story.octopus.arm(1).joints[10].tolist()))
    story.step(10)
    dwell = story.octopus.arm(1).dwell
    assert dwell > 0.0
    story.report(free(5, story.position()))
    assert story.octopus.arm(1).dwell == dwell


def test_an_object_whose_lifetime_runs_out_goes(story):
    story.report(free(2, (0.4, 0.1), lifetime=0.5), free(3, (0.4, 0.3)))
    story.scene.expire(story.now + 0.49)
    assert story.numbers() == [2, 3]
    story.scene.expire(story.now + 0.5)
    assert story.numbers() == [3]


def test_a_report_renews_a_lifetime_and_one_without_ends_it(story):
    story.report(free(2, (0.4, 0.1), lifetime=0.5), free(3, (0.4, 0.3), lifetime=0.5))
    story.report(free(2, (0.4, 0.1), lifetime=0.5), free(3, (0.4, 0.3)), after=0.4)
    story.scene.expire(story.now + 0.45)
    assert story.numbers() == [2, 3]
    story.scene.expire(story.now + 10.0)
    assert story.numbers() == [3]


def test_a_held_object_whose_lifetime_runs_out_is_let_go(story):
    place = story.octopus.arm(1).joints[10].tolist()
    story.report(free(5, place, lifetime=2.0))
    begun = story.now
    story.step(60)
    assert story.octopus.owners == {5: 1}
    story.scene.expire(begun + 2.0)
    assert story.octopus.owners == {}
    assert story.numbers() == []
    assert story.said == ["arm_1 lets go of object 5: it is gone"]


# Claims


def test_a_granted_claim_stays_and_the_object_goes_with_the_arm(story):
    grip = story.grasp()
    story.report(in_hand(5, 1, grip.segment, grip.offset), after=0.01)
    story.octopus.reach(1, (0.0, 0.2))
    story.step(60)
    before = story.position()
    story.report(in_hand(5, 1, grip.segment, grip.offset))
    assert story.octopus.owners == {5: 1}
    assert story.position() == before
    assert story.said == []


def test_within_the_grace_no_report_answers_a_claim(story):
    story.grasp()
    place = story.position()
    story.octopus.reach(1, (0.0, 0.2))
    story.step(25)
    carried = story.position()
    story.report(free(5, place))
    assert story.octopus.owners == {5: 1}
    assert story.position() == carried != place
    assert story.said == []


def test_after_the_grace_an_object_in_the_world_means_the_claim_was_refused(story):
    story.grasp()
    place = story.position()
    story.report(free(5, place), after=GRACE + 0.01)
    assert story.octopus.owners == {}
    assert not story.octopus.arm(1).active
    assert story.position() == place
    assert len(story.said) == 1
    assert story.said[0].startswith("arm_1 lets go of object 5: it is reported to lie free")


def test_a_refusal_heard_within_the_grace_counts_once_it_is_repeated(story):
    story.grasp()
    place = story.position()
    story.report(free(5, place), after=0.1)
    story.report(free(5, place), after=1.0)
    assert story.octopus.owners == {}


def test_an_object_in_the_hands_of_another_arm_is_let_go_and_follows_that_arm(story):
    story.grasp()
    story.report(in_hand(5, 2, 20, (0.01, 0.0)), after=GRACE + 0.01)
    assert story.octopus.owners == {}
    arm = story.octopus.arm(2)
    x, y = arm.tip.tolist()
    heading = float(arm.headings[-1])
    assert story.position() == pytest.approx(
        (x + 0.01 * math.cos(heading), y + 0.01 * math.sin(heading))
    )
    assert story.said == ["arm_1 lets go of object 5: it is reported to be held by arm_2"]


def test_an_object_in_the_hands_of_another_nodes_arm_is_let_go_and_not_here(story):
    story.grasp()
    story.report(in_hand(5, 8, 3, (0.0, 0.0)), free(6, (0.4, 0.3)), after=GRACE + 0.01)
    assert story.octopus.owners == {}
    assert story.numbers() == [6]
    story.report(free(5, (0.1, 0.4)))
    assert story.numbers() == [5, 6]


def test_a_held_object_that_somebody_moved_is_let_go_and_stays_where_it_was_put(story):
    grip = story.grasp()
    story.report(in_hand(5, 1, grip.segment, grip.offset), after=GRACE + 0.01)
    story.report(free(5, (0.4, -0.3)), after=1.0)
    assert story.octopus.owners == {}
    assert story.position() == (0.4, -0.3)
    story.step(5)
    # Edits that follow, say of somebody who drags it, are not taken for old reports.
    story.report(free(5, (0.41, -0.3)))
    assert story.position() == (0.41, -0.3)
    story.step(60)
    assert story.position() == (0.41, -0.3)
    assert story.octopus.owners == {}


def test_a_held_object_that_is_gone_is_let_go_at_once(story):
    story.grasp()
    story.report(ObjectChange(DELETE, FOOD, 5))
    assert story.octopus.owners == {}
    assert story.numbers() == []
    assert story.said == ["arm_1 lets go of object 5: it is gone"]


def test_a_world_that_starts_again_leaves_a_confirmed_object_in_the_hand(story):
    grip = story.grasp()
    held = in_hand(5, 1, grip.segment, grip.offset)
    story.report(held, after=GRACE + 0.01)
    story.report(ObjectChange(DELETE_ALL), held, free(6, (0.4, 0.3)), after=5.0)
    assert story.octopus.owners == {5: 1}
    assert story.numbers() == [5, 6]
    assert story.said == []


def test_a_held_object_that_became_an_obstacle_is_let_go(story):
    grip = story.grasp()
    story.report(in_hand(5, 1, grip.segment, grip.offset, OBSTACLE), after=GRACE + 0.01)
    assert story.octopus.owners == {}
    assert story.said == ["arm_1 lets go of object 5: it is reported to be obstacle now"]


# Letting go


def test_a_report_that_was_under_way_when_the_arm_let_go_changes_nothing(story):
    grip = story.grasp()
    story.octopus.reach(1, (0.0, 0.2))
    story.step(60)
    assert story.octopus.release(1) == 5
    lies = story.position()
    story.octopus.reach(1, (0.2, 0.0))
    story.step(5)
    story.report(in_hand(5, 1, grip.segment, grip.offset))
    assert story.position() == lies
    assert story.octopus.owners == {}


def test_once_a_claim_was_confirmed_a_report_that_the_object_lies_free_counts_at_once(story):
    grip = story.grasp()
    story.report(in_hand(5, 1, grip.segment, grip.offset), after=0.01)
    story.octopus.start_over(1)
    story.scene.note_grips(story.now)
    lies = story.position()
    # Under way already, and then what the world makes of it.
    story.report(in_hand(5, 1, grip.segment, grip.offset), after=0.005)
    assert story.position() == lies
    story.report(free(5, (0.3, 0.3)), after=0.005)
    assert story.position() == (0.3, 0.3)
    assert story.octopus.owners == {}


def test_a_confirmed_object_that_is_let_go_may_be_in_other_hands_at_once(story):
    grip = story.grasp()
    story.report(in_hand(5, 1, grip.segment, grip.offset), after=0.01)
    story.octopus.release(1)
    story.report(in_hand(5, 2, 4, (0.0, 0.0)), after=0.005)
    assert story.position() == pytest.approx(tuple(story.octopus.arm(2).joints[4].tolist()))


def test_the_answer_to_the_release_of_an_unconfirmed_object_counts_after_the_grace(story):
    story.grasp()
    story.octopus.release(1)
    story.scene.note_grips(story.now)
    story.report(free(5, (0.3, 0.3)), after=GRACE - 0.01)
    assert story.position() != (0.3, 0.3)
    story.report(free(5, (0.3, 0.3)), after=0.02)
    assert story.position() == (0.3, 0.3)


# Disputes


def test_an_object_that_the_world_puts_into_an_empty_hand_is_disputed(story):
    story.report(in_hand(5, 2, 4, (0.0, 0.0)))
    assert story.scene.disputed_grips() == {5: FOOD}


def test_what_an_arm_holds_or_another_nodes_arm_holds_is_not_disputed(story):
    grip = story.grasp()
    story.report(in_hand(5, 1, grip.segment, grip.offset), in_hand(6, 8, 4, (0.0, 0.0)), after=1.0)
    assert story.scene.disputed_grips() == {}


def test_a_release_is_disputed_only_by_reports_after_the_grace(story):
    grip = story.grasp()
    story.report(in_hand(5, 1, grip.segment, grip.offset), after=1.0)
    story.octopus.release(1)
    story.scene.note_grips(story.now)
    story.report(in_hand(5, 1, grip.segment, grip.offset), after=0.1)
    assert story.scene.disputed_grips() == {}
    story.report(in_hand(5, 1, grip.segment, grip.offset), after=1.0)
    assert story.scene.disputed_grips() == {5: FOOD}


def test_an_object_in_a_hand_of_more_segments_than_the_arm_has_is_at_its_tip(story):
    story.report(in_hand(5, 3, 99, (0.0, 0.0)))
    assert story.position() == pytest.approx(tuple(story.octopus.arm(3).tip.tolist()))


# Several messages at once


def test_a_flood_of_messages_changes_the_scene_once_and_to_what_one_by_one_would(monkeypatch):
    floods = [
        [free(2, (0.4, 0.1)), free(3, (0.3, 0.3), OBSTACLE)],
        [ObjectChange(DELETE, FOOD, 2)],
        [free(4, (0.2, 0.3), lifetime=0.5)],
        [free(3, (0.31, 0.3), OBSTACLE)],
    ]
    one_by_one, at_once = Story(), Story()
    for changes in floods:
        one_by_one.report(*changes)
    replaced = []
    replace_objects = at_once.octopus.replace_objects
    monkeypatch.setattr(
        at_once.octopus,
        "replace_objects",
        lambda things: replaced.append(1) or replace_objects(things),
    )
    at_once.scene.apply_all([(changes, at_once.now) for changes in floods])
    assert len(replaced) == 1
    assert list(at_once.octopus.objects) == list(one_by_one.octopus.objects)
    at_once.scene.expire(at_once.now + 0.51)
    assert at_once.numbers() == [3]


def test_each_of_several_messages_counts_from_when_it_came(story):
    grip = story.grasp()
    segment, offset = grip.segment, grip.offset
    claimed = story.now
    # The older one is no answer to the claim, though it is read after the grace.
    old = ([free(5, story.position())], claimed + 0.5 * GRACE)
    story.scene.apply_all([old])
    assert story.octopus.owners == {5: 1}
    granted = ([in_hand(5, 1, segment, offset)], claimed + 2.0 * GRACE)
    story.scene.apply_all([old, granted])
    assert story.octopus.owners == {5: 1}
    story.scene.apply_all([granted, ([free(5, story.position())], claimed + 3.0 * GRACE)])
    assert story.octopus.owners == {}


def test_no_message_at_all_is_no_news(story):
    story.report(free(2, (0.4, 0.1)))
    story.scene.apply_all([])
    assert story.numbers() == [2]
