"""The handles: arms, objects and the scene can be dragged and right-clicked in RViz.

Wiring only. It is a process of its own that hears and says what any ROS user can; RViz talks to it
by `handles/update`, `handles/feedback` and `handles/get_interactive_markers`. Whatever arrives is
taken in one thread.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from interactive_markers import InteractiveMarkerServer
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile

from octo_reach.nodes.handle_board import HandleBoard
from octo_reach.nodes.order_sender import CONTROLLER, OrderSender
from octo_reach.nodes.sighting_topics import hear_topics
from octo_reach.nodes.sightings import Sightings
from octo_reach.nodes.signal_flag import SignalFlag
from octo_reach.nodes.spinning import run_node
from octo_reach.planners import PLANNERS
from octo_reach.ros.parameters import REAL, ParameterTable, Setting
from octo_reach.ros.validation import RejectionLog
from octo_reach.viewer.orders import Orders

HANDLES = "handles"

FEEDBACK_QUALITY = QoSProfile(depth=100)
"""Of a burst nothing may be lost: a menu entry is chosen once."""

SETTINGS = (
    Setting(
        "rate",
        REAL,
        20.0,
        "How often handles follow what they stand for",
        "Hz",
        minimum=1.0,
        maximum=60.0,
        fixed=True,
    ),
    Setting(
        "radius",
        REAL,
        0.012,
        "Radius of objects that are added by the menu",
        "m",
        minimum=1e-4,
        maximum=10.0,
    ),
)


class Handles(Node):
    """Shows handles for what is heard, and sends what is asked for with them."""

    def __init__(self) -> None:
        """Bring up everything."""
        super().__init__(HANDLES)
        self._table = ParameterTable(self)
        self._table.declare(SETTINGS)
        self._table.warn_unknown()
        logger = self.get_logger()
        prefix = self.get_namespace().rstrip("/")
        rejections = RejectionLog(logger.warning)
        self._orders = Orders()
        self._sightings = Sightings(f"{prefix}/{CONTROLLER}", rejections.reject)
        self._sender = OrderSender(
            self, self._sightings, lambda where, why: logger.warning(f"{where}: {why}")
        )
        self._server = InteractiveMarkerServer(self, HANDLES, feedback_sub_qos=FEEDBACK_QUALITY)
        self._board = HandleBoard(self._server, self._orders, tuple(PLANNERS), rejections.reject)
        hear_topics(self, self._sightings)
        # A timer, so that no two threads ever change the handles; of the wall's time, so that the
        # menu can let simulated time go on.
        self._timer = self.create_timer(
            1.0 / self._table["rate"], self._turn, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def _turn(self) -> None:
        self._board.radius = self._table["radius"]
        self._sender.prepare(self._sightings.arms)
        for order in self._orders.take():
            self._sender.obey(order)
        self._board.show(self._sightings.snapshot())

    def live(self, stop: SignalFlag) -> None:
        """Wait until `stop` is set; all work is done by callbacks."""
        self.get_logger().info(f"ready: handles at {self._table['rate']:g} Hz")
        stop.wait()

    def destroy_node(self) -> None:
        """Take the handles away and give everything back."""
        self._server.shutdown()
        super().destroy_node()


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; give the exit code."""
    return run_node(Handles, args)


if __name__ == "__main__":
    sys.exit(main())
