"""The page without ROS and without a browser: what is sent, and what is asked for."""

from __future__ import annotations

import math
import socket
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from pages import open_page

from octo_reach.viewer.server import address, open_server
from octo_reach.viewer.snapshot import SeenArm, SeenObject, Snapshot, Touch
from octo_reach.viewer.window import Window

CEILING = 10.0


def seen_arm(number=1, segments=20, turn=0.0, **changes):
    """An arm that is curled a little, from a base of its own."""
    headings = turn + np.linspace(0.0, 1.0, segments)
    steps = 0.36 / segments * np.stack((np.cos(headings), np.sin(headings)), 1)
    joints = np.vstack(([[0.1 * number, 0.0]], steps)).cumsum(axis=0)
    values = {"state": "Reaching", "target": (0.2, 0.1), "tip_error": 0.1, **changes}
    return SeenArm(number, joints, 0.003, 0.0015, (0.1, 0.5, 0.7), **values)


FOOD = SeenObject(4, "food", (0.1, 0.2), 0.02, (0.2, 0.7, 0.3))


@pytest.fixture
def window():
    window = Window(open_server("127.0.0.1", 0), ("neighbour", "external"))
    try:
        yield window
    finally:
        window.close()


@pytest.fixture
def page(window):
    """A page that reads whatever comes, in a thread, and counts it."""
    with open_page(address(window._server)) as page:
        counts = {"messages": 0, "bytes": 0}

        def read():
            for message in page:
                counts["messages"] += 1
                counts["bytes"] += len(message)

        threading.Thread(target=read, daemon=True).start()
        wait_until(lambda: window.watched, "the page to be there")
        yield counts


def wait_until(condition, what):
    deadline = time.monotonic() + CEILING
    while not condition():
        assert time.monotonic() < deadline, f"waited {CEILING:g} s for {what}"
        time.sleep(0.005)


def wait_until_quiet(page):
    """Wait until nothing has come for a quarter of a second."""
    seen, since = page["bytes"], time.monotonic()
    deadline = since + CEILING
    while time.monotonic() - since < 0.25:
        if page["bytes"] != seen:
            seen, since = page["bytes"], time.monotonic()
        assert time.monotonic() < deadline, "the page never falls silent"
        time.sleep(0.005)


def test_only_what_has_changed_is_sent(window, page):
    still = Snapshot(arms=(seen_arm(),), objects=(FOOD,), controller=True, world=True)
    for count in range(3):
        window.show(still, float(count))
    wait_until_quiet(page)
    before = page["bytes"]
    window.show(still, 2.05)
    wait_until_quiet(page)
    assert page["bytes"] == before
    window.show(replace(still, arms=(seen_arm(turn=0.3),)), 2.1)
    wait_until(lambda: page["bytes"] > before, "the arm's new pose")


def test_nothing_is_drawn_while_nobody_looks(window):
    shown = []
    window._arms.show = lambda *arguments: shown.append(arguments)
    window.show(Snapshot(arms=(seen_arm(),)), 0.0)
    assert shown == []


def test_a_page_that_does_not_read_misses_pictures_instead_of_getting_them_late(window, page):
    snapshots = [
        Snapshot(arms=tuple(seen_arm(number, 100, turn) for number in range(1, 9)))
        for turn in (0.0, 0.1)
    ]
    slow_socket = socket.create_connection(address(window._server)[7:].split(":"))
    slow_socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    with open_page(address(window._server), sock=slow_socket) as slow:
        shown = 0
        start = page["bytes"]
        while page["bytes"] - start < 16_000_000:
            window.show(snapshots[shown % 2], 0.0)
            shown += 1
            time.sleep(0.004)
            assert shown < 10_000
        held = 0
        # All that waits for it: what was too much for its buffers was replaced by what came later.
        while held < page["bytes"]:
            try:
                held += len(slow.recv(timeout=0.3))
            except TimeoutError:
                break
        assert held < 0.6 * (page["bytes"] - start)


def test_what_is_gone_leaves_nothing_behind(window, page):
    touch = Touch((1, 3, 4), (0.1, 0.2), (1.0, 1.0, 0.0))
    full = Snapshot(arms=(seen_arm(1), seen_arm(2)), objects=(FOOD,), touches=(touch,))
    window.show(full, 0.0)
    scene = window._server.scene

    def there():
        names = scene._handle_from_node_name
        return {name for name in names if name.startswith(("/arms/", "/objects/"))}

    assert "/arms/arm_2/body" in there()
    assert "/objects/food_4" in there()
    window.show(Snapshot(arms=(seen_arm(1),)), 1.0)
    assert {name.split("/")[2] for name in there()} == {"arm_1"}
    assert "/objects/food_4" not in there()


def test_an_arm_of_another_shape_is_drawn_anew(window, page):
    window.show(Snapshot(arms=(seen_arm(1, 20),)), 0.0)
    window.show(Snapshot(arms=(seen_arm(1, 7),)), 0.1)
    body = window._server.scene._handle_from_node_name["/arms/arm_1/body"]
    assert int(body.faces.max()) + 1 == len(body.vertices)


def test_texts_from_topics_are_shown_as_texts(window, page):
    evil = "<img src=x onerror=alert(1)>"
    arm = seen_arm(state=evil, holds=evil, note=evil, tip_error=math.nan)
    window.show(Snapshot(arms=(arm,), controller=True, problems=(evil,)), 0.0)
    for part in (window._panel._status, window._panel._table):
        assert "<img" not in part.content
