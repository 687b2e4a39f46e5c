"""Messages to the bytes that lie in a recording, the same ones every time.

What a middleware makes of a message has whatever lay in the memory between the fields. Here that
is zero. The encoding is the plain one of OMG's Common Data Representation (DDSI-RTPS 2.5, 10.2):
little-endian, every number at a multiple of its own size counted from behind the first four bytes.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Container, Iterator
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np

from octo_reach.ros.definitions import FieldType, field_types, message_class

HEADER = b"\x00\x01\x00\x00"
"""What the bytes of a message begin with: plain CDR, little-endian."""

_CODES = {
    "boolean": "?",
    "octet": "B",
    "byte": "B",
    "char": "B",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float": "f",
    "double": "d",
}
_LENGTH = struct.Struct("<I")
LARGEST_NUMBER = 8
"""Size of the largest numbers, byte: what lies that much further lies alike."""

Write = Callable[[bytearray, Any], None]
"""Appends what a message, or a value of a field, says to the bytes so far."""


def encode_message(message: Any) -> bytes:
    """Give the bytes of a message.

    Args:
        message: the message.

    Raises:
        TypeError: it has a field of a type that none of this package's messages has: wide text.
        struct.error: a number does not fit into its field.
    """
    stream = bytearray()
    _writer(type(message))(stream, message)
    return HEADER + bytes(stream)


def encode_fields(
    message: Any, start: int = 0, fields: Container[str] | None = None
) -> tuple[bytearray, dict[str, int]]:
    """Give the bytes of a message, or of some of its fields, as they lie inside another message.

    Args:
        message: the message.
        start: how many bytes lie before it, without those of `HEADER`: what is between the fields
            depends on it.
        fields: the fields to encode by name; None for all. They follow each other in the order
            the message has them in.

    Returns:
        The bytes, and where in them each field ends, by its path: `header.stamp.sec`. Of a field
        that is a message there are the fields in it.

    Raises:
        TypeError: see `encode_message`.
        struct.error: see `encode_message`.
    """
    before = start % LARGEST_NUMBER
    stream = bytearray(before)
    ends = {}
    for path, step in _single_steps(type(message)):
        if fields is None or path.partition(".")[0] in fields:
            step(stream, message)
            ends[path] = len(stream) - before
    return stream[before:], ends


@cache
def _single_steps(kind: Any) -> list[tuple[str, Write]]:
    """Give what writes each field of a class by itself, with the field's path."""
    return [
        (leaf[0], _numbers_step([leaf]) if _number_size(leaf) else _field_step(leaf))
        for leaf in field_leaves(kind)
    ]


@cache
def _writer(kind: Any) -> Write:
    """Give what writes messages of a class."""
    steps: list[Write] = []
    for size, group in groupby(field_leaves(kind), key=_number_size):
        if size:
            steps.append(_numbers_step(list(group)))
        else:
            steps += map(_field_step, group)

    def write(stream: bytearray, message: Any) -> None:
        for step in steps:
            step(stream, message)

    return write


_Leaf = tuple[str, FieldType]
"""A field that is no single message: its path in the whole message, and its type."""


@cache
def field_leaves(kind: Any) -> tuple[_Leaf, ...]:
    """Give the fields of a class in their order, those of messages in it instead of these.

    Args:
        kind: the class.

    Returns:
        The path of each, `header.stamp.sec`, and its type.
    """
    return tuple(_leaves(kind, ""))


def _leaves(kind: Any, prefix: str) -> Iterator[_Leaf]:
    for name, field in field_types(kind).items():
        if field.nested and field.count is None and not field.sequence:
            yield from _leaves(message_class(field.base), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def _number_size(leaf: _Leaf) -> int:
    """Give the size of a single number, byte; 0 for any other field."""
    _, field = leaf
    if field.sequence or field.count is not None or field.base not in _CODES:
        return 0
    return struct.calcsize(_CODES[field.base])


def number_type(base: str) -> np.dtype[Any]:
    """Give how a number lies in the bytes.

    Args:
        base: its type as a field has it: `double`.

    Raises:
        TypeError: it is no number's.
    """
    if base not in _CODES:
        raise TypeError(f"fields of the type {base} cannot be encoded as numbers")
    return np.dtype(_CODES[base]).newbyteorder("<")


def _align(stream: bytearray, size: int) -> None:
    stream.extend(bytes(-len(stream) % size))


def _numbers_step(leaves: list[_Leaf]) -> Write:
    """Give what writes numbers of one size that follow each other."""
    size = _number_size(leaves[0])
    packer = struct.Struct("<" + "".join(_CODES[field.base] for _, field in leaves))
    read = attrgetter(*(path for path, _ in leaves))
    octets = [place for place, (_, field) in enumerate(leaves) if field.base == "octet"]
    several = len(leaves) > 1

    def write(stream: bytearray, message: Any) -> None:
        values = [*read(message)] if several else [read(message)]
        for place in octets:
            values[place] = values[place][0]
        _align(stream, size)
        stream.extend(packer.pack(*values))

    return write


def _field_step(leaf: _Leaf) -> Write:
    """Give what writes a text, an array or a sequence."""
    path, field = leaf
    read = attrgetter(path)
    element = _element_writer(field)
    if field.count is None and not field.sequence:
        return lambda stream, message: element(stream, [read(message)])

    def write(stream: bytearray, message: Any) -> None:
        values = read(message)
        if field.sequence:
            _align(stream, _LENGTH.size)
            stream.extend(_LENGTH.pack(len(values)))
        if len(values):
            element(stream, values)

    return write


def _element_writer(field: FieldType) -> Write:
    """Give what writes the elements of a field."""
    if field.nested:
        inner = _writer(message_class(field.base))

        def write_messages(stream: bytearray, values: Any) -> None:
            for value in values:
                inner(stream, value)

        return write_messages
    if field.base.startswith("string"):
        return _write_texts
    dtype = number_type(field.base)

    def write_numbers(stream: bytearray, values: Any) -> None:
        _align(stream, dtype.itemsize)
        if isinstance(values, (bytes, bytearray)):
            stream.extend(values)
        elif isinstance(values, (array, np.ndarray)):
            stream.extend(np.asarray(values, dtype=dtype).tobytes())
        else:
            numbers = [value[0] if isinstance(value, bytes) else value for value in values]
            stream.extend(np.array(numbers, dtype=dtype).tobytes())

    return write_numbers


def _write_texts(stream: bytearray, values: Any) -> None:
    for text in values:
        data = text.encode()
        _align(stream, _LENGTH.size)
        stream.extend(_LENGTH.pack(len(data) + 1))
        stream.extend(data)
        stream.append(0)
