"""What the arms hold, as `grasps` messages: claims, and objects let go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from visualization_msgs.msg import Marker, MarkerArray

from octo_reach.model.octopus import Octopus
from octo_reach.model.scene import ObjectKind
from octo_reach.ros.frames import WORLD, arm_name, base_frame
from octo_reach.ros.objects import (
    WorldObject,
    delete_all_marker,
    delete_marker,
    object_marker,
)


class GraspMarkers:
    """The grips of all arms as one message: every message alone tells the whole state.

    A held object is an ADD in the frame of the segment that holds it, the pose being the offset
    of the grip. Every object let go since the start and not held now is a DELETE, its pose being
    where in the world it lay last, its text the arm that let it go.
    """

    def __init__(self) -> None:
        """Make the message; nothing is held."""
        self.message = MarkerArray()
        self._held: dict[int, tuple[int, int, tuple[float, float]]] = {}
        self._kinds: dict[int, ObjectKind] = {}
        self._claims: dict[int, Marker] = {}
        self._let_go: dict[int, Marker] = {}

    def start(self, arms: Iterable[int] | None = None) -> MarkerArray:
        """Make the first message of a controller: whatever its arms held lies where it is.

        Args:
            arms: numbers of the arms it owns; None says so of every arm there is.
        """
        frames = [WORLD] if arms is None else [base_frame(arm) for arm in arms]
        message = MarkerArray()
        message.markers = [delete_all_marker(frame) for frame in frames]
        return message

    def disown(self, kinds: Mapping[int, ObjectKind]) -> None:
        """Say of objects that no arm of this node holds them, whatever was said before.

        Args:
            kinds: kind of each object by its number.
        """
        for number, kind in kinds.items():
            if number not in self._claims:
                self._let_go.setdefault(number, delete_marker(kind, number))

    def changed(self, octopus: Octopus) -> bool:
        """Tell whether the grips are others than in the last message."""
        return _grips(octopus) != self._held

    def fill(self, octopus: Octopus) -> MarkerArray:
        """Put the present grips into the message.

        Args:
            octopus: the arms and their objects.

        Returns:
            The message, the same object every time.
        """
        held = _grips(octopus)
        objects = octopus.objects
        places = {number: place for place, number in enumerate(objects.numbers.tolist())}
        for number in self._held.keys() - held.keys():
            marker = delete_marker(self._kinds[number], number)
            # Of whom: in a later message this is no news, and another controller's arm may hold it.
            marker.text = arm_name(self._held[number][0])
            self._let_go[number] = marker
            del self._claims[number]
        for number, (arm, segment, offset) in held.items():
            self._let_go.pop(number, None)
            if self._held.get(number) == held[number]:
                continue
            thing = objects.at(places[number])
            self._kinds[number] = thing.kind
            self._claims[number] = object_marker(
                WorldObject(
                    number, thing.kind, thing.position, thing.radius, (arm, segment), offset
                )
            )
        for number, marker in self._let_go.items():
            # An object that left the scene altogether stays where it was last.
            if number in places:
                position = marker.pose.position
                position.x, position.y = objects.positions[places[number]].tolist()
        self._held = held
        self.message.markers = [*self._let_go.values(), *self._claims.values()]
        return self.message


def _grips(octopus: Octopus) -> dict[int, tuple[int, int, tuple[float, float]]]:
    """Give (arm, segment, offset) by the number of the object held."""
    grips = {}
    for arm in octopus.arms:
        grip = arm.grip
        if grip is not None:
            grips[grip.object] = (arm.number, grip.segment, grip.offset)
    return grips
