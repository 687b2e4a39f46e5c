"""Runs a node that ends when the process that started it does, even if that one is killed.

    python octo_reach/nodes/tethered.py octo_reach.nodes.simulated_world --ros-args ...

Standard input is the tether: a pipe whose other end the parent holds and never writes to. The
system closes it however the parent ends. This holds for a parent of many threads too, where the
parent death signal of Linux follows the one thread that made the child.

It is run by its path, not with `-m`, which would look for the package in the working folder first.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time

GRACE = 4.0
"""How long a node may take to end after its parent, s; then it is killed."""


def watch(tether: int, grace: float = GRACE) -> None:
    """Wait until the other end of a pipe is closed, then end this process.

    Args:
        tether: file descriptor of the end to read from.
        grace: how long after SIGINT this process is killed, s.
    """
    try:
        while os.read(tether, 4096):
            pass  # whatever comes is no reason to end
    except OSError:
        pass  # a broken tether is a cut one
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(grace)
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Run the module that the first argument names, as `python -m` would."""
    # Before the node listens to signals an interrupt should end it without a traceback; a shell may
    # have had it ignored.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # A copy, so that nothing that reads standard input can take the tether away.
    tether = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    threading.Thread(target=watch, args=(tether,), name="tether", daemon=True).start()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    # This file's folder stands first in the path; it is the folder around the package that should,
    # unless the package is found anyway.
    _around = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    del sys.path[0]
    if _around not in sys.path:
        sys.path.insert(0, _around)
    main()
