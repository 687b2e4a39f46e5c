"""What must not get slow, as ratios within one process, so that a noisy machine fails nothing.

    ./run test test/benchmarks

Left out of the ordinary suite. The two sides of a case take turns, act by act: whatever else the
machine does then slows both. Each ratio may be half of what docs/performance.md claims.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from octo_reach.benchmarks import model
from octo_reach.benchmarks.model import ACT_STEPS, TARGET_STEPS, Act, write_act
from octo_reach.model.arm import ArmParameters, ArmPlacement
from octo_reach.model.compilation import COMPILED
from octo_reach.model.octopus import Octopus, compile_kernels
from octo_reach.model.rules import UPDATE_RATE, ReachRules
from octo_reach.model.scene import ObjectKind, SceneObject

pytest.importorskip("pytest_benchmark", reason="pip install '.[test]'")
pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is claimed of uncompiled kernels")

PERIOD = 1.0 / UPDATE_RATE
PLAIN_TIMES = {(20, 0): 15.0, (20, 16): 100.0, (40, 16): 200.0, (100, 64): 1000.0}
"""How many compiled steps the plain stepper's one is worth, by segments and obstacles."""
ACTS = {(20, 0): 20, (20, 16): 20, (40, 16): 10, (100, 64): 2}
ROUNDS = 5
"""How often the measured side plays an act, of which the other one plays one."""
MARGIN = 0.5
FAR = 2000
FAR_COSTS = 2.0
"""How many times as much a step may take among so many far obstacles as among 64 near ones."""


@pytest.fixture(scope="module")
def plain_stepper():
    compile_kernels()
    return model.load_plain_stepper()


def compiled_octopus(act: Act) -> Octopus:
    parameters = ArmParameters(act.segments, act.segment_length)
    placement = ArmPlacement(1, parameters, heading=math.radians(act.heading_degrees))
    octopus = Octopus([placement], ReachRules.pixel())
    for x, y, radius in act.obstacles:
        octopus.add_object(ObjectKind.OBSTACLE, (x, y), radius)
    return octopus


def plain_octopus(plain_stepper: Any, act: Act) -> Any:
    geometry = {"segment_count": act.segments, "segment_length": act.segment_length}
    arm = {"number": 1, "base": (0.0, 0.0), "heading_degrees": act.heading_degrees}
    obstacles = [{"position": (x, y), "radius": radius} for x, y, radius in act.obstacles]
    return plain_stepper.PlainOctopus.from_scene(
        {"layout": "listed", "obstacles": obstacles, "arms": [{**arm, "parameters": geometry}]}
    )


def play(octopus: Any, act: Act) -> None:
    """Step through an act; the same for both sides."""
    for step in range(ACT_STEPS):
        if step % TARGET_STEPS == 0:
            octopus.reach(1, act.targets[step // TARGET_STEPS])
        octopus.step(PERIOD)


class Duel:
    """Two octopuses play the same acts in turn: one that is measured, and one to compare it with.

    Attributes:
        pair: the two as they stood at the end of the last act.
    """

    def __init__(
        self,
        acts: list[Act],
        measured: Callable[[Act], Octopus],
        other: Callable[[Act], Any],
    ) -> None:
        self._acts = acts
        self._measured = measured
        self._other = other
        self._other_times: list[float] = []
        self._turn = 0
        self.pair: tuple[Any, Any] = (None, None)

    def prepare(self) -> tuple[tuple[Octopus, Act], dict[str, Any]]:
        """Let the other one play before every few rounds, and give what the next round needs."""
        act = self._acts[self._turn // ROUNDS]
        measured, other = self._measured(act), self.pair[1]
        if self._turn % ROUNDS == 0:
            other = self._other(act)
            begun = time.perf_counter()
            play(other, act)
            self._other_times.append(time.perf_counter() - begun)
        self._turn += 1
        self.pair = measured, other
        return (measured, act), {}

    def ratio(self, benchmark: Any) -> float:
        """Play all acts; give how many of the measured one's the other one's act is worth."""
        benchmark.pedantic(play, setup=self.prepare, rounds=ROUNDS * len(self._acts))
        times = benchmark.stats.stats.data
        ratios = [
            other / statistics.median(times[ROUNDS * number : ROUNDS * (number + 1)])
            for number, other in enumerate(self._other_times)
        ]
        ratio = statistics.median(ratios)
        benchmark.extra_info["ratio"] = ratio
        return ratio


@pytest.mark.parametrize(("segments", "obstacles"), PLAIN_TIMES)
def test_a_compiled_step_is_worth_many_plain_ones(benchmark, plain_stepper, segments, obstacles):
    size = (segments, obstacles)
    acts = [write_act(segments, obstacles, number) for number in range(ACTS[size])]
    duel = Duel(acts, compiled_octopus, lambda act: plain_octopus(plain_stepper, act))
    ratio = duel.ratio(benchmark)
    # They did the same work.
    compiled, plain = duel.pair
    angles = np.array(plain.snapshot()["arms"][0]["angles"])
    assert np.abs(np.sin((compiled.arm(1).angles - angles) / 2.0)).max() < 1e-9
    assert ratio >= MARGIN * PLAIN_TIMES[size]


def test_far_obstacles_cost_next_to_nothing(benchmark, plain_stepper):
    acts = [write_act(20, 64, number) for number in range(20)]

    def among_far_ones(act: Act) -> Octopus:
        octopus = compiled_octopus(act)
        far = [20.0 * act.segments * act.segment_length + 20.0 * place for place in range(FAR)]
        # At once: each one added by itself takes its time.
        octopus.replace_objects(
            SceneObject(number, ObjectKind.OBSTACLE, (x, y), radius)
            for number, (x, y, radius) in enumerate(
                [*act.obstacles, *((x, 0.0, 5.0) for x in far)], start=1
            )
        )
        return octopus

    ratio = Duel(acts, among_far_ones, compiled_octopus).ratio(benchmark)
    assert 1.0 / ratio <= FAR_COSTS / MARGIN


def test_eight_arms_cost_no_more_than_eight_times_one(benchmark, plain_stepper):
    acts = [write_act(20, 16, number) for number in range(20)]

    def eight(act: Act) -> Octopus:
        parameters = ArmParameters(act.segments, act.segment_length)
        heading = math.radians(act.heading_degrees)
        octopus = Octopus(
            [ArmPlacement(number, parameters, heading=heading) for number in range(1, 9)],
            ReachRules.pixel(),
        )
        for x, y, radius in act.obstacles:
            octopus.add_object(ObjectKind.OBSTACLE, (x, y), radius)
        for number in range(2, 9):
            octopus.reach(number, act.targets[0])
        return octopus

    ratio = Duel(acts, eight, compiled_octopus).ratio(benchmark)
    assert 1.0 / ratio <= 8.0 / MARGIN
