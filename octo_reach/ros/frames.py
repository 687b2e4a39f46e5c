"""Names of arms, frames and joints, and the plane geometry of a frame.

An arm is called `arm_<number>`; its frames are `arm_1/base`, `arm_1/segment_1` ... and
`arm_1/tip`, its joints `arm_1/joint_1` ... A segment's frame sits at the segment's end, x along
it. Names are numbered from 1.
"""

from __future__ import annotations

import re

from octo_reach.ros.rotations import plane_rotation

WORLD = "world"
"""The fixed frame. An empty frame id means it too."""

_NUMBER = "([1-9][0-9]{0,8})"
_ARM = re.compile(f"arm_{_NUMBER}")
_BASE = re.compile(f"arm_{_NUMBER}/base")
_TIP = re.compile(f"arm_{_NUMBER}/tip")
_SEGMENT = re.compile(f"arm_{_NUMBER}/segment_{_NUMBER}")
_JOINT = re.compile(f"arm_{_NUMBER}/joint_{_NUMBER}")


def arm_name(arm: int) -> str:
    """Give the name of an arm: `arm_1`."""
    return f"arm_{arm}"


def base_frame(arm: int) -> str:
    """Give the frame of an arm's fixed base, its axes along the world's: `arm_1/base`."""
    return f"arm_{arm}/base"


def segment_frame(arm: int, segment: int) -> str:
    """Give the frame at the end of a segment, x along it: `arm_1/segment_12`."""
    return f"arm_{arm}/segment_{segment}"


arm_frame = segment_frame
"""The same by its shorter name."""


def tip_frame(arm: int) -> str:
    """Give the frame at an arm's tip, x along the last segment: `arm_1/tip`."""
    return f"arm_{arm}/tip"


def joint_name(arm: int, joint: int) -> str:
    """Give the name of a joint, the base being joint 1: `arm_1/joint_1`."""
    return f"arm_{arm}/joint_{joint}"


def joint_names(arm: int, segment_count: int) -> list[str]:
    """Give the names of an arm's joints from base to tip."""
    return [joint_name(arm, joint) for joint in range(1, segment_count + 1)]


def is_world(frame_id: str) -> bool:
    """Tell whether a frame id means the fixed frame."""
    return frame_id in ("", WORLD)


def parse_arm_name(name: str) -> int | None:
    """Give the number of the arm called so, or None where it is no arm's name."""
    found = _ARM.fullmatch(name)
    return int(found[1]) if found else None


def parse_base_frame(frame_id: str) -> int | None:
    """Give the arm whose base frame this is, or None."""
    found = _BASE.fullmatch(frame_id)
    return int(found[1]) if found else None


def parse_tip_frame(frame_id: str) -> int | None:
    """Give the arm whose tip's frame this is, or None."""
    found = _TIP.fullmatch(frame_id)
    return int(found[1]) if found else None


def parse_frame(frame_id: str) -> tuple[int, int] | None:
    """Give (arm, segment) of a segment's frame, or None where it is none."""
    found = _SEGMENT.fullmatch(frame_id)
    return (int(found[1]), int(found[2])) if found else None


def parse_joint_name(name: str) -> tuple[int, int] | None:
    """Give (arm, joint) of a joint's full name, or None where it is none."""
    found = _JOINT.fullmatch(name)
    return (int(found[1]), int(found[2])) if found else None


def position_in_world(
    offset: tuple[float, float], origin: tuple[float, float], heading: float
) -> tuple[float, float]:
    """Give the world position of a point fixed to a frame: c = p + R(heading) o.

    Args:
        offset: the point in the frame, (along, across), m.
        origin: where the frame sits, (x, y), m.
        heading: direction of the frame's x axis, rad.

    Returns:
        (x, y), m.
    """
    x, y = (plane_rotation(heading) @ offset).tolist()
    return origin[0] + x, origin[1] + y


def offset_in_frame(
    position: tuple[float, float], origin: tuple[float, float], heading: float
) -> tuple[float, float]:
    """Give a world position as a frame sees it: o = R(-heading) (c - p).

    Args:
        position: the point, (x, y), m.
        origin: where the frame sits, (x, y), m.
        heading: direction of the frame's x axis, rad.

    Returns:
        (along, across), m.
    """
    away = (position[0] - origin[0], position[1] - origin[1])
    # A vector times R is R transposed times the vector: the turn back.
    along, across = (away @ plane_rotation(heading)).tolist()
    return along, across
