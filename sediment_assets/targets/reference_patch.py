"""The Reference patch of a task: from which commit to which, and git's own patch between them (targets.md §3).

Mirrors are only read. How the patch is spelled and proven is the mirror's part (design.md §7).
"""

from dataclasses import dataclass

from sediment_assets.ci.resolution import CIResolution
from sediment_assets.mirrors.reader import MirrorError, MirrorReader, MirrorStore
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.targets.rollout_evidence import RolloutEvidence
from sediment_assets.targets.skips import Skipped, TaskSkip


@dataclass(frozen=True, slots=True)
class ReferencePatch:
    """The change a task asks for. ``first_commit`` is the Session's first commit that the mirror has."""

    first_commit: str
    base_commit: str
    verified_commit: str
    text: str


def reference_patch(
    evidence: RolloutEvidence, selected: CIResolution, mirrors: MirrorStore
) -> ReferencePatch | Skipped[TaskSkip]:
    """Make the Reference patch of a Rollout whose selected resolution is ``selected`` (targets.md §3)."""
    repository = selected.commit_key.repository
    resolved = evidence.resolver.reference(selected.repo, selected.repository_identity)
    if isinstance(resolved, RepositoryReason) or resolved.key != repository:
        return Skipped(TaskSkip.NO_COMMIT_IN_VERIFIER_REPO)
    mirror = mirrors.open(repository)
    if mirror is None:
        return Skipped(TaskSkip.MIRROR_ABSENT)
    in_repo = [commit.commit_sha for commit in evidence.commits if commit.repository == repository]
    # Commits that the mirror lacks are left out, which moves the first one; those after the verified one never count.
    first = next((sha for sha in in_repo if mirror.commit_exists(sha)), None)
    if first is None or not mirror.commit_exists(selected.commit_sha):
        return Skipped(TaskSkip.NO_COMMIT_IN_VERIFIER_REPO)
    return _patch_of_range(mirror, first, selected.commit_sha)


def _patch_of_range(mirror: MirrorReader, first: str, last: str) -> ReferencePatch | Skipped[TaskSkip]:
    """Steps 4 to 7: both ends exist in the mirror; the base is the first commit's own first parent."""
    try:
        if not mirror.is_ancestor(first, last):
            return Skipped(TaskSkip.DEGENERATE_COMMIT_RANGE)
        base = mirror.first_parent(first)
        if base is None:
            return Skipped(TaskSkip.ROOT_COMMIT_NO_BASE)
        return ReferencePatch(first, base, last, mirror.reference_patch(base, last))
    except MirrorError as error:
        return Skipped(TaskSkip.REFERENCE_PATCH_UNAVAILABLE, str(error))
