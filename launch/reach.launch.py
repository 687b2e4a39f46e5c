"""One arm that reaches, avoids and grasps, with its world and RViz.

    ros2 launch octo_reach reach.launch.py
    ros2 launch octo_reach reach.launch.py scene:=/home/me/pond.yaml rviz:=false
    ros2 launch octo_reach reach.launch.py --show-args
"""

from launch import LaunchDescription

from octo_reach.nodes.launch_description import describe_launch


def generate_launch_description() -> LaunchDescription:
    """Describe the launch, as `ros2 launch` asks for it."""
    return describe_launch(default_scene="first_reach", default_config="reach.yaml")
