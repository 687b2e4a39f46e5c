"""octopus.launch.py: eight arms, their limits taken from the launch file's parameters."""

import sys
import tempfile
import unittest
from pathlib import Path

import launch_testing
import launch_testing.asserts
import yaml
from std_msgs.msg import String

sys.path.insert(0, str(Path(__file__).resolve().parent))

from system import START_CEILING, SystemTest, launch

from octo_reach.ros.description import arms_from_description

SEGMENTS = 12

# An octopus at rest with nothing around it, so that where an arm is sent is free.
SCENE = {"version": 1, "name": "Open water", "units": "metre", "arms": []}
CONFIG = {
    "/**": {
        "ros__parameters": {"rate": 120.0, "arms.arm_8.segment_count": SEGMENTS},
    }
}


def write(folder, name, document):
    path = Path(folder) / name
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return str(path)


def generate_test_description():
    folder = tempfile.mkdtemp(prefix="octo_reach_launch_")
    return launch(
        "octopus.launch.py",
        scene=write(folder, "scene.yaml", SCENE),
        config=write(folder, "config.yaml", CONFIG),
    )


class TestOctopus(SystemTest):
    arms = (1, 2, 3, 4, 5, 6, 7, 8)

    def test_the_nodes_come_up(self):
        self.wait_for_nodes()

    def test_the_robot_model_has_all_arms(self):
        self.assertEqual(self.described_arms(), self.arms)

    def test_robot_state_publisher_has_the_model_of_the_controller(self):
        own = self.probe.listen_latched(String, "robot_description")
        text = own.wait_for(timeout=START_CEILING).data
        counts = {arm.number: arm.parameters.segment_count for arm in arms_from_description(text)}
        self.assertEqual(counts, dict.fromkeys(self.arms[:-1], 20) | {8: SEGMENTS})
        if ("robot_state_publisher", "/") not in self.probe.node.get_node_names_and_namespaces():
            self.skipTest("robot_state_publisher is not installed")
        other = self.probe.listen_latched(String, "robot_state_publisher/robot_description")
        self.assertEqual(other.wait_for(timeout=START_CEILING).data, text)

    def test_a_target_is_reached(self):
        self.send_to(1, 0.2, 0.05)


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_every_node_has_ended_well(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
