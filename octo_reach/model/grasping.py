"""Grasping: two neighbouring segments on one food for a while, then a rigid hold (seed 000)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from octo_reach.model.compilation import compiled
from octo_reach.model.rules import KernelRules
from octo_reach.model.scene import ObjectKind
from octo_reach.model.state import NOTHING, SCENE, ArmState, ObjectState

FOOD = int(ObjectKind.FOOD)
DWELL_SLACK = 1e-12
"""Rounding allowed when the dwell is compared with its limit, s."""


@dataclass(frozen=True)
class Grip:
    """A hold.

    Attributes:
        object: number of the held object.
        segment: holding segment, from 1.
        offset: the object's place, (along, across), from that segment's end in its frame.
    """

    object: int
    segment: int
    offset: tuple[float, float]


@dataclass(frozen=True)
class Candidate:
    """A grasp that is maturing.

    Attributes:
        object: number of the touched food.
        segment: last of the two touching segments, from 1.
    """

    object: int
    segment: int


@dataclass(frozen=True)
class Capture:
    """The report of a completed grasp.

    Attributes:
        arm: number of the arm.
        object: number of the object it holds from now on.
        seconds: simulated time after the step that completed it, s.
    """

    arm: int
    object: int
    seconds: float


@compiled
def find_candidate(row: int, arms: ArmState, objects: ObjectState) -> tuple[int, int]:
    """Give what one arm could grasp now (seed 000, grasp).

    Returns:
        Number of the lowest-numbered free food that two segments in a row touch, and the last
        segment, from 1, of the first such pair; NOTHING and 0 where there is none.
    """
    number = NOTHING
    segment = 0
    for place in range(arms.near_count[row]):
        k = arms.near_rows[row, place]
        if arms.pair_end[row, k] == 0:
            continue
        if objects.kinds[k] != FOOD or objects.owners[k] != NOTHING:
            continue
        if number == NOTHING or objects.numbers[k] < number:
            number = objects.numbers[k]
            segment = arms.pair_end[row, k]
    return number, segment


@compiled
def forget_candidate(row: int, arms: ArmState) -> None:
    """Start no grasp, and end one that was maturing."""
    arms.candidate[row] = NOTHING
    arms.candidate_segment[row] = 0
    arms.dwell[row] = 0.0


@compiled
def mature_grasp(
    row: int,
    number: int,
    segment: int,
    dt: float,
    arms: ArmState,
    objects: ObjectState,
    rules: KernelRules,
) -> None:
    """Let a contact pair last `dt` longer; when it has lasted long enough, hold (seed 000, grasp).

    The arm keeps its pose meanwhile. The object is latched where it lies, in the frame of the
    segment's end: o = R(-heading) (c - p).
    """
    arms.blocked[row] = False
    arms.avoiding[row] = False
    if arms.candidate[row] == number and arms.candidate_segment[row] == segment:
        arms.dwell[row] += dt
    else:
        arms.candidate[row] = number
        arms.candidate_segment[row] = segment
        arms.dwell[row] = dt
    if arms.dwell[row] < rules.grasp_dwell - DWELL_SLACK:
        return
    held = 0
    for k in range(len(objects.numbers)):
        if objects.numbers[k] == number:
            held = k
    d_x = objects.positions[held, 0] - arms.joints[row, segment, 0]
    d_y = objects.positions[held, 1] - arms.joints[row, segment, 1]
    cosine = math.cos(arms.headings[row, segment - 1])
    sine = math.sin(arms.headings[row, segment - 1])
    arms.held[row] = held
    arms.grip_segment[row] = segment
    arms.grip_offset[row, 0] = cosine * d_x + sine * d_y
    arms.grip_offset[row, 1] = cosine * d_y - sine * d_x
    arms.captured[row] = held
    arms.active[row] = False
    objects.owners[held] = row
    objects.versions[SCENE] += 1
    forget_candidate(row, arms)
