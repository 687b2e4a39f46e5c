"""The robot model (URDF) made from the arms, and the arms read back from it.

The frame of a segment sits at its end, x along it, for that is where a grip is measured; a joint
turns at the segment's start. So joint i has a child of its own there, `arm_1/segment_i_start`,
to which `arm_1/segment_i` is fixed one segment length further:

    world - arm_1/base - (arm_1/joint_1) - arm_1/segment_1_start - arm_1/segment_1
                       - (arm_1/joint_2) - arm_1/segment_2_start - arm_1/segment_2 ... arm_1/tip

Base frames lie along the world's axes, so the position of joint 1 is the heading of the base.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from octo_reach.model.arm import MOST_SEGMENTS, ArmParameters, ArmPlacement
from octo_reach.model.rules import ReachRules
from octo_reach.ros.colours import Colour, arm_colour
from octo_reach.ros.frames import (
    WORLD,
    arm_name,
    base_frame,
    joint_name,
    parse_base_frame,
    parse_joint_name,
    parse_tip_frame,
    segment_frame,
    tip_frame,
)

ROBOT_NAME = "octo_reach"

LONGEST_DESCRIPTION = 10_000_000
"""Most characters of a description that is read; a hundred arms of a hundred segments fit."""

TIP_TAPER = 0.5
"""Radius at the tip as a share of that at the base."""

FEWEST_RODS = 12
"""Fewest pieces an arm is drawn of: an arm of few segments tapers in as many steps."""

MOST_SUCKERS = 20
"""Most pairs of suckers along an arm: RViz draws each of them as a thing of its own."""

SUCKERS = "suckers"
SUCKER_COLOUR = (0.94, 0.86, 0.78)

_EQUAL = 1e-9


def start_frame(arm: int, segment: int) -> str:
    """Give the frame at the start of a segment, x along it: `arm_1/segment_12_start`."""
    return f"{segment_frame(arm, segment)}_start"


def robot_description(placements: Iterable[ArmPlacement], rules: ReachRules) -> str:
    """Make the URDF of the arms.

    The drawn arm tapers towards the tip and is nowhere wider than the clearance it keeps, so
    what is seen never stands in an obstacle the guard keeps it out of. Along its upper side, the
    one that is seen, go two rows of suckers.

    Args:
        placements: the arms, in metres and rad.
        rules: constants of the scene; the clearance gives the width.

    Returns:
        The document, as `robot_state_publisher` takes it.
    """
    robot = Element("robot", name=ROBOT_NAME)
    SubElement(robot, "link", name=WORLD)
    _define_material(robot, SUCKERS, SUCKER_COLOUR)
    for placement in sorted(placements, key=lambda placement: placement.number):
        _describe_arm(robot, placement, rules)
    ElementTree.indent(robot)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(robot, encoding="unicode") + "\n"


def _describe_arm(robot: Element, placement: ArmPlacement, rules: ReachRules) -> None:
    number, parameters = placement.number, placement.parameters
    count, length = parameters.segment_count, parameters.segment_length
    thickest = rules.arm_clearance if rules.arm_clearance > 0.0 else 0.15 * length
    _define_material(robot, arm_name(number), arm_colour(number))

    base = SubElement(robot, "link", name=base_frame(number))
    _add_cylinder(base, number, 1.5 * thickest, thickest)
    _add_joint(
        robot, "fixed", f"{arm_name(number)}/mount", WORLD, base_frame(number), placement.base
    )
    parent = base_frame(number)
    between = -(-count // MOST_SUCKERS)
    for segment in range(1, count + 1):
        start = SubElement(robot, "link", name=start_frame(number, segment))
        radii = _radii(thickest, segment, count)
        _add_sphere(start, number, radii[0])
        for piece, radius in enumerate(radii):
            _add_rod(start, number, radius, length / len(radii), piece)
        if segment % between == 0:
            _add_suckers(start, radii[0], length)
        SubElement(robot, "link", name=segment_frame(number, segment))
        kind = "continuous" if segment == 1 else "revolute"
        joint = _add_joint(
            robot, kind, joint_name(number, segment), parent, start_frame(number, segment)
        )
        SubElement(joint, "axis", xyz="0 0 1")
        limit = {"effort": "0", "velocity": repr(float(parameters.turning_speed))}
        if segment > 1:
            bend = float(parameters.maximum_bend)
            limit = {"lower": repr(-bend), "upper": repr(bend), **limit}
        SubElement(joint, "limit", limit)
        parent = segment_frame(number, segment)
        _add_joint(
            robot, "fixed", f"{parent}_end", start_frame(number, segment), parent, (length, 0.0)
        )
    tip = SubElement(robot, "link", name=tip_frame(number))
    _add_sphere(tip, number, thickest * TIP_TAPER)
    _add_joint(robot, "fixed", f"{arm_name(number)}/tip_mount", parent, tip_frame(number))


def _radii(thickest: float, segment: int, count: int) -> list[float]:
    """Give the radii of the pieces of a segment, falling evenly from an arm's base to its tip."""
    pieces = -(-FEWEST_RODS // count)
    first = (segment - 1) * pieces
    last = max(1, count * pieces - 1)
    return [
        thickest * (1.0 - (1.0 - TIP_TAPER) * piece / last)
        for piece in range(first, first + pieces)
    ]


def _define_material(robot: Element, name: str, colour: Colour) -> None:
    red, green, blue = colour
    SubElement(SubElement(robot, "material", name=name), "color", rgba=f"{red} {green} {blue} 1")


def _add_joint(
    robot: Element,
    kind: str,
    name: str,
    parent: str,
    child: str,
    place: tuple[float, float] = (0.0, 0.0),
) -> Element:
    joint = SubElement(robot, "joint", name=name, type=kind)
    SubElement(joint, "parent", link=parent)
    SubElement(joint, "child", link=child)
    SubElement(joint, "origin", xyz=f"{float(place[0])!r} {float(place[1])!r} 0", rpy="0 0 0")
    return joint


def _add_visual(link: Element, material: str, xyz: str = "0 0 0", rpy: str = "0 0 0") -> Element:
    visual = SubElement(link, "visual")
    SubElement(visual, "origin", xyz=xyz, rpy=rpy)
    geometry = SubElement(visual, "geometry")
    SubElement(visual, "material", name=material)
    return geometry


def _add_sphere(link: Element, arm: int, radius: float) -> None:
    SubElement(_add_visual(link, arm_name(arm)), "sphere", radius=f"{radius:.9g}")


def _add_cylinder(link: Element, arm: int, radius: float, height: float) -> None:
    geometry = _add_visual(link, arm_name(arm))
    SubElement(geometry, "cylinder", radius=f"{radius:.9g}", length=f"{height:.9g}")


def _add_rod(link: Element, arm: int, radius: float, length: float, place: int) -> None:
    """Draw a cylinder along x that begins `place` of its lengths ahead of the frame."""
    middle = f"{(place + 0.5) * length:.9g} 0 0"
    geometry = _add_visual(link, arm_name(arm), middle, f"0 {math.pi / 2.0!r} 0")
    SubElement(geometry, "cylinder", radius=f"{radius:.9g}", length=f"{length:.9g}")


def _add_suckers(link: Element, radius: float, length: float) -> None:
    """Draw a pair of suckers on an arm of this radius, in the middle of a segment."""
    for side in (-1.0, 1.0):
        place = f"{0.5 * length:.9g} {0.55 * side * radius:.9g} {0.5 * radius:.9g}"
        geometry = _add_visual(link, SUCKERS, place)
        SubElement(geometry, "sphere", radius=f"{min(0.4 * radius, 0.4 * length):.9g}")


# Reading


@dataclass(frozen=True)
class _Joint:
    """What is read of a joint: a pose of the plane, whether it is turned, and the limits."""

    name: str
    kind: str
    parent: str
    child: str
    place: tuple[float, float]
    turned: bool
    axis: str
    limit: dict[str, str]


def arms_from_description(text: str) -> list[ArmPlacement]:
    """Read the arms back from a URDF that `robot_description` made.

    Links and joints that are no arm's are left alone. Headings and targets are not in a URDF:
    the placements carry a heading of 0 and no target.

    Args:
        text: the document.

    Returns:
        The arms by number: base, segment count and length, limits; metres and rad.

    Raises:
        ValueError: not a URDF, no arm in it, or an arm whose joints are missing, doubled, out of
            order, unequal or out of range. The text names the joint.
    """
    joints = _read_joints(_read_root(text))
    by_child = {joint.child: joint for joint in joints}
    if len(by_child) != len(joints):
        raise ValueError("robot description: a link must be the child of one joint only")
    by_name = {joint.name: joint for joint in joints}
    if len(by_name) != len(joints):
        raise ValueError("robot description: joint names must be unique")
    numbers = sorted(
        number for child in by_child if (number := parse_base_frame(child)) is not None
    )
    if not numbers:
        raise ValueError(f"robot description: there is no arm ({base_frame(1)}) in it")
    return [_read_arm(number, by_child, by_name) for number in numbers]


def _read_root(text: str) -> Element:
    if len(text) > LONGEST_DESCRIPTION:
        raise ValueError(
            f"robot description must be at most {LONGEST_DESCRIPTION} characters, got {len(text)}"
        )
    if "<!" in text.replace("<!--", ""):
        # Entities could blow a small text up beyond all memory; a URDF needs none.
        raise ValueError("robot description must not have a document type or entities")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"robot description is no XML: {error}") from None
    if root.tag != "robot":
        raise ValueError(f"robot description must be a <robot>, got <{root.tag}>")
    return root


def _read_joints(root: Element) -> list[_Joint]:
    joints = []
    for element in root.findall("joint"):
        name = element.get("name", "")
        parent, child = element.find("parent"), element.find("child")
        if not name or parent is None or child is None:
            raise ValueError(f"joint {name!r} must have a name, a parent and a child")
        origin, axis, limit = (element.find(tag) for tag in ("origin", "axis", "limit"))
        joints.append(
            _Joint(
                name=name,
                kind=element.get("type", ""),
                parent=parent.get("link", ""),
                child=child.get("link", ""),
                place=_read_triple(name, "xyz", origin)[:2],
                turned=any(_read_triple(name, "rpy", origin)),
                axis=axis.get("xyz", "") if axis is not None else "",
                limit=dict(limit.attrib) if limit is not None else {},
            )
        )
    return joints


def _read_triple(name: str, what: str, origin: Element | None) -> tuple[float, float, float]:
    """Give the three numbers of an origin's attribute; left out they are zero."""
    words = origin.get(what, "0 0 0").split() if origin is not None else ["0"] * 3
    if len(words) != 3:
        raise ValueError(f"joint {name}: origin {what} must be three numbers, got {len(words)}")
    x, y, z = (_read_number(name, f"origin {what}", word) for word in words)
    return x, y, z


def _read_number(name: str, what: str, text: str | None) -> float:
    try:
        number = float(text) if text is not None else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"joint {name}: {what} must be a finite number, got {text!r}")
    return number


def _read_arm(number: int, by_child: dict[str, _Joint], by_name: dict[str, _Joint]) -> ArmPlacement:
    mount = by_child[base_frame(number)]
    if mount.kind != "fixed" or mount.parent != WORLD or mount.turned:
        raise ValueError(f"joint {mount.name} must fix {base_frame(number)} to {WORLD}, not turned")
    count = sum(1 for name in by_name if (parsed := parse_joint_name(name)) and parsed[0] == number)
    if not 2 <= count <= MOST_SEGMENTS:
        raise ValueError(
            f"{arm_name(number)} must have between 2 and {MOST_SEGMENTS} joints"
            f" ({joint_name(number, 1)}, ...), got {count}"
        )
    lengths, bends, speeds = [], [], []
    parent = base_frame(number)
    for segment in range(1, count + 1):
        name = joint_name(number, segment)
        joint = by_name.get(name)
        if joint is None:
            raise ValueError(f"{arm_name(number)} has {count} joints, but there is no {name}")
        start, end = start_frame(number, segment), segment_frame(number, segment)
        kind = "continuous" if segment == 1 else "revolute"
        if (joint.kind, joint.parent, joint.child) != (kind, parent, start):
            raise ValueError(
                f"joint {name} must be {kind} from {parent} to {start},"
                f" got {joint.kind} from {joint.parent} to {joint.child}"
            )
        rod = by_child.get(end)
        if rod is None or rod.kind != "fixed" or rod.parent != start:
            raise ValueError(f"{end} must be fixed to {start}")
        if joint.turned or rod.turned or joint.axis.split() != ["0", "0", "1"]:
            raise ValueError(f"joint {name} must turn about z (axis 0 0 1, origins not turned)")
        if joint.place != (0.0, 0.0):
            raise ValueError(f"joint {name} must sit at the origin of {parent}, got {joint.place}")
        if rod.place[1] != 0.0:
            raise ValueError(f"joint {rod.name} must lie along x, got {rod.place}")
        lengths.append(rod.place[0])
        speeds.append(_read_number(name, "limit velocity", joint.limit.get("velocity")))
        if segment > 1:
            lower = _read_number(name, "limit lower", joint.limit.get("lower"))
            upper = _read_number(name, "limit upper", joint.limit.get("upper"))
            if not math.isclose(-lower, upper, rel_tol=_EQUAL):
                raise ValueError(f"joint {name} must bend as far both ways, got {lower} to {upper}")
            bends.append(upper)
        parent = end
    what = arm_name(number)
    try:
        parameters = ArmParameters(
            segment_count=count,
            segment_length=_the_one(f"segment lengths of {what}", lengths),
            maximum_bend=_the_one(f"bend limits of {what}", bends),
            turning_speed=_the_one(f"speed limits of {what}", speeds),
        )
    except ValueError as error:
        raise ValueError(f"robot description, {what}: {error}") from None
    return ArmPlacement(number=number, parameters=parameters, base=mount.place)


def arm_radii(text: str) -> dict[int, tuple[float, float]]:
    """Read how thick the arms of a URDF that `robot_description` made are drawn.

    Args:
        text: the document.

    Returns:
        Radius at the base and at the tip, m, by arm number; arms without either are left out.

    Raises:
        ValueError: not a URDF, or a radius that is no number.
    """
    drawn = {
        link.get("name", ""): sphere.get("radius")
        for link in _read_root(text).findall("link")
        if (sphere := link.find("visual/geometry/sphere")) is not None
    }
    radii = {}
    for name, radius in drawn.items():
        number = parse_tip_frame(name)
        start = None if number is None else start_frame(number, 1)
        if number is not None and start in drawn:
            radii[number] = (
                _read_number(name, "radius", drawn[start]),
                _read_number(name, "radius", radius),
            )
    return radii


def _the_one(what: str, values: Sequence[float]) -> float:
    """Give the value all of them are."""
    if any(not math.isclose(value, values[0], rel_tol=_EQUAL) for value in values):
        raise ValueError(f"{what} must all be the same, got {min(values)!r} to {max(values)!r}")
    return values[0]
