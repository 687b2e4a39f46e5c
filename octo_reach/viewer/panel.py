"""What stands beside the scene: what the arms do, and everything that can be asked of them."""

from __future__ import annotations

import html
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from viser import GuiEvent, ViserServer

from octo_reach.viewer.orders import (
    ACTIONS,
    Act,
    ChoosePlanner,
    Order,
    Pause,
    RemoveObject,
    ResetAll,
    Step,
)
from octo_reach.viewer.overlays import Wanted
from octo_reach.viewer.plots import hex_colour
from octo_reach.viewer.snapshot import SeenArm, SeenObject, Snapshot

ALL_ARMS = "all arms"
SEND = "send the arm there"
ADD = {f"add {kind} there": kind for kind in ("food", "obstacle", "hazard")}
NOTHING = "nothing"
SEVERAL = "several"
"""What stands for the planner of arms that have different ones."""

START_DARK = False
SMALLEST_RADIUS, LARGEST_RADIUS = 2.0, 60.0
"""Radii of objects that can be added, mm."""

SLOW = 0.95
"""Share of the steps there should be below which something is wrong."""

ANSWER_TIME = 1.0
"""How long a choice stands before what the topics say may take its place, s."""

PATIENCE = 60.0
"""How long an arm may go on with the planner it has until the one that was chosen is ready, s."""


@dataclass(frozen=True)
class PlannerChoice:
    """A planner that somebody chose for an arm.

    Attributes:
        planner: its name.
        before: name of the planner the arm had.
        since: when it was chosen, on a steady clock, s.
    """

    planner: str
    before: str
    since: float

    def stands(self, reported: str, now: float) -> bool:
        """Tell whether it is still to be seen instead of what the arm reports.

        A planner that is used for the first time is prepared beside the steps, for many seconds.

        Args:
            reported: name of the planner the arm has.
            now: the time on a steady clock, s.
        """
        age = now - self.since
        waiting = reported == self.before and reported != self.planner
        return age < ANSWER_TIME or (waiting and age < PATIENCE)


class Panel:
    """The panel; its callbacks hand orders over, and `show` brings it up to date.

    Attributes:
        chosen: number of the object that is chosen, or None.
    """

    def __init__(
        self,
        server: ViserServer,
        planners: Sequence[str],
        order: Callable[[Order], object],
        look: Callable[[GuiEvent], object],
    ) -> None:
        """Build it.

        Args:
            server: the page.
            planners: names of the planners there are.
            order: called with what somebody asks for.
            look: called when somebody wants the camera back above the scene.
        """
        self.chosen: int | None = None
        self._planners = tuple(planners)
        self._choices: dict[int, PlannerChoice] = {}
        self._order = order
        self._arms: tuple[SeenArm, ...] = ()
        self._objects: tuple[SeenObject, ...] = ()
        self._server = server
        gui = server.gui
        self._status = gui.add_html("")
        self._run = gui.add_button_group("Run", ("Pause", "Go on", "Step"))
        self._run.on_click(self._take_run)
        restart = gui.add_button(
            "Start over",
            hint="Arms as they were placed, with their first targets; objects and events from the"
            " beginning",
        )
        restart.on_click(lambda event: self._order(ResetAll()))
        with gui.add_folder("Arms"):
            self._arm = gui.add_dropdown(
                "Arm", (ALL_ARMS,), hint="Whom orders are for; or click its base"
            )
            self._planner = gui.add_dropdown("Planner", self._planners, hint="Moves the arm")
            self._planner.on_update(self._take_planner)
            self._acts = gui.add_button_group(
                "Order", tuple(action.capitalize() for action in ACTIONS)
            )
            self._acts.on_click(self._take_act)
            self._table = gui.add_html("")
        with gui.add_folder("Objects"):
            self._click = gui.add_dropdown(
                "A click will",
                (SEND, *ADD, NOTHING),
                hint="Targets and objects can be dragged; a click on an object chooses it",
            )
            self._radius = gui.add_slider(
                "Radius, mm", SMALLEST_RADIUS, LARGEST_RADIUS, step=1.0, initial_value=15.0
            )
            self._remove = gui.add_button("No object chosen", disabled=True)
            self._remove.on_click(self._take_remove)
        with gui.add_folder("View"):
            self._labels = gui.add_checkbox(
                "Names", False, hint="Name and state of every arm at its tip"
            )
            self._contacts = gui.add_checkbox("Contacts", True)
            self._requests = gui.add_checkbox(
                "Requests", False, hint="What neighbouring segments ask of each other; waypoints"
            )
            self._clearance = gui.add_checkbox("Clearance", False)
            self._ellipse = gui.add_checkbox(
                "Manipulability", False, hint="How easily the tip moves to every side"
            )
            self._dark = gui.add_checkbox("Dark", START_DARK)
            self._dark.on_update(lambda event: self._paint())
            self._above = gui.add_button("Look from above")
            self._above.on_click(look)
        self._paint()

    # What is chosen

    @property
    def arms(self) -> tuple[int, ...]:
        """Numbers of the arms that orders are for."""
        name = self._arm.value
        return tuple(arm.number for arm in self._arms if name in (ALL_ARMS, arm.name))

    @property
    def marked(self) -> tuple[int, ...]:
        """Numbers of the arms that are marked as chosen: none where there is no choice."""
        return self.arms if len(self._arms) > 1 else ()

    def choose_arm(self, arm: SeenArm) -> None:
        """Let orders be for an arm."""
        if arm.name in self._arm.options:
            self._arm.value = arm.name

    @property
    def sends(self) -> bool:
        """Whether a click sends the arm."""
        return self._click.value == SEND

    @property
    def adds(self) -> str | None:
        """Kind of object that a click adds, or None."""
        return ADD.get(self._click.value)

    @property
    def radius(self) -> float:
        """Radius of what is added, m."""
        return 1e-3 * float(self._radius.value)

    @property
    def labels(self) -> bool:
        """Whether names and states are to be seen."""
        return bool(self._labels.value)

    @property
    def contacts(self) -> bool:
        """Whether contacts are to be seen."""
        return bool(self._contacts.value)

    @property
    def wanted(self) -> Wanted:
        """What is to be drawn over the arms."""
        return Wanted(
            bool(self._requests.value), bool(self._clearance.value), bool(self._ellipse.value)
        )

    # Showing

    def show(self, snapshot: Snapshot) -> None:
        """Bring everything up to date."""
        names = tuple(arm.name for arm in snapshot.arms)
        if names != tuple(arm.name for arm in self._arms):
            options = names if len(names) == 1 else (ALL_ARMS, *names)
            kept = self._arm.value
            self._arm.options = options or (ALL_ARMS,)
            if kept not in options or kept == ALL_ARMS:
                self._arm.value = names[0] if names else ALL_ARMS
        self._put_right()
        self._arms = snapshot.arms
        self._objects = snapshot.objects
        self._status.content = _status(snapshot)
        self._show_planner(time.monotonic())
        self._table.content = _table(snapshot.arms, self.marked, self._choices)
        self._show_chosen()

    def _put_right(self) -> None:
        """Choose anew where a page chose what there is not: everybody has the same panel."""
        for choice in (self._arm, self._click):
            if choice.value not in choice.options:
                choice.value = choice.options[0]
        radius = min(max(self._radius.value, SMALLEST_RADIUS), LARGEST_RADIUS)
        if radius != self._radius.value:
            self._radius.value = radius

    def _show_planner(self, now: float) -> None:
        planners = {arm.number: arm.planner for arm in self._arms}
        self._choices = {
            number: choice
            for number, choice in self._choices.items()
            if number in planners and choice.stands(planners[number], now)
        }
        planners |= {number: choice.planner for number, choice in self._choices.items()}
        there = {planners[number] for number in self.arms}
        # Only where it is true: a list takes no notice when what it shows already is chosen.
        options = (SEVERAL, *self._planners) if len(there) > 1 else self._planners
        # Of the topics, not of what was clicked; a callback knows it by having no client.
        if options != self._planner.options:
            self._planner.options = options
        shown = SEVERAL if len(there) > 1 else next(iter(there), "")
        if shown in options:
            self._planner.value = shown

    def forget_planners(self) -> None:
        """Show the planners that the arms have: what was chosen was refused."""
        self._choices = {}

    def _show_chosen(self) -> None:
        thing = next((thing for thing in self._objects if thing.number == self.chosen), None)
        if thing is None:
            self.chosen = None
        self._remove.disabled = thing is None
        self._remove.label = "No object chosen" if thing is None else f"Remove {thing.name}"

    def _paint(self) -> None:
        self._server.gui.configure_theme(
            dark_mode=bool(self._dark.value),
            show_logo=False,
            show_share_button=False,
            brand_color=(47, 125, 225),
        )

    # Taking orders, in coroutines: plain functions may be called out of order

    async def _take_run(self, event: GuiEvent) -> None:
        wish = self._run.value
        self._order(Step() if wish == "Step" else Pause(wish == "Pause"))

    async def _take_act(self, event: GuiEvent) -> None:
        for arm in self.arms:
            self._order(Act(arm, self._acts.value.lower()))

    async def _take_planner(self, event: GuiEvent) -> None:
        planner = self._planner.value
        if event.client is None or planner not in self._planners:
            return
        now = time.monotonic()
        before = {arm.number: arm.planner for arm in self._arms}
        for arm in self.arms:
            self._choices[arm] = PlannerChoice(planner, before[arm], now)
            self._order(ChoosePlanner(arm, planner))

    async def _take_remove(self, event: GuiEvent) -> None:
        thing = next((thing for thing in self._objects if thing.number == self.chosen), None)
        if thing is not None:
            self._order(RemoveObject(thing.kind, thing.number))


_TABLE = "font-size:0.8em;margin:0.2em 0.6em;border-collapse:collapse;width:calc(100% - 1.2em)"
_CELL = "padding:1px 0 1px 6px;white-space:nowrap"
_WIDTHS = ("min-width:1.8em", "min-width:6.8em", "min-width:3.7em", "width:99%")
"""Widths of the table's columns: no figure moves when a word beside it changes."""
_MARK = "background:rgba(47,125,225,0.16)"
"""Behind the row of an arm that is chosen; pale enough for light and dark."""


def _status(snapshot: Snapshot) -> str:
    """Say how the nodes do, as HTML: what comes from topics is only text in it."""
    if not snapshot.controller:
        line, colour = "no controller is heard", "#d9534f"
    elif snapshot.paused:
        line, colour = "paused", "#e0a020"
    else:
        rate = 0.0 if math.isnan(snapshot.rate) else snapshot.rate
        wanted = f" of {snapshot.wanted_rate:g}" if snapshot.wanted_rate > 0.0 else ""
        line, colour = f"{rate:.1f}{wanted} steps a second", "#2e9e5b"
        if rate < SLOW * snapshot.wanted_rate:
            colour = "#e0a020"
    # What this line says already is no other problem.
    problems = [part for text in snapshot.problems for part in text.split("; ") if part != line]
    if snapshot.controller and not snapshot.world:
        line += "; no world is heard"
    # One line, there or not, so that no button moves away from under a pointer.
    notes = html.escape("; ".join(problems), quote=True)
    return (
        '<div style="font-size:0.85em;padding:0.2em 0.9em">'
        f'<span style="color:{colour}">&#9679;</span> {line}'
        f'<div title="{notes}" style="color:#d08020;height:1.5em;overflow:hidden;'
        f'white-space:nowrap;text-overflow:ellipsis">{notes}</div></div>'
    )


def _table(
    arms: Sequence[SeenArm], marked: Sequence[int], choices: Mapping[int, PlannerChoice]
) -> str:
    rows = []
    for arm in arms:
        known = not (arm.idle or math.isnan(arm.tip_error))
        error = f"{1e3 * arm.tip_error:.0f} mm" if known else ""
        does = [arm.holds]
        if arm.number in choices and choices[arm.number].planner != arm.planner:
            does.append(f"waits for {choices[arm.number].planner}")
        cells = (
            f'<span style="color:{hex_colour(arm.colour)}">&#9679;</span> {arm.number}',
            f'<span style="color:{hex_colour(arm.state_colour)}">&#9632;</span>'
            f" {html.escape(arm.state)}",
            f'<span style="font-variant-numeric:tabular-nums">{error}</span>',
            html.escape("; ".join(filter(None, does))),
        )
        planner = f"planner {arm.planner}" if arm.planner else ""
        title = html.escape("; ".join(filter(None, (planner, arm.note))), quote=True)
        row = "".join(
            f'<td style="{_CELL};{width}">{cell}</td>'
            for cell, width in zip(cells, _WIDTHS, strict=True)
        )
        style = f' style="{_MARK}"' if arm.number in marked else ""
        rows.append(f'<tr title="{title}"{style}>{row}</tr>')
    return f'<table style="{_TABLE}">{"".join(rows)}</table>'
