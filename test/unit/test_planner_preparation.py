"""Planners that are got ready beside the steps."""

import threading

from octo_reach.nodes import planner_preparation
from octo_reach.nodes.planner_preparation import PlannerPreparation


def test_a_planner_is_prepared_once_and_ready_when_that_is_over():
    prepared = []
    preparation = PlannerPreparation(print, print, lambda name, say: prepared.append(name))
    assert preparation.ready("guided", None)
    assert preparation.ready("guided")
    assert prepared == ["guided"]


def test_one_that_takes_a_while_is_waited_for_no_longer_than_wanted():
    done = threading.Event()
    preparation = PlannerPreparation(print, print, lambda name, say: done.wait(10.0))
    assert not preparation.ready("guided")
    assert not preparation.ready("guided", 0.01)
    done.set()
    assert preparation.ready("guided", None)


def test_one_that_fails_is_told_of_and_ready_all_the_same():
    told = []

    def fail(name, say):
        raise RuntimeError("no compiler")

    preparation = PlannerPreparation(print, told.append, fail)
    assert preparation.ready("guided", None)
    assert told == ["planner guided could not be prepared: no compiler"]


def test_two_may_ask_for_a_planner_at_the_same_moment(monkeypatch):
    preparation = PlannerPreparation(print, print, lambda name, say: None)
    answers = []
    other = threading.Thread(target=lambda: answers.append(preparation.ready("guided", None)))

    class LateThread(threading.Thread):
        """The other one asks before this one has started."""

        def start(self):
            other.start()
            other.join(0.1)
            super().start()

    class Threading:
        Thread = LateThread
        Lock = threading.Lock

    monkeypatch.setattr(planner_preparation, "threading", Threading)
    assert preparation.ready("guided", None)
    other.join(10.0)
    assert answers == [True]
