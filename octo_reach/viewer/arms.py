"""The arms in the scene: tapered, coloured by state, each with a target that can be dragged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import numpy as np
from viser import SceneApi, SceneNodeDragEvent

from octo_reach.viewer.pointing import Grip
from octo_reach.viewer.shapes import disc, ring, tube_faces, tube_vertices
from octo_reach.viewer.snapshot import BASE_SIZE, Colour, Point, SeenArm

SIDES = 8
"""Corners of an arm's cross section: seen from above, more would not show."""

CHOSEN_COLOUR = (40, 130, 255)
"""Colour of what shows that something is chosen."""

TARGET_SIZE = 0.028
"""Radius of a target as a share of the arm's length."""


def rgb(colour: Colour) -> tuple[int, int, int]:
    """Give a colour as three numbers from 0 to 255."""
    red, green, blue = (round(255 * part) for part in colour)
    return red, green, blue


class ArmDrawing:
    """One arm, its base, its target and its name."""

    def __init__(self, scene: SceneApi, arm: SeenArm, send: Callable[[int, Point], object]) -> None:
        """Draw it.

        Args:
            scene: where to.
            arm: the arm.
            send: called with the arm's number and the place its target is dragged to.
        """
        self.outline = outline(arm)
        self._number = arm.number
        self._send = send
        self._target: Point | None = None
        self._grip: Grip | None = None
        self._name = f"/arms/{arm.name}"
        root = self._name
        segments = len(arm.joints) - 1
        thick = arm.base_radius
        size = TARGET_SIZE * float(np.hypot(*np.diff(arm.joints, axis=0).T).sum())
        self._height = thick
        self._joints = arm.joints
        self._root = scene.add_frame(root, show_axes=False)
        self._body = scene.add_mesh_simple(
            f"{root}/body",
            self._vertices(arm),
            tube_faces(segments, SIDES),
            color=rgb(arm.state_colour),
            cast_shadow=False,
            receive_shadow=False,
        )
        vertices, faces = disc()
        x, y = arm.joints[0].tolist()
        scene.add_mesh_simple(
            f"{root}/base",
            vertices
            * np.array([BASE_SIZE * thick, BASE_SIZE * thick, 2.6 * thick], dtype=np.float32),
            faces,
            color=rgb(arm.colour),
            position=(x, y, 0.0),
            cast_shadow=False,
            receive_shadow=False,
        )
        vertices, faces = ring(inner=0.78)
        self._chosen = scene.add_mesh_simple(
            f"{root}/chosen",
            vertices * np.float32(1.8 * BASE_SIZE * thick),
            faces,
            color=CHOSEN_COLOUR,
            position=(x, y, 2.7 * thick),
            visible=False,
            cast_shadow=False,
            receive_shadow=False,
        )
        self._label = scene.add_label(
            f"{root}/label", arm.name, font_screen_scale=0.85, anchor="bottom-center"
        )
        # A wide, pale disc to take hold of, and a ring and a dot that tell where it is.
        vertices, faces = disc()
        self._mark = scene.add_frame(f"{root}/target", show_axes=False)
        self._handle = scene.add_mesh_simple(
            f"{root}/target/handle",
            vertices * np.array([size, size, 0.3 * size], dtype=np.float32),
            faces,
            color=rgb(arm.colour),
            opacity=0.35,
            cast_shadow=False,
            receive_shadow=False,
        )
        vertices, faces = ring()
        for name, radius in (("ring", size), ("dot", 0.25 * size)):
            scene.add_mesh_simple(
                f"{root}/target/{name}",
                vertices * np.float32(radius) if name == "ring" else disc()[0] * np.float32(radius),
                faces if name == "ring" else disc()[1],
                color=rgb(arm.colour),
                position=(0.0, 0.0, 0.35 * size),
                cast_shadow=False,
                receive_shadow=False,
            )
        self._handle.on_drag("left")(self._drag)
        self.show(arm, labels=False, chosen=False)

    def show(self, arm: SeenArm, labels: bool, chosen: bool) -> None:
        """Draw it as it is now.

        Args:
            arm: the arm.
            labels: whether its name and state are written beside its tip.
            chosen: whether it has a ring around its base.
        """
        if not np.array_equal(arm.joints, self._joints):
            self._joints = arm.joints
            self._body.vertices = self._vertices(arm)
        self._body.color = rgb(arm.state_colour)
        self._target = arm.target
        self._mark.visible = arm.target is not None and not arm.idle
        if arm.target is not None:
            self._mark.position = (*arm.target, 2.2 * self._height)
        self._chosen.visible = chosen
        self._label.visible = labels
        if labels:
            x, y = arm.joints[-1].tolist()
            self._label.text = f"{arm.name}: {arm.state}" if arm.state else arm.name
            self._label.position = (x, y + 5.0 * self._height, 4.0 * self._height)

    def remove(self) -> None:
        """Take it out of the scene."""
        self._root.remove()

    def _vertices(self, arm: SeenArm) -> np.ndarray:
        return tube_vertices(arm.joints, arm.base_radius, arm.tip_radius, SIDES, self._height)

    async def _drag(self, event: SceneNodeDragEvent) -> None:
        # Not a plain function: those may be called out of order.
        if event.phase == "start" and self._target is not None:
            self._grip = Grip(event.start_position, self._target)
        place = self._grip and self._grip.drag(
            event.client.camera.position.tolist(), event.end_position
        )
        if place:
            self._send(self._number, place)
        if event.phase == "end":
            self._grip = None


def outline(arm: SeenArm) -> tuple[object, ...]:
    """Give what an arm must be drawn anew for when it changes."""
    base = tuple(arm.joints[0].tolist())
    return len(arm.joints), arm.base_radius, arm.tip_radius, arm.colour, base


class ArmsDrawing:
    """All arms."""

    def __init__(self, scene: SceneApi, send: Callable[[int, Point], object]) -> None:
        """Draw none yet; see `ArmDrawing`."""
        self._scene = scene
        self._send = send
        self._drawn: dict[int, ArmDrawing] = {}

    def show(self, arms: Iterable[SeenArm], labels: bool, chosen: Collection[int]) -> None:
        """Draw these arms as they are now, and no others.

        Args:
            arms: the arms.
            labels: whether name and state are written beside every tip.
            chosen: numbers of those that have a ring around their base.
        """
        there = {arm.number: arm for arm in arms}
        for number, drawn in list(self._drawn.items()):
            if number not in there or outline(there[number]) != drawn.outline:
                drawn.remove()
                del self._drawn[number]
        for number, arm in there.items():
            if number not in self._drawn:
                self._drawn[number] = ArmDrawing(self._scene, arm, self._send)
            self._drawn[number].show(arm, labels, number in chosen)
