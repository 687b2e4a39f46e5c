"""Planners by name. A planner proposes joint angles; limits and guard decide about them."""

from __future__ import annotations

from collections.abc import Callable

from octo_reach.model.reach import Planner
from octo_reach.planners.external import ExternalPlanner
from octo_reach.planners.fabrik import FabrikPlanner
from octo_reach.planners.guided import GuidedPlanner
from octo_reach.planners.jacobian import JacobianDampedPlanner, JacobianTransposePlanner
from octo_reach.planners.neighbour import NeighbourPlanner
from octo_reach.planners.preparation import run_once

_MAKERS: dict[str, Callable[[], Planner]] = {
    "neighbour": NeighbourPlanner,
    "fabrik": FabrikPlanner,
    "jacobian_transpose": JacobianTransposePlanner,
    "jacobian_dls": JacobianDampedPlanner,
    "guided": GuidedPlanner,
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


def prepare_planner(name: str, report: Callable[[str], None] | None = None) -> None:
    """Compile whatever a planner runs on, so that its first update takes no longer than others.

    Args:
        name: one of `PLANNERS`.
        report: called with one line where that takes a while.

    Raises:
        UnknownPlannerError: no planner has that name; the text gives the choices.
    """
    run_once(create_planner(name), report)


__all__ = [
    "PLANNERS",
    "ExternalPlanner",
    "FabrikPlanner",
    "GuidedPlanner",
    "JacobianDampedPlanner",
    "JacobianTransposePlanner",
    "NeighbourPlanner",
    "Planner",
    "UnknownPlannerError",
    "create_planner",
    "prepare_planner",
]
