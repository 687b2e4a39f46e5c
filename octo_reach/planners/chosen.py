"""Which planner each arm was given, and the trajectory that takes its place for a while."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from octo_reach.model.geometry import Floats, forward_kinematics
from octo_reach.model.octopus import Arm, Octopus
from octo_reach.model.reach import Planner
from octo_reach.planners.contained import ContainedPlanner
from octo_reach.planners.external import ExternalPlanner
from octo_reach.planners.trajectory import Trajectory, TrajectoryPlanner


class ChosenPlanners:
    """Gives the arms of an octopus their planners; none that fails ends a step.

    A trajectory is an assignment like a target: it takes the place of the arm's planner until it
    is replaced by the next assignment, or until the arm has none (idle, released, grasped).
    """

    def __init__(
        self, octopus: Octopus, planners: Mapping[int, Planner], say: Callable[[str], object]
    ) -> None:
        """Give arms their first planners.

        Args:
            octopus: the arms.
            planners: planner of each arm by its number; an arm left out keeps the one it has.
            say: told in one line when a planner fails.

        Raises:
            UnknownArmError: a planner is for an arm that there is not.
        """
        self._octopus = octopus
        self._say = say
        self._chosen: dict[int, ContainedPlanner] = {}
        self._followed: dict[int, tuple[ContainedPlanner, TrajectoryPlanner]] = {}
        self._failures = 0
        for number, planner in planners.items():
            self.choose(number, planner)

    @property
    def failures(self) -> int:
        """How often planners have failed so far."""
        chosen = sum(planner.failures for planner in self._chosen.values())
        return self._failures + chosen

    def name(self, number: int) -> str:
        """Give the name of the planner that was chosen for an arm, whatever it follows now."""
        planner = self._chosen.get(number)
        return self._octopus.arm(number).planner_name if planner is None else planner.name

    def choose(self, number: int, planner: Planner) -> None:
        """Choose the planner of an arm; one that follows a trajectory gets it afterwards.

        Raises:
            UnknownArmError: no arm has that number.
        """
        contained = ContainedPlanner(planner, self._say)
        if number not in self._followed:
            self._octopus.set_planner(number, contained)
        if number in self._chosen:
            self._failures += self._chosen[number].failures
        self._chosen[number] = contained

    def offer(self, number: int, angles: Floats) -> None:
        """Give joint angles to an arm whose planner takes them from outside; others ignore them."""
        contained = self._chosen.get(number)
        if contained is None or number in self._followed:
            return
        if isinstance(contained.planner, ExternalPlanner):
            contained.planner.offer(angles)
            contained.refresh()

    def follow(self, number: int, trajectory: Trajectory, delay: float = 0.0) -> None:
        """Let an arm follow a trajectory; its target is where that ends.

        Args:
            number: the arm.
            trajectory: what to follow.
            delay: how long until it starts, s; negative: it started so long ago.

        Raises:
            UnknownArmError: no arm has that number.
            ValueError: the trajectory moves joints the arm does not have.
        """
        arm = self._octopus.arm(number)
        if max(trajectory.joints) >= len(arm.angles):
            raise ValueError(
                f"arm {number} has {len(arm.angles)} joints, the trajectory moves joint"
                f" {max(trajectory.joints) + 1}"
            )
        end = _end_of(trajectory, arm)
        if number not in self._followed:
            planner = TrajectoryPlanner()
            self._followed[number] = (ContainedPlanner(planner, self._say), planner)
            self._octopus.set_planner(number, self._followed[number][0])
        contained, planner = self._followed[number]
        self._octopus.reach(number, end)
        planner.follow(trajectory, delay)
        contained.refresh()

    def settle(self) -> None:
        """Give the arms their own planners back whose trajectories are no longer assigned."""
        for number, (contained, planner) in list(self._followed.items()):
            if planner.trajectory is None or not self._octopus.arm(number).active:
                del self._followed[number]
                self._failures += contained.failures
                self._octopus.set_planner(number, self._chosen.get(number))


def _end_of(trajectory: Trajectory, arm: Arm) -> tuple[float, float]:
    """Give where the tip, or what the arm holds, is at the end of a trajectory, (x, y)."""
    parameters = arm.parameters
    angles = trajectory.last_angles(arm.angles, parameters.maximum_bend)
    joints, headings = forward_kinematics(
        (float(arm.base[0]), float(arm.base[1])), parameters.segment_length, angles
    )
    if arm.grip is None:
        return float(joints[-1, 0]), float(joints[-1, 1])
    along, across = arm.grip.offset
    heading = float(headings[arm.grip.segment - 1])
    x, y = joints[arm.grip.segment].tolist()
    return (
        x + math.cos(heading) * along - math.sin(heading) * across,
        y + math.sin(heading) * along + math.cos(heading) * across,
    )
