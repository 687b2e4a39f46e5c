"""Frames of the arms as transforms: what robot_state_publisher makes of `joint_states`.

Fixed are the bases and what follows from the shape of a segment; the rest turns with the joints.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped

from octo_reach.model.arm import ArmPlacement
from octo_reach.model.octopus import Octopus
from octo_reach.ros.description import start_frame
from octo_reach.ros.frames import WORLD, base_frame, segment_frame, tip_frame


class TransformMessage:
    """What `tf2_msgs/msg/TFMessage` is, which the wheels of ROS 2 lack.

    Attributes:
        transforms: `geometry_msgs/msg/TransformStamped` messages.
    """

    TYPE_NAME = "tf2_msgs/msg/TFMessage"

    def __init__(self, transforms: Iterable[TransformStamped] = ()) -> None:
        """Hold transforms."""
        self.transforms: list[Any] = list(transforms)

    @classmethod
    def get_fields_and_field_types(cls) -> dict[str, str]:
        """Give the fields and their types, as message classes do."""
        return {"transforms": "sequence<geometry_msgs/TransformStamped>"}


def fixed_transforms(placements: Iterable[ArmPlacement]) -> TransformMessage:
    """Make the transforms that never change, stamp 0.

    Args:
        placements: the arms, in metres and rad.
    """
    transforms = []
    for placement in placements:
        number, count = placement.number, placement.parameters.segment_count
        length = float(placement.parameters.segment_length)
        x, y = placement.base
        transforms.append(_transform(WORLD, base_frame(number), float(x), float(y)))
        for segment in range(1, count + 1):
            ends = start_frame(number, segment), segment_frame(number, segment)
            transforms.append(_transform(*ends, length))
        transforms.append(_transform(segment_frame(number, count), tip_frame(number)))
    return TransformMessage(transforms)


class JointTransforms:
    """The transforms of all joints as one message that is filled again every time."""

    def __init__(self) -> None:
        """Make the message; frames come with the first arms."""
        self.message = TransformMessage()
        self._layout: tuple[tuple[int, int], ...] = ()

    def fill(self, octopus: Octopus, stamp: Time) -> TransformMessage:
        """Put the present angles of all arms into the message.

        Args:
            octopus: the arms, in metres and rad.
            stamp: when they stood so.

        Returns:
            The message, the same object every time.
        """
        angles = [arm.angles for arm in octopus.arms]
        layout = tuple(zip(octopus.numbers, map(len, angles), strict=True))
        if layout != self._layout:
            self._lay_out(layout)
        halves = 0.5 * np.concatenate([*angles, np.zeros(0)])
        turns = zip(np.sin(halves).tolist(), np.cos(halves).tolist(), strict=True)
        for transform, (sine, cosine) in zip(self.message.transforms, turns, strict=True):
            transform.header.stamp = stamp
            rotation = transform.transform.rotation
            rotation.z = sine
            rotation.w = cosine
        return self.message

    def _lay_out(self, layout: tuple[tuple[int, int], ...]) -> None:
        self._layout = layout
        self.message.transforms = []
        for arm, count in layout:
            parent = base_frame(arm)
            for joint in range(1, count + 1):
                self.message.transforms.append(_transform(parent, start_frame(arm, joint)))
                parent = segment_frame(arm, joint)


def _transform(parent: str, child: str, x: float = 0.0, y: float = 0.0) -> TransformStamped:
    transform = TransformStamped()
    transform.header.frame_id = parent
    transform.child_frame_id = child
    transform.transform.translation.x = x
    transform.transform.translation.y = y
    return transform
