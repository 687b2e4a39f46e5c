"""What commands that talk ROS 2 have in common."""

from __future__ import annotations

import importlib
import os

from octo_reach.commands import CommandError, require_extra

MODULES = (
    "rclpy",
    "builtin_interfaces.msg",
    "diagnostic_msgs.msg",
    "geometry_msgs.msg",
    "rosgraph_msgs.msg",
    "sensor_msgs.msg",
    "std_msgs.msg",
    "std_srvs.srv",
    "visualization_msgs.msg",
    "transforms3d",
)
"""What the extra `ros`, or an installed ROS 2, brings."""


def require_ros(what: str) -> None:
    """Make sure that ROS 2 is there.

    Args:
        what: what needs it, as a person calls it.

    Raises:
        CommandError: it is not, or it cannot be loaded; the text says which.
    """
    client = MODULES[0]
    try:
        importlib.import_module(client)
    except ImportError as error:
        if error.name == client:
            raise CommandError(
                f"{what} needs ROS 2: pip install '.[ros]', or source an installed ROS 2"
            ) from None
        raise CommandError(f"{what} cannot load {client}: {error}") from None
    require_extra(what, "ros", MODULES)


def checked_namespace(text: str) -> str:
    """Give a namespace as ROS 2 writes it, with a leading slash.

    Args:
        text: the namespace, with or without that; empty for none.

    Raises:
        CommandError: it cannot be one.
    """
    from octo_reach.nodes.visiting import full_namespace

    try:
        return full_namespace(text)
    except ValueError as error:
        raise CommandError(f"--namespace: {error}") from None


def domain() -> str:
    """Give the ROS 2 domain this process is in, as its environment says."""
    return os.environ.get("ROS_DOMAIN_ID", "").strip() or "0"
