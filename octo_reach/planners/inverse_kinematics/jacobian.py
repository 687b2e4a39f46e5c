"""Inverse kinematics by the Jacobian: transpose and damped least squares, limits, null space.

The Jacobian says how the tip moves with every joint angle: column i is the vector from joint i to
the tip, turned by a right angle (seed 003). Angles are relative: the base's heading, then bends.
Lengths may be in any unit.

    solution = solve_damped_least_squares((0, 0), [1, 1, 1], [0.1, 0.1, 0.1], (1.2, 1.1), 1e-3, 100)
    solution.outcome, solution.angles
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from octo_reach.model.compilation import compiled
from octo_reach.model.geometry import FULL_TURN, Flags, Floats, clip, closest_point
from octo_reach.planners.inverse_kinematics.chain import (
    JointLimits,
    Outcome,
    Problem,
    Solution,
    checked_effort,
    describe_problem,
    describe_solution,
    place_chain,
    reach_of,
)

ENDS = (Outcome.REACHED, Outcome.SETTLED, Outcome.OUT_OF_ITERATIONS)
"""How solving can end, by the numbers the kernel gives."""

DAMPING = 0.01
"""Largest damping near a singularity, as a share of the chain's length, unless told otherwise."""
NEAR_SINGULAR = 0.1
"""Relative manipulability below which that damping sets in."""
LEAST_DAMPING = 1e-9
"""Damping that is always there, as a share of the chain's length: the inverse exists by it."""
WINDOW = 20
"""Iterations over which a chain has to come nearer, or it has settled."""
LEAST_PROGRESS = 0.01
"""Share of the tolerance it has to come nearer by in a window."""
NUDGE = 0.05
"""Bend that takes a chain off a line on which no direction leads to its target, rad."""
MOST_NUDGES = 4
STATIONARY = 1e-9
"""Share of the steepest slope below which a pose has no direction to go."""


# ------------------------------------------------------------------------------- the Jacobian


def planar_jacobian(joints: ArrayLike) -> Floats:
    """Give the Jacobian of the tip of a planar chain (seed 003).

    Args:
        joints: joint positions from the base to the tip, shape (N + 1, 2).

    Returns:
        Shape (2, N): motion of the tip, x and y, by relative joint angle.

    Raises:
        ValueError: `joints` has another shape.
    """
    joints = np.array(joints, dtype=np.float64)
    if joints.ndim != 2 or joints.shape[1] != 2 or len(joints) < 2:
        raise ValueError(f"joints must have the shape (N + 1, 2), N >= 1, got {joints.shape}")
    jacobian = np.empty((2, len(joints) - 1))
    fill_jacobian(joints, jacobian)
    return jacobian


@compiled
def fill_jacobian(joints: Floats, jacobian: Floats) -> None:
    """Fill the Jacobian, shape (2, N), of the tip of a chain, joints of shape (N + 1, 2)."""
    last = len(joints) - 1
    for i in range(last):
        jacobian[0, i] = -(joints[last, 1] - joints[i, 1])
        jacobian[1, i] = joints[last, 0] - joints[i, 0]


# ---------------------------------------------------------------------------------- one step


def transpose_step(jacobian: Floats, error: Floats, step_size: float | None = None) -> Floats:
    """Give one step of the transpose method, k J^T e (seed 003).

    Args:
        jacobian: shape (2, N).
        error: from the tip to the target, shape (2,).
        step_size: k; left out, the size that is best as far as the Jacobian sees,
            k = (e . J J^T e) / |J J^T e|^2 (Buss, Introduction to inverse kinematics, 2004).

    Returns:
        Change of the joint angles, shape (N,), rad; zeros where no joint moves the tip nearer.
    """
    slope: Floats = jacobian.T @ error
    if step_size is not None:
        return step_size * slope
    moved = jacobian @ slope
    squared = float(moved @ moved)
    if squared == 0.0:
        return np.zeros_like(slope)
    return float(error @ moved) / squared * slope


def damped_step(
    jacobian: Floats,
    error: Floats,
    damping: float,
    lowest: Floats | None = None,
    highest: Floats | None = None,
) -> Floats:
    """Give one step of damped least squares, J^T (J J^T + damping^2 I)^-1 e (seed 003).

    A joint whose step would leave its bounds is moved up to the bound and frozen there, and the
    others are solved for again to make up for it, until no joint leaves its bounds.

    Args:
        jacobian: shape (2, N).
        error: from the tip to the target, shape (2,).
        damping: in the unit of the lengths, not negative.
        lowest: least change of every joint, shape (N,), rad, at most 0; left out: unbounded.
        highest: largest change of every joint, shape (N,), rad, at least 0; left out: unbounded.

    Returns:
        Change of the joint angles, shape (N,), rad.
    """
    count = jacobian.shape[1]
    step = np.empty(count)
    low = np.full(count, -np.inf) if lowest is None else np.array(lowest, dtype=np.float64)
    high = np.full(count, np.inf) if highest is None else np.array(highest, dtype=np.float64)
    bounded_step(
        np.array(jacobian, dtype=np.float64),
        float(error[0]),
        float(error[1]),
        low,
        high,
        float(damping) ** 2,
        False,
        np.empty(count, np.bool_),
        step,
    )
    return step


@compiled
def neglected_curvature(joints: Floats, error: float) -> float:
    """Bound what a linear step leaves out: the error times the second derivative of the tip.

    That derivative for joints i and j is the vector from the later one of them to the tip, so its
    norm is at most the sum of the distances of all joints from the tip. Half of the bound as
    squared damping keeps a step from overshooting into a larger error, in any pose: it grows with
    the error, as Sugihara (IEEE Transactions on Robotics 27, 2011) recommends, and by the geometry
    needs no constant.

    Args:
        joints: joint positions, shape (N + 1, 2).
        error: distance of the tip from the target.
    """
    last = len(joints) - 1
    total = 0.0
    for i in range(last):
        d_x = joints[last, 0] - joints[i, 0]
        d_y = joints[last, 1] - joints[i, 1]
        total += math.sqrt(d_x * d_x + d_y * d_y)
    return error * total


@compiled
def relative_manipulability(jacobian: Floats) -> float:
    """Give 2 sqrt(det J J^T) / trace J J^T: the manipulability whatever the size of the chain.

    It is 1 where the tip moves alike in all directions, and 0 in a singular pose.
    """
    a = 0.0
    b = 0.0
    c = 0.0
    for i in range(jacobian.shape[1]):
        a += jacobian[0, i] * jacobian[0, i]
        b += jacobian[0, i] * jacobian[1, i]
        c += jacobian[1, i] * jacobian[1, i]
    if a + c == 0.0:
        return 0.0
    return 2.0 * math.sqrt(max(a * c - b * b, 0.0)) / (a + c)


@compiled
def variable_damping(jacobian: Floats, joints: Floats, error: float, largest: float) -> float:
    """Give the squared damping of a step: more for a larger error, and more near a singularity.

    The second part follows Nakamura and Hanafusa (Journal of Dynamic Systems, Measurement, and
    Control 108, 1986): it rises as the manipulability falls below a threshold.

    Args:
        jacobian: shape (2, N).
        joints: joint positions, shape (N + 1, 2).
        error: distance of the tip from the target.
        largest: damping in a singular pose, in the unit of the lengths.
    """
    squared = 0.5 * neglected_curvature(joints, error)
    share = 1.0 - relative_manipulability(jacobian) / NEAR_SINGULAR
    if share > 0.0:
        squared += (largest * share) ** 2
    return squared


@compiled
def bounded_step(
    jacobian: Floats,
    error_x: float,
    error_y: float,
    lowest: Floats,
    highest: Floats,
    damping: float,
    transposed: bool,
    frozen: Flags,
    step: Floats,
) -> None:
    """Fill a step of either method that stays within bounds, by freezing and solving again.

    Args:
        jacobian: shape (2, N).
        error_x: from the tip to the target, x.
        error_y: the same, y.
        lowest: least change of every joint, shape (N,), rad.
        highest: largest change of every joint, shape (N,), rad.
        damping: squared damping; for the transpose, the curvature its step size is to allow for.
        transposed: whether to take the transpose for the inverse.
        frozen: to fill: which joints stand at a bound, shape (N,).
        step: to fill, shape (N,), rad.
    """
    count = jacobian.shape[1]
    frozen[:] = False
    for _ in range(count + 1):
        a = damping
        b = 0.0
        c = damping
        if transposed:
            a = 0.0
            c = 0.0
        for i in range(count):
            if not frozen[i]:
                a += jacobian[0, i] * jacobian[0, i]
                b += jacobian[0, i] * jacobian[1, i]
                c += jacobian[1, i] * jacobian[1, i]
        z_x = 0.0
        z_y = 0.0
        if transposed:
            moved_x = a * error_x + b * error_y
            moved_y = b * error_x + c * error_y
            slope = error_x * moved_x + error_y * moved_y
            curve = moved_x * moved_x + moved_y * moved_y + damping * slope
            if curve > 0.0:
                z_x = slope / curve * error_x
                z_y = slope / curve * error_y
        else:
            determinant = a * c - b * b
            if determinant > 0.0:
                z_x = (c * error_x - b * error_y) / determinant
                z_y = (a * error_y - b * error_x) / determinant
        worst = -1
        excess = 0.0
        for i in range(count):
            if frozen[i]:
                continue
            step[i] = jacobian[0, i] * z_x + jacobian[1, i] * z_y
            beyond = max(step[i] - highest[i], lowest[i] - step[i])
            if beyond > excess:
                worst = i
                excess = beyond
        if worst < 0:
            return
        # Only the worst: once it is frozen the others may well stay within their bounds.
        step[worst] = clip(step[worst], lowest[worst], highest[worst])
        frozen[worst] = True
        error_x -= jacobian[0, worst] * step[worst]
        error_y -= jacobian[1, worst] * step[worst]


# -------------------------------------------------------------------------------- null space


def null_space_motion(jacobian: Floats, wish: Floats) -> Floats:
    """Give what of a wished motion leaves the tip where it is, to first order.

    Args:
        jacobian: shape (2, N).
        wish: change of the joint angles, shape (N,), rad.

    Returns:
        The part of it in the null space of the Jacobian, shape (N,), rad. In a singular pose that
        space is larger than elsewhere; it is taken as if it were not.
    """
    motion = np.array(wish, dtype=np.float64)
    frozen = np.zeros(len(motion), np.bool_)
    project_onto_null_space(np.array(jacobian, dtype=np.float64), frozen, motion)
    return motion


@compiled
def project_onto_null_space(jacobian: Floats, frozen: Flags, motion: Floats) -> None:
    """Take out of a motion, shape (N,), whatever moves the tip, in place; frozen joints rest.

    The rows of the Jacobian span what moves the tip. They are made orthogonal to one another, the
    longer one first; what then is left of the other is taken out even where it is short, so that
    nothing is divided by what may be next to nothing.
    """
    count = jacobian.shape[1]
    first = 0
    squares = np.zeros(2)
    for row in range(2):
        for i in range(count):
            if not frozen[i]:
                squares[row] += jacobian[row, i] * jacobian[row, i]
    if squares[1] > squares[0]:
        first = 1
    axis = np.zeros(count)
    other = np.zeros(count)
    if squares[first] == 0.0:
        return
    for i in range(count):
        if frozen[i]:
            motion[i] = 0.0
        else:
            axis[i] = jacobian[first, i] / math.sqrt(squares[first])
            other[i] = jacobian[1 - first, i]
    _remove(axis, other)
    _remove(axis, other)
    left = 0.0
    for i in range(count):
        left += other[i] * other[i]
    _remove(axis, motion)
    if left > 0.0:
        for i in range(count):
            other[i] /= math.sqrt(left)
        _remove(other, motion)
        _remove(axis, motion)


@compiled
def _remove(axis: Floats, vector: Floats) -> None:
    """Take the part of a vector along an axis of length 1 out of it, in place."""
    along = 0.0
    for i in range(len(axis)):
        along += axis[i] * vector[i]
    for i in range(len(axis)):
        vector[i] -= along * axis[i]


def clearance_gradient(joints: Floats, circles: Floats, distance: float) -> Floats:
    """Give the joint motion that takes a chain away from circles fastest.

    It is the downhill direction of half the squared depth by which the links are within a distance
    of the circles, summed over every link and circle (after Khatib, International Journal of
    Robotics Research 5, 1986).

    Args:
        joints: joint positions, shape (N + 1, 2).
        circles: centres and radii, shape (K, 3).
        distance: gap from which on a circle does not matter, in the unit of the lengths.

    Returns:
        Shape (N,), squared length by angle; zeros where every circle is further away.
    """
    motion = np.zeros(len(joints) - 1)
    add_clearance_gradient(
        np.array(joints, dtype=np.float64),
        np.array(circles, dtype=np.float64).reshape(-1, 3),
        float(distance),
        motion,
    )
    return motion


@compiled
def add_clearance_gradient(
    joints: Floats, circles: Floats, distance: float, motion: Floats
) -> float:
    """Add to `motion`, shape (N,), what `clearance_gradient` gives.

    Returns:
        The curvature of the potential in any direction, at most: the gradient over it never
        overshoots. 0 where every circle is further away.
    """
    curvature = 0.0
    for k in range(len(circles)):
        for link in range(len(joints) - 1):
            h_x, h_y, n_x, n_y, gap = nearest(joints, link, circles, k)
            if gap >= distance:
                continue
            for j in range(link + 1):
                turned = n_y * (h_x - joints[j, 0]) - n_x * (h_y - joints[j, 1])
                motion[j] += (distance - gap) * turned
                curvature += turned * turned
    return curvature


@compiled
def keep_away(
    joints: Floats,
    circles: Floats,
    clearance: float,
    distance: float,
    payload: Floats,
    share: float,
    lowest: Floats,
    highest: Floats,
    passes: int,
    step: Floats,
) -> None:
    """Change a step, in place, so that no link closes in on a circle too fast.

    A link may use up a share of its room before a circle, so that it never gets there; one that is
    too near has to gain that share. Each such demand is met by the least change of the step, one
    after the other, a few times over (the velocity damper of Faverjon and Tournassoud, ICRA 1987,
    met by the method of Kaczmarz): the arm slides along what is in its way.

    Args:
        joints: joint positions, shape (N + 1, 2).
        circles: centres and radii, shape (K, 3).
        clearance: gap below which a link is too near.
        distance: gap from which on a circle does not matter.
        payload: what the chain carries: centre, radius, gap below which it is too near, and how
            many of the joints, from the base, move it (none: there is no payload), shape (5,).
        share: largest share of the room that one step may take.
        lowest: least change of every joint, shape (N,), rad.
        highest: largest change of every joint, shape (N,), rad.
        passes: how often all demands are gone through.
        step: the step, shape (N,), rad.
    """
    carriers = int(payload[4])
    for _ in range(passes):
        met = True
        for k in range(len(circles)):
            for link in range(len(joints) - 1):
                h_x, h_y, n_x, n_y, gap = nearest(joints, link, circles, k)
                if gap < distance:
                    least = -share * (gap - clearance)
                    if not _open_up(joints, link + 1, h_x, h_y, n_x, n_y, least, step):
                        met = False
            if carriers > 0:
                d_x = payload[0] - circles[k, 0]
                d_y = payload[1] - circles[k, 1]
                away = math.sqrt(d_x * d_x + d_y * d_y)
                gap = away - circles[k, 2] - payload[2]
                if gap < distance and away > 0.0:
                    least = -share * (gap - payload[3])
                    n_x = d_x / away
                    n_y = d_y / away
                    if not _open_up(
                        joints, carriers, payload[0], payload[1], n_x, n_y, least, step
                    ):
                        met = False
        if met:
            return
        for j in range(len(step)):
            step[j] = clip(step[j], lowest[j], highest[j])


@compiled
def _open_up(
    joints: Floats,
    count: int,
    h_x: float,
    h_y: float,
    n_x: float,
    n_y: float,
    least: float,
    step: Floats,
) -> bool:
    """Make a step take a point away along a direction by no less than it has to, in place.

    Args:
        joints: joint positions, shape (N + 1, 2).
        count: how many of the joints, from the base, move the point.
        h_x: the point, x.
        h_y: the same, y.
        n_x: the direction, x.
        n_y: the same, y.
        least: how far it has to go; negative: how far it may come.
        step: the step, shape (N,), rad.

    Returns:
        Whether the step did so as it was.
    """
    opened = 0.0
    squared = 0.0
    for j in range(count):
        turned = n_y * (h_x - joints[j, 0]) - n_x * (h_y - joints[j, 1])
        opened += turned * step[j]
        squared += turned * turned
    if opened >= least or squared == 0.0:
        return True
    for j in range(count):
        turned = n_y * (h_x - joints[j, 0]) - n_x * (h_y - joints[j, 1])
        step[j] += (least - opened) / squared * turned
    return False


@compiled
def nearest(
    joints: Floats, link: int, circles: Floats, k: int
) -> tuple[float, float, float, float, float]:
    """Give the point of a link that is nearest to a circle, the way out from it, and the gap.

    Returns:
        The point, x and y; the direction from the centre to it, x and y, zero where they coincide;
        the distance from the surface, negative inside.
    """
    h_x, h_y = closest_point(
        joints[link, 0],
        joints[link, 1],
        joints[link + 1, 0],
        joints[link + 1, 1],
        circles[k, 0],
        circles[k, 1],
    )
    d_x = h_x - circles[k, 0]
    d_y = h_y - circles[k, 1]
    away = math.sqrt(d_x * d_x + d_y * d_y)
    if away == 0.0:
        return h_x, h_y, 0.0, 0.0, -circles[k, 2]
    return h_x, h_y, d_x / away, d_y / away, away - circles[k, 2]


# ---------------------------------------------------------------------------------- solving


def solve_transpose(
    base: Sequence[float],
    lengths: ArrayLike,
    angles: ArrayLike,
    target: Sequence[float],
    tolerance: float,
    max_iterations: int,
    limits: JointLimits | None = None,
) -> Solution:
    """Bring the tip of a chain to a target by the transpose method.

    The step size is the best one as far as the Jacobian sees, less what the error times the
    curvature asks for, so that no step makes the error larger.

    Args:
        base: position of the base, (x, y).
        lengths: lengths of the segments, shape (N,), each above 0.
        angles: the pose to begin with, shape (N,), rad; it is brought within the limits first.
        target: where the tip should go, (x, y).
        tolerance: distance at which it is there, above 0.
        max_iterations: most steps to take.
        limits: how far each joint may turn; left out, all the way round.

    Returns:
        The nearest pose that was found.

    Raises:
        ValueError: an argument has another shape or is out of range; the text names it.
    """
    problem = describe_problem(angles, lengths, target, base, limits)
    return _solve(problem, tolerance, max_iterations, True, 0.0)


def solve_damped_least_squares(
    base: Sequence[float],
    lengths: ArrayLike,
    angles: ArrayLike,
    target: Sequence[float],
    tolerance: float,
    max_iterations: int,
    limits: JointLimits | None = None,
    damping: float = DAMPING,
) -> Solution:
    """Bring the tip of a chain to a target by damped least squares with variable damping.

    Args:
        base: position of the base, (x, y).
        lengths: lengths of the segments, shape (N,), each above 0.
        angles: the pose to begin with, shape (N,), rad; it is brought within the limits first.
        target: where the tip should go, (x, y).
        tolerance: distance at which it is there, above 0.
        max_iterations: most steps to take.
        limits: how far each joint may turn; left out, all the way round.
        damping: damping in a singular pose, as a share of the chain's length, not negative; what
            the error asks for comes on top.

    Returns:
        The nearest pose that was found.

    Raises:
        ValueError: an argument has another shape or is out of range; the text names it.
    """
    if not (math.isfinite(damping) and damping >= 0.0):
        raise ValueError(f"damping must be finite and not negative, got {damping!r}")
    problem = describe_problem(angles, lengths, target, base, limits)
    return _solve(problem, tolerance, max_iterations, False, float(damping))


def _solve(
    problem: Problem, tolerance: float, max_iterations: int, transposed: bool, damping: float
) -> Solution:
    checked_effort(tolerance, max_iterations)
    lowest, highest = problem.limits.lowest.copy(), problem.limits.highest.copy()
    free = highest - lowest >= FULL_TURN
    lowest[free], highest[free] = -np.inf, np.inf
    angles = problem.angles.copy()
    iterations, error, outcome = _iterate(
        *problem.base,
        problem.lengths,
        angles,
        *problem.target,
        float(tolerance),
        int(max_iterations),
        lowest,
        highest,
        max(damping, LEAST_DAMPING) * float(np.sum(problem.lengths)),
        transposed,
    )
    # A range of a full turn bounds nothing, but the angle is to lie in it all the same.
    whole = free & np.isfinite(problem.limits.lowest)
    start = problem.limits.lowest[whole]
    angles[whole] = start + (angles[whole] - start) % FULL_TURN
    ended = ENDS[outcome]
    if ended is Outcome.SETTLED:
        ended = _settled_end(problem, float(error), tolerance)
    return describe_solution(problem, angles, ended, tolerance, int(iterations))


def _settled_end(problem: Problem, error: float, tolerance: float) -> Outcome:
    """Tell whether a chain settled because its target is too far away, or too near."""
    nearest_reach, farthest_reach = reach_of(problem.lengths)
    if abs(error - (problem.distance - farthest_reach)) <= tolerance:
        return Outcome.FULL_STRETCH
    if abs(error - (nearest_reach - problem.distance)) <= tolerance:
        return Outcome.FULL_FOLD
    return Outcome.SETTLED


@compiled
def _iterate(
    base_x: float,
    base_y: float,
    lengths: Floats,
    angles: Floats,
    target_x: float,
    target_y: float,
    tolerance: float,
    max_iterations: int,
    lowest: Floats,
    highest: Floats,
    damping: float,
    transposed: bool,
) -> tuple[int, float, int]:
    """Step until the tip is there or comes no nearer; leaves the nearest pose in `angles`.

    Returns:
        Steps taken, the error that is left, and the place of the outcome in `ENDS`.
    """
    count = len(lengths)
    joints = np.empty((count + 1, 2))
    jacobian = np.empty((2, count))
    frozen = np.empty(count, np.bool_)
    step = np.empty(count)
    nearest_angles = angles.copy()
    least = np.inf
    last_window = np.inf
    nudges = 0
    for iteration in range(max_iterations + 1):
        place_chain(base_x, base_y, lengths, angles, joints)
        error_x = target_x - joints[count, 0]
        error_y = target_y - joints[count, 1]
        error = math.sqrt(error_x * error_x + error_y * error_y)
        if error < least:
            least = error
            nearest_angles[:] = angles
        if error <= tolerance:
            return iteration, error, 0
        if iteration == max_iterations:
            break
        fill_jacobian(joints, jacobian)
        curvature = neglected_curvature(joints, error)
        steepest = 0.0
        for i in range(count):
            slope = jacobian[0, i] * error_x + jacobian[1, i] * error_y
            steepest = max(steepest, abs(slope))
        settled = steepest <= STATIONARY * curvature
        if iteration % WINDOW == WINDOW - 1:
            settled = settled or last_window - least < LEAST_PROGRESS * tolerance
            last_window = least
        if settled:
            # It may be the nearest pose there is, or one from which all ways lead nearer alike.
            if nudges == MOST_NUDGES:
                angles[:] = nearest_angles
                return iteration, least, 1
            nudges += 1
            _nudge(angles, lowest, highest, nudges)
            continue
        if transposed:
            allowed = curvature
        else:
            allowed = variable_damping(jacobian, joints, error, damping)
            allowed = max(allowed, (LEAST_DAMPING * damping) ** 2)
        bounded_step(
            jacobian,
            error_x,
            error_y,
            lowest - angles,
            highest - angles,
            allowed,
            transposed,
            frozen,
            step,
        )
        for i in range(count):
            angles[i] = clip(angles[i] + step[i], lowest[i], highest[i])
    angles[:] = nearest_angles
    return max_iterations, least, 2


@compiled
def _nudge(angles: Floats, lowest: Floats, highest: Floats, times: int) -> None:
    """Bend a chain a little to the side that has more room, in place; the only link turns."""
    bend = NUDGE * times
    for i in range(len(angles)):
        if i == 0 and len(angles) > 1:
            continue
        to_higher = highest[i] - angles[i] >= angles[i] - lowest[i]
        turned = angles[i] + bend if to_higher else angles[i] - bend
        angles[i] = clip(turned, lowest[i], highest[i])
