"""N arms in one scene: assignments, the life of a grasp, exclusive claims, one step of everything.

octopus = Octopus([ArmPlacement(1, ArmParameters(), target=(200.0, 100.0))], ReachRules.pixel())
octopus.add_object(ObjectKind.OBSTACLE, (120.0, 40.0), 14.0)
for _ in range(120):
    octopus.step(1 / 120)
octopus.arm(1).tip
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from octo_reach.model.addresses import addresses_of, update_all_at
from octo_reach.model.arm import (
    ArmParameters,
    ArmPlacement,
    checked_number,
    checked_position,
    default_target,
    initial_angles,
)
from octo_reach.model.compilation import COMPILED, entry_point, is_cached
from octo_reach.model.geometry import Flags, Floats, forward_kinematics
from octo_reach.model.grasping import (
    Candidate,
    Capture,
    Grip,
    find_candidate,
    forget_candidate,
)
from octo_reach.model.guard import held_centre
from octo_reach.model.reach import (
    Planner,
    begin_update,
    finish_update,
    limit_proposal,
    sense_all,
    update_all,
    update_arms,
)
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind, ObjectTable, SceneObject
from octo_reach.model.sensing import ContactReadings, sense
from octo_reach.model.state import (
    ARM,
    LINK,
    NOTHING,
    OBJECT,
    SCENE,
    State,
    empty_state,
    pairs_of,
)

NEIGHBOUR = "neighbour"
"""Name of the planner an arm has that was given none: the rules of seed 000."""
CONTACT_ROOM = 64
"""Readings an arm has room for at first; the room grows with the need."""


class UnknownArmError(KeyError):
    """No arm has that number."""

    def __init__(self, number: object, known: Iterable[int]) -> None:
        """Name the missing number and the numbers there are."""
        super().__init__(number)
        choices = ", ".join(map(str, known)) or "none"
        self.text = f"no arm has the number {number}; there are: {choices}"

    def __str__(self) -> str:
        """Give the text without the quotes KeyError puts around it."""
        return self.text


def checked_duration(dt: float) -> float:
    """Give `dt` as a float.

    Raises:
        ValueError: it is negative or not finite; the text holds the value.
    """
    seconds = checked_number("dt", dt)
    if seconds < 0.0:
        raise ValueError(f"dt must not be negative, got {dt!r}")
    return seconds


class Arm:
    """One arm of an octopus as it is now: a live view that cannot be written through.

    Arrays it gives are views of the octopus's own, valid until the octopus is next changed.
    """

    def __init__(self, octopus: Octopus, index: int) -> None:
        """View the arm in row `index` of `octopus`."""
        self._octopus = octopus
        self.index = index

    @property
    def _count(self) -> int:
        return int(self._octopus._arms["segment_count"][self.index])

    @property
    def number(self) -> int:
        """The arm's number, from 1."""
        return self._octopus.numbers[self.index]

    @property
    def placement(self) -> ArmPlacement:
        """Where the arm stands, with its geometry and limits as they are now."""
        return self._octopus._placements[self.index]

    @property
    def parameters(self) -> ArmParameters:
        """Geometry and limits."""
        return self._octopus._placements[self.index].parameters

    @property
    def rules(self) -> ReachRules:
        """Constants of the scene the arm lives in."""
        return self._octopus.rules

    @property
    def base(self) -> Floats:
        """Position of the base, shape (2,), in the scene's unit."""
        value: Floats = self._octopus._shown.bases[self.index]
        return value

    @property
    def initial_heading(self) -> float:
        """Heading of the base at the start, rad."""
        return self._octopus._placements[self.index].heading

    @property
    def angles(self) -> Floats:
        """Joint angles, shape (N,), rad: the base's heading, then bends."""
        value: Floats = self._octopus._shown.links["angle"][self.index, : self._count]
        return value

    @property
    def joints(self) -> Floats:
        """Joint positions from the base to the tip, shape (N + 1, 2), in the scene's unit."""
        value: Floats = self._octopus._shown.joints[self.index, : self._count + 1]
        return value

    @property
    def headings(self) -> Floats:
        """Absolute headings of the segments, shape (N,), rad."""
        value: Floats = self._octopus._shown.links["heading"][self.index, : self._count]
        return value

    @property
    def tip(self) -> Floats:
        """Position of the tip, shape (2,), in the scene's unit."""
        value: Floats = self._octopus._shown.joints[self.index, self._count]
        return value

    @property
    def target(self) -> Floats:
        """Where the tip should go, shape (2,), in the scene's unit.

        While the arm carries, this is renewed with every update, so that the object ends up at the
        destination.
        """
        value: Floats = self._octopus._shown.targets[self.index]
        return value

    @property
    def destination(self) -> Floats:
        """Where the tip, or the held object, was sent, shape (2,), in the scene's unit."""
        value: Floats = self._octopus._shown.destinations[self.index]
        return value

    @property
    def aim(self) -> Floats:
        """Where the arm was sent, shape (2,): while it holds something, its destination.

        For people: while the arm carries, the target of its tip lies beside where they sent it.
        """
        held = self._octopus._arms["held"][self.index] != NOTHING
        return self.destination if held else self.target

    @property
    def requests(self) -> Floats:
        """Attachment each segment asks its neighbour for, shape (N, 2), in the scene's unit."""
        value: Floats = self._octopus._shown.requests[self.index, : self._count]
        return value

    @property
    def request_headings(self) -> Floats:
        """Heading proposed with each request, shape (N,), rad."""
        value: Floats = self._octopus._shown.links["request_heading"][self.index, : self._count]
        return value

    @property
    def goals(self) -> Floats:
        """Local goal of each segment in the last update, shape (N, 2), in the scene's unit."""
        value: Floats = self._octopus._shown.goals[self.index, : self._count]
        return value

    @property
    def steered(self) -> Flags:
        """Whether steering changed that goal, shape (N,)."""
        value: Flags = self._octopus._shown.links["steered"][self.index, : self._count]
        return value

    @property
    def active(self) -> bool:
        """Whether the arm has a reach assignment."""
        return bool(self._octopus._arms["active"][self.index])

    @property
    def blocked(self) -> bool:
        """Whether the last update was refused."""
        return bool(self._octopus._arms["blocked"][self.index])

    @property
    def avoiding(self) -> bool:
        """Whether the last update steered around an obstacle."""
        return bool(self._octopus._arms["avoiding"][self.index])

    @property
    def dwell(self) -> float:
        """How long the contact pair of the maturing grasp has lasted, s."""
        return float(self._octopus._arms["dwell"][self.index])

    @property
    def updates(self) -> int:
        """How often the arm has moved or tried to move; not when an ungated planner let it rest."""
        return int(self._octopus._arms["updates"][self.index])

    @property
    def planner_name(self) -> str:
        """Name of the planner."""
        planner = self._octopus._planners[self.index]
        return NEIGHBOUR if planner is None else planner.name

    @property
    def planner_note(self) -> str:
        """What the planner has to say at the moment; empty when all is well, or the arm at rest."""
        planner = self._octopus._planners[self.index]
        return "" if planner is None or not self.active else planner.note

    @property
    def planner_state(self) -> str:
        """What the arm is doing, where its planner knows better than the model; else empty."""
        planner = self._octopus._planners[self.index]
        return "" if planner is None else planner.state

    @property
    def grip(self) -> Grip | None:
        """The hold, or None."""
        arms = self._octopus._arms
        held = int(arms["held"][self.index])
        if held == NOTHING:
            return None
        return Grip(
            object=int(self._octopus._things["number"][held]),
            segment=int(arms["grip_segment"][self.index]),
            offset=(
                float(arms["grip_along"][self.index]),
                float(arms["grip_across"][self.index]),
            ),
        )

    @property
    def grip_radius(self) -> float:
        """Radius of the held object, in the scene's unit; 0 where nothing is held."""
        held = int(self._octopus._arms["held"][self.index])
        return 0.0 if held == NOTHING else float(self._octopus._things["radius"][held])

    @property
    def candidate(self) -> Candidate | None:
        """The grasp that is maturing, or None."""
        arms = self._octopus._arms
        number = int(arms["candidate"][self.index])
        if number == NOTHING:
            return None
        return Candidate(object=number, segment=int(arms["candidate_segment"][self.index]))

    @property
    def retracting(self) -> bool:
        """Whether the arm is bringing what it holds home."""
        return self.active and self._octopus._retracting[self.index]

    @property
    def touched_segments(self) -> int:
        """How many segments touch anything."""
        return len(np.unique(self.contacts().segments))

    @property
    def tip_error(self) -> float:
        """Distance of the tip from its target, or of a held object from its destination."""
        octopus = self._octopus
        held = int(octopus._arms["held"][self.index])
        if held == NOTHING:
            return math.dist(self.tip.tolist(), self.target.tolist())
        return math.dist(octopus._places[held].tolist(), self.destination.tolist())

    def contacts(self) -> ContactReadings:
        """What this arm's segments touch."""
        return self._octopus._readings(range(self.index, self.index + 1))

    @property
    def state(self) -> str:
        """What the arm is doing, in a word or two: the first of these that holds (seed 000)."""
        if self.active and self.blocked:
            return "Blocked"
        if self.active and self.avoiding:
            return "Avoiding"
        if self.active and self.planner_state:
            return self.planner_state
        if self._octopus._arms["held"][self.index] != NOTHING:
            if not self.active:
                return "Holding"
            return "Retracting" if self.retracting else "Carrying"
        if self.candidate is not None:
            return "Grasping"
        if self._octopus._arms["contact_count"][self.index] > 0:
            return "Contact"
        if not self.active:
            return "Idle"
        if self.tip_error <= self._octopus.rules.reach_tolerance:
            return "Reached"
        base_x, base_y = self.base.tolist()
        target_x, target_y = self.target.tolist()
        if math.hypot(target_x - base_x, target_y - base_y) > self.parameters.reach:
            return "Beyond reach"
        return "Reaching"


class _Shown:
    """The columns that an `Arm` gives parts of: views that cannot be written through."""

    def __init__(self, state: State) -> None:
        arms, links = state.arms.view(), state.links.view()
        arms.flags.writeable = links.flags.writeable = False
        self.links = links
        self.bases = pairs_of(arms, "base")
        self.targets = pairs_of(arms, "target")
        self.destinations = pairs_of(arms, "destination")
        self.joints = pairs_of(links, "")
        self.requests = pairs_of(links, "request")
        self.goals = pairs_of(links, "goal")


class Octopus:
    """Arms, the objects around them, and the rules they live by.

    Attributes:
        rules: constants of the scene.
        numbers: arm numbers, in the order in which the arms are updated.
        time: simulated time, s.
        ticks: steps taken.
        captures: every completed grasp so far.
    """

    def __init__(
        self,
        placements: Sequence[ArmPlacement],
        rules: ReachRules,
        planners: Mapping[int, Planner] | None = None,
    ) -> None:
        """Put every arm in its starting pose; the scene is empty.

        Args:
            placements: the arms, in any order.
            rules: constants of the scene.
            planners: planner of each arm by its number; an arm left out follows the neighbour
                rules. One planner serves one arm.

        Raises:
            ValueError: two arms share a number.
            UnknownArmError: a planner is for an arm that there is not.
        """
        ordered = sorted(placements, key=lambda placement: placement.number)
        self.rules = rules
        self.numbers = tuple(int(placement.number) for placement in ordered)
        if len(set(self.numbers)) != len(self.numbers):
            raise ValueError(f"arm numbers must be unique, got {list(self.numbers)}")
        self.time = 0.0
        self.ticks = 0
        self.captures: list[Capture] = []
        self._rules = rules.for_kernels()
        self._rule_values = np.array(self._rules)
        self._placements = list(ordered)
        self._planners: list[Planner | None] = [None] * len(ordered)
        self._all_follow_neighbours = True
        self._retracting = [False] * len(ordered)
        self._next_number = 1
        self._views = tuple(Arm(self, row) for row in range(len(ordered)))
        self._rows = {number: row for row, number in enumerate(self.numbers)}
        self._contact_room = CONTACT_ROOM
        self._bind(empty_state(len(ordered), self._longest(), 0, self._contact_room))
        for row in range(len(ordered)):
            self._place(row)
            self._send_first(row)
        for number, planner in (planners or {}).items():
            self.set_planner(number, planner)
        self._refresh()
        self._update_all = _step_of_all()

    # ---------------------------------------------------------------- reading

    def arm(self, number: int) -> Arm:
        """Give a live view of one arm.

        Raises:
            UnknownArmError: no arm has that number.
        """
        return self._views[self._row(number)]

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Live views of all arms, in the order of their numbers."""
        return self._views

    @property
    def objects(self) -> ObjectTable:
        """The objects of the scene as arrays: live, read-only views."""
        return self._table

    @property
    def owners(self) -> dict[int, int]:
        """Number of the arm that holds each held object, by the object's number."""
        owners = self._things["owner"]
        return {
            int(self._things["number"][k]): self.numbers[owners[k]]
            for k in np.flatnonzero(owners != NOTHING)
        }

    @property
    def contacts(self) -> ContactReadings:
        """What all arms touch: arms in order, then segments, then objects in the scene's order."""
        return self._readings(range(len(self.numbers)))

    # ------------------------------------------------------------ assignments

    def reach(self, number: int, position: Sequence[float]) -> None:
        """Send an arm's tip, or the object it holds, to a position.

        Args:
            number: the arm.
            position: (x, y), in the scene's unit.

        Raises:
            UnknownArmError: no arm has that number.
            ValueError: the position is no pair of finite numbers.
        """
        row = self._row(number)
        self._send(row, checked_position(f"target of arm {number}", position))
        self._assign(row, active=True)

    def idle(self, number: int) -> None:
        """Let an arm keep its pose and its grip, and start nothing.

        Raises:
            UnknownArmError: no arm has that number.
        """
        self._assign(self._row(number), active=False)

    def release(self, number: int) -> int | None:
        """Let go of what an arm holds, where it is; the arm becomes idle.

        Returns:
            Number of the object let go, or None where the arm held nothing.

        Raises:
            UnknownArmError: no arm has that number.
        """
        row = self._row(number)
        self._assign(row, active=False)
        return self._let_go(row)

    def retract(self, number: int) -> bool:
        """Bring what an arm holds near its base; without a grip nothing happens (seed 000).

        Returns:
            Whether the arm holds anything to bring.

        Raises:
            UnknownArmError: no arm has that number.
        """
        row = self._row(number)
        if self._arms["held"][row] == NOTHING:
            return False
        placement = self._placements[row]
        distance = self.rules.retract_distance
        x = placement.base[0] + distance * math.cos(placement.heading)
        y = placement.base[1] + distance * math.sin(placement.heading)
        self._send(row, (x, y))
        self._assign(row, active=True)
        self._retracting[row] = True
        return True

    def reset(self, number: int, parameters: ArmParameters | None = None) -> None:
        """Put an arm back in its starting pose, with new geometry if given (seed 000).

        What it holds is let go where it is; where the arm was sent and whether it is active stay.

        Raises:
            UnknownArmError: no arm has that number.
        """
        row = self._row(number)
        active = bool(self._arms["active"][row])
        self._let_go(row)
        if parameters is not None:
            self._placements[row] = replace(self._placements[row], parameters=parameters)
            if parameters.segment_count > self._width:
                self._allocate(parameters.segment_count, len(self._table))
        self._place(row)
        self._assign(row, active=active)
        self._refresh()

    def start_over(self, number: int) -> None:
        """Put an arm back in its starting pose, with its first target, or idle where it had none.

        What it holds is let go where it is; geometry and limits that were changed stay changed.

        Args:
            number: the arm.

        Raises:
            UnknownArmError: no arm has that number.
        """
        self._send_first(self._row(number))
        self.reset(number)

    def interrupt_grasps(self) -> None:
        """Let every maturing grasp start over: what has lasted so far does not count any more."""
        for row in range(len(self.numbers)):
            forget_candidate(row, self._state)

    def limit_speed(self, number: int, turning_speed: float) -> None:
        """Change how fast the joints of an arm may turn; its pose and its grip stay.

        Args:
            number: the arm.
            turning_speed: fastest change of any joint angle, rad/s.

        Raises:
            UnknownArmError: no arm has that number.
            ValueError: the speed is not finite or not above 0.
        """
        row = self._row(number)
        parameters = replace(self._placements[row].parameters, turning_speed=turning_speed)
        self._placements[row] = replace(self._placements[row], parameters=parameters)
        self._arms["turning_speed"][row] = turning_speed

    def planner(self, number: int) -> Planner | None:
        """Give the planner of an arm, or None for the octopus's own neighbour rules.

        Raises:
            UnknownArmError: no arm has that number.
        """
        return self._planners[self._row(number)]

    def set_planner(self, number: int, planner: Planner | None) -> None:
        """Let a planner propose an arm's motion from the next update on; None: neighbour rules.

        Raises:
            UnknownArmError: no arm has that number.
        """
        row = self._row(number)
        self._planners[row] = planner
        self._all_follow_neighbours = all(
            planner is None or planner.follows_neighbours for planner in self._planners
        )
        self._arms["gated"][row] = True if planner is None else planner.gated
        self._arms["retreats"][row] = False
        # Fresh requests: those of a former spell under the neighbour rules are long out of date.
        self._forget_requests(row)
        if planner is not None:
            planner.reset()

    # ----------------------------------------------------------------- scene

    def add_object(
        self,
        kind: ObjectKind,
        position: Sequence[float],
        radius: float,
        number: int | None = None,
    ) -> int:
        """Put an object into the scene.

        Args:
            kind: food, obstacle or hazard.
            position: centre, (x, y), in the scene's unit.
            radius: radius, in the scene's unit.
            number: its number; left out, the next that was never used.

        Returns:
            The object's number.

        Raises:
            ValueError: a value is out of range, or the number is taken.
        """
        if number is None:
            number = self._next_number
        x, y = checked_position(f"position of object {number}", position)
        size = checked_number(f"radius of object {number}", radius)
        thing = SceneObject(number, ObjectKind(kind), (x, y), size)
        if number in self.objects:
            raise ValueError(f"object number {number} is taken")
        self._rebuild([*self.objects, thing])
        return number

    def move_object(self, number: int, position: Sequence[float]) -> None:
        """Put an object elsewhere; an arm that held it lets go unless it stays where it was.

        Raises:
            UnknownObjectError: no object has that number.
            ValueError: the position is no pair of finite numbers.
        """
        row = self.objects.index_of(number)
        x, y = checked_position(f"position of object {number}", position)
        moved = replace(self.objects.at(row), position=(x, y))
        things = list(self.objects)
        things[row] = moved
        self._rebuild(things)

    def remove_object(self, number: int) -> None:
        """Take an object out of the scene; an arm that held it holds nothing.

        Raises:
            UnknownObjectError: no object has that number.
        """
        row = self.objects.index_of(number)
        things = list(self.objects)
        del things[row]
        self._rebuild(things)

    def clear_objects(self) -> None:
        """Empty the scene."""
        self._rebuild([])

    def replace_objects(self, things: Iterable[SceneObject]) -> None:
        """Make the scene consist of just these objects, in this order.

        An object an arm holds stays held where it is still there with its kind, no further from
        its place than the detach tolerance; else the arm lets go (seed 000).

        Raises:
            ValueError: two objects share a number.
        """
        self._rebuild(list(things))

    # ------------------------------------------------------------------ time

    def step(self, dt: float) -> list[Capture]:
        """Move time and every arm on by `dt` (seed 000).

        Args:
            dt: duration, s; 0 does nothing.

        Returns:
            The grasps completed in this step.

        Raises:
            ValueError: dt is negative or not finite; nothing has changed then.
            Exception: what a planner has raised. The step is a whole one all the same: that arm has
                held, the others and the time have gone on.
        """
        if not (type(dt) is float and 0.0 < dt < math.inf):
            dt = checked_duration(dt)
            if dt == 0.0:
                return []
        self.time += dt
        self.ticks += 1
        failures: list[Exception] = []
        if self._all_follow_neighbours:
            captures, readings = self._update_all(dt, self._handed)
        else:
            captures, readings = self._update_mixed(dt, failures)
        if readings > self._contact_room:
            self._make_contact_room(readings)
        fresh = self._collect_captures() if captures else []
        if failures:
            raise failures[0]
        return fresh

    # --------------------------------------------------------------- insides

    def _row(self, number: int) -> int:
        try:
            return self._rows[number]
        except (KeyError, TypeError):
            raise UnknownArmError(number, self.numbers) from None

    def _longest(self) -> int:
        counts = [placement.parameters.segment_count for placement in self._placements]
        return max(counts, default=1)

    @property
    def _width(self) -> int:
        return self._state.links.shape[1] - 1

    def _allocate(self, segments: int, objects: int) -> None:
        """Make room for longer arms or another number of objects, and keep what still fits."""
        fresh = empty_state(len(self.numbers), segments, objects, self._contact_room)
        for table, old in zip(fresh, self._state, strict=True):
            kept = tuple(map(slice, map(min, table.shape, old.shape)))
            table[kept] = old[kept]
        self._bind(fresh)

    def _bind(self, state: State) -> None:
        """Work on these tables from now on; their columns are looked up once, here."""
        self._state = state
        self._shown = _Shown(state)
        self._handed = addresses_of(state, self._rule_values) if COMPILED else (state, self._rules)
        self._arms = {name: state.arms[name] for name in ARM.names or ()}
        self._links = {name: state.links[name] for name in LINK.names or ()}
        self._things = {name: state.objects[name] for name in OBJECT.names or ()}
        self._bases = pairs_of(state.arms, "base")
        self._targets = pairs_of(state.arms, "target")
        self._destinations = pairs_of(state.arms, "destination")
        self._joints = pairs_of(state.links, "")
        self._requests = pairs_of(state.links, "request")
        self._goals = pairs_of(state.links, "goal")
        self._places = pairs_of(state.objects, "")
        self._points = pairs_of(state.contacts, "")
        self._table = ObjectTable(
            self._things["number"],
            self._things["kind"],
            self._places,
            self._things["radius"],
        )

    def _place(self, row: int) -> None:
        """Put one arm into its starting pose, with fresh requests."""
        placement = self._placements[row]
        parameters = placement.parameters
        arms = self._arms
        count = parameters.segment_count
        arms["segment_count"][row] = count
        arms["segment_length"][row] = parameters.segment_length
        arms["maximum_bend"][row] = parameters.maximum_bend
        arms["turning_speed"][row] = parameters.turning_speed
        self._bases[row] = placement.base
        angles = initial_angles(parameters, placement.heading, self.rules)
        joints, headings = forward_kinematics(placement.base, parameters.segment_length, angles)
        self._links["angle"][row, :count] = angles
        self._links["heading"][row, :count] = headings
        self._joints[row, : count + 1] = joints
        self._forget_requests(row)
        arms["pose_version"][row] += 1
        arms["near_version"][row] = NOTHING
        arms["blocked"][row] = False
        arms["avoiding"][row] = False

    def _forget_requests(self, row: int) -> None:
        """Let every segment ask for the attachment and the heading it has."""
        count = self._arms["segment_count"][row]
        self._requests[row, :count] = self._joints[row, :count]
        self._links["request_heading"][row, :count] = self._links["heading"][row, :count]
        self._goals[row, :count] = self._joints[row, 1 : count + 1]
        self._links["steered"][row] = False

    def _send(self, row: int, position: tuple[float, float]) -> None:
        self._targets[row] = position
        self._destinations[row] = position

    def _send_first(self, row: int) -> None:
        """Give an arm the target it was placed with; one without is idle."""
        placement = self._placements[row]
        target = placement.target
        self._arms["active"][row] = target is not None
        if target is None:
            target = default_target(placement.base, placement.heading, self.rules)
        self._send(row, target)

    def _assign(self, row: int, *, active: bool) -> None:
        self._arms["active"][row] = active
        self._arms["blocked"][row] = False
        self._arms["avoiding"][row] = False
        self._retracting[row] = False
        forget_candidate(row, self._state)
        planner = self._planners[row]
        if planner is not None:
            planner.reset()

    def _let_go(self, row: int) -> int | None:
        held = int(self._arms["held"][row])
        if held == NOTHING:
            return None
        self._arms["held"][row] = NOTHING
        # While it carried, its tip aimed beside where it was sent.
        self._targets[row] = self._destinations[row]
        self._things["owner"][held] = NOTHING
        self._state.versions[SCENE] += 1
        return int(self._things["number"][held])

    def _rebuild(self, things: list[SceneObject]) -> None:
        """Make the scene consist of these objects; holds that the change breaks come loose."""
        rows = {thing.number: row for row, thing in enumerate(things)}
        if len(rows) != len(things):
            numbers = [thing.number for thing in things]
            raise ValueError(f"object numbers must be unique, got {numbers}")
        kept: list[tuple[int, int]] = []
        for row in range(len(self.numbers)):
            held = int(self._arms["held"][row])
            if held == NOTHING:
                continue
            place = rows.get(int(self._things["number"][held]))
            if place is not None and self._stays_held(row, held, things[place]):
                kept.append((row, place))
            else:
                self._assign(row, active=False)
                self._let_go(row)
        if len(things) != len(self._table):
            self._allocate(self._width, len(things))
        columns = self._things
        columns["number"][:] = [thing.number for thing in things]
        columns["kind"][:] = [int(thing.kind) for thing in things]
        columns["radius"][:] = [thing.radius for thing in things]
        columns["owner"][:] = NOTHING
        self._places[:] = np.array([thing.position for thing in things]).reshape(len(things), 2)
        for row, place in kept:
            self._arms["held"][row] = place
            columns["owner"][place] = row
        self._state.versions[:] += 1
        self._next_number = max(self._next_number, *(n + 1 for n in rows), 1)
        self._refresh()

    def _stays_held(self, row: int, held: int, thing: SceneObject) -> bool:
        if thing.kind != ObjectKind(int(self._things["kind"][held])):
            return False
        segment = int(self._arms["grip_segment"][row])
        end_x, end_y = self._joints[row, segment].tolist()
        x, y = held_centre(
            end_x,
            end_y,
            float(self._links["heading"][row, segment - 1]),
            float(self._arms["grip_along"][row]),
            float(self._arms["grip_across"][row]),
        )
        away = math.hypot(thing.position[0] - x, thing.position[1] - y)
        return away <= self.rules.detach_tolerance

    def _refresh(self) -> None:
        """Sense anew after an edit; a maturing grasp that it broke starts over (seed 000)."""
        arms = self._arms
        for row in range(len(self.numbers)):
            sense(row, self._state, self._rules)
            if arms["candidate"][row] == NOTHING:
                continue
            running = (arms["candidate"][row], arms["candidate_segment"][row])
            if find_candidate(row, self._state) != running:
                forget_candidate(row, self._state)
        readings = int(arms["contact_count"].max(initial=0))
        if readings > self._contact_room:
            self._make_contact_room(readings)

    def _update_mixed(self, dt: float, failures: list[Exception]) -> tuple[int, int]:
        """Update every arm in order, some by planners of their own; note what those raise."""
        first = 0
        for row, planner in enumerate(self._planners):
            if planner is None or planner.follows_neighbours:
                continue
            if first < row:
                update_arms(first, row, dt, self._state, self._rules)
            try:
                self._update_planned(row, planner, dt)
            except Exception as failure:
                failures.append(failure)
            first = row + 1
        if first < len(self._planners):
            update_arms(first, len(self._planners), dt, self._state, self._rules)
        return sense_all(self._state, self._rules)

    def _update_planned(self, row: int, planner: Planner, dt: float) -> None:
        """Update one arm whose planner is not compiled into `update_arms`."""
        state, rules = self._state, self._rules
        moving, target_x, target_y = begin_update(row, dt, planner.under_way, state, rules)
        if moving:
            obstacles = state.near_obstacles[row, : self._arms["obstacle_count"][row]].view()
            obstacles.flags.writeable = False
            target = np.array((target_x, target_y))
            asked = planner.propose(self._views[row], target, obstacles, dt)
            if asked is not None or planner.gated:
                self._arms["updates"][row] += 1
            if asked is not None:
                self._take_proposal(row, planner.name, asked)
                limit_proposal(row, dt, state)
                self._arms["retreats"][row] = planner.retreats and not planner.gated
                finish_update(row, state, rules)
        sense(row, state, rules)

    def _take_proposal(self, row: int, name: str, asked: Floats) -> None:
        count = int(self._arms["segment_count"][row])
        asked = np.asarray(asked, dtype=np.float64)
        if asked.shape != (count,) or not np.all(np.isfinite(asked)):
            raise ValueError(
                f"planner {name} of arm {self.numbers[row]} must propose {count} finite angles,"
                f" got {asked.tolist()}"
            )
        self._links["proposed"][row, :count] = asked

    def _make_contact_room(self, readings: int) -> None:
        """Grow the room for an arm's readings, and sense anew: some found none."""
        self._contact_room = 2 * readings
        self._allocate(self._width, len(self._table))
        self._arms["sensed_pose"][:] = NOTHING
        sense_all(self._state, self._rules)

    def _collect_captures(self) -> list[Capture]:
        captured = self._arms["captured"]
        fresh = [
            Capture(self.numbers[row], int(self._things["number"][captured[row]]), self.time)
            for row in np.flatnonzero(captured != NOTHING)
        ]
        self.captures += fresh
        return fresh

    def _readings(self, rows: range) -> ContactReadings:
        counts = self._arms["contact_count"][rows.start : rows.stop]
        found = np.arange(self._state.contacts.shape[1]) < counts[:, np.newaxis]
        contacts = self._state.contacts[rows.start : rows.stop][found]
        things = self._state.objects[contacts["row"]]
        numbers = np.array(self.numbers[rows.start : rows.stop], dtype=np.int64)
        return ContactReadings(
            arms=np.repeat(numbers, counts),
            segments=contacts["segment"],
            objects=things["number"],
            kinds=things["kind"],
            points=pairs_of(contacts, ""),
            distances=contacts["distance"],
        )


@cache
def _step_of_all() -> Callable[[float, Any], tuple[int, int]]:
    """Give what steps all arms by tables and rules: compiled, it takes their addresses."""
    if not COMPILED:
        return lambda dt, handed: update_all(dt, *handed)
    rules = np.array(ReachRules.pixel().for_kernels())
    return entry_point(update_all_at, 0.0, addresses_of(empty_state(1, 1, 0, 1), rules))


def compile_kernels(report: Callable[[str], None] | None = None) -> None:
    """Run every kernel once, so that no later step has to wait for the compiler.

    Args:
        report: called with one line before the work, where there is any to do.
    """
    if not COMPILED:
        if report is not None:
            report("numba is not installed or is switched off: the same rules run, far slower")
        return
    if report is not None and not is_cached(update_all_at):
        report("compiling the kernels for the first time on this machine: under a minute, once")
    rules = ReachRules.pixel()
    octopus = Octopus([ArmPlacement(1, ArmParameters(2, 10.0), target=(5.0, 5.0))], rules)
    octopus.add_object(ObjectKind.OBSTACLE, (30.0, 30.0), 1.0)
    octopus.step(1.0 / 120.0)
    state, kernel_rules = octopus._state, octopus._rules
    update_arms(0, 1, 1.0 / 120.0, state, kernel_rules)
    begin_update(0, 1.0 / 120.0, False, state, kernel_rules)
    limit_proposal(0, 1.0 / 120.0, state)
    finish_update(0, state, kernel_rules)
    sense_all(state, kernel_rules)
    octopus._stays_held(0, 0, octopus.objects.at(0))
