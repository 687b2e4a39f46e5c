"""What a page may tell the server.

The library takes what comes over a socket as it comes: a page with a fault, or no page at all,
could take the panel away from everybody with one message.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from viser._messages import GuiUpdateMessage, ViewerCameraMessage
from viser.infra import ClientId, Message, WebsockMessageHandler

from octo_reach.viewer.faults import Faults

LONGEST_TEXT = 200
"""Most characters of a value that is chosen in the panel."""

LARGEST = 1e6
"""Largest number in a place: with much more, differences between places are lost."""

CAMERA = {"wxyz": 4, "position": 3, "look_at": 3, "up_direction": 3}
"""Number of components of what a camera is told with, by its name."""

CAMERA_NUMBERS = ("fov", "near", "far", "image_height", "image_width")
"""The rest of what a camera is told with; nothing of it is below 0."""

POINTER = {"ray_origin": 3, "ray_direction": 3, "start_position": 3, "end_position": 3}
"""Number of components of what a pointer is told with, by its name; not all of it each time."""


def fault_of(message: Message) -> str:
    """Say what is wrong with a message from a page; nothing when all is well.

    Args:
        message: the message, of any kind.
    """
    if isinstance(message, GuiUpdateMessage):
        return _update_fault(message.updates)
    if isinstance(message, ViewerCameraMessage):
        return _vector_fault(message, CAMERA) or _camera_fault(message)
    return _vector_fault(message, POINTER)


def _update_fault(updates: Any) -> str:
    """People change values; everything else of the panel is the server's."""
    if not isinstance(updates, Mapping) or not updates.keys() <= {"value"}:
        return "a page can change nothing of the panel but values"
    value = updates.get("value", 0)
    if isinstance(value, str):
        return f"a value is longer than {LONGEST_TEXT}" if len(value) > LONGEST_TEXT else ""
    if isinstance(value, bool) or _is_number(value):
        return ""
    return "a value is neither a text nor a finite number"


def _vector_fault(message: Message, sizes: Mapping[str, int]) -> str:
    fields = vars(message)
    for name, size in sizes.items():
        vector = fields.get(name)
        if name in fields and (
            not isinstance(vector, list | tuple)
            or len(vector) != size
            or not all(map(_is_number, vector))
        ):
            return f"{name} must be {size} finite numbers"
    return ""


def _camera_fault(camera: ViewerCameraMessage) -> str:
    for name in CAMERA_NUMBERS:
        number = getattr(camera, name)
        if not _is_number(number) or number < 0:
            return f"{name} of a camera must be a finite number, and not below 0"
    for name in ("wxyz", "up_direction"):
        if not any(getattr(camera, name)):
            return f"{name} of a camera must not be zero"
    if math.dist(camera.position, camera.look_at) == 0.0:
        return "a camera must not look at where it is"
    return ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def guard(handler: WebsockMessageHandler, faults: Faults) -> None:
    """Let nothing through to the callbacks of a handler that has a fault.

    Args:
        handler: a server, or what stands for one page there.
        faults: told of what was not let through, and of callbacks that fail.
    """
    take: Callable[[ClientId, Message], Awaitable[None]] = handler._handle_incoming_message

    async def take_checked(client: ClientId, message: Message) -> None:
        kind = type(message).__name__
        if fault := fault_of(message):
            faults.note(f"{kind} of a page left out", fault)
            return
        with faults.contain(f"{kind} of a page"):
            await take(client, message)

    handler._handle_incoming_message = take_checked  # type: ignore[method-assign]
