"""What is heard on the topics becomes what the viewer shows."""

import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.serialization import serialize_message
from ros_messages import filled
from sensor_msgs.msg import JointState, PointCloud2
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind, SceneObject
from octo_reach.nodes.sightings import SILENCE, Sightings
from octo_reach.planners.inverse_kinematics.jacobian import planar_jacobian
from octo_reach.planners.inverse_kinematics.manipulability import manipulability_ellipse
from octo_reach.ros.contacts import ContactCloudBuilder
from octo_reach.ros.description import robot_description
from octo_reach.ros.joint_states import JointStateBuilder
from octo_reach.ros.markers import ArmMarkers
from octo_reach.ros.objects import WorldObject, delete_all_marker, delete_marker, object_marker
from octo_reach.ros.states import ArmStatesBuilder

RULES = ReachRules.metre()
FOOD = ObjectKind.FOOD


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


class System:
    """An octopus and the messages its controller would send."""

    def __init__(self, *objects):
        self.clock = Clock()
        self.rejected = []
        self.sightings = Sightings("/reach_controller", self.rejected.append, self.clock)
        self.placements = [
            ArmPlacement(number, ArmParameters(20, 0.018), (0.0, number - 1.0), 0.3, (0.2, 0.1))
            for number in (1, 2)
        ]
        self.octopus = Octopus(self.placements, RULES)
        self.octopus.replace_objects(objects)
        self.say_description()
        self.say_joints()
        self.sightings.hear_states(filled(ArmStatesBuilder(), self.octopus, Time()))

    def say_description(self):
        self.sightings.hear_description(String(data=robot_description(self.placements, RULES)))

    def say_joints(self):
        self.sightings.hear_joint_states(JointStateBuilder().fill(self.octopus, Time(), 0.0))

    def say_objects(self, *markers):
        self.sightings.hear_objects(MarkerArray(markers=list(markers)))

    def snapshot(self, **options):
        return self.sightings.snapshot(**options)


def food(number=4, position=(0.1, 0.2), **changes):
    return object_marker(WorldObject(number, FOOD, position, 0.02, **changes))


def test_arms_stand_where_the_model_has_them():
    system = System()
    for _ in range(30):
        system.octopus.step(1 / 120)
    system.say_joints()
    arms = system.snapshot().arms
    assert [arm.name for arm in arms] == ["arm_1", "arm_2"]
    for arm in arms:
        model = system.octopus.arm(arm.number)
        assert arm.joints == pytest.approx(model.joints, abs=1e-9)
        assert (arm.base_radius, arm.tip_radius) == (RULES.arm_clearance, RULES.arm_clearance / 2)
        assert arm.target == pytest.approx((0.2, 0.1))
        assert arm.tip_error == pytest.approx(model.tip_error, abs=1e-6)


def test_an_arm_that_is_not_described_waits_for_its_description():
    system = System()
    system.placements = system.placements[:1]
    system.say_description()
    system.say_joints()
    assert [arm.number for arm in system.snapshot().arms] == [1]


def test_an_arm_that_is_heard_no_longer_is_gone():
    system = System()
    assert len(system.snapshot().arms) == 2
    system.octopus = Octopus(system.placements[1:], RULES)
    system.say_joints()
    assert [arm.number for arm in system.snapshot().arms] == [2]


def test_objects_follow_the_reports():
    system = System()
    system.say_objects(food(4), food(5, (0.3, 0.0)))
    assert {thing.name for thing in system.snapshot().objects} == {"food 4", "food 5"}
    system.say_objects(food(4, (0.0, 0.5)), delete_marker(FOOD, 5))
    (thing,) = system.snapshot().objects
    assert (thing.number, thing.position, thing.radius) == (4, (0.0, 0.5), pytest.approx(0.02))
    # A food 4 is meant, not the obstacle 4 that somebody else once had.
    system.say_objects(delete_marker(ObjectKind.OBSTACLE, 4))
    assert len(system.snapshot().objects) == 1
    system.say_objects(delete_all_marker())
    assert system.snapshot().objects == ()


def test_an_object_whose_lifetime_has_run_out_is_gone():
    system = System()
    marker = food()
    marker.lifetime.sec = 3
    system.say_objects(marker)
    system.clock.now += 2.9
    assert len(system.snapshot().objects) == 1
    system.clock.now += 0.2
    assert system.snapshot().objects == ()


def test_a_held_object_moves_with_the_segment_that_holds_it():
    system = System()
    system.say_objects(food(holder=(1, 20), offset=(0.01, 0.02)))
    for _ in range(40):
        system.octopus.step(1 / 120)
    system.say_joints()
    (thing,) = system.snapshot().objects
    arm = system.octopus.arm(1)
    heading = arm.headings[-1]
    turned = np.array(
        [
            0.01 * math.cos(heading) - 0.02 * math.sin(heading),
            0.01 * math.sin(heading) + 0.02 * math.cos(heading),
        ]
    )
    assert thing.position == pytest.approx(tuple(arm.tip + turned))


def test_an_object_in_unknown_hands_is_not_drawn_anywhere():
    system = System()
    system.say_objects(food(holder=(7, 3)))
    assert system.snapshot().objects == ()


def test_contacts_are_counted_for_each_arm_and_placed():
    arm = System().octopus.arm(1)
    middle = tuple(arm.joints[10].tolist())
    system = System(SceneObject(4, FOOD, middle, 0.02))
    system.octopus.step(1 / 120)
    contacts = system.octopus.contacts
    system.sightings.hear_contacts(ContactCloudBuilder().fill(contacts, Time()))
    snapshot = system.snapshot()
    assert len(contacts.arms) > 0
    assert [arm.contacts for arm in snapshot.arms] == [len(contacts.arms), 0]
    assert {touch.who[0] for touch in snapshot.touches} == {1}
    assert all(math.dist(touch.position, middle) < 0.03 for touch in snapshot.touches)


def test_requests_clearance_and_ellipse_are_read_only_when_somebody_wants_them():
    system = System()
    system.octopus.step(1 / 120)
    ellipses = {
        arm.number: manipulability_ellipse(planar_jacobian(arm.joints))
        for arm in system.octopus.arms
    }
    message = ArmMarkers().fill(system.octopus, ellipses)
    system.sightings.hear_markers(message)
    assert system.snapshot().thoughts == {}
    system.sightings.hear_markers(message)
    thoughts = system.snapshot(thoughts=True).thoughts
    assert set(thoughts) == {1, 2}
    assert thoughts[1].requests[:, 0] == pytest.approx(system.octopus.arm(1).joints[:-1])
    assert thoughts[1].clearance == pytest.approx(RULES.arm_clearance)
    ellipse = thoughts[1].ellipse
    assert ellipse[0] == pytest.approx(ellipse[-1])
    middle = ellipse[:-1].mean(axis=0)
    assert middle == pytest.approx(system.octopus.arm(1).tip, abs=1e-6)
    away = np.linalg.norm(ellipse - middle, axis=1)
    assert away.max() / away.min() == pytest.approx(ellipses[1].major / ellipses[1].minor, rel=0.05)


def test_nodes_that_fall_silent_are_no_longer_said_to_be_there():
    system = System()
    system.say_objects(food())
    assert (system.snapshot().controller, system.snapshot().world) == (True, True)
    system.clock.now += SILENCE + 0.1
    assert (system.snapshot().controller, system.snapshot().world) == (False, False)


def test_the_controllers_own_figures_are_read_and_nobody_elses():
    system = System()
    values = {"wanted rate (Hz)": "120", "paused": "yes"}

    def say(name, message):
        status = DiagnosticStatus(name=name, level=DiagnosticStatus.WARN, message=message)
        status.values = [KeyValue(key=key, value=value) for key, value in values.items()]
        system.sightings.hear_diagnostics(DiagnosticArray(status=[status]))

    say("/other/reach_controller", "not ours")
    assert not system.snapshot().paused
    say("/reach_controller", "too slow")
    snapshot = system.snapshot()
    assert snapshot.paused
    assert snapshot.wanted_rate == 120.0
    assert snapshot.problems == ("too slow",)


def test_the_rate_is_the_one_that_the_controller_reports_and_the_heard_one_until_it_does():
    system = System()
    for _ in range(20):
        system.clock.now += 0.1
        system.say_joints()
    assert system.snapshot().rate == pytest.approx(10.0, rel=0.2)
    status = DiagnosticStatus(name="/reach_controller", level=DiagnosticStatus.OK)
    status.values = [KeyValue(key="rate (Hz)", value="97.7")]
    system.sightings.hear_diagnostics(DiagnosticArray(status=[status]))
    assert system.snapshot().rate == 97.7


def test_what_breaks_a_rule_changes_nothing():
    system = System()
    system.say_objects(food())
    bad = food(5)
    bad.pose.position.x = math.nan
    system.say_objects(delete_all_marker(), bad)
    assert len(system.snapshot().objects) == 1
    system.sightings.hear_description(String(data="<robot/>"))
    assert len(system.snapshot().arms) == 2
    system.sightings.hear_contacts(serialize_message(PointCloud2()))
    system.sightings.hear_joint_states(serialize_message(JointState(name=["wheel"])))
    assert len(system.snapshot().arms) == 2
    topics = [rejection.topic for rejection in system.rejected]
    assert topics == ["objects", "robot_description", "joint_states", "contacts"]


def test_one_topic_that_is_disturbed_does_not_hide_the_others():
    system = System()
    system.octopus.step(1 / 120)
    system.sightings.hear_contacts(serialize_message(PointCloud2()))
    system.say_joints()
    arm = system.snapshot().arms[0]
    assert arm.joints == pytest.approx(system.octopus.arm(1).joints, abs=1e-9)
