"""The server's side of a page, spoken to as the page's script does in a browser."""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Iterator
from typing import Any

import msgspec
import viser
from harness import NodeProcess
from websockets.sync.client import ClientConnection, connect

CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": (1.0, 0.0, 0.0, 0.0),
    "position": (0.0, 0.0, 1.0),
    "fov": 0.5,
    "near": 0.01,
    "far": 100.0,
    "image_height": 800,
    "image_width": 1200,
    "look_at": (0.0, 0.0, 0.0),
    "up_direction": (0.0, 0.0, 1.0),
}
"""What every page tells first: where its camera is."""


def address_of(viewer: NodeProcess) -> str:
    """Give the address that a viewer says it serves its page at."""
    found = re.search(r"ready: (http://\S+)", viewer.output)
    assert found, viewer.output
    return found[1]


@contextlib.contextmanager
def open_page(address: str, **options: Any) -> Iterator[ClientConnection]:
    """Connect to a server and greet it.

    Args:
        address: its address, `http://host:port`.
        options: as `websockets.sync.client.connect` takes them.
    """
    with connect(
        address.replace("http", "ws"),
        subprotocols=[f"viser-v{viser.__version__}"],
        max_size=None,
        close_timeout=0.2,
        **options,
    ) as page:
        page.send(msgspec.msgpack.encode(CAMERA))
        yield page


@contextlib.contextmanager
def taken_port() -> Iterator[int]:
    """Take a port while this is entered."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]
