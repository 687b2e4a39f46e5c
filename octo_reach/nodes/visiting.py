"""A node in another program: in the graph for as long as the program needs it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import rclpy
from rclpy.exceptions import InvalidNamespaceException
from rclpy.logging import get_logging_directory
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.validate_namespace import validate_namespace

from octo_reach.installation import share_path
from octo_reach.nodes.spinning import BackgroundSpinner

Visitor = TypeVar("Visitor", bound=Node)


class NoGraphError(RuntimeError):
    """ROS 2 does not start here; the text says why, in one line."""


def announce_often() -> None:
    """Let Fast DDS announce the nodes of this process and its children five times a second.

    By itself it does so every three seconds, and for so long a node may not be found when its
    first announcement was lost. Profiles that the user has chosen stay.
    """
    names = ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE")
    if any(name in os.environ for name in names):
        return
    # Fast DDS 3, which came with ROS 2 Kilted as this class did, warns of the old name.
    name = names[0] if hasattr(rclpy, "InitContextManager") else names[1]
    with contextlib.suppress(FileNotFoundError):
        os.environ[name] = str(share_path("config", "quick_discovery.xml"))


@contextlib.contextmanager
def visiting(make_node: Callable[[], Visitor]) -> Iterator[Visitor]:
    """Start ROS 2, make a node and run its callbacks in the background, while this is entered.

    The program's own arguments and signals stay its own.

    Args:
        make_node: makes the node.

    Raises:
        NoGraphError: ROS 2 does not start: a wrong ROS_DOMAIN_ID, say, or no folder for its log.
    """
    announce_often()
    try:
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    except Exception as failure:  # the errors of rclpy have no name of their own in all releases
        reason = str(failure).strip().splitlines() or [repr(failure)]
        raise NoGraphError(f"ROS 2 does not start: {reason[0]}") from None
    try:
        node = make_node()
        try:
            with BackgroundSpinner(node):
                yield node
        finally:
            node.destroy_node()
    finally:
        rclpy.try_shutdown()


def full_namespace(text: str) -> str:
    """Give a namespace as ROS 2 writes it, with a leading slash.

    Args:
        text: the namespace, with or without that; empty for none.

    Raises:
        ValueError: it cannot be one.
    """
    namespace = "/" + text.strip("/")
    try:
        validate_namespace(namespace)
    except InvalidNamespaceException:
        raise ValueError(
            "a namespace must consist of letters, digits and _, with / between its parts, none of"
            f" which begins with a digit; got {text!r}"
        ) from None
    return namespace


def log_folder() -> Path:
    """Give the folder where nodes keep their logs.

    Raises:
        RuntimeError: there is none.
    """
    return Path(get_logging_directory())
