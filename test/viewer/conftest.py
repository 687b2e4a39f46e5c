"""A stage with a page on it: the nodes and the probe of the ROS tests, and a browser."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from octo_reach.model.octopus import compile_kernels

sys.path.insert(0, str(Path(__file__).parents[1] / "ros"))

try:
    import rclpy
    import viser  # noqa: F401 - to see whether it is there
except ImportError as missing:
    collect_ignore_glob = ["test_*.py"]
    MISSING = f"test/viewer is left out: {missing.name} is not installed (pip install '.[viewer]')"
else:
    from chromium import Chromium, find_browser
    from harness import own_domain
    from stage import Stage

    MISSING = ""


def pytest_report_header() -> str | None:
    return MISSING or None


@pytest.fixture(scope="module")
def domain(tmp_path_factory):
    """A DDS domain of the module's own; what this changes of the environment is changed back."""
    compile_kernels()
    with own_domain(tmp_path_factory.mktemp("log")) as domain:
        yield domain


@pytest.fixture(scope="module")
def stage(domain, tmp_path_factory):
    """A stage in that domain."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    stage = Stage(context, tmp_path_factory.mktemp("stage"), "/viewed")
    try:
        yield stage
    finally:
        stage.close()
        rclpy.shutdown(context=context)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A headless browser."""
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium is installed")
    browser = Chromium(program, tmp_path_factory.mktemp("profile"))
    try:
        yield browser
    finally:
        browser.close()
