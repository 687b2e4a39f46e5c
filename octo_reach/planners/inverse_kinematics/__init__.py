"""Inverse kinematics of planar chains, usable without arms, scenes or ROS."""
