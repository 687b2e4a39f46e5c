"""A reach controller on clocks that the test holds in its hand."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from rosgraph_msgs.msg import Clock
from stage import FOOD, HAZARD, NOTHING_DROPPED, Stage, stamp_of, tip_of
from visualization_msgs.msg import MarkerArray

from octo_reach.ros.objects import WorldObject, delete_all_marker
from octo_reach.ros.quality_of_service import LATCHED, STREAM

CONTROLLER = "reach_controller"
HOME = (0.05, 0.15)
AWAY = (-0.1, 0.12)
SECOND = 1_000_000_000
PERIODS = {8_333_333, 8_333_334}


class HeldClock:
    """What the test says on /clock.

    Attributes:
        now: the time it said last, ns.
    """

    def __init__(self, stage: Stage, now: int = 1000 * SECOND) -> None:
        """Say nothing yet."""
        self.now = now
        self._probe = stage.probe
        self._publisher = stage.probe.publisher(Clock, "/clock", STREAM)

    def say(self) -> None:
        """Say what time it is."""
        seconds, rest = divmod(self.now, SECOND)
        self._publisher.publish(Clock(clock=Time(sec=seconds, nanosec=rest)))

    def jump(self, seconds: float) -> None:
        """Be another time at once."""
        self.now += round(seconds * SECOND)
        self.say()

    def run(self, seconds: float, factor: float = 1.0, tick: float = 0.005) -> None:
        """Let simulated time pass, and listen meanwhile.

        Args:
            seconds: how much of it, s.
            factor: simulated seconds for each second.
            tick: how far the clock goes at once, s.
        """
        begun, start = time.monotonic(), self.now
        for count in range(1, round(seconds / tick) + 1):
            self.now = start + round(count * tick * SECOND)
            self.say()
            self._probe.spin_for(max(0.0, begun + count * tick / factor - time.monotonic()))


def settle(stage: Stage, clock: HeldClock) -> None:
    """Wait until the controller has heard what time it is and has done what was due."""
    heard = stage.joint_states

    def is_up_to_date() -> bool:
        # A clock that stands is said again, by those who have one, for those who come late.
        clock.say()
        stage.probe.spin_for(0.02)
        return bool(heard.count) and 0 <= clock.now - stamp_of(heard.latest) < 8_333_334

    stage.probe.wait_until(is_up_to_date, "steps up to the time of the clock")


@pytest.fixture(scope="module")
def running(shared_stage) -> Stage:
    """A stage with a controller of one arm that lives by the clock of the test, `stage.clock`."""
    scene = shared_stage.write_scene(target=HOME)
    shared_stage.process = shared_stage.controller(scene, use_sim_time=True)
    shared_stage.clock = HeldClock(shared_stage)
    shared_stage.probe.wait_until(
        lambda: shared_stage.clock._publisher.get_subscription_count(), "somebody reads the clock"
    )
    return shared_stage


@pytest.fixture
def simulated(running):
    """The same, with nothing owed and no objects."""
    running.probe.set_flag("reach_controller/pause", False)
    running.probe.set_parameters(CONTROLLER, object_timeout=0.0)
    running.probe.send("objects", MarkerArray(markers=[delete_all_marker()]), qos=LATCHED)
    running.send(1, *HOME)
    settle(running, running.clock)
    running.wait_for_target(*HOME)
    running.joint_states.clear()
    return running


def stamps_of(stage: Stage) -> list[int]:
    """Give the different stamps of the joint states heard, in their order."""
    stamps = [stamp_of(message) for message in stage.joint_states.messages]
    return [stamp for stamp, _ in itertools.groupby(stamps)]


# A clock that never comes, and one that comes late


def test_a_clock_that_never_comes_is_waited_for_and_that_is_said_once(stage):
    process = stage.controller(stage.write_scene(target=HOME), use_sim_time=True)
    process.wait_for_line("waiting for /clock")
    heard = stage.joint_states
    stage.wait_for_state("Reaching")
    # It is there all the same: it hears, answers and reports.
    stage.send(1, *AWAY)
    stage.wait_for_target(*AWAY)
    assert not stage.probe.trigger("reach_controller/step").success
    stage.probe.set_flag("reach_controller/pause", True)
    answer = stage.probe.trigger("reach_controller/step")
    assert not answer.success and answer.message == "waiting for /clock: no step was taken"
    stage.probe.set_flag("reach_controller/pause", False)
    stage.probe.spin_for(1.2)
    assert heard.count == 0
    stage.probe.wait_for_line(process, "waiting for /clock")
    assert len(process.matching("waiting for /clock")) == 1
    clock = HeldClock(stage, now=77 * SECOND)
    clock.run(0.3)
    settle(stage, clock)
    # Steps begin where the clock begins: nothing is owed for the time before.
    stamps = stamps_of(stage)
    assert 77 * SECOND < stamps[0] < 77 * SECOND + SECOND // 4
    assert len(process.matching("waiting for /clock")) == 1


# Clocks that run


def test_steps_follow_the_clock_and_never_run_ahead_of_it(simulated):
    clock, heard = simulated.clock, simulated.joint_states
    before = simulated.wait_for_diagnostics(lambda values: True, "any")
    ahead = []
    original = heard.hear

    def hear(message, info):
        ahead.append(stamp_of(message) - clock.now)
        original(message, info)

    heard.subscription.callback = hear
    heard.clear()
    begun = clock.now
    try:
        clock.run(0.3, factor=0.5)
        clock.run(4.0, factor=5.0)
        # A coarse clock: twelve steps at once.
        clock.run(0.6, tick=0.1)
        settle(simulated, clock)
    finally:
        heard.subscription.callback = original
    assert max(ahead) <= 0
    stamps = stamps_of(simulated)
    gaps = np.diff(stamps) / SECOND * 120.0
    assert gaps == pytest.approx(np.round(gaps), abs=1e-6)
    # From the clock's first time to its last, every step was taken, or counted as dropped: five
    # times as fast, a tenth of a second is over in a fiftieth.
    assert clock.now - begun == round(4.9 * SECOND)
    assert stamps[0] <= begun + 8_333_334
    assert stamps[-1] > clock.now - 8_333_334
    skipped = np.round(gaps).sum() - len(gaps)
    assert skipped <= 0.5 * 4.9 * 120
    after = simulated.wait_for_diagnostics(lambda values: True, "any")
    dropped = float(after["dropped time (s)"]) - float(before["dropped time (s)"])
    assert dropped * 120 == pytest.approx(skipped, abs=0.6)


@pytest.fixture
def nothing_dropped(simulated):
    """The same stage with a controller that catches everything up, for a machine that may halt."""
    simulated.probe.set_parameters(CONTROLLER, catch_up=NOTHING_DROPPED)
    yield simulated
    simulated.probe.set_parameters(CONTROLLER, catch_up=0.1)


def test_rates_are_told_by_the_clocks_own_seconds(nothing_dropped):
    clock, heard = nothing_dropped.clock, nothing_dropped.diagnostics

    def report():
        clock.run(0.2, factor=2.0, tick=0.02)
        if heard.count < 2:
            return None
        status = heard.latest.status[0]  # those of the arms come after it
        values = {value.key: value.value for value in status.values}
        steady = math.isclose(float(values["rate (Hz)"]), 120.0, abs_tol=6.0)
        return values if steady and status.level == status.OK else None

    before = nothing_dropped.wait_for_diagnostics(lambda values: True, "any")
    heard.clear()
    values = nothing_dropped.probe.wait_until(report, "its rate", report=lambda: str(heard.latest))
    # The clock ticks in twos and threes of steps; that alone makes nobody late, of 480 steps.
    assert int(values["missed steps"]) - int(before["missed steps"]) < 120


# Clocks that do not run


def test_a_clock_that_stands_stops_the_arm_and_nothing_else(simulated):
    clock, heard = simulated.clock, simulated.joint_states
    simulated.send(1, *AWAY)
    clock.run(0.1)
    settle(simulated, clock)
    heard.clear()
    first = heard.wait_for_next(2)
    last = heard.wait_for_next(5)
    assert stamp_of(first) == stamp_of(last) <= clock.now
    assert list(first.position) == list(last.position)
    assert set(last.velocity) == {0.0}
    simulated.send(1, 0.1, 0.1)
    simulated.wait_for_target(0.1, 0.1)
    assert simulated.probe.trigger("arm_1/idle").success
    simulated.wait_for_state("Idle")
    simulated.diagnostics.wait_for(
        lambda message: message.status[0].message == "the clock stands still"
    )
    # When it goes on, nothing has to be caught up.
    heard.clear()
    clock.run(0.05)
    settle(simulated, clock)
    assert set(np.diff(stamps_of(simulated))) <= PERIODS
    assert len(stamps_of(simulated)) <= 8


def test_a_clock_that_jumps_ahead_is_caught_up_for_a_tenth_of_a_second(simulated):
    clock = simulated.clock
    before = simulated.wait_for_diagnostics(lambda values: True, "any")
    clock.jump(60.0)
    settle(simulated, clock)
    stamps = [stamp for stamp in stamps_of(simulated) if stamp > clock.now - 30 * SECOND]
    assert len(stamps) == 12
    assert set(np.diff(stamps)) <= PERIODS
    values = simulated.wait_for_diagnostics(
        lambda values: values["dropped time (s)"] != before["dropped time (s)"], "dropped time"
    )
    dropped = float(values["dropped time (s)"]) - float(before["dropped time (s)"])
    assert dropped == pytest.approx(59.9, abs=0.02)


def come_home(stage: Stage) -> None:
    """Let time pass until the arm has reached its target."""
    stage.probe.wait_until(
        lambda: stage.clock.run(0.1, factor=4.0) or stage.report().state == "Reached",
        "the arm reaches its target",
    )
    settle(stage, stage.clock)


def start_a_grasp(stage: Stage) -> None:
    """Let the arm rest on a piece of food and begin to take it, far from being done."""
    clock = stage.clock
    come_home(stage)
    stage.place(WorldObject(5, FOOD, tip_of(stage.joint_states.latest, 1), 0.012))
    while stage.report().state != "Grasping":
        clock.run(0.01)
        settle(stage, clock)
    clock.run(0.1)
    settle(stage, clock)
    report = stage.wait_for_report(lambda report: True, "is reported")
    assert report.object is None
    assert 0.05 < report.dwell < 0.2


def test_a_clock_that_jumps_back_clears_the_dwell_and_goes_on(simulated):
    clock, process = simulated.clock, simulated.process
    start_a_grasp(simulated)
    marks = len(process.matching("the clock jumped back"))
    clock.jump(-500.0)
    simulated.wait_for_report(lambda report: report.dwell == 0.0, "has begun anew")
    simulated.probe.wait_until(
        lambda: len(process.matching("the clock jumped back")) > marks, "it says so"
    )
    assert len(process.matching("the clock jumped back")) == marks + 1
    simulated.joint_states.clear()
    clock.run(0.2)
    settle(simulated, clock)
    # A quarter of a second by the clock since the jump has not passed.
    assert simulated.wait_for_report(lambda report: True, "is reported").object is None
    stamps = stamps_of(simulated)
    assert set(np.diff(stamps)) <= PERIODS
    assert stamps[-1] <= clock.now
    clock.run(0.1)
    simulated.wait_for_report(lambda report: report.object == 5, "holds the food")


def test_a_pause_stops_the_dwell_while_the_clock_runs(simulated):
    clock = simulated.clock
    start_a_grasp(simulated)
    simulated.probe.set_flag("reach_controller/pause", True)
    dwell = simulated.wait_for_report(lambda report: True, "is reported").dwell
    clock.run(1.0, factor=5.0)
    report = simulated.wait_for_report(lambda report: True, "is reported")
    assert (report.dwell, report.object) == (dwell, None)
    # Single steps count, and each for one.
    simulated.probe.trigger("reach_controller/step")
    report = simulated.wait_for_report(lambda report: report.dwell > dwell, "dwells on")
    assert report.dwell - dwell == pytest.approx(1 / 120, abs=2e-3)
    simulated.probe.set_flag("reach_controller/pause", False)
    clock.run(0.3)
    simulated.wait_for_report(lambda report: report.object == 5, "holds the food")


# Objects that are no longer reported


def test_arms_hold_and_say_so_when_the_object_feed_is_too_old(simulated):
    clock, probe = simulated.clock, simulated.probe
    far = WorldObject(9, HAZARD, (3.0, 3.0), 0.01)
    simulated.place(far)
    (result,) = probe.set_parameters(CONTROLLER, object_timeout=0.6)
    assert result.successful
    simulated.wait_for_report(lambda report: "object feed is too old" in report.warning, "holds")
    simulated.send(1, *AWAY)
    clock.run(0.2)
    settle(simulated, clock)
    simulated.joint_states.clear()
    clock.run(0.2)
    settle(simulated, clock)
    # Steps go on, and the arm stays where it is.
    assert len(stamps_of(simulated)) > 20
    positions = np.array([message.position for message in simulated.joint_states.messages])
    assert np.ptp(positions, axis=0).max() == 0.0
    report = simulated.report()
    assert report.warns and report.target == pytest.approx(AWAY)
    simulated.diagnostics.wait_for(
        lambda message: "the object feed is" in message.status[0].message
    )
    # A clock that jumps back makes everything fresh, for a while.
    clock.jump(-20.0)
    simulated.wait_for_report(lambda report: not report.warning, "does not hold")
    simulated.wait_for_report(lambda report: report.warning, "holds again")
    # So does a message, whatever its stamp says.
    simulated.place(far)
    simulated.wait_for_report(lambda report: not report.warning, "does not hold")
    probe.set_parameters(CONTROLLER, object_timeout=0.0)
    come_home(simulated)


def test_a_timeout_that_a_world_at_rest_does_not_keep_is_warned_of_once(stage):
    process = stage.controller(stage.write_scene(target=HOME), object_timeout=0.5)
    warning = "object_timeout is {} s, but a world at rest reports its objects every 1 s: "
    for limit in (1.0, 1.01, 0.0):
        (result,) = stage.probe.set_parameters(CONTROLLER, object_timeout=limit)
        assert result.successful
    # Another parameter does not warn again; after the last line, all that came before is there.
    stage.probe.set_parameters(CONTROLLER, rate=100.0)
    stage.probe.set_parameters(CONTROLLER, object_timeout=0.25)
    stage.probe.wait_for_line(process, warning.format(0.25))
    for limit in (0.5, 1, 0.25):
        assert len(process.matching(warning.format(limit) + "arms will hold in between")) == 1
    assert len(process.matching("object_timeout is")) == 3


# Another clock


def test_the_clock_can_be_changed_at_run_time(nothing_dropped):
    simulated = nothing_dropped
    before = simulated.wait_for_diagnostics(lambda values: True, "any")["dropped time (s)"]
    (result,) = simulated.probe.set_parameters(CONTROLLER, use_sim_time=False)
    assert result.successful
    heard = simulated.joint_states
    heard.wait_for(lambda message: stamp_of(message) > 1_000_000 * SECOND, "the time of day")
    heard.clear()
    heard.wait_for_next(30)
    assert set(np.diff(stamps_of(simulated))) <= PERIODS
    values = simulated.wait_for_diagnostics(lambda values: True, "any")
    assert values["dropped time (s)"] == before
    (result,) = simulated.probe.set_parameters(CONTROLLER, use_sim_time=True)
    assert result.successful
    simulated.clock.run(0.2)
    settle(simulated, simulated.clock)
