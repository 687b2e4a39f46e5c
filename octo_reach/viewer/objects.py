"""The objects in the scene, which can be dragged."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from viser import SceneApi, SceneNodeDragEvent

from octo_reach.viewer.arms import CHOSEN_COLOUR, rgb
from octo_reach.viewer.pointing import Grip
from octo_reach.viewer.shapes import disc, ring
from octo_reach.viewer.snapshot import Point, SeenObject

HEIGHT = 0.01
"""Height of an object, m."""


class ObjectDrawing:
    """One object."""

    def __init__(
        self, scene: SceneApi, thing: SeenObject, move: Callable[[SeenObject, Point], object]
    ) -> None:
        """Draw it.

        Args:
            scene: where to.
            thing: the object.
            move: called with it and the place it is dragged to.
        """
        self.outline = outline(thing)
        self._thing = thing
        self._move = move
        self._grip: Grip | None = None
        vertices, faces = disc(bevel=0.45 if thing.kind == "food" else 0.15)
        size = np.array([thing.radius, thing.radius, HEIGHT], dtype=np.float32)
        self._mesh = scene.add_mesh_simple(
            f"/objects/{thing.kind}_{thing.number}",
            vertices * size,
            faces,
            color=rgb(thing.colour),
            position=(*thing.position, 0.0),
            cast_shadow=False,
            receive_shadow=False,
        )
        self._mesh.on_drag("left")(self._drag)

    def show(self, thing: SeenObject) -> None:
        """Draw it where it is now."""
        self._thing = thing
        self._mesh.position = (*thing.position, 0.0)

    def remove(self) -> None:
        """Take it out of the scene."""
        self._mesh.remove()

    async def _drag(self, event: SceneNodeDragEvent) -> None:
        # Not a plain function: those may be called out of order.
        if event.phase == "start":
            self._grip = Grip(event.start_position, self._thing.position)
        place = self._grip and self._grip.drag(
            event.client.camera.position.tolist(), event.end_position
        )
        if place:
            self._move(self._thing, place)
        if event.phase == "end":
            self._grip = None


def outline(thing: SeenObject) -> tuple[object, ...]:
    """Give what an object must be drawn anew for when it changes."""
    return thing.kind, thing.radius, thing.colour


class ObjectsDrawing:
    """All objects, and a ring around the one that is chosen."""

    def __init__(self, scene: SceneApi, move: Callable[[SeenObject, Point], object]) -> None:
        """Draw none yet; see `ObjectDrawing`."""
        self._scene = scene
        self._move = move
        self._drawn: dict[int, ObjectDrawing] = {}
        vertices, faces = ring(inner=0.86)
        self._ring = scene.add_mesh_simple(
            "/chosen",
            vertices,
            faces,
            color=CHOSEN_COLOUR,
            visible=False,
            cast_shadow=False,
            receive_shadow=False,
        )

    def show(self, objects: Iterable[SeenObject], chosen: int | None) -> None:
        """Draw these objects as they are now, and no others.

        Args:
            objects: the objects.
            chosen: number of the one that is chosen, or None.
        """
        there = {thing.number: thing for thing in objects}
        for number, drawn in list(self._drawn.items()):
            if number not in there or outline(there[number]) != drawn.outline:
                drawn.remove()
                del self._drawn[number]
        for number, thing in there.items():
            if number in self._drawn:
                self._drawn[number].show(thing)
            else:
                self._drawn[number] = ObjectDrawing(self._scene, thing, self._move)
        ringed = None if chosen is None else there.get(chosen)
        self._ring.visible = ringed is not None
        if ringed is not None:
            self._ring.scale = ringed.radius + 0.006
            self._ring.position = (*ringed.position, 1.1 * HEIGHT)
