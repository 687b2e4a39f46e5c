import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_reach.planners.inverse_kinematics.chain import joint_positions
from octo_reach.planners.inverse_kinematics.jacobian import planar_jacobian
from octo_reach.planners.inverse_kinematics.manipulability import (
    manipulability_ellipse,
    manipulability_ellipses,
)

angles_of_chains = st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=10)


def ellipse_of(angles):
    joints = joint_positions((0.0, 0.0), np.ones(len(angles)), np.array(angles))
    return manipulability_ellipse(planar_jacobian(joints)), planar_jacobian(joints)


@given(angles_of_chains)
def test_the_axes_are_the_eigenvectors_of_the_square_of_the_jacobian(angles):
    ellipse, jacobian = ellipse_of(angles)
    square = jacobian @ jacobian.T
    longer = np.array((math.cos(ellipse.angle), math.sin(ellipse.angle)))
    shorter = np.array((-longer[1], longer[0]))
    assert square @ longer == pytest.approx(ellipse.major**2 * longer, abs=1e-8)
    assert square @ shorter == pytest.approx(ellipse.minor**2 * shorter, abs=1e-8)
    assert ellipse.major >= ellipse.minor >= 0.0
    assert -math.pi / 2.0 < ellipse.angle <= math.pi / 2.0
    determinant = max(float(np.linalg.det(square)), 0.0)
    assert ellipse.measure**2 == pytest.approx(determinant, abs=1e-6)


@given(angles_of_chains, st.floats(0.0, 6.28))
def test_no_joint_motion_of_norm_one_takes_the_tip_out_of_the_ellipse(angles, phase):
    ellipse, jacobian = ellipse_of(angles)
    motion = np.cos(phase + 1.7 * np.arange(len(angles)))
    x, y = jacobian @ (motion / np.linalg.norm(motion))
    along = x * math.cos(ellipse.angle) + y * math.sin(ellipse.angle)
    across = -x * math.sin(ellipse.angle) + y * math.cos(ellipse.angle)
    assert abs(along) <= ellipse.major + 1e-9
    assert abs(across) <= ellipse.minor + 1e-9


@pytest.mark.parametrize("count", [2, 3, 20])
def test_the_straight_arm_has_no_measure_and_bending_gives_it_some(count):
    measures = [ellipse_of([0.5] + [bend] * (count - 1))[0].measure for bend in (0.0, 1e-3, 0.1)]
    assert measures[0] == pytest.approx(0.0, abs=1e-12)
    assert measures[0] < measures[1] < measures[2]


def test_the_straight_arm_moves_its_tip_only_across():
    ellipse, _ = ellipse_of([0.5, 0.0, 0.0])
    assert ellipse.angle == pytest.approx(0.5 - math.pi / 2.0)
    assert ellipse.major == pytest.approx(math.sqrt(1 + 4 + 9))


def test_of_two_links_the_measure_is_the_product_of_both_and_the_sine_of_the_elbow():
    ellipse, _ = ellipse_of([0.3, 1.1])
    assert ellipse.measure == pytest.approx(math.sin(1.1))


def test_a_jacobian_without_motion_is_a_point():
    ellipse = manipulability_ellipse(np.zeros((2, 3)))
    assert (ellipse.major, ellipse.minor, ellipse.angle, ellipse.measure) == (0.0, 0.0, 0.0, 0.0)


@given(st.lists(angles_of_chains, max_size=6))
def test_several_arms_at_once_have_the_ellipses_they_have_one_by_one(arms):
    several = [ellipse_of(angles) for angles in arms]
    together = manipulability_ellipses([jacobian for _, jacobian in several])
    assert together == [ellipse for ellipse, _ in several]


def test_one_that_is_no_jacobian_among_several_is_refused():
    with pytest.raises(ValueError, match=r"got shape \(3, 3\)"):
        manipulability_ellipses([np.zeros((2, 3)), np.zeros((3, 3))])


@pytest.mark.parametrize("jacobian", [np.zeros((3, 2)), np.zeros(2), np.full((2, 2), math.nan)])
def test_what_is_no_planar_jacobian_is_refused(jacobian):
    with pytest.raises(ValueError, match="jacobian must be finite"):
        manipulability_ellipse(jacobian)
