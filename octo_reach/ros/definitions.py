"""Message types as files of messages describe them: definitions as text, made from the classes.

The wheels of ROS 2 bring the classes without the `.msg` files they were generated from. A class
knows its fields and their types, and the values of its constants; comments and the types of
constants it does not, so those are chosen here.
"""

from __future__ import annotations

import json
import pkgutil
import re
from dataclasses import dataclass
from typing import Any

_FIELD = re.compile(
    r"(?:sequence<(?P<element>[\w/<>]+?)(?:, (?P<most>\d+))?>|(?P<item>[\w/<>]+)\[(?P<count>\d+)\]"
    r"|(?P<single>[\w/<>]+))"
)
_TEXT = re.compile(r"(w?string)<(\d+)>")
# Types as a class calls them, by what a message file calls them; others are called the same.
_NAMES = {"boolean": "bool", "octet": "byte", "float": "float32", "double": "float64"}
_INTEGERS = {
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
}
_SEPARATOR = "=" * 80


@dataclass(frozen=True)
class FieldType:
    """Type of a field.

    Attributes:
        base: type of the field, or of its elements: `double`, `string<10>`, `std_msgs/Header`.
        count: number of elements of a fixed array, None for a single value or a sequence.
        sequence: whether it is a sequence.
        most: largest number of elements of a sequence, None for any.
    """

    base: str
    count: int | None = None
    sequence: bool = False
    most: int | None = None

    @property
    def nested(self) -> bool:
        """Whether the base is a message itself."""
        return "/" in self.base


def field_types(message_class: Any) -> dict[str, FieldType]:
    """Give the fields of a message class in their order, with their types.

    Args:
        message_class: the class, or one with `get_fields_and_field_types` like it.
    """
    return {
        name: _field_type(text) for name, text in message_class.get_fields_and_field_types().items()
    }


def _field_type(text: str) -> FieldType:
    found = _FIELD.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no type of a field")
    if found["element"]:
        most = None if found["most"] is None else int(found["most"])
        return FieldType(found["element"], sequence=True, most=most)
    if found["item"]:
        return FieldType(found["item"], count=int(found["count"]))
    return FieldType(found["single"])


def type_name(message_class: Any) -> str:
    """Give the full name of a message class: `std_msgs/msg/Header`."""
    given = getattr(message_class, "TYPE_NAME", None)
    package = message_class.__module__.split(".")[0]
    return given or f"{package}/msg/{message_class.__name__}"


def message_class(name: str) -> Any:
    """Give the message class of a name, `std_msgs/msg/Header` or `std_msgs/Header`.

    Args:
        name: the name.

    Raises:
        LookupError: it is no message's, or its package is not installed.
    """
    found = re.fullmatch(r"(\w+)(?:/msg)?/(\w+)", name)
    if found is None:
        raise LookupError(f"{name} is no message")
    try:
        return pkgutil.resolve_name(f"{found[1]}.msg:{found[2]}")
    except (ImportError, AttributeError):
        raise LookupError(f"{name} is not installed here") from None


def message_definition(root: Any) -> str:
    """Give the definition of a message and of every message in it, as a recording carries it.

    Args:
        root: the message class.

    Raises:
        LookupError: the package of a message in it is not installed.
    """
    parts = [_own_definition(root)]
    # In the order in which they are first met, level by level.
    waiting = _nested_names(root)
    known = set(waiting)
    while waiting:
        name = waiting.pop(0)
        inner = message_class(name)
        parts.append(f"{_SEPARATOR}\nMSG: {name}\n{_own_definition(inner)}")
        new = [other for other in _nested_names(inner) if other not in known]
        known.update(new)
        waiting += new
    return "".join(parts)


def _nested_names(message_class: Any) -> list[str]:
    types = field_types(message_class).values()
    return list(dict.fromkeys(kind.base for kind in types if kind.nested))


def _own_definition(message_class: Any) -> str:
    lines = [*_constants(message_class)]
    lines += [f"{_written(kind)} {name}" for name, kind in field_types(message_class).items()]
    return "".join(f"{line}\n" for line in lines)


def _written(kind: FieldType) -> str:
    base = _NAMES.get(kind.base, kind.base)
    text = _TEXT.fullmatch(base)
    if text:
        base = f"{text[1]}<={text[2]}"
    if kind.count is not None:
        return f"{base}[{kind.count}]"
    if kind.sequence:
        return f"{base}[]" if kind.most is None else f"{base}[<={kind.most}]"
    return base


def _constants(message_class: Any) -> list[str]:
    meta = type(message_class)
    constants: dict[str, Any] = getattr(meta, f"_{meta.__name__}__constants", {})
    values = [v for v in constants.values() if isinstance(v, int) and not isinstance(v, bool)]
    integer = _integer_type(message_class, values)
    return [_constant(name, value, integer) for name, value in constants.items()]


def _integer_type(message_class: Any, values: list[int]) -> str:
    """Choose the type of integer constants: that of the smallest field they all fit in."""
    fields = {kind.base for kind in field_types(message_class).values()}
    candidates = [name for name in _INTEGERS if name in fields] + ["int32", "int64", "uint64"]
    candidates.sort(key=lambda name: (name not in fields, int(name.split("int")[1])))
    for name in candidates:
        least, most = _INTEGERS[name]
        if all(least <= value <= most for value in values):
            return name
    raise ValueError(f"constants of {type_name(message_class)} have no common type")


def _constant(name: str, value: Any, integer: str) -> str:
    if isinstance(value, bytes):
        return f"byte {name}={value[0]}"
    if isinstance(value, bool):
        return f"bool {name}={value}"
    if isinstance(value, int):
        return f"{integer} {name}={value}"
    if isinstance(value, float):
        return f"float64 {name}={value!r}"
    return f"string {name}={json.dumps(value, ensure_ascii=False)}"
