"""Random stories for the invariants: a scene, timed edits, and the lengths of the steps.

A story is told in the words of the scene format, so that the model and the plain stepper can play
the same one. Lengths are drawn in pixels; a story in metres is the mirror image of one in pixels.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from octo_reach.model.octopus import Octopus
from octo_reach.model.reach import Planner
from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind, SceneObject
from octo_reach.scenes import build_octopus, parse_scene

TICK = 1.0 / 120.0
FILE_KEYS = {"food": "food", "obstacle": "obstacles", "hazard": "hazards"}


@dataclass(frozen=True)
class Story:
    """One run: edits are (tick, what, which, point, size), resolved against what is there."""

    scene: dict
    edits: tuple[tuple[int, str, int, tuple[float, float], float], ...]
    steps: tuple[float, ...]

    def __repr__(self) -> str:
        even = len(set(self.steps)) == 1
        steps = f"({self.steps[0]!r},) * {len(self.steps)}" if even else repr(self.steps)
        return f"Story({self.scene!r}, {self.edits!r}, {steps})"

    def _repr_pretty_(self, printer, cycle: bool) -> None:
        """Print a failing story the short way; hypothesis would give every step a line."""
        printer.text(repr(self))

    @property
    def metres(self) -> bool:
        return self.scene["units"] == "metre"

    def octopus(self, planners=None) -> Octopus:
        return build_octopus(parse_scene(self.scene), planners)

    def events(self, tick: int, octopus: Octopus) -> list[dict]:
        """Give the edits of a tick as events of the scene format, for the octopus as it is.

        Where arms hold something, every other edit of an arm goes to one of them.
        """
        arms = list(octopus.numbers)
        holders = sorted(octopus.owners.values())
        objects = octopus.objects.numbers.tolist()
        events: list[dict] = []
        for at, what, which, point, size in self.edits:
            if at != tick:
                continue
            arm = arms[which % len(arms)]
            if holders and which % 2:
                arm = holders[which % len(holders)]
            if what in FILE_KEYS:
                events.append({"add": {"kind": what, "position": list(point), "radius": size}})
            elif what == "reach":
                events.append({"arm": arm, "reach": list(point)})
            elif what not in ("move", "remove"):
                events.append({"arm": arm, "action": what})
            elif objects:
                number = objects[which % len(objects)]
                if what == "remove":
                    objects.remove(number)
                    events.append({"remove": number})
                else:
                    events.append({"move": number, "position": list(point)})
        return events

    def mirrored(self) -> "Story":
        """Give the same story in metres, y up."""
        scale = 0.001

        def across(point):
            return [point[0] * scale, -point[1] * scale]

        scene = dict(self.scene, units="metre", body=across(self.scene["body"]))
        for key in FILE_KEYS.values():
            scene[key] = [
                {"position": across(thing["position"]), "radius": thing["radius"] * scale}
                for thing in self.scene[key]
            ]
        scene["arms"] = []
        for arm in self.scene["arms"]:
            parameters = dict(arm["parameters"])
            parameters["segment_length"] *= scale
            other = {
                "number": arm["number"],
                "parameters": parameters,
                "base": across(arm["base"]),
                "heading_degrees": -arm["heading_degrees"],
            }
            if "target" in arm:
                other["target"] = {"position": across(arm["target"]["position"])}
            scene["arms"].append(other)
        edits = tuple(
            (tick, what, which, tuple(across(point)), size * scale)
            for tick, what, which, point, size in self.edits
        )
        return Story(scene, edits, self.steps)


@dataclass(frozen=True)
class ArmBefore:
    """What an arm was like before a step."""

    angles: np.ndarray
    joints: np.ndarray
    blocked: bool
    held: int | None


@dataclass(frozen=True)
class Frame:
    """One step: what was, and the octopus as it is after it."""

    octopus: Octopus
    dt: float
    edited: bool
    arms: tuple[ArmBefore, ...]
    objects: tuple[SceneObject, ...]


def apply(octopus: Octopus, event: dict) -> None:
    """Do what an event of the scene format says."""
    if "add" in event:
        added = event["add"]
        kind = ObjectKind.from_label(added["kind"])
        octopus.add_object(kind, added["position"], added["radius"])
    elif "move" in event:
        octopus.move_object(event["move"], event["position"])
    elif "remove" in event:
        octopus.remove_object(event["remove"])
    elif "reach" in event:
        octopus.reach(event["arm"], event["reach"])
    else:
        getattr(octopus, event["action"])(event["arm"])


def play(
    story: Story,
    planners=None,
    also: Callable[[dict | None, float], None] | None = None,
) -> Iterator[Frame]:
    """Play a story and stop after every step.

    `also` is told every event, and None with the duration before every step, so that somebody else
    can play along.
    """
    octopus = story.octopus(planners)
    for tick, dt in enumerate(story.steps, 1):
        edited = False
        for event in story.events(tick, octopus):
            apply(octopus, event)
            edited = True
            if also is not None:
                also(event, 0.0)
        arms = tuple(
            ArmBefore(
                arm.angles.copy(),
                arm.joints.copy(),
                arm.blocked,
                None if arm.grip is None else arm.grip.object,
            )
            for arm in octopus.arms
        )
        objects = tuple(octopus.objects)
        if also is not None:
            also(None, dt)
        octopus.step(dt)
        yield Frame(octopus, dt, edited, arms, objects)


def rules_of(story: Story) -> ReachRules:
    return ReachRules.metre() if story.metres else ReachRules.pixel()


def obstacles_of(objects) -> np.ndarray:
    """Give centre and radius of every obstacle, shape (K, 3)."""
    rows = [
        (*thing.position, thing.radius) for thing in objects if thing.kind == ObjectKind.OBSTACLE
    ]
    return np.array(rows).reshape(-1, 3)


def chain(base, length: float, angles: np.ndarray) -> np.ndarray:
    """Give the joints of a pose, shape (N + 1, 2), by sums instead of a loop."""
    headings = np.cumsum(angles)
    steps = length * np.stack([np.cos(headings), np.sin(headings)], axis=1)
    return np.vstack([np.zeros(2), np.cumsum(steps, axis=0)]) + np.asarray(base)


def gaps(joints: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Give the distance of every point from every segment, shape (N, K)."""
    start = joints[:-1, None, :]
    along = np.diff(joints, axis=0)[:, None, :]
    towards = points[None, :, :2] - start
    share = (towards * along).sum(axis=2) / (along * along).sum(axis=2)
    nearest = start + np.clip(share, 0.0, 1.0)[:, :, None] * along
    return np.linalg.norm(points[None, :, :2] - nearest, axis=2)


# ------------------------------------------------------------------------------- strategies


def lengths(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers with three decimals, a little off, so that nothing touches to the last bit."""
    first, last = math.ceil(low * 1000), math.floor(high * 1000)
    return st.integers(first, last - 1).map(lambda thousandths: thousandths / 1000 + 0.000137)


def _along(arm: dict, share: float) -> tuple[float, float, float]:
    """Give a place of an arm's starting pose, and the heading there."""
    parameters = arm["parameters"]
    bend = min(0.06, math.radians(parameters["maximum_bend_degrees"]))
    heading = math.radians(arm["heading_degrees"])
    x, y = arm["base"]
    whole, rest = divmod(share * parameters["segment_count"], 1.0)
    for _ in range(int(whole)):
        x += parameters["segment_length"] * math.cos(heading)
        y += parameters["segment_length"] * math.sin(heading)
        heading += bend
    x += rest * parameters["segment_length"] * math.cos(heading)
    y += rest * parameters["segment_length"] * math.sin(heading)
    return x, y, heading


def _beside(x: float, y: float, heading: float, distance: float) -> list[float]:
    return [x - distance * math.sin(heading), y + distance * math.cos(heading)]


@st.composite
def _points(draw, arms: list[dict], aside: float, least: float = 0.0) -> tuple[float, float]:
    """A point beside an arm's starting pose, between two distances, or anywhere about it."""
    arm = draw(st.sampled_from(arms))
    if draw(st.booleans()):
        x, y, heading = _along(arm, draw(lengths(0.0, 1.1)))
        side = draw(st.sampled_from([1, -1]))
        return tuple(_beside(x, y, heading, side * draw(lengths(least, aside))))
    parameters = arm["parameters"]
    reach = parameters["segment_count"] * parameters["segment_length"]
    distance = reach * draw(lengths(0.0, 1.2))
    direction = draw(lengths(-3.142, 3.142))
    x, y = arm["base"]
    return x + distance * math.cos(direction), y + distance * math.sin(direction)


@st.composite
def _arms(draw, number: int, most_segments: int) -> dict:
    return {
        "number": number,
        "parameters": {
            "segment_count": draw(st.integers(2, most_segments)),
            "segment_length": draw(lengths(4.0, 30.0)),
            "maximum_bend_degrees": draw(st.just(180) | lengths(2.0, 179.0)),
            "turning_speed_degrees": draw(lengths(5.0, 400.0)),
        },
        "base": [draw(lengths(-40.0, 40.0)), draw(lengths(-40.0, 40.0))],
        "heading_degrees": draw(lengths(-180.0, 180.0)),
    }


def _durations(ticks: int) -> st.SearchStrategy[tuple[float, ...]]:
    """Even steps of 120 or 30 a second, or uneven ones with pauses."""
    uneven = st.lists(st.just(0.0) | lengths(0.0, 0.4), min_size=ticks, max_size=ticks)
    return st.sampled_from([(TICK,) * ticks, (4 * TICK,) * ticks]) | uneven.map(tuple)


ACTS = ("reach", "idle", "release", "retract", "reset")
EDITS = ("food", "obstacle", "hazard", "move", "remove")


@st.composite
def stories(
    draw,
    most_arms: int = 3,
    most_segments: int = 28,
    kinds: tuple[str, ...] = ("food", "food", "obstacle", "obstacle", "hazard"),
    acts: tuple[str, ...] = (*ACTS, *EDITS, "reach", "retract"),
    metres: bool | None = None,
    about: str = "",
    ticks: int = 50,
) -> Story:
    """Stories with these kinds of objects and edits.

    Those about food give every arm something to grasp across two of its segments, and send it away
    when there was time to. Those about detours have an obstacle between every arm and its target,
    those about crowds obstacles all along a long arm.
    """
    count = 1 if about == "crowds" else draw(st.integers(1, most_arms))
    arms = [draw(_arms(number, most_segments)) for number in range(1, count + 1)]
    if about == "crowds":
        arms[0]["parameters"]["segment_count"] = draw(st.integers(20, 40))
    scene: dict = {"version": 1, "name": "story", "units": "pixel", "layout": "listed"}
    scene |= {"body": [0.0, 0.0], "food": [], "obstacles": [], "hazards": [], "arms": arms}
    if about == "food" and count > 1 and draw(st.integers(0, 3)):
        # Rivals: two arms in one place want the same.
        arms[1] = dict(arms[0], number=2)
    across: dict[int, tuple[float, float]] = {}
    for arm in arms if about == "food" else []:
        segments = arm["parameters"]["segment_count"]
        x, y, heading = _along(arm, draw(st.integers(1, segments - 1)) / segments)
        radius = draw(lengths(2.0, 40.0))
        aside = radius * draw(lengths(-1.0, 1.0))
        scene["food"].append({"position": _beside(x, y, heading, aside), "radius": radius})
        if draw(st.integers(0, 2)):
            # In the way of what is carried across, but not of the arm itself.
            size = draw(lengths(2.0, 15.0))
            beyond = math.copysign(abs(aside) + radius + size + draw(lengths(0.0, 30.0)), aside)
            obstacle = {"position": _beside(x, y, heading, beyond), "radius": size}
            scene["obstacles"].append(obstacle)
            across[arm["number"]] = tuple(_beside(x, y, heading, 2.0 * beyond))
    for arm in arms if about == "detours" else []:
        radius = draw(lengths(4.0, 20.0))
        side = draw(st.sampled_from([1.0, -1.0]))
        place = _along(arm, draw(lengths(0.3, 0.95)))
        gap = radius + 3.0 + draw(lengths(0.0, 8.0))
        position = _beside(*place, side * gap)
        scene["obstacles"].append({"position": position, "radius": radius})
        beyond = _beside(*place, side * (gap + radius + draw(lengths(3.0, 40.0))))
        arm["target"] = {"position": beyond}
    if about == "crowds":
        for _ in range(draw(st.integers(4, 16))):
            radius = draw(lengths(2.0, 10.0))
            aside = (radius + 3.0 + draw(lengths(0.0, 30.0))) * draw(st.sampled_from([1, -1]))
            position = _beside(*_along(arms[0], draw(lengths(0.0, 1.05))), aside)
            scene["obstacles"].append({"position": position, "radius": radius})
    for kind in draw(st.lists(st.sampled_from(kinds), max_size=6)) if kinds else []:
        radius = draw(lengths(2.0, 25.0))
        # Food mostly where an arm can feel it, so that stories of grasping are common.
        # Obstacles mostly where an arm passes close by, now and then on top of it.
        aside = radius + (1.0 if kind == "food" else 25.0)
        least = 0.0 if kind == "food" or draw(st.integers(0, 4)) == 0 else radius + 3.0
        position = list(draw(_points(arms, aside, least)))
        scene[FILE_KEYS[kind]].append({"position": position, "radius": radius})
    for arm in arms if about != "detours" else []:
        if about == "food" or draw(st.integers(0, 4)):
            arm["target"] = {"position": list(draw(_points(arms, 60.0)))}
    edits = []
    for what in draw(st.lists(st.sampled_from(acts), max_size=6)) if acts else []:
        tick = draw(st.integers(1, ticks))
        which = draw(st.integers(0, 6))
        point = draw(_points(arms, 30.0))
        edits.append((tick, what, which, point, draw(lengths(2.0, 20.0))))
    if about == "food":
        steps = draw(st.sampled_from([(TICK,) * ticks, (4 * TICK,) * ticks]))
        grasped = math.ceil(0.25 / steps[0]) + 1
        for arm in arms:
            which = 2 * arm["number"] + 1
            what = draw(st.sampled_from(["reach", "reach", "retract"]))
            tick = draw(st.integers(grasped, grasped + 5))
            there = across.get(arm["number"]) or draw(_points(arms, 60.0))
            edits.append((tick, what, which, there, 0.0))
    else:
        steps = draw(_durations(ticks))
    edits.sort(key=lambda edit: edit[0])
    story = Story(scene, tuple(edits), steps)
    if draw(st.booleans()) if metres is None else metres:
        story = story.mirrored()
    return story


def all_stories(metres: bool | None = None) -> st.SearchStrategy[Story]:
    """Stories of all sorts: of anything, of food, of detours, of crowds."""
    moods = ("", "food", "detours", "crowds")
    return st.one_of(stories(about=about, metres=metres) for about in moods)


class Stubborn(Planner):
    """A planner that asks for whatever it was told to, whether it makes sense or not."""

    def __init__(self, wishes: list, gated: bool) -> None:
        self.name = "stubborn"
        self.wishes = wishes
        self.gated = gated
        self.asked = 0

    def propose(self, arm, target, obstacles, dt):
        wish = self.wishes[self.asked % len(self.wishes)]
        self.asked += 1
        if wish == "nothing":
            return None
        if wish == "opposite":
            return -arm.angles
        if wish == "straight at it":
            angles = np.zeros(len(arm.angles))
            angles[0] = math.atan2(target[1] - arm.base[1], target[0] - arm.base[0])
            return angles
        return np.resize(np.array(wish), len(arm.angles))

    def reset(self) -> None:
        self.asked = 0


wild_angles = lengths(-4.0, 4.0) | st.sampled_from([1e300, -1.7e308, 2e9, -0.0, 1e-300])
wishes = st.lists(
    st.lists(wild_angles, min_size=1, max_size=5)
    | st.sampled_from(["opposite", "straight at it", "nothing"]),
    min_size=1,
    max_size=3,
)
stubborn_planners = st.builds(Stubborn, wishes, st.booleans())


@st.composite
def stubborn_stories(draw, told: st.SearchStrategy[Story]) -> tuple[Story, dict]:
    """A story some of whose arms have a planner that asks for the impossible."""
    story = draw(told)
    numbers = [arm["number"] for arm in story.scene["arms"]]
    asked = draw(st.sets(st.sampled_from(numbers), min_size=1))
    return story, {number: draw(stubborn_planners) for number in sorted(asked)}
