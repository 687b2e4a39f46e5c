"""The authority on the objects of a scene: where each lies, and in which arm's hands.

Arms are moved by controllers in other processes; what they grasp they only claim. The first claim
for a free object is granted, every other is refused. Somebody who edits a held object takes it out
of the hands that hold it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from octo_reach.model.arm import checked_position
from octo_reach.model.geometry import Floats
from octo_reach.model.scene import ObjectKind
from octo_reach.scenes.arm_feed import ArmFeed
from octo_reach.scenes.document import Event, SceneDocument

SILENCE = 1.0
"""How long nothing may be heard of an arm before what it holds lies where it is, s."""

LARGEST_NUMBER = 2**31 - 1
"""Largest number of an object: ids of markers have 32 bits."""

MOST_OBJECTS = 10_000
"""Most objects a world takes."""

Point = tuple[float, float]


@dataclass(frozen=True)
class FixedObject:
    """An object and what it is fixed to.

    Attributes:
        number: its number, from 1, unique over all kinds.
        kind: food, obstacle or hazard.
        position: centre in the world, (x, y), m; while it is held, where it was taken.
        radius: radius, m.
        holder: (arm, segment) that holds it, the segment from 1, or None where it lies free.
        offset: centre as the end of that segment sees it, (along, across), m.
        expires: when it goes of itself, s on a steady clock; infinite where it stays.
        claimed: when its holder took it, s on the same clock.
    """

    number: int
    kind: ObjectKind
    position: Point
    radius: float
    holder: tuple[int, int] | None = None
    offset: Point = (0.0, 0.0)
    expires: float = math.inf
    claimed: float = -math.inf


class ClaimAnswer(Enum):
    """What became of a claim; the value is the reason in words."""

    GRANTED = "it was free"
    KEPT = "it is held so already"
    GONE = "there is no such object"
    TAKEN = "another arm holds it"
    REVOKED = "it was taken out of this very grip"

    @property
    def refused(self) -> bool:
        """Whether the arm has to let go."""
        return self in (ClaimAnswer.GONE, ClaimAnswer.TAKEN, ClaimAnswer.REVOKED)


class FullSceneError(ValueError):
    """There are as many objects as a world takes."""


class SceneAuthority:
    """The objects of a scene file, as edits, events and claims change them.

    Attributes:
        version: grows with every change of the objects.
        feed: what is known of the arms.
    """

    def __init__(self, document: SceneDocument, feed: ArmFeed) -> None:
        """Lay out the objects of a document.

        Args:
            document: the scene, in metres.
            feed: what is known of the arms; this hands on what is heard of them.
        """
        self.version = 0
        self.feed = feed
        self._document = document
        self._objects: dict[int, FixedObject] = {}
        self._revoked: dict[int, tuple[tuple[int, int], Point]] = {}
        self.reset()

    # What there is

    @property
    def objects(self) -> tuple[FixedObject, ...]:
        """Every object, in the order of the numbers."""
        return tuple(thing for _, thing in sorted(self._objects.items()))

    def __len__(self) -> int:
        """Count the objects."""
        return len(self._objects)

    def __contains__(self, number: object) -> bool:
        """Tell whether an object has that number."""
        return number in self._objects

    def __getitem__(self, number: int) -> FixedObject:
        """Give an object.

        Raises:
            KeyError: no object has that number.
        """
        return self._objects[number]

    @property
    def kinds(self) -> Mapping[int, ObjectKind]:
        """Kinds of the objects by number."""
        return {number: thing.kind for number, thing in self._objects.items()}

    @property
    def held(self) -> tuple[FixedObject, ...]:
        """The objects in an arm's hands, in the order of the numbers."""
        return tuple(thing for thing in self.objects if thing.holder is not None)

    @property
    def carrying(self) -> bool:
        """Whether any object is held."""
        return any(thing.holder is not None for thing in self._objects.values())

    def position_of(self, number: int) -> Point:
        """Give where an object is now, (x, y), m: a held one moves with its segment.

        Where the arm is not known well enough, that is where the object was last known to lie.

        Raises:
            KeyError: no object has that number.
        """
        thing = self._objects[number]
        if thing.holder is None:
            return thing.position
        return self.feed.position(thing.holder, thing.offset) or thing.position

    # Edits

    def reset(self) -> None:
        """Lay out the objects as the file has them, in nobody's hands, and count numbers anew."""
        self._take_out_of_hands(self._objects)
        self._objects = {
            thing.number: FixedObject(thing.number, thing.kind, thing.position, thing.radius)
            for thing in self._document.objects
        }
        self._highest = max(self._objects, default=0)
        # What an event adds has a number in the file that later events use; somebody may have given
        # it to another object meanwhile.
        self._next_in_file = self._highest + 1
        self._number_of = {number: number for number in self._objects}
        self.version += 1

    def clear(self) -> None:
        """Take every object away."""
        self._take_out_of_hands(self._objects)
        self._objects.clear()
        self.version += 1

    def put(
        self,
        kind: ObjectKind,
        number: int,
        position: Point,
        radius: float,
        expires: float = math.inf,
    ) -> int | None:
        """Put an object into the world, or an object there is elsewhere; nobody holds it then.

        Args:
            kind: food, obstacle or hazard; that of the object there is, if it has the number.
            number: its number.
            position: centre, (x, y), m.
            radius: radius, m.
            expires: when it goes of itself, s on a steady clock.

        Returns:
            The arm it was taken from, or None.

        Raises:
            FullSceneError: it would be one object too many.
            ValueError: the number is out of range or belongs to an object of another kind.
        """
        if not 1 <= number <= LARGEST_NUMBER:
            raise ValueError(
                f"object number must be between 1 and {LARGEST_NUMBER}, got {number}"
            )
        old = self._objects.get(number)
        if old is None and len(self._objects) >= MOST_OBJECTS:
            raise FullSceneError(
                f"the world takes at most {MOST_OBJECTS} objects, got one more: {number}"
            )
        if old is not None and old.kind is not kind:
            raise ValueError(
                f"object number {number} belongs to {old.kind.label} {number},"
                f" got it for {kind.label}"
            )
        place = checked_position(f"position of object {number}", position)
        self._take_out_of_hands([number])
        self._objects[number] = FixedObject(number, kind, place, radius, expires=expires)
        self._highest = max(self._highest, number)
        self.version += 1
        return old.holder[0] if old is not None and old.holder is not None else None

    def remove(self, number: int, kind: ObjectKind | None = None) -> bool:
        """Take an object away, out of whatever hands.

        Args:
            number: its number.
            kind: what it must be; None takes any kind.

        Returns:
            Whether there was one.
        """
        thing = self._objects.get(number)
        if thing is None or (kind is not None and thing.kind is not kind):
            return False
        self._take_out_of_hands([number])
        del self._objects[number]
        self.version += 1
        return True

    def expire(self, now: float) -> list[FixedObject]:
        """Take away what has outlived its lifetime, and give it.

        Args:
            now: time on a steady clock, s.
        """
        over = [thing for thing in self.objects if thing.expires <= now]
        for thing in over:
            self.remove(thing.number)
        return over

    def apply(self, event: Event) -> int | None:
        """Do what an event says about objects.

        Args:
            event: an event of the document with an addition, a move or a removal.

        Returns:
            The number of the object concerned; None where it is not there any more, which changes
            nothing.

        Raises:
            FullSceneError: it would be one object too many.
            ValueError: the event is about an arm.
        """
        if event.add is not None:
            in_file = self._next_in_file
            self._next_in_file += 1
            number = self._unused_number()
            self.put(event.add.kind, number, event.add.position, event.add.radius)
            self._number_of[in_file] = number
            return number
        if event.move is not None:
            number, position = self._number_of.get(event.move[0], 0), event.move[1]
            if number not in self._objects:
                return None
            thing = self._objects[number]
            self.put(thing.kind, number, position, thing.radius, thing.expires)
            return number
        if event.remove is not None:
            number = self._number_of.get(event.remove, 0)
            return number if self.remove(number) else None
        raise ValueError(f"an event of objects must have add, move or remove, got {event!r}")

    def _unused_number(self) -> int:
        """Give the next number that was never used, or the lowest free one when all were."""
        if self._highest < LARGEST_NUMBER:
            return self._highest + 1
        number = 1
        while number in self._objects:
            number += 1
        return number

    # Claims

    def claim(
        self,
        kind: ObjectKind,
        number: int,
        holder: tuple[int, int],
        offset: Point,
        now: float,
    ) -> ClaimAnswer:
        """Fix an object to the segment that says it holds it, if it may.

        Args:
            kind: what the arm takes the object for.
            number: the object's number.
            holder: (arm, segment), the segment from 1.
            offset: the object's centre as the end of that segment sees it, (along, across), m.
            now: time on a steady clock, s.
        """
        thing = self._objects.get(number)
        if self._revoked.get(number) == (holder, offset):
            # Every message of a controller repeats all its grips, also one it sent before it heard
            # that this one is over.
            return ClaimAnswer.REVOKED if thing is not None else ClaimAnswer.GONE
        if thing is None or thing.kind is not kind:
            return ClaimAnswer.GONE
        if thing.holder is not None and thing.holder[0] != holder[0]:
            return ClaimAnswer.TAKEN
        if thing.holder == holder and thing.offset == offset:
            return ClaimAnswer.KEPT
        self._revoked.pop(number, None)
        self._objects[number] = replace(
            thing,
            position=self.position_of(number),
            holder=holder,
            offset=offset,
            claimed=now,
        )
        self.version += 1
        return ClaimAnswer.GRANTED

    def let_go(
        self, kind: ObjectKind, number: int, position: Point, arm: int | None = None
    ) -> int | None:
        """Let an object lie where the arm that held it says it let it go.

        Nothing happens to an object that is not held: its arm says so once more, or late.

        Args:
            kind: what the arm took the object for.
            number: the object's number.
            position: where it lies, (x, y), m.
            arm: the arm that let go; None takes anyone's word.

        Returns:
            The arm that held it, or None where it was not held.
        """
        revoked = self._revoked.get(number)
        if revoked is not None and arm in (None, revoked[0][0]):
            del self._revoked[number]
        thing = self._objects.get(number)
        if thing is None or thing.kind is not kind or thing.holder is None:
            return None
        if arm not in (None, thing.holder[0]):
            return None
        self._lay_down(number, position)
        return thing.holder[0]

    def let_go_all(self, arm: int | None = None) -> list[FixedObject]:
        """Let what an arm holds lie where it is.

        Args:
            arm: the arm; None for all arms.

        Returns:
            What was held, as it was held.
        """
        for number, (holder, _) in list(self._revoked.items()):
            if arm in (None, holder[0]):
                del self._revoked[number]
        held = [thing for thing in self.held if thing.holder and arm in (None, thing.holder[0])]
        for thing in held:
            self._lay_down(thing.number, self.position_of(thing.number))
        return held

    def hear_angles(
        self,
        angles: Mapping[int, Floats],
        stamp: float,
        now: float,
        sequence: int | None = None,
    ) -> list[FixedObject]:
        """Take in how the arms stand.

        What an arm held that was started anew meanwhile lies where it was last.

        Args:
            angles: joint angles by arm number, shape (N,) each, rad.
            stamp: what the message says it is of, s.
            now: when it came, s on a steady clock.
            sequence: number of the message among those of its publisher, or None where unknown.

        Returns:
            What lies now and was held, as it was held.
        """
        freed: list[FixedObject] = []
        for arm in self.feed.replaced(angles, stamp, now, sequence):
            freed += self._drop(arm)
        self.feed.hear(angles, stamp, now, sequence)
        return freed

    def drop_silent(self, now: float) -> list[FixedObject]:
        """Let what arms hold that nothing was heard of for a while lie where it is.

        Args:
            now: time on a steady clock, s.

        Returns:
            What lies now and was held, as it was held.
        """
        freed: list[FixedObject] = []
        for thing in self.held:
            if thing.holder is None or now - thing.claimed <= SILENCE:
                continue
            if self.feed.age(thing.holder[0], now) > SILENCE:
                self._take_out_of_hands([thing.number])
                freed.append(thing)
        return freed

    def _drop(self, arm: int) -> list[FixedObject]:
        """Take everything out of an arm's hands; it has not said that it lets go."""
        held = [thing for thing in self.held if thing.holder and thing.holder[0] == arm]
        self._take_out_of_hands([thing.number for thing in held])
        return held

    def _take_out_of_hands(self, numbers: Iterable[int]) -> None:
        """Free objects whose holders do not know of it, and remember the grips that are over."""
        for number in list(numbers):
            thing = self._objects.get(number)
            if thing is not None and thing.holder is not None:
                self._revoked[number] = (thing.holder, thing.offset)
                self._lay_down(number, self.position_of(number))

    def _lay_down(self, number: int, position: Point) -> None:
        self._objects[number] = replace(
            self._objects[number], position=position, holder=None, offset=(0.0, 0.0)
        )
        self.version += 1
