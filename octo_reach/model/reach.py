"""One update of one arm: sense, then hold, grasp or move; a planner asks, limits and guard decide.

The `Planner` protocol stands here; planners themselves are handed in. Whatever one of them asks for
passes the speed limit, the bend limit and the swept guard before the arm takes it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

from octo_reach.model.compilation import compiled, inlined
from octo_reach.model.geometry import Floats, clip, wrap
from octo_reach.model.grasping import find_candidate, forget_candidate, mature_grasp
from octo_reach.model.guard import (
    arm_move_is_safe,
    held_centre,
    measure_move,
    payload_move_is_safe,
    payload_retreat_is_safe,
    retreat_is_safe,
)
from octo_reach.model.messages import exchange_requests, turn_towards_goals
from octo_reach.model.rules import KernelRules
from octo_reach.model.sensing import sense
from octo_reach.model.state import MOTION, NOTHING, State
from octo_reach.model.surroundings import LEAST_ALLOWANCE, OBSTACLE, look_around, note_travel

if TYPE_CHECKING:
    from octo_reach.model.octopus import Arm


class Planner(Protocol):
    """What proposes the joint angles of one arm.

    A class that names this one as its base inherits the values given here, and has only to give
    its name and `propose`.

    Attributes:
        name: what it is called in files, parameters and reports.
        note: what it has to say at the moment, for people; empty when all is well.
        state: what the arm is doing, in a word or two, where the planner knows better than the
            model, as "No way" where there is none; else empty.
        under_way: True while the planner has a way to go to its end, whatever lies on it: then an
            arm that carries is not done though what it holds is at its destination.
        gated: True where a target that is blocked or already reached stops the arm without the
            planner being asked; False where the planner wants to be asked all the same. Then the
            guard also lets it draw the arm out of an overlap, which it never makes deeper.
        retreats: False where a planner that is not gated wants no such leave for what it proposes:
            it lets an arm creep on along an obstacle where a refusal would tell more.
        follows_neighbours: True only for the neighbour rules, which the octopus then runs compiled,
            for all such arms in one call.
    """

    name: str
    note: str = ""
    state: str = ""
    under_way: bool = False
    gated: bool = True
    retreats: bool = True
    follows_neighbours: bool = False

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
        return


@inlined
def begin_update(
    row: int, dt: float, under_way: bool, state: State, rules: KernelRules
) -> tuple[bool, float, float]:
    """Sense, and settle what needs no motion: holding, grasping, a blocked or a reached target.

    Args:
        row: row of the arm.
        dt: duration of the update, s.
        under_way: whether the arm is to move on though what it carries is at its destination.
        state: everything that changes; the arm's row is.
        rules: constants of the scene.

    Returns:
        Whether the arm is to move, and the target of its tip, x and y.
    """
    arm = state.arms[row]
    arm["captured"] = NOTHING
    sense(row, state, rules)
    if not arm["active"]:
        return False, 0.0, 0.0
    tip = state.links[row, arm["segment_count"]]
    target_x = arm["target_x"]
    target_y = arm["target_y"]
    if arm["held"] != NOTHING:
        thing = state.objects[arm["held"]]
        d_x = arm["destination_x"] - thing["x"]
        d_y = arm["destination_y"] - thing["y"]
        if not under_way and math.sqrt(d_x * d_x + d_y * d_y) <= rules.carry_tolerance:
            arm["active"] = False
            arm["blocked"] = False
            arm["avoiding"] = False
            return False, 0.0, 0.0
        # The destination is the object's, so the tip aims beside it by the offset between the two.
        target_x = arm["destination_x"] + (tip["x"] - thing["x"])
        target_y = arm["destination_y"] + (tip["y"] - thing["y"])
        arm["target_x"] = target_x
        arm["target_y"] = target_y
    else:
        number, segment = find_candidate(row, state)
        if number != NOTHING:
            mature_grasp(row, number, segment, dt, state, rules)
            return False, 0.0, 0.0
        forget_candidate(row, state)
    arm["blocked"] = False
    arm["avoiding"] = False
    if arm["gated"]:
        if target_is_blocked(row, target_x, target_y, state, rules):
            arm["blocked"] = True
            return False, 0.0, 0.0
        d_x = tip["x"] - target_x
        d_y = tip["y"] - target_y
        arrived = math.sqrt(d_x * d_x + d_y * d_y) <= rules.reach_tolerance
        if arrived and not arm["touches_obstacle"]:
            return False, 0.0, 0.0
    return True, target_x, target_y


@compiled
def target_is_blocked(
    row: int, target_x: float, target_y: float, state: State, rules: KernelRules
) -> bool:
    """Tell whether a target lies within the clearance of an obstacle (seed 000, movement check).

    Whatever could be in the way of a target within an arm's reach is on the list of what that arm
    could meet; beyond it, every obstacle of the scene is looked at.
    """
    arm = state.arms[row]
    reach = arm["segment_count"] * arm["segment_length"]
    d_x = target_x - arm["base_x"]
    d_y = target_y - arm["base_y"]
    if d_x * d_x + d_y * d_y <= reach * reach:
        for k in range(arm["obstacle_count"]):
            obstacle = state.near_obstacles[row, k]
            clear = obstacle[2] + rules.arm_clearance
            d_x = target_x - obstacle[0]
            d_y = target_y - obstacle[1]
            if abs(d_x) <= clear and math.sqrt(d_x * d_x + d_y * d_y) < clear:
                return True
        return False
    for k in range(len(state.objects)):
        thing = state.objects[k]
        clear = thing["radius"] + rules.arm_clearance
        d_x = target_x - thing["x"]
        d_y = target_y - thing["y"]
        if thing["kind"] != OBSTACLE or abs(d_x) > clear:
            continue
        if math.sqrt(d_x * d_x + d_y * d_y) < clear:
            return True
    return False


@inlined
def propose_by_neighbours(
    row: int,
    target_x: float,
    target_y: float,
    dt: float,
    state: State,
    rules: KernelRules,
) -> None:
    """Propose a pose for one arm by the neighbour rules, in place (seed 000)."""
    arm = state.arms[row]
    links = state.links[row]
    obstacles = state.near_obstacles[row, : arm["obstacle_count"]]
    around = obstacles
    if arm["obstacle_count"] > 0:
        look_around(row, LEAST_ALLOWANCE * arm["segment_length"], state, rules)
        around = state.around_obstacles[row, : arm["around_obstacle_count"]]
    before = exchange_requests(
        target_x,
        target_y,
        arm["segment_count"],
        arm["segment_length"],
        arm["maximum_bend"],
        links,
        around,
        rules,
        state.nearby,
    )
    during = turn_towards_goals(
        dt,
        arm["segment_count"],
        arm["segment_length"],
        arm["maximum_bend"],
        arm["turning_speed"],
        links,
        obstacles,
        around,
        arm["allowance"],
        rules,
        state.nearby,
    )
    arm["avoiding"] = before or during


@compiled
def limit_proposal(row: int, dt: float, state: State) -> None:
    """Bring a planner's proposal within the speed and bend limits, in place.

    The base turns the short way round and wraps; other joints stay within the largest bend.
    """
    arm = state.arms[row]
    links = state.links[row]
    largest_turn = arm["turning_speed"] * dt
    bend = arm["maximum_bend"]
    length = arm["segment_length"]
    x = arm["base_x"]
    y = arm["base_y"]
    heading = 0.0
    for i in range(arm["segment_count"]):
        link = links[i]
        angle = link["angle"]
        asked = link["proposed"]
        if i == 0:
            turn = clip(wrap(asked - angle), -largest_turn, largest_turn)
            angle = wrap(angle + turn)
        else:
            turn = clip(clip(asked, -bend, bend) - angle, -largest_turn, largest_turn)
            angle = clip(angle + turn, -bend, bend)
        heading += angle
        x += length * math.cos(heading)
        y += length * math.sin(heading)
        link["proposed"] = angle
        link["proposed_heading"] = heading
        links[i + 1]["proposed_x"] = x
        links[i + 1]["proposed_y"] = y


@inlined
def move_is_safe(row: int, state: State, rules: KernelRules) -> bool:
    """Tell whether the guard lets one arm, and what it holds, take the proposed, measured pose."""
    arm = state.arms[row]
    links = state.links[row]
    count = arm["segment_count"]
    length = arm["segment_length"]
    obstacles = state.near_obstacles[row, : arm["obstacle_count"]]
    around = obstacles
    if arm["around_pose"] == arm["pose_version"] and links[count - 1]["travel"] <= arm["allowance"]:
        around = state.around_obstacles[row, : arm["around_obstacle_count"]]
    safe = arm_move_is_safe(count, length, links, around, rules, state.pairs)
    if not safe and arm["retreats"]:
        # Seed 000's own rules go by its guard alone; planners may draw an arm out of an overlap.
        safe = retreat_is_safe(count, length, links, obstacles, rules)
    if not safe:
        return False
    if arm["held"] == NOTHING:
        return True
    segment = arm["grip_segment"]
    along = arm["grip_along"]
    across = arm["grip_across"]
    radius = state.objects[arm["held"]]["radius"]
    if payload_move_is_safe(length, links, segment, along, across, radius, obstacles, rules):
        return True
    if not arm["retreats"]:
        return False
    return payload_retreat_is_safe(length, links, segment, along, across, radius, obstacles, rules)


@inlined
def finish_update(row: int, state: State, rules: KernelRules) -> None:
    """Take a limited proposal where the guard allows it, and move what is held along, in place."""
    arm = state.arms[row]
    links = state.links[row]
    count = arm["segment_count"]
    changed = False
    for i in range(count):
        if links[i]["proposed"] != links[i]["angle"]:
            changed = True
    if not changed:
        return
    segment = arm["grip_segment"]
    if arm["near_count"] > 0:
        measure_move(count, arm["segment_length"], links)
    if arm["obstacle_count"] > 0 and not move_is_safe(row, state, rules):
        arm["blocked"] = True
        return
    for i in range(count):
        link = links[i]
        link["angle"] = link["proposed"]
        link["heading"] = link["proposed_heading"]
        links[i + 1]["x"] = links[i + 1]["proposed_x"]
        links[i + 1]["y"] = links[i + 1]["proposed_y"]
    if arm["near_count"] > 0:
        note_travel(row, links[count - 1]["travel"], state)
    arm["pose_version"] += 1
    if arm["held"] != NOTHING:
        thing = state.objects[arm["held"]]
        c_x, c_y = held_centre(
            links[segment]["x"],
            links[segment]["y"],
            links[segment - 1]["heading"],
            arm["grip_along"],
            arm["grip_across"],
        )
        thing["x"] = c_x
        thing["y"] = c_y
        state.versions[MOTION] += 1


@inlined
def update_arms(first: int, last: int, dt: float, state: State, rules: KernelRules) -> None:
    """Update the arms of rows `first` to `last` - 1 by the neighbour rules, in order (seed 000)."""
    for row in range(first, last):
        moving, target_x, target_y = begin_update(row, dt, False, state, rules)
        if moving:
            state.arms[row]["updates"] += 1
            propose_by_neighbours(row, target_x, target_y, dt, state, rules)
            finish_update(row, state, rules)
        sense(row, state, rules)


@inlined
def sense_all(state: State, rules: KernelRules) -> tuple[int, int]:
    """Refresh the readings of every arm: objects may have moved after an arm had its turn.

    Returns:
        How many grasps this step completed, and the most readings of any one arm.
    """
    captures = 0
    readings = 0
    for row in range(len(state.arms)):
        sense(row, state, rules)
        if state.arms[row]["captured"] != NOTHING:
            captures += 1
        readings = max(readings, state.arms[row]["contact_count"])
    return captures, readings


@inlined
def update_all(dt: float, state: State, rules: KernelRules) -> tuple[int, int]:
    """Update every arm by the neighbour rules and refresh all readings: one step in one call.

    Returns:
        How many grasps this step completed, and the most readings of any one arm.
    """
    update_arms(0, len(state.arms), dt, state, rules)
    return sense_all(state, rules)
