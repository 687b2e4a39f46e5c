"""A reach controller and a simulated world, in two processes: who holds what, whatever happens."""

from __future__ import annotations

import math
import signal

import pytest
from sensor_msgs.msg import JointState
from stage import FOOD, SEGMENTS, Stage, angles_of, base_of, joints_of, stamp_of
from visualization_msgs.msg import MarkerArray

from octo_reach.ros.frames import joint_names, position_in_world
from octo_reach.ros.objects import (
    ADD,
    DELETE,
    ObjectChange,
    WorldObject,
    object_marker,
    objects_from_markers,
)
from octo_reach.ros.quality_of_service import LATCHED, OBJECTS, STREAM
from octo_reach.ros.targets import target_message

# Where a grasp and a carry that start from the starting pose succeed; the model is deterministic.
MEAL = (-0.08, 0.12)
AWAY = (0.1, 0.14)
NEAR = (0.0, 0.18)
"""A way on which the meal can be taken again wherever it is laid down."""
STAYS = (0.0, 0.5)
RADIUS = 0.012


class Listener:
    """What a world says of its objects, as a controller takes it.

    Attributes:
        known: the objects by number.
        count: number of messages heard.
        places: where object 1 lay free, message by message; None where it was held.
    """

    def __init__(self, stage: Stage, topic: str = "objects") -> None:
        self.known: dict[int, ObjectChange] = {}
        self.count = 0
        self.places: list[tuple[float, float] | None] = []
        self._stage = stage
        stage.probe.node.create_subscription(MarkerArray, topic, self._hear, OBJECTS)

    def _hear(self, message: MarkerArray) -> None:
        self.count += 1
        for change in objects_from_markers("objects", message):
            if change.number is None:
                self.known.clear()
            elif change.action == ADD:
                self.known[change.number] = change
            elif change.action == DELETE:
                self.known.pop(change.number, None)
        meal = self.known.get(1)
        if meal is not None:
            self.places.append(meal.position if meal.holder is None else None)

    def holder(self, number: int = 1) -> int | None:
        """Give the arm that holds an object, None where it lies free or is not there."""
        thing = self.known.get(number)
        return thing.holder[0] if thing is not None and thing.holder is not None else None

    def lies_at(self, position: tuple[float, float], number: int = 1) -> bool:
        """Tell whether an object lies free at a place."""
        thing = self.known.get(number)
        return thing is not None and thing.holder is None and thing.position == position

    def wait_for_holder(self, arm: int | None, number: int = 1) -> ObjectChange:
        """Wait until the world says that an arm holds an object, or that it lies free."""
        self._stage.probe.wait_until(
            lambda: number in self.known and self.holder(number) == arm,
            f"object {number} is in the hands of {arm}",
            report=lambda: str(self.known),
        )
        return self.known[number]

    def wait_for_reports(self, count: int) -> None:
        """Wait for so many messages more: one a second, or 60 while something is held."""
        wanted = self.count + count
        self._stage.probe.wait_until(lambda: self.count >= wanted, f"{count} reports")


def place_of(stage: Stage, thing: ObjectChange) -> tuple[float, float]:
    """Give where an object is, (x, y), m, by the world's word and the arm's latest angles."""
    if thing.holder is None:
        return thing.position
    arm, segment = thing.holder
    angles = angles_of(stage.joint_states.latest, arm)
    origin = joints_of(angles, base_of(arm))[segment]
    return position_in_world(thing.position, origin, sum(angles[:segment]))


def is_silent(stage: Stage) -> bool:
    """Listen for a tenth of a second; tell whether nobody said how arms stand."""
    heard = stage.joint_states.count
    stage.probe.spin_for(0.1)
    return stage.joint_states.count == heard


def edit(stage: Stage, x: float, y: float) -> None:
    """Put the meal elsewhere, as a user would."""
    stage.probe.send("scene/edit", object_marker(WorldObject(1, FOOD, (x, y), RADIUS)))


@pytest.fixture(scope="module")
def running(shared_stage) -> Stage:
    """A stage with a world and a controller side by side, the processes `world` and `brain`."""
    stage = shared_stage
    stage.scene = stage.write_scene(food=[MEAL, STAYS])
    stage.world_node = stage.world(stage.scene, ready=None)
    stage.brain = stage.controller(stage.scene, ready=None)
    for process in (stage.world_node, stage.brain):
        process.wait_for_line("ready: ")
    stage.objects = Listener(stage)
    stage.joint_states.wait_for()
    stage.states.wait_for()
    return stage


@pytest.fixture
def pair(running) -> Stage:
    """The same, with the meal where the file has it and the arm in its starting pose, idle."""
    for action in ("release", "reset"):
        running.probe.trigger(f"arm_1/{action}")
    running.probe.trigger("simulated_world/reset")
    running.probe.wait_until(
        lambda: running.objects.lies_at(MEAL),
        "the meal lies where the file has it",
    )
    running.wait_for_state("Idle")
    return running


def grasp(stage: Stage) -> ObjectChange:
    """Let the arm take the meal, and give what the world says of it then."""
    stage.send(1, *MEAL)
    held = stage.objects.wait_for_holder(1)
    stage.wait_for_report(lambda report: report.object == 1, "holds the meal")
    return held


def test_food_is_grasped_carried_and_laid_down_and_both_nodes_agree(pair):
    held = grasp(pair)
    # Taken where it lay, and not dragged there.
    assert place_of(pair, held) == pytest.approx(MEAL, abs=1e-4)
    pair.send(1, *AWAY)
    pair.wait_for_state("Carrying")
    pair.wait_for_state("Holding")
    pair.fresh_joint_states()
    # The destination was the meal's, and it is there.
    assert math.dist(place_of(pair, pair.objects.known[1]), AWAY) <= 0.0021
    assert pair.objects.known[1].position == held.position
    assert pair.objects.known[1].holder == held.holder
    pair.probe.trigger("arm_1/release")
    laid = pair.objects.wait_for_holder(None)
    assert math.dist(laid.position, AWAY) <= 0.0021
    # It stays where it was laid when the arm is gone.
    pair.probe.trigger("arm_1/reset")
    pair.objects.wait_for_reports(1)
    assert pair.objects.known[1] == laid
    assert pair.objects.known[2].position == STAYS


def test_an_object_moved_by_somebody_while_it_is_held_is_let_go_and_never_snaps_back(pair):
    grasp(pair)
    pair.send(1, *AWAY)
    pair.wait_for_state("Carrying")
    places = pair.objects.places
    places.clear()
    edit(pair, 0.3, 0.3)
    pair.wait_for_report(lambda report: report.object is None, "has let go")
    line = pair.brain.wait_for_line("lets go of object 1")
    assert "arm_1 lets go of object 1: it is reported to lie free" in line
    # Edits right after, as of somebody who drags it, are taken too.
    edit(pair, 0.15, 0.1)
    pair.probe.wait_until(lambda: places[-1:] == [(0.15, 0.1)], "the meal is where it was put")
    pair.objects.wait_for_reports(1)
    free = [place for place in places if place is not None]
    assert set(free) == {(0.3, 0.3), (0.15, 0.1)}
    # It was in the hand until it was taken out of it, and is not again.
    assert None not in places[places.index((0.3, 0.3)) :]
    # And the arm finds it where it is now.
    pair.send(1, 0.15, 0.1)
    pair.objects.wait_for_holder(1)
    pair.wait_for_report(lambda report: report.object == 1, "holds the meal again")


def test_a_world_that_dies_and_returns_takes_nothing_out_of_a_hand(pair):
    held = grasp(pair)
    pair.start.crash(pair.world_node)
    said = len(pair.brain.matching("lets go"))
    # The controller goes on with what it knows.
    pair.send(1, *AWAY)
    pair.wait_for_state("Carrying")
    pair.wait_for_state("Holding")
    pair.objects.known.clear()
    pair.world_node = pair.world(pair.scene)
    pair.objects.wait_for_holder(1)
    # For longer than the grace, and than the world waits for answers.
    pair.objects.wait_for_reports(60)
    assert pair.objects.known[1].holder == held.holder
    assert pair.objects.known[1].position == held.position
    assert pair.objects.known[2].position == STAYS
    assert pair.report().object == 1
    assert len(pair.brain.matching("lets go")) == said
    pair.fresh_joint_states()
    assert math.dist(place_of(pair, pair.objects.known[1]), AWAY) <= 0.0021


def test_a_world_that_stood_still_for_a_while_blames_nobody_for_the_silence(pair):
    held = grasp(pair)
    pair.world_node.process.send_signal(signal.SIGSTOP)
    try:
        # The arm speaks all the while, for longer than one may be silent.
        until = stamp_of(pair.fresh_joint_states()) + 4_000_000_000
        pair.joint_states.wait_for(lambda message: stamp_of(message) >= until, "time went by")
    finally:
        pair.world_node.process.send_signal(signal.SIGCONT)
    pair.objects.known.clear()
    pair.objects.wait_for_reports(60)
    assert pair.objects.known[1].holder == held.holder
    assert pair.report().object == 1
    assert not pair.world_node.matching("nothing was heard of it")


def test_a_controller_that_dies_while_it_carries_leaves_the_object_where_it_was(pair):
    grasp(pair)
    pair.send(1, *NEAR)
    pair.wait_for_state("Carrying")
    pair.joint_states.wait_for_next(12)
    pair.start.crash(pair.brain)
    pair.probe.wait_until(lambda: is_silent(pair), "its last words are heard")
    last = place_of(pair, pair.objects.known[1])
    # The next one starts while the world still waits for the first to say something.
    pair.brain = pair.controller(pair.scene, ready=None, planner="guided")
    laid = pair.objects.wait_for_holder(None)
    # The world and this test need not have heard the same last words: a step is a few millimetres.
    assert laid.position == pytest.approx(last, abs=8e-3)
    assert math.dist(laid.position, MEAL) > 0.01
    pair.brain.wait_for_line("ready: ")
    # It finds the meal there, and takes it. The one that died is counted as a listener until it has
    # been silent for twenty seconds.
    pair.send(1, *laid.position, listeners=2)
    pair.objects.wait_for_holder(1)
    pair.wait_for_report(lambda report: report.object == 1, "holds the meal again")
    assert not pair.brain.matching("lets go")


class Relay:
    """Hands the world's reports on to a controller of its own topic, or keeps them back."""

    def __init__(self, stage: Stage, target: str) -> None:
        self.open = True
        self._publisher = stage.probe.publisher(MarkerArray, target, LATCHED)
        stage.probe.node.create_subscription(MarkerArray, "objects", self._hear, OBJECTS)

    def _hear(self, message: MarkerArray) -> None:
        if self.open:
            self._publisher.publish(message)


def claim_for_arm_2(stage: Stage) -> None:
    """Claim the meal for the arm that is played here; see `be_arm_2`."""
    marker = object_marker(WorldObject(1, FOOD, (0.0, 0.0), RADIUS, (2, 3), (0.0, 0.0)))
    stage.probe.send("grasps", MarkerArray(markers=[marker]), qos=LATCHED)


def be_arm_2(stage: Stage) -> None:
    """Speak for an arm of a controller that is played here, from now on while the probe waits."""
    message = JointState()
    message.name = joint_names(2, SEGMENTS)
    message.position = [0.0] * SEGMENTS
    stage.probe.send("joint_states", message, qos=STREAM)
    publisher = stage.probe.publisher(JointState, "joint_states", STREAM)
    stage.probe.node.create_timer(0.05, lambda: publisher.publish(message))


def test_a_claim_for_what_another_arm_has_is_refused_and_the_arm_lets_go(stage):
    scene = stage.write_scene((1, 2), food=[MEAL])
    stage.world_process = stage.world(scene, ready=None)
    stage.process = stage.controller(
        scene, arms="1", remappings={"objects": "late_objects"}, ready=None
    )
    relay = Relay(stage, "late_objects")
    objects = Listener(stage)
    stage.process.wait_for_line("ready: ")
    objects.wait_for_holder(None)
    stage.wait_for_diagnostics(
        lambda values: values["object feed age (s)"] != "never heard", "the meal is known"
    )
    # What the world says from now on comes late: arm 2 has the meal before arm 1 hears of it.
    relay.open = False
    be_arm_2(stage)
    claim_for_arm_2(stage)
    objects.wait_for_holder(2)
    stage.send(1, *MEAL)
    stage.wait_for_report(lambda report: report.object == 1, "holds what it cannot have")
    stage.world_process.wait_for_line("arm_1 may not hold food 1: another arm holds it")
    assert objects.holder() == 2
    relay.open = True
    stage.wait_for_report(lambda report: report.object is None, "lets go")
    stage.process.wait_for_line("arm_1 lets go of object 1: it is reported to be held by arm_2")
    assert objects.holder() == 2


NEIGHBOURS = [
    {"number": 1, "base": [0.0, 0.0], "heading_degrees": 90, "target": {"position": [0.1, 0.12]}},
    {"number": 2, "base": [0.2, 0.0], "heading_degrees": 90, "target": {"position": [0.1, 0.12]}},
]


def test_two_controllers_after_the_same_food_end_with_one_that_has_it(stage):
    scene = stage.write_scene(arms=NEIGHBOURS, food=[(0.1, 0.12)])
    namespace = stage.start.namespace
    world = stage.world(scene, ready=None)
    # Their own topics, but for those by which they meet.
    meet = {name: f"{namespace}/{name}" for name in ("joint_states", "grasps", "objects")}
    controllers = {
        arm: stage.controller(
            scene, arms=str(arm), namespace=f"{namespace}/own_{arm}", remappings=meet, ready=None
        )
        for arm in (1, 2)
    }
    for process in (world, *controllers.values()):
        process.wait_for_line("ready: ")
    objects = Listener(stage)
    stage.probe.wait_until(lambda: objects.holder() is not None, "somebody has the food")
    winner = objects.holder()
    loser = 3 - winner
    objects.wait_for_reports(60)
    assert objects.holder() == winner
    # Once it is let go, the other one may have it.
    stage.probe.trigger(f"own_{winner}/arm_{winner}/release")
    objects.wait_for_holder(None)
    stage.probe.trigger(f"own_{winner}/arm_{winner}/reset")
    x, y = objects.known[1].position
    stage.probe.send(f"own_{loser}/arm_{loser}/target", target_message(x, y))
    objects.wait_for_holder(loser)


def test_time_from_the_world_stops_and_goes_on_with_everything_in_hand(stage):
    scene = stage.write_scene(food=[MEAL])
    stage.world_process = stage.start(
        "simulated_world", {"scene": scene, "publish_clock": True}, ready=None
    )
    stage.process = stage.controller(scene, use_sim_time=True, ready=None)
    stage.process.wait_for_line("ready: ")
    stage.objects = objects = Listener(stage)
    stage.joint_states.wait_for()
    stage.wait_for_diagnostics(
        lambda values: values["object feed age (s)"] != "never heard", "objects were heard of"
    )
    grasp(stage)
    stage.send(1, *AWAY)
    stage.wait_for_state("Carrying")
    stage.probe.set_flag("simulated_world/pause", True)
    stage.probe.spin_for(0.2)
    stands = stamp_of(stage.joint_states.latest)
    # Longer than the world waits for an arm that says nothing.
    stage.probe.spin_for(1.3)
    assert stamp_of(stage.joint_states.latest) == stands
    assert objects.holder() == 1
    stage.probe.set_flag("simulated_world/pause", False)
    stage.wait_for_state("Holding")
    settled = stamp_of(stage.states.latest)
    stage.joint_states.wait_for(lambda message: stamp_of(message) >= settled)
    assert math.dist(place_of(stage, objects.known[1]), AWAY) <= 0.0021
    assert not stage.process.matching("lets go")
