"""The one base of every error this project reports to a person, and what makes its text safe to print.

Subclasses live beside the code that raises them, one per boundary (settings, policy, Fact store, mirror, bundle, …).
"""

from collections.abc import Sequence


class SedimentError(Exception):
    """An expected failure. Its text is one line: place, expected, got, and the way out; never a credential."""

    @property
    def lines(self) -> Sequence[str]:
        """What is printed, a line each; a line feed within one is quoted text, and is escaped."""
        return (str(self),)


class ListingError(SedimentError):
    """An expected failure with a line for each thing that is wrong."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self._lines = lines

    @property
    def lines(self) -> Sequence[str]:
        """See ``SedimentError``."""
        return self._lines


def printable(text: str) -> str:
    """Show control characters, bidirectional overrides and lone surrogates as escapes; line feeds stay."""
    return "".join(
        character if character.isprintable() or character == "\n" else ascii(character)[1:-1] for character in text
    )


def error_text(error: SedimentError) -> str:
    """Spell an error as it is printed where nothing is styled: ``error: `` and its lines, each of them one line."""
    return "\n".join(one_line(line) for line in (f"error: {error.lines[0]}", *error.lines[1:]))


def one_line(text: str) -> str:
    """As ``printable``, line feeds too: what one cell or one message may quote without starting a line of its own."""
    return printable(text).replace("\n", "\\n")
