"""One mirror sync as a whole: every job for itself, observations stored after each (mirrors.md §7.3).

A repository that fails stops no other. Used by ``sediment mirror sync`` and by the asset graph alike.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from sediment_assets.adapters.fact_store.engine import ForeignStoreError, reading_engine, writing_engine
from sediment_assets.adapters.fact_store.observations import (
    StoredObservations,
    store_observations,
    stored_edges,
)
from sediment_assets.adapters.git_fetch import Fetcher
from sediment_assets.adapters.git_host_config import HostGitConfig
from sediment_assets.adapters.git_process import TIMEOUT_SECONDS, GitUnavailableError
from sediment_assets.adapters.mirror_jobs import SyncJob
from sediment_assets.adapters.mirror_locks import observation_lock
from sediment_assets.adapters.mirror_sync import SyncedMirror, SyncStatus, sync_mirror
from sediment_assets.errors import SedimentError
from sediment_assets.mirrors.clone_url import CloneUrlPolicy, CloneUrlRefusedError, MalformedCloneUrlError
from sediment_assets.repositories.keys import RepositoryKey, key_text


@dataclass(frozen=True, slots=True)
class SyncOutcome:
    """What became of one job. ``problem`` says why nothing, or less, was done; never with a credential."""

    key: RepositoryKey
    label: str
    status: SyncStatus
    problem: str | None = None
    refs: int = 0
    notes: int = 0
    unreadable_notes: int = 0
    invalid_session_ids: int = 0
    observations: StoredObservations = field(default_factory=StoredObservations)

    @property
    def failed(self) -> bool:
        """Whether the sync as a whole has to fail for it."""
        return self.status in (SyncStatus.FAILED, SyncStatus.REFUSED)


class MirrorSync:
    """Syncs mirrors of one organization. Without ``database_url``, observations are not stored."""

    def __init__(
        self,
        base: Path,
        database_url: str | None,
        policy: CloneUrlPolicy,
        *,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        self._base = base.resolve()
        self._database_url = database_url
        self._policy = policy
        self._fetcher = Fetcher(HostGitConfig.load(), development=policy.development, timeout=timeout)
        self.notice: str | None = None
        """Why observations of this whole sync are not stored, if they are not."""

    def run(self, job: SyncJob, progress: Callable[[str], None] | None = None) -> SyncOutcome:
        """Sync one mirror and store what its notes say.

        :raises GitUnavailableError: when git cannot work on this machine; no other job would fare better.
        """
        if job.declined is not None:
            return SyncOutcome(job.key, job.label, SyncStatus.DECLINED, f"{job.declined}: {job.declined.meaning}")
        if job.clone_url is None:
            problem = "expected a clone URL in one of its Pushes, got none; list it in a file for --from"
            return SyncOutcome(job.key, job.label, SyncStatus.DECLINED, problem)
        try:
            synced = sync_mirror(
                self._base,
                job.key,
                job.clone_url,
                self._fetcher,
                self._policy,
                pushes=job.pushes,
                progress=progress,
            )
            stored = self._store(job, synced)
        except GitUnavailableError:
            raise
        except (CloneUrlRefusedError, MalformedCloneUrlError) as error:
            return SyncOutcome(job.key, job.label, SyncStatus.REFUSED, str(error))
        except SedimentError as error:
            return SyncOutcome(job.key, job.label, SyncStatus.FAILED, str(error))
        return SyncOutcome(
            job.key,
            job.label,
            SyncStatus.FAILED if stored.conflicts else synced.status,
            "; ".join(stored.conflicts) or None,
            refs=synced.refs,
            notes=synced.noted.notes,
            unreadable_notes=synced.noted.unreadable,
            invalid_session_ids=synced.noted.invalid_ids,
            observations=stored,
        )

    def _store(self, job: SyncJob, synced: SyncedMirror) -> StoredObservations:
        if self._database_url is None or not synced.observations or self.notice is not None:
            return StoredObservations()
        reading, engine = reading_engine(self._database_url), writing_engine(self._database_url)
        try:
            with observation_lock(self._base, job.key):
                # Mostly nothing is new, and then nobody has to wait for the right to write.
                known = stored_edges(reading, job.key)
                new = [found for found in synced.observations if (found.commit_sha, found.session_id) not in known]
                stored = store_observations(engine, new, f"notes of {key_text(job.key)}")
            return replace(stored, present=stored.present + len(synced.observations) - len(new))
        except ForeignStoreError as error:
            self.notice = f"{error}; its own server records observations"
            return StoredObservations()
        finally:
            reading.dispose()
            engine.dispose()
