"""The sensor that keeps finished days up to date: late evidence requests exactly the partitions it changes.

Every tick is cheap. It counts Facts and lists refs; when either is new, it requests an observation, which is a run and
does the work. It reads the observations that came since the last tick; where a finished day was derived from other
evidence than was observed, it requests that day. Days never materialized are the schedule's and the backfill's. A tick
fails when the mirrors are gone: that is a disk, not late evidence.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Final

import dagster as dg

from resources.evidence_store import EvidenceState, EvidenceStore
from resources.generations import NoGenerationError, newest_materialized
from sediment_assets.adapters.automation import DEFAULT_SECONDS
from sediment_assets.defs.jobs import DAY_JOB, OBSERVE_JOB
from sediment_assets.defs.keys import MIRRORED_COMMITS, ROLLOUTS
from sediment_assets.defs.observation import CHANGED, EVIDENCE, POLICY, tag_of
from sediment_assets.derive.policy import DEFAULT_POLICY
from sediment_assets.mirrors.reader import MirrorError

if TYPE_CHECKING:  # Dagster gives the type of its own job definitions no public name
    from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

SENSOR: Final = "late_evidence"
CAUSE: Final = "sediment/late_evidence"
"""Tag of a requested run: the kinds of evidence that changed."""
MOST_FAILURES: Final = 3
"""So often is a failed observation requested again; then a person looks at it, or new evidence comes."""
RUN_KEY: Final = "dagster/run_key"
SENSOR_TAG: Final = "dagster/sensor_name"
_PAGE: Final = 200


@dataclass(frozen=True, slots=True)
class Cursor:
    """What the sensor remembers: how far it has read, and of what it has requested an observation."""

    state: str = ""
    observations: int = 0
    failures: int = 0
    """Observations of this state that failed."""
    read_to: int = 0
    mirrors: int = 0
    """How many mirrors the organization had."""

    @classmethod
    def parse(cls, text: str | None) -> "Cursor":
        """Read a cursor; anything else is a new beginning, which costs one observation and repeats no finished day."""
        try:
            return cls(**json.loads(text or "{}"))
        except (ValueError, TypeError):
            return cls()

    def spelled(self) -> str:
        """Spell the cursor for the instance."""
        return json.dumps(asdict(self))


def late_evidence_sensor(
    jobs: "list[UnresolvedAssetJobDefinition]", *, running: bool = False, seconds: int = DEFAULT_SECONDS
) -> dg.SensorDefinition:
    """Make the sensor; stopped until an operator starts it in the UI, unless ``running``."""

    @dg.sensor(
        name=SENSOR,
        jobs=jobs,
        minimum_interval_seconds=seconds,
        default_status=dg.DefaultSensorStatus.RUNNING if running else dg.DefaultSensorStatus.STOPPED,
        description="Observes evidence when Facts or refs are new, and materializes again the days that it changes: a "
        "CI run that was repeated, a new note or mirror, a quarantine or its release.",
    )
    def late_evidence(context: dg.SensorEvaluationContext, evidence: EvidenceStore) -> dg.SensorResult:
        cursor = Cursor.parse(context.cursor)
        state = evidence.state()
        _refuse_vanished(cursor, state, evidence)
        requests = []
        days, cursor = _changed_days(context.instance, cursor)
        for day, observation in days.items():
            if _is_late(context.instance, day, observation):
                requests.append(_day_request(day, observation))
        cursor = replace(cursor, mirrors=state.mirrors)
        if state.digest != cursor.state:
            cursor = replace(cursor, state=state.digest, observations=cursor.observations + 1, failures=0)
            requests.append(_observe_request(cursor))
        elif cursor.failures < MOST_FAILURES and _has_failed(context.instance, cursor):
            cursor = replace(cursor, observations=cursor.observations + 1, failures=cursor.failures + 1)
            requests.append(_observe_request(cursor))
        reason = None if requests else "no new evidence, and every finished day is up to date"
        return dg.SensorResult(run_requests=requests, cursor=cursor.spelled(), skip_reason=reason)

    return late_evidence


def _refuse_vanished(cursor: Cursor, state: EvidenceState, evidence: EvidenceStore) -> None:
    """Request nothing because of an empty mount point: every finished day would be published again, without tasks.

    :raises MirrorError: when the organization had mirrors at the last look, and now has none.
    """
    if cursor.mirrors and not state.mirrors:
        raise MirrorError(
            f"SEDIMENT_MIRROR_PATH: expected mirrors of organization {evidence.org_id}, of which there "
            f"{'was 1' if cursor.mirrors == 1 else f'were {cursor.mirrors}'} at the last look, got none in "
            f"{evidence.mirror_path}; mount its disk, or fetch them: sediment mirror sync. If they are gone for good, "
            "empty the cursor on the page of this sensor"
        )


def _observe_request(cursor: Cursor) -> dg.RunRequest:
    return dg.RunRequest(run_key=_run_key(cursor), job_name=OBSERVE_JOB)


def _run_key(cursor: Cursor) -> str:
    """Name an observation: a state that comes again is another one, and so is the first after a cursor was deleted."""
    return f"observe {cursor.observations} {cursor.state[:16]}"


def _has_failed(instance: dg.DagsterInstance, cursor: Cursor) -> bool:
    """Whether the observation last requested has failed: nothing else would ask for it before there is new evidence."""
    failed = [dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
    tags = {RUN_KEY: _run_key(cursor), SENSOR_TAG: SENSOR}
    return bool(instance.get_run_records(dg.RunsFilter(job_name=OBSERVE_JOB, statuses=failed, tags=tags), limit=1))


@dataclass(frozen=True, slots=True)
class _Observed:
    """The newest observation of one day."""

    storage_id: int
    evidence: str
    changed: str


def _changed_days(instance: dg.DagsterInstance, cursor: Cursor) -> tuple[dict[str, _Observed], Cursor]:
    """Return the days observed since the cursor, and where to go on."""
    found: dict[str, _Observed] = {}
    for record in _observations(instance, cursor.read_to):
        observation = record.event_log_entry.asset_observation
        cursor = replace(cursor, read_to=max(cursor.read_to, record.storage_id))
        if observation is None or observation.partition is None or EVIDENCE not in observation.tags:
            continue
        if observation.partition in found and found[observation.partition].storage_id > record.storage_id:
            continue
        changed = observation.metadata.get(CHANGED)
        found[observation.partition] = _Observed(
            record.storage_id, observation.tags[EVIDENCE], str(changed.value) if changed is not None else ""
        )
    return dict(sorted(found.items())), cursor


def _observations(instance: dg.DagsterInstance, after: int) -> Iterator[dg.EventLogRecord]:
    cursor: str | None = None
    while True:
        page = instance.fetch_observations(
            dg.AssetRecordsFilter(asset_key=MIRRORED_COMMITS, after_storage_id=after), limit=_PAGE, cursor=cursor
        )
        yield from page.records
        if not page.has_more:
            return
        cursor = page.cursor


def _is_late(instance: dg.DagsterInstance, day: str, observation: _Observed) -> bool:
    """Whether a finished day was derived from other evidence; days of another policy are their operator's."""
    try:
        tags = newest_materialized(instance, ROLLOUTS, day).tags
    except NoGenerationError:
        return False
    is_default = tags.get(POLICY) == tag_of(DEFAULT_POLICY.digest)
    return is_default and tags.get(EVIDENCE) != observation.evidence


def _day_request(day: str, observation: _Observed) -> dg.RunRequest:
    """Request a day once for each observation: what was hidden and released again is observed twice."""
    return dg.RunRequest(
        run_key=f"{day} {observation.storage_id}",
        job_name=DAY_JOB,
        partition_key=day,
        tags={CAUSE: observation.changed},
    )
