"""Scene files, text and plain values to checked documents.

Whatever is read ends in a `SceneDocument` or in a `SceneError`, never in another exception.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from octo_reach.scenes.checking import DocumentCheck
from octo_reach.scenes.document import SceneDocument
from octo_reach.scenes.errors import SceneError
from octo_reach.scenes.fields import either
from octo_reach.scenes.spelling import SpellingError, read_json, read_yaml

FORMATS = {".json": "json", ".yaml": "yaml", ".yml": "yaml"}
"""The spelling of a scene file by its suffix."""
LARGEST_FILE = 4 * 2**20
"""Most bytes of a scene file: tens of thousands of objects."""


def load_scene(path: str | os.PathLike[str]) -> SceneDocument:
    """Load a scene file.

    Args:
        path: a file that ends in .json, .yaml or .yml.

    Returns:
        The document, in the file's own unit and frame, everything left out filled in.

    Raises:
        SceneError: the file cannot be read, is no JSON or YAML, or breaks a rule of the format;
            the text has a line for every problem, with the file and the field.
    """
    source = os.fspath(path)
    spelling = file_format(path)
    try:
        text = _file_text(source)
    except UnicodeDecodeError as error:
        where = f"byte 0x{error.object[error.start]:02x} at offset {error.start}"
        raise SceneError(source, [f"is not UTF-8 text ({where})"]) from None
    except OSError as error:
        raise SceneError(source, [f"cannot be read: {error.strerror or error}"]) from None
    except ValueError as error:
        raise SceneError(source, [f"cannot be read: {error}"]) from None
    return read_scene_text(text, spelling, source)


def read_scene_text(text: str, format: str, source: str = "scene") -> SceneDocument:
    """Read the text of a scene file.

    Args:
        text: the whole text.
        format: 'json' or 'yaml'.
        source: what errors call the text, a file name.

    Returns:
        The document, in the file's own unit and frame.

    Raises:
        SceneError: the text is no scene; the text of the error has a line for every problem.
    """
    if format not in ("json", "yaml"):
        raise SceneError(source, [f"must be read as json or yaml, got {format!r}"])
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise SceneError(source, ["is empty; a scene has at least a version and a name"])
    try:
        values = read_json(text) if format == "json" else read_yaml(text)
    except SpellingError as error:
        raise SceneError(source, [str(error)]) from None
    if values is None and format == "yaml":
        raise SceneError(source, ["is empty; a scene has at least a version and a name"])
    return parse_scene(values, source)


def parse_scene(mapping: Any, source: str = "scene") -> SceneDocument:
    """Check the values of a scene and give the document they say.

    Args:
        mapping: what the file says, as plain values: dict, list, str, int, float, bool, None.
        source: what errors call the values, a file name.

    Returns:
        The document, in its own unit and frame.

    Raises:
        SceneError: a value breaks a rule of the format; the text has a line for every problem.
    """
    check = DocumentCheck()
    document = check.document(mapping)
    if document is None:
        raise SceneError(source, check.problems)
    return document


def file_format(path: str | os.PathLike[str]) -> str:
    """Give the spelling of a scene file, 'json' or 'yaml', by its suffix.

    Raises:
        SceneError: the suffix is neither of the two.
    """
    suffix = Path(path).suffix
    spelling = FORMATS.get(suffix.lower())
    if spelling is None:
        rule = f"must be a file name that ends in {either(list(FORMATS))}"
        raise SceneError(os.fspath(path), [f"{rule}, got {suffix or 'no suffix'}"])
    return spelling


def _file_text(source: str) -> str:
    with open(source, "rb", opener=_open_at_once) as file:
        mode = os.fstat(file.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise ValueError("it is not a regular file")
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise ValueError(f"it is larger than {LARGEST_FILE // 2**20} MiB")
    return content.decode("utf-8")


def _open_at_once(source: str, flags: int) -> int:
    # A pipe nobody writes to would hold the program for ever; it is refused after the opening.
    return os.open(source, flags | getattr(os, "O_NONBLOCK", 0))
