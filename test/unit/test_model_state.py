import re

import numpy as np
import pytest

from octo_reach.model.state import (
    NOTHING,
    ArmState,
    ObjectState,
    Scratch,
    empty_arms,
    empty_objects,
    empty_scratch,
)

SIZES = {"A": 2, "M": 5, "K": 3, "C": 7}


def documented_shapes(record: type) -> dict[str, tuple[int, ...]]:
    """Give the shape that a record's docstring states for every field."""
    found = re.findall(r"^ +(\w+): \(([^)]*)\)", record.__doc__ or "", re.MULTILINE)
    shapes = {}
    for name, shape in found:
        sizes = [eval(size, {}, SIZES) for size in shape.split(",") if size.strip()]
        shapes[name] = tuple(sizes)
    return shapes


@pytest.mark.parametrize(
    "state",
    [empty_arms(2, 5, 3, 7), empty_objects(3), empty_scratch(5, 3)],
    ids=lambda state: type(state).__name__,
)
def test_every_array_has_the_shape_its_docstring_states(state):
    shapes = documented_shapes(type(state))
    assert set(shapes) == set(state._fields)
    for name, array in state._asdict().items():
        assert array.shape == shapes[name], name
        assert array.flags.c_contiguous


def test_fresh_arms_are_idle_hold_nothing_and_have_sensed_nothing():
    arms = empty_arms(2, 5, 3, 7)
    assert not arms.active.any()
    for column in (arms.held, arms.candidate, arms.captured, arms.near_version):
        assert np.all(column == NOTHING)
    assert arms.gated.all()
    assert np.all(empty_objects(3).owners == NOTHING)


def test_there_may_be_no_arms_and_no_objects():
    assert isinstance(empty_arms(0, 1, 0, 64), ArmState)
    assert isinstance(empty_objects(0), ObjectState)
    assert isinstance(empty_scratch(1, 0), Scratch)
