"""Planners by name. A planner proposes joint angles; limits and guard decide about them."""

from __future__ import annotations

from collections.abc import Callable

from octo_reach.model.reach import Planner
from octo_reach.planners.external import ExternalPlanner
from octo_reach.planners.neighbour import NeighbourPlanner

_MAKERS: dict[str, Callable[[], Planner]] = {
    "neighbour": NeighbourPlanner,
    "external": ExternalPlanner,
}

PLANNERS: tuple[str, ...] = tuple(_MAKERS)
"""Names a planner can be chosen by."""


class UnknownPlannerError(ValueError):
    """No planner has that name."""

    def __init__(self, name: object) -> None:
        """Name what was asked for and what there is."""
        super().__init__(f"planner must be one of {', '.join(PLANNERS)}, got {name!r}")


def create_planner(name: str) -> Planner:
    """Make a planner for one arm.

    Args:
        name: one of `PLANNERS`.

    Raises:
        UnknownPlannerError: no planner has that name; the text gives the choices.
    """
    maker = _MAKERS.get(name) if isinstance(name, str) else None
    if maker is None:
        raise UnknownPlannerError(name)
    return maker()


__all__ = [
    "PLANNERS",
    "ExternalPlanner",
    "NeighbourPlanner",
    "Planner",
    "UnknownPlannerError",
    "create_planner",
]
