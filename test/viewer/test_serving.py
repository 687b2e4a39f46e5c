"""The page's address, and browsers that are slow or gone."""

from __future__ import annotations

import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest
import viser
from pages import BAD_CAMERAS, address_of, open_page, taken_port, tell_camera
from sensor_msgs.msg import JointState
from websockets.exceptions import InvalidStatus

from octo_reach.nodes.viewer import Viewer
from octo_reach.viewer.faults import Faults
from octo_reach.viewer.server import open_server


@pytest.fixture(scope="module")
def viewer(stage):
    """A viewer of one arm."""
    scene = stage.write_scene(target=(0.09, 0.12))
    stage.world(scene)
    stage.controller(scene)
    return stage.start("viewer", {"port": 0})


def test_a_taken_port_ends_the_node_with_one_line(stage):
    with taken_port() as port:
        viewer = stage.start("viewer", {"port": port}, name="second", ready=None)
        assert stage.start.expect_failure(viewer) == 1
    (line,) = [line for line in viewer.lines if line.strip()]
    assert f"port {port} on 127.0.0.1 is taken" in line


def test_an_empty_host_ends_the_node_with_one_line_instead_of_serving_everyone(stage):
    viewer = stage.start("viewer", {"host": "", "port": 0}, name="third", ready=None)
    assert stage.start.expect_failure(viewer) == 1
    (line,) = [line for line in viewer.lines if line.strip()]
    assert "host is empty; use 0.0.0.0 to serve everyone" in line


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.7"])
def test_a_host_that_is_not_this_machine_is_an_error_that_names_it(host):
    with pytest.raises(OSError, match=host):
        open_server(host, 0)


def test_only_this_machine_is_served_unless_told_otherwise(viewer):
    port = int(address_of(viewer).rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=5.0):
        pass
    with socket.socket() as everywhere:
        # Not bound on other addresses: they are free.
        everywhere.bind(("127.0.0.2", port))


def test_a_page_of_another_site_cannot_speak_to_the_viewer(viewer):
    with (
        pytest.raises(InvalidStatus) as refusal,
        open_page(address_of(viewer), origin="https://elsewhere.example"),
    ):
        pass
    assert refusal.value.response.status_code == 403
    with open_page(address_of(viewer), origin="http://localhost:9000") as tunnelled:
        assert tunnelled.recv(timeout=10.0)


UPGRADE = (
    "GET / HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    f"Sec-WebSocket-Protocol: viser-v{viser.__version__}\r\n\r\n"
)


@pytest.mark.parametrize("greeting", ["", "GET / HT", UPGRADE], ids=["silent", "half", "page"])
def test_whoever_does_not_part_does_not_hold_up_the_end(greeting):
    server = open_server("127.0.0.1", 0)
    with socket.create_connection((server.get_host(), server.get_port()), timeout=10.0) as other:
        other.sendall(greeting.format(host=f"127.0.0.1:{server.get_port()}").encode())
        if greeting == UPGRADE:
            assert other.recv(12) == b"HTTP/1.1 101"
        # Another one is answered in the meantime: the first is connected by then.
        with open_page(f"http://127.0.0.1:{server.get_port()}") as page:
            assert page.recv(timeout=10.0)
        server.stop()
        # It gives up waiting for its thread at some time.
        assert not server._websock_server._server_thread.is_alive()


INTERRUPTED = """
import sys
from octo_reach.nodes import viewer
from octo_reach.nodes.spinning import run_node

def interrupt(*arguments, **options):
    raise KeyboardInterrupt

setattr(viewer, sys.argv[1], interrupt)
sys.exit(run_node(viewer.Viewer, ["--ros-args", "-p", "port:=0"]))
"""


@pytest.mark.parametrize("where", ["RejectionLog", "Window", "hear_topics"])
def test_an_interrupt_while_the_viewer_starts_ends_it_quietly(domain, tmp_path, where):
    command = [sys.executable, "-c", INTERRUPTED, where]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=30.0)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_nobody_can_open_a_tunnel_to_the_outside():
    server = open_server("127.0.0.1", 0)
    try:
        assert server.request_share_url() is None
    finally:
        server.stop()


def test_a_browser_that_does_not_read_holds_up_neither_another_nor_the_controller(stage, viewer):
    steps = stage.probe.listen(JointState, "joint_states")
    with open_page(address_of(viewer)), open_page(address_of(viewer)) as quick:
        heard = 0
        for count in range(20):
            # Whatever else the page shows, an arm under way is seen to move.
            stage.send(1, -0.1 if count % 2 else 0.1, 0.12)
            stage.probe.spin_for(0.05)
            heard += len(quick.recv(timeout=10.0)) > 0
        assert heard == 20
        steps.wait_for_next(60)


def test_with_no_browser_there_nothing_is_drawn_and_a_new_one_sees_the_newest(stage, viewer):
    with open_page(address_of(viewer)) as page:
        page.recv(timeout=10.0)
    # Gone without a word; the node lives on, and serves the next one.
    with open_page(address_of(viewer)) as page:
        assert page.recv(timeout=10.0)
    assert viewer.running


def test_a_page_that_talks_nonsense_is_said_once_and_ends_nobodys_view(stage, viewer):
    viewer.mark()
    with open_page(address_of(viewer)) as good, open_page(address_of(viewer)) as bad:
        assert bad.recv(timeout=10.0)
        for changes in BAD_CAMERAS:
            tell_camera(bad, **changes)
        viewer.wait_for_line("ViewerCameraMessage of a page left out")
        for count in range(5):
            stage.send(1, -0.1 if count % 2 else 0.1, 0.12)
            stage.probe.spin_for(0.05)
            assert good.recv(timeout=10.0)
    assert viewer.running
    assert len(viewer.matching("left out")) == 1
    assert "Traceback" not in viewer.output


def test_a_turn_that_fails_is_said_once_and_others_follow():
    said, turns = [], []

    def turn(now):
        turns.append(now)
        if len(turns) < 4:
            raise RuntimeError("gone")

    node = SimpleNamespace(
        _turn=turn,
        _faults=Faults(said.append),
        _table={"rate": 1000.0},
        _window=SimpleNamespace(watched=True),
    )
    Viewer.live(node, SimpleNamespace(wait=lambda seconds: len(turns) == 5))
    assert len(turns) == 5
    (text,) = said
    assert text.startswith("a turn of the viewer failed (RuntimeError): gone")
    assert "Traceback" in text


def test_a_planner_that_was_refused_does_not_stay_chosen_on_the_page():
    told = []
    window = SimpleNamespace(
        tell=lambda where, why, bad: told.append((where, why, bad)),
        forget_planners=lambda: told.append("forget"),
    )
    node = SimpleNamespace(_window=window)
    Viewer._tell(node, "arm_1/retract", "it holds nothing")
    assert told == [("arm_1/retract", "it holds nothing", True)]
    Viewer._tell(node, "reach_controller/set_parameters", "no")
    assert told[1:] == ["forget", ("reach_controller/set_parameters", "no", True)]
