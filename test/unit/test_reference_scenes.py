"""Whole scenes against what an independent implementation of the rules made of them.

`scene-*.json` hold a scene with timed edits and snapshots of eight arms over ten seconds;
`reach-public-sample.json` holds scenes with one arm, a target and up to eight obstacles, and how
near the neighbour rules come within twenty seconds. Numbers agree within 1e-6, the rest exactly.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from octo_reach.model.octopus import Octopus
from octo_reach.model.scene import ObjectKind
from octo_reach.scenes import apply_event, build_octopus, parse_scene

DATA = Path(__file__).parents[1] / "data"
SCENES = sorted(DATA.glob("scene-*.json"))
SAMPLE = json.loads((DATA / "reach-public-sample.json").read_text())
TOLERANCE = 1e-6
SAMPLE_TICKS = 2400


def assert_near(measured, told) -> None:
    np.testing.assert_allclose(measured, told, rtol=0.0, atol=TOLERANCE)


def assert_matches(octopus: Octopus, snapshot: dict) -> None:
    """Hold everything a snapshot tells against the octopus."""
    assert [arm.number for arm in octopus.arms] == [told["number"] for told in snapshot["arms"]]
    for arm, told in zip(octopus.arms, snapshot["arms"], strict=True):
        # The references call a target out of reach "Reaching" like any other.
        assert arm.state.replace("Beyond reach", "Reaching") == told["state"]
        assert_near(arm.angles, told["angles"])
        assert_near(arm.tip, told["tip"])
        assert_near(arm.target, told["target"])
        assert (arm.grip is None) == (told["grip"] is None)
        if arm.grip is not None:
            assert arm.grip.object == told["grip"]["object"]
            assert arm.grip.segment == told["grip"]["segment"]
            assert_near(arm.grip.offset, told["grip"]["offset"])
        contacts = arm.contacts()
        touched = zip(
            contacts.segments.tolist(),
            contacts.objects.tolist(),
            [ObjectKind(kind).label for kind in contacts.kinds.tolist()],
            strict=True,
        )
        assert list(touched) == [tuple(contact[:3]) for contact in told["contacts"]]
        assert_near(contacts.points, np.reshape([c[3] for c in told["contacts"]], (-1, 2)))
    objects = list(octopus.objects)
    assert [[thing.number, thing.kind.label] for thing in objects] == [
        [number, kind] for number, _, kind, _ in snapshot["objects"]
    ]
    assert_near([thing.position for thing in objects], [row[1] for row in snapshot["objects"]])
    assert_near([thing.radius for thing in objects], [row[3] for row in snapshot["objects"]])
    captures = [[capture.arm, capture.object] for capture in octopus.captures]
    assert captures == [capture[:2] for capture in snapshot["captures"]]
    assert_near(
        [capture.seconds for capture in octopus.captures],
        [capture[2] for capture in snapshot["captures"]],
    )


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_eight_arms_match_every_snapshot(path: Path):
    reference = json.loads(path.read_text())
    document = parse_scene(reference["scene"])
    octopus = build_octopus(document)
    snapshots = {snapshot["tick"]: snapshot for snapshot in reference["snapshots"]}
    assert len(snapshots) == 12
    if 0 in snapshots:
        assert_matches(octopus, snapshots[0])
    for tick in range(1, max(snapshots) + 1):
        for event in document.events:
            if event.tick == tick:
                apply_event(octopus, event)
        octopus.step(reference["dt"])
        if tick in snapshots:
            assert_matches(octopus, snapshots[tick])


def test_the_scenes_kept_here_show_grasping_carrying_and_detours():
    states = {
        arm["state"]
        for path in SCENES
        for snapshot in json.loads(path.read_text())["snapshots"]
        for arm in snapshot["arms"]
    }
    assert len(SCENES) == 4
    assert {"Grasping", "Holding", "Carrying", "Avoiding", "Blocked", "Reached"} <= states


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case["scene"]["name"])
def test_one_arm_comes_as_near_as_the_reference(case: dict):
    octopus = build_octopus(parse_scene(case["scene"]))
    arm = octopus.arms[0]
    told = case["neighbour"]
    closest = math.inf
    reached = None
    for _ in range(SAMPLE_TICKS):
        octopus.step(1 / 120)
        closest = min(closest, arm.tip_error)
        if arm.state == "Reached":
            reached = octopus.time
            break
    assert (reached is not None) == told["reached"]
    if reached is not None:
        assert reached == pytest.approx(told["seconds"], abs=TOLERANCE)
    assert closest == pytest.approx(told["closest"], abs=TOLERANCE)
    assert arm.tip_error == pytest.approx(told["final"], abs=TOLERANCE)
