"""Model values to ROS messages and back, and what the nodes must agree on.

The only folder that does so. Nothing here owns a node, a clock or a state of the arms: the nodes
hand messages or the model in and get the other out. Angles, metres and seconds as in REP 103,
frame `world`, whatever lies in the scene file.
"""
