"""Derived bundles on disk: ``derive_bundle`` writes one, ``open_bundle`` reads one (bundle.md §7, §8).

The one way in and out for the command line and the asset graph. Records and rules are ``bundle/``; files are
``bundle_staging.py`` and ``bundle_files.py``.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from sediment_assets.adapters.bundle_files import MemberLines, copy_member, read_manifest
from sediment_assets.adapters.bundle_index import BundleIndex
from sediment_assets.adapters.bundle_staging import StagedBundle, staged_bundle
from sediment_assets.adapters.bundle_validations import INDEX, ValidatedRows, Validations, private_path
from sediment_assets.bundle.build import ROLLOUT_PREFIX, BundleBuild
from sediment_assets.bundle.encoding import (
    MANIFEST,
    Population,
    decode_accepted_line,
    decode_manifest,
    encode_manifest,
)
from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.limits import beyond_reference
from sediment_assets.bundle.manifest import Manifest
from sediment_assets.bundle.rollout_record import parse_rollout
from sediment_assets.bundle.validate.files import Lines
from sediment_assets.bundle.validate.index import Group
from sediment_assets.bundle.validate.manifest import parse_manifest
from sediment_assets.bundle.validate.rows import validate_rows
from sediment_assets.derive.attribution_memo import AttributionMemo
from sediment_assets.derive.fact_reader import FactReader, SessionWindow
from sediment_assets.derive.policy import DEFAULT_POLICY, DerivationPolicy
from sediment_assets.mirrors.reader import MirrorStore
from sediment_assets.publish.reading import held_for_reading
from sediment_assets.repositories.resolver import RepositoryResolver
from sediment_assets.rollouts.derivation import Derivation, Evidence
from sediment_assets.rollouts.models import Rollout
from sediment_assets.rollouts.scope import WHOLE_ORGANIZATION, CohortScope

Progress = Callable[[str, int], None]
"""Told what is being worked on (``writing rollouts.jsonl``) and how many rows of it are done."""


@dataclass(frozen=True, slots=True)
class BundleSummary:
    """A published bundle. ``warnings`` say in what it exceeds the reference implementation's limits."""

    out: Path
    manifest: Manifest
    manifest_sha256: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadyBundle:
    """A complete, validated bundle in its staging ``directory``; ``publish`` makes it visible."""

    summary: BundleSummary
    staged: StagedBundle

    @property
    def directory(self) -> Path:
        """Where the files are until they are published."""
        return self.staged.directory

    def publish(self) -> None:
        """Give the bundle its name.

        :raises DestinationError: when it was taken meanwhile.
        """
        self.staged.publish()


def derive_bundle(
    facts: FactReader,
    mirrors: MirrorStore,
    out: Path,
    policy: DerivationPolicy = DEFAULT_POLICY,
    *,
    scope: CohortScope = WHOLE_ORGANIZATION,
    window: SessionWindow | None = None,
    progress: Progress | None = None,
) -> BundleSummary:
    """Derive Rollouts and publish them, with what they rest on, as one new bundle directory.

    :param out: must not exist; its parent must.
    :param scope: which Rollouts to keep; every other population stays whole.
    :param window: derive only the Sessions that begin in it: one partition of the asset graph.
    :raises DestinationError: before any work when ``out`` is taken, and again if it was taken meanwhile.
    :raises SedimentError: when Facts or mirrors cannot be read, or the bundle cannot be written; nothing is published.
    """
    with stage_bundle(facts, mirrors, out, policy, scope=scope, window=window, progress=progress) as ready:
        ready.publish()
    return ready.summary


@contextmanager
def stage_bundle(
    facts: FactReader,
    mirrors: MirrorStore,
    out: Path,
    policy: DerivationPolicy = DEFAULT_POLICY,
    *,
    scope: CohortScope = WHOLE_ORGANIZATION,
    window: SessionWindow | None = None,
    memo: AttributionMemo | None = None,
    validations: Validations | None = None,
    on_evidence: Callable[[Evidence], None] | None = None,
    progress: Progress | None = None,
) -> Iterator[ReadyBundle]:
    """Do all of ``derive_bundle`` but the last step, which is the block's; unpublished, the bundle goes away.

    ``memo`` remembers what similarity found over the same evidence. ``on_evidence`` is shown what the derivation knows
    of the whole organization, before any Session. In ``validations`` the validation is known afterwards.
    """
    with staged_bundle(out) as staged:
        derivation = Derivation(facts, mirrors, policy, scope=scope, window=window, memo=memo)
        if on_evidence is not None:
            on_evidence(derivation.evidence)
        build = BundleBuild(facts, derivation, scope)
        del derivation
        written = {
            population: staged.write(population, _encoded(build, population, progress)) for population in Population
        }
        manifest = build.manifest({population: file.member for population, file in written.items()})
        data = encode_manifest(manifest.plain())
        del build  # all it knows of the organization; the validation is about to read that again
        digest = sha256(data).hexdigest()
        with _index_of(staged, validations) as index:
            resolver = validate_rows(manifest, _watched(MemberLines(staged.directory), progress), index)
            largest_session = index.largest_session()
        if validations is not None:
            validations.keep(digest, ValidatedRows(manifest, resolver, index))
        warnings = beyond_reference(
            manifest.files,
            {population: file.longest_line for population, file in written.items()},
            manifest_bytes=len(data),
            session_bytes=largest_session,
        )
        staged.write_manifest(data)
        yield ReadyBundle(BundleSummary(out, manifest, digest, tuple(warnings)), staged)


def _encoded(build: BundleBuild, population: Population, progress: Progress | None) -> Iterator[bytes]:
    return _counted(build.lines(population), f"writing {population.file}", progress)


def _counted(lines: Iterator[bytes], action: str, progress: Progress | None) -> Iterator[bytes]:
    for done, line in enumerate(lines, 1):
        yield line
        if progress is not None:
            progress(action, done)


def _index_of(staged: StagedBundle, validations: Validations | None) -> AbstractContextManager[BundleIndex]:
    """Return the index of the staged bundle's validation, as a reader will validate it (bundle.md §7, step 2).

    It lies beside the files and is gone before they are published, unless the validation is to be kept.
    """
    if validations is None:
        return BundleIndex(staged.directory / INDEX, place=staged.out)
    return nullcontext(validations.new_index(staged.out))


def _watched(lines: MemberLines, progress: Progress | None) -> Lines:
    return lambda population: _counted(lines(population), f"checking {population.file}", progress)


class Bundle:
    """A validated bundle; a ``RolloutSource``. Usable inside the block of ``open_bundle``."""

    bundle_digest: str
    """Lower-case hex SHA-256 of ``manifest.json``."""

    def __init__(
        self,
        manifest: Manifest,
        bundle_digest: str,
        resolver: RepositoryResolver,
        lines: MemberLines,
        index: BundleIndex,
    ) -> None:
        self.manifest = manifest
        self.bundle_digest = bundle_digest
        self.resolver = resolver
        self._lines = lines
        self._index = index

    @property
    def org_id(self) -> str:
        """The organization."""
        return self.manifest.org_id

    @property
    def policy(self) -> DerivationPolicy:
        """The derivation policy."""
        return self.manifest.policy

    @property
    def as_of(self) -> datetime | None:
        """Latest capture instant of the evidence, None without any."""
        return self.manifest.as_of

    @property
    def quarantine_revision(self) -> int:
        """The organization's quarantine revision in the run's snapshot."""
        return self.manifest.quarantine_revision

    @property
    def mirror_revisions(self) -> Mapping[str, Mapping[str, str]]:
        """The refs of every mirror that was there."""
        return self.manifest.mirror_revisions

    @property
    def skipped(self) -> Counter[str]:
        """The run's ``rollout`` counters, without that prefix."""
        return Counter(
            {
                key.removeprefix(ROLLOUT_PREFIX): count
                for key, count in self.manifest.skipped.items()
                if key.startswith(ROLLOUT_PREFIX)
            }
        )

    @property
    def fragmented(self) -> Counter[str]:
        """Segment boundaries of the run by reason."""
        return Counter(self.manifest.fragmented)

    def rollouts(self) -> Iterator[Rollout]:
        """Yield the Rollouts by session_id, equal ones in the order of their lines."""
        numbers = (int(number) for _, group in self._index.groups(Group.ROLLOUT_LINE) for number in group)
        for line in self._lines.rollout_lines(numbers):
            yield parse_rollout(decode_accepted_line(line))


@contextmanager
def open_bundle(
    directory: Path, *, progress: Progress | None = None, validations: Validations | None = None
) -> Iterator[Bundle]:
    """Copy a bundle into private temporary storage, validate all of it, and give its Rollouts for the block.

    ``TMPDIR`` says where; the copy takes about twice the bundle's size. Of a bundle in ``validations`` the rows are not
    validated again: the copied bytes are those that were.

    :raises BundleError: for the first broken rule: ``<directory>/<file> line <N>: <path>: expected …, got …``.
    :raises PublishError: when the private storage cannot be written.
    """
    with ExitStack() as stack:
        private = stack.enter_context(private_path())
        try:
            with held_for_reading(directory):
                data = read_manifest(directory)
                manifest = _parsed_manifest(data)
                for population, declared in manifest.files.items():
                    copy_member(directory, population, declared, private)
            lines, digest = MemberLines(private), sha256(data).hexdigest()
            rows = validations.known(digest, manifest) if validations is not None else None
            if rows is None:
                index = stack.enter_context(BundleIndex(private / INDEX))
                rows = ValidatedRows(manifest, validate_rows(manifest, _watched(lines, progress), index), index)
            else:
                lines.find_rollouts()
        except BundleError as error:
            raise error.inside(directory) from None
        yield Bundle(manifest, digest, rows.resolver, lines, rows.index)


def _parsed_manifest(data: bytes) -> Manifest:
    try:
        return parse_manifest(decode_manifest(data))
    except BundleError as error:
        raise error.at(MANIFEST) from None
