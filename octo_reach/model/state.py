"""Everything that changes while arms move, as a few tables that the kernels take whole.

Each table is one structured array, so that a call hands over eleven arrays and not fifty. Rows of
`arms` are arms in the order of their numbers; every table with a row an arm is padded to the
longest arm, or to the most objects or contacts of any.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from octo_reach.model.geometry import Floats, Integers
from octo_reach.model.steering import GROUP

Table = NDArray[np.void]

NOTHING = -1
"""Stands in a column of rows for "no row"."""

SCENE = 0
"""Place in `State.versions` counted up when objects come, go, move or change hands."""
MOTION = 1
"""Place in `State.versions` counted up whenever any object is somewhere else than before."""

_NUMBER, _WHOLE, _FLAG = np.float64, np.int64, np.bool_

ARM = np.dtype(
    [
        ("segment_count", _WHOLE),  # N
        ("segment_length", _NUMBER),  # in the scene's unit, as all lengths here
        ("maximum_bend", _NUMBER),  # rad, as all angles here
        ("turning_speed", _NUMBER),  # rad/s
        ("base_x", _NUMBER),
        ("base_y", _NUMBER),
        ("target_x", _NUMBER),  # where the tip should go; renewed while carrying
        ("target_y", _NUMBER),
        ("destination_x", _NUMBER),  # where the tip, or the held object, was sent
        ("destination_y", _NUMBER),
        ("active", _FLAG),  # has a reach assignment
        ("gated", _FLAG),  # a blocked or reached target stops it before its planner is asked
        ("retreats", _FLAG),  # the guard may let it draw out of an overlap in this update
        ("blocked", _FLAG),  # the last update was refused
        ("avoiding", _FLAG),  # the last update steered around an obstacle
        ("touches_obstacle", _FLAG),  # any segment senses one
        ("held", _WHOLE),  # row of the held object, or NOTHING
        ("grip_segment", _WHOLE),  # holding segment, from 1
        ("grip_along", _NUMBER),  # place of the held object in the frame of that segment's end
        ("grip_across", _NUMBER),
        ("candidate", _WHOLE),  # number of the object being grasped, or NOTHING
        ("candidate_segment", _WHOLE),  # last segment of the touching pair, from 1
        ("dwell", _NUMBER),  # how long the pair has lasted, s
        ("captured", _WHOLE),  # row of the object captured in this step, or NOTHING
        ("updates", _WHOLE),  # how often the arm was moved or tried to move
        ("pose_version", _WHOLE),  # counts changes of the pose
        ("sensed_pose", _WHOLE),  # pose version that the readings belong to
        ("sensed_motion", _WHOLE),  # motion version that the readings belong to
        ("near_version", _WHOLE),  # scene version that the near lists belong to
        ("near_count", _WHOLE),  # rows used of `near`
        ("obstacle_count", _WHOLE),  # rows used of `near_obstacles`
        ("around_pose", _WHOLE),  # pose version that the lists of what is around belong to
        ("allowance", _NUMBER),  # how far any point may still travel before they must be made anew
        ("around_count", _WHOLE),  # rows used of `around`
        ("around_obstacle_count", _WHOLE),  # rows used of `around_obstacles`
        ("contact_count", _WHOLE),  # readings; beyond the width of `contacts` they found no room
    ],
    align=True,
)
"""One arm."""

LINK = np.dtype(
    [
        ("x", _NUMBER),  # joint i; row 0 is the base and row N the tip
        ("y", _NUMBER),
        ("request_x", _NUMBER),  # attachment that segment i + 1 asks its neighbour for
        ("request_y", _NUMBER),
        ("goal_x", _NUMBER),  # local goal of segment i + 1 after steering
        ("goal_y", _NUMBER),
        ("angle", _NUMBER),  # joint angle of segment i + 1
        ("heading", _NUMBER),  # its absolute heading
        ("request_heading", _NUMBER),  # heading proposed with its request
        ("proposed", _NUMBER),  # joint angle asked for in this update
        ("proposed_heading", _NUMBER),
        ("proposed_x", _NUMBER),  # joint i in the pose asked for
        ("proposed_y", _NUMBER),
        ("turn", _NUMBER),  # change of the joint angle
        ("travel", _NUMBER),  # most motion of any point of segment i + 1
        ("sample_x", _NUMBER),  # joint i between the two poses
        ("sample_y", _NUMBER),
        ("steered", _FLAG),  # steering changed the goal of segment i + 1
    ],
    align=True,
)
"""Row i of an arm of N segments: joint i, and the segment i + 1 that begins there."""

OBJECT = np.dtype(
    [
        ("x", _NUMBER),
        ("y", _NUMBER),
        ("radius", _NUMBER),
        ("number", _WHOLE),
        ("kind", _WHOLE),  # an `ObjectKind`
        ("owner", _WHOLE),  # row of the arm that holds it, or NOTHING
        ("last_touch", _WHOLE),  # scratch: last segment that touched it
        ("close", _WHOLE),  # scratch: a list of rows
    ],
    align=True,
)
"""One object."""

NEAR = np.dtype([("row", _WHOLE), ("pair_end", _WHOLE)], align=True)
"""An object an arm could ever meet: its row; the last of the first two segments in a row on it."""

CONTACT = np.dtype(
    [
        ("segment", _WHOLE),  # from 1
        ("row", _WHOLE),  # of the object
        ("x", _NUMBER),  # sensing point
        ("y", _NUMBER),
        ("distance", _NUMBER),  # gap from it to the object's surface
    ],
    align=True,
)
"""One reading."""

PAIR = np.dtype([("first", _WHOLE), ("obstacle", _WHOLE), ("due", _WHOLE)], align=True)
"""Scratch of the guard: a group of segments and an obstacle, and when to look at them next."""


class State(NamedTuple):
    """The tables; A arms, M segments in the longest, K objects, C contacts that find room.

    Attributes:
        arms: (A,) of `ARM`.
        links: (A, M + 1) of `LINK`.
        objects: (K,) of `OBJECT`, in the scene's order.
        near: (A, K) of `NEAR`, in the scene's order.
        near_obstacles: (A, K, 3) centre and radius of the obstacles an arm could ever meet.
        around: (A, K) places on the list `near` of what an arm could meet before any point of it
            has travelled its allowance, in the scene's order.
        around_obstacles: (A, K, 3) centre and radius of the obstacles among them.
        contacts: (A, C) of `CONTACT`.
        versions: (2,) change counters, see SCENE and MOTION.
        nearby: (K, 4) scratch: what could matter to a group of segments, and how near.
        pairs: (G * K,) of `PAIR`, for G groups of segments.
    """

    arms: Table
    links: Table
    objects: Table
    near: Table
    near_obstacles: Floats
    around: Integers
    around_obstacles: Floats
    contacts: Table
    versions: Integers
    nearby: Floats
    pairs: Table


def empty_state(arms: int, segments: int, objects: int, contacts: int) -> State:
    """Make the tables for a number of arms, all idle, and objects, all free; nothing is sensed."""
    state = State(
        arms=np.zeros(arms, ARM),
        links=np.zeros((arms, segments + 1), LINK),
        objects=np.zeros(objects, OBJECT),
        near=np.zeros((arms, objects), NEAR),
        near_obstacles=np.zeros((arms, objects, 3)),
        around=np.zeros((arms, objects), _WHOLE),
        around_obstacles=np.zeros((arms, objects, 3)),
        contacts=np.zeros((arms, contacts), CONTACT),
        versions=np.zeros(2, _WHOLE),
        nearby=np.zeros((objects, 4)),
        pairs=np.zeros((segments + GROUP - 1) // GROUP * objects, PAIR),
    )
    state.arms["gated"] = True
    for column in (
        "held",
        "candidate",
        "captured",
        "sensed_pose",
        "sensed_motion",
        "near_version",
        "around_pose",
    ):
        state.arms[column] = NOTHING
    state.objects["owner"] = NOTHING
    return state


def pairs_of(table: Table, column: str) -> NDArray[Any]:
    """View two neighbouring columns, `column`_x and `column`_y (or x and y), as points.

    Args:
        table: a table of any shape.
        column: name without the ending; empty for x and y.

    Returns:
        A view, the table's shape and 2.
    """
    first = f"{column}_x" if column else "x"
    if table.size == 0:
        return np.empty((*table.shape, 2))
    assert table.dtype.fields is not None
    offset = table.dtype.fields[first][1]
    return np.ndarray(
        (*table.shape, 2),
        np.float64,
        table,
        offset,
        (*table.strides, np.dtype(_NUMBER).itemsize),
    )
