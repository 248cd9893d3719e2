"""The one base of every error this project reports to a person, and what makes its text safe to print.

Subclasses live beside the code that raises them, one per boundary (settings, policy, Fact store, mirror, bundle, …).
"""


class SedimentError(Exception):
    """An expected failure. Its text is one line: place, expected, got, and the way out; never a credential."""


def printable(text: str) -> str:
    """Show control characters, bidirectional overrides and lone surrogates as escapes; line feeds stay."""
    return "".join(
        character if character.isprintable() or character == "\n" else ascii(character)[1:-1] for character in text
    )


def one_line(text: str) -> str:
    """As ``printable``, line feeds too: what one cell or one message may quote without starting a line of its own."""
    return printable(text).replace("\n", "\\n")
