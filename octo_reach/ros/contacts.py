"""Contacts as a point cloud, one point for each segment and object that touch, and back."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from numpy.typing import NDArray
from sensor_msgs.msg import PointCloud2, PointField

from octo_reach.model.sensing import ContactReadings
from octo_reach.ros.frames import WORLD

_FIELDS = (
    ("x", "<f4", PointField.FLOAT32),
    ("y", "<f4", PointField.FLOAT32),
    ("z", "<f4", PointField.FLOAT32),
    ("distance", "<f4", PointField.FLOAT32),
    ("arm", "<u4", PointField.UINT32),
    ("segment", "<u4", PointField.UINT32),
    ("object", "<u4", PointField.UINT32),
    ("kind", "<u4", PointField.UINT32),
)

# Little-endian whatever the machine, and the message says so.
CONTACT = np.dtype([(name, code) for name, code, _ in _FIELDS])
"""One contact: where on the segment (m, frame `world`), the gap to the object's surface (m,
negative inside), and the numbers of arm, segment and object, and the kind of the object."""

_LAYOUT = [(name, 4 * place, datatype) for place, (name, _, datatype) in enumerate(_FIELDS)]


class ContactCloudBuilder:
    """The contacts of all arms as one message that is filled again at every step."""

    def __init__(self) -> None:
        """Make the message, with no points."""
        message = PointCloud2()
        message.header.frame_id = WORLD
        message.fields = [
            PointField(name=name, offset=offset, datatype=datatype, count=1)
            for name, offset, datatype in _LAYOUT
        ]
        message.height = 1
        message.point_step = CONTACT.itemsize
        message.is_bigendian = False
        message.is_dense = True
        self.message = message
        self._points: NDArray[Any] = np.zeros(16, dtype=CONTACT)

    def fill(self, contacts: ContactReadings, stamp: Time) -> PointCloud2:
        """Put contacts into the message; none gives an empty cloud.

        Args:
            contacts: the contacts, of one arm or of all.
            stamp: when they were sensed.

        Returns:
            The message, the same object every time.
        """
        count = len(contacts.arms)
        message = self.message
        message.header.stamp = stamp
        if count == 0 and message.width == 0:
            return message
        if count > len(self._points):
            self._points = np.zeros(2 * count, dtype=CONTACT)
        points = self._points[:count]
        points["x"] = contacts.points[:, 0]
        points["y"] = contacts.points[:, 1]
        points["distance"] = contacts.distances
        points["arm"] = contacts.arms
        points["segment"] = contacts.segments
        points["object"] = contacts.objects
        points["kind"] = contacts.kinds
        message.width = count
        message.row_step = count * CONTACT.itemsize
        message.data = array("B", points.tobytes())
        return message


def contacts_from_cloud(message: PointCloud2) -> NDArray[Any]:
    """Give the contacts of a message.

    Args:
        message: a cloud as `ContactCloudBuilder` makes it.

    Returns:
        Structured array of `CONTACT`, shape (C,).

    Raises:
        ValueError: the fields are others, or the data are not a whole number of points.
    """
    names = [(field.name, field.offset, field.datatype) for field in message.fields]
    if names != _LAYOUT or message.point_step != CONTACT.itemsize or message.is_bigendian:
        raise ValueError(
            f"a contact cloud must have the fields {', '.join(CONTACT.names or ())}, got {names}"
        )
    size = message.width * message.height * CONTACT.itemsize
    if len(message.data) != size:
        raise ValueError(f"a contact cloud must hold {size} bytes, got {len(message.data)}")
    return np.frombuffer(bytes(message.data), dtype=CONTACT)
