"""What is drawn over the arms when somebody asks for it: requests, clearance, manipulability."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from viser import LineSegmentsHandle, MeshHandle, SceneApi

from octo_reach.model.geometry import Floats
from octo_reach.viewer.arms import SIDES, rgb
from octo_reach.viewer.shapes import tube_faces, tube_vertices
from octo_reach.viewer.snapshot import SeenArm, SeenThoughts


@dataclass(frozen=True)
class Wanted:
    """What somebody asked to see.

    Attributes:
        requests: requests between neighbours, and waypoints.
        clearance: the distance that is kept from obstacles.
        ellipses: manipulability ellipses of the tips.
    """

    requests: bool = False
    clearance: bool = False
    ellipses: bool = False


class Lines:
    """Lines of one colour under a name: drawn when there are some."""

    def __init__(self, scene: SceneApi, name: str, thickness: float) -> None:
        """Draw none yet.

        Args:
            scene: where to.
            name: name of the scene's node.
            thickness: of the lines, pixels.
        """
        self._scene = scene
        self._name = name
        self._thickness = thickness
        self._handle: LineSegmentsHandle | None = None

    def show(self, lines: Floats, colour: tuple[int, int, int], height: float) -> None:
        """Draw these lines and no others.

        Args:
            lines: their ends, shape (K, 2, 2), m.
            colour: their colour.
            height: how high they lie, m.
        """
        if not len(lines):
            self.remove()
            return
        points = np.full((len(lines), 2, 3), height, dtype=np.float32)
        points[:, :, :2] = lines
        if self._handle is None or self._handle.points.shape != points.shape:
            self.remove()
            self._handle = self._scene.add_line_segments(
                self._name, points, colour, thickness=self._thickness, thickness_units="screen"
            )
        else:
            self._handle.points = points

    def remove(self) -> None:
        """Take them out of the scene."""
        if self._handle is not None:
            self._handle.remove()
            self._handle = None


class _ArmOverlays:
    """What is drawn over one arm."""

    def __init__(self, scene: SceneApi, arm: SeenArm) -> None:
        self._scene = scene
        self._name = f"/overlays/{arm.name}"
        self._requests = Lines(scene, f"{self._name}/requests", 1.5)
        self._waypoints = Lines(scene, f"{self._name}/waypoints", 3.0)
        self._ellipse = Lines(scene, f"{self._name}/ellipse", 2.0)
        self._clearance: MeshHandle | None = None
        self._clearance_shape: tuple[float, int] = (0.0, 0)

    def show(self, arm: SeenArm, thoughts: SeenThoughts | None, wanted: Wanted) -> None:
        high = 3.0 * arm.base_radius
        nothing: Floats = np.empty((0, 2, 2))
        requests = crosses = nothing
        if thoughts is not None and wanted.requests:
            requests, crosses = thoughts.requests, _crosses(thoughts.waypoints, arm.base_radius)
        self._requests.show(requests, rgb(arm.colour), high)
        self._waypoints.show(crosses, (240, 150, 20), 1.1 * high)
        clear = thoughts is not None and wanted.clearance
        self._show_clearance(arm, thoughts.clearance if thoughts and clear else 0.0)
        ellipse = nothing
        if thoughts is not None and wanted.ellipses:
            ellipse = np.stack((thoughts.ellipse[:-1], thoughts.ellipse[1:]), axis=1)
        self._ellipse.show(ellipse, rgb(arm.colour), high)

    def _show_clearance(self, arm: SeenArm, clearance: float) -> None:
        shape = (clearance, len(arm.joints))
        if shape != self._clearance_shape and self._clearance is not None:
            self._clearance.remove()
            self._clearance = None
        self._clearance_shape = shape
        if clearance <= 0.0:
            return
        vertices = tube_vertices(arm.joints, clearance, clearance, SIDES)
        # Flat, and under everything else.
        vertices[:, 2] *= 0.05
        if self._clearance is None:
            self._clearance = self._scene.add_mesh_simple(
                f"{self._name}/clearance",
                vertices,
                tube_faces(len(arm.joints) - 1, SIDES),
                color=rgb(arm.colour),
                opacity=0.3,
                cast_shadow=False,
                receive_shadow=False,
            )
        else:
            self._clearance.vertices = vertices

    def remove(self) -> None:
        for lines in (self._requests, self._waypoints, self._ellipse):
            lines.remove()
        if self._clearance is not None:
            self._clearance.remove()


def _crosses(points: Floats, size: float) -> Floats:
    """Give a small cross for each point, shape (2 K, 2, 2)."""
    arms = size * np.array([[[-1.0, -1.0], [1.0, 1.0]], [[-1.0, 1.0], [1.0, -1.0]]])
    return (points[:, None, None, :] + arms).reshape(-1, 2, 2)


class OverlaysDrawing:
    """What is drawn over all arms."""

    def __init__(self, scene: SceneApi) -> None:
        """Draw nothing yet."""
        self._scene = scene
        self._drawn: dict[int, _ArmOverlays] = {}

    def show(
        self, arms: Iterable[SeenArm], thoughts: Mapping[int, SeenThoughts], wanted: Wanted
    ) -> None:
        """Draw what was asked for.

        Args:
            arms: the arms.
            thoughts: what is known of it, by arm number.
            wanted: what of it is to be seen.
        """
        there = {arm.number: arm for arm in arms} if any(vars(wanted).values()) else {}
        for number in [number for number in self._drawn if number not in there]:
            self._drawn.pop(number).remove()
        for number, arm in there.items():
            if number not in self._drawn:
                self._drawn[number] = _ArmOverlays(self._scene, arm)
            self._drawn[number].show(arm, thoughts.get(number), wanted)
