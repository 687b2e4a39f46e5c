"""The drawing of the arms for RViz."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from ros_messages import STEP, filled, make_octopus
from visualization_msgs.msg import Marker

from octo_reach.model.arm import ArmParameters
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind
from octo_reach.planners.external import ExternalPlanner
from octo_reach.planners.inverse_kinematics.jacobian import planar_jacobian
from octo_reach.planners.inverse_kinematics.manipulability import manipulability_ellipse
from octo_reach.ros.colours import CONTACT_COLOURS, STATE_COLOURS, state_colour
from octo_reach.ros.markers import LEGEND, MOST_CONTACTS, REPEATED, ArmMarkers

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
            assert len(marker.colors) in (0, len(marker.points))
        if marker.type == Marker.TEXT_VIEW_FACING:
            assert marker.text
            # RViz draws a space as wide as scale.x, and takes the height from scale.z.
            assert marker.scale.x == pytest.approx(0.5 * marker.scale.z)
        if marker.type == Marker.LINE_LIST:
            assert len(marker.points) % 2 == 0
        if marker.type not in (Marker.LINE_STRIP, Marker.LINE_LIST):
            assert marker.scale.y > 0.0 and marker.scale.z > 0.0


def test_each_arm_is_drawn_under_its_number_and_the_ground_once():
    octopus = make_octopus((1, 3))
    octopus.step(STEP)
    message = filled(ArmMarkers(), octopus)
    assert_drawable(message)
    names = ("arm", "clearance", "manipulability", "requests", "state", "target", "waypoints")
    assert set(by_name(message)) == {
        ("ground", 0),
        ("contacts", 0),
        *(("legend", line) for line in range(1, len(LEGEND) + 1)),
        *((ns, n) for ns in names for n in (1, 3)),
    }


def test_strip_and_clearance_follow_the_joints():
    octopus = make_octopus()
    drawing = ArmMarkers()
    for _ in range(3):
        octopus.step(STEP)
        message = filled(drawing, octopus)
        markers = by_name(message)
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
    points = points_of(by_name(filled(ArmMarkers(), octopus))["requests", 2])
    np.testing.assert_array_equal(points[0::2], arm.joints[:-1])
    np.testing.assert_array_equal(points[1::2], arm.requests)


def test_the_target_is_shown_while_the_arm_has_one():
    octopus = make_octopus()
    drawing = ArmMarkers()
    target = by_name(filled(drawing, octopus))["target", 1]
    assert target.action == Marker.ADD
    assert [target.pose.position.x, target.pose.position.y] == octopus.arm(1).target.tolist()
    octopus.idle(1)
    assert by_name(filled(drawing, octopus))["target", 1].action == Marker.DELETE
    octopus.reach(1, (0.1, 0.1))
    target = by_name(filled(drawing, octopus))["target", 1]
    assert (target.action, target.pose.position.x) == (Marker.ADD, 0.1)


def test_waypoints_are_shown_only_while_steering_changes_goals():
    octopus = make_octopus((1,))
    drawing = ArmMarkers()
    message = filled(drawing, octopus)
    assert by_name(message)["waypoints", 1].action == Marker.DELETE
    x, y = octopus.arm(1).tip.tolist()
    obstacle = octopus.add_object(ObjectKind.OBSTACLE, (x, y + 0.025), 0.01)
    octopus.reach(1, (x, y + 0.06))
    octopus.step(STEP)
    arm = octopus.arm(1)
    assert arm.avoiding
    message = filled(drawing, octopus)
    markers = by_name(message)
    assert_drawable(message)
    assert markers["waypoints", 1].action == Marker.ADD
    np.testing.assert_array_equal(points_of(markers["waypoints", 1]), arm.goals[arm.steered])
    octopus.remove_object(obstacle)
    octopus.step(STEP)
    assert by_name(filled(drawing, octopus))["waypoints", 1].action == Marker.DELETE


def test_the_ellipse_lies_around_the_tip_along_the_ways_it_goes_fastest_and_slowest():
    octopus = make_octopus((1, 2))
    drawing = ArmMarkers()
    arm = octopus.arm(1)
    jacobian = planar_jacobian(arm.joints)
    message = filled(drawing, octopus, {1: manipulability_ellipse(jacobian)})
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
    assert by_name(filled(drawing, octopus))["manipulability", 1].action == Marker.DELETE


def test_another_planner_shows_no_requests():
    octopus = make_octopus((1,), planners={1: ExternalPlanner()})
    octopus.step(STEP)
    assert by_name(filled(ArmMarkers(), octopus))["requests", 1].action == Marker.DELETE


def test_the_colour_of_the_strip_tells_the_state():
    octopus = make_octopus((1, 2))
    drawing = ArmMarkers()
    markers = by_name(filled(drawing, octopus))
    reaching = markers["arm", 1].color
    before = (reaching.r, reaching.g, reaching.b)
    octopus.idle(1)
    markers = by_name(filled(drawing, octopus))
    after = markers["arm", 1].color
    other = markers["arm", 2].color
    assert (after.r, after.g, after.b) != before
    assert (other.r, other.g, other.b) == before


def test_the_ground_is_invisible_and_lies_below_everything_an_arm_reaches():
    octopus = make_octopus((1, 5))
    ground = by_name(filled(ArmMarkers(), octopus))["ground", 0]
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
    filled(drawing, octopus)
    octopus.reset(1, ArmParameters(5, 0.02))
    message = filled(drawing, octopus)
    assert_drawable(message)
    assert len(by_name(message)["arm", 1].points) == 6
    assert len(by_name(message)["requests", 1].points) == 10


def colour_of(marker):
    return (marker.color.r, marker.color.g, marker.color.b)


def test_the_state_is_written_above_the_tip_in_its_colour():
    octopus = make_octopus((1, 2))
    octopus.idle(2)
    drawing = ArmMarkers()
    for _ in range(3):
        octopus.step(STEP)
        message = filled(drawing, octopus)
    assert_drawable(message)
    for arm in octopus.arms:
        text = by_name(message)["state", arm.number]
        assert text.text == f"arm_{arm.number}: {arm.state}"
        assert colour_of(text) == pytest.approx(state_colour(arm.state))
        x, y = arm.tip.tolist()
        assert text.pose.position.x == x
        assert text.pose.position.y > y
    assert by_name(message)["state", 2].text == "arm_2: Idle"


def test_the_legend_says_what_every_colour_means_beside_what_the_arms_reach():
    octopus = make_octopus((1, 2))
    lines = [m for m in filled(ArmMarkers(), octopus).markers if m.ns == "legend"]
    meanings = {line.text: colour_of(line) for line in lines}
    for state, colour in STATE_COLOURS.items():
        assert meanings[state] == pytest.approx(colour)
    for kind, colour in CONTACT_COLOURS.items():
        assert meanings[f"touches {kind.label}"] == pytest.approx(colour)
    heights = [line.pose.position.y for line in lines]
    gaps = -np.diff(heights)
    assert (gaps > lines[0].scale.z).all()
    left = min(arm.base[0] - arm.parameters.reach for arm in octopus.arms)
    assert all(line.pose.position.x < left for line in lines)


def test_what_touches_is_shown_larger_than_the_arm_in_the_colour_of_its_kind():
    octopus = make_octopus((1,))
    drawing = ArmMarkers()
    assert by_name(filled(drawing, octopus))["contacts", 0].action == Marker.DELETE
    x, y = octopus.arm(1).joints[5].tolist()
    food = octopus.add_object(ObjectKind.FOOD, (x, y), 0.01)
    hazard = octopus.add_object(ObjectKind.HAZARD, octopus.arm(1).tip.tolist(), 0.002)
    octopus.step(STEP)
    message = filled(drawing, octopus)
    assert_drawable(message)
    marker = by_name(message)["contacts", 0]
    contacts = octopus.contacts
    assert len(contacts.kinds) >= 2
    np.testing.assert_array_equal(points_of(marker), contacts.points)
    for kind, colour in zip(contacts.kinds.tolist(), marker.colors, strict=True):
        shown = (colour.r, colour.g, colour.b)
        assert shown == pytest.approx(CONTACT_COLOURS[ObjectKind(kind)])
        assert colour.a == 1.0
    assert marker.scale.x > 2.0 * octopus.rules.arm_clearance
    octopus.remove_object(food)
    octopus.remove_object(hazard)
    octopus.step(STEP)
    assert by_name(filled(drawing, octopus))["contacts", 0].action == Marker.DELETE


def test_of_a_great_many_contacts_only_so_many_are_filled():
    octopus = make_octopus((1,))
    drawing = ArmMarkers()
    x, y = octopus.arm(1).joints[3].tolist()
    for _ in range(MOST_CONTACTS):
        octopus.add_object(ObjectKind.FOOD, (x, y), 0.012)
    octopus.step(STEP)
    assert len(octopus.contacts.arms) > MOST_CONTACTS
    marker = by_name(filled(drawing, octopus))["contacts", 0]
    assert len(marker.points) == len(marker.colors) == MOST_CONTACTS


def test_what_never_moves_is_said_now_and_then_only():
    octopus = make_octopus((1,))
    drawing = ArmMarkers()
    said = []
    for _ in range(2 * REPEATED + 1):
        names = set(by_name(filled(drawing, octopus)))
        assert ("arm", 1) in names
        said.append({ns for ns, _ in names} & {"ground", "legend"})
    assert [turn for turn, names in enumerate(said) if names] == [0, REPEATED, 2 * REPEATED]
    assert said[0] == {"ground", "legend"}


def test_whoever_is_new_hears_everything_and_to_clear_what_was_before():
    octopus = make_octopus((1,))
    drawing = ArmMarkers()
    first = set(by_name(filled(drawing, octopus)))
    filled(drawing, octopus)
    first_marker, *others = filled(drawing, octopus, anew=True).markers
    assert first_marker.action == Marker.DELETEALL
    assert {(marker.ns, marker.id) for marker in others} == first
    assert all(marker.action != Marker.DELETEALL for marker in filled(drawing, octopus).markers)


def shown_after(shown, message):
    """What RViz shows after a message, given what it showed before."""
    shown = set(shown)
    for marker in message.markers:
        if marker.action == Marker.DELETEALL:
            shown.clear()
        elif marker.action == Marker.DELETE:
            shown.discard((marker.ns, marker.id))
        else:
            shown.add((marker.ns, marker.id))
    return shown


def test_names_stay_the_same_over_a_long_run_and_nothing_stays_that_has_ended():
    octopus = make_octopus((1, 2))
    drawing = ArmMarkers()
    shown, ever = set(), set()
    food = octopus.add_object(ObjectKind.FOOD, octopus.arm(1).joints[8].tolist(), 0.01)
    x, y = octopus.arm(2).tip.tolist()
    obstacle = octopus.add_object(ObjectKind.OBSTACLE, (x, y + 0.03), 0.01)
    octopus.reach(2, (x, y + 0.08))
    for step in range(600):
        octopus.step(STEP)
        if step % 4 == 0:
            message = filled(drawing, octopus)
            shown = shown_after(shown, message)
            ever |= set(by_name(message))
        if step == 400:
            octopus.release(1)
            octopus.idle(2)
            octopus.remove_object(food)
            octopus.remove_object(obstacle)
    assert ever == set(by_name(filled(ArmMarkers(), octopus)))
    ended = {"target", "requests", "waypoints", "contacts", "manipulability"}
    assert {ns for ns, _ in shown} == {ns for ns, _ in ever} - ended


def test_nothing_of_an_arm_stays_when_it_is_gone():
    many, few = make_octopus((1, 2, 3)), make_octopus((2,))
    drawing = ArmMarkers()
    shown = shown_after(set(), filled(drawing, many))
    assert {number for ns, number in shown if ns == "arm"} == {1, 2, 3}
    # Any one of these messages may be the first that somebody hears.
    later = [filled(drawing, few) for _ in range(REPEATED + 1)]
    for message in later[:REPEATED]:
        assert_drawable(message)
        assert {n for ns, n in shown_after(shown, message) if ns in ("arm", "state")} == {2}
    assert {marker.id for marker in later[-1].markers if marker.ns == "arm"} == {2}


def test_of_a_thick_arm_everything_lies_above_it():
    thick = Octopus([arm.placement for arm in make_octopus((1,)).arms], ReachRules(unit=0.1))
    for marker in filled(ArmMarkers(), thick).markers:
        if marker.ns in ("arm", "requests", "target", "state", "contacts"):
            assert marker.pose.position.z > thick.rules.arm_clearance
