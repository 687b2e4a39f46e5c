"""reach.launch.py with its page: served in a namespace, or missed without harm to the rest."""

import importlib.util
import re
import socket
import sys
import unittest
import urllib.request
from pathlib import Path

import launch_testing
import launch_testing.asserts

sys.path.insert(0, str(Path(__file__).resolve().parent))

from system import START_CEILING, SystemTest, launch

HAS_VISER = importlib.util.find_spec("viser") is not None


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


PORT = free_port()


def generate_test_description():
    return launch("reach.launch.py", namespace="tank", viewer="true", viewer_port=str(PORT))


class TestViewer(SystemTest):
    namespace = "/tank"

    def test_the_page_is_served_where_it_was_asked_for(self, proc_output):
        if not HAS_VISER:
            self.skipTest("viser is not installed")
        proc_output.assertWaitFor(f"ready: http://127.0.0.1:{PORT}", timeout=START_CEILING)
        address = f"http://127.0.0.1:{PORT}"
        with urllib.request.urlopen(address, timeout=START_CEILING) as page:
            self.assertIn(b"<html", page.read(2000))
        node = self.probe.node
        self.probe.wait_until(
            lambda: ("viewer", "/tank") in node.get_node_names_and_namespaces(),
            "the viewer in its namespace",
            START_CEILING,
        )

    def test_without_its_library_the_viewer_says_what_to_do(self, proc_output):
        if HAS_VISER:
            self.skipTest("viser is installed")
        proc_output.assertWaitFor("needs viser, which is not installed", timeout=START_CEILING)

    def test_an_arm_reaches_its_target_with_a_page_or_without(self):
        self.send_to(1, 0.12, 0.2)


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_every_node_has_ended_well(self, proc_info):
        for process in proc_info.process_names():
            missed = re.match("viewer", process) and not HAS_VISER
            self.assertEqual(proc_info[process].returncode, 1 if missed else 0, process)
