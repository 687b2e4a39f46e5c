import math

import numpy as np
import pytest

from octo_reach.model.rules import ReachRules
from octo_reach.model.steering import list_nearby, steer

PIXEL = ReachRules.pixel()
LENGTH = 10.0
"""Length of a segment here; a segment looks three times as far."""


def steered(start, goal, *obstacles, rules=PIXEL):
    around = np.array(obstacles, dtype=float).reshape(-1, 3)
    nearby = np.empty((len(around), 4))
    kernel_rules = rules.for_kernels()
    count = list_nearby(*start, 0.0, LENGTH, around, kernel_rules, nearby)
    x, y, changed = steer(*start, *goal, LENGTH, nearby, count, kernel_rules)
    return (x, y), changed


def waypoint(start, obstacle, rules=PIXEL):
    """Give the goal the rules put on the boundary circle of an obstacle."""
    x, y, radius = obstacle
    direction = math.atan2(start[1] - y, start[0] - x) + 0.4 * rules.turn_sign
    ring = radius + 16.0 * rules.unit
    return pytest.approx((x + ring * math.cos(direction), y + ring * math.sin(direction)))


def test_without_obstacles_the_goal_stays():
    assert steered((0.0, 0.0), (50.0, 7.0)) == ((50.0, 7.0), False)


def test_a_goal_where_the_segment_starts_stays_even_inside_an_obstacle():
    assert steered((5.0, 5.0), (5.0, 5.0), (5.0, 5.0, 9.0)) == ((5.0, 5.0), False)


def test_an_obstacle_in_the_way_moves_the_goal_onto_its_boundary_circle():
    obstacle = (20.0, 4.0, 6.0)
    assert steered((0.0, 0.0), (50.0, 0.0), obstacle) == (waypoint((0.0, 0.0), obstacle), True)


def test_where_y_points_up_the_goal_goes_round_the_other_side():
    mirrored = ReachRules(turn_sign=-1.0)
    down, _ = steered((0.0, 0.0), (50.0, 0.0), (20.0, 4.0, 6.0))
    up, changed = steered((0.0, 0.0), (50.0, 0.0), (20.0, -4.0, 6.0), rules=mirrored)
    assert changed
    assert up == pytest.approx((down[0], -down[1]))


def test_steering_begins_strictly_within_clearance_and_margin():
    # The line passes the centre at a distance of 17 = radius 6 + clearance 3 + margin 8.
    assert steered((0.0, 0.0), (30.0, 0.0), (15.0, 17.0, 6.0))[1] is False
    assert steered((0.0, 0.0), (30.0, 0.0), (15.0, 16.999999, 6.0))[1] is True


def test_a_segment_looks_three_lengths_ahead_and_no_further():
    # Its look ends at x = 30, so the early-warning circle of radius 17 must reach there.
    assert steered((0.0, 0.0), (90.0, 0.0), (47.1, 0.0, 6.0))[1] is False
    assert steered((0.0, 0.0), (90.0, 0.0), (46.9, 0.0, 6.0))[1] is True


def test_a_segment_does_not_look_beyond_its_goal():
    assert steered((0.0, 0.0), (10.0, 0.0), (27.1, 0.0, 6.0))[1] is False
    assert steered((0.0, 0.0), (10.0, 0.0), (26.9, 0.0, 6.0))[1] is True


def test_an_obstacle_behind_the_start_counts_when_the_start_is_near_it():
    obstacle = (-10.0, 0.0, 6.0)
    assert steered((0.0, 0.0), (30.0, 0.0), obstacle) == (waypoint((0.0, 0.0), obstacle), True)
    assert steered((0.0, 0.0), (30.0, 0.0), (-17.1, 0.0, 6.0))[1] is False


@pytest.mark.parametrize("order", [1, -1])
def test_of_several_obstacles_the_centre_nearest_to_the_start_counts(order):
    # The second is nearer by its surface, the first by its centre.
    near, far = (20.0, 5.0, 2.0), (24.0, -5.0, 12.0)
    goal, _ = steered((0.0, 0.0), (60.0, 0.0), *[near, far][::order])
    assert goal == waypoint((0.0, 0.0), near)


def test_a_nearer_obstacle_out_of_the_way_does_not_count():
    aside, ahead = (0.0, 18.0, 6.0), (25.0, 0.0, 6.0)
    goal, changed = steered((0.0, 0.0), (60.0, 0.0), aside, ahead)
    assert changed
    assert goal == waypoint((0.0, 0.0), ahead)


def test_of_two_equally_near_centres_the_first_counts():
    upper, lower = (20.0, 5.0, 6.0), (20.0, -5.0, 6.0)
    assert steered((0.0, 0.0), (60.0, 0.0), upper, lower)[0] == waypoint((0.0, 0.0), upper)
    assert steered((0.0, 0.0), (60.0, 0.0), lower, upper)[0] == waypoint((0.0, 0.0), lower)


def test_a_start_on_the_centre_of_an_obstacle_is_led_out():
    goal, changed = steered((0.0, 0.0), (60.0, 0.0), (0.0, 0.0, 6.0))
    assert changed
    assert goal == waypoint((0.0, 0.0), (0.0, 0.0, 6.0))
