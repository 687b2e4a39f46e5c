"""How long one step of one arm takes: the compiled kernels beside careful plain Python.

Both step the same short acts: an arm somewhere among obstacles, from its starting pose, with a new
target every few steps, so that it never comes to rest. They must agree on every pose. Only steps in
which the arm moved count: a refused move is cut short on both sides, each in its own way.
"""

from __future__ import annotations

import gc
import importlib.util
import math
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

from octo_reach.installation import share_path
from octo_reach.model.arm import ArmParameters, ArmPlacement, initial_angles
from octo_reach.model.compilation import compiled, entry_point
from octo_reach.model.geometry import Floats, forward_kinematics, segment_distance, wrap
from octo_reach.model.octopus import Octopus
from octo_reach.model.rules import UPDATE_RATE, ReachRules
from octo_reach.model.scene import ObjectKind

SEGMENTS = (20, 40, 100)
OBSTACLES = (0, 4, 16, 64)
SECONDS = 40.0
"""How long a whole measurement takes, roughly, s."""

LENGTH = 18.0
"""Length of every segment, in pixels: that of the seed's single arm."""
LEAST_SPREAD = 360.0
"""Obstacles stand within the arm's reach around its base, but at least within this, in pixels."""
ACT_STEPS = 40
TARGET_STEPS = 10
"""Steps after which an act has a new target."""
MOST_ACTS = 50
COMPILED_ROUNDS = 4
"""How often the compiled side plays an act: it is quick, and its slowest steps are of interest."""
BARE_ROUNDS = 2000
TOLERANCE = 1e-9
"""Difference of two joint angles that is still agreement, rad."""


class DisagreementError(RuntimeError):
    """The two sides did not reach the same pose, so their times cannot be compared."""


@dataclass(frozen=True)
class StepTiming:
    """Times of one step of one arm.

    Attributes:
        segments: segments of the arm.
        obstacles: obstacles around it.
        steps: steps that both sides took and that count.
        plain_us: median of the plain stepper, microseconds.
        compiled_us: median of the compiled kernels, microseconds.
        p99_us: 99th percentile of the compiled kernels, microseconds.
        floor_us: median of a bare compiled loop over nothing but the arithmetic that such a step
            cannot do without, microseconds; see `bare_step`.
    """

    segments: int
    obstacles: int
    steps: int
    plain_us: float
    compiled_us: float
    p99_us: float
    floor_us: float

    @property
    def over_floor(self) -> float:
        """How many times the bare loop a compiled step takes, by the medians."""
        return self.compiled_us / self.floor_us

    @property
    def speedup(self) -> float:
        """How many compiled steps the plain stepper's one is worth, by the medians."""
        return self.plain_us / self.compiled_us

    def row(self) -> dict[str, float]:
        """Give the numbers as `octo-reach bench model --json` writes them."""
        return {
            "segments": self.segments,
            "obstacles": self.obstacles,
            "plain_us": round(self.plain_us, 3),
            "compiled_us": round(self.compiled_us, 3),
            "p99_us": round(self.p99_us, 3),
            "speedup": round(self.speedup, 3),
            "floor_us": round(self.floor_us, 3),
            "over_floor": round(self.over_floor, 3),
        }


@dataclass(frozen=True)
class Act:
    """A little scene with one arm, in pixels.

    Attributes:
        segments: segments of the arm.
        heading_degrees: heading of its base at the start.
        obstacles: centre and radius of each, (x, y, radius).
        targets: target from every so-many-th step on, (x, y).
    """

    segments: int
    heading_degrees: float
    obstacles: tuple[tuple[float, float, float], ...]
    targets: tuple[tuple[float, float], ...]

    @property
    def segment_length(self) -> float:
        """Length of a segment, in pixels."""
        return LENGTH


@dataclass
class _Playing:
    """What came of playing acts on one side."""

    times: list[int] = field(default_factory=list)
    poses: list[Floats] = field(default_factory=list)
    steered: list[int] = field(default_factory=list)


def write_act(segments: int, obstacles: int, number: int) -> Act:
    """Make up an act; the same arguments give the same act.

    Args:
        segments: segments of the arm, 2 to 100.
        obstacles: how many obstacles stand around it, none of them on it.
        number: which of the acts of these sizes.
    """
    chance = random.Random(f"{segments} {obstacles} {number}")
    rules = ReachRules.pixel()
    heading_degrees = chance.uniform(-180.0, 180.0)
    parameters = ArmParameters(segments, LENGTH)
    angles = initial_angles(parameters, math.radians(heading_degrees), rules)
    joints = forward_kinematics((0.0, 0.0), parameters.segment_length, angles)[0].tolist()

    circles: list[tuple[float, float, float]] = []
    while len(circles) < obstacles:
        # Evenly over all that the arm can reach; around a short arm there must be room for them.
        radius = chance.uniform(4.0, 8.0)
        nearest = radius + 2.0 * rules.arm_clearance
        distance = max(parameters.reach, LEAST_SPREAD) * math.sqrt(chance.random())
        direction = chance.uniform(-math.pi, math.pi)
        x, y = distance * math.cos(direction), distance * math.sin(direction)
        gaps = (
            segment_distance(a_x, a_y, z_x, z_y, x, y)
            for (a_x, a_y), (z_x, z_y) in pairwise(joints)
        )
        if min(gaps) > nearest:
            circles.append((x, y, radius))

    targets: list[tuple[float, float]] = []
    while len(targets) < ACT_STEPS // TARGET_STEPS:
        distance = parameters.reach * math.sqrt(chance.uniform(0.1, 0.9))
        direction = chance.uniform(-math.pi, math.pi)
        x, y = distance * math.cos(direction), distance * math.sin(direction)
        if all(math.dist((x, y), c[:2]) > c[2] + rules.arm_clearance for c in circles):
            targets.append((x, y))
    return Act(segments, heading_degrees, tuple(circles), tuple(targets))


def load_plain_stepper() -> ModuleType:
    """Load the plain stepper that is shipped with the tests.

    Raises:
        FileNotFoundError: it was not installed; the text says where it was sought.
    """
    name = "plain_stepper"
    spec = importlib.util.spec_from_file_location(name, share_path("test", f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their own module up there while it is being loaded.
    sys.modules.setdefault(name, module)
    spec.loader.exec_module(module)
    return module


def measure_steps(
    segments: Sequence[int] = SEGMENTS,
    obstacles: Sequence[int] = OBSTACLES,
    seconds: float = SECONDS,
    report: Callable[[float], None] = lambda share: None,
) -> list[StepTiming]:
    """Time the compiled kernels beside the plain stepper. Compile the kernels before.

    Args:
        segments: numbers of segments to measure with.
        obstacles: numbers of obstacles to measure with, each with every number of segments.
        seconds: how long all of it should take, roughly; at least one act of each is played.
        report: told the share that is done, 0 to 1, every now and then.

    Returns:
        One result for each pair of sizes, by segments, then obstacles.

    Raises:
        DisagreementError: the two sides reached different poses.
        FileNotFoundError: the plain stepper was not installed.
        ValueError: a number of segments is not from 2 to 100, or among so many obstacles the arm
            never moved.
    """
    plain_stepper = load_plain_stepper()
    pairs = [(count, around) for count in segments for around in obstacles]
    timings = []
    for done, (count, around) in enumerate(pairs):

        def tell(share: float, done: int = done) -> None:
            report((done + share) / len(pairs))

        timings.append(_measure(plain_stepper, count, around, seconds / len(pairs), tell))
    return timings


def _measure(
    plain_stepper: ModuleType,
    segments: int,
    obstacles: int,
    seconds: float,
    report: Callable[[float], None],
) -> StepTiming:
    """Time as many acts of one size as there is time for, at least one."""
    plain_times: list[int] = []
    compiled_times: list[int] = []
    needs: list[tuple[int, int, int]] = []
    # Untimed: whatever a first call loads or compiles is no part of a step.
    _play_compiled(write_act(segments, obstacles, 0))
    started = time.perf_counter()
    share = 0.0
    for number in range(MOST_ACTS):
        act = write_act(segments, obstacles, number)
        compiled = [_play_compiled(act) for _ in range(COMPILED_ROUNDS)]
        plain = _play_plain(plain_stepper, act)
        moved = _compare(act, compiled[0], plain)
        plain_times += [plain.times[step] for step in moved]
        compiled_times += [playing.times[step] for playing in compiled for step in moved]
        needs += [
            (*_needs_of_step(act, plain.poses[step], plain.poses[step + 1]), steered)
            for step in moved
            for steered in [compiled[0].steered[step]]
        ]
        share = max((number + 1) / MOST_ACTS, (time.perf_counter() - started) / seconds)
        report(min(share, 1.0))
        if share >= 1.0 and plain_times:
            break
    if not plain_times:
        raise ValueError(f"among {obstacles} obstacles the arm never moved: nothing can be timed")
    plain_us = np.array(plain_times) / 1e3
    compiled_us = np.array(compiled_times) / 1e3
    return StepTiming(
        segments=segments,
        obstacles=obstacles,
        steps=len(plain_times),
        plain_us=float(np.median(plain_us)),
        compiled_us=float(np.median(compiled_us)),
        p99_us=float(np.percentile(compiled_us, 99)),
        floor_us=_time_bare_step(segments, *np.median(needs, axis=0).astype(int).tolist()),
    )


def _needs_of_step(act: Act, before: Floats, after: Floats) -> tuple[int, int]:
    """Count what one step cannot do without beside its own segments.

    Returns:
        How often the chain must be rebuilt for the guard (not at all, or once), and how many
        distances of a segment from an obstacle near it must be known: one for each of the two looks
        ahead, two for the guard (before the move and during it), one for sensing.
    """
    if not act.obstacles:
        return 0, 0
    rules = ReachRules.pixel()
    length = act.segment_length
    joints, _ = forward_kinematics((0.0, 0.0), length, before)
    turns = after - before
    turns[0] = wrap(float(turns[0]))
    travels = length * np.cumsum(np.abs(np.cumsum(turns)))
    circles = np.array(act.obstacles)
    radii = circles[:, 2]
    from_start = np.hypot(*(joints[:-1, np.newaxis] - circles[:, :2]).transpose(2, 0, 1))
    sight = rules.lookahead_segments * length + rules.arm_clearance + rules.steering_margin
    looks = np.count_nonzero(from_start < sight + radii)
    touches = np.count_nonzero(from_start < length + rules.sensor_radius + radii)
    from_segment = np.array(
        [
            [segment_distance(*start, *end, x, y) for x, y, _ in act.obstacles]
            for start, end in pairwise(joints.tolist())
        ]
    )
    endangered = np.count_nonzero(
        from_segment - travels[:, np.newaxis] < radii + rules.arm_clearance
    )
    return int(endangered > 0), int(2 * looks + 2 * endangered + touches)


@compiled
def bare_step(segments: int, rebuilds: int, pairs: int, waypoints: int, points: Floats) -> float:
    """Do the arithmetic of a step and nothing else: what any implementation would have to do.

    Two headings and two unit vectors a segment (its request and its turn), a unit vector more for
    each rebuilding of the chain, the distance of each pair of a segment and an obstacle, and a
    heading and a unit vector for each goal that is steered around one. As in the rules every
    segment turns from where its parent's new heading leaves it, so these sines wait for one
    another.

    Args:
        segments: segments of the arm.
        rebuilds: how often the chain is rebuilt beside.
        pairs: how many distances of a segment from an obstacle are worked out.
        waypoints: how many goals are steered around an obstacle.
        points: any points, shape (64, 2); a power of two, so that going round costs nothing.

    Returns:
        A sum of all of it, so that no compiler can leave anything out.
    """
    total = 0.0
    for i in range(segments):
        point = points[i & 63]
        heading = math.atan2(point[1], point[0])
        total += math.cos(heading) + math.sin(heading)
    x = 0.0
    y = 0.0
    for i in range(segments):
        point = points[i & 63]
        heading = math.atan2(point[1] - y, point[0] - x)
        x += math.cos(heading)
        y += math.sin(heading)
    total += x + y
    for i in range(rebuilds * segments):
        heading = points[i & 63, 0]
        total += math.cos(heading) + math.sin(heading)
    for i in range(pairs):
        start = points[i & 63]
        end = points[(i + 1) & 63]
        centre = points[(i + 2) & 63]
        total += segment_distance(start[0], start[1], end[0], end[1], centre[0], centre[1])
    for i in range(waypoints):
        point = points[i & 63]
        heading = math.atan2(point[0], point[1])
        total += math.cos(heading) + math.sin(heading)
    return total


def _time_bare_step(segments: int, rebuilds: int, pairs: int, waypoints: int) -> float:
    """Time the bare loop as the steps are timed, call by call, and give the median in us."""
    points = np.random.default_rng(0).uniform(-100.0, 100.0, (64, 2))
    run = entry_point(bare_step, segments, rebuilds, pairs, waypoints, points)
    clock = time.perf_counter_ns
    times = []
    for _ in range(BARE_ROUNDS):
        started = clock()
        run(segments, rebuilds, pairs, waypoints, points)
        times.append(clock() - started)
    return float(np.median(times)) / 1e3


def _compare(act: Act, compiled: _Playing, plain: _Playing) -> list[int]:
    """Hold the poses of the two sides against each other; give the steps in which the arm moved."""
    moved = []
    for step in range(ACT_STEPS):
        difference = compiled.poses[step + 1] - plain.poses[step + 1]
        # The two ends of the range of a base angle are the same direction.
        largest = float(np.max(np.abs(np.sin(difference / 2.0)) * 2.0))
        if not largest <= TOLERANCE:
            raise DisagreementError(
                f"the compiled and the plain pose differ by {largest:.3g} rad after step"
                f" {step + 1} of {act!r}"
            )
        if not np.array_equal(compiled.poses[step], compiled.poses[step + 1]):
            moved.append(step)
    return moved


def _play_compiled(act: Act) -> _Playing:
    parameters = ArmParameters(act.segments, act.segment_length)
    placement = ArmPlacement(1, parameters, heading=math.radians(act.heading_degrees))
    octopus = Octopus([placement], ReachRules.pixel())
    for x, y, radius in act.obstacles:
        octopus.add_object(ObjectKind.OBSTACLE, (x, y), radius)
    arm = octopus.arm(1)
    return _play(
        act, octopus, lambda: arm.angles.copy(), lambda: int(np.count_nonzero(arm.steered))
    )


def _play_plain(plain_stepper: ModuleType, act: Act) -> _Playing:
    octopus = plain_stepper.PlainOctopus.from_scene(
        {
            "layout": "listed",
            "obstacles": [{"position": (x, y), "radius": r} for x, y, r in act.obstacles],
            "arms": [
                {
                    "number": 1,
                    "base": (0.0, 0.0),
                    "heading_degrees": act.heading_degrees,
                    "parameters": {
                        "segment_count": act.segments,
                        "segment_length": act.segment_length,
                    },
                }
            ],
        }
    )
    return _play(act, octopus, lambda: np.array(octopus.snapshot()["arms"][0]["angles"]))


def _play(
    act: Act, octopus: Any, pose: Callable[[], Floats], steered: Callable[[], int] = lambda: 0
) -> _Playing:
    """Step an octopus of either side through an act, and time every step alone."""
    clock = time.perf_counter_ns
    playing = _Playing()
    playing.poses.append(pose())
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        for step in range(ACT_STEPS):
            if step % TARGET_STEPS == 0:
                octopus.reach(1, act.targets[step // TARGET_STEPS])
            started = clock()
            octopus.step(1.0 / UPDATE_RATE)
            playing.times.append(clock() - started)
            playing.poses.append(pose())
            playing.steered.append(steered())
    finally:
        if was_collecting:
            gc.enable()
    return playing
