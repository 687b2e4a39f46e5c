"""Which handles there are, where they are, and what is asked for with them.

Handles follow what they stand for, but not while somebody has them in hand: a handle that is moved
under the mouse jumps. All methods are to be called from one thread.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from geometry_msgs.msg import Pose
from visualization_msgs.msg import InteractiveMarker, InteractiveMarkerFeedback

from octo_reach.ros.interactive_markers import (
    ADD,
    DELETE,
    PLANNER,
    SCENE,
    Choice,
    Drag,
    Owner,
    arm_handle,
    object_handle,
    read_feedback,
    scene_handle,
)
from octo_reach.ros.validation import RejectedInput
from octo_reach.viewer.orders import (
    Act,
    ChoosePlanner,
    Order,
    Orders,
    Pause,
    PutObject,
    RemoveObject,
    ResetAll,
    SendArm,
    Step,
)
from octo_reach.viewer.snapshot import Point, SeenArm, Snapshot

HAND = 0.6
"""For so long after something was done with a handle it stays where it was put, s.

RViz says four times a second that a handle is still held; the world answers within a step or two.
"""

HANDLE_SIZE = 0.028
"""Radius of an arm's handle as a share of the arm's length."""

NEAR = 1e-6
"""Nearer places are the same, m: a click on a handle is no drag."""


class HandleServer(Protocol):
    """What is needed of `interactive_markers.InteractiveMarkerServer`."""

    def insert(self, marker: InteractiveMarker, *, feedback_callback: Callable[[Any], None]) -> Any:
        """Add or replace a handle."""

    def setPose(self, name: str, pose: Pose) -> Any:  # noqa: N802 - its name there
        """Move a handle."""

    def erase(self, name: str) -> Any:
        """Take a handle away."""

    def applyChanges(self) -> None:  # noqa: N802 - its name there
        """Tell everybody what was changed."""


class _Wanted(NamedTuple):
    """A handle as it should be: what it looks like, where it is, and how it is made."""

    look: tuple[object, ...]
    position: Point
    make: Callable[[], InteractiveMarker]


class HandleBoard:
    """The handles of all arms and objects, and of the scene."""

    def __init__(
        self,
        server: HandleServer,
        orders: Orders,
        planners: Sequence[str],
        reject: Callable[[RejectedInput], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Show none yet.

        Args:
            server: shows them.
            orders: where what is asked for goes.
            planners: names of all planners, for the menus.
            reject: told of feedback that cannot be used.
            clock: seconds of a steady clock.
        """
        self.radius = 0.012
        self._server = server
        self._orders = orders
        self._planners = tuple(planners)
        self._reject = reject
        self._clock = clock
        self._shown: dict[str, tuple[tuple[object, ...], Point]] = {}
        self._radii: dict[Owner, float] = {}
        self._in_hand: dict[str, float] = {}
        self._pin: Point | None = None

    def show(self, snapshot: Snapshot) -> None:
        """Let the handles follow what is to be seen; those of what is gone go as well.

        Args:
            snapshot: what there is now.
        """
        wanted = self._wanted(snapshot)
        now = self._clock()
        self._in_hand = {name: until for name, until in self._in_hand.items() if until > now}
        for name in [name for name in self._shown if name not in wanted]:
            self._server.erase(name)
            del self._shown[name]
        for name, handle in wanted.items():
            if name in self._in_hand:
                continue
            look, position = self._shown.get(name, ((), (0.0, 0.0)))
            if look != handle.look:
                self._server.insert(handle.make(), feedback_callback=self.hear)
            elif math.dist(position, handle.position) > NEAR:
                self._server.setPose(name, _pose(handle.position))
            else:
                continue
            self._shown[name] = (handle.look, handle.position)
        self._server.applyChanges()

    def hear(self, feedback: InteractiveMarkerFeedback) -> None:
        """Take what was done with a handle.

        Args:
            feedback: what RViz says.
        """
        name = feedback.marker_name
        known = self._shown.get(name)
        if known is None:
            return
        try:
            done = read_feedback(feedback, self._planners)
        except RejectedInput as rejection:
            self._reject(rejection)
            return
        if isinstance(done, Choice):
            order = self._chosen(done)
            if order is not None:
                self._orders.put(order)
            return
        self._in_hand[name] = self._clock() + HAND
        if isinstance(done, Drag) and math.dist(done.position, known[1]) > NEAR:
            self._shown[name] = (known[0], done.position)
            self._drag(done)

    def _drag(self, drag: Drag) -> None:
        owner = drag.owner
        if owner.kind == SCENE:
            self._pin = drag.position
        elif owner.kind == "arm":
            self._orders.put(SendArm(owner.number, drag.position))
        else:
            radius = self._radii[owner]
            self._orders.put(PutObject(owner.kind, drag.position, radius, owner.number))

    def _chosen(self, choice: Choice) -> Order | None:
        owner, what = choice.owner, choice.what
        if owner.kind == "arm":
            if what == PLANNER:
                return ChoosePlanner(owner.number, choice.which)
            return Act(owner.number, what)
        if what == DELETE:
            return RemoveObject(owner.kind, owner.number)
        if what == ADD:
            return PutObject(choice.which, self._shown[SCENE][1], self.radius)
        scene: dict[str, Order] = {
            "pause": Pause(True),
            "resume": Pause(False),
            "step": Step(),
            "reset": ResetAll(),
        }
        return scene.get(what)

    def _wanted(self, snapshot: Snapshot) -> dict[str, _Wanted]:
        """Give the handles there should be, by name."""
        wanted = {}
        for arm in snapshot.arms:
            owner = Owner("arm", arm.number)
            wanted[owner.name] = self._wanted_for_arm(arm)
        self._radii = {}
        for thing in snapshot.objects:
            owner = Owner(thing.kind, thing.number)
            self._radii[owner] = thing.radius
            wanted[owner.name] = _Wanted(
                (thing.radius,),
                thing.position,
                lambda thing=thing: object_handle(  # type: ignore[misc]
                    thing.kind, thing.number, thing.position, thing.radius
                ),
            )
        if snapshot.arms:
            wanted[SCENE] = self._wanted_pin(snapshot)
        return wanted

    def _wanted_for_arm(self, arm: SeenArm) -> _Wanted:
        size = HANDLE_SIZE * _length(arm)
        tip = tuple(arm.joints[-1].tolist())
        # Of an arm that has nowhere to go it is at the tip, so that it can be sent somewhere.
        position = tip if arm.target is None or arm.state == "Idle" else arm.target
        return _Wanted(
            (arm.planner, round(size, 6)),
            position,
            lambda: arm_handle(arm.number, position, size, self._planners, arm.planner),
        )

    def _wanted_pin(self, snapshot: Snapshot) -> _Wanted:
        size = HANDLE_SIZE * max(map(_length, snapshot.arms))
        if self._pin is None:
            # Out of the way of everything: below whatever the arms can reach.
            bases = [arm.joints[0].tolist() for arm in snapshot.arms]
            lowest = min(
                base[1] - _length(arm) for base, arm in zip(bases, snapshot.arms, strict=True)
            )
            self._pin = (sum(base[0] for base in bases) / len(bases), lowest - 2.0 * size)
        pin = self._pin
        paused = snapshot.paused
        return _Wanted((paused, round(size, 6)), pin, lambda: scene_handle(pin, size, paused))


def _length(arm: SeenArm) -> float:
    joints = arm.joints.tolist()
    return sum(map(math.dist, joints, joints[1:]))


def _pose(position: Point) -> Pose:
    pose = Pose()
    pose.position.x, pose.position.y = position
    pose.orientation.w = 1.0
    return pose
