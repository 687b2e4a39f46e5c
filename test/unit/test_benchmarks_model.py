import json
import math
import subprocess
import sys

import numpy as np
import pytest

from octo_reach import cli
from octo_reach.benchmarks import model
from octo_reach.model.geometry import forward_kinematics, segment_distance
from octo_reach.model.rules import ReachRules

KEYS = ["segments", "obstacles", "plain_us", "compiled_us", "p99_us", "speedup"]
KEYS += ["floor_us", "over_floor"]


def test_every_pair_of_sizes_is_measured_on_both_sides():
    shares: list[float] = []
    timings = model.measure_steps((2, 5), (0, 3), 0.01, shares.append)
    assert [(t.segments, t.obstacles) for t in timings] == [(2, 0), (2, 3), (5, 0), (5, 3)]
    for timing in timings:
        assert 0 < timing.steps <= model.MOST_ACTS * model.ACT_STEPS
        assert 0.0 < timing.plain_us < 1e6
        assert 0.0 < timing.compiled_us <= timing.p99_us
        assert timing.speedup == timing.plain_us / timing.compiled_us
        assert 0.0 < timing.floor_us < timing.compiled_us
        assert timing.over_floor == timing.compiled_us / timing.floor_us
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_more_time_is_spent_on_more_acts():
    short, long = (model.measure_steps((3,), (1,), seconds)[0] for seconds in (1e-9, 0.5))
    assert short.steps <= model.ACT_STEPS < long.steps


def test_an_act_is_the_same_every_time_and_others_are_others():
    assert model.write_act(20, 4, 0) == model.write_act(20, 4, 0)
    assert model.write_act(20, 4, 0) != model.write_act(20, 4, 1)


@pytest.mark.parametrize("segments", [20, 100])
def test_the_obstacles_of_an_act_stand_around_the_arm_and_not_on_it(segments):
    act = model.write_act(segments, 16, 0)
    rules = ReachRules.pixel()
    assert len(act.obstacles) == 16
    assert len(act.targets) * model.TARGET_STEPS == model.ACT_STEPS
    angles = [math.radians(act.heading_degrees), *[rules.initial_curve] * (segments - 1)]
    joints = forward_kinematics((0.0, 0.0), act.segment_length, angles)[0].tolist()
    for x, y, radius in act.obstacles:
        gaps = [segment_distance(*joints[i], *joints[i + 1], x, y) for i in range(segments)]
        assert radius + rules.arm_clearance < min(gaps)
        assert math.hypot(x, y) <= segments * model.LENGTH
        for target in act.targets:
            assert math.dist(target, (x, y)) > radius + rules.arm_clearance


def test_the_bare_loop_counts_only_what_lies_near_the_arm():
    straight = np.zeros(20)
    turned = np.concatenate([[0.001], np.zeros(19)])
    far = model.Act(20, 0.0, ((180.0, 300.0, 5.0),), ())
    assert model._needs_of_step(far, straight, turned) == (0, 0)
    # In sight of several segments for both looks, but neither sensed nor endangered.
    seen = model.Act(20, 0.0, ((180.0, 50.0, 5.0),), ())
    rebuilds, pairs = model._needs_of_step(seen, straight, turned)
    assert rebuilds == 0
    assert pairs > 0
    assert pairs % 2 == 0
    touched = model.Act(20, 0.0, ((180.0, 7.0, 5.0),), ())
    assert model._needs_of_step(touched, straight, turned)[0] == 1
    assert model._needs_of_step(touched, straight, turned)[1] > pairs


def test_the_bare_loop_does_all_that_it_is_told_to_do():
    points = np.array([[9.0, 0.0]] * 64)
    # Three unit vectors to where it lies; a chain of three towards it ends at (3, 0).
    assert model.bare_step(3, 0, 0, 0, points) == 6.0
    turned = math.cos(9) + math.sin(9)
    assert model.bare_step(3, 2, 0, 0, points) == pytest.approx(6.0 + 6 * turned)
    # A chain that has come past it turns round: each segment turns from where the last one ends.
    assert model.bare_step(4, 0, 0, 0, points / 4.0) == pytest.approx(4.0 + 2.0)
    apart = np.array([[0.0, 0.0], [1.0, 0.0], [4.0, 4.0], [0.0, 0.0]] * 16)
    assert model.bare_step(0, 0, 1, 0, apart) == 5.0
    assert model.bare_step(0, 0, 0, 2, points) == pytest.approx(2.0)


def test_sides_that_reach_different_poses_are_not_compared(monkeypatch):
    stepper = model.load_plain_stepper()
    original = stepper.PlainOctopus.step

    def limping(octopus, dt):
        original(octopus, dt)
        arm = next(iter(octopus._arms.values()))
        arm.set_angles([arm.angles[0], arm.angles[1] + 1e-6, *arm.angles[2:]])

    monkeypatch.setattr(stepper.PlainOctopus, "step", limping)
    monkeypatch.setattr(model, "load_plain_stepper", lambda: stepper)
    with pytest.raises(model.DisagreementError, match=r"differ by 1e-06 rad after step 1 of Act\("):
        model.measure_steps((3,), (0,), 0.01)


def test_steps_in_which_the_arm_was_held_back_do_not_count():
    act = model.write_act(20, 64, 7)
    plain = model._play_plain(model.load_plain_stepper(), act)
    still = [
        step
        for step in range(model.ACT_STEPS)
        if plain.poses[step].tolist() == plain.poses[step + 1].tolist()
    ]
    moved = model._compare(act, model._play_compiled(act), plain)
    assert still
    assert moved == [step for step in range(model.ACT_STEPS) if step not in still]


def test_an_arm_that_never_moves_cannot_be_timed(monkeypatch):
    monkeypatch.setattr(model, "_compare", lambda act, compiled, plain: [])
    with pytest.raises(ValueError, match="among 7 obstacles the arm never moved"):
        model.measure_steps((2,), (7,), 0.01)


def test_the_command_writes_json(capsys):
    arguments = ["bench", "model", "--json", "--segments", "2", "--obstacles", "0", "2"]
    assert cli.main([*arguments, "--seconds", "0.01"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert list(written) == ["rows"]
    assert [list(row) for row in written["rows"]] == [KEYS, KEYS]
    assert [(row["segments"], row["obstacles"]) for row in written["rows"]] == [(2, 0), (2, 2)]
    for row in written["rows"]:
        assert row["speedup"] == pytest.approx(row["plain_us"] / row["compiled_us"], abs=0.1)


def test_the_command_writes_a_table(capsys):
    arguments = ["bench", "model", "--segments", "3", "--obstacles", "1", "--seconds", "0.01"]
    assert cli.main(arguments) == 0
    written = capsys.readouterr()
    lines = [line.split() for line in written.out.splitlines()]
    assert any(line[:3] == ["segments", "obstacles", "plain"] for line in lines)
    assert any(line[:2] == ["3", "1"] and len(line) == 9 for line in lines)


@pytest.mark.parametrize(
    "arguments",
    [["--segments", "1"], ["--segments", "101"], ["--obstacles", "-1"], ["--seconds", "nan"]],
)
def test_sizes_that_cannot_be_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["bench", "model", *arguments])
    assert stopped.value.code == 2
    assert f"argument {arguments[0]}: must be" in capsys.readouterr().err


def test_a_missing_plain_stepper_is_said_in_one_line(monkeypatch, capsys):
    def missing(*parts):
        raise FileNotFoundError("octo_reach was installed without test/plain_stepper.py")

    monkeypatch.setattr(model, "share_path", missing)
    assert cli.main(["bench", "model", "--seconds", "0.01"]) == 2
    written = capsys.readouterr().err
    assert "octo-reach: octo_reach was installed without test/plain_stepper.py" in written


def test_without_numba_it_is_said_and_measured_all_the_same():
    program = (
        "import sys; sys.modules['numba'] = None; from octo_reach.cli import main;"
        " sys.exit(main(['bench', 'model', '--segments', '2', '--obstacles', '1',"
        " '--seconds', '0.01']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert "numba is not installed" in done.stderr
    assert "uncompiled" in done.stdout
