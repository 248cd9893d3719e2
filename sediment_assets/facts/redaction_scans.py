"""Basic redaction of one text: the five scans of the text pass, in order (facts.md §9).

Not here: which fields of a Fact are redacted, and the passes over JSON and over known credentials (``redaction.py``).
"""

import re
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from typing import Final

MARKER: Final = "[REDACTED_CREDENTIAL]"
"""What a credential is replaced with (facts.md §9)."""


class RedactionReason(StrEnum):
    """Why something was redacted. Unit: replacements (facts.md §9)."""

    STRUCTURED_CREDENTIAL = "structured_credential"
    AUTHORIZATION_HEADER = "authorization_header"
    API_KEY_ASSIGNMENT = "api_key_assignment"
    BEARER_TOKEN = "bearer_token"
    PROVIDER_KEY = "provider_key"


TOKEN: Final = r"[A-Za-z0-9\-._~+/]{16,}=*"
"""The token T of facts.md §9, as a pattern."""

_CREDENTIAL_KEYS: Final = frozenset({"authorization", "proxy_authorization", "x_api_key", "api_key", "apikey"})


def is_credential_key(key: str) -> bool:
    """Whether a JSON key names a credential: case and ``-`` versus ``_`` do not matter (facts.md §9)."""
    folded = key.casefold().replace("-", "_")
    return folded in _CREDENTIAL_KEYS or folded.endswith("_api_key")


def redact_text(text: str, reasons: Counter[RedactionReason]) -> str:
    """Apply the text pass, adding each replacement to ``reasons``.

    Scans that cannot match are skipped: most captured text holds no trigger, and looking for one is far cheaper.
    """
    if text.isascii() and not _holds_trigger_in_ascii()(text):
        return text
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) != len(text) and any(map(raw.__contains__, _FOLDING_LETTERS)):
        return scan_all(text, reasons)
    lowered = raw.lower()
    if not _holds_trigger(lowered):
        return text
    for triggers, scan in _SCANS:
        if any(map(lowered.__contains__, triggers)):
            text = scan(text, reasons)
    return text


def may_hold_credential(source: bytes) -> bool:
    """Whether Basic redaction might change anything in a JSON text: a string of it, or what is under a key.

    False is certain; asking is many times faster than decoding the text and scanning its strings.
    """
    if source.isascii():
        return _holds_trigger_in_ascii()(source)
    lowered = source.lower()
    return (
        _holds_trigger(lowered)
        or _ESCAPED_LETTER.search(lowered) is not None
        or any(map(source.__contains__, _FOLDING_LETTERS))
    )


@cache
def _holds_trigger_in_ascii() -> Callable[[str | bytes], bool]:
    """Return the search for triggers and for escapes in ASCII text: one pass, ten times as fast as several here.

    The regular expressions of pydantic are compiled code that looks for many words at once.
    """
    from pydantic_core import SchemaValidator, core_schema  # not for --help, which words errors, too

    pattern = rf"(?i-u:bearer|authorization|api[_ -]?key|{_ESCAPED_LETTER.pattern.decode()})|sk-"
    return SchemaValidator(core_schema.str_schema(pattern=pattern)).isinstance_python


def _holds_trigger(lowered: bytes) -> bool:
    """Whether one of the triggers of ``_SCANS`` is there; the names of credential keys hold one, too."""
    return (
        b"bearer" in lowered
        or b"sk-" in lowered
        or b"authorization" in lowered
        or (b"api" in lowered and any(map(lowered.__contains__, _API_KEY_TRIGGERS)))
    )


def scan_all(text: str, reasons: Counter[RedactionReason]) -> str:
    """Apply the five scans, each over the result of the one before, whatever the text holds."""
    for _, scan in _SCANS:
        text = scan(text, reasons)
    return text


# Letters beyond ASCII that a case-insensitive pattern takes for i, s and k, in UTF-8.
_FOLDING_LETTERS: Final = tuple(char.encode() for char in "\u0130\u0131\u017f\u212a")
_ESCAPED_LETTER: Final = re.compile(rb"\\u(?:00[2-7]|0130|0131|017f|212a)")
"""An escape in lower-cased JSON text that may stand for a character of a trigger, or for one of these letters."""


_AUTHORIZATION: Final = re.compile(rf"(\bAuthorization\s*[:=]\s*Bearer[ \t]+){TOKEN}", re.IGNORECASE)
_BEARER: Final = re.compile(rf"(\bBearer[ \t]+){TOKEN}", re.IGNORECASE)
_PROVIDER_KEY: Final = re.compile(r"(?<![A-Za-z0-9_-])()sk-[A-Za-z0-9_-]{16,}")


def _scan_authorization(text: str, reasons: Counter[RedactionReason]) -> str:
    """Scan 1: ``Authorization: Bearer T``."""
    return _replace_token(_AUTHORIZATION, text, RedactionReason.AUTHORIZATION_HEADER, reasons)


def _scan_bearer(text: str, reasons: Counter[RedactionReason]) -> str:
    """Scan 4: ``Bearer T`` anywhere."""
    return _replace_token(_BEARER, text, RedactionReason.BEARER_TOKEN, reasons)


def _scan_provider_keys(text: str, reasons: Counter[RedactionReason]) -> str:
    """Scan 5: ``sk-…``, the whole match."""
    return _replace_token(_PROVIDER_KEY, text, RedactionReason.PROVIDER_KEY, reasons)


def _replace_token(
    pattern: re.Pattern[str], text: str, reason: RedactionReason, reasons: Counter[RedactionReason]
) -> str:
    """Keep the pattern's first group, replace the rest of each match."""
    text, count = pattern.subn(rf"\1{MARKER}", text)
    if count:
        reasons[reason] += count
    return text


_QUOTED_MEMBER: Final = re.compile(
    r"""
    (?P<head> (?P<kq>["']) (?P<key>[^"']*) (?P=kq) \s*:\s* (?P<vq>["']) )
    (?P<value> (?: \\. | (?!(?P=vq))[^\\\r\n] )++ )
    (?P<tail> (?P=vq) | \\?\Z )
    """,
    re.VERBOSE,
)


def _scan_quoted_members(text: str, reasons: Counter[RedactionReason]) -> str:
    """Scan 2: ``"credential key": "value"`` on one line, the value possibly cut off at the end of the text."""

    def replace(match: re.Match[str]) -> str:
        if match["value"] == MARKER or not is_credential_key(match["key"]):
            return match[0]
        reasons[RedactionReason.STRUCTURED_CREDENTIAL] += 1
        return match["head"] + MARKER + match["tail"].removeprefix("\\")

    return _QUOTED_MEMBER.sub(replace, text)


_ASSIGNED_KEY: Final = re.compile(
    rf"""
    api[_\ -]?key (?P<kq>["']?) \s*[:=]\s*
    (?: (?P<vq>["']) (?P<quoted>[^"'\s]{{8,}}) (?: (?P=vq) | \Z ) | (?P<bare>{TOKEN}) )
    """,
    re.VERBOSE | re.IGNORECASE,
)


def _scan_api_key_assignments(text: str, reasons: Counter[RedactionReason]) -> str:
    """Scan 3: ``some_api_key = value``, quoted or bare.

    What may stand before ``api`` is judged backwards from there: a pattern trying every start forwards would take
    quadratic time on text such as ``a-a-a-a…``.
    """
    pieces: list[str] = []
    done = position = 0
    while match := _ASSIGNED_KEY.search(text, position):
        if not _key_starts_cleanly(text, match.start(), match["kq"], done):
            position = match.start() + 1
            continue
        group = "bare" if match["quoted"] is None else "quoted"
        if match[group] != MARKER:
            reasons[RedactionReason.API_KEY_ASSIGNMENT] += 1
        pieces += [text[done : match.start(group)], MARKER, text[match.end(group) : match.end()]]
        done = position = match.end()
    return "".join(pieces) + text[done:] if pieces else text


_ALNUM: Final = re.compile("[A-Z0-9]", re.IGNORECASE)
_WORD: Final = re.compile("[A-Z0-9_]", re.IGNORECASE)


def _key_starts_cleanly(text: str, api: int, quote: str, floor: int) -> bool:
    """Whether the key whose ``api`` is at that index has a legal beginning at or after ``floor``.

    Legal: not preceded by ``[A-Za-z0-9_]``, then the quote that also closes the key, if any, then any number of
    alphanumeric words each followed by ``_`` or ``-``.
    """
    start = api
    while start >= floor:
        before = text[start - 1] if start else ""
        if quote:
            if before == quote and start > floor and not (start > 1 and _WORD.match(text[start - 2])):
                return True
        elif not _WORD.match(before):
            return True
        if before not in ("_", "-"):
            return False
        word_end = start = start - 1
        while start > floor and _ALNUM.match(text[start - 1]):
            start -= 1
        if start == word_end:
            return False
    return False


_API_KEY_TRIGGERS: Final = (b"apikey", b"api_key", b"api-key", b"api key")
_SCANS: Final = (
    ((b"bearer",), _scan_authorization),
    ((b"authorization", *_API_KEY_TRIGGERS), _scan_quoted_members),
    (_API_KEY_TRIGGERS, _scan_api_key_assignments),
    ((b"bearer",), _scan_bearer),
    ((b"sk-",), _scan_provider_keys),
)
"""The scans in order, each with what lower-cased text must hold one of for it to match."""
