import math

import numpy as np
import pytest

from octo_reach.planners.inverse_kinematics.chain import TOLERANCE, Outcome
from octo_reach.planners.inverse_kinematics.fabrik import solve
from octo_reach.planners.inverse_kinematics.fabrik_tree import Branch, solve_tree


def hand(left=(70.0, 10.0), right=(60.0, -5.0), **changes):
    return {
        "trunk": Branch([30.0, 30.0, 30.0]),
        "left": Branch([10.0, 10.0], "trunk", left, **changes),
        "right": Branch([10.0, 10.0], "trunk", right),
    }


def check_tree(solution, branches, base=(0.0, 0.0)):
    for name, branch in branches.items():
        positions = solution.positions[name]
        assert np.hypot(*np.diff(positions, axis=0).T) == pytest.approx(branch.lengths)
        root = base if branch.parent is None else solution.positions[branch.parent][-1]
        assert positions[0] == pytest.approx(root, abs=1e-12)
        assert (name in solution.errors) == (branch.target is not None)
        if branch.target is not None:
            assert solution.errors[name] == math.dist(positions[-1], branch.target)


def test_targets_that_can_both_be_met_are():
    branches = hand()
    solution = solve_tree(branches, tolerance=TOLERANCE)
    check_tree(solution, branches)
    assert solution.outcome is Outcome.REACHED
    assert solution.iterations < 50
    assert max(solution.errors.values()) <= TOLERANCE


@pytest.mark.parametrize("weight", [1.0, 2.0, 5.0])
def test_targets_that_cannot_both_be_met_share_the_error_by_weight(weight):
    branches = hand((60.0, 50.0), (60.0, -50.0), weight=weight)
    solution = solve_tree(branches)
    check_tree(solution, branches)
    assert solution.outcome is Outcome.SETTLED
    left, right = solution.errors["left"], solution.errors["right"]
    # The targets lie 100 apart, and both branches together are 40 long.
    assert left + right == pytest.approx(60.0, abs=0.01)
    assert weight * left == pytest.approx(right, abs=0.01)


def test_a_parent_with_a_target_of_its_own_shares_as_well():
    branches = {
        "trunk": Branch([30.0, 30.0, 30.0], target=(50.0, 0.0), weight=3.0),
        "leaf": Branch([10.0], "trunk", (50.0, 50.0)),
    }
    solution = solve_tree(branches)
    check_tree(solution, branches)
    assert solution.errors["leaf"] == pytest.approx(3.0 * solution.errors["trunk"], abs=0.01)
    assert solution.errors["leaf"] + solution.errors["trunk"] == pytest.approx(40.0, abs=0.01)


def test_a_tree_of_one_branch_is_a_chain():
    branches = {"only": Branch([20.0] * 5, target=(40.0, 30.0), start=[0.5, 0.1, 0.1, 0.1, 0.1])}
    solution = solve_tree(branches)
    chain = solve([0.5, 0.1, 0.1, 0.1, 0.1], [20.0] * 5, (40.0, 30.0), refined=False)
    assert solution.iterations == chain.iterations
    assert solution.positions["only"] == pytest.approx(chain.positions)


def test_branches_grow_from_branches_in_any_order_and_from_one_base():
    branches = {
        "tip": Branch([10.0], "middle", (50.0, 45.0)),
        "side": Branch([10.0, 10.0], "middle", (40.0, 50.0)),
        "middle": Branch([20.0, 20.0], "trunk"),
        "trunk": Branch([30.0, 30.0]),
        "other": Branch([25.0, 25.0], None, (-20.0, -10.0)),
    }
    solution = solve_tree(branches, base=(5.0, 5.0))
    check_tree(solution, branches, base=(5.0, 5.0))
    assert solution.outcome is Outcome.REACHED


def test_it_starts_where_the_last_solution_left_it():
    branches = hand()
    first = solve_tree(branches)
    moved = {
        name: Branch(branch.lengths, branch.parent, branch.target, 1.0, first.positions[name])
        for name, branch in branches.items()
    }
    assert solve_tree(moved).iterations == 0
    moved["left"] = Branch([10.0, 10.0], "trunk", (70.5, 10.0), 1.0, first.positions["left"])
    second = solve_tree(moved)
    assert second.outcome is Outcome.REACHED
    assert second.iterations < first.iterations
    assert second.positions["trunk"] == pytest.approx(first.positions["trunk"], abs=2.0)


def test_the_same_tree_gives_the_same_solution_and_iterations_are_bounded():
    first, second = (solve_tree(hand()) for _ in range(2))
    for name, positions in first.positions.items():
        assert positions.tobytes() == second.positions[name].tobytes()
    short = solve_tree(hand(), max_iterations=2)
    assert short.iterations == 2
    assert short.outcome is Outcome.OUT_OF_ITERATIONS


LEAF = Branch([10.0], "trunk", (10.0, 10.0))


@pytest.mark.parametrize(
    ("branches", "text"),
    [
        ({}, "a tree must have at least one branch"),
        (
            {"a": Branch([1.0], "b"), "b": Branch([1.0], "c"), "c": Branch([1.0], "b")},
            "branches grow from one another in a cycle: b -> c -> b",
        ),
        ({"a": Branch([1.0], "a", (1.0, 0.0))}, "in a cycle: a -> a"),
        ({"trunk": Branch([], target=(1.0, 0.0))}, "branch 'trunk' has no segments"),
        ({"trunk": Branch([5.0]), "a": Branch([], "trunk")}, "branch 'a' has no segments"),
        (
            {"trunk": Branch([5.0]), "a": LEAF, "b": Branch([5.0], "trunk")},
            "branch 'b' has neither a target nor branches that grow from it",
        ),
        (
            {"a": LEAF, "b": Branch([5.0])},
            "branch 'a' grows from 'trunk', which there is not; there are: a, b",
        ),
        (
            {"trunk": Branch([5.0, -1.0], target=(1.0, 0.0))},
            r"lengths of branch 'trunk' must be finite and above 0, got \[5.0, -1.0\]",
        ),
        ({"trunk": Branch([[5.0]], target=(1.0, 0.0))}, "lengths of branch 'trunk' must have"),
        (
            {"trunk": Branch([5.0], target=(1.0, math.nan))},
            "target of branch 'trunk' must be two finite numbers",
        ),
        (
            {"trunk": Branch([5.0], target=(1.0, 0.0), weight=0.0)},
            "weight of branch 'trunk' must be finite and above 0, got 0.0",
        ),
        (
            {"trunk": Branch([5.0], target=(1.0, 0.0), start=[0.0, 0.0])},
            "start of branch 'trunk' must be 1 finite joint angles or 2 finite joint positions",
        ),
    ],
)
def test_a_tree_that_cannot_be_is_refused_by_name(branches, text):
    with pytest.raises(ValueError, match=text):
        solve_tree(branches)


def test_a_base_that_is_no_point_is_refused():
    with pytest.raises(ValueError, match="base must be two finite numbers"):
        solve_tree(hand(), base=(1.0, math.inf))
