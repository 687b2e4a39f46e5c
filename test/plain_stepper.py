"""The reaching rules of the octopus arm in plain Python: tuples, lists, loops and ``math``.

This module repeats the reach model without numpy, without compiled kernels and without the
package under test. Tests hold the kernels against it, and benchmarks take its times as a baseline.

Units: angles in radians, time in seconds, lengths in the unit of the scene. A pixel scene has y
pointing down and angles growing clockwise on the screen; a metre scene has y pointing up, every
length constant of the pixel scene divided by 1000, and the preferred side mirrored.

Data: a point is ``(x, y)``, an obstacle ``(x, y, radius)``, a message ``(x, y, heading)``: the
attachment one segment asks of its neighbour towards the base. Segments and objects are numbered
from 1 wherever a number is shown or passed in.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import atan2, ceil, cos, exp, hypot, inf, isfinite, pi, radians, sin, sqrt
from typing import NamedTuple

Point = tuple[float, float]
Message = tuple[float, float, float]
Obstacle = tuple[float, float, float]

DEFAULT_STEP = 1 / 120
STEERING_RESPONSE = 20.0
LOOKAHEAD_SEGMENTS = 3
INITIAL_BEND = 0.06
DEFAULT_TARGET_TURN = 0.3
GRASP_DWELL = 0.25
GRASP_DWELL_SLACK = 1e-12
DEFAULT_SEGMENT_COUNT = 20
DEFAULT_MAXIMUM_BEND = pi / 3
DEFAULT_TURNING_SPEED = 1.5
OCTOPUS_ARM_COUNT = 8


@dataclass(frozen=True)
class Constants:
    """Every length of the model in one unit, and which way is clockwise as seen on the screen."""

    direction_tolerance: float = 1e-9
    geometry_tolerance: float = 1e-8
    detach_tolerance: float = 1e-6
    reach_tolerance: float = 2.0
    carry_tolerance: float = 2.0
    sensor_radius: float = 3.0
    arm_clearance: float = 3.0
    steering_margin: float = 8.0
    waypoint_margin: float = 5.0
    sample_travel: float = 2.0
    retract_distance: float = 40.0
    object_radius: float = 14.0
    body_radius: float = 32.0
    default_target_distance: float = 180.0
    octopus_segment_length: float = 12.0
    listed_segment_length: float = 18.0
    boundary_step: float = 0.4
    clockwise: int = 1


def _in_metres(constants: Constants) -> Constants:
    """Return pixel constants as metres (1 px = 1 mm) in a frame whose y points up."""
    mirrored = ("boundary_step", "clockwise")
    lengths = {
        name: value / 1000 for name, value in vars(constants).items() if name not in mirrored
    }
    return replace(
        constants,
        **lengths,
        boundary_step=-constants.boundary_step,
        clockwise=-constants.clockwise,
    )


PIXEL = Constants()
METRE = _in_metres(PIXEL)


# --- Geometry ---------------------------------------------------------------------------------


def wrap(angle: float) -> float:
    """Return the same direction as an angle in [-pi, pi)."""
    return (angle + pi) % (2 * pi) - pi


def forward_kinematics(
    base: Point, segment_length: float, angles: list[float]
) -> tuple[list[Point], list[float]]:
    """Return the joints p_0..p_N, base first and tip last, and the headings of the segments."""
    x, y = base
    heading = 0.0
    joints = [(x, y)]
    headings = []
    for angle in angles:
        heading += angle
        x += segment_length * cos(heading)
        y += segment_length * sin(heading)
        joints.append((x, y))
        headings.append(heading)
    return joints, headings


def closest_point(start: Point, end: Point, centre: Point) -> Point:
    """Return the point of the segment from start to end that is closest to a centre."""
    start_x, start_y = start
    along_x = end[0] - start_x
    along_y = end[1] - start_y
    length_squared = along_x * along_x + along_y * along_y
    if length_squared == 0.0:
        return start
    fraction = (
        (centre[0] - start_x) * along_x + (centre[1] - start_y) * along_y
    ) / length_squared
    if fraction < 0.0:
        fraction = 0.0
    elif fraction > 1.0:
        fraction = 1.0
    return start_x + fraction * along_x, start_y + fraction * along_y


def _touches_obstacle(
    joints: list[Point], obstacles: list[Obstacle], sensor_radius: float
) -> bool:
    """Tell whether any segment of the pose touches an obstacle."""
    start = joints[0]
    for end in joints[1:]:
        for x, y, radius in obstacles:
            point_x, point_y = closest_point(start, end, (x, y))
            if hypot(x - point_x, y - point_y) <= radius + sensor_radius:
                return True
        start = end
    return False


# --- Steering ---------------------------------------------------------------------------------


def steer(
    start: Point,
    goal: Point,
    segment_length: float,
    obstacles: list[Obstacle],
    constants: Constants = PIXEL,
) -> tuple[Point, bool]:
    """Return the local goal, led around the nearest boundary in the way, and whether it changed."""
    if not obstacles:
        return goal, False
    start_x, start_y = start
    unit_x = goal[0] - start_x
    unit_y = goal[1] - start_y
    distance = sqrt(unit_x * unit_x + unit_y * unit_y)
    if distance <= constants.geometry_tolerance:
        return goal, False
    unit_x /= distance
    unit_y /= distance
    lookahead = min(distance, LOOKAHEAD_SEGMENTS * segment_length)
    margin = constants.arm_clearance + constants.steering_margin

    chosen = None
    chosen_squared = inf
    for obstacle in obstacles:
        x, y, radius = obstacle
        offset_x = x - start_x
        offset_y = y - start_y
        # The line is given by a unit direction, so the closest point lies at a plain projection.
        along = offset_x * unit_x + offset_y * unit_y
        if along < 0.0:
            along = 0.0
        elif along > lookahead:
            along = lookahead
        gap_x = offset_x - along * unit_x
        gap_y = offset_y - along * unit_y
        limit = radius + margin
        if gap_x * gap_x + gap_y * gap_y < limit * limit:
            squared = offset_x * offset_x + offset_y * offset_y
            if squared < chosen_squared:
                chosen = obstacle
                chosen_squared = squared
    if chosen is None:
        return goal, False

    x, y, radius = chosen
    direction = atan2(start_y - y, start_x - x) + constants.boundary_step
    ring = radius + margin + constants.waypoint_margin
    return (x + ring * cos(direction), y + ring * sin(direction)), True


# --- Guards -----------------------------------------------------------------------------------


def _angle_changes(angles: list[float], new_angles: list[float]) -> list[float]:
    """Return the change of every joint; the base turns freely and takes the short way round."""
    changes = [new - old for old, new in zip(angles, new_angles)]
    changes[0] = wrap(changes[0])
    return changes


def guard_accepts(
    base: Point,
    segment_length: float,
    angles: list[float],
    new_angles: list[float],
    obstacles: list[Obstacle],
    constants: Constants = PIXEL,
    joints: list[Point] | None = None,
) -> bool:
    """Tell whether the arm keeps clear of every obstacle on its way from one pose to the next.

    The way is sampled at midpoints close enough for the travel between samples to be covered by a
    padding. Where an obstacle already lies nearer than the clearance, the arm must not come any
    nearer. ``joints`` are those of the old pose, for a caller who has them at hand.
    """
    if not obstacles:
        return True
    if joints is None:
        joints, _ = forward_kinematics(base, segment_length, angles)
    changes = _angle_changes(angles, new_angles)
    travels = []
    travel = turn = 0.0
    for change in changes:
        turn += change
        travel += segment_length * abs(turn)
        travels.append(travel)
    samples = max(1, ceil(travel / constants.sample_travel))

    # What every pair of segment and obstacle must hold does not depend on the sample, so it is
    # settled here, as a square: the loop below then needs no square root.
    clearance = constants.arm_clearance
    tolerance = constants.geometry_tolerance
    demands = []
    start = joints[0]
    for end, travel in zip(joints[1:], travels):
        padding = travel / (2 * samples)
        row = []
        for x, y, radius in obstacles:
            point_x, point_y = closest_point(start, end, (x, y))
            needed = min(radius + clearance, hypot(x - point_x, y - point_y))
            limit = max(0.0, needed - tolerance + padding)
            row.append((x, y, limit * limit))
        demands.append(row)
        start = end

    base_x, base_y = base
    for sample in range(samples):
        fraction = (sample + 0.5) / samples
        start_x, start_y = base_x, base_y
        heading = 0.0
        for angle, change, row in zip(angles, changes, demands):
            heading += angle + fraction * change
            along_x = segment_length * cos(heading)
            along_y = segment_length * sin(heading)
            length_squared = along_x * along_x + along_y * along_y
            for x, y, limit_squared in row:
                gap_x = x - start_x
                gap_y = y - start_y
                nearest = (gap_x * along_x + gap_y * along_y) / length_squared
                if nearest >= 1.0:
                    gap_x -= along_x
                    gap_y -= along_y
                elif nearest > 0.0:
                    gap_x -= nearest * along_x
                    gap_y -= nearest * along_y
                if gap_x * gap_x + gap_y * gap_y < limit_squared:
                    return False
            start_x += along_x
            start_y += along_y
    return True


def payload_guard_accepts(
    base: Point,
    segment_length: float,
    angles: list[float],
    new_angles: list[float],
    segment: int,
    offset: Point,
    radius: float,
    obstacles: list[Obstacle],
    constants: Constants = PIXEL,
) -> bool:
    """Tell whether an object held at the end of a segment clears every obstacle on its way.

    ``offset`` is the centre of the object seen from the end of the segment, along and across it.
    """
    if not obstacles:
        return True
    held_angles = angles[:segment]
    changes = _angle_changes(held_angles, new_angles[:segment])
    travel = turn = 0.0
    for change in changes:
        turn += change
        travel += segment_length * abs(turn)
    travel += hypot(*offset) * abs(turn)
    samples = max(1, ceil(travel / constants.sample_travel))
    padding = travel / (2 * samples)

    joints, headings = forward_kinematics(base, segment_length, held_angles)
    old_x, old_y = _held_centre(joints[-1], headings[-1], offset)
    demands = []
    for x, y, obstacle_radius in obstacles:
        needed = min(radius + obstacle_radius, hypot(x - old_x, y - old_y))
        demands.append((x, y, needed - constants.geometry_tolerance + padding))

    for sample in range(samples):
        fraction = (sample + 0.5) / samples
        between = [angle + fraction * change for angle, change in zip(held_angles, changes)]
        joints, headings = forward_kinematics(base, segment_length, between)
        centre_x, centre_y = _held_centre(joints[-1], headings[-1], offset)
        for x, y, limit in demands:
            if hypot(x - centre_x, y - centre_y) < limit:
                return False
    return True


def _held_centre(joint: Point, heading: float, offset: Point) -> Point:
    """Return the centre of an object that rides on a joint at an offset along and across."""
    along, across = offset
    cosine = cos(heading)
    sine = sin(heading)
    return (
        joint[0] + cosine * along - sine * across,
        joint[1] + sine * along + cosine * across,
    )


# --- One update of one arm --------------------------------------------------------------------


class Update(NamedTuple):
    """What one update leaves behind: the pose, the messages, and the flags to show."""

    angles: list[float]
    messages: list[Message]
    blocked: bool
    avoiding: bool


def fresh_messages(joints: list[Point], headings: list[float]) -> list[Message]:
    """Return messages that ask for exactly the present pose."""
    return [(x, y, heading) for (x, y), heading in zip(joints, headings)]


def update_arm(
    base: Point,
    segment_length: float,
    maximum_bend: float,
    turning_speed: float,
    angles: list[float],
    messages: list[Message],
    target: Point,
    obstacles: list[Obstacle],
    dt: float,
    constants: Constants = PIXEL,
) -> Update:
    """Return one update of an arm towards a target: messages, turning, guard.

    The lists passed in are not changed; where nothing is new they are returned as they are.
    """
    _check_step(dt)
    if dt == 0.0:
        return Update(angles, messages, False, False)
    target_x, target_y = target
    clearance = constants.arm_clearance
    for x, y, radius in obstacles:
        if hypot(target_x - x, target_y - y) < radius + clearance:
            return Update(angles, messages, True, False)
    joints, headings = forward_kinematics(base, segment_length, angles)
    tip_x, tip_y = joints[-1]
    arrived = hypot(tip_x - target_x, tip_y - target_y) <= constants.reach_tolerance
    if arrived and not _touches_obstacle(joints, obstacles, constants.sensor_radius):
        return Update(angles, messages, False, False)

    # Every segment but the last reads what its neighbour towards the tip asked for last time,
    # so news of a target moves one link per update.
    goals = [(x, y) for x, y, _ in messages[1:]]
    goals.append(target)
    goals, redirected = _steer_goals(joints, goals, segment_length, obstacles, constants)
    new_messages = _exchange_messages(
        joints, headings, goals, messages, segment_length, maximum_bend, constants
    )
    new_angles, redirected_again = _turn_joints(
        base, segment_length, maximum_bend, turning_speed, angles, goals, obstacles, dt, constants
    )
    avoiding = redirected or redirected_again
    if guard_accepts(base, segment_length, angles, new_angles, obstacles, constants, joints):
        return Update(new_angles, new_messages, False, avoiding)
    return Update(angles, new_messages, True, avoiding)


def _steer_goals(
    joints: list[Point],
    goals: list[Point],
    segment_length: float,
    obstacles: list[Obstacle],
    constants: Constants,
) -> tuple[list[Point], bool]:
    """Return the goals of all segments, steered from the present pose, and whether one changed."""
    avoiding = False
    steered = []
    for start, goal in zip(joints, goals):
        goal, redirected = steer(start, goal, segment_length, obstacles, constants)
        avoiding = avoiding or redirected
        steered.append(goal)
    return steered, avoiding


def _exchange_messages(
    joints: list[Point],
    headings: list[float],
    goals: list[Point],
    messages: list[Message],
    segment_length: float,
    maximum_bend: float,
    constants: Constants,
) -> list[Message]:
    """Return what every segment asks of its neighbour, made from the steered goals."""
    tolerance = constants.direction_tolerance
    last = len(goals) - 1
    new_messages = []
    for index, (goal_x, goal_y) in enumerate(goals):
        start_x, start_y = joints[index]
        reach_x = goal_x - start_x
        reach_y = goal_y - start_y
        if sqrt(reach_x * reach_x + reach_y * reach_y) <= tolerance:
            heading = headings[index]
        else:
            heading = atan2(reach_y, reach_x)
        if index < last:
            # Never ask for a fold that the neighbour's bend limit cannot allow.
            neighbour = messages[index + 1][2]
            bend = wrap(heading - neighbour)
            heading = neighbour + min(max(bend, -maximum_bend), maximum_bend)
        new_messages.append(
            (
                goal_x - segment_length * cos(heading),
                goal_y - segment_length * sin(heading),
                wrap(heading),
            )
        )
    return new_messages


def _turn_joints(
    base: Point,
    segment_length: float,
    maximum_bend: float,
    turning_speed: float,
    angles: list[float],
    goals: list[Point],
    obstacles: list[Obstacle],
    dt: float,
    constants: Constants,
) -> tuple[list[float], bool]:
    """Return the angles turned from base to tip within all limits, and whether one was steered."""
    tolerance = constants.direction_tolerance
    easing = 1.0 - exp(-STEERING_RESPONSE * dt)
    limit = turning_speed * dt
    avoiding = False
    new_angles = []
    x, y = base
    parent = 0.0
    for goal, angle in zip(goals, angles):
        # The steered goal is steered once more: the attachment has moved with the parent.
        (goal_x, goal_y), redirected = steer((x, y), goal, segment_length, obstacles, constants)
        avoiding = avoiding or redirected
        reach_x = goal_x - x
        reach_y = goal_y - y
        if sqrt(reach_x * reach_x + reach_y * reach_y) > tolerance:
            error = wrap(atan2(reach_y, reach_x) - parent - angle)
            angle += min(max(error * easing, -limit), limit)
            angle = min(max(angle, -maximum_bend), maximum_bend) if new_angles else wrap(angle)
        new_angles.append(angle)
        parent += angle
        x += segment_length * cos(parent)
        y += segment_length * sin(parent)
    return new_angles, avoiding


def _check_step(dt: float) -> None:
    """Refuse a step that does not go forward in time."""
    if not isfinite(dt) or dt < 0.0:
        raise ValueError(f"dt must be a finite number of seconds, 0 or more, not {dt!r}")


# --- The whole octopus ------------------------------------------------------------------------


@dataclass
class SceneObject:
    """A circle of the scene: food, an obstacle or a hazard."""

    number: int
    kind: str
    position: Point
    radius: float


class Contact(NamedTuple):
    """One reading: a segment touches an object at a point of the segment."""

    segment: int
    object: int
    kind: str
    position: Point


class Grip(NamedTuple):
    """A held object: which, at the end of which segment, and its centre along and across."""

    object: int
    segment: int
    offset: Point


@dataclass
class PlainArm:
    """One arm: its geometry and limits, its pose and messages, its assignment and its grip.

    ``target`` is where the tip is sent, ``destination`` where a held object is sent.
    """

    number: int
    base: Point
    initial_heading: float
    segment_count: int
    segment_length: float
    maximum_bend: float
    turning_speed: float
    target: Point
    destination: Point | None = None
    clockwise: int = 1
    active: bool = False
    retracting: bool = False
    blocked: bool = False
    avoiding: bool = False
    grip: Grip | None = None
    candidate: tuple[int, int] | None = None
    dwell: float = 0.0
    contacts: list[Contact] = field(default_factory=list)
    angles: list[float] = field(init=False)
    joints: list[Point] = field(init=False)
    headings: list[float] = field(init=False)
    messages: list[Message] = field(init=False)

    def __post_init__(self) -> None:
        self.restart_pose()

    def restart_pose(self) -> None:
        """Take the starting curve; its slight bend breaks the symmetry of a straight chain."""
        bend = self.clockwise * min(INITIAL_BEND, self.maximum_bend)
        self.set_angles([wrap(self.initial_heading)] + [bend] * (self.segment_count - 1))
        self.messages = fresh_messages(self.joints, self.headings)

    def set_angles(self, angles: list[float]) -> None:
        """Take a pose."""
        self.angles = angles
        self.joints, self.headings = forward_kinematics(self.base, self.segment_length, angles)

    def assign(self, active: bool, retracting: bool = False) -> None:
        """Begin or end an assignment; whatever was under way in the old one is forgotten."""
        self.active = active
        self.retracting = retracting
        self.blocked = False
        self.avoiding = False
        self.drop_candidate()

    def let_go(self) -> None:
        """Hold nothing; the tip is sent where the object was."""
        if self.grip is not None and self.destination is not None:
            self.target = self.destination
        self.grip = None

    def drop_candidate(self) -> None:
        """Forget the contact that was maturing into a grasp."""
        self.candidate = None
        self.dwell = 0.0

    def held_centre(self) -> Point:
        """Return where the held object belongs in the present pose."""
        joint = self.joints[self.grip.segment]
        return _held_centre(joint, self.headings[self.grip.segment - 1], self.grip.offset)


class PlainOctopus:
    """A body with its arms and the objects around it, stepped in plain Python."""

    def __init__(self, constants: Constants = PIXEL) -> None:
        self.constants = constants
        self.time = 0.0
        self.ticks = 0
        self.captures: list[tuple[int, int, float]] = []
        self._arms: dict[int, PlainArm] = {}
        self._objects: dict[int, SceneObject] = {}
        self._next_number = 1

    @classmethod
    def from_scene(cls, document: dict) -> "PlainOctopus":
        """Build the octopus of a valid scene document, in the unit and frame of the document."""
        metric = document.get("units", "pixel") == "metre"
        octopus = cls(METRE if metric else PIXEL)
        food_positions = {}
        for key, kind in (("food", "food"), ("obstacles", "obstacle"), ("hazards", "hazard")):
            for entry in document.get(key, ()):
                number = octopus._place(kind, entry["position"], entry.get("radius"))
                if entry.get("id") is not None:
                    food_positions[entry["id"]] = octopus._objects[number].position
        body = document.get("body", (0.0, 0.0) if metric else (400.0, 460.0))
        listed = document.get("layout", "octopus") == "listed"
        entries = {entry["number"]: entry for entry in document.get("arms", ())}
        numbers = entries if listed else range(1, OCTOPUS_ARM_COUNT + 1)
        for number in sorted(numbers):
            octopus._add_arm(
                number, entries.get(number, {}), document.get("defaults", {}), body, listed,
                food_positions,
            )
        octopus._sense_all()
        return octopus

    def _add_arm(
        self, number: int, entry: dict, defaults: dict, body: Point, listed: bool,
        food_positions: dict[str, Point],
    ) -> None:
        """Add one arm of a scene document, with the layout and defaults where it says nothing."""
        constants = self.constants
        clockwise = constants.clockwise
        layout_heading = clockwise * (-pi / 2 + (number - 1) * pi / 4)
        degrees = entry.get("heading_degrees")
        heading = layout_heading if degrees is None else radians(degrees)
        if entry.get("base") is not None:
            base = _point(entry["base"])
        else:
            # The place on the body is the layout's, whichever way the arm itself sets out.
            base = (
                body[0] + constants.body_radius * cos(layout_heading),
                body[1] + constants.body_radius * sin(layout_heading),
            )
        parameters = {**defaults, **entry.get("parameters", {})}
        bend = parameters.get("maximum_bend_degrees")
        speed = parameters.get("turning_speed_degrees")
        length = constants.listed_segment_length if listed else constants.octopus_segment_length
        target = entry.get("target")
        if target is None:
            direction = heading - clockwise * DEFAULT_TARGET_TURN
            position = (
                base[0] + constants.default_target_distance * cos(direction),
                base[1] + constants.default_target_distance * sin(direction),
            )
        elif "food" in target:
            position = food_positions[target["food"]]
        else:
            position = _point(target["position"])
        self._arms[number] = PlainArm(
            number=number,
            base=base,
            initial_heading=heading,
            segment_count=parameters.get("segment_count", DEFAULT_SEGMENT_COUNT),
            segment_length=float(parameters.get("segment_length", length)),
            maximum_bend=DEFAULT_MAXIMUM_BEND if bend is None else radians(bend),
            turning_speed=DEFAULT_TURNING_SPEED if speed is None else radians(speed),
            target=position,
            clockwise=clockwise,
            active=target is not None,
        )

    # Assignments

    def reach(self, arm: int, position: Point) -> None:
        """Send the tip, or the held object, to a position."""
        chosen = self._arms[arm]
        chosen.target = chosen.destination = _point(position)
        chosen.assign(active=True)

    def idle(self, arm: int) -> None:
        """End the assignment; the arm keeps its pose and its grip."""
        self._arms[arm].assign(active=False)

    def release(self, arm: int) -> None:
        """Let go where the object is; the arm goes idle so that it does not grasp at once again."""
        chosen = self._arms[arm]
        chosen.let_go()
        chosen.assign(active=False)

    def retract(self, arm: int) -> None:
        """Bring the held object close to the base; without a grip this does nothing."""
        chosen = self._arms[arm]
        if chosen.grip is None:
            return
        distance = self.constants.retract_distance
        chosen.target = chosen.destination = (
            chosen.base[0] + distance * cos(chosen.initial_heading),
            chosen.base[1] + distance * sin(chosen.initial_heading),
        )
        chosen.assign(active=True, retracting=True)

    def reset(self, arm: int) -> None:
        """Let go and take the starting curve; target and active or idle stay as they are."""
        chosen = self._arms[arm]
        chosen.let_go()
        chosen.assign(active=chosen.active)
        chosen.restart_pose()
        self._sense(chosen)

    # Objects

    def add_object(self, kind: str, position: Point, radius: float | None = None) -> int:
        """Add a food, obstacle or hazard circle and return its number; no number is used twice."""
        number = self._place(kind, position, radius)
        self._refresh_after_edit()
        return number

    def move_object(self, number: int, position: Point) -> None:
        """Move an object; an arm that held it lets go rather than pulling it back."""
        x, y = _point(position)
        self._objects[number].position = (x, y)
        for arm in self._arms.values():
            if arm.grip is not None and arm.grip.object == number:
                held_x, held_y = arm.held_centre()
                if hypot(x - held_x, y - held_y) > self.constants.detach_tolerance:
                    self.release(arm.number)
        self._refresh_after_edit()

    def remove_object(self, number: int) -> None:
        """Remove an object; an arm that held it goes idle."""
        del self._objects[number]
        for arm in self._arms.values():
            if arm.grip is not None and arm.grip.object == number:
                self.release(arm.number)
        self._refresh_after_edit()

    def apply_event(self, event: dict) -> None:
        """Apply one timed edit of a scene document."""
        if "add" in event:
            added = event["add"]
            self.add_object(added["kind"], added["position"], added.get("radius"))
        elif "move" in event:
            self.move_object(event["move"], event["position"])
        elif "remove" in event:
            self.remove_object(event["remove"])
        elif "reach" in event:
            self.reach(event["arm"], event["reach"])
        else:
            actions = {
                "idle": self.idle,
                "release": self.release,
                "retract": self.retract,
                "reset": self.reset,
            }
            actions[event["action"]](event["arm"])

    def _place(self, kind: str, position: Point, radius: float | None) -> int:
        """Put an object into the scene under the next number."""
        number = self._next_number
        self._next_number += 1
        size = self.constants.object_radius if radius is None else float(radius)
        self._objects[number] = SceneObject(number, kind, _point(position), size)
        return number

    def _refresh_after_edit(self) -> None:
        """Sense again, and forget every maturing contact that the edit broke."""
        self._sense_all()
        owned = self._owned()
        for arm in self._arms.values():
            if arm.candidate is not None and self._find_candidate(arm, owned) != arm.candidate:
                arm.drop_candidate()

    # One step

    def step(self, dt: float) -> None:
        """Step every arm once, in the order of their numbers, by dt seconds."""
        _check_step(dt)
        if dt == 0.0:
            return
        self.time += dt
        self.ticks += 1
        obstacles = [
            (*thing.position, thing.radius)
            for thing in self._objects.values()
            if thing.kind == "obstacle"
        ]
        owned = self._owned()
        # An arm reads its contacts only before it acts, so they are not refreshed right after it
        # moved: at the end of the step all arms sense anyway.
        for arm in self._arms.values():
            if not arm.active:
                continue
            if arm.grip is not None:
                self._carry(arm, obstacles, dt)
                continue
            self._sense(arm)
            candidate = self._find_candidate(arm, owned)
            if candidate is not None:
                self._mature(arm, candidate, owned, dt)
            else:
                arm.drop_candidate()
                update = self._update(arm, obstacles, dt)
                if update.angles is not arm.angles:
                    arm.set_angles(update.angles)
        self._sense_all()

    def _update(self, arm: PlainArm, obstacles: list[Obstacle], dt: float) -> Update:
        """Update an arm's messages and flags; whether to take the pose is left to the caller."""
        update = update_arm(
            arm.base, arm.segment_length, arm.maximum_bend, arm.turning_speed,
            arm.angles, arm.messages, arm.target, obstacles, dt, self.constants,
        )
        arm.messages = update.messages
        arm.blocked = update.blocked
        arm.avoiding = update.avoiding
        return update

    def _carry(self, arm: PlainArm, obstacles: list[Obstacle], dt: float) -> None:
        """Bring the held object nearer to its destination, or hold once it is there."""
        held = self._objects[arm.grip.object]
        x, y = held.position
        goal_x, goal_y = arm.destination
        if hypot(x - goal_x, y - goal_y) <= self.constants.carry_tolerance:
            arm.assign(active=False)
            return
        tip_x, tip_y = arm.joints[-1]
        # The shown target is the tip's: the destination shifted by what the tip is off the object.
        arm.target = (goal_x + (tip_x - x), goal_y + (tip_y - y))
        update = self._update(arm, obstacles, dt)
        if update.angles is arm.angles:
            return
        if payload_guard_accepts(
            arm.base, arm.segment_length, arm.angles, update.angles, arm.grip.segment,
            arm.grip.offset, held.radius, obstacles, self.constants,
        ):
            arm.set_angles(update.angles)
            held.position = arm.held_centre()
        else:
            arm.blocked = True

    def _mature(
        self, arm: PlainArm, candidate: tuple[int, int], owned: set[int], dt: float
    ) -> None:
        """Hold the pose while the same contact lasts, and latch the object once it has matured."""
        arm.blocked = False
        arm.avoiding = False
        if candidate != arm.candidate:
            arm.drop_candidate()
            arm.candidate = candidate
        arm.dwell += dt
        if arm.dwell < GRASP_DWELL - GRASP_DWELL_SLACK:
            return
        number, segment = candidate
        x, y = self._objects[number].position
        joint_x, joint_y = arm.joints[segment]
        heading = arm.headings[segment - 1]
        offset = _held_centre((0.0, 0.0), -heading, (x - joint_x, y - joint_y))
        arm.grip = Grip(number, segment, offset)
        arm.assign(active=False)
        owned.add(number)
        self.captures.append((arm.number, number, self.time))

    # Sensing

    def _sense(self, arm: PlainArm) -> None:
        """Replace the readings of an arm: by segment, then by object."""
        sensor_radius = self.constants.sensor_radius
        things = [
            (thing.number, thing.kind, *thing.position, (thing.radius + sensor_radius) ** 2)
            for thing in self._objects.values()
        ]
        contacts = []
        joints = arm.joints
        for segment in range(1, len(joints)):
            start_x, start_y = joints[segment - 1]
            along_x = joints[segment][0] - start_x
            along_y = joints[segment][1] - start_y
            length_squared = along_x * along_x + along_y * along_y
            for number, kind, x, y, limit_squared in things:
                gap_x = x - start_x
                gap_y = y - start_y
                nearest = (gap_x * along_x + gap_y * along_y) / length_squared
                nearest = 0.0 if nearest < 0.0 else 1.0 if nearest > 1.0 else nearest
                gap_x -= nearest * along_x
                gap_y -= nearest * along_y
                if gap_x * gap_x + gap_y * gap_y <= limit_squared:
                    point = (start_x + nearest * along_x, start_y + nearest * along_y)
                    contacts.append(Contact(segment, number, kind, point))
        arm.contacts = contacts

    def _sense_all(self) -> None:
        """Replace the readings of all arms."""
        for arm in self._arms.values():
            self._sense(arm)

    def _owned(self) -> set[int]:
        """Return the numbers of all objects held by an arm."""
        return {arm.grip.object for arm in self._arms.values() if arm.grip is not None}

    def _find_candidate(self, arm: PlainArm, owned: set[int]) -> tuple[int, int] | None:
        """Return the lowest food number two consecutive segments touch, with the later segment."""
        segments: dict[int, list[int]] = {}
        for contact in arm.contacts:
            if contact.kind == "food" and contact.object not in owned:
                segments.setdefault(contact.object, []).append(contact.segment)
        for number in sorted(segments):
            touching = segments[number]
            for first, second in pairwise(touching):
                if second == first + 1:
                    return number, second
        return None

    # What is shown

    def _state(self, arm: PlainArm) -> str:
        """Return the name of what an arm is doing."""
        if arm.active and arm.blocked:
            return "Blocked"
        if arm.active and arm.avoiding:
            return "Avoiding"
        if arm.grip is not None:
            if not arm.active:
                return "Holding"
            return "Retracting" if arm.retracting else "Carrying"
        if arm.candidate is not None:
            return "Grasping"
        if arm.contacts:
            return "Contact"
        if not arm.active:
            return "Idle"
        target_x, target_y = arm.target
        tip_x, tip_y = arm.joints[-1]
        if hypot(tip_x - target_x, tip_y - target_y) <= self.constants.reach_tolerance:
            return "Reached"
        distance = hypot(target_x - arm.base[0], target_y - arm.base[1])
        if distance > arm.segment_count * arm.segment_length:
            return "Beyond reach"
        return "Reaching"

    def _arm_record(self, arm: PlainArm) -> dict:
        """Return the trace record of one arm."""
        grip = None
        if arm.grip is not None:
            grip = {
                "object": arm.grip.object,
                "segment": arm.grip.segment,
                "offset": list(arm.grip.offset),
            }
        return {
            "number": arm.number,
            "angles": list(arm.angles),
            "tip": list(arm.joints[-1]),
            "state": self._state(arm),
            "target": list(arm.target),
            "grip": grip,
            "contacts": [
                [contact.segment, contact.object, contact.kind, list(contact.position)]
                for contact in arm.contacts
            ],
        }

    def snapshot(self) -> dict:
        """Return the trace record of this moment, with the arms in the order of their numbers."""
        return {
            "tick": self.ticks,
            "seconds": self.time,
            "arms": [self._arm_record(arm) for arm in self._arms.values()],
            "objects": [
                [thing.number, list(thing.position), thing.kind, thing.radius]
                for thing in self._objects.values()
            ],
            "captures": [list(capture) for capture in self.captures],
        }


def _point(values) -> Point:
    """Return two numbers as a point."""
    x, y = values
    return float(x), float(y)


def run(document: dict, ticks: int, dt: float = DEFAULT_STEP) -> Iterator[dict]:
    """Play a scene with its events and yield the trace record of the start and of every tick."""
    octopus = PlainOctopus.from_scene(document)
    events: dict[int, list[dict]] = {}
    for event in document.get("events", ()):
        events.setdefault(event["tick"], []).append(event)
    yield octopus.snapshot()
    for tick in range(1, ticks + 1):
        for event in events.get(tick, ()):
            octopus.apply_event(event)
        octopus.step(dt)
        yield octopus.snapshot()
