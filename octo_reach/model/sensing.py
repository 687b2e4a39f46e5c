"""Contacts: which segment touches which object, and where (seed 000, sensing)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats, Integers, closest_point
from octo_reach.model.rules import KernelRules
from octo_reach.model.scene import ObjectKind
from octo_reach.model.state import MOTION, NOTHING, SCENE, ArmState, ObjectState, Scratch

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
def list_near_objects(row: int, arms: ArmState, objects: ObjectState, rules: KernelRules) -> None:
    """Note which objects one arm could ever meet where they lie, in place.

    An object beyond the arm's whole reach, what it holds there, and every margin can change no
    sensing, steering or guard verdict. Held objects move without notice, so they are always on
    the list.
    """
    if arms.near_version[row] == objects.versions[SCENE]:
        return
    arms.near_version[row] = objects.versions[SCENE]
    arms.sensed_motion[row] = NOTHING
    length = arms.segment_length[row]
    margin = max(
        rules.sensor_radius,
        rules.arm_clearance + rules.steering_margin + rules.lookahead_segments * length,
        rules.arm_clearance + rules.sample_travel,
    )
    held = arms.held[row]
    if held != NOTHING:
        # What is held sticks out beyond the arm, and its circle is guarded as well.
        along = arms.grip_offset[row, 0]
        across = arms.grip_offset[row, 1]
        beyond = math.sqrt(along * along + across * across) + objects.radii[held]
        margin = max(margin, beyond + rules.sample_travel)
    horizon = (arms.segment_count[row] * length + margin) * 1.000001
    near = 0
    obstacles = 0
    for k in range(len(objects.numbers)):
        arms.pair_end[row, k] = 0
        d_x = objects.positions[k, 0] - arms.base[row, 0]
        d_y = objects.positions[k, 1] - arms.base[row, 1]
        reach = horizon + objects.radii[k]
        if objects.owners[k] == NOTHING and d_x * d_x + d_y * d_y > reach * reach:
            continue
        arms.near_rows[row, near] = k
        near += 1
        if objects.kinds[k] == OBSTACLE:
            arms.near_obstacles[row, obstacles, 0] = objects.positions[k, 0]
            arms.near_obstacles[row, obstacles, 1] = objects.positions[k, 1]
            arms.near_obstacles[row, obstacles, 2] = objects.radii[k]
            obstacles += 1
    arms.near_count[row] = near
    arms.near_obstacle_count[row] = obstacles


@compiled
def sense(
    row: int, arms: ArmState, objects: ObjectState, rules: KernelRules, scratch: Scratch
) -> None:
    """Refresh the readings of one arm, in place (seed 000, sensing).

    A segment touches an object whose centre is within the object's radius plus the sensor radius;
    exact touching counts. Readings are replaced whole; nothing is done where neither the pose nor
    any object has changed since the last time.
    """
    list_near_objects(row, arms, objects, rules)
    if (
        arms.sensed_pose[row] == arms.pose_version[row]
        and arms.sensed_motion[row] == objects.versions[MOTION]
    ):
        return
    arms.sensed_pose[row] = arms.pose_version[row]
    arms.sensed_motion[row] = objects.versions[MOTION]
    near = arms.near_rows[row, : arms.near_count[row]]
    joints = arms.joints[row]
    length = arms.segment_length[row]
    room = arms.contact_segment.shape[1]
    for k in near:
        arms.pair_end[row, k] = 0
        scratch.last_touch[k] = NOTHING
    found = 0
    touches_obstacle = False
    for i in range(arms.segment_count[row]):
        a_x = joints[i, 0]
        a_y = joints[i, 1]
        for k in near:
            c_x = objects.positions[k, 0]
            c_y = objects.positions[k, 1]
            radius = objects.radii[k]
            touching = radius + rules.sensor_radius
            # The centre is nearer to no point of the segment than to its start, less its length.
            horizon = (touching + length) * 1.000001
            d_x = c_x - a_x
            d_y = c_y - a_y
            if d_x * d_x + d_y * d_y > horizon * horizon:
                continue
            h_x, h_y = closest_point(a_x, a_y, joints[i + 1, 0], joints[i + 1, 1], c_x, c_y)
            distance = math.sqrt((c_x - h_x) * (c_x - h_x) + (c_y - h_y) * (c_y - h_y))
            if distance > touching:
                continue
            if found < room:
                arms.contact_segment[row, found] = i + 1
                arms.contact_row[row, found] = k
                arms.contact_point[row, found, 0] = h_x
                arms.contact_point[row, found, 1] = h_y
                arms.contact_distance[row, found] = distance - radius
            found += 1
            if objects.kinds[k] == OBSTACLE:
                touches_obstacle = True
            if scratch.last_touch[k] == i - 1 and i > 0 and arms.pair_end[row, k] == 0:
                arms.pair_end[row, k] = i + 1
            scratch.last_touch[k] = i
    arms.contact_count[row] = found
    arms.touches_obstacle[row] = touches_obstacle
