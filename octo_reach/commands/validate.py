"""octo-reach validate: says what is wrong with scene files."""

from __future__ import annotations

import argparse

INVALID = 1


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command line of `validate`."""
    parser = subparsers.add_parser(
        "validate",
        help="say what is wrong with scene files",
        description="Checks scene files against the format. Every problem gets a line with the"
        " file and the field; a file without any gets a line that ends in OK. The exit code is 1"
        " when a file has a problem.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "scenes",
        metavar="SCENE",
        nargs="+",
        help="scene file (.json, .yaml), or the name of a shipped scene such as first_reach",
    )
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Check the files; the exit code is 1 when any has a problem."""
    from octo_reach.scenes import SceneError, load_scene
    from octo_reach.scenes.shipped import UnknownSceneError, find_scene

    code = 0
    for text in arguments.scenes:
        try:
            document = load_scene(find_scene(text))
        except SceneError as error:
            # All of them, even those that the text of the error would leave out.
            for problem in error.problems:
                print(f"{error.source}: {problem}")
            code = INVALID
        except UnknownSceneError as error:
            print(error)
            code = INVALID
        else:
            parts = (
                f"{len(document.placements())} arms",
                f"{len(document.objects)} objects",
                f"{len(document.events)} events",
            )
            counts = ", ".join(_singular(part) for part in parts)
            print(f"{text}: {document.name} in {document.units}s, {counts}: OK")
    return code


def _singular(part: str) -> str:
    return part[:-1] if part.startswith("1 ") else part
