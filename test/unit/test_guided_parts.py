"""The parts of the planner `guided`: room, edges, goal poses, ladder, trees, shortcuts, retreat."""

import math
from itertools import pairwise

import numpy as np
import pytest
from guided_scenes import body, table

from octo_reach.model.rules import ReachRules
from octo_reach.planners.guided.aims import sensible_aim
from octo_reach.planners.guided.beginnings import LOTS, Draws, begin_pose
from octo_reach.planners.guided.body import place_effector
from octo_reach.planners.guided.certified_edges import CERTIFIED, REFUSED, UNDECIDED, certify
from octo_reach.planners.guided.clearance import find_close, room_of
from octo_reach.planners.guided.coil_ladder import climb
from octo_reach.planners.guided.connect_tree import connect
from octo_reach.planners.guided.first_run import finish
from octo_reach.planners.guided.playback import Playback
from octo_reach.planners.guided.retreat import Retreat, shortest_in_hull
from octo_reach.planners.guided.room import Room, duration
from octo_reach.planners.guided.search import Search
from octo_reach.planners.guided.shortcut import cut_corner, draw_in_knot, leave_out_knots, length_of

RULES = ReachRules.pixel().for_kernels()
WALL = table(*((60.0, y, 8.0) for y in range(-24, 25, 8)))
LONG = body(10, 10.0, 1.2)


def room_among(obstacles, arm=LONG, margin=0.3) -> Room:
    return Room(arm, obstacles, margin, Draws(1))


def assert_clear(room: Room, path) -> None:
    for start, end in pairwise(path):
        for share in np.linspace(0.0, 1.0, 100):
            pose = start + share * (end - start)
            assert room_of(pose, room.body, room.obstacles) >= room.margin - 1e-9


# -------------------------------------------------------------------------------------- room


def test_room_is_what_is_left_beside_the_clearance():
    assert room_of(np.zeros(6), body(), table((30.0, 20.0, 5.0))) == pytest.approx(12.0)
    assert room_of(np.zeros(6), body(), table((30.0, 6.0, 5.0))) == pytest.approx(-2.0)


def test_what_is_held_has_its_own_radius_and_no_clearance():
    arm = body(holder=3, along=0.0, across=4.0, payload=6.0)
    assert room_of(np.zeros(6), arm, table((30.0, 20.0, 5.0))) == pytest.approx(5.0)


def test_close_pairs_say_where_and_which_way_out():
    close = np.empty((8, 6))
    joints = np.empty((7, 2))
    obstacles = table((35.0, 6.0, 4.0), (0.0, 90.0, 4.0))
    found, least = find_close(np.zeros(6), body(), obstacles, 0.0, 1.0, joints, close)
    assert (found, least) == (1, pytest.approx(-1.0))
    assert close[0] == pytest.approx([35.0, 0.0, 0.0, -1.0, -1.0, 3.0])


# ------------------------------------------------------------------------------------- edges


def test_an_edge_across_an_obstacle_is_refused_though_its_ends_are_clear():
    start, end = np.zeros(10), np.zeros(10)
    start[0], end[0] = -1.0, 1.0
    room = room_among(table((50.0, 0.0, 5.0)))
    assert not finish(room.clear(start, end))
    share = finish(room.clear_part(start, end))
    assert 0.3 < share < 0.5
    assert finish(room.clear(start, start + 0.99 * share * (end - start)))


def test_an_edge_certified_in_small_parts_is_the_same_edge():
    start, end = np.full(10, 0.1), np.full(10, -0.1)
    obstacles = table((40.0, 28.0, 5.0), (40.0, -28.0, 5.0))
    moves = np.empty((2, 11))
    whole = certify(start, end, 0.0, False, LONG, obstacles, 0.1, 10**9, moves)
    assert whole[:2] == (CERTIFIED, 1.0)
    covered, calls = 0.0, 0
    verdict = UNDECIDED
    while verdict == UNDECIDED:
        verdict, covered, _ = certify(start, end, covered, False, LONG, obstacles, 0.1, 1, moves)
        calls += 1
    assert (verdict, covered) == (CERTIFIED, 1.0)
    assert calls > 1


def test_to_stay_is_certified_only_where_there_is_room():
    moves = np.empty((2, 7))
    for y, verdict in ((20.0, CERTIFIED), (8.0, REFUSED)):
        told = certify(
            np.zeros(6), np.zeros(6), 0.0, True, body(), table((30.0, y, 5.0)), 1.0, 99, moves
        )
        assert told[0] == verdict


# -------------------------------------------------------------------------------- goal poses


@pytest.mark.parametrize("segments", [1, 2, 3, 20, 100])
@pytest.mark.parametrize("distance", [0.4, 0.7, 0.99])
def test_a_goal_pose_is_at_the_target_within_every_limit(segments, distance):
    arm = body(segments, 200.0 / segments, 2.5)
    if segments == 1:
        distance = 1.0
    if segments == 3:
        distance = max(distance, 0.5)
    aim = (200.0 * distance * math.cos(2.0), 200.0 * distance * math.sin(2.0))
    room = room_among(table(), arm)
    start = np.full(segments, 0.02)
    goal = finish(room.goal_pose(0, start, aim, 1.0))
    if goal is None:
        goal = finish(room.goal_pose(2, start, aim, 1.0))
    assert math.dist(place_effector(goal, arm), aim) <= 1.0
    assert np.all(np.abs(goal[1:]) <= 2.5)
    assert abs(goal[0] - start[0]) <= math.pi + 1e-9


def test_a_goal_pose_keeps_clear():
    obstacles = table((55.0, 20.0, 8.0), (30.0, 45.0, 6.0))
    room = room_among(obstacles)
    goals = [finish(room.goal_pose(n, np.full(10, 0.05), (60.0, 40.0), 1.0)) for n in range(8)]
    found = [goal for goal in goals if goal is not None]
    assert found
    assert all(room_of(goal, LONG, obstacles) >= 0.3 for goal in found)


def test_no_goal_pose_is_made_up_where_there_is_none():
    room = room_among(table((60.0, 40.0, 8.0)))
    assert finish(room.goal_pose(0, np.full(10, 0.05), (60.0, 40.0), 1.0)) is None


def test_arcs_begin_with_their_end_at_the_target():
    pose = np.empty(10)
    for number in (2, 3):
        begin_pose(number, np.zeros(LOTS), np.full(10, 0.05), 40.0, 30.0, LONG, pose)
        assert place_effector(pose, LONG) == pytest.approx((40.0, 30.0), abs=0.01)
        assert np.ptp(pose[1:]) == 0.0


def test_draws_are_the_same_for_the_same_seed_and_never_end():
    one, two, other = Draws(3), Draws(3), Draws(4)
    taken = [one.take(LOTS).copy() for _ in range(1000)]
    assert all(np.array_equal(lots, two.take(LOTS)) for lots in taken)
    assert not np.array_equal(taken[0], other.take(LOTS))


# ----------------------------------------------------------------------------- ways around


def test_every_rung_of_a_ladder_is_clear_and_the_last_is_coiled_where_there_is_room():
    room = room_among(WALL)
    rungs = finish(climb(room, np.full(10, 0.3), 3, 1.2))
    assert_clear(room, rungs)
    assert rungs[-1][1:] == pytest.approx(1.2)


def test_two_trees_find_a_way_around_a_wall():
    room = room_among(WALL)
    start, goal = np.full(10, 0.02), np.full(10, -0.02)
    start[0], goal[0] = 0.9, -0.9
    assert not finish(room.clear(start, goal))
    up = [finish(climb(room, start, 2, side)) for side in (1.2, -1.2)]
    down = [finish(climb(room, goal, 2, side)) for side in (1.2, -1.2)]
    path = finish(connect(room, up, down, 10**8))
    assert_clear(room, path)
    assert np.array_equal(path[0], start)
    shorter = finish(leave_out_knots(room, path))
    for _ in range(30):
        before = length_of(shorter)
        shorter = finish(draw_in_knot(room, finish(cut_corner(room, shorter))))
        assert length_of(shorter) <= before + 1e-9
    assert_clear(room, shorter)
    assert length_of(shorter) < length_of(path)
    assert np.array_equal(shorter[0], path[0])
    assert np.array_equal(shorter[-1], path[-1])


def test_trees_give_up_after_their_work():
    room = room_among(table((50.0, 0.0, 9.0), (-50.0, 0.0, 9.0)), body(1, 100.0))
    assert finish(connect(room, [[np.array([0.9])]], [[np.array([-0.9])]], 10**6)) is None


def test_the_same_search_finds_the_same_path_to_the_last_bit():
    start = np.full(10, 0.02)
    start[0] = 0.9
    around = np.vstack([WALL, table((-60.0, 0.0, 20.0))])
    paths = []
    for _ in range(2):
        search = Search(LONG, start, (60.0, -45.0), 1.8, around, 5.0, 0.0125, Draws(1))
        while not search.done:
            search.advance(150_000)
        paths.append(search.path)
    assert len(paths[0]) > 2
    assert [pose.tobytes() for pose in paths[0]] == [pose.tobytes() for pose in paths[1]]


def test_the_work_of_a_slice_is_bounded():
    start = np.full(10, 0.02)
    search = Search(LONG, start, (-60.0, -45.0), 1.8, WALL, 5.0, 0.0125, Draws(1))
    while not search.done:
        assert search.advance(150_000) < 2 * 150_000


# ----------------------------------------------------------------------------------- aims


def test_a_free_target_is_its_own_aim():
    assert sensible_aim((20.0, 20.0), 1.8, LONG, WALL, 1.0) == ((20.0, 20.0), False, False)


def test_a_target_out_of_reach_is_stretched_for():
    aim = sensible_aim((300.0, 400.0), 1.8, LONG, table(), 1.0)
    assert aim.beyond
    assert aim.place == pytest.approx((60.0, 80.0), abs=0.1)


def test_beside_an_obstacle_on_the_target_there_is_room():
    aim = sensible_aim((60.0, 40.0), 1.8, LONG, table((60.0, 35.0, 10.0)), 1.0)
    assert aim.blocked
    assert aim.place == pytest.approx((60.0, 49.0))


def test_a_target_just_within_the_clearance_is_reached_from_outside():
    aim = sensible_aim((60.0, 40.0), 1.8, LONG, table((60.0, 30.0, 7.5)), 1.0)
    assert not aim.blocked
    assert math.dist(aim.place, (60.0, 40.0)) <= 1.8


# -------------------------------------------------------------------------------- playback


def test_a_path_is_followed_on_its_edges_at_full_speed_and_onto_every_knot():
    knots = [np.zeros(6), np.linspace(0.0, 0.5, 6), np.linspace(0.4, -0.3, 6)]
    playback = Playback(knots, 1.0, body(), table())
    poses, turn = [knots[0]], 0.05
    while not playback.finished:
        poses.append(playback.step(poses[-1], turn, RULES))
    for knot in knots:
        assert any(np.array_equal(knot, pose) for pose in poses)
    for before, after in pairwise(poses):
        assert duration(before, after) <= turn + 1e-12
    assert len(poses) - 1 == sum(math.ceil(duration(a, b) / turn) for a, b in pairwise(knots))


def test_what_has_become_doubtful_is_not_entered():
    knots = [np.zeros(6), np.zeros(6)]
    knots[1][0] = 1.0
    playback = Playback(knots, 1.0, body(), table())
    playback.doubt(table((40.0, 40.0, 6.0)))
    assert playback.step(knots[0], 0.05, RULES) is None
    assert playback.undecided
    playback.certify_ahead(0.3, 10**6)
    assert playback.refused
    assert 0.2 < playback.known_ahead < 0.7
    poses = [knots[0]]
    while (pose := playback.step(poses[-1], 0.05, RULES)) is not None:
        poses.append(pose)
    assert 0.0 <= playback.known_ahead < 0.001
    playback.doubt(table((-40.0, 40.0, 6.0)))
    playback.certify_ahead(0.3, 10**6)
    assert not playback.refused
    assert playback.known_ahead == pytest.approx(1.0 - poses[-1][0])


# --------------------------------------------------------------------------------- retreat


def test_the_shortest_vector_of_a_hull_leans_on_every_row():
    rows = np.random.default_rng(1).normal(size=(12, 8)) + 1.0
    turn, products = np.empty(8), np.empty((14, 12))
    shortest_in_hull(12, 8, rows, products, turn)
    assert np.all(rows @ turn >= (turn @ turn) * (1.0 - 1e-6))
    assert turn @ turn > 0.1


@pytest.mark.parametrize("y", [4.0, -1.0, 0.0])
def test_an_arm_draws_out_from_under_an_obstacle(y):
    obstacles = table((40.0, y, 6.0))
    retreat, pose, rooms = Retreat(body(), obstacles), np.full(6, 0.01), []
    for _ in range(300):
        rooms.append(room_of(pose, body(), obstacles))
        proposed = retreat.step(pose, rooms[-1], obstacles, 0.0125, RULES)
        if proposed is None:
            break
        assert np.all(np.abs(proposed - pose) <= 0.0125 + 1e-12)
        pose = proposed
    assert rooms[-1] >= 1.2
    assert all(after >= before - 1e-8 for before, after in pairwise(rooms) if before < 0.0)
