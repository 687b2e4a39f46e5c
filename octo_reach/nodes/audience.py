"""Whether anybody hears what a node publishes, asked now and then."""

from __future__ import annotations

import math

from rclpy.publisher import Publisher

PATIENCE = 0.05
"""How long an answer counts, s: who has come meanwhile hears nothing until then."""


class Audience:
    """The listeners of some publishers.

    To ask the middleware takes a few microseconds for each, as long as to make a small message;
    a node that says three things of every arm at every step would ask thousands of times a second.
    """

    def __init__(self, *publishers: Publisher) -> None:
        """Know of nobody yet.

        Args:
            publishers: whose listeners these are.
        """
        self._publishers = publishers
        self._counts = [0] * len(publishers)
        self._asked = -math.inf

    def counts(self, now: float) -> list[int]:
        """Give how many listen to each publisher, as of `PATIENCE` ago at most.

        Args:
            now: seconds of a steady clock.
        """
        if now - self._asked >= PATIENCE:
            self._asked = now
            self._counts = [publisher.get_subscription_count() for publisher in self._publishers]
        return self._counts
