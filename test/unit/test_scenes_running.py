from __future__ import annotations

from dataclasses import replace

import pytest

from octo_reach.model.scene import ObjectKind
from octo_reach.planners import UnknownPlannerError
from octo_reach.scenes import Event, NewObject, parse_scene
from octo_reach.scenes.running import run_scene, standard_ticks
from octo_reach.scenes.trace import trace_entry

SCENE = parse_scene(
    {
        "version": 1,
        "name": "one arm",
        "layout": "listed",
        "obstacles": [{"position": [200, 120], "radius": 10}],
        "arms": [{"number": 1, "base": [0, 0], "target": {"position": [100, 200]}}],
    }
)


def with_events(*events: Event):
    return replace(SCENE, events=events)


def test_a_run_gives_the_start_and_then_every_step():
    assert [octopus.ticks for octopus in run_scene(SCENE, 3)] == [0, 1, 2, 3]


def test_a_run_of_no_steps_gives_the_start_alone():
    (octopus,) = run_scene(SCENE, 0)
    assert (octopus.ticks, octopus.time) == (0, 0.0)


def test_steps_last_a_120th_of_a_second():
    *_, octopus = run_scene(SCENE, 240)
    assert octopus.time == pytest.approx(2.0, abs=1e-12)


def test_an_event_is_applied_just_before_the_step_of_its_tick():
    document = with_events(Event(tick=3, arm=1, reach=(50.0, -200.0)))
    targets = [tuple(octopus.arm(1).target.tolist()) for octopus in run_scene(document, 4)]
    assert targets == [(100.0, 200.0)] * 3 + [(50.0, -200.0)] * 2
    document = with_events(Event(tick=3, arm=1, action="idle"))
    poses = [octopus.arm(1).angles.tolist() for octopus in run_scene(document, 4)]
    assert poses[0] != poses[1] != poses[2] == poses[3] == poses[4]


def test_events_of_one_tick_happen_in_file_order_before_one_step():
    document = with_events(
        Event(tick=2, add=NewObject(ObjectKind.FOOD, (300.0, 0.0), 5.0)),
        Event(tick=2, move=(2, (0.0, 300.0))),
        Event(tick=2, remove=1),
    )
    *_, octopus = run_scene(document, 2)
    (thing,) = octopus.objects
    assert (thing.number, thing.position) == (2, (0.0, 300.0))


def test_events_after_the_last_step_do_not_happen():
    *_, octopus = run_scene(with_events(Event(tick=5, remove=1)), 4)
    assert len(octopus.objects) == 1


def test_the_same_scene_runs_the_same_way_to_the_last_bit():
    first, second = ([trace_entry(octopus) for octopus in run_scene(SCENE, 200)] for _ in range(2))
    assert first == second


def test_every_arm_has_a_planner_of_its_own():
    document = parse_scene({"version": 1, "name": "eight"})
    (octopus,) = run_scene(document, 0, "external")
    planners = [octopus.planner(number) for number in octopus.numbers]
    assert [planner.name for planner in planners] == ["external"] * 8
    assert len(set(map(id, planners))) == 8


def test_a_negative_number_of_steps_is_refused_at_once():
    with pytest.raises(ValueError, match="ticks must not be negative, got -1"):
        run_scene(SCENE, -1)


def test_an_unknown_planner_is_refused_at_once():
    with pytest.raises(UnknownPlannerError, match="neighbour"):
        run_scene(SCENE, 1, "psychic")


@pytest.mark.parametrize(
    ("last_event", "ticks"), [(None, 2400), (1, 2400), (1800, 2400), (1801, 2401), (9000, 9600)]
)
def test_a_run_of_no_given_length_lasts_20_s_and_5_s_beyond_the_last_event(last_event, ticks):
    document = SCENE if last_event is None else with_events(Event(tick=last_event, remove=1))
    assert standard_ticks(document) == ticks
