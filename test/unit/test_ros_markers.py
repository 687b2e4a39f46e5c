"""The drawing of the arms for RViz."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from ros_messages import STEP, make_octopus, received
from visualization_msgs.msg import Marker

from octo_reach.model.arm import ArmParameters
from octo_reach.model.scene import ObjectKind
from octo_reach.planners.external import ExternalPlanner
from octo_reach.planners.inverse_kinematics.jacobian import planar_jacobian
from octo_reach.planners.inverse_kinematics.manipulability import manipulability_ellipse
from octo_reach.ros.markers import ArmMarkers

pytestmark = pytest.mark.ros

DRAWN = (Marker.LINE_STRIP, Marker.LINE_LIST, Marker.SPHERE_LIST)


def by_name(message):
    return {(marker.ns, marker.id): marker for marker in message.markers}


def points_of(marker):
    return np.array([(point.x, point.y) for point in marker.points]).reshape(-1, 2)


def assert_drawable(message):
    """Check what RViz complains about: missing points, no size, no rotation, doubled names."""
    assert len(by_name(message)) == len(message.markers)
    for marker in message.markers:
        assert marker.header.frame_id == "world"
        assert (marker.header.stamp.sec, marker.header.stamp.nanosec) == (0, 0)
        if marker.action != Marker.ADD:
            continue
        assert marker.pose.orientation.w == 1.0
        assert marker.scale.x > 0.0
        if marker.type in DRAWN:
            assert marker.points
        if marker.type == Marker.LINE_LIST:
            assert len(marker.points) % 2 == 0
        if marker.type not in (Marker.LINE_STRIP, Marker.LINE_LIST):
            assert marker.scale.y > 0.0 and marker.scale.z > 0.0


def test_each_arm_is_drawn_under_its_number_and_the_ground_once():
    octopus = make_octopus((1, 3))
    octopus.step(STEP)
    message = received(ArmMarkers().fill(octopus))
    assert_drawable(message)
    names = ("arm", "clearance", "manipulability", "requests", "target", "waypoints")
    assert set(by_name(message)) == {("ground", 0), *((ns, n) for ns in names for n in (1, 3))}


def test_strip_and_clearance_follow_the_joints():
    octopus = make_octopus()
    drawing = ArmMarkers()
    for _ in range(3):
        octopus.step(STEP)
        message = drawing.fill(octopus)
        assert message is drawing.message
        markers = by_name(received(message))
        for arm in octopus.arms:
            for name in ("arm", "clearance"):
                np.testing.assert_array_equal(points_of(markers[name, arm.number]), arm.joints)
    clearance = markers["clearance", 1]
    assert clearance.scale.x == 2.0 * octopus.rules.arm_clearance
    assert 0.0 < clearance.color.a < 0.5


def test_requests_join_each_segments_start_with_what_it_asks_for():
    octopus = make_octopus()
    octopus.step(STEP)
    arm = octopus.arm(2)
    points = points_of(by_name(received(ArmMarkers().fill(octopus)))["requests", 2])
    np.testing.assert_array_equal(points[0::2], arm.joints[:-1])
    np.testing.assert_array_equal(points[1::2], arm.requests)


def test_the_target_is_shown_while_the_arm_has_one():
    octopus = make_octopus()
    drawing = ArmMarkers()
    target = by_name(drawing.fill(octopus))["target", 1]
    assert target.action == Marker.ADD
    assert [target.pose.position.x, target.pose.position.y] == octopus.arm(1).target.tolist()
    octopus.idle(1)
    drawing.fill(octopus)
    assert target.action == Marker.DELETE
    octopus.reach(1, (0.1, 0.1))
    drawing.fill(octopus)
    assert (target.action, target.pose.position.x) == (Marker.ADD, 0.1)


def test_waypoints_are_shown_only_while_steering_changes_goals():
    octopus = make_octopus((1,))
    drawing = ArmMarkers()
    message = drawing.fill(octopus)
    assert by_name(message)["waypoints", 1].action == Marker.DELETE
    x, y = octopus.arm(1).tip.tolist()
    obstacle = octopus.add_object(ObjectKind.OBSTACLE, (x, y + 0.025), 0.01)
    octopus.reach(1, (x, y + 0.06))
    octopus.step(STEP)
    arm = octopus.arm(1)
    assert arm.avoiding
    markers = by_name(received(drawing.fill(octopus)))
    assert_drawable(message)
    assert markers["waypoints", 1].action == Marker.ADD
    np.testing.assert_array_equal(points_of(markers["waypoints", 1]), arm.goals[arm.steered])
    octopus.remove_object(obstacle)
    octopus.step(STEP)
    drawing.fill(octopus)
    assert by_name(message)["waypoints", 1].action == Marker.DELETE


def test_the_ellipse_lies_around_the_tip_along_the_ways_it_goes_fastest_and_slowest():
    octopus = make_octopus((1, 2))
    drawing = ArmMarkers()
    arm = octopus.arm(1)
    jacobian = planar_jacobian(arm.joints)
    message = received(drawing.fill(octopus, {1: manipulability_ellipse(jacobian)}))
    assert_drawable(message)
    markers = by_name(message)
    assert markers["manipulability", 2].action == Marker.DELETE
    points = points_of(markers["manipulability", 1]) - arm.tip
    np.testing.assert_allclose(points[0], points[-1], atol=1e-12)
    # On the ellipse of J J^T lie the points p with p^T (J J^T)^-1 p = 1.
    inverse = np.linalg.inv(jacobian @ jacobian.T)
    np.testing.assert_allclose(np.einsum("ki,ij,kj->k", points, inverse, points), 0.1**2)
    distances = np.linalg.norm(points, axis=1)
    roots = np.sqrt(np.linalg.eigvalsh(jacobian @ jacobian.T))
    np.testing.assert_allclose((distances.min(), distances.max()), 0.1 * roots)
    drawing.fill(octopus)
    assert by_name(drawing.message)["manipulability", 1].action == Marker.DELETE


def test_another_planner_shows_no_requests():
    octopus = make_octopus((1,), planners={1: ExternalPlanner()})
    octopus.step(STEP)
    assert by_name(ArmMarkers().fill(octopus))["requests", 1].action == Marker.DELETE


def test_the_colour_of_the_strip_tells_the_state():
    octopus = make_octopus((1, 2))
    drawing = ArmMarkers()
    markers = by_name(drawing.fill(octopus))
    reaching = markers["arm", 1].color
    before = (reaching.r, reaching.g, reaching.b)
    octopus.idle(1)
    drawing.fill(octopus)
    after = markers["arm", 1].color
    other = markers["arm", 2].color
    assert (after.r, after.g, after.b) != before
    assert (other.r, other.g, other.b) == before


def test_the_ground_is_invisible_and_lies_below_everything_an_arm_reaches():
    octopus = make_octopus((1, 5))
    ground = by_name(received(ArmMarkers().fill(octopus)))["ground", 0]
    assert ground.type == Marker.CUBE
    assert ground.color.a == 0.0
    assert ground.pose.position.z < 0.0
    for arm in octopus.arms:
        for axis in "xy":
            middle = getattr(ground.pose.position, axis)
            half = getattr(ground.scale, axis) / 2.0
            centre = arm.base.tolist()["xy".index(axis)]
            assert middle - half <= centre - arm.parameters.reach
            assert middle + half >= centre + arm.parameters.reach


def test_an_arm_that_changes_its_geometry_is_drawn_anew():
    octopus = make_octopus((1, 2))
    drawing = ArmMarkers()
    drawing.fill(octopus)
    octopus.reset(1, ArmParameters(5, 0.02))
    message = drawing.fill(octopus)
    assert_drawable(message)
    assert len(by_name(message)["arm", 1].points) == 6
    assert len(by_name(message)["requests", 1].points) == 10
