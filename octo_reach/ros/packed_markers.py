"""Markers that stay bytes, and the array of them that is published."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from visualization_msgs.msg import Marker

from octo_reach.model.geometry import Floats
from octo_reach.ros.colours import Colour
from octo_reach.ros.encoding import HEADER, encode_fields
from octo_reach.ros.packed import PackedPart

_FIELDS = tuple(Marker.get_fields_and_field_types())
_BEFORE = frozenset(_FIELDS[: _FIELDS.index("points")])
_BEHIND = frozenset(_FIELDS[_FIELDS.index("colors") + 1 :])
_COUNT = struct.Struct("<I")
_PHASES = (0, _COUNT.size)
"""Where a marker may begin, from a multiple of 8 bytes on: at a multiple of 4."""
_POINT = 8
"""Size of a coordinate, byte."""

NO_COLOURS: NDArray[np.float32] = np.empty((0, 4), dtype="<f4")


def empty_points(count: int) -> Floats:
    """Give so many points for a marker, shape (K, 3), all zero."""
    return np.zeros((count, 3), dtype="<f8")


class PackedMarker:
    """One marker as bytes: encoded once, then changed in place.

    Its bytes are those before the points, which depend on where in the message it lies; the
    points; and what is behind them.

    Attributes:
        namespace: its namespace.
        number: its id.
        points: its points, shape (K, 3), m.
    """

    def __init__(self, marker: Marker) -> None:
        """Encode a marker.

        Args:
            marker: all but its points and their colours; those come by `draw`.
        """
        self.namespace, self.number = marker.ns, marker.id
        self._marker = marker
        self._heads = [PackedPart(marker, phase, _BEFORE) for phase in _PHASES]
        self._actions = [head.numbers("action") for head in self._heads]
        self._positions = [head.numbers("pose.position") for head in self._heads]
        self._colours = [head.numbers("color") for head in self._heads]
        self._shown = marker.action != Marker.DELETE
        self._rest, _ = encode_fields(marker, 0, _BEHIND)
        self.draw(empty_points(0))

    def show(self, shown: bool) -> None:
        """Say that the marker is to be drawn, or taken away."""
        if shown is not self._shown:
            self._shown = shown
            for action in self._actions:
                action[0] = Marker.ADD if shown else Marker.DELETE

    def move(self, x: float, y: float) -> None:
        """Put the marker somewhere else, m; the height stays."""
        for position in self._positions:
            position[0] = x
            position[1] = y

    def paint(self, colour: Colour) -> None:
        """Change the colour; the opacity stays."""
        for view in self._colours:
            view[:3] = colour

    def write(self, text: str) -> None:
        """Change the text."""
        self._marker.text = text
        self._rest, _ = encode_fields(self._marker, 0, _BEHIND)
        self._finish()

    def draw(self, points: Floats, colours: NDArray[np.float32] = NO_COLOURS) -> None:
        """Take points.

        Args:
            points: shape (K, 3), m, of `empty_points`. What is changed in them later counts.
            colours: red, green, blue and opacity of each, shape (K, 4), little-endian float32, or
                none. They are copied.
        """
        self.points = points
        self._point_colours = colours
        self._middles = []
        for phase, head in zip(_PHASES, self._heads, strict=True):
            end = phase + head.size
            middle = bytes(-end % _COUNT.size) + _COUNT.pack(len(points))
            if len(points):
                middle += bytes(-(end + len(middle)) % _POINT)
            self._middles.append(middle)
        self._finish()

    def _finish(self) -> None:
        """Encode what is behind the points. All of that lies at multiples of 4 bytes."""
        colours = self._point_colours
        self._end = _COUNT.pack(len(colours)) + colours.tobytes() + self._rest

    def add_to(self, parts: list[Any], position: int) -> int:
        """Append the bytes to a message.

        Args:
            parts: the message so far.
            position: how many bytes that is, those of `HEADER` left out.

        Returns:
            How many it is then.
        """
        gap = -position % _COUNT.size
        phase = (position + gap) // _COUNT.size % len(_PHASES)
        head, middle = self._heads[phase], self._middles[phase]
        parts += (bytes(gap), head.data, middle, self.points, self._end)
        size = gap + head.size + len(middle) + self.points.nbytes + len(self._end)
        return position + size


def marker_array(markers: Iterable[PackedMarker]) -> bytes:
    """Give markers as a `MarkerArray`, encoded."""
    parts: list[Any] = []
    position = _COUNT.size
    count = 0
    for marker in markers:
        position = marker.add_to(parts, position)
        count += 1
    return b"".join((HEADER, _COUNT.pack(count), *parts))
