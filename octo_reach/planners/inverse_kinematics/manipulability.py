"""The manipulability ellipse: how far the tip goes by joint motions of one size (seed 003)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from octo_reach.model.geometry import Floats


@dataclass(frozen=True)
class ManipulabilityEllipse:
    """Where the tip can be moved fast, and where it can not (Yoshikawa, 1985).

    It is the set of tip velocities that joint velocities of norm 1 bring about.

    Attributes:
        major: half length of the longer axis, length by angle.
        minor: half length of the shorter axis; 0 in a singular pose.
        angle: direction of the longer axis, rad, in (-pi/2, pi/2].
        measure: w = sqrt(det J J^T), the product of the two half lengths.
    """

    major: float
    minor: float
    angle: float
    measure: float


def manipulability_ellipse(jacobian: Floats) -> ManipulabilityEllipse:
    """Give the ellipse of a Jacobian: the eigenvectors of J J^T, and the roots of its eigenvalues.

    Args:
        jacobian: motion of the tip by joint angle, shape (2, N).

    Raises:
        ValueError: it has another shape or holds a number that is not finite.
    """
    return manipulability_ellipses([jacobian])[0]


def manipulability_ellipses(jacobians: Sequence[Floats]) -> list[ManipulabilityEllipse]:
    """Give the ellipses of several Jacobians, which takes less time than one by one.

    Args:
        jacobians: motions of tips by joint angle, shape (2, N) each, N any.

    Raises:
        ValueError: one has another shape or holds a number that is not finite.
    """
    places: dict[tuple[int, ...], list[int]] = {}
    for place, jacobian in enumerate(jacobians):
        places.setdefault(np.shape(jacobian), []).append(place)
    ellipses: dict[int, ManipulabilityEllipse] = {}
    for shape, alike in places.items():
        stack = np.array([jacobians[place] for place in alike], dtype=np.float64)
        if len(shape) != 2 or shape[0] != 2 or not np.all(np.isfinite(stack)):
            raise ValueError(f"jacobian must be finite, shape (2, N), got shape {shape}")
        # The singular values themselves, not roots of eigenvalues: squaring would lose half the
        # digits of the shorter axis just where it matters, near the straight arm.
        axes, lengths, _ = np.linalg.svd(stack, full_matrices=False)
        found = map(_ellipse, lengths.tolist(), axes[:, :, :1].reshape(len(alike), -1).tolist())
        ellipses.update(zip(alike, found, strict=True))
    return [ellipses[place] for place in range(len(jacobians))]


def _ellipse(lengths: list[float], direction: list[float]) -> ManipulabilityEllipse:
    """Give the ellipse of its half lengths, two at most, and the direction of the longer axis."""
    major = lengths[0] if len(lengths) > 0 else 0.0
    minor = lengths[1] if len(lengths) > 1 else 0.0
    angle = math.atan2(direction[1], direction[0]) if major > 0.0 else 0.0
    if angle > math.pi / 2.0:
        angle -= math.pi
    elif angle <= -math.pi / 2.0:
        angle += math.pi
    return ManipulabilityEllipse(major, minor, angle, major * minor)
