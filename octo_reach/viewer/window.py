"""The whole page: the scene, the panel and the plots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from viser import CameraHandle, ClientHandle, GuiEvent, SceneClickEvent

from octo_reach.viewer.arms import ArmsDrawing
from octo_reach.viewer.objects import ObjectsDrawing
from octo_reach.viewer.orders import Order, Orders, PutObject, SendArm
from octo_reach.viewer.overlays import OverlaysDrawing
from octo_reach.viewer.panel import Panel
from octo_reach.viewer.plots import Plots
from octo_reach.viewer.pointing import plane_hit
from octo_reach.viewer.server import LocalServer
from octo_reach.viewer.snapshot import Point, SeenObject, Snapshot
from octo_reach.viewer.touches import TouchDrawing

PANEL_PERIOD = 0.25
"""Time between two updates of the panel and the plots, s."""

FIELD_OF_VIEW = math.radians(30.0)
"""Narrow, so that what is high does not lean outwards."""

SETTLING = 3.0
"""How long after it came a page has the scene fitted whatever its camera tells meanwhile, s."""

UNTOUCHED = 1e-3
"""Farthest a camera is from where it was put, as a share of its distance, if nobody moved it."""

MARGIN = 1.12
"""How much more than the arms' reach is in sight."""


@dataclass
class _View:
    """How a page looks at the scene.

    Attributes:
        since: when it came, on a steady clock, s.
        size: size of its picture when the scene was last fitted into it, pixels.
        eye: where its camera was put then, (x, y, z), m.
        middle: what it was made to look at, (x, y, z), m.
    """

    since: float
    size: tuple[int, int] | None = None
    eye: tuple[float, float, float] = (0.0, 0.0, 0.0)
    middle: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def is_untouched(self, camera: CameraHandle) -> bool:
        """Tell whether nobody has turned, shifted or zoomed it since."""
        farthest = UNTOUCHED * math.dist(self.eye, self.middle)
        return (
            self.size is not None
            and math.dist(self.eye, camera.position.tolist()) <= farthest
            and math.dist(self.middle, camera.look_at.tolist()) <= farthest
        )


class Window:
    """A page that any number of browsers look at, all at the same."""

    def __init__(self, server: LocalServer, planners: Sequence[str]) -> None:
        """Lay out the page.

        Args:
            server: serves it.
            planners: names of the planners there are.
        """
        self.orders = Orders()
        self._server = server
        self._snapshot = Snapshot()
        self._panel_time = -math.inf
        self._reach: tuple[float, float, float] | None = None
        self._views: dict[int, _View] = {}
        scene = server.scene
        scene.set_up_direction("+z")
        scene.configure_default_lights(True, cast_shadow=False)
        scene.configure_environment_map(None)
        scene.add_light_ambient("/light", intensity=0.55)
        scene.world_axes.visible = False
        self._grid = scene.add_grid("/ground", 2.0, 2.0, visible=False)
        self._arms = ArmsDrawing(scene, self._send)
        self._objects = ObjectsDrawing(scene, self._move)
        self._touches = TouchDrawing(scene)
        self._overlays = OverlaysDrawing(scene)
        self._panel = Panel(server, planners, self.orders.put, self._look_from_above)
        plots = server.gui.add_panel()
        with plots.add_tab("Plots"):
            self._plots = Plots(server.gui)
        plots.dock_left()
        plots.set_width(320)
        server.gui.main_panel.dock_right()
        server.gui.main_panel.set_width(360)
        scene.on_click()(self._click)

    # What is asked for

    @property
    def watched(self) -> bool:
        """Whether a browser is there."""
        return bool(self._server.get_clients())

    @property
    def wants_thoughts(self) -> bool:
        """Whether somebody wants to see what is not to be seen of an arm by itself."""
        return self.watched and any(vars(self._panel.wanted).values())

    def take_orders(self) -> list[Order]:
        """Give what was asked for since the last call, the oldest first."""
        return self.orders.take()

    def tell(self, title: str, text: str, bad: bool = False) -> None:
        """Tell whoever looks that something was done, or why not.

        Args:
            title: what it is about.
            text: the rest of it.
            bad: whether it was not done.
        """
        for client in self._server.get_clients().values():
            with self._server.faults.contain("telling a page"):
                client.add_notification(
                    title,
                    text,
                    auto_close_seconds=8.0 if bad else 3.0,
                    color="red" if bad else "green",
                )

    def forget_planners(self) -> None:
        """Show the planners that the arms have: what was chosen was refused."""
        self._panel.forget_planners()

    # Showing

    def show(self, snapshot: Snapshot, now: float) -> None:
        """Let the page show what there is; only what has changed is sent.

        Args:
            snapshot: what there is.
            now: the time on a steady clock, s.
        """
        self._snapshot = snapshot
        self._plots.note(snapshot, now)
        self._frame(snapshot)
        if not self.watched:
            return
        self._fit(now)
        panel = self._panel
        with self._server.atomic():
            self._arms.show(snapshot.arms, panel.labels, panel.marked)
            self._objects.show(snapshot.objects, panel.chosen)
            self._touches.hide(not panel.contacts)
            if panel.contacts:
                size = max((arm.base_radius for arm in snapshot.arms), default=0.003)
                self._touches.show(snapshot.touches, 1.3 * size, now)
            self._overlays.show(snapshot.arms, snapshot.thoughts, panel.wanted)
            if now - self._panel_time >= PANEL_PERIOD:
                self._panel_time = now
                panel.show(snapshot)
                self._plots.show(snapshot)

    def close(self) -> None:
        """Close the page."""
        self._server.stop()

    # The camera

    def _frame(self, snapshot: Snapshot) -> None:
        """Look at the arms from above as soon as they, or others, are there."""
        reach = _reach(snapshot)
        if reach is None or reach == self._reach:
            return
        self._reach = reach
        x, y, radius = reach
        camera = self._server.initial_camera
        camera.fov = FIELD_OF_VIEW
        camera.near = 0.02 * radius
        camera.far = 200.0 * radius
        camera.look_at = (x, y, 0.0)
        camera.position = _eye(reach, 1.0)
        for client in self._server.get_clients().values():
            self._aim(client)
        self._grid.remove()
        cell = 10.0 ** math.floor(math.log10(radius)) / 2.0
        size = 2.0 * cell * math.ceil(3.0 * radius / (2.0 * cell)) * 2.0
        self._grid = self._server.scene.add_grid(
            "/ground",
            size,
            size,
            position=(round(x / cell) * cell, round(y / cell) * cell, -0.001 * radius),
            cell_size=cell,
            section_size=2.0 * cell,
            cell_color=(150, 150, 155),
            section_color=(120, 120, 128),
            cell_thickness=0.4,
            section_thickness=0.7,
            shadow_opacity=0.0,
            fade_distance=40.0 * radius,
        )

    def _fit(self, now: float) -> None:
        """Fit the scene into every page that is new, or of another size than before."""
        clients = self._server.get_clients()
        for number in [number for number in self._views if number not in clients]:
            del self._views[number]
        for number, client in clients.items():
            view = self._views.setdefault(number, _View(now))
            camera = client.camera
            with self._server.faults.contain("aiming a page's camera"):
                # A view that somebody has chosen stays as it is. A new page tells its size only
                # when its panels have docked.
                if (camera.image_width, camera.image_height) != view.size and (
                    now - view.since < SETTLING or view.is_untouched(camera)
                ):
                    self._aim(client)

    def _aim(self, client: ClientHandle) -> None:
        """Let a page look at all of it from above; whatever becomes of that is no one else's."""
        if self._reach is None:
            return
        x, y, _ = self._reach
        camera = client.camera
        with self._server.faults.contain("aiming a page's camera"), client.atomic():
            width, height = camera.image_width, camera.image_height
            eye = _eye(self._reach, width / max(1, height))
            camera.fov = FIELD_OF_VIEW
            camera.up_direction = (0.0, 0.0, 1.0)
            camera.position = np.array(eye)
            # After that: with the position what it looks at is moved along.
            camera.look_at = (x, y, 0.0)
            if (view := self._views.get(client.client_id)) is not None:
                view.size, view.eye, view.middle = (width, height), eye, (x, y, 0.0)

    def _look_from_above(self, event: GuiEvent) -> None:
        client: ClientHandle | None = event.client
        if client is not None:
            self._aim(client)

    # Pointing

    def _send(self, arm: int, place: Point) -> None:
        self.orders.put(SendArm(arm, place))

    def _move(self, thing: SeenObject, place: Point) -> None:
        self._panel.chosen = thing.number
        self.orders.put(PutObject(thing.kind, place, thing.radius, thing.number))

    async def _click(self, event: SceneClickEvent) -> None:
        place = plane_hit(event.ray_origin, event.ray_direction)
        if place is None:
            return
        arm, thing = self._snapshot.arm_at(place), self._snapshot.object_at(place)
        if arm is not None:
            self._panel.choose_arm(arm)
        elif thing is not None:
            self._panel.chosen = thing.number
        elif self._panel.sends:
            for number in self._panel.arms:
                self._send(number, place)
        elif (kind := self._panel.adds) is not None:
            self.orders.put(PutObject(kind, place, self._panel.radius))


def _reach(snapshot: Snapshot) -> tuple[float, float, float] | None:
    """Give centre and radius of all that the arms can reach, (x, y, r), m; None without arms."""
    if not snapshot.arms:
        return None
    bases = np.array([arm.joints[0] for arm in snapshot.arms])
    lengths = [float(np.hypot(*np.diff(arm.joints, axis=0).T).sum()) for arm in snapshot.arms]
    low = (bases.T - lengths).min(axis=1)
    high = (bases.T + lengths).max(axis=1)
    x, y = ((low + high) / 2.0).tolist()
    # Rounded, so that digits lost on the way here do not move the camera.
    return round(x, 4), round(y, 4), round(float((high - low).max()) / 2.0, 4)


def _eye(reach: tuple[float, float, float], aspect: float) -> tuple[float, float, float]:
    """Give where the camera sees all of it from above, y up in the picture.

    Args:
        reach: centre and radius of what is to be seen, (x, y, r), m.
        aspect: width of the picture over its height.
    """
    x, y, radius = reach
    fitting = min(1.0, max(0.2, aspect))
    distance = MARGIN * radius / (math.tan(FIELD_OF_VIEW / 2.0) * fitting)
    return x, y - 1e-3 * distance, distance
