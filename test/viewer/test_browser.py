"""The page in a real browser: what it loads, what it shows, and what pointer and panel do."""

from __future__ import annotations

import itertools
import math

import pytest
from pages import address_of
from stage import FOOD, OBSTACLE, REACH
from visualization_msgs.msg import MarkerArray

from octo_reach.ros.objects import objects_from_markers
from octo_reach.ros.quality_of_service import LATCHED

WIDTH, HEIGHT = 1280, 800
MARGIN = 1.12
"""How much more than the arms' reach is in sight, from the middle to the nearest edge."""

TARGET = (0.09, 0.12)
FOOD_PLACE = (-0.15, -0.1)
OBSTACLE_PLACE = (0.17, -0.13)

TABLE = "(document.querySelector('table') || {innerText: ''}).innerText"
TWO_PICTURES = (
    "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
)


@pytest.fixture(scope="module")
def page(stage, browser):
    """The page of a viewer of one arm, a piece of food and an obstacle, loaded and at work."""
    scene = stage.write_scene(target=TARGET, food=[FOOD_PLACE], obstacles=[OBSTACLE_PLACE])
    stage.world(scene)
    stage.controller(scene)
    viewer = stage.start("viewer", {"port": 0})
    page = browser.open(address_of(viewer), WIDTH, HEIGHT)
    page.address = address_of(viewer)
    page.wait_for_text("steps a second")
    page.wait_for_text("Reach")
    page.wait_for(lambda: page.canvas()[3] == HEIGHT, "the scene to have its size")
    # The camera comes to rest above the arms: then a click lands where it should.
    place = (0.05, 0.2)

    def click_lands() -> bool:
        page.click(*pixel(page, place))
        stage.probe.spin_for(0.1)
        return near(stage.report().target, place)

    stage.wait_for_target(*TARGET)
    page.wait_for(click_lands, "a click to land where it should")
    # A handle is where the page shows it: the state that came with the target, and two pictures.
    stage.probe.trigger("arm_1/idle")
    page.wait_for(lambda: "Idle" in page.evaluate(TABLE), "an idle arm on the page")
    stage.send(1, *TARGET)
    stage.wait_for_target(*TARGET)
    page.wait_for(lambda: "Reach" in page.evaluate(TABLE), "an arm with a target on the page")
    page.evaluate(TWO_PICTURES)
    yield page
    page.close()


def pixel(page, place):
    """Give where a place of the plane is on the page, pixels."""
    left, top, width, height = page.canvas()
    scale = min(width, height) / 2.0 / (MARGIN * REACH)
    return left + width / 2.0 + scale * place[0], top + height / 2.0 - scale * place[1]


def drag(stage, page, start, end, steps=8):
    """Drag something across the plane, and listen meanwhile."""
    page.press(*pixel(page, start))
    for step in range(1, steps + 1):
        share = step / steps
        between = [s + share * (e - s) for s, e in zip(start, end, strict=True)]
        page.move(*pixel(page, between))
        stage.probe.spin_for(0.03)
    page.release(*pixel(page, end))


def choose(page, label, option):
    """Choose an option of a list, as a person does: open it, then click the option."""
    found = page.evaluate(
        "(() => { const l = [...document.querySelectorAll('label')]"
        f".find(l => l.innerText.trim() === '{label}');"
        " const i = document.getElementById(l.htmlFor); i.scrollIntoView({block: 'center'});"
        " const r = i.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2];"
        " })()"
    )
    page.click(*found)
    place = page.wait_for(
        lambda: page.evaluate(
            "(() => { const o = [...document.querySelectorAll('[role=option]')]"
            f".find(o => o.innerText.trim() === '{option}' && o.offsetParent);"
            " if (!o) return null; const r = o.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        ),
        f"the option {option!r}",
    )
    page.click(*place)
    page.wait_for(lambda: page.evaluate(chosen(label)) == option, f"{option!r} to be chosen")


def chosen(label):
    """Give the expression for what is chosen in a list."""
    return (
        "document.getElementById([...document.querySelectorAll('label')]"
        f".find(l => l.innerText.trim() === '{label}').htmlFor).value"
    )


def objects_of(message):
    """Give the objects of a world's message by number."""
    return {
        change.number: change
        for change in objects_from_markers("objects", message)
        if change.action == "add"
    }


@pytest.fixture(scope="module")
def objects(stage, page):
    """What the world says of its objects."""
    return stage.probe.listen(MarkerArray, "objects", LATCHED)


@pytest.fixture
def alone(stage, page, objects):
    """The page of an arm that nothing lies around: who touches something is not called idle."""
    stage.probe.trigger("simulated_world/clear")
    objects.wait_until_latest(lambda m: not objects_of(m), "an empty scene")
    return page


def near(place, wanted, distance=0.004):
    return place is not None and math.dist(place, wanted) < distance


def test_the_page_loads_without_asking_anybody_else(page):
    address = page.address.removeprefix("http")
    assert page.requests
    assert [url for url in page.requests if not url.startswith(f"http{address}")] == []
    assert page.complaints == []


def test_a_target_that_is_dragged_takes_the_arm_along(stage, page):
    stage.wait_for_target(*TARGET)
    goal = (-0.06, 0.14)
    drag(stage, page, TARGET, goal)
    stage.wait_for_report(lambda report: near(report.target, goal), "was sent there")
    stage.wait_for_report(
        lambda report: near(report.target, goal) and report.tip_error < 0.02, "follows"
    )


def test_a_click_on_the_plane_sends_the_arm_there(stage, page):
    goal = (0.1, 0.15)
    page.click(*pixel(page, goal))
    stage.wait_for_report(lambda report: near(report.target, goal), "was sent there")


@pytest.mark.parametrize(("width", "height"), [(600, 400), (1600, 1000), (WIDTH, HEIGHT)])
def test_the_whole_scene_is_in_sight_in_a_window_of_any_size(stage, page, width, height):
    page.resize(width, height)
    page.wait_for(lambda: page.canvas()[3] == height, "the scene to have its size")
    goals = itertools.cycle([(-0.1, -0.02), (0.1, -0.02)])

    def click_lands() -> bool:
        # A place that is out of sight, or elsewhere, where the scene is not fitted.
        goal = next(goals)
        page.click(*pixel(page, goal))
        stage.probe.spin_for(0.1)
        return near(stage.report().target, goal, 0.01)

    page.wait_for(click_lands, "a click to land where it should")


def test_an_object_that_is_dragged_moves_in_the_world(stage, page, objects):
    start = objects.wait_for(lambda m: len(objects_of(m)) == 2, "both objects")
    number = next(n for n, change in objects_of(start).items() if change.kind is OBSTACLE)
    goal = (0.05, -0.17)
    drag(stage, page, OBSTACLE_PLACE, goal)
    objects.wait_until_latest(
        lambda m: near(objects_of(m)[number].position, goal), "the obstacle where it was dragged"
    )


def test_an_object_is_added_chosen_and_removed(stage, page, objects):
    place = (-0.05, -0.18)
    choose(page, "A click will", "add food there")
    page.click(*pixel(page, place))
    message = objects.wait_until_latest(lambda m: len(objects_of(m)) == 3, "a third object")
    number = max(objects_of(message))
    added = objects_of(message)[number]
    assert added.kind is FOOD
    assert near(added.position, place)
    assert added.radius == pytest.approx(0.015)

    page.wait_for(lambda: page.evaluate("document.visibilityState") == "visible", "the page")
    page.click(*pixel(page, place))
    page.click_button(f"Remove food {number}")
    objects.wait_until_latest(lambda m: number not in objects_of(m), "the third object gone")
    # What stands below the button on the panel moves up when it goes.
    left = f"document.body.innerText.includes('Remove food {number}')"
    page.wait_for(lambda: not page.evaluate(left), "the button gone")
    choose(page, "A click will", "send the arm there")


def test_the_panel_pauses_and_steps_and_goes_on(stage, page):
    page.click_button("Pause")
    before = stage.wait_for_diagnostics(lambda values: values["paused"] == "yes", "paused")
    page.wait_for_text("paused")
    page.click_button("Step")
    stage.wait_for_diagnostics(
        lambda values: int(values["steps"]) == int(before["steps"]) + 1, "one step more"
    )
    page.click_button("Go on")
    stage.wait_for_diagnostics(lambda values: values["paused"] == "no", "running")


def test_the_panel_chooses_a_planner(stage, page):
    choose(page, "Planner", "external")
    stage.wait_for_report(lambda report: report.planner == "external", "has another planner")
    # Not before the page knows: what is chosen already cannot be chosen.
    page.wait_for(lambda: page.evaluate(chosen("Planner")) == "external", "the planner on the page")
    choose(page, "Planner", "neighbour")
    stage.wait_for_report(lambda report: report.planner == "neighbour", "has its old planner")


def test_orders_of_the_panel_reach_the_arm(stage, alone):
    alone.click(*pixel(alone, (0.1, 0.15)))
    stage.wait_for_report(lambda report: report.state != "Idle", "is sent somewhere")
    alone.click_button("Idle")
    stage.wait_for_state("Idle")


def test_what_another_tool_does_is_seen_on_the_page(stage, alone):
    stage.probe.trigger("arm_1/idle")
    alone.wait_for(lambda: "Idle" in alone.evaluate(TABLE), "an idle arm on the page")
    stage.send(1, 0.11, 0.13)
    alone.wait_for(lambda: "Idle" not in alone.evaluate(TABLE), "a busy arm on the page")


def test_a_reloaded_page_shows_the_same(stage, alone):
    stage.probe.trigger("arm_1/idle")
    alone.wait_for(lambda: "Idle" in alone.evaluate(TABLE), "an idle arm on the page")
    alone.command("Page.reload")
    alone.wait_for(lambda: "Idle" in alone.evaluate(TABLE), "the same after that")
