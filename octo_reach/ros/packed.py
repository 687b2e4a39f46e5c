"""Messages that stay bytes: encoded once, the numbers in them changed in place.

To turn a Python object into a message takes rclpy a microsecond for every few numbers, at every
publish; `bytes` it takes as they are, for a message that was serialised before. So what is said
over and over is encoded once, and what changes is written through numpy arrays that look at the
very bytes:

    tip = PackedMessage(PointStamped(header=Header(frame_id="world")))
    point = tip.numbers("point")        # x, y, z
    point[:2] = 0.1, 0.2
    publisher.publish(bytes(tip))

How long a sequence or a text is cannot be changed so: what lies behind it would have to move. A
message that grows is put together from parts. What is between the numbers depends on where a part
lies: a number lies at a multiple of its size.
"""

from __future__ import annotations

import struct
from collections.abc import Container
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from builtin_interfaces.msg import Time
from numpy.typing import NDArray

from octo_reach.ros.definitions import FieldType
from octo_reach.ros.encoding import (
    HEADER,
    LARGEST_NUMBER,
    encode_fields,
    field_leaves,
    number_type,
)

_COUNT = struct.Struct("<I")


class _Field(NamedTuple):
    """A field that is no message: its type, where it ends, and how many values it has."""

    type: FieldType
    end: int
    values: int

    @property
    def single(self) -> bool:
        return not self.type.sequence and self.type.count is None


class PackedPart:
    """A message, or some fields of one, as its bytes inside another message.

    Attributes:
        data: the bytes. Their number stays what it is.
        size: how many of them there are.
    """

    def __init__(self, template: Any, start: int = 0, fields: Container[str] | None = None) -> None:
        """Encode it.

        Args:
            template: the message; what is changed in it later counts for nothing.
            start: how many bytes of the whole message lie before it, those of `HEADER` left out.
            fields: the fields to encode by name, which follow each other; None for all.

        Raises:
            TypeError: it has a field of a type that cannot be encoded.
            struct.error: a number does not fit into its field.
        """
        self.data, ends = encode_fields(template, start, fields)
        self.size = len(self.data)
        self._fields: dict[str, _Field] = {}
        for path, kind in field_leaves(type(template)):
            if path in ends:
                field = _Field(kind, ends[path], 1)
                count = 1 if field.single else len(attrgetter(path)(template))
                self._fields[path] = field._replace(values=count)

    def __bytes__(self) -> bytes:
        """Give the bytes as they are now."""
        return bytes(self.data)

    def place(self, path: str) -> tuple[np.dtype[Any], int, int]:
        """Tell where the numbers of a field are.

        Args:
            path: the field, `id` or `pose.position`.

        Returns:
            How one of them lies, how many there are, and how many bytes are before the first.

        Raises:
            LookupError: no such field was encoded.
            TypeError: there is something else in it than numbers of one type.
        """
        found = [
            field
            for name, field in self._fields.items()
            if name == path or name.startswith(f"{path}.")
        ]
        if not found:
            raise LookupError(f"no field {path!r} was encoded, only {', '.join(self._fields)}")
        bases = {field.type.base for field in found}
        # Before the numbers of a sequence stands how many there are.
        if len(bases) > 1 or (len(found) > 1 and not all(field.single for field in found)):
            raise TypeError(f"{path} must be numbers of one type, has {', '.join(sorted(bases))}")
        dtype = number_type(bases.pop())
        count = sum(field.values for field in found)
        return dtype, count, found[-1].end - count * dtype.itemsize

    def numbers(self, path: str) -> NDArray[Any]:
        """View the numbers of a field: what is written there is in the bytes.

        Args:
            path: the field, `id` or `pose.position`.

        Returns:
            A number: shape (1,); a message of K numbers, or an array or a sequence of them: (K,).
            Little-endian, whatever the machine.

        Raises:
            LookupError: see `place`.
            TypeError: see `place`.
        """
        dtype, count, offset = self.place(path)
        return np.frombuffer(self.data, dtype, count, offset)


class PackedMessage(PackedPart):
    """A whole message, or its first fields. `bytes` of a whole one is what a publisher takes.

    Attributes:
        data: the bytes. Their number stays what it is.
        size: how many of them there are without `HEADER`.
    """

    def __init__(self, template: Any, fields: Container[str] | None = None) -> None:
        """Encode it.

        Args:
            template: the message; what is changed in it later counts for nothing.
            fields: the fields to encode by name, from the first one on; None for all.

        Raises:
            TypeError: see `PackedPart`.
            struct.error: see `PackedPart`.
        """
        super().__init__(template, 0, fields)
        self.data[:0] = HEADER

    def place(self, path: str) -> tuple[np.dtype[Any], int, int]:
        """See `PackedPart`."""
        dtype, count, offset = super().place(path)
        return dtype, count, offset + len(HEADER)


class PackedSequence:
    """A sequence of messages that differ in nothing but numbers, or the first few of them."""

    def __init__(self, template: Any, start: int, most: int) -> None:
        """Encode them.

        Args:
            template: an element.
            start: how many bytes of the whole message lie before the sequence.
            most: most elements there will be.

        Raises:
            TypeError: see `PackedPart`.
            ValueError: such elements do not lie alike one behind the other.
            struct.error: see `PackedPart`.
        """
        self._gap = bytes(-start % _COUNT.size)
        self._element = PackedPart(template, start + len(self._gap) + _COUNT.size)
        size = self._element.size
        if size % LARGEST_NUMBER:
            kind = type(template).__name__
            raise ValueError(
                f"elements must take a multiple of {LARGEST_NUMBER} bytes, {kind} takes {size}"
            )
        self._data = bytearray(bytes(self._element) * most)
        self._most = most

    def numbers(self, path: str) -> NDArray[Any]:
        """View the numbers of a field of all elements: what is written there is in the bytes.

        Args:
            path: the field, `pose.position`.

        Returns:
            Shape (`most`, K), for a message of K numbers; see `PackedPart.numbers`.

        Raises:
            LookupError: see `PackedPart.place`.
            TypeError: see `PackedPart.place`.
        """
        dtype, count, offset = self._element.place(path)
        strides = (self._element.size, dtype.itemsize)
        return np.ndarray((self._most, count), dtype, self._data, offset, strides)

    def first(self, count: int) -> bytes:
        """Give the bytes of the sequence with its first elements only.

        Args:
            count: how many.
        """
        size = count * self._element.size
        return b"".join((self._gap, _COUNT.pack(count), memoryview(self._data)[:size]))


@lru_cache(maxsize=1024)
def packed_text(text: str, last: bool = False) -> bytes:
    """Give the bytes of a text that begins at a multiple of 4 bytes.

    Args:
        text: the text.
        last: leave out what fills them up to a multiple of 4 bytes: what follows is no text and no
            number, or nothing does.
    """
    data = text.encode()
    piece = _COUNT.pack(len(data) + 1) + data + b"\0"
    return piece if last else piece + bytes(-len(piece) % _COUNT.size)


class StampView:
    """The stamp of a message that stays bytes."""

    def __init__(self, part: PackedPart, path: str = "header.stamp") -> None:
        """Look at it.

        Args:
            part: the message.
            path: the field.

        Raises:
            LookupError: there is none.
        """
        self._seconds = part.numbers(f"{path}.sec")
        self._rest = part.numbers(f"{path}.nanosec")

    def write(self, stamp: Time) -> None:
        """Put a moment there."""
        self._seconds[0] = stamp.sec
        self._rest[0] = stamp.nanosec
