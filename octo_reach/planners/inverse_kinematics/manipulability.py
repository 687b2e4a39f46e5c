"""The manipulability ellipse: how far the tip goes by joint motions of one size (seed 003)."""

from __future__ import annotations

import math
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
    jacobian = np.asarray(jacobian, dtype=np.float64)
    if jacobian.ndim != 2 or len(jacobian) != 2 or not np.all(np.isfinite(jacobian)):
        raise ValueError(f"jacobian must be finite, shape (2, N), got shape {jacobian.shape}")
    # The singular values themselves, not roots of eigenvalues: squaring would lose half the digits
    # of the shorter axis just where it matters, near the straight arm.
    axes, lengths, _ = np.linalg.svd(jacobian, full_matrices=False)
    major = float(lengths[0]) if len(lengths) > 0 else 0.0
    minor = float(lengths[1]) if len(lengths) > 1 else 0.0
    angle = math.atan2(axes[1, 0], axes[0, 0]) if major > 0.0 else 0.0
    if angle > math.pi / 2.0:
        angle -= math.pi
    elif angle <= -math.pi / 2.0:
        angle += math.pi
    return ManipulabilityEllipse(major, minor, angle, major * minor)
