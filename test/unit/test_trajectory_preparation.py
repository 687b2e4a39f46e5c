"""Planners are made ready beside the steps."""

import threading

from octo_reach.nodes.planner_preparation import PlannerPreparation


class Workshop:
    """Prepares as told: waits until it may go on, and notes what it did."""

    def __init__(self, failure=None):
        self.prepared = []
        self.may_end = threading.Event()
        self.said, self.warned = [], []
        self._failure = failure
        self.preparation = PlannerPreparation(self.said.append, self.warned.append, self.prepare)

    def prepare(self, name, report):
        self.prepared.append(name)
        report(f"{name} takes a while")
        assert self.may_end.wait(10.0)
        if self._failure is not None:
            raise self._failure


def test_a_planner_is_not_ready_until_it_is_prepared_and_prepared_only_once():
    workshop = Workshop()
    preparation = workshop.preparation
    assert not preparation.ready("guided")
    assert not preparation.ready("guided", 0.01)
    workshop.may_end.set()
    assert preparation.ready("guided", 10.0)
    assert preparation.ready("guided")
    assert preparation.ready("fabrik", None)
    assert workshop.prepared == ["guided", "fabrik"]
    assert workshop.said == ["guided takes a while", "fabrik takes a while"]
    assert workshop.warned == []


def test_one_that_cannot_be_prepared_is_ready_and_that_is_said():
    workshop = Workshop(ValueError("no compiler"))
    workshop.may_end.set()
    assert workshop.preparation.ready("guided", None)
    assert workshop.warned == ["planner guided could not be prepared: no compiler"]
