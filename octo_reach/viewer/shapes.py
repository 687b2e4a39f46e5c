"""The geometry of what is drawn: vertices and faces, as numpy arrays."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from octo_reach.model.geometry import Floats

Vertices = NDArray[np.float32]
Faces = NDArray[np.uint32]

TIP_RINGS = (math.radians(40.0), math.radians(70.0), math.radians(90.0))
"""Where rings lie on the rounded tip of a tube, rad from its last full ring."""


def tube_vertices(
    joints: Floats, base_radius: float, tip_radius: float, sides: int, height: float = 0.0
) -> Vertices:
    """Give the surface of a tapered tube that lies in the plane and ends in a round tip.

    Args:
        joints: its centre line, shape (N + 1, 2), m.
        base_radius: radius at the first point, m.
        tip_radius: radius at the last, m.
        sides: number of corners of a ring.
        height: how high its centre line lies, m.

    Returns:
        Shape ((N + 1 + len(TIP_RINGS)) * sides, 3), m, ring by ring.
    """
    steps = np.diff(joints, axis=0)
    lengths = np.maximum(np.hypot(steps[:, 0], steps[:, 1]), 1e-12)
    along = steps / lengths[:, None]
    mean = np.vstack((along[:1], along[:-1] + along[1:], along[-1:]))
    mean /= np.maximum(np.hypot(mean[:, 0], mean[:, 1]), 1e-12)[:, None]
    radii = np.linspace(base_radius, tip_radius, len(joints))
    turns = np.array(TIP_RINGS)
    centres = np.vstack((joints, joints[-1] + np.outer(tip_radius * np.sin(turns), along[-1])))
    mean = np.vstack((mean, np.repeat(along[-1:], len(turns), axis=0)))
    radii = np.concatenate((radii, tip_radius * np.cos(turns)))

    around = np.arange(sides) * (2.0 * math.pi / sides)
    across = radii[:, None] * np.cos(around)
    vertices = np.empty((len(centres), sides, 3), dtype=np.float32)
    vertices[:, :, 0] = centres[:, :1] - mean[:, 1:] * across
    vertices[:, :, 1] = centres[:, 1:] + mean[:, :1] * across
    vertices[:, :, 2] = height + radii[:, None] * np.sin(around)
    return vertices.reshape(-1, 3)


def tube_faces(segments: int, sides: int) -> Faces:
    """Give the triangles of `tube_vertices`, seen from outside counter-clockwise.

    Args:
        segments: number of segments of the centre line, N.
        sides: number of corners of a ring.

    Returns:
        Shape (2 * (N + len(TIP_RINGS)) * sides, 3).
    """
    rings = segments + len(TIP_RINGS)
    ring, corner = (part.ravel() for part in np.mgrid[0:rings, 0:sides])
    following = (corner + 1) % sides
    a, b = ring * sides + corner, ring * sides + following
    c, d = a + sides, b + sides
    return np.concatenate((np.stack((a, b, d), 1), np.stack((a, d, c), 1))).astype(np.uint32)


def disc(sides: int = 40, bevel: float = 0.2) -> tuple[Vertices, Faces]:
    """Give a flat cylinder of radius 1 from z = 0 to 1 with a bevelled upper edge.

    Args:
        sides: number of corners.
        bevel: width of the bevel, as a share of the radius.

    Returns:
        Vertices, shape (V, 3), and faces, shape (F, 3).
    """
    # Every edge has vertices of its own for either side, or shading would round the flat top.
    outline = ((1.0, 0.0), (1.0, 0.55), (1.0, 0.55), (1.0 - bevel, 1.0), (1.0 - bevel, 1.0))
    around = np.arange(sides) * (2.0 * math.pi / sides)
    rings = [
        np.stack((radius * np.cos(around), radius * np.sin(around), np.full(sides, z)), 1)
        for radius, z in outline
    ]
    vertices = np.vstack((*rings, [[0.0, 0.0, 1.0]]))
    corner = np.arange(sides)
    following = (corner + 1) % sides
    faces = []
    for lower in (0, 2):
        a, b = lower * sides + corner, lower * sides + following
        c, d = a + sides, b + sides
        faces += [np.stack((a, b, d), 1), np.stack((a, d, c), 1)]
    top = 4 * sides
    middle = np.full(sides, 5 * sides)
    faces.append(np.stack((top + corner, top + following, middle), 1))
    return vertices.astype(np.float32), np.concatenate(faces).astype(np.uint32)


def ring(sides: int = 40, inner: float = 0.72) -> tuple[Vertices, Faces]:
    """Give a flat ring of radius 1 in the plane z = 0, seen from above.

    Args:
        sides: number of corners.
        inner: radius of the hole.

    Returns:
        Vertices, shape (V, 3), and faces, shape (F, 3).
    """
    around = np.arange(sides) * (2.0 * math.pi / sides)
    circle = np.stack((np.cos(around), np.sin(around), np.zeros(sides)), 1)
    corner = np.arange(sides)
    following = (corner + 1) % sides
    faces = (
        np.stack((corner, sides + corner, sides + following), 1),
        np.stack((corner, sides + following, following), 1),
    )
    vertices = np.vstack((inner * circle, circle))
    return vertices.astype(np.float32), np.concatenate(faces).astype(np.uint32)
