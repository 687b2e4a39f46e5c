"""An octopus: eight arms on one body, with their world and RViz.

    ros2 launch octo_reach octopus.launch.py
    ros2 launch octo_reach octopus.launch.py arms:=1-4 namespace:=tank
    ros2 launch octo_reach octopus.launch.py rviz:=false viewer:=true
    ros2 launch octo_reach octopus.launch.py --show-args
"""

from launch import LaunchDescription

from octo_reach.nodes.launch_description import describe_launch


def generate_launch_description() -> LaunchDescription:
    """Describe the launch, as `ros2 launch` asks for it."""
    return describe_launch(default_scene="reef", default_config="octopus.yaml")
