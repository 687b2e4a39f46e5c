"""The page without ROS and without a browser: what is sent, and what is asked for."""

from __future__ import annotations

import asyncio
import math
import socket
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from pages import BAD_CAMERAS, UNREADABLE_CAMERAS, open_page, tell, tell_camera

from octo_reach.ros.diagnostics import controller_report
from octo_reach.viewer import panel
from octo_reach.viewer.orders import ChoosePlanner, SendArm
from octo_reach.viewer.panel import LARGEST_RADIUS, PATIENCE, PlannerChoice
from octo_reach.viewer.plots import History
from octo_reach.viewer.server import address, open_server
from octo_reach.viewer.snapshot import SeenArm, SeenObject, SeenThoughts, Snapshot, Touch
from octo_reach.viewer.touches import FADE, FLASH, FLASHING, RESTING, Flashes
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
def said():
    """What the server had to say."""
    return []


@pytest.fixture
def window(said):
    window = Window(open_server("127.0.0.1", 0, said.append), ("neighbour", "external"))
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


def test_the_server_prints_nothing(capfd):
    server = open_server("127.0.0.1", 0)
    with open_page(address(server)):
        pass
    server.stop()
    assert capfd.readouterr() == ("", "")


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


def usable(window, page):
    """Whether what a page chooses counts, and what there is reaches it."""
    window.show(Snapshot(arms=(seen_arm(1), seen_arm(2))), 100.0)
    assert window._panel._arm.options == ("all arms", "arm_1", "arm_2")
    choice = {"value": "arm_2"}
    tell(page, "GuiUpdateMessage", uuid=window._panel._arm._impl.uuid, updates=choice)
    wait_until(lambda: window._panel.arms == (2,), "what was chosen")
    return True


@pytest.mark.parametrize("changes", BAD_CAMERAS, ids=repr)
def test_a_camera_that_is_none_is_left_out_and_said_once(window, said, changes):
    with open_page(address(window._server)) as good, open_page(address(window._server)) as bad:
        wait_until(lambda: len(window._server.get_clients()) == 2, "both pages")
        tell_camera(bad, **changes)
        tell_camera(bad, **changes)
        tell_camera(bad, fov=0.25)
        cameras = [client.camera for client in window._server.get_clients().values()]
        wait_until(lambda: 0.25 in [camera.fov for camera in cameras], "the good camera")
        (line,) = said
        assert line.startswith("ViewerCameraMessage of a page left out: ")
        assert "\n" not in line
        assert usable(window, good)


@pytest.mark.parametrize("changes", UNREADABLE_CAMERAS, ids=repr)
def test_a_page_that_sends_what_is_no_message_is_alone_in_being_sent_away(window, said, changes):
    with open_page(address(window._server)) as good, open_page(address(window._server)) as bad:
        wait_until(lambda: len(window._server.get_clients()) == 2, "both pages")
        tell_camera(bad, **changes)
        wait_until(lambda: len(window._server.get_clients()) == 1, "one page to be gone")
        assert usable(window, good)
        assert said == []


POINTERS = (
    ("ScenePointerMessage", {"ray_origin": (), "ray_direction": (), "event_type": "click"}),
    ("SceneNodeDragMessage", {"start_position": (math.inf, 0.0, 0.0)}),
    ("SceneNodeDragMessage", {"end_position": (0.0, 0.0)}),
)


@pytest.mark.parametrize(("kind", "changes"), POINTERS, ids=repr)
def test_a_pointer_that_is_nowhere_is_left_out_and_said_once(window, said, capfd, kind, changes):
    fields = {"modifier": None}
    if kind == "SceneNodeDragMessage":
        fields |= {
            "name": "/objects/food_4",
            "instance_index": None,
            "phase": "start",
            "button": "left",
        }
        fields |= dict.fromkeys(("start_position", "end_position"), (0.1, 0.2, 0.0))
        fields |= dict.fromkeys(("start_screen_pos", "end_screen_pos"), (0.5, 0.5))
    else:
        fields["screen_pos"] = ((0.5, 0.5),)
    with open_page(address(window._server)) as page:
        wait_until(lambda: window.watched, "the page")
        for _ in range(3):
            tell(page, kind, **{**fields, **changes})
        assert usable(window, page)
        (line,) = said
        assert line.startswith(f"{kind} of a page left out: ")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "updates",
    [
        {"removed": True},
        {"props": None},
        {"update_cb": []},
        {"value": "arm_1", "props": None},
        {"value": []},
        {"value": None},
        {"value": math.nan},
        {"value": "long" * 1000},
        [],
    ],
    ids=lambda updates: repr(updates)[:30],
)
def test_a_page_can_change_nothing_of_the_panel_but_values(window, said, updates):
    with open_page(address(window._server)) as good, open_page(address(window._server)) as bad:
        wait_until(lambda: len(window._server.get_clients()) == 2, "both pages")
        for uuid in list(window._server.gui._gui_input_handle_from_uuid):
            tell(bad, "GuiUpdateMessage", uuid=uuid, updates=updates)
        tell_camera(bad, fov=0.25)
        cameras = [client.camera for client in window._server.get_clients().values()]
        wait_until(lambda: 0.25 in [camera.fov for camera in cameras], "what came after")
        (line,) = said
        assert line.startswith("GuiUpdateMessage of a page left out: ")
        assert usable(window, good)


def test_what_is_not_to_be_chosen_does_not_stay_chosen(window, page):
    snapshot = Snapshot(arms=(seen_arm(1), seen_arm(2)))
    window.show(snapshot, 0.0)
    panel = window._panel
    with open_page(address(window._server)) as bad:
        for handle in (panel._arm, panel._click, panel._radius):
            value = 1e5 if handle is panel._radius else "none of them"
            tell(bad, "GuiUpdateMessage", uuid=handle._impl.uuid, updates={"value": value})
        wait_until(lambda: panel._radius.value == 1e5, "what came last")
    window.show(snapshot, 1.0)
    assert panel.arms == (1, 2)
    assert panel.sends
    assert panel.radius == pytest.approx(1e-3 * LARGEST_RADIUS)


def test_a_callback_that_fails_is_said_once_and_the_next_message_counts(window, said):
    rays = {"ray_origin": (0.0, 0.0, 1.0), "ray_direction": (0.0, 0.0, -1.0)}
    click = {"event_type": "click", "screen_pos": (), "modifier": None, **rays}
    with open_page(address(window._server)) as page:
        wait_until(lambda: window.watched, "the page")
        for _ in range(3):
            tell(page, "ScenePointerMessage", **click)
        wait_until(lambda: said, "the failure to be said")
        assert usable(window, page)
        (text,) = said
        assert text.startswith("ScenePointerMessage of a page failed (IndexError)")


def test_a_page_whose_camera_fails_keeps_no_other_from_its_own(window, said):
    with open_page(address(window._server)), open_page(address(window._server)) as good:
        wait_until(lambda: len(window._server.get_clients()) == 2, "both pages")
        bad, other = [client.camera for client in window._server.get_clients().values()]
        bad._state.look_at = np.array([])
        window.show(Snapshot(arms=(seen_arm(),)), 0.0)
        assert other.look_at.tolist() == [0.1, 0.0, 0.0]
        window.tell("a title", "a text")
        assert usable(window, good)
        (text,) = said
        assert text.startswith("aiming a page's camera failed (ValueError)")


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
        while page["bytes"] - start < 12_000_000:
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


@pytest.mark.parametrize("rate", [97.7, 12.3456, 0.0, 113.97])
def test_how_many_steps_a_second_there_are_is_said_once(window, page, rate):
    _, problems, values = controller_report(
        rate=rate,
        wanted_rate=120.0,
        steps=0,
        worst_step=0.0,
        missed_steps=0,
        dropped_seconds=0.0,
        rejected={},
        feed_age=None,
        object_timeout=1.0,
    )
    reported = Snapshot(controller=True, world=True, problems=(problems,), rate=rate)
    window.show(replace(reported, wanted_rate=values["wanted rate (Hz)"]), 0.0)
    content = window._panel._status.content
    assert content.count("steps a second") == 1
    assert f" {rate:.1f} of 120 steps a second" in content
    assert "the object feed is silent so far: the arms hold" in content


def test_without_a_report_the_steps_that_are_heard_are_said(window, page):
    window.show(Snapshot(controller=True, world=True, rate=79.2), 0.0)
    assert " 79.2 steps a second" in window._panel._status.content


def click(window, place):
    """Click on a place of the plane, straight from above."""
    event = SimpleNamespace(ray_origin=(*place, 1.0), ray_direction=(0.0, 0.0, -1.0))
    asyncio.run(window._click(event))
    return window.take_orders()


def test_a_click_chooses_what_is_there_and_sends_the_chosen_arm_where_nothing_is(window, page):
    arms = (seen_arm(1), seen_arm(2))
    window.show(Snapshot(arms=arms, objects=(FOOD,)), 0.0)
    assert click(window, (0.0, -0.1)) == [SendArm(1, (0.0, -0.1))]
    assert click(window, tuple(arms[1].joints[0])) == []
    assert click(window, (0.0, -0.1)) == [SendArm(2, (0.0, -0.1))]
    window._panel._arm.value = "all arms"
    assert click(window, (0.0, -0.1)) == [SendArm(1, (0.0, -0.1)), SendArm(2, (0.0, -0.1))]
    assert click(window, FOOD.position) == []
    assert window._panel.chosen == FOOD.number
    window._panel._click.value = "add hazard there"
    (order,) = click(window, (0.0, -0.1))
    assert (order.kind, order.number, order.position) == ("hazard", None, (0.0, -0.1))
    window._panel._click.value = "nothing"
    assert click(window, (0.0, -0.1)) == []


def test_the_arm_that_is_chosen_stays_chosen_when_others_come_and_go(window, page):
    window.show(Snapshot(arms=(seen_arm(1), seen_arm(2))), 0.0)
    window._panel._arm.value = "arm_2"
    window.show(Snapshot(arms=(seen_arm(2), seen_arm(5))), 1.0)
    assert window._panel.arms == (2,)
    window.show(Snapshot(arms=(seen_arm(5),)), 2.0)
    assert window._panel.arms == (5,)
    window.show(Snapshot(), 3.0)
    assert window._panel.arms == ()


def test_the_planner_that_is_shown_is_the_one_that_is_heard(window, page):
    window.show(Snapshot(arms=(seen_arm(1, planner="external"),)), 0.0)
    assert window._panel._planner.value == "external"
    assert window.take_orders() == []


def choose_planner(window, planner):
    """Choose a planner as a page does."""
    window._panel._planner.value = planner
    asyncio.run(window._panel._take_planner(SimpleNamespace(client=object())))
    return window.take_orders()


@pytest.fixture
def clock(monkeypatch):
    """A clock of the panel's that stands until it is set."""
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(panel, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def test_a_planner_that_was_chosen_stays_chosen_until_the_arm_has_it(window, page, clock):
    arms = [seen_arm(number, planner="neighbour") for number in (1, 2)]
    window.show(Snapshot(arms=tuple(arms)), 0.0)
    assert choose_planner(window, "external") == [ChoosePlanner(1, "external")]
    # It may have to be compiled first, beside the steps.
    clock.now += 9.0
    window.show(Snapshot(arms=tuple(arms)), 9.0)
    assert window._panel._planner.value == "external"
    assert window._panel._table.content.count("waits for external") == 1
    arms[0] = replace(arms[0], planner="external")
    window.show(Snapshot(arms=tuple(arms)), 10.0)
    assert window._panel._planner.value == "external"
    assert "waits for" not in window._panel._table.content
    # From now on somebody else may choose again.
    arms[0] = replace(arms[0], planner="neighbour")
    window.show(Snapshot(arms=tuple(arms)), 11.0)
    assert window._panel._planner.value == "neighbour"


def test_a_planner_that_was_chosen_does_not_stay_chosen_in_vain(window, page, clock):
    snapshot = Snapshot(arms=(seen_arm(planner="neighbour"),))
    window.show(snapshot, 0.0)
    choose_planner(window, "external")
    window.forget_planners()
    window.show(snapshot, 1.0)
    assert window._panel._planner.value == "neighbour"
    choose_planner(window, "external")
    clock.now += PATIENCE
    window.show(snapshot, 2.0)
    assert window._panel._planner.value == "neighbour"


@pytest.mark.parametrize(
    ("reported", "age", "stands"),
    [
        ("neighbour", 0.5, True),
        ("neighbour", 30.0, True),
        ("neighbour", PATIENCE, False),
        ("fabrik", 0.5, True),  # what was said before it was chosen may still be on its way
        ("fabrik", 1.5, False),
        ("external", 1.5, False),
    ],
)
def test_a_choice_stands_while_the_arm_goes_on_with_what_it_had(reported, age, stands):
    choice = PlannerChoice("external", before="neighbour", since=5.0)
    assert choice.stands(reported, 5.0 + age) is stands


def test_arms_with_different_planners_can_all_be_given_any_of_them(window, page, clock):
    arms = (seen_arm(1, planner="neighbour"), seen_arm(2, planner="external"))
    window.show(Snapshot(arms=arms), 0.0)
    window._panel._arm.value = "all arms"
    window.show(Snapshot(arms=arms), 1.0)
    assert window._panel._planner.options == ("several", "neighbour", "external")
    assert window._panel._planner.value == "several"
    assert choose_planner(window, "several") == []
    assert choose_planner(window, "neighbour") == [
        ChoosePlanner(1, "neighbour"),
        ChoosePlanner(2, "neighbour"),
    ]
    window.show(Snapshot(arms=arms), 2.0)
    assert window._panel._planner.value == "neighbour"
    assert window._panel._planner.options == ("neighbour", "external")


def rings(window):
    """Numbers of the arms with a ring around their base."""
    handles = window._server.scene._handle_from_node_name
    return [n for n in (1, 2, 3) if getattr(handles.get(f"/arms/arm_{n}/chosen"), "visible", False)]


def test_the_arms_that_orders_are_for_are_marked_where_there_are_several(window, page):
    arms = tuple(seen_arm(number) for number in (1, 2, 3))
    for count, (choice, marked) in enumerate(
        (("arm_2", [2]), ("all arms", [1, 2, 3]), ("arm_3", [3]))
    ):
        window.show(Snapshot(arms=arms), 2.0 * count)
        window._panel._arm.value = choice
        window.show(Snapshot(arms=arms), 2.0 * count + 1.0)
        assert rings(window) == marked
        assert window._panel._table.content.count("background") == len(marked)
    window.show(Snapshot(arms=arms[:1]), 9.0)
    window.show(Snapshot(arms=arms[:1]), 10.0)
    assert rings(window) == []
    assert "background" not in window._panel._table.content


def test_an_idle_arm_is_not_said_to_be_far_from_where_it_need_not_go(window, page):
    window.show(Snapshot(arms=(seen_arm(1), seen_arm(2, state="Idle"))), 0.0)
    assert window._panel._table.content.count("100 mm") == 1


WIDE = {"image_width": 1200, "image_height": 800}
SMALL = {"image_width": 300, "image_height": 600}


@pytest.fixture
def camera(window):
    """The camera of a page; `look` lets it tell what a browser's would."""
    with open_page(address(window._server)) as page:
        wait_until(lambda: window.watched, "the page")
        (client,) = window._server.get_clients().values()
        camera, times = client.camera, [0.0]

        def look(size, after=0.0, **changes):
            """Tell a size, from where it was put but for some changes; then show something."""
            told = {
                name: tuple(getattr(camera, name).tolist())
                for name in ("position", "look_at", "up_direction")
            }
            # What a browser tells has been through single precision.
            told["position"] = tuple(float(np.float32(part)) for part in told["position"])
            tell_camera(page, **{**told, **size, **changes, "fov": 0.25})
            wait_until(lambda: camera.fov == 0.25, "what the camera told")
            times.append(times[-1] + after)
            window.show(Snapshot(arms=(seen_arm(),)), times[-1])
            camera.fov = 0.5
            return camera.position.tolist()

        yield SimpleNamespace(look=look, handle=camera)


def test_the_scene_is_fitted_anew_into_a_window_of_another_size(camera):
    wide = camera.look(WIDE)
    small = camera.look(SMALL, after=60.0)
    # Half as wide as it is high: twice as far away.
    assert small[2] == pytest.approx(2.0 * wide[2])
    assert camera.look(WIDE, after=60.0) == wide


@pytest.mark.parametrize("moved", ["position", "look_at"])
def test_a_view_stays_as_somebody_has_chosen_it_whatever_the_size(camera, moved):
    before = camera.look(WIDE)
    place = {"position": (0.1, -0.2, before[2]), "look_at": (0.3, 0.0, 0.0)}[moved]
    found = camera.look(SMALL, after=60.0, **{moved: place})
    assert found == pytest.approx(place if moved == "position" else before)
    assert camera.handle.look_at.tolist() == pytest.approx(
        place if moved == "look_at" else [0.1, 0.0, 0.0]
    )


def test_a_view_that_was_asked_back_above_is_fitted_again(window, camera):
    wide = camera.look(WIDE)
    camera.look(WIDE, after=60.0, position=(0.1, -0.2, 0.3))
    window._look_from_above(SimpleNamespace(client=camera.handle.client))
    assert camera.look(SMALL, after=60.0)[2] == pytest.approx(2.0 * wide[2])


def test_the_rate_is_drawn_over_the_one_that_is_wanted(window, page):
    window.show(Snapshot(arms=(seen_arm(),), rate=100.0, wanted_rate=120.0), 0.0)
    plot, names = window._plots._plots["steps a second"]
    assert names == ["wanted", "rate"]
    assert [line[-1] for line in plot.data[1:]] == [120.0, 100.0]


def test_a_contact_lights_up_rests_and_fades():
    flashes = Flashes()
    touch = Touch((1, 3, 4), (0.1, 0.2), (1.0, 1.0, 0.0))
    sizes = [flashes.note([touch], now)[0][1] for now in (0.0, 0.5 * FLASH, FLASH, 2.0)]
    assert sizes[0] == FLASHING > sizes[1] > sizes[2] == sizes[3] == RESTING
    fading = flashes.note([], 2.0 + 0.5 * FADE)[0][1]
    assert 0.0 < fading < RESTING
    assert flashes.note([], 2.0 + FADE) == []


def test_plots_have_only_whole_samples_of_the_last_minute():
    history = History(window=10.0, period=1.0)
    assert history.columns(["a"])[0].tolist() == [0.0]
    for second in range(30):
        figures = {"a": float(second)}
        if second >= 25:
            figures["b"] = 1.0
        assert history.note(float(second), figures)
        assert not history.note(second + 0.5, figures)
    times, a = history.columns(["a"])
    assert times.tolist() == [float(t) for t in range(-9, 1)]
    assert a.tolist() == [float(value) for value in range(20, 30)]
    times, a, b = history.columns(["a", "b"])
    assert times.tolist() == [-4.0, -3.0, -2.0, -1.0, 0.0]
    assert np.isfinite([*a, *b]).all()


@pytest.mark.parametrize("pause", [1.0, 1.3, 4.0])
def test_plots_go_back_a_minute_however_seldom_a_sample_is_taken(pause):
    history = History(window=60.0, period=1.0)
    for count in range(200):
        assert history.note(count * pause, {"a": 1.0})
    times, _ = history.columns(["a"])
    assert -60.0 < times[0] <= pause - 60.0
    assert times[-1] == 0.0
    # A minute in which nothing was noted leaves nothing.
    history.note(200 * pause + 60.0, {"a": 1.0})
    assert len(history.columns(["a"])[0]) == 1


def test_what_is_asked_for_is_drawn_over_the_arms_and_taken_away_again(window, page):
    arm = seen_arm()
    line = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [0.0, 0.0]])
    thoughts = SeenThoughts(np.zeros((20, 2, 2)), line[:2], 0.003, line)
    snapshot = Snapshot(arms=(arm,), thoughts={1: thoughts})
    names = window._server.scene._handle_from_node_name

    def drawn():
        start = "/overlays/arm_1/"
        return {name.removeprefix(start) for name in names if name.startswith(start)}

    assert not window.wants_thoughts
    window.show(snapshot, 0.0)
    assert drawn() == set()
    panel = window._panel
    for box, wanted in (
        (panel._requests, {"requests", "waypoints"}),
        (panel._clearance, {"clearance"}),
        (panel._ellipse, {"ellipse"}),
    ):
        box.value = True
        assert window.wants_thoughts
        window.show(snapshot, 0.0)
        assert drawn() == wanted
        # Nothing is known any more, of one that is still there: another planner moves it.
        window.show(Snapshot(arms=(arm,)), 0.0)
        assert drawn() == set()
        window.show(snapshot, 0.0)
        box.value = False
        window.show(snapshot, 0.0)
        assert drawn() == set()
