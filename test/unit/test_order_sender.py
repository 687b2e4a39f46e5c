"""Orders that take more than one call."""

from __future__ import annotations

from typing import Any

import pytest
from std_srvs.srv import Trigger

from octo_reach.nodes.order_sender import OrderSender
from octo_reach.viewer.orders import ResetAll


class Answer:
    """An answer that comes when the test says so."""

    def __init__(self) -> None:
        self._callbacks: list[Any] = []

    def add_done_callback(self, callback: Any) -> None:
        self._callbacks.append(callback)

    def result(self) -> Trigger.Response:
        return Trigger.Response(success=True)

    def come(self) -> None:
        for callback in self._callbacks:
            callback(self)


class Timer:
    """A timer that runs out when the test says so."""

    def __init__(self, callback: Any) -> None:
        self.run_out = callback
        self._canceled = False

    def cancel(self) -> None:
        self._canceled = True

    def is_canceled(self) -> bool:
        return self._canceled


class Node:
    """A node whose clients write down what they are asked."""

    def __init__(self, offered: set[str]) -> None:
        self.offered = offered
        self.asked: list[tuple[str, Answer]] = []
        self.timers: list[Timer] = []

    def create_timer(self, seconds: float, callback: Any, clock: Any) -> Timer:
        self.timers.append(Timer(callback))
        return self.timers[-1]

    def destroy_timer(self, timer: Timer) -> None:
        self.timers.remove(timer)

    def create_publisher(self, *arguments: Any) -> None:
        return None

    def create_client(self, kind: Any, service: str) -> Any:
        node = self

        class Client:
            def service_is_ready(self) -> bool:
                return service in node.offered

            def call_async(self, request: Any) -> Answer:
                answer = Answer()
                node.asked.append((service, answer))
                return answer

        return Client()


def sender_for(node: Node) -> tuple[OrderSender, list[tuple[str, str]]]:
    told: list[tuple[str, str]] = []
    sender = OrderSender(node, None, lambda what, why: told.append((what, why)))  # type: ignore
    return sender, told


RESETS = ["reach_controller/reset", "simulated_world/reset"]


def test_the_world_starts_over_when_the_arms_have_let_go_and_not_before():
    node = Node(set(RESETS))
    sender, told = sender_for(node)
    sender.obey(ResetAll())
    assert [service for service, _ in node.asked] == RESETS[:1]
    node.asked[0][1].come()
    assert [service for service, _ in node.asked] == RESETS
    node.asked[1][1].come()
    assert told == []
    assert node.timers == []


def test_the_world_starts_over_though_the_arms_do_not_answer_and_that_is_said():
    node = Node(set(RESETS))
    sender, told = sender_for(node)
    sender.obey(ResetAll())
    node.timers[0].run_out()
    assert [service for service, _ in node.asked] == RESETS
    assert told == [("reach_controller/reset", "does not answer")]
    # An answer that comes after all starts nothing again.
    node.asked[0][1].come()
    assert [service for service, _ in node.asked] == RESETS


@pytest.mark.parametrize("missing", RESETS)
def test_whoever_is_there_starts_over_and_who_is_missing_is_said(missing):
    node = Node(set(RESETS) - {missing})
    sender, told = sender_for(node)
    sender.obey(ResetAll())
    for _, answer in node.asked:
        answer.come()
    assert [service for service, _ in node.asked] == [name for name in RESETS if name != missing]
    assert told == [(missing, "nobody offers it")]
