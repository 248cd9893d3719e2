"""Frozen CI resolutions of one bundle: one row per commit, as a generation that names its bundle.

Targets of the asset graph read them instead of resolving again, and refuse those of another bundle.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from sediment_assets.adapters.bundle_dir import Bundle
from sediment_assets.ci.resolution import CIResolution
from sediment_assets.ci.selection import resolution_counters
from sediment_assets.errors import SedimentError
from sediment_assets.facts.json_values import JsonError, decode_strict, encode_row
from sediment_assets.publish.artifacts import CLAIM, RECORD
from sediment_assets.publish.durable import reported, write_file
from sediment_assets.publish.fresh_directory import FreshDirectory, fresh_directory
from sediment_assets.publish.origin import origin_of
from sediment_assets.publish.reading import held_for_reading
from sediment_assets.publish.record import (
    GenerationRecord,
    PopulationRecord,
    content_version,
    file_record,
    verify_generation,
)
from sediment_assets.repositories.keys import CommitKey
from sediment_assets.targets.rollout_evidence import resolve_rollout

CI_RESOLUTIONS: Final = "ci_resolutions"
"""Name of the generation's kind and population."""
RESOLUTIONS_FILE: Final = "ci_resolutions.jsonl"


class ResolutionsError(SedimentError):
    """Frozen CI resolutions that cannot be read, or belong to another bundle."""


@dataclass(frozen=True, slots=True)
class StagedResolutions:
    """CI resolutions on the device, in a directory that is not visible yet."""

    staged: FreshDirectory
    record: GenerationRecord
    resolutions: tuple[CIResolution, ...]

    def publish(self) -> None:
        """Give the directory its name."""
        self.staged.publish()


@contextmanager
def stage_resolutions(bundle: Bundle, out: Path, *, asset_key: str, partition: str) -> Iterator[StagedResolutions]:
    """Stage the CI resolutions of a bundle beside ``out``; ``publish`` makes them visible.

    :raises DestinationError: when ``out`` exists.
    :raises PublishError: when the operating system refuses.
    """
    rollouts, resolutions = _resolve(bundle)
    with fresh_directory(out) as staged:
        with reported(out, "stage the CI resolutions"):
            lines = b"".join(encode_row(resolution.model_dump()) + b"\n" for resolution in resolutions)
            write_file(staged.directory / RESOLUTIONS_FILE, lines)
            write_file(staged.directory / CLAIM, f"{CI_RESOLUTIONS}\n".encode())
            record = _record(bundle, staged.directory, rollouts, resolutions, (asset_key,), partition)
            write_file(staged.directory / RECORD, record.encode())
        yield StagedResolutions(staged, record, resolutions)


def _resolve(bundle: Bundle) -> tuple[int, tuple[CIResolution, ...]]:
    """Count the Rollouts and resolve their CI outcomes, by commit sort key.

    A commit's resolution is the same in every Rollout that lists it: each carries all outcomes kept for it.
    """
    found: dict[CommitKey, CIResolution] = {}
    rollouts = 0
    for rollout in bundle.rollouts():
        rollouts += 1
        for resolution in resolve_rollout(rollout, bundle.resolver).resolutions:
            found[resolution.commit_key] = resolution
    return rollouts, tuple(found[commit] for commit in sorted(found, key=lambda commit: commit.sort_key))


def _record(
    bundle: Bundle,
    directory: Path,
    rollouts: int,
    resolutions: tuple[CIResolution, ...],
    asset_keys: tuple[str, ...],
    partition: str,
) -> GenerationRecord:
    files = {RESOLUTIONS_FILE: file_record(directory / RESOLUTIONS_FILE, len(resolutions))}
    skipped = {reason.value: count for reason, count in resolution_counters(resolutions).items()}
    return GenerationRecord(
        target=CI_RESOLUTIONS,
        asset_keys=asset_keys,
        partition=partition,
        data_version=content_version(files),
        rollouts=rollouts,
        populations={CI_RESOLUTIONS: PopulationRecord(rows=len(resolutions), skipped=skipped)},
        derivation_skipped={},
        fragmented={},
        files=files,
        **origin_of(bundle),
    )


def read_resolutions(directory: Path, bundle_digest: str) -> Mapping[CommitKey, CIResolution]:
    """Read frozen CI resolutions, by commit.

    :raises RecordError: when the generation is not complete or was changed.
    :raises ResolutionsError: when they belong to another bundle.
    """
    with held_for_reading(directory):
        return _verified_resolutions(directory, bundle_digest)


def _verified_resolutions(directory: Path, bundle_digest: str) -> Mapping[CommitKey, CIResolution]:
    record = verify_generation(directory)
    if record.bundle_digest != bundle_digest:
        raise ResolutionsError(
            f"{directory}: expected the CI resolutions of bundle {bundle_digest}, got those of "
            f"{record.bundle_digest}; materialize ci_resolutions for this partition again"
        )
    path = directory / RESOLUTIONS_FILE
    try:
        with path.open("rb") as file:
            read = [CIResolution.model_validate(decode_strict(line, finite=True)) for line in file]
    except (OSError, JsonError, ValidationError) as error:
        raise ResolutionsError(f"{path}: cannot be read: {error}") from None
    return {resolution.commit_key: resolution for resolution in read}
