"""The scenes that come with the package, by name."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path

from octo_reach.installation import share_path
from octo_reach.scenes.reading import FORMATS


class UnknownSceneError(ValueError):
    """No file and no shipped scene is called so."""


def shipped_scenes() -> dict[str, Path]:
    """Give the file of every shipped scene by its name, in the order of the names."""
    try:
        folder = share_path("config", "scenes")
    except FileNotFoundError:
        return {}
    files = sorted(path for path in folder.iterdir() if path.suffix in FORMATS)
    return {path.stem: path for path in files}


def find_scene(text: str) -> Path:
    """Give the file that a user means: an existing file, or a shipped scene by its name.

    Args:
        text: a path, or a name such as `first_reach`.

    Raises:
        UnknownSceneError: it is neither; the text names the shipped scenes.
    """
    path = Path(text)
    if path.exists():
        return path
    shipped = shipped_scenes()
    if text in shipped:
        return shipped[text]
    choices = ", ".join(shipped) or "none"
    meant = get_close_matches(text, shipped, n=1)
    hint = f"; did you mean {meant[0]}?" if meant else ""
    raise UnknownSceneError(
        f"{os.fspath(path)}: there is no such file, and the shipped scenes are: {choices}{hint}"
    )
