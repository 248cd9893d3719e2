"""The completion record: ``.sediment-generation.json``, written last, so that its presence says *complete*.

It is what lineage, diffs and integrity checks read. It holds no clock, host or path, so equal generations have equal
records. Where it lies and when it is written is ``generation.py``.
"""

from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from pydantic import Field, ValidationError

from sediment_assets.errors import SedimentError
from sediment_assets.facts.instants import format_offset
from sediment_assets.facts.json_values import JsonError, decode_strict, encode_canonical
from sediment_assets.facts.model import FrozenModel, explain_errors
from sediment_assets.publish.artifacts import RECORD

_CHUNK_BYTES = 1 << 20


class RecordError(SedimentError):
    """A completion record that is missing or cannot be read, or a generation that is not as its record says."""


class FileRecord(FrozenModel):
    """One published file."""

    rows: int | None = Field(description="Rows in the file; null for a file that is not JSONL.")
    bytes: int = Field(description="Size in bytes.")
    sha256: str = Field(description="Lower-case hex SHA-256 of the file.")


class PopulationRecord(FrozenModel):
    """What became of the Rollouts in one population of rows."""

    rows: int = Field(description="Rows written.")
    skipped: dict[str, int] = Field(description="Skip reason to count, by reason; units differ, never sum them.")


class GenerationRecord(FrozenModel):
    """What one generation holds and what it was made from."""

    record_version: int = Field(default=1, description="Version of this record's shape.")
    target: str = Field(description="Target, or the name of the canonical asset.")
    asset_keys: tuple[str, ...] = Field(description="Asset keys in the graph; empty for a command-line export.")
    partition: str | None = Field(description="Partition key; null for a command-line export.")
    data_version: str = Field(description="Digest of the names and contents of the published files.")
    org_id: str = Field(description="The organization.")
    policy_digest: str = Field(description="Digest of the derivation policy.")
    ci_policy_digest: str = Field(description="Digest of the CI resolution policy.")
    bundle_digest: str | None = Field(description="SHA-256 of the bundle's manifest; null for a direct export.")
    as_of: str | None = Field(description="Latest capture instant of the evidence; null without evidence.")
    quarantine_revision: int = Field(description="Quarantine revision of the snapshot.")
    mirror_revisions_digest: str = Field(description="Digest of the refs of all mirrors that were there.")
    rollouts: int = Field(description="Rollouts considered.")
    populations: dict[str, PopulationRecord] = Field(description="Rows and skips per population.")
    fragmented: dict[str, int] = Field(description="Segment boundaries by reason.")
    files: dict[str, FileRecord] = Field(description="Every published file by name.")
    program_version: str = Field(description="Version of this program.")

    def encode(self) -> bytes:
        """Return the record's bytes: canonical JSON and LF."""
        return encode_canonical(self.model_dump()).encode() + b"\n"


def content_version(files: Mapping[str, FileRecord]) -> str:
    """Digest names and contents of files: equal content, equal data version, wherever and whenever it was written."""
    return digest_of({name: files[name].sha256 for name in sorted(files)})


def digest_of(plain: object) -> str:
    """Lower-case hex SHA-256 of the canonical JSON of a value."""
    return sha256(encode_canonical(plain).encode()).hexdigest()


def spelled_instant(instant: datetime | None) -> str | None:
    """Spell an ``as_of`` as records and manifests do."""
    return None if instant is None else format_offset(instant)


def read_record(directory: Path) -> GenerationRecord:
    """Read the completion record of a generation.

    Raises:
        RecordError: it is missing (the generation is not complete) or is no record.
    """
    path = directory / RECORD
    try:
        return GenerationRecord.model_validate(decode_strict(path.read_bytes(), finite=True))
    except FileNotFoundError:
        raise RecordError(
            f"{path}: no completion record: the generation is not complete and must not be read"
        ) from None
    except OSError as error:
        raise RecordError(f"{path}: cannot read the completion record: {error.strerror or error}") from error
    except JsonError as error:
        raise RecordError(f"{path}: {error}") from None
    except ValidationError as error:
        field, problem = explain_errors(error)[0]
        raise RecordError(f"{path}: {field}: {problem}") from None


def verify_generation(directory: Path) -> GenerationRecord:
    """Hash every file of a generation again and compare with its record.

    Raises:
        RecordError: a file is missing or differs.
    """
    record = read_record(directory)
    for name, expected in record.files.items():
        found = file_record(directory / name, expected.rows)
        if found != expected:
            raise RecordError(
                f"{directory / name}: expected {expected.bytes} bytes with SHA-256 {expected.sha256}, "
                f"got {found.bytes} bytes with {found.sha256}: the file was changed after it was published"
            )
    return record


def file_record(path: Path, rows: int | None) -> FileRecord:
    """Hash a file.

    Raises:
        RecordError: it cannot be read.
    """
    digest, size = sha256(), 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
                size += len(chunk)
    except OSError as error:
        raise RecordError(f"{path}: cannot read a published file: {error.strerror or error}") from error
    return FileRecord(rows=rows, bytes=size, sha256=digest.hexdigest())
