"""Every test session has a DDS domain of its own, every test a namespace of its own."""

from __future__ import annotations

import itertools
import os
import re
import signal
from pathlib import Path

import pytest

from octo_reach.model.octopus import compile_kernels

try:
    import rclpy
except ImportError:
    collect_ignore_glob = ["test_*.py"]
    MISSING = "test/ros is left out: rclpy is not installed (pip install '.[ros]')"
else:
    from harness import NodeStarter, Probe, own_domain, own_environment
    from stage import Stage

    MISSING = ""

FOLDER = Path(__file__).parent
COUNTER = itertools.count(1)


def pytest_report_header() -> str | None:
    return MISSING or None


def pytest_configure(config) -> None:
    # Ended from outside, the session must still end its nodes; and nodes must hear the SIGINT they
    # are ended with also where a script started pytest in the background, with SIGINT ignored.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items) -> None:
    for item in items:
        if FOLDER in item.path.parents:
            item.add_marker(pytest.mark.ros)


@pytest.fixture(scope="session")
def ros_context(tmp_path_factory):
    """The context of the session's probes, in a domain nobody else has."""
    # Now, or on a new machine the first node would take longer to start than any test waits.
    compile_kernels()
    with own_domain() as domain:
        environment = own_environment(domain, tmp_path_factory.mktemp("log"))
        before = {name: os.environ.get(name) for name in environment}
        os.environ.update(environment)
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=domain)
        yield context
        rclpy.shutdown(context=context)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


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
