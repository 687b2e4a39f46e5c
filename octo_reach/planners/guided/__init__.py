"""The planner that reaches what can be reached: it plans a clear path, then follows it."""

from octo_reach.planners.guided.first_run import compile_guided_kernels
from octo_reach.planners.guided.planner import GuidedPlanner

__all__ = ["GuidedPlanner", "compile_guided_kernels"]
