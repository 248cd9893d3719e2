"""Files and lines of a bundle: ``sediment-record-json-v1`` (bundle.md §1, §2).

A line is an envelope around the canonical text of one record. Reading parses and never compares bytes: any key order,
spacing and escaping is a record, a duplicate key is not.
"""

from enum import StrEnum
from typing import Any, Final, cast

import orjson

from sediment_assets.bundle.errors import BundleError
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import (
    InexactError,
    JsonError,
    JsonObject,
    canonical_order,
    decode_canonical,
    decode_strict,
    encode_canonical,
    exact_order,
)

MANIFEST: Final = "manifest.json"
"""Name of the manifest's file."""
RECORD_ENCODING: Final = "sediment-record-json-v1"
"""Name of the encoding, as a manifest carries it."""


class Population(StrEnum):
    """The six populations of a bundle, in the order of bundle.md §1. ``<name>.jsonl`` is a population's file."""

    ATTRIBUTED_COMPLETIONS = "attributed_completions"
    ROLLOUTS = "rollouts"
    INFERENCE_CALLS = "inference_calls"
    INFERENCE_CALL_IDENTITIES = "inference_call_identities"
    REPOSITORY_IDENTITIES = "repository_identities"
    REPOSITORY_RENAMES = "repository_renames"

    @property
    def file(self) -> str:
        """Name of the population's file."""
        return f"{self.value}.jsonl"


OPENING: Final = b'{"record_json":"'
CLOSING: Final = b'"}\n'
"""What stands around the escaped text of a record."""


def encode_line(record: Any) -> bytes:
    """Write one record as a line with its LF (bundle.md §2.1).

    Raises JsonError for a value without a JSON form: a captured tuple, an integer beyond 4300 digits.
    """
    return b"".join((OPENING, escaped(encode_canonical(record)), CLOSING))


def escaped(canonical: str) -> bytes:
    """Escape canonical text for the envelope. It is ASCII without control characters, so there are only these two."""
    return canonical.encode("ascii").replace(b"\\", b"\\\\").replace(b'"', b'\\"')


def decode_line(line: bytes) -> JsonObject:
    """Read one line, with or without its LF or CRLF (bundle.md §2.3).

    :raises BundleError: when it is no envelope around one JSON object; its place is the caller's to add.
    """
    record = _decoded_canonical(line)
    if record is not None:
        return record
    if not line.strip():
        raise BundleError("expected a record, got a blank line")
    envelope = _decoded(line)
    if not isinstance(envelope, dict) or envelope.keys() != {"record_json"}:
        raise BundleError("expected an object with the one key record_json, got " + _kind(envelope))
    text = envelope["record_json"]
    if not isinstance(text, str):
        raise BundleError(f"expected a string, got {shown(text)}", path="record_json")
    record = _decoded(text)
    if not isinstance(record, dict):
        raise BundleError(f"expected an object inside the string, got {shown(record)}", path="record_json")
    return record


def decode_accepted_line(line: bytes) -> JsonObject:
    """Read a line again that ``decode_line`` has accepted, so that no key is there twice; keys in code-point order."""
    text = record_text(line)
    if text is not None:
        try:
            return cast(JsonObject, exact_order(orjson.loads(text)))
        except (orjson.JSONDecodeError, InexactError):
            pass
    return cast(JsonObject, canonical_order(decode_line(line)))


def record_text(line: bytes) -> str | None:
    """Return the text of the record in a line as ``encode_line`` writes it; None for any other line."""
    if not line.startswith(OPENING) or not line.endswith(CLOSING):
        return None
    try:
        text: str = orjson.loads(line[len(OPENING) - 1 : 1 - len(CLOSING)])
    except orjson.JSONDecodeError:
        return None
    return text


def _decoded_canonical(line: bytes) -> JsonObject | None:
    """Read a line as ``encode_line`` writes it, which is several times faster; None for any other."""
    text = record_text(line)
    try:
        record = None if text is None else decode_canonical(text)
    except InexactError:
        return None
    return record if isinstance(record, dict) else None


def _decoded(text: str | bytes) -> Any:
    try:
        return decode_strict(text)
    except JsonError as error:
        raise BundleError(str(error)) from None


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return f"the keys {', '.join(map(shown, list(value)[:5]))}" if value else "{}"
    return shown(value)


def encode_manifest(manifest: JsonObject) -> bytes:
    """Write the manifest's file: one line of canonical JSON without an envelope (bundle.md §2.2)."""
    return encode_canonical(manifest).encode("ascii") + b"\n"


def decode_manifest(data: bytes) -> JsonObject:
    """Read the manifest's file: one JSON object of finite numbers (bundle.md §8, rule 1).

    :raises BundleError: when it is anything else; it names the manifest.
    """
    try:
        manifest = decode_strict(data, finite=True)
    except JsonError as error:
        raise BundleError(str(error), file=MANIFEST) from None
    if not isinstance(manifest, dict):
        raise BundleError(f"expected an object, got {shown(manifest)}", file=MANIFEST)
    return manifest
