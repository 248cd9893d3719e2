"""What every source promises: records in, Facts and counted remainders out; nothing guessed, nothing dropped.

The next source is one module in ``sources/`` with a ``SOURCE``, one fixture and one row of ``registry.py``.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

from sediment_assets.facts.json_values import JsonValue
from sediment_assets.facts.model import Fact


class Remainder(StrEnum):
    """Why a record, or a part of it, gave no Fact. The first group is expected in good files, the second is not."""

    NO_EVIDENCE = "no_evidence"
    """A kind of record that is known and says nothing a Fact holds: a heartbeat, a title, a settings change."""
    NOT_TERMINAL = "not_terminal"
    """A CI run that has not ended yet."""
    REPEATED = "repeated"
    """The same as a record before it in this input: a redelivery, a second telling."""
    UNSUPPORTED_FORGE = "unsupported_forge"
    """A push or rename on a forge Facts cannot name (facts.md §2: github only)."""

    UNKNOWN_SHAPE = "unknown_shape"
    """Not a record of this source, or of a version that is not known."""
    NO_SESSION = "no_session"
    """Nothing in the record names its Session."""
    NO_INSTANT = "no_instant"
    """The record does not say when it happened, and no instant was given for it."""
    NO_CONTENT = "no_content"
    """Messages are missing or were removed before the record was written."""
    NO_COMMIT = "no_commit"
    """A CI run or push that does not name its commit in full."""
    NO_REPOSITORY = "no_repository"
    """A CI run or push that does not name its repository as owner/name."""
    INVALID_VALUE = "invalid_value"
    """A value that a Fact cannot hold: ``detail`` names the field."""

    @property
    def is_expected(self) -> bool:
        """Whether good files hold such records; only the others are listed one by one."""
        return self in _EXPECTED


_EXPECTED = frozenset({Remainder.NO_EVIDENCE, Remainder.NOT_TERMINAL, Remainder.REPEATED, Remainder.UNSUPPORTED_FORGE})


BINARY: Final = "!!binary"
"""Key of the object that stands for bytes in YAML which are no UTF-8 text: their base64."""


@dataclass(frozen=True, slots=True)
class Record:
    """One parsed value of a file. ``place`` says where: ``file:12`` for a line, ``file#3`` for an array's element."""

    place: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class Document:
    """One file, or standard input. ``name`` is its path as the operator gave it; ``records`` can be read once."""

    name: str
    records: Iterable[Record]


@dataclass(frozen=True, slots=True)
class Translated:
    """A Fact, and the record it came from; ``others`` are further records that told a part of it."""

    place: str
    fact: Fact
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Untranslated:
    """A record, or a named part of one, that gave no Fact. ``detail`` says what was found, never its content."""

    place: str
    reason: Remainder
    detail: str


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """What the operator says about the input.

    ``session_keys`` are dotted paths of metadata in which a source looks for the Session id, before its own defaults.
    ``instant`` is the time of records that carry none; those of one file keep their order, a microsecond apart. Without
    it they are refused, since no clock is ever read. ``settings`` are the ``--set`` of the command line: ``session`` is
    the Session of records that name none, ``utc-offset`` the zone of times without one.
    """

    org_id: str
    session_keys: tuple[str, ...] = ()
    instant: datetime | None = None
    github_host: str = "github.com"
    settings: Mapping[str, str] = field(default_factory=dict)


class Source(Protocol):
    """One tool's files. ``name`` is the word on the command line, ``help`` its line there.

    A source whose Facts alone lead nowhere may also have a ``note``: ``closing_note`` finds it for the summary. One
    that takes settings has ``settings``, their names: ``known_settings`` finds them.
    """

    name: str
    help: str

    def translate(self, documents: Iterable[Document], options: CaptureOptions) -> Iterator[Translated | Untranslated]:
        """Translate all documents in order, streaming; the same records give the same Facts, ids and instants included.

        Every record is accounted for: it gives at least one Fact, alone or with others, or one Untranslated.
        """
        ...


def known_settings(source: Source) -> tuple[str, ...]:
    """Return the names that ``--set`` may use with this source; one with a colon goes on with what it is about."""
    return tuple(getattr(source, "settings", ()))


def closing_note(source: Source) -> str:
    """Return what a summary of this source says at its end, whatever was found; ``""`` when there is nothing to say."""
    return str(getattr(source, "note", ""))
