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

NOT_A_NUMBER = float("nan")

BAD_CAMERAS = (
    {"position": (1.0,), "look_at": (), "wxyz": (1.0,)},
    {"position": (NOT_A_NUMBER, 0.0, 1.0)},
    {"look_at": CAMERA["position"]},
    {"up_direction": (0.0, 0.0, 0.0)},
    {"position": (1e300, 0.0, 0.0)},
    {"image_height": -1},
    {"fov": float("inf")},
)
"""What no page's script tells of a camera, but anybody can send."""

UNREADABLE_CAMERAS = (
    {"look_at": ("here", 0.0, 0.0)},
    {"look_at": None},
    {"image_width": "wide"},
    {"image_height": None},
    {"image_width": NOT_A_NUMBER},
)
"""The same, and not even a message."""


def tell(page: ClientConnection, kind: str, **fields: Any) -> None:
    """Send a message as a page's script does.

    Args:
        page: the connection.
        kind: name of the message.
        fields: what it says.
    """
    page.send(msgspec.msgpack.encode({"type": kind, **fields}))


def tell_camera(page: ClientConnection, **changes: Any) -> None:
    """Tell where the camera is: `CAMERA`, but for some changes."""
    page.send(msgspec.msgpack.encode({**CAMERA, **changes}))


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
