"""Octopus-like reaching for ROS 2: many-jointed planar arms that steer themselves by local rules."""

__version__ = "0.1.0"
