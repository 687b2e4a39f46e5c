"""A sweep: its runs, their rows, and what is left of it when it breaks off."""

from __future__ import annotations

import pytest
from scene_documents import minimal

from octo_reach.batch import (
    Run,
    SequentialEngine,
    Sweep,
    execute_run,
    measure_run,
    plan_runs,
    vary_targets,
)
from octo_reach.scenes import parse_scene
from octo_reach.scenes.running import standard_ticks


def scene(**changes):
    arms = [
        {"number": 1, "base": [0, 0], "target": {"position": [100, 100]}},
        {"number": 2, "base": [50, 0]},
    ]
    return parse_scene(minimal(**{"layout": "listed", "arms": arms, **changes}))


def test_runs_go_by_scene_then_seed_then_planner():
    runs = plan_runs({"a": scene(), "b": scene()}, ["x", "y"], 5, "targets", [3, 1])
    assert [(run.scene, run.seed, run.planner) for run in runs] == [
        (name, seed, planner) for name in "ab" for seed in (3, 1) for planner in "xy"
    ]
    assert [run.index for run in runs] == list(range(8))


def test_without_a_variation_a_scene_runs_once_as_it_is():
    document = scene(events=[{"tick": 3000, "arm": 1, "action": "idle"}])
    (run,) = plan_runs({"a": document}, seeds=[1, 2])
    assert run == Run(0, "a", document, "neighbour", standard_ticks(document))


def test_a_run_gives_a_row_for_every_arm_of_the_varied_scene():
    rows = execute_run(Run(0, "name", scene(), "neighbour", 30, "targets", 4))
    assert [row.measures for row in rows] == measure_run(vary_targets(scene(), 4), 30)
    assert [(row.scene, row.seed, row.units, row.error) for row in rows] == [
        ("name", 4, "pixel", "")
    ] * 2


def test_a_run_that_raises_is_one_row_with_the_text_in_one_line():
    (row,) = execute_run(Run(0, "name", scene(), "no\nsuch", 30))
    assert row.measures is None
    assert row.error.startswith("UnknownPlannerError: planner must be one of ")
    (row,) = execute_run(Run(0, "name", scene(arms=[]), "neighbour", 30, "targets", 4))
    assert row.error == "RandomisingError: no arm of 'Nothing much' has a target to vary"
    assert row.seed == 4


def test_one_failure_is_not_the_end_of_the_sweep():
    runs = plan_runs({"a": scene()}, ["neighbour", "nonsense"], 5, "targets", [1, 2])
    sweep = Sweep(runs)
    sweep.run(SequentialEngine())
    assert (sweep.finished, sweep.failed) == (4, 2)
    assert [bool(row.error) for row in sweep.rows()] == [False, False, True, False, False, True]


class Disorder:
    """Gives the last run first, and some twice."""

    def run(self, runs):
        for run in reversed(runs):
            yield run.index, execute_run(run)
            yield run.index, ()


def test_rows_are_in_the_order_of_the_runs_and_none_is_there_twice():
    runs = plan_runs({"a": scene()}, ticks=5, vary="targets", seeds=range(4))
    reports = []
    first, second = Sweep(runs), Sweep(runs)
    first.run(SequentialEngine(), reports.append)
    second.run(Disorder())
    assert second.rows() == first.rows()
    assert reports == [1, 2, 3, 4]


class Broken:
    """Is interrupted after two runs, and notes that it was closed."""

    def __init__(self):
        self.closed = False

    def run(self, runs):
        try:
            for run in runs[1:]:
                yield run.index, execute_run(run)
                if run.index == 2:
                    raise KeyboardInterrupt
        finally:
            self.closed = True


def test_an_interrupt_keeps_what_was_done_and_the_rest_can_follow():
    runs = plan_runs({"a": scene()}, ticks=5, vary="targets", seeds=range(4))
    sweep, whole = Sweep(runs), Sweep(runs)
    broken = Broken()
    with pytest.raises(KeyboardInterrupt):
        sweep.run(broken)
    assert broken.closed
    assert [row.seed for row in sweep.rows()] == [1, 1, 2, 2]
    sweep.run(SequentialEngine())
    whole.run(SequentialEngine())
    assert sweep.rows() == whole.rows()


def test_an_exception_of_the_reader_closes_the_engine():
    def refuse(done):
        raise RuntimeError(done)

    broken = Broken()
    with pytest.raises(RuntimeError):
        Sweep(plan_runs({"a": scene()}, ticks=5, vary="targets", seeds=range(4))).run(
            broken, refuse
        )
    assert broken.closed
