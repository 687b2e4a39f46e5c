"""The robot model: its frames stand where the model's joints are, and it reads back."""

import math
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("transforms3d", reason="transforms3d is not installed")

from transforms3d import affines
from transforms3d.axangles import axangle2mat
from transforms3d.euler import euler2mat

from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import ReachRules
from octo_reach.ros.description import (
    LONGEST_DESCRIPTION,
    MOST_SUCKERS,
    SUCKERS,
    TIP_TAPER,
    arm_radii,
    arms_from_description,
    robot_description,
)
from octo_reach.ros.frames import base_frame, joint_names, segment_frame, tip_frame

RULES = ReachRules.metre()
ONE = ArmPlacement(1, ArmParameters(4, 0.02, 1.0, 1.5), (0.1, -0.2), 0.7, (0.1, 0.1))
TWO = ArmPlacement(12, ArmParameters(2, 0.5, math.pi, 9.0), (-3.0, 0.0), 0.0)


def place_frames(text, positions):
    """Walk a URDF from its root: the pose of every link, shape (4, 4), by name."""
    joints = ElementTree.fromstring(text).findall("joint")
    children = {joint.find("child").get("link") for joint in joints}
    links = {link.get("name") for link in ElementTree.fromstring(text).findall("link")}
    (root,) = links - children
    assert len(children) == len(joints) == len(links) - 1
    frames = {root: np.eye(4)}
    left = list(joints)
    while left:
        ready = [joint for joint in left if joint.find("parent").get("link") in frames]
        assert ready, "the joints do not hang together"
        for joint in ready:
            origin = joint.find("origin")
            xyz = [float(word) for word in origin.get("xyz").split()]
            rpy = [float(word) for word in origin.get("rpy").split()]
            pose = affines.compose(xyz, euler2mat(*rpy), np.ones(3))
            if joint.get("type") != "fixed":
                axis = [float(word) for word in joint.find("axis").get("xyz").split()]
                turn = axangle2mat(axis, positions[joint.get("name")])
                pose = pose @ affines.compose(np.zeros(3), turn, np.ones(3))
            parent = frames[joint.find("parent").get("link")]
            frames[joint.find("child").get("link")] = parent @ pose
            left.remove(joint)
    return root, frames


@settings(max_examples=30, deadline=None)
@given(
    count=st.integers(2, 12),
    length=st.floats(1e-3, 2.0),
    base=st.tuples(st.floats(-5.0, 5.0), st.floats(-5.0, 5.0)),
    heading=st.floats(-3.0, 3.0),
    steps=st.integers(0, 40),
)
def test_frames_stand_at_the_ends_of_the_segments_x_along_them(count, length, base, heading, steps):
    placement = ArmPlacement(
        3, ArmParameters(count, length, 2.0, 9.0), base, heading, (base[0] - length, base[1])
    )
    octopus = Octopus([placement], RULES)
    for _ in range(steps):
        octopus.step(0.05)
    arm = octopus.arm(3)
    angles = dict(zip(joint_names(3, count), arm.angles.tolist(), strict=True))
    root, frames = place_frames(robot_description([placement], RULES), angles)
    assert root == "world"
    np.testing.assert_allclose(frames[base_frame(3)][:2, 3], base)
    for segment in range(1, count + 1):
        frame = frames[segment_frame(3, segment)]
        np.testing.assert_allclose(frame[:2, 3], arm.joints[segment], atol=1e-9)
        theta = arm.headings[segment - 1]
        np.testing.assert_allclose(frame[:2, 0], (math.cos(theta), math.sin(theta)), atol=1e-9)
        assert frame[2, 3] == 0.0
    np.testing.assert_allclose(frames[tip_frame(3)], frames[segment_frame(3, count)])


def test_moving_joints_are_those_of_joint_states_with_their_limits():
    root = ElementTree.fromstring(robot_description([TWO, ONE], RULES))
    moving = [joint for joint in root.findall("joint") if joint.get("type") != "fixed"]
    assert [joint.get("name") for joint in moving] == joint_names(1, 4) + joint_names(12, 2)
    first, second = moving[:2]
    assert first.get("type") == "continuous"
    assert second.get("type") == "revolute"
    limit = second.find("limit")
    assert float(limit.get("lower")) == -1.0
    assert float(limit.get("upper")) == 1.0
    assert float(limit.get("velocity")) == float(first.find("limit").get("velocity")) == 1.5
    assert "effort" in limit.attrib


def drawn(text, shape):
    """Every shape of a URDF as (link, place x, y, z, size), from base to tip."""
    found = []
    for link in ElementTree.fromstring(text).findall("link"):
        for visual in link.findall("visual"):
            geometry = visual.find(f"geometry/{shape}")
            if geometry is not None:
                place = [float(word) for word in visual.find("origin").get("xyz").split()]
                found.append((link.get("name"), *place, float(geometry.get("radius"))))
    return found


@pytest.mark.parametrize("count", [2, 5, 20, 100])
def test_the_arm_is_drawn_tapering_in_small_steps_and_nowhere_wider_than_its_clearance(count):
    arm = ArmPlacement(1, ArmParameters(count, 0.36 / count))
    text = robot_description([arm], RULES)
    rods = [rod for rod in drawn(text, "cylinder") if rod[0] != base_frame(1)]
    radii = np.array([rod[-1] for rod in rods])
    assert len(radii) >= 12
    assert radii[0] == RULES.arm_clearance
    # To the digits it is written with.
    steps = (TIP_TAPER - 1.0) * radii[0] / (len(radii) - 1)
    np.testing.assert_allclose(np.diff(radii), steps, rtol=1e-5)
    # Seen from above, that is: suckers stand out upwards.
    for _, _, y, _, radius in drawn(text, "sphere"):
        assert abs(y) + radius <= RULES.arm_clearance


def test_the_pieces_of_a_segment_lie_end_to_end():
    text = robot_description([TWO], RULES)
    for segment in (1, 2):
        lengths = [
            float(cylinder.get("length"))
            for cylinder in ElementTree.fromstring(text).findall(
                f"link[@name='arm_12/segment_{segment}_start']/visual/geometry/cylinder"
            )
        ]
        middles = [
            rod[1] for rod in drawn(text, "cylinder") if rod[0] == f"arm_12/segment_{segment}_start"
        ]
        np.testing.assert_allclose(np.cumsum(lengths) - np.array(lengths) / 2.0, middles)
        assert sum(lengths) == pytest.approx(TWO.parameters.segment_length)


@pytest.mark.parametrize(("count", "pairs"), [(2, 2), (20, 20), (21, 10), (100, 20)])
def test_suckers_go_in_pairs_along_the_side_that_is_seen_and_are_not_too_many(count, pairs):
    text = robot_description([ArmPlacement(1, ArmParameters(count, 0.36 / count))], RULES)
    suckers = [sphere for sphere in drawn(text, "sphere") if sphere[1] > 0.0]
    assert len(suckers) == 2 * pairs <= 2 * MOST_SUCKERS
    for (name, x, y, z, _), (other, *beside, _) in zip(suckers[::2], suckers[1::2], strict=True):
        assert (name, x, -y, z) == (other, *beside)
        assert z > 0.0


def test_a_large_octopus_stays_light():
    arms = [ArmPlacement(number, ArmParameters(100, 0.0036)) for number in range(1, 9)]
    text = robot_description(arms, RULES)
    assert text.count("<visual>") <= 8 * (2 * 100 + 2 * MOST_SUCKERS + 2)
    assert len(text) < LONGEST_DESCRIPTION / 10


# Attributes an element must have, and the elements that may stand in it, by its tag.
URDF = {
    "robot": (("name",), ("link", "joint", "material")),
    "link": (("name",), ("visual",)),
    "joint": (("name", "type"), ("parent", "child", "origin", "axis", "limit")),
    "visual": ((), ("origin", "geometry", "material")),
    "geometry": ((), ("sphere", "cylinder")),
    "material": (("name",), ("color",)),
    "origin": (("xyz", "rpy"), ()),
    "axis": (("xyz",), ()),
    "color": (("rgba",), ()),
    "parent": (("link",), ()),
    "child": (("link",), ()),
    "sphere": (("radius",), ()),
    "cylinder": (("radius", "length"), ()),
    "limit": (("effort", "velocity"), ()),
}
COUNTS = {"xyz": 3, "rpy": 3, "rgba": 4}


@settings(max_examples=25, deadline=None)
@given(
    count=st.integers(2, 100),
    length=st.floats(1e-4, 2.0),
    clearance=st.sampled_from([0.0, 1e-5, 0.003, 0.5]),
    numbers=st.sets(st.integers(1, 20), min_size=1, max_size=3),
)
def test_it_is_a_urdf_by_the_letter(count, length, clearance, numbers):
    """What robot_state_publisher and RViz insist on, and nothing they do not know."""
    arms = [ArmPlacement(number, ArmParameters(count, length)) for number in numbers]
    root = ElementTree.fromstring(robot_description(arms, ReachRules(arm_clearance=clearance)))
    names = {"link": [], "joint": [], "material": []}
    for element in root.iter():
        needed, children = URDF[element.tag]
        assert set(needed) <= set(element.attrib)
        assert set(element.attrib) <= {*needed, "lower", "upper"}
        assert {child.tag for child in element} <= set(children)
        if element.tag == "geometry":
            assert len(element) == 1
        for key in {"radius", "length", "velocity"} & set(element.attrib):
            assert 0.0 < float(element.get(key)) < math.inf
        for key in COUNTS.keys() & set(element.attrib):
            values = [float(word) for word in element.get(key).split()]
            assert len(values) == COUNTS[key]
            assert all(map(math.isfinite, values))
        if element.tag == "color":
            assert all(0.0 <= value <= 1.0 for value in values)
    for element in root:
        names[element.tag].append(element.get("name"))
    for given_names in names.values():
        assert len(set(given_names)) == len(given_names)
    assert {used.get("name") for used in root.findall("link/visual/material")} <= set(
        names["material"]
    )
    for joint in root.findall("joint"):
        assert {joint.find(end).get("link") for end in ("parent", "child")} <= set(names["link"])


def test_materials_are_defined_and_differ_between_arms():
    root = ElementTree.fromstring(robot_description([ONE, TWO], RULES))
    colours = {
        material.get("name"): material.find("color").get("rgba")
        for material in root.findall("material")
    }
    used = {material.get("name") for material in root.findall("link/visual/material")}
    assert used == set(colours) == {"arm_1", "arm_12", SUCKERS}
    assert len(set(colours.values())) == 3


def test_an_arm_without_clearance_can_still_be_seen():
    rules = ReachRules(arm_clearance=0.0)
    text = robot_description([ONE], rules)
    assert all(float(radius) > 0.0 for radius in re.findall(r'radius="([^"]*)"', text))


def test_arms_read_back_as_they_were_written():
    read = arms_from_description(robot_description([TWO, ONE], RULES))
    assert [(arm.number, arm.parameters, arm.base) for arm in read] == [
        (ONE.number, ONE.parameters, ONE.base),
        (TWO.number, TWO.parameters, TWO.base),
    ]
    assert all(arm.heading == 0.0 and arm.target is None for arm in read)


def test_links_and_joints_of_others_are_left_alone():
    text = robot_description([ONE], RULES).replace(
        "</robot>",
        '<link name="cup"/><joint name="shelf" type="fixed"><parent link="world"/>'
        '<child link="cup"/></joint></robot>',
    )
    assert [arm.number for arm in arms_from_description(text)] == [1]


TEXT = robot_description([ONE], RULES)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no XML"),
        ("hello", "no XML"),
        ("<sdf/>", "must be a <robot>"),
        ("<robot/>", "no arm"),
        ('<!DOCTYPE r [<!ENTITY a "b">]><robot/>', "document type"),
        (TEXT.replace("arm_1/joint_3", "arm_1/joint_2"), "unique"),
        (TEXT.replace("arm_1/joint_3", "arm_1/joint_7"), "no arm_1/joint_3"),
        (TEXT.replace("arm_1/joint_3", "elbow"), "no arm_1/joint_4|segment_3|joint_3"),
        (TEXT.replace('type="continuous"', 'type="prismatic"'), "must be continuous"),
        (TEXT.replace('lower="-1.0"', 'lower="-2.0"', 1), "both ways"),
        (TEXT.replace('upper="1.0"', 'upper="nan"', 1), "finite number"),
        (TEXT.replace('upper="1.0"', "", 1), "finite number"),
        (TEXT.replace('"-1.0"', '"-4.0"').replace('"1.0"', '"4.0"'), "maximum_bend"),
        (TEXT.replace('velocity="1.5"', 'velocity="2.5"', 1), "speed limits"),
        (TEXT.replace('velocity="1.5"', 'velocity="-1.5"'), "turning_speed"),
        (TEXT.replace('xyz="0.02 0.0 0"', 'xyz="0.03 0.0 0"', 1), "segment lengths"),
        (TEXT.replace('xyz="0.02 0.0 0"', 'xyz="-0.02 0.0 0"'), "segment_length"),
        (TEXT.replace('xyz="0.02 0.0 0"', 'xyz="0.02 0.1 0"', 1), "along x"),
        (TEXT.replace('xyz="0.02 0.0 0"', 'xyz="0.02 0.0"', 1), "three numbers"),
        (TEXT.replace('xyz="0.1 -0.2 0"', 'xyz="inf -0.2 0"'), "finite number"),
        (TEXT.replace('<axis xyz="0 0 1" />', '<axis xyz="0 1 0" />', 1), "about z"),
        (TEXT.replace('rpy="0 0 0"', 'rpy="0 0 1"'), "not turned"),
        (TEXT.replace('<child link="arm_1/tip" />', ""), "a child"),
        (TEXT.replace('<child link="arm_1/tip" />', '<child link="arm_1/base" />'), "one joint"),
    ],
    ids=lambda value: value if len(value) < 40 else "",
)
def test_nonsense_is_refused_with_what_is_wrong(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        arms_from_description(text)


def test_an_arm_of_one_segment_or_of_too_many_is_refused():
    many = "".join(
        f'<joint name="arm_1/joint_{i}" type="fixed"><parent link="a"/><child link="c{i}"/></joint>'
        for i in range(5, 200)
    )
    with pytest.raises(ValueError, match="between 2 and 100"):
        arms_from_description(TEXT.replace("</robot>", many + "</robot>"))


def test_how_thick_an_arm_is_drawn_reads_back():
    rules = ReachRules.metre()
    arms = [ArmPlacement(number, ArmParameters(20, 0.018)) for number in (2, 7)]
    thick = rules.arm_clearance
    radii = arm_radii(robot_description(arms, rules))
    assert radii == {2: (thick, TIP_TAPER * thick), 7: (thick, TIP_TAPER * thick)}


def test_an_arm_that_is_drawn_otherwise_has_no_thickness():
    text = '<robot><link name="arm_1/tip"/><link name="arm_1/segment_1_start"/></robot>'
    assert arm_radii(text) == {}
