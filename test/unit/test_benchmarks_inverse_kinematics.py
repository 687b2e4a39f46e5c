import json
import math

import numpy as np
import pytest

from octo_reach import cli
from octo_reach.benchmarks import inverse_kinematics
from octo_reach.planners.inverse_kinematics.chain import Outcome, Solution

KEYS = ["joints", "limited", "method", "targets", "solved", "iterations", "microseconds", "call_us"]


@pytest.fixture(scope="module")
def figures():
    return {
        (figure.joints, figure.limited, figure.method): figure
        for figure in inverse_kinematics.compare_methods((10, 20), 40)
    }


def test_every_method_is_sent_to_the_same_targets_with_every_kind_of_chain(figures):
    methods = list(inverse_kinematics.METHODS)
    kinds = [(10, False), (10, True), (20, False), (20, True)]
    assert list(figures) == [(*kind, method) for kind in kinds for method in methods]
    for figure in figures.values():
        assert figure.targets == 40
        assert 0.0 <= figure.solved <= 1.0
        assert figure.call_us > 0.0


@pytest.mark.parametrize("joints", [10, 20])
def test_fabrik_needs_the_fewest_iterations_and_the_transpose_more_than_damping(figures, joints):
    def iterations(method):
        return figures[joints, False, method].iterations

    others = ("CCD", "damped least squares", "Jacobian transpose")
    assert iterations("FABRIK") < min(map(iterations, others))
    assert iterations("damped least squares") < iterations("Jacobian transpose")
    assert iterations("FABRIK, refined") <= iterations("FABRIK")
    assert figures[joints, False, "FABRIK, refined"].solved == 1.0


def test_targets_are_spread_evenly_over_the_disc_and_the_same_every_time():
    targets = np.array(inverse_kinematics.targets_within(100.0, 2000, 3))
    distances = np.hypot(*targets.T)
    assert distances.max() <= 100.0
    assert np.mean(distances < 100.0 / math.sqrt(2.0)) == pytest.approx(0.5, abs=0.05)
    assert np.mean(targets, axis=0) == pytest.approx([0.0, 0.0], abs=5.0)
    assert targets.tolist() == np.array(inverse_kinematics.targets_within(100.0, 2000, 3)).tolist()


def test_a_method_that_solves_less_than_half_has_no_median(monkeypatch):
    def hopeless(start, lengths, target, limits):
        return Solution(np.zeros((3, 2)), np.zeros(2), Outcome.SETTLED, 7, 5.0)

    monkeypatch.setattr(inverse_kinematics, "METHODS", {"hopeless": hopeless})
    shares: list[float] = []
    figure = inverse_kinematics.compare_methods((2,), 3, shares.append)[0]
    assert figure.solved == 0.0
    assert figure.iterations == math.inf
    assert figure.row()["iterations"] is None
    assert figure.row()["microseconds"] is None
    assert shares == pytest.approx([1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1.0])


def test_the_command_writes_json(capsys):
    assert cli.main(["bench", "ik", "--json", "--seeds", "3"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [list(row) for row in rows] == [KEYS] * (4 * len(inverse_kinematics.METHODS))
    assert {row["targets"] for row in rows} == {3}


def test_the_command_writes_a_table(capsys):
    assert cli.main(["bench", "ik", "--seeds", "2"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert any(line[:4] == ["joints", "limits", "method", "solved"] for line in lines)
    for joints in ("10", "20"):
        for limits in ("none", "60°"):
            for method in inverse_kinematics.METHODS:
                assert any(
                    " ".join(line).startswith(f"{joints} {limits} {method} ") for line in lines
                )


@pytest.mark.parametrize("seeds", ["0", "-3", "many", "1.5", "1000000"])
def test_a_number_of_targets_that_cannot_be_is_refused(seeds, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["bench", "ik", "--seeds", seeds])
    assert stopped.value.code == 2
    assert "--seeds: must be an integer from 1 to 100000" in capsys.readouterr().err
