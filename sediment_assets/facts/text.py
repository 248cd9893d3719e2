"""Code-point rules every captured string shares (facts.md §1): the strip set W, surrogates, scalar text.

Not here: the named string types built from these rules (``scalars.py``).
"""

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def strip(text: str) -> str:
    """Remove leading and trailing characters of the set W (facts.md §1): exactly what ``str.strip`` removes.

    Not pydantic's strip, which keeps U+001C–U+001F; not JavaScript's, which removes U+FEFF.
    """
    return text.strip()


def has_surrogate(text: str) -> bool:
    """Whether a surrogate code point (U+D800–U+DFFF) occurs: such text has no UTF-8 form."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def is_scalar_text(text: str) -> bool:
    """Whether ``text`` is free of U+0000 and of surrogate code points: the Identity rule (facts.md §1)."""
    return "\0" not in text and not has_surrogate(text)
