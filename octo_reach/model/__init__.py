"""The arm and its scene: numpy in, numpy out; no ROS, no files, no clock."""
