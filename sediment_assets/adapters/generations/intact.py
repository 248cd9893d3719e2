"""Whether a generation still is what its completion file says: every file hashed again."""

from hashlib import sha256
from pathlib import Path
from typing import Final

from sediment_assets.adapters.bundle_files import opened_member, read_manifest
from sediment_assets.bundle.encoding import MANIFEST, Population, decode_manifest
from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.manifest import MemberFile
from sediment_assets.bundle.validate.files import check_member
from sediment_assets.bundle.validate.manifest import parse_manifest
from sediment_assets.publish.durable import is_present
from sediment_assets.publish.reading import held_for_reading
from sediment_assets.publish.record import verify_generation

_CHUNK: Final = 1 << 20


def verify_files(directory: Path) -> int:
    """Hash every file of a generation, target rows, CI resolutions or bundle; return how many there are.

    A bundle's records are not validated here; whoever opens it validates all of them.

    :raises RecordError: when a generation of rows is not as its record says, or has none.
    :raises BundleError: when a bundle is not as its manifest says.
    """
    with held_for_reading(directory):
        if not is_present(directory / MANIFEST):
            return len(verify_generation(directory).files)
        try:
            manifest = parse_manifest(decode_manifest(read_manifest(directory)))
            for population, declared in manifest.files.items():
                check_member(population, declared, _measured(directory, population))
        except BundleError as error:
            raise error.inside(directory) from None
        return len(manifest.files)


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
