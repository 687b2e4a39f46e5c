"""The viewer: a page in a browser that shows the system, and takes orders for it.

Wiring only. It is a process of its own that hears and says what any ROS user can, so that a browser
that is slow, or gone, costs the controller nothing, and several viewers agree with one another.
Callbacks, in a thread of their own, take what arrives; the main thread shows the newest of it and
sends the orders.
"""

from __future__ import annotations

import sys
import time

from rclpy.node import Node
from sensor_msgs.msg import PointCloud2
from visualization_msgs.msg import MarkerArray

from octo_reach.nodes.monitor import NEWEST
from octo_reach.nodes.order_sender import CONTROLLER, OrderSender
from octo_reach.nodes.sighting_topics import hear_topics
from octo_reach.nodes.sightings import Sightings
from octo_reach.nodes.signal_flag import SignalFlag
from octo_reach.nodes.spinning import run_node
from octo_reach.planners import PLANNERS
from octo_reach.ros.parameters import REAL, TEXT, WHOLE, ParameterTable, Setting
from octo_reach.ros.validation import RejectionLog
from octo_reach.viewer.address import HOST, PORT
from octo_reach.viewer.server import LocalServer, address, open_server
from octo_reach.viewer.window import Window

PARAMETERS = f"{CONTROLLER}/set_parameters"
"""Service that planners are chosen by."""

UNWATCHED_PERIOD = 0.2
"""Time between two looks at the topics while no browser is there, for the plots, s."""

SETTINGS = (
    Setting(
        "host",
        TEXT,
        HOST,
        "address the page is served at: this machine's own, or 0.0.0.0 for whoever can reach it",
        fixed=True,
    ),
    Setting(
        "port",
        WHOLE,
        PORT,
        "port the page is served at; 0: any that is free",
        minimum=0,
        maximum=65535,
        fixed=True,
    ),
    Setting(
        "rate",
        REAL,
        30.0,
        "most pictures a second that a browser is sent",
        "Hz",
        minimum=1.0,
        maximum=60.0,
    ),
)


class Viewer(Node):
    """Shows what is heard in a browser, and sends what is asked for there."""

    def __init__(self) -> None:
        """Bring up everything but the main loop.

        Raises:
            OSError: the page's address cannot be had; the text says why.
        """
        # An interrupt may come between any two lines; what is open by then is closed all the same.
        self._server: LocalServer | None = None
        super().__init__("viewer")
        self._table = ParameterTable(self)
        self._table.declare(SETTINGS)
        self._table.warn_unknown()
        prefix = self.get_namespace().rstrip("/")
        warn = self.get_logger().warning
        self._rejections = RejectionLog(warn)
        self._sightings = Sightings(f"{prefix}/{CONTROLLER}", self._rejections.reject)
        self._server = server = open_server(self._table["host"], self._table["port"], warn)
        self._faults = server.faults
        self._window = Window(server, tuple(PLANNERS))
        self._sender = OrderSender(self, self._sightings, self._tell)
        hear_topics(self, self._sightings)
        for kind, topic, hear in (
            (PointCloud2, "contacts", self._sightings.hear_contacts),
            (MarkerArray, "markers", self._sightings.hear_markers),
        ):
            self.create_subscription(kind, topic, hear, NEWEST, raw=True)
        self.get_logger().info(f"ready: {address(server)}")

    def _tell(self, where: str, why: str) -> None:
        """Tell whoever looks what was asked for in vain."""
        if where == PARAMETERS:
            self._window.forget_planners()
        self._window.tell(where, why, bad=True)

    def live(self, stop: SignalFlag) -> None:
        """Show what there is and send what is asked for, until `stop` is set."""
        due = time.monotonic()
        while not stop.wait(max(0.0, due - time.monotonic())):
            now = time.monotonic()
            # A turn that fails is one picture less, not the end of everybody's page.
            with self._faults.contain("a turn of the viewer"):
                self._turn(now)
            period = 1.0 / self._table["rate"] if self._window.watched else UNWATCHED_PERIOD
            # A picture that came too late is left out, not made up for.
            due = max(due + period, time.monotonic())

    def _turn(self, now: float) -> None:
        self._sender.prepare(self._sightings.arms)
        for order in self._window.take_orders():
            with self._faults.contain("an order of a page"):
                self._sender.obey(order)
        self._window.show(self._sightings.snapshot(self._window.wants_thoughts), now)

    def destroy_node(self) -> None:
        """Close the page and give everything back."""
        server, self._server = self._server, None
        if server is not None:
            server.stop()
        super().destroy_node()


def main() -> int:
    """Run the node; give the exit code."""
    return run_node(Viewer)


if __name__ == "__main__":
    sys.exit(main())
