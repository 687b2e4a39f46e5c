import json
import math
from pathlib import Path

import pytest

from octo_reach.batch import measure_run
from octo_reach.scenes import parse_scene
from octo_reach.scenes.public import public_reaches

SAMPLE = Path(__file__).parents[1] / "data" / "reach-public-sample.json"
REACHES = public_reaches()


def test_there_are_ninety_and_each_has_a_name_of_its_own():
    assert [reach.name for reach in REACHES] == [f"reach-{number}" for number in range(1, 91)]
    assert sum(reach.neighbour_ticks is not None for reach in REACHES) == 38


def test_every_target_lies_within_reach_and_clear_of_every_obstacle():
    for reach in REACHES:
        (arm,) = reach.document.placements()
        assert math.dist(arm.base, arm.target) < arm.parameters.reach
        for thing in reach.document.objects:
            assert math.dist(thing.position, arm.target) > thing.radius + 3.0


def test_they_are_the_reference_scenes_with_the_reference_outcomes():
    known = {reach.name: reach for reach in REACHES}
    for entry in json.loads(SAMPLE.read_text()):
        reach = known[entry["scene"]["name"]]
        assert reach.document == parse_scene(entry["scene"])
        seconds = entry["neighbour"]["seconds"]
        ticks = None if seconds is None else round(120.0 * seconds)
        assert reach.neighbour_ticks == ticks


@pytest.mark.parametrize("reach", REACHES[::6], ids=lambda reach: reach.name)
def test_the_neighbour_rules_do_what_is_known_of_them(reach):
    (measures,) = measure_run(reach.document, 1200)
    if reach.neighbour_ticks is None or reach.neighbour_ticks > 1200:
        assert not measures.reached
    else:
        assert measures.seconds == pytest.approx(reach.neighbour_ticks / 120.0)
