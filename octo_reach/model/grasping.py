"""Grasping: two neighbouring segments on one food for a while, then a rigid hold (seed 000)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from octo_reach.model.compilation import compiled
from octo_reach.model.rules import KernelRules
from octo_reach.model.scene import ObjectKind
from octo_reach.model.state import NOTHING, SCENE, State

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
def find_candidate(row: int, state: State) -> tuple[int, int]:
    """Give what one arm could grasp now (seed 000, grasp).

    Returns:
        Number of the lowest-numbered free food that two segments in a row touch, and the last
        segment, from 1, of the first such pair; NOTHING and 0 where there is none.
    """
    number = NOTHING
    segment = 0
    if state.arms[row]["contact_count"] < 2:
        return number, segment
    for place in range(state.arms[row]["near_count"]):
        near = state.near[row, place]
        if near["pair_end"] == 0:
            continue
        thing = state.objects[near["row"]]
        if thing["kind"] != FOOD or thing["owner"] != NOTHING:
            continue
        if number == NOTHING or thing["number"] < number:
            number = thing["number"]
            segment = near["pair_end"]
    return number, segment


@compiled
def forget_candidate(row: int, state: State) -> None:
    """Start no grasp, and end one that was maturing."""
    arm = state.arms[row]
    arm["candidate"] = NOTHING
    arm["candidate_segment"] = 0
    arm["dwell"] = 0.0


@compiled
def mature_grasp(
    row: int, number: int, segment: int, dt: float, state: State, rules: KernelRules
) -> None:
    """Let a contact pair last `dt` longer; when it has lasted long enough, hold (seed 000, grasp).

    The arm keeps its pose meanwhile. The object is latched where it lies, in the frame of the
    segment's end: o = R(-heading) (c - p).
    """
    arm = state.arms[row]
    arm["blocked"] = False
    arm["avoiding"] = False
    if arm["candidate"] == number and arm["candidate_segment"] == segment:
        arm["dwell"] += dt
    else:
        arm["candidate"] = number
        arm["candidate_segment"] = segment
        arm["dwell"] = dt
    if arm["dwell"] < rules.grasp_dwell - DWELL_SLACK:
        return
    held = 0
    for k in range(len(state.objects)):
        if state.objects[k]["number"] == number:
            held = k
    thing = state.objects[held]
    end = state.links[row, segment]
    heading = state.links[row, segment - 1]["heading"]
    d_x = thing["x"] - end["x"]
    d_y = thing["y"] - end["y"]
    cosine = math.cos(heading)
    sine = math.sin(heading)
    arm["held"] = held
    arm["grip_segment"] = segment
    arm["grip_along"] = cosine * d_x + sine * d_y
    arm["grip_across"] = cosine * d_y - sine * d_x
    arm["captured"] = held
    arm["active"] = False
    thing["owner"] = row
    state.versions[SCENE] += 1
    forget_candidate(row, state)
