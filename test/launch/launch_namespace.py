"""reach.launch.py in a namespace, on the clock of its own world."""

import sys
import unittest
from pathlib import Path

import launch_testing
import launch_testing.asserts
from rosgraph_msgs.msg import Clock

sys.path.insert(0, str(Path(__file__).resolve().parent))

from system import START_CEILING, SystemTest, launch

GLOBAL = {
    "/clock",
    "/diagnostics",
    "/parameter_events",
    "/rosout",
    "/tf",
    "/tf_static",
}


def generate_test_description():
    return launch("reach.launch.py", namespace="tank", use_sim_time="true")


class TestNamespace(SystemTest):
    namespace = "/tank"

    def test_the_nodes_come_up(self):
        self.wait_for_nodes()

    def test_the_robot_model_has_the_arm(self):
        self.assertEqual(self.described_arms(), (1,))

    def test_a_target_is_reached(self):
        self.send_to(1, 0.12, 0.2)

    def test_the_world_runs_the_clock(self):
        clock = self.probe.listen(Clock, "/clock")
        first = clock.wait_for(what="a time", timeout=START_CEILING)
        clock.wait_for(lambda message: message.clock.sec > first.clock.sec, "a later time")

    def test_nothing_but_what_is_global_lies_outside_the_namespace(self):
        self.wait_for_nodes()
        topics = {name for name, _ in self.probe.node.get_topic_names_and_types()}
        outside = {name for name in topics if not name.startswith("/tank/")}
        self.assertEqual(outside - GLOBAL, set())


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_every_node_has_ended_well(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
