"""Contacts: which segment touches which object, and where (seed 000, sensing)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from octo_reach.model.compilation import compiled, inlined
from octo_reach.model.geometry import Floats, Integers, closest_point
from octo_reach.model.rules import KernelRules
from octo_reach.model.state import MOTION, NOTHING, SCENE, State
from octo_reach.model.steering import GROUP, HALF, SLACK
from octo_reach.model.surroundings import OBSTACLE, list_near_objects, look_around


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
def list_close_objects(
    row: int, first: int, length: float, state: State, rules: KernelRules
) -> int:
    """List the objects that a group of segments could touch, in the scene's order.

    Args:
        row: the arm.
        first: first segment of the group, from 0.
        length: length of a segment, in the scene's unit.
        state: the tables; places on the arm's near list are filled into the column `close`, and
            into `nearby` centres, within which distance of them there is touch, and the square of
            that beyond which no segment that starts there touches.
        rules: constants of the scene.

    Returns:
        How many there are.
    """
    middle = state.links[row, min(first + HALF, state.arms[row]["segment_count"])]
    reach = HALF * length + rules.sensor_radius
    count = 0
    for listed in range(state.arms[row]["around_count"]):
        place = state.around[row, listed]
        thing = state.objects[state.near[row, place]["row"]]
        d_x = thing["x"] - middle["x"]
        d_y = thing["y"] - middle["y"]
        horizon = (reach + thing["radius"]) * SLACK
        if d_x * d_x + d_y * d_y <= horizon * horizon:
            state.objects[count]["close"] = place
            state.nearby[count, 0] = thing["x"]
            state.nearby[count, 1] = thing["y"]
            touching = thing["radius"] + rules.sensor_radius
            state.nearby[count, 2] = touching
            # The centre is nearer to no point of a segment than to its start, less its length.
            horizon = (touching + length) * SLACK
            state.nearby[count, 3] = horizon * horizon
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
            look_around(row, 0.0, state, rules)
            sense_objects_around(row, state, rules)
        else:
            arm["contact_count"] = 0
            arm["touches_obstacle"] = False
        arm["sensed_pose"] = arm["pose_version"]
        arm["sensed_motion"] = state.versions[MOTION]


@compiled
def sense_objects_around(row: int, state: State, rules: KernelRules) -> None:
    """Find what one arm touches of what is around it, in place (seed 000, sensing).

    A segment touches an object whose centre is within the object's radius plus the sensor radius;
    exact touching counts. Readings are replaced whole.
    """
    arm = state.arms[row]
    length = arm["segment_length"]
    room = state.contacts.shape[1]
    for listed in range(arm["around_count"]):
        place = state.around[row, listed]
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
            c_x = state.nearby[listed, 0]
            c_y = state.nearby[listed, 1]
            d_x = c_x - start["x"]
            d_y = c_y - start["y"]
            if d_x * d_x + d_y * d_y > state.nearby[listed, 3]:
                continue
            h_x, h_y = closest_point(start["x"], start["y"], end["x"], end["y"], c_x, c_y)
            d_x = c_x - h_x
            d_y = c_y - h_y
            distance = math.sqrt(d_x * d_x + d_y * d_y)
            if distance > state.nearby[listed, 2]:
                continue
            near = state.near[row, state.objects[listed]["close"]]
            thing = state.objects[near["row"]]
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
