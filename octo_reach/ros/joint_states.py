"""Joint angles of all arms to `joint_states`, and joint angles from messages."""

from __future__ import annotations

import math
from array import array

import numpy as np
from builtin_interfaces.msg import Time
from numpy.typing import NDArray
from sensor_msgs.msg import JointState

from octo_reach.model.octopus import Octopus
from octo_reach.ros.frames import arm_name, joint_name, joint_names, parse_joint_name
from octo_reach.ros.packed import PackedMessage, StampView
from octo_reach.ros.validation import FARTHEST, RejectedInput

FULL_TURN = 2.0 * math.pi


class JointStateBuilder:
    """The joints of every arm as the bytes of one message that is filled again at every step.

    Arms in the order of their numbers, joints from base to tip. Position is the bend (of joint 1:
    the heading of the base), velocity its change over the last step, effort stays empty.

    Attributes:
        kind: the class of the message.
    """

    kind = JointState

    def __init__(self) -> None:
        """Know of no arms yet."""
        self._layout: tuple[tuple[int, int], ...] = ()
        self._previous: NDArray[np.float64] = np.empty(0)
        self._bases: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._lay_out(())

    def restart(self) -> None:
        """Let the next velocities be zero: the pose jumped (a reset) and no joint turned."""
        self._moving = False

    def fill(self, octopus: Octopus, stamp: Time, seconds: float) -> bytes:
        """Put the present angles of all arms into the message.

        Args:
            octopus: the arms.
            stamp: when they stood so.
            seconds: time since the angles of the last call, s; 0 gives velocities of zero.

        Returns:
            The message, encoded.
        """
        angles = [arm.angles for arm in octopus.arms]
        layout = tuple(zip(octopus.numbers, map(len, angles), strict=True))
        if layout != self._layout:
            self._lay_out(layout)
        position = np.concatenate(angles) if angles else self._previous
        if self._moving and seconds > 0.0:
            velocity = position - self._previous
            turned = velocity[self._bases]
            velocity[self._bases] = (turned + math.pi) % FULL_TURN - math.pi
            velocity /= seconds
            self._velocity[:] = velocity
        else:
            self._velocity[:] = 0.0
        self._position[:] = position
        self._previous = position
        self._moving = True
        self._stamp.write(stamp)
        return bytes(self._message)

    def _lay_out(self, layout: tuple[tuple[int, int], ...]) -> None:
        """Name the joints anew."""
        counts = [count for _, count in layout]
        template = JointState()
        template.name = [name for arm, count in layout for name in joint_names(arm, count)]
        template.position = template.velocity = array("d", bytes(8 * sum(counts)))
        self._message = PackedMessage(template)
        self._stamp = StampView(self._message)
        self._position = self._message.numbers("position")
        self._velocity = self._message.numbers("velocity")
        self._previous = np.zeros(sum(counts))
        self._bases = np.cumsum([0, *counts], dtype=np.int64)[:-1]
        self._layout = layout
        self._moving = False


def _checked_arrays(topic: str, message: JointState) -> None:
    """Refuse arrays that do not go together."""
    count = len(message.name)
    if count == 0:
        rule = "name must list the joints (arm_1/joint_1, ...)"
        raise RejectedInput(topic, "wrong joint names", "no names", rule)
    if len(message.position) != count:
        rule = f"position must hold one number for each of the {count} names"
        raise RejectedInput(topic, "unequal lengths", f"{len(message.position)} numbers", rule)
    for field in ("velocity", "effort"):
        length = len(getattr(message, field))
        if length not in (0, count):
            rule = f"{field} must be empty or hold one number for each of the {count} names"
            raise RejectedInput(topic, "unequal lengths", f"{length} numbers", rule)


def _checked_angles(topic: str, message: JointState) -> NDArray[np.float64]:
    """Give the positions as an array of their own, (K,), rad."""
    angles: NDArray[np.float64] = np.array(message.position, dtype=np.float64)
    if not np.isfinite(angles).all():
        worst = int(np.flatnonzero(~np.isfinite(angles))[0])
        shown = f"{message.name[worst]} = {angles[worst]}"
        raise RejectedInput(topic, "not finite", shown, "every position must be finite")
    if np.abs(angles).max() > FARTHEST:
        worst = int(np.abs(angles).argmax())
        shown = f"{message.name[worst]} = {angles[worst]}"
        rule = f"every position must lie within {FARTHEST:g} rad of zero"
        raise RejectedInput(topic, "out of range", shown, rule)
    return angles


def _wrong_names(topic: str, names: list[str], wanted: list[str]) -> RejectedInput:
    """Say what is wrong with a list of names: one too many, one twice, or one missing."""
    seen: set[str] = set()
    for name in names:
        if name not in wanted:
            shown, problem = repr(name), "is no joint of it"
            break
        if name in seen:
            shown, problem = repr(name), "stands there twice"
            break
        seen.add(name)
    else:
        missing = [name for name in wanted if name not in seen]
        shown, problem = repr(missing[0]), "is missing"
    rule = f"name must list exactly {wanted[0]} ... {wanted[-1]}, in any order"
    return RejectedInput(topic, "wrong joint names", f"{shown}, which {problem}", rule)


def proposal_from_joint_state(
    topic: str, message: JointState, arm: int, segment_count: int
) -> NDArray[np.float64]:
    """Give the joint angles another node proposes for an arm.

    All joints of the arm must be named, in any order, as `arm_1/joint_3` or `joint_3`.

    Args:
        topic: where the message came from, for the error.
        message: the message; velocity and effort are ignored.
        arm: number of the arm.
        segment_count: number of the arm's joints, N.

    Returns:
        Angles from base to tip, shape (N,), rad.

    Raises:
        RejectedInput: names missing, foreign, doubled or incomplete, arrays of unequal length,
            or positions NaN, infinite or too large.
    """
    _checked_arrays(topic, message)
    prefix = arm_name(arm) + "/"
    wanted = joint_names(arm, segment_count)
    names = [name if name.startswith(prefix) else prefix + name for name in message.name]
    angles = _checked_angles(topic, message)
    if names == wanted:
        return angles
    if sorted(names) != sorted(wanted):
        raise _wrong_names(topic, names, wanted)
    places = {name: place for place, name in enumerate(names)}
    ordered: NDArray[np.float64] = angles[[places[name] for name in wanted]]
    return ordered


class JointStateReader:
    """Angles of arms from `joint_states`; the order of the names is worked out only once."""

    def __init__(self, topic: str = "joint_states") -> None:
        """Read messages of one topic.

        Args:
            topic: its name, for the error.
        """
        self._topic = topic
        self._names: list[str] = []
        self._places: dict[int, NDArray[np.int64]] = {}

    def read(self, message: JointState) -> dict[int, NDArray[np.float64]]:
        """Give the joint angles of every arm in a message.

        Args:
            message: the message; each arm in it must be whole.

        Returns:
            Angles from base to tip by arm number, shape (N,) each, rad.

        Raises:
            RejectedInput: names of other joints, doubled or incomplete, arrays of unequal
                length, or positions NaN, infinite or too large.
        """
        _checked_arrays(self._topic, message)
        angles = _checked_angles(self._topic, message)
        if message.name != self._names:
            self._places = self._find_places(message.name)
            self._names = list(message.name)
        return {arm: angles[places] for arm, places in self._places.items()}

    def _find_places(self, names: list[str]) -> dict[int, NDArray[np.int64]]:
        """Give where in the message the joints of each arm stand."""
        found: dict[int, dict[int, int]] = {}
        for place, name in enumerate(names):
            parsed = parse_joint_name(name)
            if parsed is None:
                rule = "every name must be a joint of an arm (arm_1/joint_1, ...)"
                raise RejectedInput(self._topic, "wrong joint names", repr(name), rule)
            joints = found.setdefault(parsed[0], {})
            if parsed[1] in joints:
                rule = "every joint must be named once"
                raise RejectedInput(self._topic, "wrong joint names", repr(name), rule)
            joints[parsed[1]] = place
        places = {}
        for arm in sorted(found):
            joints = found[arm]
            for joint in range(1, len(joints) + 1):
                if joint not in joints:
                    rule = f"the joints of {arm_name(arm)} must be numbered from 1 without a gap"
                    missing = f"no {joint_name(arm, joint)}"
                    raise RejectedInput(self._topic, "wrong joint names", missing, rule)
            ordered = [joints[joint] for joint in range(1, len(joints) + 1)]
            places[arm] = np.array(ordered, dtype=np.int64)
        return places
