"""One update of one arm: sense, then hold, grasp or move; a planner asks, limits and guard decide.

The `Planner` protocol stands here; planners themselves are handed in. Whatever one of them asks for
passes the speed limit, the bend limit and the swept guard before the arm takes it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats, clip, place_joints, wrap
from octo_reach.model.grasping import find_candidate, forget_candidate, mature_grasp
from octo_reach.model.guard import arm_move_is_safe, held_centre, payload_move_is_safe
from octo_reach.model.messages import exchange_requests, turn_towards_goals
from octo_reach.model.rules import KernelRules
from octo_reach.model.sensing import OBSTACLE, sense
from octo_reach.model.state import MOTION, NOTHING, ArmState, ObjectState, Scratch

if TYPE_CHECKING:
    from octo_reach.model.octopus import Arm


class Planner(Protocol):
    """What proposes the joint angles of one arm.

    Attributes:
        name: what it is called in files, parameters and reports.
        note: what it has to say at the moment, for people; empty when all is well.
        gated: True where a target that is blocked or already reached stops the arm without the
            planner being asked; False where the planner wants to be asked all the same.
        follows_neighbours: True only for the neighbour rules, which the octopus then runs compiled,
            for all such arms in one call.
    """

    name: str
    note: str
    gated: bool
    follows_neighbours: bool

    def propose(self, arm: Arm, target: Floats, obstacles: Floats, dt: float) -> Floats | None:
        """Propose joint angles for the next update.

        Args:
            arm: the arm as it is now.
            target: where the tip should go, shape (2,), in the scene's unit.
            obstacles: centre and radius of each obstacle that the arm could meet, shape (K, 3).
            dt: duration of the update, s.

        Returns:
            Joint angles, shape (N,), rad, as far from the present ones as the planner likes; None
            to stay.
        """
        ...

    def reset(self) -> None:
        """Forget what was planned: the pose was reset, or the assignment changed."""
        ...


@compiled
def begin_update(
    row: int,
    dt: float,
    arms: ArmState,
    objects: ObjectState,
    rules: KernelRules,
    scratch: Scratch,
) -> tuple[bool, float, float]:
    """Sense, and settle what needs no motion: holding, grasping, a blocked or a reached target.

    Returns:
        Whether the arm is to move, and the target of its tip, x and y.
    """
    arms.captured[row] = NOTHING
    sense(row, arms, objects, rules, scratch)
    if not arms.active[row]:
        return False, 0.0, 0.0
    tip_x = arms.joints[row, arms.segment_count[row], 0]
    tip_y = arms.joints[row, arms.segment_count[row], 1]
    target_x = arms.target[row, 0]
    target_y = arms.target[row, 1]
    held = arms.held[row]
    if held != NOTHING:
        d_x = arms.destination[row, 0] - objects.positions[held, 0]
        d_y = arms.destination[row, 1] - objects.positions[held, 1]
        if math.sqrt(d_x * d_x + d_y * d_y) <= rules.carry_tolerance:
            arms.active[row] = False
            arms.blocked[row] = False
            arms.avoiding[row] = False
            return False, 0.0, 0.0
        # The destination is the object's, so the tip aims beside it by the offset between the two.
        target_x = arms.destination[row, 0] + (tip_x - objects.positions[held, 0])
        target_y = arms.destination[row, 1] + (tip_y - objects.positions[held, 1])
        arms.target[row, 0] = target_x
        arms.target[row, 1] = target_y
    else:
        number, segment = find_candidate(row, arms, objects)
        if number != NOTHING:
            mature_grasp(row, number, segment, dt, arms, objects, rules)
            return False, 0.0, 0.0
        forget_candidate(row, arms)
    arms.blocked[row] = False
    arms.avoiding[row] = False
    if arms.gated[row]:
        if target_is_blocked(target_x, target_y, objects, rules):
            arms.blocked[row] = True
            return False, 0.0, 0.0
        d_x = tip_x - target_x
        d_y = tip_y - target_y
        arrived = math.sqrt(d_x * d_x + d_y * d_y) <= rules.reach_tolerance
        if arrived and not arms.touches_obstacle[row]:
            return False, 0.0, 0.0
    arms.updates[row] += 1
    return True, target_x, target_y


@compiled
def target_is_blocked(
    target_x: float, target_y: float, objects: ObjectState, rules: KernelRules
) -> bool:
    """Tell whether a target lies within the clearance of an obstacle (seed 000, movement check)."""
    for k in range(len(objects.numbers)):
        if objects.kinds[k] != OBSTACLE:
            continue
        d_x = target_x - objects.positions[k, 0]
        d_y = target_y - objects.positions[k, 1]
        if math.sqrt(d_x * d_x + d_y * d_y) < objects.radii[k] + rules.arm_clearance:
            return True
    return False


@compiled
def propose_by_neighbours(
    row: int, target_x: float, target_y: float, dt: float, arms: ArmState, rules: KernelRules
) -> None:
    """Propose joint angles for one arm by the neighbour rules, in place (seed 000)."""
    count = arms.segment_count[row]
    obstacles = arms.near_obstacles[row, : arms.near_obstacle_count[row]]
    goals = arms.goals[row]
    steered = arms.steered[row]
    before = exchange_requests(
        target_x,
        target_y,
        arms.segment_length[row],
        arms.maximum_bend[row],
        arms.joints[row],
        arms.headings[row, :count],
        obstacles,
        rules,
        arms.requests[row],
        arms.request_headings[row],
        goals,
        steered,
    )
    during = turn_towards_goals(
        dt,
        arms.base[row, 0],
        arms.base[row, 1],
        arms.segment_length[row],
        arms.maximum_bend[row],
        arms.turning_speed[row],
        arms.angles[row, :count],
        obstacles,
        rules,
        goals,
        steered,
        arms.proposed[row],
    )
    arms.avoiding[row] = before or during


@compiled
def limit_proposal(row: int, dt: float, arms: ArmState) -> None:
    """Bring a planner's proposal within the speed and bend limits, in place.

    The base turns the short way round and wraps; other joints stay within the largest bend.
    """
    largest_turn = arms.turning_speed[row] * dt
    bend = arms.maximum_bend[row]
    for i in range(arms.segment_count[row]):
        angle = arms.angles[row, i]
        asked = arms.proposed[row, i]
        if i == 0:
            turn = clip(wrap(asked - angle), -largest_turn, largest_turn)
            arms.proposed[row, i] = wrap(angle + turn)
        else:
            turn = clip(clip(asked, -bend, bend) - angle, -largest_turn, largest_turn)
            arms.proposed[row, i] = clip(angle + turn, -bend, bend)


@compiled
def finish_update(
    row: int, arms: ArmState, objects: ObjectState, rules: KernelRules, scratch: Scratch
) -> None:
    """Take a limited proposal where the guard allows it, and move what is held along, in place."""
    count = arms.segment_count[row]
    angles = arms.angles[row, :count]
    proposed = arms.proposed[row, :count]
    changed = False
    for i in range(count):
        if proposed[i] != angles[i]:
            changed = True
    if not changed:
        return
    obstacles = arms.near_obstacles[row, : arms.near_obstacle_count[row]]
    base_x = arms.base[row, 0]
    base_y = arms.base[row, 1]
    length = arms.segment_length[row]
    safe = arm_move_is_safe(
        base_x,
        base_y,
        length,
        angles,
        arms.joints[row],
        proposed,
        obstacles,
        rules,
        scratch.turns,
        scratch.travels,
        scratch.pair_segments,
        scratch.pair_obstacles,
        scratch.pair_limits,
    )
    held = arms.held[row]
    segment = arms.grip_segment[row]
    if safe and held != NOTHING:
        safe = payload_move_is_safe(
            base_x,
            base_y,
            length,
            angles,
            proposed,
            segment,
            arms.grip_offset[row, 0],
            arms.grip_offset[row, 1],
            objects.radii[held],
            obstacles,
            rules,
        )
    if not safe:
        arms.blocked[row] = True
        return
    for i in range(count):
        angles[i] = proposed[i]
    place_joints(base_x, base_y, length, angles, arms.joints[row], arms.headings[row])
    arms.pose_version[row] += 1
    if held != NOTHING:
        c_x, c_y = held_centre(
            arms.joints[row, segment, 0],
            arms.joints[row, segment, 1],
            arms.headings[row, segment - 1],
            arms.grip_offset[row, 0],
            arms.grip_offset[row, 1],
        )
        objects.positions[held, 0] = c_x
        objects.positions[held, 1] = c_y
        objects.versions[MOTION] += 1


@compiled
def update_arms(
    first: int,
    last: int,
    dt: float,
    arms: ArmState,
    objects: ObjectState,
    rules: KernelRules,
    scratch: Scratch,
) -> None:
    """Update the arms of rows `first` to `last` - 1 by the neighbour rules, in order (seed 000)."""
    for row in range(first, last):
        moving, target_x, target_y = begin_update(row, dt, arms, objects, rules, scratch)
        if moving:
            propose_by_neighbours(row, target_x, target_y, dt, arms, rules)
            finish_update(row, arms, objects, rules, scratch)
        sense(row, arms, objects, rules, scratch)


@compiled
def sense_all(arms: ArmState, objects: ObjectState, rules: KernelRules, scratch: Scratch) -> None:
    """Refresh the readings of every arm: objects may have moved after an arm had its turn."""
    for row in range(len(arms.segment_count)):
        sense(row, arms, objects, rules, scratch)
