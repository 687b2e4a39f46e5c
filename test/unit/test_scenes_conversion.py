"""Pixel scenes in metres: the same scene, mirrored, with its body at the origin."""

from __future__ import annotations

import math

import pytest
from scene_documents import MINIMAL, REEF, minimal

from octo_reach.model.rules import ReachRules
from octo_reach.model.scene import ObjectKind
from octo_reach.scenes import Event, NewObject, apply_event, build_octopus, parse_scene, to_metres


def test_points_turn_over_around_the_body_and_lengths_shrink() -> None:
    document = to_metres(parse_scene(REEF))
    assert document.units == "metre"
    assert document.body == (0.0, 0.0)
    assert document.name == "Reef"
    assert document.defaults.segment_length == 0.012
    assert document.objects[2].position == pytest.approx((0.1487, 0.1367))
    assert document.objects[2].radius == 0.01
    assert document.arms[0].base == (0.032, 0.0)
    assert document.arms[0].target == pytest.approx((-0.0532, 0.204))
    assert document.arms[0].food == "meal-1"
    assert document.arms[1].target == pytest.approx((0.1, -0.175))


def test_angles_turn_round() -> None:
    document = to_metres(parse_scene(minimal(arms=[{"number": 2, "heading_degrees": 30}])))
    assert document.arms[0].heading == -math.radians(30)
    assert to_metres(parse_scene(REEF)).arms[1].heading == math.pi / 4.0


def test_nothing_becomes_minus_zero() -> None:
    arms = [{"number": 3, "base": [400, 425], "heading_degrees": 0}]
    arm = to_metres(parse_scene(minimal(body=[400, 425], arms=arms))).arms[0]
    assert [math.copysign(1.0, value) for value in (*arm.base, arm.heading)] == [1.0, 1.0, 1.0]


def test_events_are_converted_too() -> None:
    _, retract, _, add, move, remove = to_metres(parse_scene(REEF)).events
    assert retract == Event(30, arm=5, action="retract")
    assert add.add is not None
    assert add.add == NewObject(ObjectKind.OBSTACLE, (0.03, -0.017), 0.009)
    assert move == Event(99, move=(5, (0.05, 0.005)))
    assert remove == Event(120, remove=2)


def test_arms_in_the_ring_stay_in_the_ring() -> None:
    document = to_metres(parse_scene(REEF))
    for arm in document.arms[1:]:
        left_out = document.octopus_arm(arm.number)
        assert (arm.base, arm.heading) == (left_out.base, left_out.heading)


def test_a_metre_document_stays_as_it_is() -> None:
    document = parse_scene({**REEF, "units": "metre"})
    assert to_metres(document, 0.5) is document


def test_at_another_scale_every_arm_of_an_octopus_is_written_out() -> None:
    document = to_metres(parse_scene(MINIMAL), 0.01)
    assert [arm.number for arm in document.arms] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert document.arms[0].base == pytest.approx((0.0, 0.32))
    assert document.defaults.segment_length == pytest.approx(0.12)
    assert len(document.placements()) == 8


@pytest.mark.parametrize("scale", [0.0, -0.001, math.nan, math.inf])
def test_a_scale_that_is_none_is_refused(scale: float) -> None:
    with pytest.raises(ValueError, match=r"metres_per_pixel must be a finite number above 0"):
        to_metres(parse_scene(REEF), scale)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (minimal(food=[{"position": [1, 2], "radius": 5e-324}]), "radius of object 1 of 5e-324 px"),
        (minimal(body=[1.7e308, 0], food=[{"position": [-1.7e308, 0]}]), "object 1 at"),
        (minimal(defaults={"segment_length": 5e-324}), "segment_length of defaults of 5e-324 px"),
    ],
)
def test_lengths_beyond_a_float_are_refused_by_name(values: dict, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        to_metres(parse_scene(values))


@pytest.mark.parametrize("scale", [0.001, 0.004])
def test_the_converted_scene_moves_as_the_mirror_image(scale: float) -> None:
    scene = minimal(
        body=[400, 425],
        food=[{"id": "a", "position": [480, 300], "radius": 14}],
        obstacles=[{"position": [520, 400], "radius": 12}, {"position": [300, 420], "radius": 15}],
        arms=[
            {"number": 1, "target": {"food": "a"}},
            {"number": 3, "target": {"position": [600, 380]}},
            {"number": 7, "target": {"position": [250, 400]}},
        ],
        events=[
            {"tick": 40, "arm": 5, "reach": [380, 560]},
            {"tick": 60, "add": {"kind": "obstacle", "position": [420, 540]}},
            {"tick": 90, "move": 2, "position": [530, 410]},
            {"tick": 100, "arm": 1, "reach": [500, 500]},
        ],
    )
    pixels = parse_scene(scene)
    metres = to_metres(pixels, scale)
    below = build_octopus(pixels)
    above = build_octopus(metres, rules=ReachRules.metre(scale))
    for tick in range(1, 181):
        for octopus, document in ((below, pixels), (above, metres)):
            for event in document.events:
                if event.tick == tick:
                    apply_event(octopus, event)
            octopus.step(1.0 / 120.0)
        for number in below.numbers:
            x, y = below.arm(number).tip.tolist()
            assert above.arm(number).tip.tolist() == pytest.approx(
                ((x - 400.0) * scale, (425.0 - y) * scale), abs=1e-6 * scale
            )
            assert above.arm(number).state == below.arm(number).state
    assert len(above.captures) == len(below.captures) == 1
