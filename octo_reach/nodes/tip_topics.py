"""What a controller says of one arm's tip: where it is, how far off, and which way it came."""

from __future__ import annotations

import time
from collections.abc import Callable

from builtin_interfaces.msg import Time
from rclpy.node import Node
from rclpy.publisher import Publisher

from octo_reach.model.octopus import Arm
from octo_reach.nodes.audience import Audience
from octo_reach.ros.frames import arm_name
from octo_reach.ros.quality_of_service import STREAM
from octo_reach.ros.targets import TipBuilder, TipErrorBuilder
from octo_reach.ros.trails import TipTrail

TRAIL_PERIOD = 0.1
"""Time between two messages of a trail that goes on, s."""

TRAIL_PATIENCE = 1.0
"""Time after which one that does not is said again, for whoever has come since, s."""


class TipTopics:
    """The topics of one arm's tip. Of those nobody hears nothing is made, and no trail is kept."""

    def __init__(
        self, node: Node, number: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Say nothing yet.

        Args:
            node: the node that speaks.
            number: number of the arm.
            clock: seconds of a steady clock.
        """
        name = arm_name(number)
        self._clock = clock
        self._tip_builder = TipBuilder()
        self._error_builder = TipErrorBuilder()
        self._trail_builder = TipTrail()
        self._tip = node.create_publisher(TipBuilder.kind, f"{name}/tip", STREAM)
        self._error = node.create_publisher(TipErrorBuilder.kind, f"{name}/tip_error", STREAM)
        self._trail = node.create_publisher(TipTrail.kind, f"{name}/trail", STREAM)
        self._audience = Audience(self._tip, self._error, self._trail)
        self._trail_said = 0.0
        self._trail_grown = False

    def messages(self, arm: Arm, stamp: Time) -> list[tuple[Publisher, bytes]]:
        """Give what is to be said after a step, and what publishes it.

        Args:
            arm: the arm.
            stamp: when it was so.
        """
        now = self._clock()
        of_tip, of_error, of_trail = self._audience.counts(now)
        said = []
        tip = arm.tip.tolist() if of_tip or of_trail else []
        if of_tip:
            said.append((self._tip, self._tip_builder.fill(tip, stamp)))
        if of_error:
            said.append((self._error, self._error_builder.fill(arm.tip_error)))
        if of_trail:
            self._trail_grown |= self._trail_builder.note(tip, arm.parameters.reach)
            if self._is_trail_due(now):
                said.append((self._trail, self._trail_builder.fill(stamp)))
        elif not self._trail_builder.empty:
            self._trail_builder.clear()
        return said

    def restart(self) -> None:
        """Forget the trail: the arm is elsewhere now, and did not go there."""
        self._trail_builder.clear()
        if self._trail.get_subscription_count():
            # At once: while the arms pause no step would say it.
            self._trail.publish(self._trail_builder.fill(Time()))

    def _is_trail_due(self, now: float) -> bool:
        """Tell whether it is time to say the trail; then it is as good as said."""
        passed = now - self._trail_said
        if passed < (TRAIL_PERIOD if self._trail_grown else TRAIL_PATIENCE):
            return False
        self._trail_said = now
        self._trail_grown = False
        return True
