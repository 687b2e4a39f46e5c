"""The processes that `octo-reach bench node` measures, and a measurement from start to end."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from octo_reach.benchmarks.node import (
    SEED,
    NodeTiming,
    busy_seconds,
    judge,
    processor_seconds,
    targets_of,
)
from octo_reach.commands.children import Child, stop_children
from octo_reach.model.arm import ArmPlacement
from octo_reach.nodes.node_meter import NodeMeter
from octo_reach.nodes.signal_flag import SignalFlag
from octo_reach.nodes.visiting import visiting

STARTING_TIME = 30.0
"""Longest the nodes may take until all have found each other, s."""
WARM_UP = 1.0
"""How long the arms move before counting begins, s."""
TARGET_PERIOD = 1.0
"""How often an arm that is not being timed gets a new target, s."""
MOVING_TIME = 0.05
"""How long the timed arm moves on before it is stopped again, s."""
PATIENCE = 0.25
"""Longest to wait for an arm to stop, or to answer, s."""
LOOK = 0.05
"""How often a wait looks whether a process has ended, s."""
STEP_PERIOD = 1.0 / 120.0
REPORT_TIME = 4.0
"""Longest to wait for a report at the end, s: there is one a second."""
LAST_LINES = 12


class NodeDiedError(RuntimeError):
    """A node ended by itself or does not do as it should; the text has its last lines."""


class NodeProcesses:
    """World, controller and listeners of one measurement, all ended where it is left."""

    def __init__(self, scene: Path, arms: int, subscribers: int) -> None:
        """Start nothing yet.

        Args:
            scene: the scene file.
            arms: how many of its arms the controller has.
            subscribers: how many processes hear all of its topics.
        """
        self._scene = str(scene)
        self._arms = arms
        self._subscribers = subscribers
        self._children: list[Child] = []

    def __enter__(self) -> NodeProcesses:
        """Start them."""
        common = ["--ros-args", "-r", "__ns:=/", "-p", f"scene:={self._scene}"]
        try:
            self._start("simulated_world", common)
            self._start("reach_controller", [*common, "-p", f"arms:='1-{self._arms}'"])
            for number in range(1, self._subscribers + 1):
                listener = ["--ros-args", "-r", f"__node:=listener_{number}"]
                self._start("topic_listener", [*listener, "-p", f"arms:={self._arms}"])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        """End them, each by its own id."""
        stop_children(reversed(self._children))

    def _start(self, name: str, arguments: list[str]) -> None:
        self._children.append(Child(name, f"octo_reach.nodes.{name}", arguments, lambda line: None))

    @property
    def controller(self) -> int:
        """Process id of the controller."""
        return self._children[1].process.pid

    @property
    def all(self) -> list[int]:
        """Process ids of all of them."""
        return [child.process.pid for child in self._children]

    def check(self) -> None:
        """Look whether all of them live.

        Raises:
            NodeDiedError: one has ended.
        """
        for child in self._children:
            if child.code is not None:
                child.close()
                _give_up(child, f"{child.name} ended by itself (exit code {child.code})")

    def give_up(self, problem: str) -> NoReturn:
        """Give up on a controller that runs but does not do as it should.

        Args:
            problem: what it is that it does not do.

        Raises:
            NodeDiedError: always.
        """
        _give_up(self._children[1], problem)


def _give_up(child: Child, problem: str) -> NoReturn:
    lines = [f"  {line.text}" for line in list(child.lines)[-LAST_LINES:]]
    raise NodeDiedError("\n".join([problem, *lines]))


class Measurement:
    """One row of the table: the nodes started, driven, timed and ended."""

    def __init__(
        self,
        scene: Path,
        placements: list[ArmPlacement],
        subscribers: int,
        stop: SignalFlag,
    ) -> None:
        """Start nothing yet.

        Args:
            scene: the scene file.
            placements: the arms that are to move, those of the scene numbered from 1.
            subscribers: how many processes hear all topics of the controller.
            stop: ends the measurement.
        """
        self._processes = NodeProcesses(scene, len(placements), subscribers)
        self._placements = placements
        self._subscribers = subscribers
        self._stop = stop
        self._targets: dict[int, Iterator[tuple[float, float]]] = {
            arm.number: targets_of(arm) for arm in placements
        }
        self._sent = float("-inf")
        self._chance = random.Random(SEED)
        self._latencies: list[float] = []
        self._unanswered = 0

    def run(self, seconds: float, report: Callable[[float], None]) -> NodeTiming:
        """Measure.

        Args:
            seconds: how long to count for, s; the start and the end of the processes come on top.
            report: told the share that is done, 0 to 1, every now and then.

        Raises:
            KeyboardInterrupt: `stop` was set.
            NodeDiedError: a node ended by itself or does not do as it should.
            NoGraphError: ROS 2 does not start.
        """
        numbers = [arm.number for arm in self._placements]
        with self._processes, visiting(lambda: NodeMeter(numbers)) as meter:
            self._wait_until(
                lambda: (
                    meter.heard > 0
                    and meter.is_heard()
                    and not meter.missing_ears(self._subscribers)
                ),
                STARTING_TIME,
                "the nodes have not all found each other",
            )
            self._warm_up(meter)
            meter.forget()
            self._wait_until(
                lambda: bool(meter.reports()), REPORT_TIME, "the controller reports nothing"
            )
            return self._count(meter, seconds, report)

    def _wait_until(self, condition: Callable[[], bool], patience: float, problem: str) -> None:
        deadline = time.monotonic() + patience
        while not condition():
            self._rest(LOOK)
            if time.monotonic() > deadline:
                self._processes.give_up(f"{problem} within {patience:g} s; the controller said")

    def _rest(self, seconds: float) -> None:
        """Wait, unless there is a reason to end.

        Raises:
            KeyboardInterrupt: `stop` was set.
            NodeDiedError: a node ended by itself.
        """
        self._stop.wait(seconds)
        if self._stop.is_set():
            raise KeyboardInterrupt
        self._processes.check()

    def _warm_up(self, meter: NodeMeter) -> None:
        begun = time.monotonic()
        while time.monotonic() - begun < WARM_UP:
            self._time_once(meter)
        self._latencies.clear()
        self._unanswered = 0

    def _count(
        self, meter: NodeMeter, seconds: float, report: Callable[[float], None]
    ) -> NodeTiming:
        begun = time.monotonic()
        busy = busy_seconds()
        ours = self._own_seconds()
        used = processor_seconds(self._processes.controller)
        shown = begun
        while (now := time.monotonic()) - begun < seconds:
            self._time_once(meter)
            if now - shown > 0.5:
                shown = now
                report((now - begun) / seconds)
        self._wait_until(
            lambda: len(meter.reports()) >= 2, REPORT_TIME, "the controller does not report"
        )
        passed = time.monotonic() - begun
        used = processor_seconds(self._processes.controller) - used
        busy, ours = busy_seconds() - busy, self._own_seconds() - ours
        return judge(
            len(self._placements),
            self._subscribers,
            meter.reports(),
            used / passed,
            (busy - ours) / passed,
            [1e3 * latency for latency in self._latencies],
            self._unanswered,
        )

    def _own_seconds(self) -> float:
        return sum(map(processor_seconds, [os.getpid(), *self._processes.all]))

    def _time_once(self, meter: NodeMeter) -> None:
        """Send the arms about, and time one answer of the first."""
        first = self._placements[0].number
        now = time.monotonic()
        if now - self._sent >= TARGET_PERIOD:
            self._sent = now
            meter.free_stuck_arms()
            for number in self._targets:
                if number != first:
                    meter.send(number, next(self._targets[number]))
        if not meter.stop_arm(first, PATIENCE):
            self._processes.check()
            self._unanswered += 1
            self._rest(LOOK)
            return
        # At any moment between two steps: what arrived in step with them would tell nothing.
        self._rest(self._chance.uniform(0.0, STEP_PERIOD))
        latency = meter.time_answer(first, next(self._targets[first]), PATIENCE)
        if latency is None:
            # Trapped, most likely: the guard refuses every move towards any target.
            self._unanswered += 1
            meter.reset_arm(first)
        else:
            self._latencies.append(latency)
        self._rest(MOVING_TIME)
