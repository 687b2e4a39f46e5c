"""Everything that changes while arms move, as arrays over all arms and all objects.

The kernels take these tuples whole. Rows of `ArmState` are arms in the order of their numbers,
padded to the longest arm; rows of `ObjectState` are objects in the scene's order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from octo_reach.model.geometry import Flags, Floats, Integers

NOTHING = -1
"""Stands in a column of rows for "no row"."""

SCENE = 0
"""Place in `ObjectState.versions` counted up when objects come, go, move or change hands."""
MOTION = 1
"""Place in `ObjectState.versions` counted up whenever any object is somewhere else than before."""


class ArmState(NamedTuple):
    """One row an arm; A arms, M segments in the longest, K objects, C contacts that find room.

    Attributes:
        segment_count: (A,) number of segments N.
        segment_length: (A,) in the scene's unit.
        maximum_bend: (A,) rad.
        turning_speed: (A,) rad/s.
        base: (A, 2) fixed base.
        angles: (A, M) joint angles, rad.
        joints: (A, M + 1, 2) joint positions.
        headings: (A, M) absolute headings, rad.
        proposed: (A, M) joint angles asked for in this update, rad.
        requests: (A, M, 2) attachment that each segment asks its neighbour for.
        request_headings: (A, M) heading proposed with it, rad.
        goals: (A, M, 2) local goal of each segment after steering.
        steered: (A, M) whether steering changed that goal.
        target: (A, 2) where the tip should go; while carrying, renewed with every update.
        destination: (A, 2) where the tip, or the held object, was sent.
        active: (A,) whether the arm has a reach assignment.
        gated: (A,) whether a blocked or reached target stops the arm before its planner is asked.
        blocked: (A,) the last update was refused.
        avoiding: (A,) the last update steered around an obstacle.
        held: (A,) row of the held object, or NOTHING.
        grip_segment: (A,) holding segment, from 1.
        grip_offset: (A, 2) place of the held object in the frame of that segment's end.
        candidate: (A,) number of the object being grasped, or NOTHING.
        candidate_segment: (A,) last segment of the touching pair, from 1.
        dwell: (A,) how long the pair has lasted, s.
        captured: (A,) row of the object captured in this step, or NOTHING.
        updates: (A,) how often the arm was moved or tried to move.
        pose_version: (A,) counts changes of the pose.
        sensed_pose: (A,) pose version that the readings belong to.
        sensed_motion: (A,) object motion version that the readings belong to.
        near_version: (A,) scene version that the near lists belong to.
        near_count: (A,) how many objects can be sensed from anywhere within reach.
        near_rows: (A, K) their rows, in the scene's order.
        near_obstacle_count: (A,) how many obstacles can matter to steering or the guard.
        near_obstacles: (A, K, 3) centre and radius of these.
        touches_obstacle: (A,) any segment senses an obstacle.
        pair_end: (A, K) last segment of the first two in a row that touch an object, or 0.
        contact_count: (A,) readings; may exceed C, then the rest found no room.
        contact_segment: (A, C) segment of each reading, from 1.
        contact_row: (A, C) row of the object.
        contact_point: (A, C, 2) sensing point.
        contact_distance: (A, C) gap from it to the object's surface.
    """

    segment_count: Integers
    segment_length: Floats
    maximum_bend: Floats
    turning_speed: Floats
    base: Floats
    angles: Floats
    joints: Floats
    headings: Floats
    proposed: Floats
    requests: Floats
    request_headings: Floats
    goals: Floats
    steered: Flags
    target: Floats
    destination: Floats
    active: Flags
    gated: Flags
    blocked: Flags
    avoiding: Flags
    held: Integers
    grip_segment: Integers
    grip_offset: Floats
    candidate: Integers
    candidate_segment: Integers
    dwell: Floats
    captured: Integers
    updates: Integers
    pose_version: Integers
    sensed_pose: Integers
    sensed_motion: Integers
    near_version: Integers
    near_count: Integers
    near_rows: Integers
    near_obstacle_count: Integers
    near_obstacles: Floats
    touches_obstacle: Flags
    pair_end: Integers
    contact_count: Integers
    contact_segment: Integers
    contact_row: Integers
    contact_point: Floats
    contact_distance: Floats


class ObjectState(NamedTuple):
    """One row an object.

    Attributes:
        numbers: (K,) object numbers.
        kinds: (K,) `ObjectKind` values.
        positions: (K, 2) centres.
        radii: (K,) radii.
        owners: (K,) row of the arm that holds the object, or NOTHING.
        versions: (2,) change counters, see SCENE and MOTION.
    """

    numbers: Integers
    kinds: Integers
    positions: Floats
    radii: Floats
    owners: Integers
    versions: Integers


class Scratch(NamedTuple):
    """Room for intermediate results; nothing in it outlives one update of one arm.

    Attributes:
        turns: (M,) change of each joint angle, rad.
        travels: (M,) most motion of each segment.
        pair_segments: (M * K,) segment of each pair the guard must watch.
        pair_obstacles: (M * K,) obstacle of each pair.
        pair_limits: (M * K,) least distance of each pair.
        last_touch: (K,) last segment that touched each object.
    """

    turns: Floats
    travels: Floats
    pair_segments: Integers
    pair_obstacles: Integers
    pair_limits: Floats
    last_touch: Integers


def empty_arms(arms: int, segments: int, objects: int, contacts: int) -> ArmState:
    """Make the arrays for a number of arms, all idle and nothing sensed."""
    whole = np.int64
    return ArmState(
        segment_count=np.zeros(arms, whole),
        segment_length=np.zeros(arms),
        maximum_bend=np.zeros(arms),
        turning_speed=np.zeros(arms),
        base=np.zeros((arms, 2)),
        angles=np.zeros((arms, segments)),
        joints=np.zeros((arms, segments + 1, 2)),
        headings=np.zeros((arms, segments)),
        proposed=np.zeros((arms, segments)),
        requests=np.zeros((arms, segments, 2)),
        request_headings=np.zeros((arms, segments)),
        goals=np.zeros((arms, segments, 2)),
        steered=np.zeros((arms, segments), np.bool_),
        target=np.zeros((arms, 2)),
        destination=np.zeros((arms, 2)),
        active=np.zeros(arms, np.bool_),
        gated=np.ones(arms, np.bool_),
        blocked=np.zeros(arms, np.bool_),
        avoiding=np.zeros(arms, np.bool_),
        held=np.full(arms, NOTHING, whole),
        grip_segment=np.zeros(arms, whole),
        grip_offset=np.zeros((arms, 2)),
        candidate=np.full(arms, NOTHING, whole),
        candidate_segment=np.zeros(arms, whole),
        dwell=np.zeros(arms),
        captured=np.full(arms, NOTHING, whole),
        updates=np.zeros(arms, whole),
        pose_version=np.zeros(arms, whole),
        sensed_pose=np.full(arms, NOTHING, whole),
        sensed_motion=np.full(arms, NOTHING, whole),
        near_version=np.full(arms, NOTHING, whole),
        near_count=np.zeros(arms, whole),
        near_rows=np.zeros((arms, objects), whole),
        near_obstacle_count=np.zeros(arms, whole),
        near_obstacles=np.zeros((arms, objects, 3)),
        touches_obstacle=np.zeros(arms, np.bool_),
        pair_end=np.zeros((arms, objects), whole),
        contact_count=np.zeros(arms, whole),
        contact_segment=np.zeros((arms, contacts), whole),
        contact_row=np.zeros((arms, contacts), whole),
        contact_point=np.zeros((arms, contacts, 2)),
        contact_distance=np.zeros((arms, contacts)),
    )


def empty_objects(objects: int) -> ObjectState:
    """Make the arrays for a number of objects, all free."""
    return ObjectState(
        numbers=np.zeros(objects, np.int64),
        kinds=np.zeros(objects, np.int64),
        positions=np.zeros((objects, 2)),
        radii=np.zeros(objects),
        owners=np.full(objects, NOTHING, np.int64),
        versions=np.zeros(2, np.int64),
    )


def empty_scratch(segments: int, objects: int) -> Scratch:
    """Make room for the intermediate results of arms of at most that size."""
    pairs = segments * objects
    return Scratch(
        turns=np.zeros(segments),
        travels=np.zeros(segments),
        pair_segments=np.zeros(pairs, np.int64),
        pair_obstacles=np.zeros(pairs, np.int64),
        pair_limits=np.zeros(pairs),
        last_touch=np.zeros(objects, np.int64),
    )
