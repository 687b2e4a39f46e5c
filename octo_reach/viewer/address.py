"""The page's address: whether it can be had, and how it is written. No viser."""

from __future__ import annotations

import contextlib
import errno
import socket

HOST = "127.0.0.1"
"""Address that only this machine can reach."""

PORT = 8080


def page_address(host: str, port: int) -> str:
    """Give where a browser finds a page.

    Args:
        host: name or address that is bound.
        port: port that is bound.
    """
    if host in ("0.0.0.0", "::"):
        host = "localhost"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def taken(host: str, port: int) -> str:
    """Say that somebody else has an address."""
    return (
        f"the viewer's port {port} on {host} is taken by another program;"
        " choose another with the parameter port (0: any free one)"
    )


def free_port(host: str) -> int:
    """Give a port that nobody has just now.

    Args:
        host: name or address to bind.
    """
    with socket.create_server((host, 0)) as probe:
        return int(probe.getsockname()[1])


def check_address(host: str, port: int) -> None:
    """Bind an address for a moment.

    Args:
        host: name or address.
        port: port; 0 for any that is free.

    Raises:
        OSError: it cannot be had; the text says why, in one line.
    """
    if not host:
        # The library takes it for every address there is, which nobody means by saying nothing.
        raise OSError(
            f"the viewer's host is empty; use 0.0.0.0 to serve everyone, {HOST} for this machine"
        )
    try:
        families = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as failure:
        raise OSError(f"the viewer's host {host!r} is not known: {failure.strerror}") from None
    for family, kind, protocol, _, place in families:
        with contextlib.closing(socket.socket(family, kind, protocol)) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                probe.bind(place)
                probe.listen(1)
            except OSError as failure:
                if failure.errno == errno.EADDRINUSE:
                    raise OSError(taken(host, port)) from None
                raise OSError(f"the viewer cannot have {host}:{port}: {failure.strerror}") from None
