"""Hands all tables to compiled code as one small array that says where they lie.

A compiled kernel that is called with tables looks each of them up as a Python object first, and
counts who refers to it wherever it hands the table on; for a short arm both together take longer
than the work. Tables that the kernel finds by their addresses cost neither. Whoever gives the
addresses away keeps the tables alive.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from octo_reach.model.compilation import COMPILED, compiled
from octo_reach.model.geometry import Floats, Integers
from octo_reach.model.reach import update_all
from octo_reach.model.rules import KernelRules
from octo_reach.model.state import ARM, CONTACT, LINK, NEAR, OBJECT, PAIR, State

if COMPILED:
    from numba import carray, types
    from numba.extending import intrinsic

    def _pointer_to(typing_context: Any, address: Any) -> Any:
        """Take a number for an address."""

        def convert(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            target = context.get_value_type(signature.return_type)
            return builder.inttoptr(arguments[0], target)

        return types.voidptr(types.intp), convert

    pointer_to: Any = intrinsic(_pointer_to)

MOST_DIMENSIONS = 3


def addresses_of(state: State, rules: Floats) -> Integers:
    """Say where the tables and the rules lie: address and shape of each, shape (12, 4).

    Args:
        state: the tables, each in one piece.
        rules: the fields of `KernelRules`, shape (14,).
    """
    tables = (*state, rules)
    places = np.zeros((len(tables), 1 + MOST_DIMENSIONS), np.int64)
    for place, table in zip(places, tables, strict=True):
        assert table.flags.c_contiguous
        place[0] = table.ctypes.data
        place[1 : 1 + table.ndim] = table.shape
    return places


@compiled
def update_all_at(dt: float, places: Integers) -> tuple[int, int]:
    """Do what `update_all` does, with tables and rules at these addresses; compiled only."""
    state = State(
        carray(pointer_to(places[0, 0]), (places[0, 1],), ARM),
        carray(pointer_to(places[1, 0]), (places[1, 1], places[1, 2]), LINK),
        carray(pointer_to(places[2, 0]), (places[2, 1],), OBJECT),
        carray(pointer_to(places[3, 0]), (places[3, 1], places[3, 2]), NEAR),
        carray(
            pointer_to(places[4, 0]), (places[4, 1], places[4, 2], places[4, 3]), np.float64
        ),
        carray(pointer_to(places[5, 0]), (places[5, 1], places[5, 2]), np.int64),
        carray(
            pointer_to(places[6, 0]), (places[6, 1], places[6, 2], places[6, 3]), np.float64
        ),
        carray(pointer_to(places[7, 0]), (places[7, 1], places[7, 2]), CONTACT),
        carray(pointer_to(places[8, 0]), (places[8, 1],), np.int64),
        carray(pointer_to(places[9, 0]), (places[9, 1], places[9, 2]), np.float64),
        carray(pointer_to(places[10, 0]), (places[10, 1],), PAIR),
    )
    rules = carray(pointer_to(places[11, 0]), (places[11, 1],), np.float64)
    # The compiler takes no `*rules`: it has to know how many there are.
    fields = KernelRules(
        rules[0], rules[1], rules[2], rules[3], rules[4], rules[5], rules[6],
        rules[7], rules[8], rules[9], rules[10], rules[11], rules[12], rules[13],
    )  # fmt: skip
    return update_all(dt, state, fields)
