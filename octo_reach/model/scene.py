"""What lies around the arms: circles of three kinds, numbered once and for all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from octo_reach.model.arm import checked_number, checked_position

DEFAULT_RADIUS = 14.0
"""Radius of an object that was given none, in pixels (seed 000)."""


class UnknownObjectError(KeyError):
    """No object has that number."""

    def __init__(self, number: int, known: NDArray[np.int64]) -> None:
        """Name the missing number and the numbers there are."""
        super().__init__(number)
        choices = ", ".join(map(str, known.tolist())) or "none"
        self.text = f"no object has the number {number}; there are: {choices}"

    def __str__(self) -> str:
        """Give the text without the quotes KeyError puts around it."""
        return self.text


class ObjectKind(IntEnum):
    """What an object is to an arm: food is grasped, obstacles are kept clear of, hazards sensed."""

    FOOD = 1
    OBSTACLE = 2
    HAZARD = 3

    @property
    def label(self) -> str:
        """The kind in lower case, as scene files and markers spell it."""
        return self.name.lower()

    @classmethod
    def from_label(cls, label: str) -> ObjectKind:
        """Give the kind spelled `label`.

        Raises:
            ValueError: no kind is spelled so; the text names the choices.
        """
        for kind in cls:
            if kind.label == label:
                return kind
        choices = ", ".join(kind.label for kind in cls)
        raise ValueError(f"kind must be one of {choices}, got {label!r}")


@dataclass(frozen=True)
class SceneObject:
    """One circle.

    Attributes:
        number: its number, from 1, unique over all kinds.
        kind: food, obstacle or hazard.
        position: centre, (x, y), in the scene's unit.
        radius: radius, in the scene's unit.
    """

    number: int
    kind: ObjectKind
    position: tuple[float, float]
    radius: float

    def __post_init__(self) -> None:
        """Check every field.

        Raises:
            ValueError: a field is out of its range; the text names it and its value.
        """
        if isinstance(self.number, bool) or not isinstance(self.number, (int, np.integer)):
            raise ValueError(f"object number must be an integer, got {self.number!r}")
        if self.number < 1:
            raise ValueError(f"object number must be at least 1, got {self.number}")
        what = f"of object {self.number}"
        checked_position(f"position {what}", self.position)
        if checked_number(f"radius {what}", self.radius) <= 0.0:
            raise ValueError(f"radius {what} must be above 0, got {self.radius!r}")


class ObjectTable:
    """The objects of a scene as arrays, in the order in which they came.

    Attributes:
        numbers: object numbers, shape (K,).
        kinds: `ObjectKind` values, shape (K,).
        positions: centres, shape (K, 2), in the scene's unit.
        radii: radii, shape (K,), in the scene's unit.
    """

    def __init__(
        self,
        numbers: NDArray[np.int64],
        kinds: NDArray[np.int64],
        positions: NDArray[np.float64],
        radii: NDArray[np.float64],
    ) -> None:
        """Hold views of the four arrays; nobody can write through them."""
        self.numbers = numbers.view()
        self.kinds = kinds.view()
        self.positions = positions.view()
        self.radii = radii.view()
        for array in (self.numbers, self.kinds, self.positions, self.radii):
            array.flags.writeable = False

    @classmethod
    def from_objects(cls, objects: list[SceneObject]) -> ObjectTable:
        """Make the table of a list of objects, in its order.

        Raises:
            ValueError: two objects share a number.
        """
        numbers = np.array([thing.number for thing in objects], dtype=np.int64)
        if len(set(numbers.tolist())) != len(objects):
            raise ValueError(f"object numbers must be unique, got {numbers.tolist()}")
        kinds = np.array([int(thing.kind) for thing in objects], dtype=np.int64)
        positions = np.array([thing.position for thing in objects], dtype=np.float64)
        radii = np.array([thing.radius for thing in objects], dtype=np.float64)
        return cls(numbers, kinds, positions.reshape(len(objects), 2), radii)

    def __len__(self) -> int:
        """Count the objects."""
        return len(self.numbers)

    def __iter__(self) -> Iterator[SceneObject]:
        """Give the objects one by one, in order."""
        for index in range(len(self)):
            yield self.at(index)

    def __contains__(self, number: object) -> bool:
        """Tell whether an object has that number."""
        return bool(np.any(self.numbers == number))

    def at(self, index: int) -> SceneObject:
        """Give the object at a place of the order, from 0."""
        x, y = self.positions[index].tolist()
        return SceneObject(
            number=int(self.numbers[index]),
            kind=ObjectKind(int(self.kinds[index])),
            position=(x, y),
            radius=float(self.radii[index]),
        )

    def index_of(self, number: int) -> int:
        """Give the place of an object in the order, from 0.

        Raises:
            UnknownObjectError: no object has that number.
        """
        places = np.flatnonzero(self.numbers == number)
        if len(places) == 0:
            raise UnknownObjectError(number, self.numbers)
        return int(places[0])
