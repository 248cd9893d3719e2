"""The completion record: ``.sediment-generation.json``, written last, so that its presence says *complete*.

It is what lineage, diffs and integrity checks read. It holds no clock, host or path, so equal generations have equal
records. ``GenerationRecord`` is its single definition; where it lies and when it is written is ``generation.py``.
"""

import json
import os
import stat
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final, Literal

from pydantic import Field, ValidationError

from sediment_assets.errors import SedimentError
from sediment_assets.facts.instants import format_offset
from sediment_assets.facts.json_values import JsonError, decode_strict, encode_canonical
from sediment_assets.facts.model import FrozenModel, explain_errors
from sediment_assets.publish.artifacts import CLAIM, LOCK, PUBLICATION_ORDER, RECORD
from sediment_assets.publish.reading import held_for_reading

_CHUNK_BYTES: Final = 1 << 20
_OWN_DIGEST: Final = "record_sha256"
"""Digest of everything else in the record: what lineage takes as proof must not change unseen."""


class RecordError(SedimentError):
    """A completion record that cannot be read, or a generation that is not as its record says."""


class IncompleteGenerationError(RecordError):
    """A directory without completion record: its files must not be read."""


class FileRecord(FrozenModel, extra="forbid"):
    """One published file."""

    rows: int | None = Field(description="Rows in the file; null for a file that is not JSONL.")
    bytes: int = Field(description="Size in bytes.")
    sha256: str = Field(description="Lower-case hex SHA-256 of the file.")


class PopulationRecord(FrozenModel, extra="forbid"):
    """What became of the Rollouts in one population of rows."""

    rows: int = Field(description="Rows written.")
    skipped: dict[str, int] = Field(description="Skip reason to count, by reason; units differ, never sum them.")


class GenerationRecord(FrozenModel, extra="forbid"):
    """What one generation holds and what it was made from."""

    record_version: Literal[1] = Field(default=1, description="Version of this record's shape.")
    target: str = Field(description="Target, or the name of the canonical asset.")
    asset_keys: tuple[str, ...] = Field(description="Asset keys in the graph; empty for a command-line export.")
    partition: str | None = Field(description="Partition key; null for a command-line export.")
    data_version: str = Field(
        description="SHA-256 of the lines that `sha256sum` prints for the files, by name: equal content, equal version."
    )
    org_id: str = Field(description="The organization.")
    policy_digest: str = Field(description="Digest of the derivation policy.")
    ci_policy_digest: str = Field(description="Digest of the CI resolution policy.")
    bundle_digest: str | None = Field(description="SHA-256 of the bundle's manifest; null for a direct export.")
    as_of: str | None = Field(description="Latest capture instant of the evidence; null without evidence.")
    quarantine_revision: int = Field(description="Quarantine revision of the snapshot.")
    mirror_revisions_digest: str = Field(description="Digest of the refs of all mirrors that were there.")
    rollouts: int = Field(description="Rollouts considered.")
    populations: dict[str, PopulationRecord] = Field(description="Rows and skips per population.")
    derivation_skipped: dict[str, int] = Field(description="What the derivation did not use, by reason.")
    fragmented: dict[str, int] = Field(description="Segment boundaries by reason.")
    files: dict[str, FileRecord] = Field(description="Every published file by name, hidden ones left out.")
    program_version: str = Field(description="Version of this program.")

    def encode(self) -> bytes:
        """Return the record's bytes: indented JSON with sorted keys, its own digest among them, and LF."""
        plain = self.model_dump()
        plain[_OWN_DIGEST] = digest_of(plain)
        return (json.dumps(plain, indent=2, sort_keys=True, allow_nan=False) + "\n").encode()


def content_version(files: Mapping[str, FileRecord]) -> str:
    """Digest names and contents of files: what ``sha256sum * | sha256sum`` prints in the directory (C locale)."""
    lines = "".join(f"{files[name].sha256}  {name}\n" for name in sorted(files))
    return sha256(lines.encode()).hexdigest()


def digest_of(plain: object) -> str:
    """Lower-case hex SHA-256 of the canonical JSON of a value."""
    return sha256(encode_canonical(plain).encode()).hexdigest()


def spelled_instant(instant: datetime | None) -> str | None:
    """Spell an ``as_of`` as records and manifests do."""
    return None if instant is None else format_offset(instant)


def read_record(directory: Path) -> GenerationRecord:
    """Read the completion record of a generation.

    Raises:
        IncompleteGenerationError: there is none, so the generation must not be read.
        RecordError: it cannot be read, or has another shape.
    """
    path = directory / RECORD
    try:
        with _open_regular(path) as file:
            content = file.read()
    except FileNotFoundError:
        raise IncompleteGenerationError(_why_incomplete(directory)) from None
    try:
        plain = decode_strict(content, finite=True)
        if isinstance(plain, dict):
            plain = {name: value for name, value in plain.items() if name != _OWN_DIGEST}
        record = GenerationRecord.model_validate(plain)
    except JsonError as error:
        raise RecordError(f"{path}: {error}") from None
    except ValidationError as error:
        field, problem = explain_errors(error)[0]
        raise RecordError(f"{path}: {field}: {problem}") from None
    if content != record.encode():
        raise RecordError(f"{path}: expected the bytes that {_OWN_DIGEST} is the digest of: the record was changed")
    return record


def _why_incomplete(directory: Path) -> str:
    place = f"{directory}: expected a complete generation"
    if not directory.is_dir():
        return f"{place}, got no directory"
    if os.path.lexists(directory / LOCK):
        return (
            f"{place}, got one whose export is running or was killed: {LOCK} is there; "
            "wait for it, or export again into a new directory"
        )
    return f"{place}, got no {RECORD}; it must not be read: export again into a new directory"


def _open_regular(path: Path) -> BinaryIO:
    """Open a file without following a link and without waiting for a FIFO."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(path) from error
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror or error}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RecordError(f"{path}: expected a regular file, got something else")
    return os.fdopen(descriptor, "rb")


def verify_generation(directory: Path) -> GenerationRecord:
    """Check a generation against its record: claim, file set, and every file hashed again.

    Raises:
        IncompleteGenerationError: there is no record.
        RecordError: something differs; the message names all of it.
    """
    with held_for_reading(directory):
        return _verified(directory)


def _verified(directory: Path) -> GenerationRecord:
    record = read_record(directory)
    problems = [*_claim_problems(directory, record), *_stranger_problems(directory, record)]
    for name, expected in record.files.items():
        problems += _file_problems(directory, name, expected)
    if record.data_version != content_version(record.files):
        problems.append("data_version: expected the digest of the listed files, got another")
    if problems:
        raise RecordError(f"{directory}: the generation was changed after it was published: {'; '.join(problems)}")
    return record


def _claim_problems(directory: Path, record: GenerationRecord) -> list[str]:
    try:
        with _open_regular(directory / CLAIM) as file:
            claim = file.read()
    except FileNotFoundError:
        return [f"{CLAIM}: expected a claim, got none"]
    except RecordError as error:
        return [str(error)]
    return [] if claim.strip() == record.target.encode() else [f"{CLAIM}: expected {record.target}, got another target"]


def _stranger_problems(directory: Path, record: GenerationRecord) -> list[str]:
    names = (name for name in PUBLICATION_ORDER if name not in record.files)
    return [f"{name}: not in the record" for name in names if os.path.lexists(directory / name)]


def _file_problems(directory: Path, name: str, expected: FileRecord) -> list[str]:
    if name.startswith(".") or "/" in name or "\0" in name:
        return [f"{name!r}: expected the name of a file in this directory"]
    try:
        found = file_record(directory / name, expected.rows)
    except RecordError as error:
        return [str(error)]
    if found == expected:
        return []
    return [
        f"{name}: expected {expected.bytes} bytes with SHA-256 {expected.sha256}, "
        f"got {found.bytes} bytes with {found.sha256}"
    ]


def file_record(path: Path, rows: int | None) -> FileRecord:
    """Hash a file.

    Raises:
        RecordError: it is missing or cannot be read.
    """
    digest, size = sha256(), 0
    try:
        with _open_regular(path) as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
                size += len(chunk)
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror or 'no such file'}") from None
    return FileRecord(rows=rows, bytes=size, sha256=digest.hexdigest())
