"""Fetching in the graph: one dynamic partition per repository, and what requests it.

The same sync as ``sediment mirror sync``. The sensor adds the repositories that Push Facts name and refreshes the one
whose newest Push is new; the schedule refreshes all of them every night, because a note that is pushed after its
commit announces itself by no Push.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import dagster as dg

from resources.clone_urls import CloneUrls
from resources.evidence_store import EvidenceStore
from sediment_assets import __version__
from sediment_assets.defs.keys import MIRRORS_GROUP, OWNERS, REPOSITORIES
from sediment_assets.mirrors.layout import mirror_path
from sediment_assets.publish.record import digest_of
from sediment_assets.repositories.keys import LegacyKey, RepositoryKey

if TYPE_CHECKING:  # Dagster gives the type of its own job definitions no public name
    from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

    from sediment_assets.adapters.mirror_jobs import KnownRepositories, SyncJob
    from sediment_assets.adapters.mirror_run import SyncOutcome

REPOSITORY_PARTITIONS: Final = dg.DynamicPartitionsDefinition(name="repositories")
SYNC_JOB: Final = "sync_mirrors"
SENSOR: Final = "new_pushes"
SCHEDULE: Final = "mirrors_nightly"
PUSH: Final = "sediment/push"
"""Tag of a requested run: the Push that asked for it."""
_POOL: Final = "fetch_mirror"


def partition_of(key: RepositoryKey) -> str:
    """Name a repository's partition: ``owner/name`` if legacy, else ``provider/host/id``, which survives renames."""
    return key.slug if isinstance(key, LegacyKey) else "/".join(key.sort_key[2:])


def repositories_asset() -> dg.AssetsDefinition:
    """The mirrors, fetched."""

    @dg.multi_asset(
        name="sync_mirror",
        specs=[
            dg.AssetSpec(
                REPOSITORIES,
                # Its Pushes are observed together with what is fetched here: an edge to them would be a circle.
                group_name=MIRRORS_GROUP,
                partitions_def=REPOSITORY_PARTITIONS,
                description="One bare mirror per repository, created and refreshed from the clone URL of its newest "
                "Push. Sessions that notes of pushed commits name are stored as SessionCommitObservations. The "
                "partition is `owner/name`, or `provider/host/id` when the forge's own id is known.",
                owners=OWNERS,
                kinds={"git"},
                tags={"sediment/layer": "mirrors"},
                code_version=__version__,
            )
        ],
        retry_policy=dg.RetryPolicy(max_retries=2, delay=5),
        pool=_POOL,
    )
    def sync_mirror(
        context: dg.AssetExecutionContext, evidence: EvidenceStore, clone_urls: CloneUrls
    ) -> dg.MaterializeResult[Any]:
        from sediment_assets.adapters.mirror_sync import SyncStatus

        known = clone_urls.known(evidence)
        sync = clone_urls.sync(evidence)
        outcome = sync.run(_job_of(known, context.partition_key))
        if sync.notice is not None:
            context.log.warning(f"observations_not_stored: {sync.notice}")
        if outcome.failed or outcome.status is SyncStatus.DECLINED:
            # What the evidence or the policy forbids stays forbidden; a network may be back in a moment.
            raise dg.Failure(f"{outcome.label}: {outcome.problem}", allow_retries=outcome.status is SyncStatus.FAILED)
        with evidence.mirrors() as mirrors:
            mirror = mirrors.open(outcome.key)
            refs = {} if mirror is None else mirror.refs()
        return dg.MaterializeResult(
            asset_key=REPOSITORIES, data_version=dg.DataVersion(digest_of(refs)[:16]), metadata=_metadata(outcome)
        )

    return sync_mirror


def _job_of(known: "KnownRepositories", partition: str) -> "SyncJob":
    for job in known.jobs():
        if partition_of(job.key) == partition:
            return job
    raise dg.Failure(
        f"{partition!r}: expected a repository that a visible Push names, got none; delete this partition, or capture "
        "its pushes",
        allow_retries=False,
    )


def _metadata(outcome: "SyncOutcome") -> Mapping[str, Any]:
    return {
        "repository": outcome.label,
        "status": outcome.status.value,
        "refs": outcome.refs,
        "notes": outcome.notes,
        "notes_unreadable": outcome.unreadable_notes,
        "session_ids_invalid": outcome.invalid_session_ids,
        "observations_stored": outcome.observations.stored,
        "observations_known": outcome.observations.present,
        "mirror": str(mirror_path(outcome.key)),
    }


def sync_job() -> "UnresolvedAssetJobDefinition":
    """Fetch one mirror."""
    return dg.define_asset_job(
        SYNC_JOB,
        selection=dg.AssetSelection.assets(REPOSITORIES),
        description="Create or refresh one repository's mirror and store the observations of its notes.",
        tags={"sediment/kind": "mirror"},
    )


def new_pushes_sensor(
    job: "UnresolvedAssetJobDefinition", *, running: bool = False, seconds: int = 30
) -> dg.SensorDefinition:
    """Make the sensor; stopped until an operator starts it in the UI, unless ``running``."""

    @dg.sensor(
        name=SENSOR,
        job=job,
        minimum_interval_seconds=seconds,
        default_status=dg.DefaultSensorStatus.RUNNING if running else dg.DefaultSensorStatus.STOPPED,
        description="Adds a partition for every repository that Push Facts name, and refreshes its mirror when a newer "
        "Push arrives.",
    )
    def new_pushes(context: dg.SensorEvaluationContext, evidence: EvidenceStore, clone_urls: CloneUrls) -> Any:
        evidence.mirror_base()  # a tick that fails is repeated; the runs it would request are requested once
        state, seen = _read_cursor(context.cursor)
        now = _facts_state(evidence)
        if now == state:
            return dg.SkipReason("no new Fact")
        known = clone_urls.known(evidence)
        wanted = {
            partition_of(target.key): target.newest_push_id
            for target in known.plan.targets.values()
            if target.declined is None and target.clone_url is not None
        }
        new = sorted(wanted.keys() - set(context.instance.get_dynamic_partitions(REPOSITORY_PARTITIONS.name or "")))
        requests = [
            dg.RunRequest(run_key=f"{partition} {push_id}", partition_key=partition, tags={PUSH: push_id[:250]})
            for partition, push_id in sorted(wanted.items())
            if seen.get(partition) != push_id
        ]
        return dg.SensorResult(
            run_requests=requests,
            dynamic_partitions_requests=[REPOSITORY_PARTITIONS.build_add_request(new)] if new else [],
            cursor=json.dumps([now, wanted]),
            skip_reason=None if requests else "no newer Push",
        )

    return new_pushes


def _read_cursor(text: str | None) -> tuple[str, Mapping[str, str]]:
    """Read what was seen: anything else is a new beginning, which refreshes every mirror once."""
    try:
        state, seen = json.loads(text or "")
    except (ValueError, TypeError):
        return "", {}
    return (state, seen) if isinstance(state, str) and isinstance(seen, dict) else ("", {})


def _facts_state(evidence: EvidenceStore) -> str:
    """Digest what can change which repositories there are: a count of Facts is cheap, resolving them is not."""
    counts = evidence.counts()
    if counts is None:
        return "none"
    tables = {
        table.table: [table.facts, table.quarantined] for table in counts.tables if table.table not in _NOT_NAMING
    }
    return digest_of({"tables": tables, "quarantine": counts.quarantine_revision})


# A sync stores observations itself, of repositories that Pushes name already.
_NOT_NAMING: Final = frozenset({"inference_calls", "developer_decisions", "session_commit_observations"})


def nightly_schedule(job: "UnresolvedAssetJobDefinition", *, running: bool = False) -> dg.ScheduleDefinition:
    """Refresh every mirror at 02:00 UTC, before the day is materialized; stopped unless ``running``."""

    @dg.schedule(
        name=SCHEDULE,
        job=job,
        cron_schedule="0 2 * * *",
        execution_timezone="UTC",
        description="Refreshes every mirror at 02:00 UTC: notes that were pushed after their commits.",
        default_status=dg.DefaultScheduleStatus.RUNNING if running else dg.DefaultScheduleStatus.STOPPED,
    )
    def mirrors_nightly(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest]:
        night = context.scheduled_execution_time.date().isoformat()
        partitions = context.instance.get_dynamic_partitions(REPOSITORY_PARTITIONS.name or "")
        return [
            dg.RunRequest(run_key=f"{night} {partition}", partition_key=partition) for partition in sorted(partitions)
        ]

    return mirrors_nightly
