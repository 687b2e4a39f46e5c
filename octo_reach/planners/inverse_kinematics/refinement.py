"""Brings a tip the last bit nearer to its target where another method has become slow.

Damped least squares with the limits kept by freezing (seed 003), except that a step is only taken
where the tip comes nearer by it, with more damping after every refusal (Levenberg and Marquardt).
So it never makes anything worse, and ends where no small change of the joints makes it better.
"""

from __future__ import annotations

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import Floats
from octo_reach.planners.inverse_kinematics.chain import (
    bound_angle,
    is_held,
    place_chain,
    tip_distance,
)

FIRST_DAMPING = 1e-3
"""Damping of the first step, as a part of the mean eigenvalue of J J^T."""
LEAST_DAMPING = 1e-9
MOST_DAMPING = 1e9
LESS = 0.2
"""What the damping is multiplied by after a step that was taken."""
MORE = 6.0
"""What the damping is multiplied by after a step that was refused."""
WINDOW = 10
"""In so many steps the tip must have come nearer by the tolerance, or it has settled."""


@compiled
def refine(
    lengths: Floats,
    lowest: Floats,
    highest: Floats,
    target_x: float,
    target_y: float,
    tolerance: float,
    most: int,
    angles: Floats,
    positions: Floats,
) -> tuple[int, float, bool]:
    """Take steps while they bring the tip nearer, in place.

    Args:
        lengths: lengths of the segments, shape (N,).
        lowest: smallest angle of each joint, shape (N,), rad.
        highest: largest angle of each joint, shape (N,), rad.
        target_x: x of where the tip should go.
        target_y: y of where the tip should go.
        tolerance: a tip this near has arrived.
        most: most steps to try, refused ones among them.
        angles: joint angles, shape (N,), rad, changed in place.
        positions: positions of the same pose, shape (N + 1, 2), changed in place.

    Returns:
        Steps tried, distance of the tip from the target, and whether it ended of itself.
    """
    count = len(lengths)
    trial = angles.copy()
    joints = positions.copy()
    error = tip_distance(positions, target_x, target_y)
    damping = FIRST_DAMPING
    before = error
    for step in range(most):
        if error <= tolerance:
            return step, error, True
        if step % WINDOW == WINDOW - 1:
            if before - error < tolerance:
                return step, error, True
            before = error
        tip_x = positions[count, 0]
        tip_y = positions[count, 1]
        e_x = target_x - tip_x
        e_y = target_y - tip_y
        xx = 0.0
        xy = 0.0
        yy = 0.0
        pull = 0.0
        for i in range(count):
            j_x = positions[i, 1] - tip_y
            j_y = tip_x - positions[i, 0]
            gain = j_x * e_x + j_y * e_y
            # A joint that would leave its range is as good as rigid.
            if is_held(angles[i], gain, lowest[i], highest[i]):
                continue
            xx += j_x * j_x
            xy += j_x * j_y
            yy += j_y * j_y
            pull += gain * gain
        size = 0.5 * (xx + yy)
        if size <= 0.0 or pull <= 0.0:
            return step, error, True
        a = xx + damping * size
        d = yy + damping * size
        determinant = a * d - xy * xy
        z_x = (d * e_x - xy * e_y) / determinant
        z_y = (a * e_y - xy * e_x) / determinant
        for i in range(count):
            j_x = positions[i, 1] - tip_y
            j_y = tip_x - positions[i, 0]
            turn = j_x * z_x + j_y * z_y
            trial[i] = bound_angle(angles[i] + turn, lowest[i], highest[i])
        place_chain(positions[0, 0], positions[0, 1], lengths, trial, joints)
        reached = tip_distance(joints, target_x, target_y)
        if reached < error:
            error = reached
            angles[:] = trial
            positions[:] = joints
            damping = max(LEAST_DAMPING, damping * LESS)
        else:
            damping *= MORE
            if damping > MOST_DAMPING:
                return step + 1, error, True
    return most, error, error <= tolerance
