"""reach.launch.py as it comes: one arm, the first scene."""

import sys
import unittest
from pathlib import Path

import launch_testing
import launch_testing.asserts

sys.path.insert(0, str(Path(__file__).resolve().parent))

from system import SystemTest, launch


def generate_test_description():
    return launch("reach.launch.py")


class TestReach(SystemTest):
    def test_the_nodes_come_up(self):
        self.wait_for_nodes()

    def test_the_robot_model_has_the_arm(self):
        self.assertEqual(self.described_arms(), (1,))

    def test_a_target_is_reached(self):
        self.send_to(1, 0.12, 0.2)


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_every_node_has_ended_well(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
