"""What is wrong with a scene file, said all at once."""

from __future__ import annotations

from collections.abc import Iterable

MOST_LINES = 30
"""Most problems the text of an error lists; a file with more is wrong in kind, not in detail."""


class SceneError(ValueError):
    """A scene file or document that cannot be used.

    The text has one line for every problem, each of the form `FILE: field rule, got value`, so
    that it can be printed as it is and searched by file name.

    Attributes:
        source: name of the file, or of whatever the document came from.
        problems: every problem found, as `field rule, got value`, in the order of the format.
    """

    def __init__(self, source: str, problems: Iterable[str]) -> None:
        """Make the text.

        Args:
            source: name of the file, or of whatever the document came from.
            problems: what is wrong, at least one line.
        """
        # A file name may hold bytes that are no text; the message must be printable all the same.
        self.source = source.encode("utf-8", "backslashreplace").decode("utf-8")
        self.problems = tuple(problems)
        lines = [f"{self.source}: {problem}" for problem in self.problems[:MOST_LINES]]
        more = len(self.problems) - MOST_LINES
        if more > 0:
            lines.append(f"{self.source}: and {more} more problem{'s' if more > 1 else ''}")
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[type[SceneError], tuple[str, tuple[str, ...]]]:
        """Let the error travel between processes with its parts."""
        return type(self), (self.source, self.problems)
