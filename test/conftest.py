"""Hypothesis plays the same examples in every run, unless it is told to go and search."""

import importlib.util
import os

from octo_reach.model.octopus import compile_kernels
from octo_reach.planners import PLANNERS, prepare_planner

try:
    from hypothesis import settings
except ImportError:  # The tests of the ROS side need no hypothesis.
    pass
else:
    # Without numba the kernels run a hundred times slower; a few stories are better than none.
    examples = 50 if importlib.util.find_spec("numba") else 5
    settings.register_profile(
        "same", max_examples=examples, derandomize=True, deadline=None, database=None
    )
    settings.register_profile("search", max_examples=2000, deadline=None)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


def pytest_sessionstart(session):
    # Before several processes share the tests: on a new machine each of them would compile.
    if getattr(session.config.option, "numprocesses", None):
        compile_kernels()
        for name in PLANNERS:
            prepare_planner(name)
