"""Compiles the numeric kernels with numba where it is installed; else they run as plain Python.

The kernels are the same source either way: one decorator, `compiled`. Compiled code is kept on disk
in a folder named after the source it was made from, so that a second start need not compile and a
changed source never meets an old binary.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

try:
    import numba
except ImportError:
    numba = None

COMPILED: bool = numba is not None and not numba.config.DISABLE_JIT
"""Whether kernels are compiled here: not without numba, nor where NUMBA_DISABLE_JIT is set.

Uncompiled they give the same results, far slower.
"""


def _source_digest(folder: Path | None = None) -> str:
    """Name the present source of the kernels: numba itself looks only at a kernel's own file.

    Args:
        folder: where kernels outside this folder stand, somewhere below; they may call each other
            and those in this one.
    """
    digest = hashlib.sha256()
    here = Path(__file__).parent
    for place in [here] if folder in (None, here) else [here, folder]:
        for source in sorted(place.rglob("*.py")):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def _folder_of(source: str) -> str:
    """Give the folder for the compiled code of a source file; empty where none can be written."""
    below = Path(source).relative_to(_HERE.parent) if _HERE.parent in Path(source).parents else None
    if not _FOLDER or below is None or below.parts[0] == _HERE.name:
        return _FOLDER
    return _cache_folder(_HERE.parent / below.parts[0])


def _cache_folder(sources: Path | None = None) -> str:
    """Give the folder for compiled code, made if need be; empty where none can be written."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(home) / "octo_reach" / f"kernels-{_source_digest(sources)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return ""
    return str(folder) if os.access(folder, os.W_OK) else ""


_HERE = Path(__file__).parent
_FOLDER = _cache_folder() if COMPILED and not os.environ.get("NUMBA_CACHE_DIR") else ""


def compiled(kernel: Kernel) -> Kernel:
    """Compile `kernel` at its first call where numba is installed; else give it back as it is."""
    return _compiled(kernel, inline="never")


def inlined(kernel: Kernel) -> Kernel:
    """Compile `kernel` into its callers, for what hands many tables on and does little itself."""
    return _compiled(kernel, inline="always")


def _compiled(kernel: Kernel, inline: str) -> Kernel:
    if not COMPILED:
        return kernel
    before = numba.config.CACHE_DIR
    folder = _folder_of(cast(Any, kernel).__code__.co_filename)
    numba.config.CACHE_DIR = folder or before
    try:
        return cast(Kernel, numba.njit(cache=bool(folder or before), inline=inline)(kernel))
    finally:
        numba.config.CACHE_DIR = before


def entry_point(kernel: Kernel, *arguments: Any) -> Kernel:
    """Give the code of a kernel for arguments of just these types.

    A call of a compiled kernel looks at the type of every argument first, which for a few tables
    takes as long as the work of a short arm. A caller whose arguments are always of the same types
    can leave that out; nothing checks them then.

    Args:
        kernel: a compiled kernel.
        arguments: arguments as it will be called with.
    """
    if not COMPILED:
        return kernel
    dispatcher = cast(Any, kernel)
    types = tuple(numba.typeof(argument) for argument in arguments)
    dispatcher.compile(types)
    return cast(Kernel, dispatcher.overloads[types].entry_point)


def is_cached(kernel: Callable[..., Any]) -> bool:
    """Tell whether code of a kernel that an earlier process compiled lies ready."""
    if not COMPILED or not _FOLDER:
        return False
    name = f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}"
    # The folder may serve several copies of this source; each has a part of its own.
    return any(Path(cast(Any, kernel).stats.cache_path).glob(f"{name}-*.nbi"))
