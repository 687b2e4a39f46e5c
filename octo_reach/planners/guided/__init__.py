"""The planner that reaches what can be reached: it plans a clear path, then follows it."""

from octo_reach.planners.guided.planner import GuidedPlanner

__all__ = ["GuidedPlanner"]
