"""The page's address: the very one that was asked for, or a reason why not."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import socket

import rich
from viser import ViserServer

LABEL = "octo_reach"


class LocalServer(ViserServer):
    """A viser server that stays at home: nobody can make it open a tunnel to the outside."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refuse: the page is for whoever can reach the address that was chosen."""
        return None


def open_server(host: str, port: int) -> LocalServer:
    """Serve a page.

    Args:
        host: name or address to bind: `127.0.0.1` for this machine only.
        port: port to bind; 0 for any that is free.

    Raises:
        OSError: the address cannot be had; the text says why, in one line.
    """
    _check_address(host, port)
    os.environ.pop("_VISER_PORT_OVERRIDE", None)
    # What the library prints for people at a prompt would stand between the lines of a log, and
    # whoever knocks without speaking its language is no failure of ours.
    rich.get_console().quiet = True
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    server = LocalServer(host=host, port=port, label=LABEL, verbose=False)
    if port and server.get_port() != port:
        # Somebody took it in this very moment, and the library moved on to the next one.
        server.stop()
        raise OSError(_taken(host, port))
    return server


def address(server: ViserServer) -> str:
    """Give where a browser finds the page."""
    host = server.get_host()
    if host in ("0.0.0.0", "::", ""):
        host = "localhost"
    return f"http://{f'[{host}]' if ':' in host else host}:{server.get_port()}"


def _check_address(host: str, port: int) -> None:
    """Bind the address for a moment: the library would wait for ever for one that is none."""
    try:
        families = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
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
                    raise OSError(_taken(host, port)) from None
                raise OSError(f"the viewer cannot have {host}:{port}: {failure.strerror}") from None


def _taken(host: str, port: int) -> str:
    return (
        f"the viewer's port {port} on {host} is taken by another program;"
        " choose another with the parameter port (0: any free one)"
    )
