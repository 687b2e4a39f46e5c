"""The server of the page: at the very address that was asked for, or not at all."""

from __future__ import annotations

import logging
import os

import rich
from viser import ViserServer

from octo_reach.viewer.address import check_address, page_address, taken

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
    check_address(host, port)
    os.environ.pop("_VISER_PORT_OVERRIDE", None)
    # What the library prints for people at a prompt would stand between the lines of a log, and
    # whoever knocks without speaking its language is no failure of ours.
    rich.get_console().quiet = True
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    server = LocalServer(host=host, port=port, label=LABEL, verbose=False)
    if port and server.get_port() != port:
        # Somebody took it in this very moment, and the library moved on to the next one.
        server.stop()
        raise OSError(taken(host, port))
    return server


def address(server: ViserServer) -> str:
    """Give where a browser finds the page."""
    return page_address(server.get_host(), server.get_port())
