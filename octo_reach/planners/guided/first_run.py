"""Every kernel of this planner run once, so that no later step has to wait for the compiler."""

from __future__ import annotations

import functools

import numpy as np

from octo_reach.model.rules import ReachRules
from octo_reach.planners.guided.beginnings import Draws
from octo_reach.planners.guided.body import Body, place_effector
from octo_reach.planners.guided.clearance import room_of
from octo_reach.planners.guided.connect_tree import Tree
from octo_reach.planners.guided.playback import Playback
from octo_reach.planners.guided.retreat import Retreat
from octo_reach.planners.guided.room import Answer, Room, Sliced


def finish(work: Sliced[Answer]) -> Answer:
    """Do all of some work at once, and give the answer."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            answer: Answer = end.value
            return answer


@functools.cache
def compile_guided_kernels() -> None:
    """Run every kernel once in this process, on a small arm that holds something."""
    rules = ReachRules.pixel()
    body = Body(3, 10.0, 1.0, 0.0, 0.0, 3.0, 1.0, 2, 1.0, 1.0, 2.0)
    obstacles = np.array([[20.0, 6.0, 5.0], [60.0, 60.0, 5.0]])
    pose, other = np.zeros(3), np.full(3, -0.5)
    room_of(pose, body, obstacles)
    place_effector(pose, body)
    room = Room(body, obstacles, 0.1, Draws(1))
    finish(room.clear(pose, other))
    finish(room.goal_pose(4, other, (10.0, -10.0), 1.0))
    tree = Tree(3)
    tree.add(pose, -1)
    tree.nearest(other)
    kernel_rules = rules.for_kernels()
    Retreat(body, obstacles).step(pose, -1.0, obstacles, 0.01, kernel_rules)
    playback = Playback([other, pose], 0.1, body, obstacles)
    playback.doubt(obstacles + 1.0)
    playback.certify_ahead(0.1, 1000)
    Playback([other, pose], 0.1, body, obstacles).step(other, 0.01, kernel_rules)
