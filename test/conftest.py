"""The same examples in every run, and an orderly end of a session when one is asked for."""

import importlib.util
import os
import signal
from pathlib import Path

import pytest

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


ROS_FOLDERS = {Path(__file__).parent / name for name in ("ros", "viewer")}


def pytest_configure(config):
    # Ended from outside, the session must still end its nodes; and nodes must hear the SIGINT they
    # are ended with also where a script started pytest in the background, with SIGINT ignored.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    for item in items:
        if not ROS_FOLDERS.isdisjoint(item.path.parents):
            item.add_marker(pytest.mark.ros)


def pytest_sessionstart(session):
    # Before several processes share the tests: on a new machine each of them would compile.
    if getattr(session.config.option, "numprocesses", None):
        compile_kernels()
        for name in PLANNERS:
            prepare_planner(name)
