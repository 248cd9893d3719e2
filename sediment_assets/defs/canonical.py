"""The canonical assets: one day's Rollouts, frozen as a derived bundle, and the CI resolutions of that bundle."""

import hashlib
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field

from resources.bundles import BundleReader
from resources.evidence_store import EvidenceStore
from resources.generations import GENERATION, GenerationStore
from sediment_assets import __version__
from sediment_assets.adapters.bundle_dir import ReadyBundle, stage_bundle
from sediment_assets.adapters.evidence import OpenEvidence
from sediment_assets.adapters.resolutions import CI_RESOLUTIONS as RESOLUTIONS_KIND
from sediment_assets.adapters.resolutions import stage_resolutions
from sediment_assets.bundle.build import ROLLOUT_PREFIX
from sediment_assets.bundle.encoding import Population, decode_line
from sediment_assets.bundle.manifest import Manifest
from sediment_assets.bundle.rollout_record import parse_rollout
from sediment_assets.ci.resolution import CIResolution
from sediment_assets.defs.keys import (
    CANONICAL_GROUP,
    CI_RESOLUTIONS,
    GENERATION_IO,
    OWNERS,
    ROLLOUTS,
)
from sediment_assets.defs.metadata import (
    COLUMN_SCHEMA,
    DOCS,
    NONE,
    PREVIEW,
    PREVIEW_ROWS,
    ROW_COUNT,
    column_schema,
    preview,
    reasons_table,
)
from sediment_assets.defs.observation import EVIDENCE, KIND_KEYS, POLICY, tag_of
from sediment_assets.defs.partitions import EVERY_MORNING, after_last, before_first, window_of
from sediment_assets.derive.policy import DerivationPolicy, policy_from_plain
from sediment_assets.derive.tally import DecisionSkip
from sediment_assets.publish.record import digest_of, spelled_instant
from sediment_assets.rollouts.derivation import Evidence
from sediment_assets.rollouts.evidence_versions import DayVersions, evidence_version, session_parts
from sediment_assets.rollouts.models import Rollout
from sediment_assets.rollouts.vocabulary import FRAGMENTED, SKIPPED

_ROLLOUTS_KIND = "rollouts"
EARLIER_SESSIONS = "sessions_before_partition_start"


class DerivationConfig(dg.Config):
    """Run configuration of the ``rollouts`` step."""

    policy: dict[str, Any] = Field(
        default_factory=dict,
        description="The tables of a policy file (attribution, split) that differ from the defaults; the same keys, "
        "the same checks and the same digest. Empty: the default policy.",
    )

    def derivation_policy(self) -> DerivationPolicy:
        """Check the policy and fill in the defaults.

        :raises PolicyError: as for a policy file.
        """
        return policy_from_plain({"schema_version": 1, **self.policy}, place="ops.rollouts.config.policy")


def rollouts_asset(partitions: dg.TimeWindowPartitionsDefinition) -> dg.AssetsDefinition:
    """Derive and freeze one day's Rollouts."""

    @dg.multi_asset(
        name="rollouts",
        specs=[
            dg.AssetSpec(
                ROLLOUTS,
                deps=[*KIND_KEYS.values()],
                group_name=CANONICAL_GROUP,
                partitions_def=partitions,
                description="Canonical Rollouts of the Sessions whose first visible InferenceCall lies in this day: "
                "Turns in proven-continuous Segments, the developer's decisions on them, the commits they led to and "
                "the CI outcomes on those. Frozen as a derived bundle (version 4) in one read-only snapshot of the "
                "Facts and under the mirrors' locks; everything to the right reads this bundle.",
                owners=OWNERS,
                kinds={"python", "jsonl"},
                tags={"sediment/layer": "canonical"},
                metadata={DOCS: "docs/decisions/one-step-freezes.md, docs/operations.md"},
                freshness_policy=EVERY_MORNING,
                code_version=__version__,
            ).with_io_manager_key(GENERATION_IO)
        ],
        check_specs=[
            dg.AssetCheckSpec(
                EARLIER_SESSIONS,
                asset=ROLLOUTS,
                partitions_def=partitions,
                description="Sessions that began before the first partition belong to none. They are counted here; "
                "set SEDIMENT_PARTITION_START to an earlier day to include them.",
            )
        ],
    )
    def rollouts(
        context: dg.AssetExecutionContext,
        config: DerivationConfig,
        evidence: EvidenceStore,
        generations: GenerationStore,
        bundles: BundleReader,
    ) -> Iterator[dg.MaterializeResult[ReadyBundle]]:
        policy = config.derivation_policy()
        out = generations.new_path(_ROLLOUTS_KIND, context)
        window = window_of(context.partition_key)
        versions = DayVersions()

        def digest_evidence(gathered: Evidence) -> None:
            for session, parts in session_parts(opened.facts, opened.mirrors, gathered, window):
                versions.add(session, parts)

        with (
            evidence.open() as opened,
            stage_bundle(
                opened.facts,
                opened.mirrors,
                out,
                policy,
                window=window,
                memo=generations.attributions(),
                validations=bundles.validations(),
                on_evidence=digest_evidence,
            ) as ready,
        ):
            for warning in ready.summary.warnings:
                context.log.warning(warning)
            of_day = versions.days().get(window.start.date(), {})
            yield dg.MaterializeResult(
                asset_key=ROLLOUTS,
                value=ready,
                data_version=dg.DataVersion(partition_version(ready.summary.manifest)),
                tags={EVIDENCE: tag_of(evidence_version(of_day)), POLICY: tag_of(policy.digest)},
                metadata=_rollouts_metadata(out, ready),
                check_results=[_earlier_sessions(opened, partitions)],
            )

    return rollouts


def _earlier_sessions(opened: OpenEvidence, partitions: dg.TimeWindowPartitionsDefinition) -> dg.AssetCheckResult:
    earlier = opened.facts.count_sessions(before_first(partitions))
    first = partitions.start.date().isoformat()
    return dg.AssetCheckResult(
        check_name=EARLIER_SESSIONS,
        asset_key=ROLLOUTS,
        passed=earlier == 0,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"Sessions that began before the first partition, {first}: {earlier}.",
        metadata={
            "sessions_before_first_partition": earlier,
            "sessions_after_last_partition": opened.facts.count_sessions(after_last(partitions)),
        },
    )


def partition_version(manifest: Manifest) -> str:
    """Digest what belongs to this day alone.

    The other files, the mirrors' refs and ``as_of`` cover the whole organization: they change when any other day does.
    Labels are in the Rollouts, so a rename does count. A mirror that appears later changes patches, not Rollouts:
    targets depend on ``mirrors/commits`` for it.
    """
    own = (manifest.files[Population.ROLLOUTS].sha256, manifest.files[Population.INFERENCE_CALLS].sha256)
    return hashlib.sha256("\n".join(own).encode()).hexdigest()


def _rollouts_metadata(out: Path, ready: ReadyBundle) -> Mapping[str, Any]:
    manifest = ready.summary.manifest
    skipped = {name.removeprefix(ROLLOUT_PREFIX): count for name, count in manifest.skipped.items()}
    of_sessions = [reason for reason in SKIPPED.values() if isinstance(reason, DecisionSkip)]
    of_organization = [reason for reason in SKIPPED.values() if not isinstance(reason, DecisionSkip)]
    return {
        ROW_COUNT: manifest.files[Population.ROLLOUTS].rows,
        "inference_calls": manifest.files[Population.INFERENCE_CALLS].rows,
        "fragmented": reasons_table(manifest.fragmented, FRAGMENTED.values()),
        "skipped_decisions": reasons_table(skipped, of_sessions),
        "skipped_org_wide": reasons_table(skipped, of_organization),
        PREVIEW: preview(map(_rollout_cells, _first_rollouts(ready.directory))),
        GENERATION: dg.MetadataValue.path(str(out)),
        "policy_digest": manifest.policy.digest,
        "as_of": spelled_instant(manifest.as_of) or NONE,
        "quarantine_revision": manifest.quarantine_revision,
        "bundle_digest": ready.summary.manifest_sha256,
    }


def _first_rollouts(bundle: Path) -> Iterator[Rollout]:
    with (bundle / Population.ROLLOUTS.file).open("rb") as lines:
        for line in islice(lines, PREVIEW_ROWS):
            yield parse_rollout(decode_line(line))


def _rollout_cells(rollout: Rollout) -> Mapping[str, str | int]:
    return {
        "session": rollout.session_id,
        "split": rollout.split.value,
        "segments": len(rollout.segments),
        "turns": sum(map(len, rollout.segments)),
        "commits": len(rollout.commits),
        "commits found by": rollout.attribution_source.value,
        "CI outcomes": len(rollout.terminal_outcomes),
    }


def ci_resolutions_asset(partitions: dg.TimeWindowPartitionsDefinition) -> dg.AssetsDefinition:
    """Resolve the CI outcomes of one day's bundle to one verdict per commit."""

    @dg.multi_asset(
        name="ci_resolutions",
        specs=[
            dg.AssetSpec(
                CI_RESOLUTIONS,
                deps=[ROLLOUTS],
                group_name=CANONICAL_GROUP,
                partitions_def=partitions,
                description="One verdict per commit of this day's Rollouts, with a reliability: a CI run's retries are "
                "one lineage, a run that both failed and passed is a suspected flake (reliability 0.0), workflows that "
                "disagree give no verdict. Targets read these and refuse the resolutions of another bundle.",
                owners=OWNERS,
                kinds={"python", "jsonl"},
                code_version=__version__,
                tags={"sediment/layer": "canonical"},
                metadata={COLUMN_SCHEMA: column_schema(CIResolution), DOCS: "docs/reference/reasons.md"},
                freshness_policy=EVERY_MORNING,
            ).with_io_manager_key(GENERATION_IO)
        ],
        ins={"rollouts": dg.AssetIn(key=ROLLOUTS, input_manager_key=GENERATION_IO)},
    )
    def ci_resolutions(
        context: dg.AssetExecutionContext, bundles: BundleReader, generations: GenerationStore, rollouts: Path
    ) -> Iterator[dg.MaterializeResult[Any]]:
        out = generations.new_path(RESOLUTIONS_KIND, context)
        bundle = bundles.read(rollouts)
        with stage_resolutions(
            bundle, out, asset_key=CI_RESOLUTIONS.to_user_string(), partition=context.partition_key
        ) as staged:
            yield dg.MaterializeResult(
                asset_key=CI_RESOLUTIONS,
                value=staged,
                # Targets read the Rollouts through these: what is new of a Rollout must be new of its resolutions.
                data_version=dg.DataVersion(
                    resolutions_version(partition_version(bundle.manifest), staged.record.data_version)
                ),
                metadata=_resolutions_metadata(out, staged.resolutions, bundle.bundle_digest),
            )

    return ci_resolutions


def resolutions_version(rollouts_version: str, content: str) -> str:
    """Digest the version of the Rollouts with that of the resolutions' files, for those who read both."""
    return digest_of([rollouts_version, content])


def _resolutions_metadata(out: Path, resolutions: tuple[CIResolution, ...], bundle_digest: str) -> Mapping[str, Any]:
    verdicts = [resolution.verdict.value if resolution.verdict else NONE for resolution in resolutions]
    return {
        ROW_COUNT: len(resolutions),
        "verdict/passed": verdicts.count("passed"),
        "verdict/failed": verdicts.count("failed"),
        "verdict/none": verdicts.count(NONE),
        "suspected_flakes": sum(resolution.suspected_flake for resolution in resolutions),
        "ambiguous": sum(resolution.is_ambiguous for resolution in resolutions),
        PREVIEW: preview(
            {
                "repo": resolution.repo,
                "commit": resolution.commit_sha[:12],
                "verdict": verdict,
                "reliability": resolution.reliability,
                "suspected flake": "yes" if resolution.suspected_flake else "no",
                "CI runs": len(resolution.workflow_resolutions),
                "CI outcomes": len(resolution.source_outcome_ids),
            }
            for resolution, verdict in islice(zip(resolutions, verdicts, strict=True), PREVIEW_ROWS)
        ),
        GENERATION: dg.MetadataValue.path(str(out)),
        "bundle_digest": bundle_digest,
    }
