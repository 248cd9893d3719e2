"""Source code inside source code."""

import textwrap


def code(text: str, indent: int = 0) -> str:
    """Return a triple-quoted block flush left, then moved right by ``indent`` blanks, without its first LF."""
    return textwrap.indent(textwrap.dedent(text).removeprefix("\n"), " " * indent)
