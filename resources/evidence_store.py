"""Resource: where one organization's evidence is, opened as a snapshot of Facts and locked mirrors for one step."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
from pydantic import PrivateAttr

from sediment_assets.adapters.evidence import OpenEvidence, open_evidence
from sediment_assets.adapters.fact_store.counts import OrganizationCount, count_facts
from sediment_assets.adapters.fact_store.engine import reading_engine
from sediment_assets.adapters.fact_store.quarantine_log import quarantine_between
from sediment_assets.adapters.git_mirror_store import GitMirrorStore
from sediment_assets.adapters.mirror_base import require_mirror_base
from sediment_assets.adapters.verification_file import read_verification_commands
from sediment_assets.facts.scalars import normal_org_id
from sediment_assets.facts.vocabulary import FactTable, QuarantineAction
from sediment_assets.publish.export import ExportSettings
from sediment_assets.publish.record import digest_of
from sediment_assets.targets.environment_manifest import RuntimeSettings


@dataclass(frozen=True, slots=True)
class EvidenceState:
    """Whether there is anything new, and how many mirrors there are."""

    digest: str
    mirrors: int


class EvidenceStore(dg.ConfigurableResource):  # type: ignore[type-arg]  # generic over its own value, as Dagster documents
    """Fact store, organization and mirrors. A snapshot never outlives the step that opened it.

    Whatever reads mirrors raises MirrorError while their base is no directory.
    """

    org_id: str
    database_url: str
    mirror_path: str

    _patch_mirrors: dict[bool, GitMirrorStore] = PrivateAttr(default_factory=dict)

    def open(self) -> AbstractContextManager[OpenEvidence]:
        """Open the evidence: a read-only snapshot and the mirrors' locks."""
        return open_evidence(normal_org_id(self.org_id), self.database_url, self.mirror_base())

    def mirror_base(self) -> Path:
        """Return the base directory of the mirrors.

        :raises MirrorError: when it is not there: never created, or not mounted.
        """
        return require_mirror_base(Path(self.mirror_path))

    def counts(self) -> OrganizationCount | None:
        """Count the organization's Facts; None when the store has none of them."""
        engine = reading_engine(self.database_url)
        try:
            organizations = count_facts(engine).organizations
        finally:
            engine.dispose()
        return next((found for found in organizations if found.org_id == normal_org_id(self.org_id)), None)

    def state(self) -> EvidenceState:
        """Digest how many Facts and quarantine records there are, and every ref."""
        mirrors = self.mirror_revisions()
        return EvidenceState(digest_of({"facts": repr(self.counts()), "mirrors": mirrors}), len(mirrors))

    def quarantine_between(self, after: int, through: int) -> Mapping[tuple[FactTable, str], QuarantineAction]:
        """Return what became of the organization's Facts between two quarantine revisions."""
        engine = reading_engine(self.database_url)
        try:
            return quarantine_between(engine, self.org_id, after, through)
        finally:
            engine.dispose()

    def mirrors(self) -> GitMirrorStore:
        """Return the mirrors, unlocked: Git objects never change (mirrors.md §4). Close it after use."""
        return GitMirrorStore(self.mirror_base())

    def patch_mirrors(self, *, required: bool = True) -> GitMirrorStore:
        """Return the mirrors of whoever makes Reference patches: the same for all steps of a run, closed when it ends.

        Not ``required`` are they by whoever looks at published rows, and counts what it cannot prove any more. These
        are others, and end the processes of the first: what was published is proven by git processes of its own.
        """
        base = self.mirror_base() if required else Path(self.mirror_path)
        if (others := self._patch_mirrors.get(not required)) is not None:
            others.close()
        if required not in self._patch_mirrors:
            self._patch_mirrors[required] = GitMirrorStore(base)
        return self._patch_mirrors[required]

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """End git's processes."""
        for mirrors in self._patch_mirrors.values():
            mirrors.close()
        self._patch_mirrors.clear()

    def mirror_revisions(self) -> Mapping[str, Mapping[str, str]]:
        """Return the refs of every mirror of the organization."""
        with self.mirrors() as mirrors:
            return mirrors.revisions(normal_org_id(self.org_id))


class ExportOptions(dg.ConfigurableResource):  # type: ignore[type-arg]  # as above
    """What the operator adds to rows: the verification commands file and runtime references. Blank is unset."""

    verifier_commands_file: str = ""
    openenv_image: str = ""
    openenv_package: str = ""
    nemo_gym_resources_server: str = ""
    nemo_gym_config: str = ""

    def settings(self) -> ExportSettings:
        """Read the commands file and return the settings of an export."""
        path = Path(self.verifier_commands_file) if self.verifier_commands_file else None
        return ExportSettings(
            read_verification_commands(path),
            RuntimeSettings(
                openenv_image=self.openenv_image,
                openenv_package=self.openenv_package,
                nemo_gym_resources_server=self.nemo_gym_resources_server,
                nemo_gym_config=self.nemo_gym_config,
            ),
        )
