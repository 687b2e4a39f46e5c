"""Which objects a rule need look at: those an arm could ever meet, and of these what is around it.

Both lists only leave out what cannot matter, so that no verdict is another one for them. What an
arm could ever meet is listed when the scene changes. What is around it is listed with some travel
to spare, an allowance that every motion takes its share of, and is listed anew when that is used
up; whoever looks further than the allowance goes by the longer list.
"""

from __future__ import annotations

import math

from octo_reach.model.compilation import compiled, inlined
from octo_reach.model.rules import KernelRules
from octo_reach.model.scene import ObjectKind
from octo_reach.model.state import NOTHING, SCENE, State
from octo_reach.model.steering import GROUP, HALF, SLACK

OBSTACLE = int(ObjectKind.OBSTACLE)

ALLOWANCE = 4.0
"""Travel for which what is around an arm is listed, in lengths of its segments.

The more, the longer the list, and the longer it lasts: from 2 to 6 differ by some hundredths.
"""
LEAST_ALLOWANCE = 0.5
"""What an update begins with at least, in lengths of segments, so that most find it enough."""


@compiled
def reach_of_rules(segment_length: float, rules: KernelRules) -> float:
    """Give how far from an arm an object's surface may lie and still matter to a rule."""
    return max(
        rules.sensor_radius,
        rules.arm_clearance + rules.steering_margin + rules.lookahead_segments * segment_length,
        rules.arm_clearance + rules.sample_travel,
    )


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
    margin = reach_of_rules(length, rules)
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
    arm["around_pose"] = NOTHING


@compiled
def list_around(row: int, allowance: float, state: State, rules: KernelRules) -> None:
    """Note which objects matter to an arm before any point of it has gone so far, in place.

    An object is around the arm where it is near enough to any group of segments. Held objects move
    by other arms' motions, so they always are.

    Args:
        row: the arm.
        allowance: how far, in the scene's unit.
        state: the tables; the arm's part of `around` and `around_obstacles` is filled in.
        rules: constants of the scene.
    """
    arm = state.arms[row]
    count = arm["segment_count"]
    length = arm["segment_length"]
    horizon = HALF * length + reach_of_rules(length, rules) + allowance
    around = 0
    obstacles = 0
    for place in range(arm["near_count"]):
        near = state.near[row, place]
        # Sensing renews this only of what is listed here.
        near["pair_end"] = 0
        thing = state.objects[near["row"]]
        reach = (horizon + thing["radius"]) * SLACK
        is_around = thing["owner"] != NOTHING
        for first in range(0, count, GROUP):
            if is_around:
                break
            middle = state.links[row, min(first + HALF, count)]
            d_x = thing["x"] - middle["x"]
            d_y = thing["y"] - middle["y"]
            is_around = d_x * d_x + d_y * d_y <= reach * reach
        if not is_around:
            continue
        state.around[row, around] = place
        around += 1
        if thing["kind"] == OBSTACLE:
            state.around_obstacles[row, obstacles, 0] = thing["x"]
            state.around_obstacles[row, obstacles, 1] = thing["y"]
            state.around_obstacles[row, obstacles, 2] = thing["radius"]
            obstacles += 1
    arm["around_count"] = around
    arm["around_obstacle_count"] = obstacles
    arm["around_pose"] = arm["pose_version"]
    arm["allowance"] = allowance


@inlined
def look_around(row: int, least: float, state: State, rules: KernelRules) -> None:
    """Make sure that what is around one arm was listed for so much travel from here, in place.

    Args:
        row: the arm.
        least: the travel, in the scene's unit.
        state: the tables; the list is made anew where it was made for another pose or for less.
        rules: constants of the scene.
    """
    arm = state.arms[row]
    if arm["around_pose"] != arm["pose_version"] or arm["allowance"] < least:
        list_around(row, ALLOWANCE * arm["segment_length"], state, rules)


@inlined
def note_travel(row: int, travel: float, state: State) -> None:
    """Take a motion off one arm's allowance, in place; its pose version is counted up after that.

    Args:
        row: the arm.
        travel: how far any point of it went at most, in the scene's unit.
        state: the tables.
    """
    arm = state.arms[row]
    if arm["around_pose"] == arm["pose_version"]:
        arm["around_pose"] += 1
        arm["allowance"] -= travel
