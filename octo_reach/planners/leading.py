"""A copy of an arm that goes ahead of it: how a planner leads an arm that lives elsewhere.

A planner expects an arm that does as it proposes with the next update. One that is reached over a
network does so a moment later. So the planner moves a copy, with the arm's own limits and guard,
and the poses of the copy are what the arm is told to go to. Where the arm does not follow, the copy
goes back to where the arm is and starts anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from octo_reach.model.arm import ArmPlacement
from octo_reach.model.geometry import Floats, forward_kinematics, wrap
from octo_reach.model.guard import held_centre
from octo_reach.model.octopus import Arm, Octopus
from octo_reach.model.reach import Planner
from octo_reach.model.rules import UPDATE_RATE, ReachRules
from octo_reach.model.scene import ObjectKind, SceneObject
from octo_reach.model.state import MOTION, SCENE
from octo_reach.planners.contained import ContainedPlanner
from octo_reach.planners.guided.body import body_of
from octo_reach.planners.guided.clearance import room_of

LEAD = 0.1
"""How far ahead of the arm its copy may be, in seconds of turning at full speed."""
TOGETHER = 1e-9
"""Two poses that differ by no more, rad, are the same."""
PATIENCE = 0.5
"""How long the copy waits for the arm before it goes back, s."""


class ArmCopy(Octopus):
    """One arm that stands and holds as it is told. Food does not stop it, unless it holds it."""

    def replace_objects(self, things: Iterable[SceneObject]) -> None:
        """Make the scene consist of these objects but for food that nobody holds."""
        held = self.owners
        super().replace_objects(
            thing for thing in things if thing.kind is not ObjectKind.FOOD or thing.number in held
        )

    def take_pose(self, number: int, angles: Floats) -> None:
        """Stand in a pose; what is held comes along.

        Args:
            number: the arm.
            angles: joint angles, shape (N,), rad.

        Raises:
            UnknownArmError: no arm has that number.
            ValueError: the shape is not (N,), or an angle is not finite.
        """
        arm = self.arm(number)
        row, count = arm.index, len(arm.angles)
        if len(angles) != count:
            raise ValueError(f"arm {number} has {count} joints, got {len(angles)} angles")
        base_x, base_y = arm.base.tolist()
        length = arm.parameters.segment_length
        joints, headings = forward_kinematics((base_x, base_y), length, angles)
        self._links["angle"][row, :count] = angles
        self._links["heading"][row, :count] = headings
        self._joints[row, : count + 1] = joints
        self._arms["pose_version"][row] += 1
        self._forget_requests(row)
        self._take_along(arm)

    def take_grip(
        self, number: int, thing: SceneObject | None, segment: int, offset: tuple[float, float]
    ) -> None:
        """Hold an object, or nothing.

        Args:
            number: the arm.
            thing: the object; its position does not matter. None: nothing.
            segment: segment that holds it, from 1.
            offset: centre of the object in the frame of the segment's end, (along, across).

        Raises:
            UnknownArmError: no arm has that number.
        """
        arm = self.arm(number)
        row = arm.index
        self._let_go(row)
        if thing is None:
            return
        if thing.number in self.objects:
            self.remove_object(thing.number)
        self.add_object(thing.kind, thing.position, thing.radius, thing.number)
        place = self.objects.index_of(thing.number)
        self._arms["held"][row] = place
        self._arms["grip_segment"][row] = min(segment, len(arm.angles))
        self._arms["grip_along"][row], self._arms["grip_across"][row] = offset
        self._things["owner"][place] = row
        self._state.versions[SCENE] += 1
        self._take_along(arm)

    def overlaps(self, number: int) -> bool:
        """Tell whether an arm, or what it holds, is nearer to an obstacle than it may be.

        Args:
            number: the arm.

        Raises:
            UnknownArmError: no arm has that number.
        """
        arm = self.arm(number)
        count = self._arms["obstacle_count"][arm.index]
        obstacles = np.array(self._state.near_obstacles[arm.index, :count])
        return bool(room_of(np.array(arm.angles), body_of(arm), obstacles) < 0.0)

    def _take_along(self, arm: Arm) -> None:
        grip = arm.grip
        if grip is None:
            return
        x, y = arm.joints[grip.segment].tolist()
        heading = float(arm.headings[grip.segment - 1])
        self._places[int(self._arms["held"][arm.index])] = held_centre(x, y, heading, *grip.offset)
        self._state.versions[MOTION] += 1


class LeadingArm:
    """The copy of one arm, and the planner that moves it.

    Attributes:
        octopus: the copy, with the scene around it; its objects may be replaced at any time.
        number: number of the arm.
    """

    def __init__(
        self,
        placement: ArmPlacement,
        rules: ReachRules,
        planner: Planner,
        say: Callable[[str], object],
    ) -> None:
        """Make the copy; it waits for a pose and a target.

        Args:
            placement: the arm; its target and heading do not matter.
            rules: constants of its scene.
            planner: what moves the copy.
            say: told in one line when the planner fails.
        """
        self.number = placement.number
        self.octopus = ArmCopy([placement], rules)
        self._planner = ContainedPlanner(planner, say)
        self.octopus.set_planner(self.number, self._planner)
        self.octopus.idle(self.number)
        self._angles: Floats | None = None
        self._target: tuple[float, float] | None = None
        self._waited = 0.0
        self._with_arm = False

    @property
    def target(self) -> tuple[float, float] | None:
        """Where the arm is sent, (x, y), or None."""
        return self._target

    @property
    def note(self) -> str:
        """What the planner has to say."""
        return self._planner.note

    def hear_angles(self, angles: Floats) -> None:
        """Note how the arm stands, joint angles of shape (N,), rad; another N is left out."""
        if len(angles) == len(self.octopus.arm(self.number).angles):
            self._angles = angles

    def aim(self, target: tuple[float, float]) -> None:
        """Note where the arm was sent; from where it stands, the copy sets out anew."""
        self._target = target
        self._with_arm = False

    def take_grip(
        self, thing: SceneObject | None, segment: int = 0, offset: tuple[float, float] = (0.0, 0.0)
    ) -> None:
        """Note what the arm holds; see `ArmCopy.take_grip`."""
        self.octopus.take_grip(self.number, thing, segment, offset)

    def lead(self, seconds: float) -> Floats | None:
        """Move the copy on, and give the pose for the arm to go to.

        Args:
            seconds: time since the last call, s.

        Returns:
            Joint angles, shape (N,), rad; None while the pose or the target is not known.
        """
        if self._angles is None or self._target is None:
            return None
        arm = self.octopus.arm(self.number)
        if not self._with_arm:
            self._start(self._angles, self._target)
        lead = _apart(self._angles, arm.angles)
        farthest = LEAD * arm.parameters.turning_speed
        # Out of an overlap the guard lets an arm go by small steps only, not straight to where
        # several of them lead: each waits until the arm has taken the one before.
        by_steps = self.octopus.overlaps(self.number)
        if lead <= (TOGETHER if by_steps else farthest):
            self._waited = 0.0
        else:
            self._waited += seconds
            # So far ahead no copy goes: the arm was put elsewhere.
            if self._waited < PATIENCE and lead < 3.0 * farthest:
                return np.array(arm.angles)
            self._start(self._angles, self._target)
        # As long steps as the arm's own: longer ones the guard takes for more dangerous.
        steps = max(1, round(seconds * UPDATE_RATE))
        for _ in range(1 if by_steps else steps):
            self.octopus.step(seconds / steps)
        return np.array(arm.angles)

    def _start(self, angles: Floats, target: tuple[float, float]) -> None:
        self.octopus.take_pose(self.number, angles)
        self.octopus.reach(self.number, target)
        self._waited = 0.0
        self._with_arm = True


def _apart(one: Floats, other: Floats) -> float:
    """Give the largest difference of any joint angle, rad."""
    off = one - other
    off[0] = wrap(float(off[0]))
    return float(np.abs(off).max(initial=0.0))
