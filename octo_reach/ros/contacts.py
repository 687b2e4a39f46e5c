"""Contacts as a point cloud, one point for each segment and object that touch, and back."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from numpy.typing import NDArray
from sensor_msgs.msg import PointCloud2, PointField

from octo_reach.model.sensing import ContactReadings
from octo_reach.ros.frames import WORLD
from octo_reach.ros.packed import PackedMessage, PackedPart, StampView

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


_NAMES = tuple(PointCloud2.get_fields_and_field_types())
_BEFORE_DATA = _NAMES[: _NAMES.index("data")]
_BEHIND_DATA = _NAMES[_NAMES.index("data") + 1 :]
_COUNT = struct.Struct("<I")


class ContactCloudBuilder:
    """The contacts of all arms as the bytes of one message that is filled again at every step.

    Attributes:
        kind: the class of the message.
    """

    kind = PointCloud2

    def __init__(self) -> None:
        """Make the message, with no points."""
        template = PointCloud2()
        template.header.frame_id = WORLD
        template.fields = [
            PointField(name=name, offset=offset, datatype=datatype, count=1)
            for name, offset, datatype in _LAYOUT
        ]
        template.height = 1
        template.point_step = CONTACT.itemsize
        template.is_bigendian = False
        template.is_dense = True
        # The last of these is a number of 4 bytes, as is how many bytes the points take.
        self._head = PackedMessage(template, _BEFORE_DATA)
        self._stamp = StampView(self._head)
        self._width = self._head.numbers("width")
        self._row_step = self._head.numbers("row_step")
        self._end = bytes(PackedPart(template, fields=_BEHIND_DATA))
        self._points: NDArray[Any] = np.zeros(16, dtype=CONTACT)

    def fill(self, contacts: ContactReadings, stamp: Time) -> bytes:
        """Put contacts into the message; none gives an empty cloud.

        Args:
            contacts: the contacts, of one arm or of all.
            stamp: when they were sensed.

        Returns:
            The message, encoded.
        """
        count = len(contacts.arms)
        if count > len(self._points):
            self._points = np.zeros(2 * count, dtype=CONTACT)
        points = self._points[:count]
        if count:
            points["x"] = contacts.points[:, 0]
            points["y"] = contacts.points[:, 1]
            points["distance"] = contacts.distances
            points["arm"] = contacts.arms
            points["segment"] = contacts.segments
            points["object"] = contacts.objects
            points["kind"] = contacts.kinds
        self._stamp.write(stamp)
        self._width[0] = count
        self._row_step[0] = points.nbytes
        return b"".join((self._head.data, _COUNT.pack(points.nbytes), points.tobytes(), self._end))


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
