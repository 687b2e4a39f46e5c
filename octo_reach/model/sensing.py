"""Contacts: which segment touches which object, and where (seed 000, sensing)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from octo_reach.model.compilation import compiled, inlined
from octo_reach.model.geometry import Floats, Integers, closest_point
from octo_reach.model.rules import KernelRules
from octo_reach.model.scene import ObjectKind
from octo_reach.model.state import MOTION, NOTHING, SCENE, State
from octo_reach.model.steering import GROUP, HALF, SLACK

OBSTACLE = int(ObjectKind.OBSTACLE)


@dataclass(frozen=True)
class ContactReadings:
    """What the sensing strips touch: by arm, then segment, then object in the scene's order.

    Attributes:
        arms: arm numbers, shape (C,).
        segments: segments, from 1, shape (C,).
        objects: object numbers, shape (C,).
        kinds: `ObjectKind` values, shape (C,).
        points: nearest points of the segments, shape (C, 2), in the scene's unit.
        distances: gap from there to the object's surface, negative inside, shape (C,).
    """

    arms: Integers
    segments: Integers
    objects: Integers
    kinds: Integers
    points: Floats
    distances: Floats

    def __len__(self) -> int:
        """Count the readings."""
        return len(self.arms)


@compiled
def list_near_objects(row: int, state: State, rules: KernelRules) -> None:
    """Note which objects one arm could ever meet where they lie, in place.

    An object beyond the arm's whole reach, what it holds there, and every margin can change no
    sensing, steering or guard verdict. Held objects move without notice, so they are always on
    the list.
    """
    arm = state.arms[row]
    arm["near_version"] = state.versions[SCENE]
    arm["sensed_motion"] = NOTHING
    length = arm["segment_length"]
    margin = max(
        rules.sensor_radius,
        rules.arm_clearance + rules.steering_margin + rules.lookahead_segments * length,
        rules.arm_clearance + rules.sample_travel,
    )
    held = arm["held"]
    if held != NOTHING:
        # What is held sticks out beyond the arm, and its circle is guarded as well.
        along = arm["grip_along"]
        across = arm["grip_across"]
        beyond = math.sqrt(along * along + across * across) + state.objects[held]["radius"]
        margin = max(margin, beyond + rules.sample_travel)
    horizon = (arm["segment_count"] * length + margin) * SLACK
    near = 0
    obstacles = 0
    for k in range(len(state.objects)):
        thing = state.objects[k]
        d_x = thing["x"] - arm["base_x"]
        d_y = thing["y"] - arm["base_y"]
        reach = horizon + thing["radius"]
        if thing["owner"] == NOTHING and d_x * d_x + d_y * d_y > reach * reach:
            continue
        state.near[row, near]["row"] = k
        near += 1
        if thing["kind"] == OBSTACLE:
            state.near_obstacles[row, obstacles, 0] = thing["x"]
            state.near_obstacles[row, obstacles, 1] = thing["y"]
            state.near_obstacles[row, obstacles, 2] = thing["radius"]
            obstacles += 1
    arm["near_count"] = near
    arm["obstacle_count"] = obstacles


@compiled
def list_close_objects(
    row: int, first: int, length: float, state: State, rules: KernelRules
) -> int:
    """List the objects that a group of segments could touch, in the scene's order.

    Args:
        row: the arm.
        first: first segment of the group, from 0.
        length: length of a segment, in the scene's unit.
        state: the tables; places on the arm's near list are filled into the column `close`.
        rules: constants of the scene.

    Returns:
        How many there are.
    """
    middle = state.links[row, min(first + HALF, state.arms[row]["segment_count"])]
    reach = HALF * length + rules.sensor_radius
    count = 0
    for place in range(state.arms[row]["near_count"]):
        thing = state.objects[state.near[row, place]["row"]]
        d_x = thing["x"] - middle["x"]
        d_y = thing["y"] - middle["y"]
        horizon = (reach + thing["radius"]) * SLACK
        if d_x * d_x + d_y * d_y <= horizon * horizon:
            state.objects[count]["close"] = place
            count += 1
    return count


@inlined
def sense(row: int, state: State, rules: KernelRules) -> None:
    """Refresh the readings of one arm, in place (seed 000, sensing).

    Nothing is done where neither the pose nor any object has changed since the last time, nor where
    there is nothing to touch: both are found out here, since a call takes longer than that.
    """
    arm = state.arms[row]
    if arm["near_version"] != state.versions[SCENE]:
        list_near_objects(row, state, rules)
    if arm["sensed_pose"] != arm["pose_version"] or arm["sensed_motion"] != state.versions[MOTION]:
        if arm["near_count"] > 0:
            sense_near_objects(row, state, rules)
        else:
            arm["contact_count"] = 0
            arm["touches_obstacle"] = False
        arm["sensed_pose"] = arm["pose_version"]
        arm["sensed_motion"] = state.versions[MOTION]


@compiled
def sense_near_objects(row: int, state: State, rules: KernelRules) -> None:
    """Find what one arm touches of what it could touch, in place (seed 000, sensing).

    A segment touches an object whose centre is within the object's radius plus the sensor radius;
    exact touching counts. Readings are replaced whole.
    """
    arm = state.arms[row]
    length = arm["segment_length"]
    room = state.contacts.shape[1]
    for place in range(arm["near_count"]):
        state.near[row, place]["pair_end"] = 0
        state.objects[state.near[row, place]["row"]]["last_touch"] = NOTHING
    found = 0
    close = 0
    touches_obstacle = False
    for i in range(arm["segment_count"]):
        start = state.links[row, i]
        end = state.links[row, i + 1]
        if i % GROUP == 0:
            close = list_close_objects(row, i, length, state, rules)
        for listed in range(close):
            near = state.near[row, state.objects[listed]["close"]]
            thing = state.objects[near["row"]]
            touching = thing["radius"] + rules.sensor_radius
            # The centre is nearer to no point of the segment than to its start, less its length.
            horizon = (touching + length) * SLACK
            d_x = thing["x"] - start["x"]
            d_y = thing["y"] - start["y"]
            if d_x * d_x + d_y * d_y > horizon * horizon:
                continue
            h_x, h_y = closest_point(
                start["x"], start["y"], end["x"], end["y"], thing["x"], thing["y"]
            )
            d_x = thing["x"] - h_x
            d_y = thing["y"] - h_y
            distance = math.sqrt(d_x * d_x + d_y * d_y)
            if distance > touching:
                continue
            if found < room:
                contact = state.contacts[row, found]
                contact["segment"] = i + 1
                contact["row"] = near["row"]
                contact["x"] = h_x
                contact["y"] = h_y
                contact["distance"] = distance - thing["radius"]
            found += 1
            if thing["kind"] == OBSTACLE:
                touches_obstacle = True
            if i > 0 and thing["last_touch"] == i - 1 and near["pair_end"] == 0:
                near["pair_end"] = i + 1
            thing["last_touch"] = i
    arm["contact_count"] = found
    arm["touches_obstacle"] = touches_obstacle
