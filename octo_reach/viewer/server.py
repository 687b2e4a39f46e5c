"""The server of the page: at the very address that was asked for, or not at all."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import re
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import rich
import viser
import websockets.asyncio.server
from websockets.asyncio.server import ServerConnection

from octo_reach.viewer.address import check_address, page_address, taken
from octo_reach.viewer.faults import Faults
from octo_reach.viewer.gate import guard

LABEL = "octo_reach"

LOG = logging.getLogger(__name__)

LOOPBACK = ("127.0.0.1", "::1", "localhost")
LOCAL_ORIGIN = r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?"
"""Where a page may come from that speaks to a server of this machine: any port, for tunnels."""


PARTING = 0.3
"""How long whoever is connected may take to part when the page closes, s."""


class Connections:
    """What is connected to a server, from before it has said a word."""

    def __init__(self) -> None:
        """Start with none."""
        self._all: weakref.WeakSet[ServerConnection] = weakref.WeakSet()

    def make(self, *arguments: Any, **options: Any) -> ServerConnection:
        """Make one, as `ServerConnection` is made."""
        connection = ServerConnection(*arguments, **options)
        self._all.add(connection)
        return connection

    def cut(self) -> None:
        """Cut all of them; called by the event loop they belong to."""
        for connection in list(self._all):
            # It has none before it was accepted.
            if (transport := getattr(connection, "transport", None)) is not None:
                transport.abort()


class LocalServer(viser.ViserServer):
    """A viser server that stays at home, and that no message of a page can bring down.

    Nobody can make it open a tunnel to the outside.

    Attributes:
        faults: told of what goes wrong with a page.
    """

    def __init__(self, faults: Faults, connections: Connections, **options: Any) -> None:
        """Serve.

        Args:
            faults: told of what goes wrong with a page.
            connections: where all that is connected is noted.
            options: as `viser.ViserServer` takes them.
        """
        self.faults = faults
        self._connections = connections
        super().__init__(**options)
        guard(self._websock_server, faults)
        # Called after the library's own, which lets the page's camera be heard.
        self._websock_server.on_client_connect(lambda page: guard(page, faults))

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refuse: the page is for whoever can reach the address that was chosen."""
        return None

    def stop(self) -> None:
        """Close the page; whoever does not part in time is cut off.

        A browser may keep a connection in store that never says a word, and one that is busy may
        not answer. The library would wait for either, longer than a node may take to end.
        """
        loop = self._websock_server._background_event_loop
        # Without a loop that runs there is nothing left to cut.
        with contextlib.suppress(RuntimeError):
            if loop is not None:
                loop.call_soon_threadsafe(loop.call_later, PARTING, self._connections.cut)
        with _quiet():
            super().stop()


def open_server(host: str, port: int, say: Callable[[str], object] = LOG.warning) -> LocalServer:
    """Serve a page.

    Args:
        host: name or address to bind: `127.0.0.1` for this machine only.
        port: port to bind; 0 for any that is free.
        say: writes a line about what goes wrong with a page into a log.

    Raises:
        OSError: the address cannot be had; the text says why, in one line.
    """
    check_address(host, port)
    os.environ.pop("_VISER_PORT_OVERRIDE", None)
    # Whoever knocks without speaking its language is no failure of ours.
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    # What does not fit is left out, and said once, at the gate.
    warnings.filterwarnings("ignore", r"\[viser\] .* does not match", UserWarning)
    connections = Connections()
    with _quiet(), _own_terms(host, connections):
        server = LocalServer(
            Faults(say), connections, host=host, port=port, label=LABEL, verbose=False
        )
    if port and server.get_port() != port:
        # Somebody took it in this very moment, and the library moved on to the next one.
        server.stop()
        raise OSError(taken(host, port))
    return server


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep back what the library prints for people at a prompt: it would tear a log."""
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


@contextlib.contextmanager
def _own_terms(host: str, connections: Connections) -> Iterator[None]:
    """Let servers that start meanwhile note who connects, and turn strangers away.

    A browser lets every page of the web speak to the servers of its own machine; who asks stands in
    the header Origin. The library has no settings for either, websockets has.

    Args:
        host: name or address that is bound; nobody is turned away where others may come anyway.
        connections: where all that is connected is noted.
    """
    serve = websockets.asyncio.server.serve
    terms: dict[str, Any] = {"create_connection": connections.make}
    if host in LOOPBACK:
        terms["origins"] = [None, re.compile(LOCAL_ORIGIN)]
    websockets.asyncio.server.serve = functools.partial(serve, **terms)  # type: ignore
    try:
        yield
    finally:
        websockets.asyncio.server.serve = serve  # type: ignore


def address(server: viser.ViserServer) -> str:
    """Give where a browser finds the page."""
    return page_address(server.get_host(), server.get_port())
