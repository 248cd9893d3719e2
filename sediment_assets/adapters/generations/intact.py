"""Whether a generation still is what its completion file says: every file hashed again."""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final

from sediment_assets.adapters.bundle_files import opened_member, read_manifest
from sediment_assets.adapters.generations.catalog import FoundGeneration
from sediment_assets.bundle.encoding import MANIFEST, Population, decode_manifest
from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.manifest import MemberFile
from sediment_assets.bundle.validate.files import check_member
from sediment_assets.bundle.validate.manifest import parse_manifest
from sediment_assets.publish.artifacts import CLAIM, RECORD
from sediment_assets.publish.durable import is_present
from sediment_assets.publish.reading import held_for_reading
from sediment_assets.publish.record import RecordError, verify_generation

_CHUNK: Final = 1 << 20


def verify_files(directory: Path) -> int:
    """Hash every file of a generation, target rows, CI resolutions or bundle; return how many there are.

    A bundle's records are not validated here; whoever opens it validates all of them.

    :raises RecordError: when a generation of rows is not as its record says, or has none.
    :raises BundleError: when a bundle is not as its manifest says.
    """
    with held_for_reading(directory):
        if not is_present(directory / MANIFEST):
            record = verify_generation(directory)
            _refuse_strangers(directory, {*record.files, RECORD, CLAIM})
            return len(record.files)
        try:
            manifest = parse_manifest(decode_manifest(read_manifest(directory)))
            for population, declared in manifest.files.items():
                check_member(population, declared, _measured(directory, population))
        except BundleError as error:
            raise error.inside(directory) from None
        _refuse_strangers(directory, {*(population.file for population in manifest.files), MANIFEST})
        return len(manifest.files)


def verify_manifest(bundle: FoundGeneration, others: Iterable[FoundGeneration]) -> None:
    """Check a bundle's manifest, which nothing inside digests, against the records that its run made from it.

    :raises RecordError: when they were made from other bytes.
    """
    for other in others if bundle.manifest is not None else ():
        if other.record is None or (other.partition, other.name) != (bundle.partition, bundle.name):
            continue
        if other.bundle_digest not in (None, bundle.bundle_digest):
            raise RecordError(
                f"{bundle.path / MANIFEST}: expected the manifest that {other.kind} was made from "
                f"(SHA-256 {other.bundle_digest}), got {bundle.bundle_digest}: it was changed"
            )


def _refuse_strangers(directory: Path, expected: set[str]) -> None:
    strangers = sorted(entry.name for entry in directory.iterdir() if entry.name not in expected)
    if strangers:
        raise RecordError(f"{directory}: expected the files that were published, got {', '.join(strangers)} besides")


def _measured(directory: Path, population: Population) -> MemberFile:
    rows = size = 0
    digest = sha256()
    last = b"\n"
    with opened_member(directory, population.file) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
            rows += chunk.count(b"\n")
            last = chunk[-1:]
    return MemberFile(rows + (last != b"\n"), size, digest.hexdigest())
