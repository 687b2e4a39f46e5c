import math

import numpy as np
import pytest

from octo_reach.model.scene import (
    DEFAULT_RADIUS,
    ObjectKind,
    ObjectTable,
    SceneObject,
    UnknownObjectError,
)

FOOD = SceneObject(4, ObjectKind.FOOD, (1.0, 2.0), 3.0)
OBSTACLE = SceneObject(2, ObjectKind.OBSTACLE, (5.0, 6.0), 7.0)


def test_kinds_are_numbered_as_everyone_numbers_them():
    assert (ObjectKind.FOOD, ObjectKind.OBSTACLE, ObjectKind.HAZARD) == (1, 2, 3)
    assert DEFAULT_RADIUS == 14.0


@pytest.mark.parametrize("kind", ObjectKind)
def test_a_kind_is_found_by_its_label(kind):
    assert ObjectKind.from_label(kind.label) is kind
    assert kind.label == kind.name.lower()


@pytest.mark.parametrize("label", ["FOOD", "rock", ""])
def test_an_unknown_label_is_refused_with_the_choices(label):
    with pytest.raises(ValueError, match=f"one of food, obstacle, hazard, got {label!r}"):
        ObjectKind.from_label(label)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"number": 0}, "object number must be at least 1, got 0"),
        ({"number": 1.5}, "object number must be an integer, got 1.5"),
        ({"number": False}, "object number must be an integer, got False"),
        ({"radius": 0.0}, "radius of object 1 must be above 0, got 0.0"),
        ({"radius": -2.0}, "radius of object 1 must be above 0, got -2.0"),
        ({"radius": math.inf}, "radius of object 1 must be finite, got inf"),
        ({"position": (math.nan, 0.0)}, "x of position of object 1 must be finite, got nan"),
        ({"position": 3.0}, r"position of object 1 must be a pair \(x, y\), got 3.0"),
    ],
)
def test_an_object_out_of_range_is_refused_by_name_and_value(fields, text):
    standard = {"number": 1, "kind": ObjectKind.FOOD, "position": (0.0, 0.0), "radius": 1.0}
    with pytest.raises(ValueError, match=f"^{text}"):
        SceneObject(**(standard | fields))


def test_a_table_keeps_the_order_in_which_objects_came():
    table = ObjectTable.from_objects([FOOD, OBSTACLE])
    assert len(table) == 2
    assert list(table) == [FOOD, OBSTACLE]
    assert table.numbers.tolist() == [4, 2]
    assert table.kinds.tolist() == [1, 2]
    assert table.positions.tolist() == [[1.0, 2.0], [5.0, 6.0]]
    assert table.radii.tolist() == [3.0, 7.0]


def test_an_object_is_found_by_its_number():
    table = ObjectTable.from_objects([FOOD, OBSTACLE])
    assert table.index_of(2) == 1
    assert table.at(1) == OBSTACLE
    assert 4 in table
    assert 3 not in table


def test_a_missing_number_is_told_with_those_there_are():
    table = ObjectTable.from_objects([FOOD, OBSTACLE])
    with pytest.raises(UnknownObjectError) as caught:
        table.index_of(9)
    assert isinstance(caught.value, KeyError)
    assert str(caught.value) == "no object has the number 9; there are: 4, 2"
    with pytest.raises(UnknownObjectError, match="no object has the number 1; there are: none"):
        ObjectTable.from_objects([]).index_of(1)


def test_an_empty_table_has_empty_arrays_of_the_right_shape():
    table = ObjectTable.from_objects([])
    assert len(table) == 0
    assert list(table) == []
    assert table.positions.shape == (0, 2)
    assert table.radii.shape == table.numbers.shape == table.kinds.shape == (0,)


def test_two_objects_cannot_share_a_number():
    with pytest.raises(ValueError, match=r"object numbers must be unique, got \[4, 4\]"):
        ObjectTable.from_objects([FOOD, FOOD])


def test_nobody_writes_through_a_table():
    numbers, radii = np.array([1]), np.array([2.0])
    table = ObjectTable(numbers, np.array([1]), np.array([[0.0, 0.0]]), radii)
    for array in (table.numbers, table.kinds, table.positions, table.radii):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5
    radii[0] = 9.0
    assert table.at(0).radius == 9.0
