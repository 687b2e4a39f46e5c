"""How the reach controller does as a node: the scene it is measured in, and the figures.

No ROS here: `octo_reach.nodes.node_meter` listens, `octo-reach bench node` starts the processes.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from octo_reach.model.arm import ArmPlacement, initial_angles
from octo_reach.model.geometry import forward_kinematics, segment_distance
from octo_reach.model.scene import ObjectKind
from octo_reach.scenes.document import (
    METRE,
    OCTOPUS,
    FileObject,
    SceneDocument,
    standard_body,
    standard_parameters,
)

ARMS = (1, 8)
SUBSCRIBERS = (0, 3)
SECONDS = 10.0
"""How long each row takes beside the start and the end of its processes, s."""

SEED = 1
OBSTACLES, HAZARDS = 22, 8
"""What lies around the arms. Nothing that can be grasped: an arm that holds something would answer
another question."""
NEAREST, FARTHEST = 0.35, 0.85
"""Distances of targets from the base of their arm, as shares of its reach."""
WIDEST = math.radians(60.0)
"""Farthest a target lies to either side of where its arm stands out of the body, rad."""


def measured_scene() -> SceneDocument:
    """Give the scene: eight arms of 20 segments around a body, among 30 objects, in metres."""
    bare = SceneDocument(
        name="Thirty objects",
        units=METRE,
        body=standard_body(METRE),
        layout=OCTOPUS,
        defaults=standard_parameters(METRE, OCTOPUS),
    )
    chance = random.Random(SEED)
    segments = [pair for arm in bare.placements() for pair in pairwise(_starting_joints(bare, arm))]
    reach = bare.defaults.reach
    clear = 2.0 * bare.rules.arm_clearance
    objects: list[FileObject] = []
    while len(objects) < OBSTACLES + HAZARDS:
        kind = ObjectKind.OBSTACLE if len(objects) < OBSTACLES else ObjectKind.HAZARD
        radius = round(chance.uniform(0.006, 0.012), 4)
        distance = reach * math.sqrt(chance.uniform(0.1, 1.4))
        direction = chance.uniform(-math.pi, math.pi)
        x = round(bare.body[0] + distance * math.cos(direction), 4)
        y = round(bare.body[1] + distance * math.sin(direction), 4)
        if all(segment_distance(*a, *z, x, y) > radius + clear for a, z in segments):
            objects.append(FileObject(len(objects) + 1, kind, (x, y), radius))
    return SceneDocument(**{**vars(bare), "objects": tuple(objects)})


def _starting_joints(document: SceneDocument, arm: ArmPlacement) -> list[list[float]]:
    angles = initial_angles(arm.parameters, arm.heading, document.rules)
    joints, _ = forward_kinematics(arm.base, arm.parameters.segment_length, angles)
    rows: list[list[float]] = joints.tolist()
    return rows


def targets_of(arm: ArmPlacement) -> Iterator[tuple[float, float]]:
    """Give targets within the reach of an arm without end, (x, y); the same every time.

    Args:
        arm: the arm.
    """
    chance = random.Random(f"{SEED} {arm.number}")
    while True:
        distance = arm.parameters.reach * chance.uniform(NEAREST, FARTHEST)
        direction = arm.heading + chance.uniform(-WIDEST, WIDEST)
        yield (
            arm.base[0] + distance * math.cos(direction),
            arm.base[1] + distance * math.sin(direction),
        )


@dataclass(frozen=True)
class Progress:
    """What a controller says of itself once a second.

    Attributes:
        time: when, on its clock, s.
        steps: steps since its start.
        missed: steps begun late since the report before.
        worst_step: longest time a step took since the report before, ms.
    """

    time: float
    steps: int
    missed: int
    worst_step: float


@dataclass(frozen=True)
class NodeTiming:
    """How a controller did.

    Attributes:
        arms: number of its arms.
        subscribers: processes that heard all of its topics.
        steps: steps that count.
        rate: steps a second.
        missed: steps begun after the next one was due.
        worst_step_ms: longest time a step took, ms.
        processor: share of one core the process used, 1 for a whole one.
        others: cores busy with what has no part in the measurement; what the figures are worth.
        latencies_ms: time from a published target to the first joint_states in which its arm had
            moved, ms each.
        unanswered: targets after which the arm stayed where it was.
    """

    arms: int
    subscribers: int
    steps: int
    rate: float
    missed: int
    worst_step_ms: float
    processor: float
    others: float
    latencies_ms: tuple[float, ...]
    unanswered: int

    @property
    def missed_share(self) -> float:
        """Share of the steps that were missed."""
        return self.missed / self.steps if self.steps else math.nan

    def latency(self, percentage: float) -> float:
        """Give the latency, ms, that so many percent stay under; NaN where there is none."""
        if not self.latencies_ms:
            return math.nan
        return float(np.percentile(self.latencies_ms, percentage))

    def row(self) -> dict[str, float | None]:
        """Give the numbers as `octo-reach bench node --json` writes them."""
        median, tail = self.latency(50.0), self.latency(99.0)
        return {
            "arms": self.arms,
            "subscribers": self.subscribers,
            "steps": self.steps,
            "rate_hz": round(self.rate, 3),
            "missed": self.missed,
            "missed_share": round(self.missed_share, 6),
            "worst_step_ms": round(self.worst_step_ms, 3),
            "processor_share": round(self.processor, 4),
            "others_cores": round(self.others, 3),
            "latencies": len(self.latencies_ms),
            "latency_median_ms": None if math.isnan(median) else round(median, 3),
            "latency_p99_ms": None if math.isnan(tail) else round(tail, 3),
            "unanswered": self.unanswered,
        }


def judge(
    arms: int,
    subscribers: int,
    reports: Sequence[Progress],
    processor: float,
    others: float,
    latencies_ms: Sequence[float],
    unanswered: int,
) -> NodeTiming:
    """Sum up what was heard of a controller.

    Args:
        arms: number of its arms.
        subscribers: processes that heard all of its topics.
        reports: what it said, in order, two at least; the first only says where counting begins.
        processor: see `NodeTiming`.
        others: see `NodeTiming`.
        latencies_ms: see `NodeTiming`.
        unanswered: see `NodeTiming`.

    Raises:
        ValueError: there are fewer than two reports.
    """
    if len(reports) < 2:
        raise ValueError(f"at least two reports are needed, got {len(reports)}")
    first, last = reports[0], reports[-1]
    steps = last.steps - first.steps
    return NodeTiming(
        arms=arms,
        subscribers=subscribers,
        steps=steps,
        rate=steps / (last.time - first.time),
        missed=sum(report.missed for report in reports[1:]),
        worst_step_ms=max(report.worst_step for report in reports[1:]),
        processor=processor,
        others=max(0.0, others),
        latencies_ms=tuple(latencies_ms),
        unanswered=unanswered,
    )


def processor_seconds(process: int) -> float:
    """Give the processor time a process has used with all its threads, s.

    Args:
        process: its id.

    Raises:
        OSError: there is no such process, or no /proc.
    """
    text = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    # The name in parentheses may hold anything; user and system time are the 14th and 15th field.
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def busy_seconds() -> float:
    """Give the time all cores together have been busy since the machine started, s.

    Raises:
        OSError: there is no /proc.
    """
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, interrupts, soft = map(int, file.readline().split()[1:8])
    return (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")
