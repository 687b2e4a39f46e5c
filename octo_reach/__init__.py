"""Octopus-like reaching for ROS 2: many-jointed arms, each steering itself by local rules."""

__version__ = "0.1.0"
