"""octo-reach send: says one thing to a running system."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from octo_reach.commands import CommandError, say
from octo_reach.commands.middleware import checked_namespace, require_ros

if TYPE_CHECKING:
    from octo_reach.nodes.messenger import Messenger

    Sending = Callable[[Messenger], str]
    """Sends something that was checked, and gives a line that says what was sent."""

NOT_TAKEN = 1
DEFAULT_RADIUS = 0.014
"""Radius of a new object, m: the one an object of a metre scene has by default."""

KINDS = {"obstacle": "an obstacle", "food": "food", "hazard": "a hazard"}
ARM_ORDERS = {
    "idle": "let an arm keep its pose and what it holds",
    "release": "let an arm let go of what it holds, and idle",
    "retract": "let an arm bring what it holds near its base",
    "reset": "put an arm back in its starting pose",
}
STEPPING_ORDERS = {
    "pause": "let the arms pause",
    "resume": "let the arms go on",
    "step": "let the paused arms take one step",
}

# By itself argparse takes -0.001 for a number, but -1e-3 for an option.
_NEGATIVE = re.compile(r"-(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$|-(inf(inity)?|nan)$", re.IGNORECASE)


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command line of `send`."""
    parser = subparsers.add_parser(
        "send",
        help="send a target, an object or an order to a running system",
        description="Says one thing to a running system, and waits until it was heard. Lengths are"
        " in metres, in the frame world. The exit code is 0 when it was taken, 1 when nobody"
        " listens or it was refused, 2 when it makes no sense.",
        allow_abbrev=False,
    )
    _add_namespace(parser, "")
    parser.set_defaults(execute=execute)
    words = parser.add_subparsers(title="what to send", metavar="WHAT", required=True)

    def add(
        word: str, summary: str, prepare: Callable[[argparse.Namespace], Sending]
    ) -> argparse.ArgumentParser:
        subparser = words.add_parser(
            word, help=summary, description=f"{summary.capitalize()}.", allow_abbrev=False
        )
        subparser._negative_number_matcher = _NEGATIVE
        # Allowed behind the word too; where it is left out there, the one before it counts.
        _add_namespace(subparser, argparse.SUPPRESS)
        subparser.set_defaults(prepare=prepare, word=word)
        return subparser

    target = add("target", "send an arm's tip, or what it holds, to a place", _prepare_target)
    target.add_argument("arm", metavar="ARM", help="arm_1, or just 1")
    _add_place(target)
    for kind, what in KINDS.items():
        thing = add(kind, f"put {what} into the scene", _prepare_object)
        _add_place(thing)
        thing.add_argument(
            "--radius", metavar="R", default=str(DEFAULT_RADIUS), help="m (default: %(default)s)"
        )
        thing.add_argument(
            "--id", metavar="N", help="its number (default: the next that is free)", dest="number"
        )
    move = add("move", "put an object elsewhere; an arm that holds it lets go", _prepare_move)
    move.add_argument("number", metavar="ID", help="number of the object")
    _add_place(move)
    remove = add("remove", "take an object out of the scene", _prepare_remove)
    remove.add_argument("number", metavar="ID", help="number of the object")
    for word, summary in ARM_ORDERS.items():
        order = add(word, summary, _prepare_arm_order)
        order.add_argument("arm", metavar="ARM", help="arm_1, or just 1")
    for word, summary in STEPPING_ORDERS.items():
        add(word, summary, _prepare_stepping_order)
    add("start-over", "put arms and objects back to where the scene has them", _prepare_start_over)


def _add_namespace(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument(
        "--namespace", metavar="NAME", default=default, help="ROS 2 namespace of the system"
    )


def _add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("x", metavar="X", help="m")
    parser.add_argument("y", metavar="Y", help="m")


def execute(arguments: argparse.Namespace) -> int:
    """Send it; the exit code is 1 where nobody listens or it is refused."""
    require_ros("octo-reach send")
    from octo_reach.nodes.messenger import Messenger, NotTakenError
    from octo_reach.nodes.visiting import NoGraphError, visiting
    from octo_reach.ros.validation import RejectedInput

    send = arguments.prepare(arguments)
    namespace = checked_namespace(arguments.namespace)
    try:
        with visiting(lambda: Messenger(namespace)) as messenger:
            print(send(messenger))
    except NotTakenError as error:
        say(str(error))
        return NOT_TAKEN
    except (RejectedInput, NoGraphError) as error:
        raise CommandError(str(error)) from None
    return 0


# Checking


def _prepare_target(arguments: argparse.Namespace) -> Sending:
    arm, x, y = _arm(arguments), *_place(arguments)
    return lambda messenger: messenger.send_target(arm, x, y)


def _prepare_object(arguments: argparse.Namespace) -> Sending:
    from octo_reach.model.scene import ObjectKind

    kind = ObjectKind.from_label(arguments.word)
    x, y = _place(arguments)
    radius = _real("--radius", arguments.radius)
    if not 0.0 < radius < math.inf:
        raise CommandError(f"--radius must be above 0, got {arguments.radius!r}")
    number = None if arguments.number is None else _whole("--id", arguments.number)
    return lambda messenger: messenger.put_object(kind, x, y, radius, number)


def _prepare_move(arguments: argparse.Namespace) -> Sending:
    number, x, y = _whole("ID", arguments.number), *_place(arguments)
    return lambda messenger: messenger.move_object(number, x, y)


def _prepare_remove(arguments: argparse.Namespace) -> Sending:
    number = _whole("ID", arguments.number)
    return lambda messenger: messenger.remove_object(number)


def _prepare_arm_order(arguments: argparse.Namespace) -> Sending:
    arm, word = _arm(arguments), arguments.word
    return lambda messenger: messenger.order(f"arm_{arm}/{word}")


def _prepare_stepping_order(arguments: argparse.Namespace) -> Sending:
    if arguments.word == "step":
        return lambda messenger: messenger.order("reach_controller/step")
    pause = arguments.word == "pause"
    return lambda messenger: messenger.pause(pause)


def _prepare_start_over(arguments: argparse.Namespace) -> Sending:
    return lambda messenger: messenger.start_over()


def _arm(arguments: argparse.Namespace) -> int:
    """Give the number of the arm that is meant."""
    text = arguments.arm
    found = re.fullmatch(r"(?:arm_)?([1-9][0-9]{0,8})", text)
    if found is None:
        raise CommandError(f"ARM must be the name or number of an arm (arm_1, 1), got {text!r}")
    return int(found[1])


def _place(arguments: argparse.Namespace) -> tuple[float, float]:
    return _real("X", arguments.x), _real("Y", arguments.y)


def _real(name: str, text: str) -> float:
    """Give a number; whether it is a sensible one the topic's own rules say."""
    try:
        return float(text)
    except ValueError:
        raise CommandError(f"{name} must be a number, got {text!r}") from None


def _whole(name: str, text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise CommandError(f"{name} must be a whole number from 1, got {text!r}")
    return int(text)
