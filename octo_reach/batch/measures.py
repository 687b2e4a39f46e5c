"""What is measured of a run, arm by arm, in one pass over its steps.

Reaching is measured of the first place an arm is sent to, at the start or by an event: from then
until its tip is there, or it is sent elsewhere, told something else, or has grasped something.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from octo_reach.model.arm import ArmParameters
from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats, segment_distance
from octo_reach.model.octopus import Arm, Octopus
from octo_reach.model.rules import UPDATE_RATE
from octo_reach.model.scene import ObjectKind
from octo_reach.scenes.document import (
    LISTED,
    METRE,
    Event,
    FileArm,
    FileObject,
    SceneDocument,
)
from octo_reach.scenes.running import run_scene


@dataclass(frozen=True)
class ArmMeasures:
    """What came of one arm in one run; None where there is nothing to measure.

    Attributes:
        arm: number of the arm.
        reached: whether its tip came within the reach tolerance of its first target; None for an
            arm that was never sent anywhere.
        seconds: how long that took, s.
        tip_path: way of the tip there, or as far as it came, in the scene's unit.
        path_ratio: that way over the straight distance, of an arm that reached.
        clearance: smallest gap between the arm's centre line and the surface of any obstacle after
            any step, in the scene's unit; None without obstacles.
        captures: how often it grasped something.
        state: what it was doing at the end.
        tip_error: distance of its tip from its last target at the end, in the scene's unit; None
            for an arm that had none.
    """

    arm: int
    reached: bool | None
    seconds: float | None
    tip_path: float | None
    path_ratio: float | None
    clearance: float | None
    captures: int
    state: str
    tip_error: float | None


def measure_run(
    document: SceneDocument,
    ticks: int,
    planner: str = "neighbour",
    steps: Iterable[Octopus] | None = None,
) -> list[ArmMeasures]:
    """Run a scene and measure every arm.

    Args:
        document: a checked scene.
        ticks: how many steps to take.
        planner: what proposes the motion of every arm.
        steps: the run itself, as `run_scene` gives it, where somebody looks on as well.

    Returns:
        The measures of every arm, in the order of their numbers, in the unit of the document.

    Raises:
        ValueError: `ticks` is negative, or no planner has that name.
    """
    events: dict[int, list[Event]] = {}
    for event in document.events:
        events.setdefault(event.tick, []).append(event)
    gauges: list[_Gauge] = []
    circles: Floats = np.empty((0, 3))
    octopus: Octopus | None = None
    for octopus in run_scene(document, ticks, planner) if steps is None else steps:
        tick = octopus.ticks
        if tick == 0:
            gauges = [_Gauge(arm, octopus.rules.reach_tolerance) for arm in octopus.arms]
        edits = events.get(tick)
        if tick == 0 or edits:
            circles = _obstacle_circles(octopus)
            replaced = {event.arm for event in edits or () if event.action == "reset"}
            for gauge in gauges:
                gauge.follow_orders(tick, gauge.arm.number in replaced)
                gauge.look(circles, tick)
        else:
            for gauge in gauges:
                # Counts what moves an arm; an arm that was not moved is where it was.
                if gauge.arm.updates != gauge.updates:
                    gauge.look(circles, tick)
    assert octopus is not None
    return [gauge.measures(octopus) for gauge in gauges]


class _Gauge:
    """What was measured of one arm so far."""

    def __init__(self, arm: Arm, tolerance: float) -> None:
        self.arm = arm
        self._tolerance = tolerance
        self.updates = -1
        self._gap = math.inf
        self._tip_x, self._tip_y = arm.tip.tolist()
        self._order: tuple[float, float] | None = None
        self._open = False
        self._sent = 0
        self._straight = 0.0
        self._path = 0.0
        self._reached: int | None = None

    def follow_orders(self, tick: int, reset: bool) -> None:
        """Notice that the arm is sent somewhere for the first time, or not sent there any more.

        Args:
            tick: number of the step before which events were applied; 0 at the start.
            reset: whether one of them put the arm back into its starting pose.
        """
        arm = self.arm
        x, y = arm.destination.tolist()
        sent = arm.active and arm.grip is None
        if self._open:
            self._open = sent and not reset and self._order == (x, y)
        elif self._order is None and sent:
            self._order = (x, y)
            self._open = True
            self._sent = max(tick - 1, 0)
            self._straight = math.hypot(x - self._tip_x, y - self._tip_y)
            self._check(self._sent)

    def look(self, circles: Floats, tick: int) -> None:
        """Take in the present pose.

        Args:
            circles: centres and radii of the obstacles, shape (K, 3).
            tick: number of the step after which it is.
        """
        self.updates = self.arm.updates
        gap, x, y = smallest_gap(self.arm.joints, circles)
        self._gap = min(self._gap, gap)
        if self._open:
            self._path += math.hypot(x - self._tip_x, y - self._tip_y)
        self._tip_x = x
        self._tip_y = y
        if self._open:
            self._check(tick)

    def _check(self, tick: int) -> None:
        assert self._order is not None
        x, y = self._order
        away = math.hypot(x - self._tip_x, y - self._tip_y)
        if away <= self._tolerance:
            self._reached = tick
            self._open = False

    def measures(self, octopus: Octopus) -> ArmMeasures:
        arm = self.arm
        sent = self._order is not None
        reached = self._reached is not None
        seconds = None if self._reached is None else (self._reached - self._sent) / UPDATE_RATE
        has_target = arm.active or arm.grip is not None
        return ArmMeasures(
            arm=arm.number,
            reached=reached if sent else None,
            seconds=seconds,
            tip_path=self._path if sent else None,
            path_ratio=self._path / self._straight if reached and self._straight > 0.0 else None,
            clearance=self._gap if math.isfinite(self._gap) else None,
            captures=sum(capture.arm == arm.number for capture in octopus.captures),
            state=arm.state,
            tip_error=arm.tip_error if has_target else None,
        )


@compiled
def smallest_gap(joints: Floats, circles: Floats) -> tuple[float, float, float]:
    """Give the gap between a chain and the nearest of some circles, and where its tip is.

    Args:
        joints: joint positions, shape (N + 1, 2).
        circles: centres and radii, shape (K, 3).

    Returns:
        The smallest distance of the chain from the surface of a circle, negative inside, infinite
        without circles; x and y of the tip.
    """
    last = len(joints) - 1
    least = np.inf
    for k in range(len(circles)):
        for i in range(last):
            distance = segment_distance(
                joints[i, 0],
                joints[i, 1],
                joints[i + 1, 0],
                joints[i + 1, 1],
                circles[k, 0],
                circles[k, 1],
            )
            least = min(least, distance - circles[k, 2])
    return least, joints[last, 0], joints[last, 1]


def _obstacle_circles(octopus: Octopus) -> Floats:
    things = octopus.objects
    chosen = things.kinds == int(ObjectKind.OBSTACLE)
    return np.column_stack((things.positions[chosen], things.radii[chosen]))


def compile_measures() -> None:
    """Measure a run that is over at once, so that no later one has to wait for the compiler."""
    arm = FileArm(1, ArmParameters(2, 0.01), base=(0.0, 0.0), heading=0.0, target=(0.01, 0.01))
    stone = FileObject(1, ObjectKind.OBSTACLE, (0.1, 0.1), 0.01)
    document = SceneDocument(
        "compiling", METRE, (0.0, 0.0), LISTED, arm.parameters, (stone,), (arm,)
    )
    measure_run(document, 1)
