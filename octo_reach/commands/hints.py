"""Commands that a person can paste, as they are called where this program runs."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from octo_reach.commands.middleware import domain
from octo_reach.installation import share_path

MARGIN = 2
FOLD = " \\"


def own_command() -> str:
    """Give what a user types in this folder to call this very program."""
    program = Path(sys.argv[0])
    if program.suffix == ".py" or not program.is_file():
        return f"{shlex.quote(sys.executable)} -m octo_reach.cli"
    found = shutil.which("octo-reach")
    if found is not None and os.path.samefile(found, program):
        return "octo-reach"
    with contextlib.suppress(FileNotFoundError):
        checkout = share_path()
        inside = checkout / ".venv" / "bin" / "octo-reach"
        runner = checkout / "run"
        if inside.is_file() and os.path.samefile(inside, program) and os.access(runner, os.X_OK):
            return _short_path(runner)
    return _short_path(program.absolute())


def _short_path(program: Path) -> str:
    """Give a path that a shell runs as a program, relative where that is shorter."""
    relative = os.path.relpath(program)
    if os.sep not in relative:
        relative = os.path.join(os.curdir, relative)
    return shlex.quote(min(relative, str(program), key=len))


def target_commands(command: str, namespace: str, arm: int, x: float, y: float) -> tuple[str, str]:
    """Give two commands that send a target, for another terminal: ours, and that of ROS 2.

    Args:
        command: what calls this program.
        namespace: where the nodes live, with a leading slash; "/" for none.
        arm: number of the arm.
        x: x of the target, m.
        y: y of the target, m.
    """
    setting = f"ROS_DOMAIN_ID={shlex.quote(domain())} " if domain() != "0" else ""
    inside = "" if namespace == "/" else f" --namespace {namespace}"
    topic = f"{namespace.rstrip('/')}/arm_{arm}/target"
    return (
        f"{setting}{command} send{inside} target arm_{arm} {x:g} {y:g}",
        f"{setting}ros2 topic pub --once {topic} geometry_msgs/msg/PointStamped"
        f' "{{point: {{x: {x:g}, y: {y:g}}}}}"',
    )


def fold_command(command: str, width: int | None) -> list[str]:
    """Give a command in lines that a shell takes for one, where it is too long for a terminal.

    Args:
        command: the command; quoted are only whole words, with double quotes.
        width: characters in a row, two of which a margin takes; None where it does not matter.
    """
    if width is None or len(command) + MARGIN <= width:
        return [command]
    words = re.findall(r'"[^"]*"|\S+', command)
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + len(" ") + len(FOLD) + MARGIN <= width:
            lines[-1] += f" {word}"
        else:
            lines[-1] += FOLD
            lines.append(f"  {word}")
    return lines


def home_relative(path: Path) -> str:
    """Give a path as a shell takes it, from the home folder where it is in there.

    Args:
        path: an absolute path.
    """
    try:
        return f"~/{path.relative_to(Path.home())}"
    except (ValueError, RuntimeError):
        return str(path)
