"""A copy that goes ahead of an arm, which hears and answers a moment later."""

from collections import deque

import numpy as np
import pytest

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.model.reach import Planner
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind, SceneObject
from octo_reach.planners import PLANNERS, ExternalPlanner, create_planner
from octo_reach.planners.guided.body import body_of
from octo_reach.planners.guided.clearance import room_of
from octo_reach.planners.leading import LeadingArm

STEP = 1.0 / 120.0
JOINTS = 10
PLACEMENT = ArmPlacement(3, ArmParameters(JOINTS, 20.0), base=(30.0, 40.0))
LEADING = [name for name in PLANNERS if name != "external"]


class Straight(Planner):
    """Stretches the arm to one side; counts its resets."""

    name = "straight"

    def __init__(self):
        self.resets = 0

    def propose(self, arm, target, obstacles, dt):
        return np.zeros(len(arm.angles)) + np.eye(len(arm.angles))[0]

    def reset(self):
        self.resets += 1


class Distant:
    """An arm that follows proposals, and the copy that leads it, 2 steps apart both ways."""

    def __init__(self, planner, every=4, delay=2):
        self.external = ExternalPlanner()
        self.octopus = Octopus([PLACEMENT], ReachRules.pixel(), {3: self.external})
        self.arm = self.octopus.arm(3)
        self.said = []
        self.leader = LeadingArm(PLACEMENT, ReachRules.pixel(), planner, self.said.append)
        self.every = every
        self.heard = deque([self.arm.angles.copy()] * delay)
        self.offers = deque([None] * delay)
        self.steps = 0

    def send(self, target):
        self.octopus.reach(3, target)
        self.leader.aim(target)

    def run(self, steps, until=None):
        for _ in range(steps):
            if until is not None and self.arm.state == until:
                return
            self.heard.append(self.arm.angles.copy())
            self.leader.hear_angles(self.heard.popleft())
            offer = self.leader.lead(self.every * STEP) if self.steps % self.every == 0 else None
            self.offers.append(offer)
            offer = self.offers.popleft()
            if offer is not None:
                self.external.offer(offer)
            self.octopus.step(STEP)
            self.steps += 1


@pytest.mark.parametrize("name", LEADING)
def test_every_planner_leads_a_distant_arm_to_its_targets(name):
    distant = Distant(create_planner(name))
    for target in ((130.0, 140.0), (30.0, 190.0), (150.0, 60.0)):
        distant.send(target)
        distant.run(3000, until="Reached")
        assert distant.arm.state == "Reached", (target, distant.leader.note)
    assert distant.said == []


@pytest.mark.parametrize("name", ["guided", "fabrik", "jacobian_transpose", "jacobian_dls"])
@pytest.mark.parametrize("joint", [3, 7])
def test_a_distant_arm_is_led_out_of_an_obstacle_that_is_dropped_on_it(name, joint):
    distant = Distant(create_planner(name))
    distant.send((130.0, 140.0))
    distant.run(3000, until="Reached")
    x, y = distant.arm.joints[joint].tolist()
    stone = SceneObject(1, ObjectKind.OBSTACLE, (x + 1.0, y + 1.0), 14.0)
    for octopus in (distant.octopus, distant.leader.octopus):
        octopus.replace_objects([stone])
    distant.leader.hear_angles(distant.arm.angles.copy())

    def overlaps():
        angles, body = np.array(distant.arm.angles), body_of(distant.arm)
        return room_of(angles, body, np.array([[*stone.position, stone.radius]])) < 0.0

    assert overlaps()
    distant.run(1200)
    assert not overlaps()


def test_the_copy_stays_near_the_arm_and_needs_no_new_start():
    planner = Straight()
    distant = Distant(planner)
    distant.send((300.0, 300.0))
    distant.run(1)
    begun = planner.resets
    speed = PLACEMENT.parameters.turning_speed
    for _ in range(100):
        distant.run(1)
        copy = distant.leader.octopus.arm(3).angles
        assert np.abs(copy - distant.arm.angles).max() < 0.2 * speed
    assert distant.arm.angles[0] == pytest.approx(1.0)
    assert planner.resets == begun


def test_without_a_pose_or_a_target_there_is_nothing_to_propose():
    leader = LeadingArm(PLACEMENT, ReachRules.pixel(), Straight(), print)
    assert leader.lead(STEP) is None
    leader.aim((50.0, 50.0))
    assert leader.lead(STEP) is None
    leader.hear_angles(np.zeros(JOINTS + 1))
    assert leader.lead(STEP) is None
    leader.hear_angles(np.zeros(JOINTS))
    assert leader.lead(STEP).shape == (JOINTS,)


def test_an_arm_that_was_put_elsewhere_is_led_from_there_at_once():
    planner = Straight()
    distant = Distant(planner, delay=0)
    distant.send((300.0, 300.0))
    distant.run(100)
    resets = planner.resets
    distant.octopus.reset(3)
    distant.run(1 + distant.every)
    assert planner.resets == resets + 1
    distant.run(120)
    assert distant.arm.angles[0] == pytest.approx(1.0)


def test_an_arm_that_does_not_follow_is_waited_for_and_then_led_from_where_it_is():
    planner = Straight()
    distant = Distant(planner, delay=0)
    distant.send((300.0, 300.0))
    distant.run(20)
    resets = planner.resets
    # What the copy does not know of stands in the way.
    x, y = distant.arm.joints[6].tolist()
    distant.octopus.add_object(ObjectKind.OBSTACLE, (x, y + 22.0), 10.0)
    distant.run(200)
    assert distant.arm.state == "Blocked"
    assert resets < planner.resets < resets + 6
    copy = distant.leader.octopus.arm(3).angles
    assert np.abs(copy - distant.arm.angles).max() < 0.2 * PLACEMENT.parameters.turning_speed


def test_the_copy_knows_obstacles_and_passes_food():
    distant = Distant(create_planner("neighbour"), delay=0)
    x, y = distant.arm.joints[5].tolist()
    things = [
        SceneObject(1, ObjectKind.OBSTACLE, (x + 30.0, y + 40.0), 10.0),
        SceneObject(2, ObjectKind.FOOD, (x, y), 10.0),
    ]
    distant.leader.octopus.replace_objects(things)
    assert distant.leader.octopus.objects.numbers.tolist() == [1]


def test_what_the_arm_holds_is_carried_to_the_target_by_the_copy_too():
    distant = Distant(create_planner("neighbour"), delay=0)
    octopus = distant.octopus
    x, y = distant.arm.joints[9].tolist()
    octopus.add_object(ObjectKind.FOOD, (x, y), 9.0, 5)
    octopus.reach(3, (200.0, 40.0))
    for _ in range(60):
        octopus.step(STEP)
    grip = distant.arm.grip
    assert grip is not None
    food = octopus.objects.at(0)
    distant.leader.take_grip(food, grip.segment, grip.offset)
    distant.send((130.0, 140.0))
    distant.run(3000, until="Holding")
    assert distant.arm.state == "Holding"
    copy = distant.leader.octopus
    assert copy.objects.at(0).position == pytest.approx(octopus.objects.at(0).position, abs=2.0)
    # The world reports it in the arm's hand, and then lets it go.
    copy.replace_objects([food])
    assert 5 in copy.objects
    distant.leader.take_grip(None)
    copy.replace_objects([food])
    assert 5 not in copy.objects


def test_a_pose_of_another_length_is_refused():
    leader = LeadingArm(PLACEMENT, ReachRules.pixel(), Straight(), print)
    with pytest.raises(ValueError, match="arm 3 has 10 joints, got 9 angles"):
        leader.octopus.take_pose(3, np.zeros(9))
