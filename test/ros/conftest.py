"""Every test session has a DDS domain of its own, every test a namespace of its own."""

from __future__ import annotations

import itertools
import re

import pytest

from octo_reach.model.octopus import compile_kernels

try:
    import rclpy
except ImportError:
    collect_ignore_glob = ["test_*.py"]
    MISSING = "test/ros is left out: rclpy is not installed (pip install '.[ros]')"
else:
    from harness import NodeStarter, Probe, own_domain
    from stage import Stage

    MISSING = ""

COUNTER = itertools.count(1)


def pytest_report_header() -> str | None:
    return MISSING or None


@pytest.fixture(scope="session")
def ros_context(tmp_path_factory):
    """The context of the session's probes, in a domain nobody else has."""
    # Now, or on a new machine the first node would take longer to start than any test waits.
    compile_kernels()
    with own_domain(tmp_path_factory.mktemp("log")) as domain:
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=domain)
        yield context
        rclpy.shutdown(context=context)


@pytest.fixture
def namespace(request) -> str:
    """A namespace no other test of the session has: what ended nodes left behind is not heard."""
    name = re.sub(r"[\W_]+", "_", request.node.originalname)[:50].strip("_")
    return f"/{name}_{next(COUNTER)}"


@pytest.fixture
def start(ros_context, namespace, tmp_path):
    """Starts nodes: `start("simulated_world", {"scene": path})`; see `NodeStarter`."""
    starter = NodeStarter(tmp_path, namespace)
    try:
        yield starter
    finally:
        starter.stop_all()


@pytest.fixture
def probe(ros_context, namespace):
    """A node in the test's namespace that speaks, listens and calls; see `Probe`."""
    probe = Probe(ros_context, namespace)
    try:
        yield probe
    finally:
        probe.close()


@pytest.fixture
def stage(ros_context, namespace, tmp_path):
    """A stage of the test's own; see `Stage`."""
    stage = Stage(ros_context, tmp_path, namespace)
    try:
        yield stage
    finally:
        stage.close()


@pytest.fixture(scope="module")
def shared_stage(ros_context, request, tmp_path_factory):
    """A stage that the tests of one module share, in a namespace of two levels."""
    name = request.module.__name__.rsplit(".", 1)[-1]
    stage = Stage(ros_context, tmp_path_factory.mktemp(name), f"/shared_{next(COUNTER)}/{name}")
    try:
        yield stage
    finally:
        stage.close()
