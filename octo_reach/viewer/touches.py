"""Contacts: they light up when they begin, and fade when they end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from viser import SceneApi

from octo_reach.viewer.shapes import disc
from octo_reach.viewer.snapshot import Touch

FLASH = 0.35
"""How long a contact stands out after it began, s."""
FADE = 0.25
"""How long it is still seen after it has ended, s."""
RESTING = 1.0
FLASHING = 2.4
ROOM = 96
"""Most contacts that are drawn."""


@dataclass
class _Light:
    touch: Touch
    begun: float
    seen: float


class Flashes:
    """Remembers contacts as long as they are to be seen."""

    def __init__(self) -> None:
        """Start with none."""
        self._lights: dict[tuple[int, int, int], _Light] = {}

    def note(self, touches: Iterable[Touch], now: float) -> list[tuple[Touch, float]]:
        """Take in what touches now.

        Args:
            touches: the contacts.
            now: the time on a steady clock, s.

        Returns:
            The contacts to draw and how large: `FLASHING` when new, `RESTING` after `FLASH`, and
            smaller and smaller once they have ended.
        """
        for touch in touches:
            light = self._lights.get(touch.who)
            if light is None:
                self._lights[touch.who] = _Light(touch, now, now)
            else:
                light.touch, light.seen = touch, now
        drawn = []
        for who, light in list(self._lights.items()):
            gone = (now - light.seen) / FADE
            if gone >= 1.0:
                del self._lights[who]
                continue
            new = max(0.0, 1.0 - (now - light.begun) / FLASH)
            size = (RESTING + (FLASHING - RESTING) * new) * (1.0 - gone)
            drawn.append((light.touch, size))
        return drawn


class TouchDrawing:
    """The contacts in the scene."""

    def __init__(self, scene: SceneApi) -> None:
        """Draw none yet."""
        vertices, faces = disc(16, 0.4)
        self._flashes = Flashes()
        self._positions = np.zeros((ROOM, 3), dtype=np.float32)
        self._scales = np.zeros((ROOM, 3), dtype=np.float32)
        self._colours = np.full((ROOM, 3), 255, dtype=np.uint8)
        # A fixed number of them, most of size zero: their number then never changes half way.
        self._mesh = scene.add_batched_meshes_simple(
            "/contacts",
            vertices,
            faces,
            np.tile(np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32), (ROOM, 1)),
            self._positions,
            batched_scales=self._scales,
            batched_colors=self._colours,
            lod="off",
            cast_shadow=False,
            receive_shadow=False,
        )

    def show(self, touches: Iterable[Touch], size: float, now: float) -> None:
        """Draw what touches.

        Args:
            touches: the contacts.
            size: radius of one at rest, m.
            now: the time on a steady clock, s.
        """
        drawn = self._flashes.note(touches, now)[:ROOM]
        self._scales[:] = 0.0
        for place, (touch, share) in enumerate(drawn):
            self._positions[place] = (*touch.position, 3.0 * size)
            self._scales[place] = (share * size, share * size, size)
            self._colours[place] = [round(255 * part) for part in touch.colour]
        self._mesh.batched_positions = self._positions
        self._mesh.batched_scales = self._scales
        self._mesh.batched_colors = self._colours

    def hide(self, hidden: bool) -> None:
        """Take all of them out of sight, or not."""
        self._mesh.visible = not hidden
