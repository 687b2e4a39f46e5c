"""The scene as it is reported to a controller, and what its arms may keep holding of it.

The world is the authority on objects; the controller is the authority on its arms. A grasp is a
claim: the controller carries on with the object as its own, and for a moment reads no report as the
answer, since a report may have been under way already. After that moment a report that shows the
object lying in the world, or in another arm's hands, means let go. Of an object that is let go the
arm knows best for as long; but once a claim was confirmed, a report that no longer shows the object
in that hand is newer than the release, and counts at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from octo_reach.model.octopus import Octopus
from octo_reach.model.scene import ObjectKind, SceneObject
from octo_reach.ros.frames import arm_name, position_in_world
from octo_reach.ros.objects import ADD, DELETE, DELETE_ALL, ObjectChange

HELD = (math.inf, math.inf)
"""Place of an object in one of the octopus's own hands: the arm knows where that is."""


@dataclass
class ReportedObject:
    """One object as it was last reported.

    Attributes:
        kind: food, obstacle or hazard.
        radius: radius, m.
        position: centre: in the world, or in the frame of `holder`, (x, y), m.
        holder: (arm, segment) that the report says holds it, or None.
        received: when the report came, s on a steady clock.
        expires: when the object goes of itself, s on the same clock; infinite where it stays.
    """

    kind: ObjectKind
    radius: float
    position: tuple[float, float]
    holder: tuple[int, int] | None
    received: float
    expires: float


class ReportedScene:
    """Takes reports about objects and makes the octopus's scene follow them.

    Attributes:
        grace: time after a claim or a release in which a report that may be older than it counts
            for nothing, s.
    """

    def __init__(self, octopus: Octopus, grace: float, say: Callable[[str], object]) -> None:
        """Start with the objects the octopus has: none is reported yet.

        Args:
            octopus: the arms; its objects are replaced by the reported ones.
            grace: see the class.
            say: told in one line when an arm has to let go, and why.
        """
        self.grace = grace
        self._octopus = octopus
        self._say = say
        self._reported: dict[int, ReportedObject] = {}
        self._owned: dict[int, int] = {}
        self._settled: dict[int, float] = {}
        self._let_go: dict[int, int] = {}
        self._laid: dict[int, tuple[ObjectKind, float, tuple[float, float]]] | None = None
        self._next_expiry = math.inf

    def note_grips(self, now: float) -> None:
        """Note which claims and releases are new, since every one has its moment of grace.

        Args:
            now: time on a steady clock, s.
        """
        owners = self._octopus.owners
        if owners == self._owned:
            return
        for number, arm in owners.items() ^ self._owned.items():
            self._settled[number] = now + self.grace
            self._let_go.pop(number, None)
            if number not in owners and self._was_confirmed(number, arm):
                self._let_go[number] = arm
        self._owned = owners

    def _was_confirmed(self, number: int, arm: int) -> bool:
        thing = self._reported.get(number)
        return thing is not None and thing.holder is not None and thing.holder[0] == arm

    def apply(self, changes: Iterable[ObjectChange], now: float) -> None:
        """Take one message's changes in.

        Args:
            changes: what the message says, already checked.
            now: when it came, s on a steady clock.
        """
        self.apply_all([(changes, now)])

    def apply_all(self, messages: Sequence[tuple[Iterable[ObjectChange], float]]) -> None:
        """Take the changes of several messages in; what they come to counts, not what was between.

        So a flood of messages costs little more than the last of them.

        Args:
            messages: what each message says, already checked, and when it came, s on a steady
                clock; in the order in which they came.
        """
        if not messages:
            return
        # What was let go before was let go of as it was reported then.
        self.note_grips(messages[-1][1])
        for changes, received in messages:
            self._note(changes, received)
        self._plan_expiry()
        self._follow(messages[-1][1])

    def _note(self, changes: Iterable[ObjectChange], now: float) -> None:
        for change in changes:
            if change.action == ADD:
                self._add(change, now)
            elif change.action == DELETE and change.number is not None:
                known = self._reported.get(change.number)
                if known is not None and change.kind in (None, known.kind):
                    del self._reported[change.number]
            elif change.action == DELETE_ALL:
                self._reported.clear()

    def expire(self, now: float) -> None:
        """Drop what was reported with a lifetime that has run out.

        Args:
            now: time on a steady clock, s.
        """
        if now < self._next_expiry:
            return
        for number in [n for n, thing in self._reported.items() if thing.expires <= now]:
            del self._reported[number]
        self._plan_expiry()
        self._follow(now)

    def disputed_grips(self) -> dict[int, ObjectKind]:
        """Give the objects that the last reports put into an arm's hands that are empty."""
        return {
            number: thing.kind
            for number, thing in self._reported.items()
            if thing.holder is not None
            and thing.holder[0] in self._octopus.numbers
            and number not in self._octopus.owners
            and thing.received >= self._settled.get(number, -math.inf)
        }

    def _add(self, change: ObjectChange, now: float) -> None:
        if (
            change.number is None
            or change.kind is None
            or change.position is None
            or change.radius is None
        ):
            return
        self._reported[change.number] = ReportedObject(
            kind=change.kind,
            radius=change.radius,
            position=change.position,
            holder=change.holder,
            received=now,
            expires=now + change.lifetime if change.lifetime > 0.0 else math.inf,
        )

    def _plan_expiry(self) -> None:
        self._next_expiry = min(
            (thing.expires for thing in self._reported.values()), default=math.inf
        )

    def _follow(self, now: float) -> None:
        """Make the octopus's objects the reported ones; arms let go of what they may not hold."""
        self.note_grips(now)
        octopus = self._octopus
        for number, arm in octopus.owners.items():
            reason = self._reason_to_let_go(number, arm)
            if reason:
                octopus.release(arm)
                # The world knows: what it reports of this object from now on is no old answer.
                self._owned.pop(number, None)
                self._settled.pop(number, None)
                self._say(f"{arm_name(arm)} lets go of object {number}: {reason}")
        wanted = {
            number: (thing.kind, thing.radius, place)
            for number, thing in sorted(self._reported.items())
            if (place := self._place(number, thing)) is not None
        }
        # Most reports repeat the last one, many times a second.
        if wanted != self._laid:
            octopus.replace_objects(
                SceneObject(
                    number, kind, self._position(number) if place == HELD else place, radius
                )
                for number, (kind, radius, place) in wanted.items()
            )
            self._laid = wanted
        self.note_grips(now)

    def _reason_to_let_go(self, number: int, arm: int) -> str:
        thing = self._reported.get(number)
        if thing is None:
            return "it is gone"
        objects = self._octopus.objects
        if thing.kind is not objects.at(objects.index_of(number)).kind:
            return f"it is reported to be {thing.kind.label} now"
        if thing.received < self._settled.get(number, -math.inf):
            return ""
        if thing.holder is None:
            return "it is reported to lie free: the claim was refused, or somebody moved it"
        if thing.holder[0] != arm:
            return f"it is reported to be held by {arm_name(thing.holder[0])}"
        return ""

    def _may_be_older(self, number: int, thing: ReportedObject) -> bool:
        """Tell whether a report of an object may have been made before that was let go."""
        if thing.received >= self._settled.get(number, -math.inf):
            return False
        arm = self._let_go.get(number)
        return arm is None or self._was_confirmed(number, arm)

    def _position(self, number: int) -> tuple[float, float]:
        """Give where the octopus has an object, (x, y), m."""
        objects = self._octopus.objects
        return objects.at(objects.index_of(number)).position

    def _place(self, number: int, thing: ReportedObject) -> tuple[float, float] | None:
        """Give where in the world an object is, or `HELD`; None where that cannot be known."""
        octopus = self._octopus
        if number in self._owned:
            return HELD
        if self._may_be_older(number, thing) and number in octopus.objects:
            # Than that it was let go: the arm knows best.
            return self._position(number)
        if thing.holder is None:
            return thing.position
        if thing.holder[0] in octopus.numbers:
            arm = octopus.arm(thing.holder[0])
            segment = min(thing.holder[1], len(arm.headings))
            x, y = arm.joints[segment].tolist()
            return position_in_world(thing.position, (x, y), float(arm.headings[segment - 1]))
        # In the hands of an arm of another node: where that is, only that node knows.
        return None
