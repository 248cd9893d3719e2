"""What evidence would have to be there for a declined row, per reason; the rules themselves are elsewhere."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sediment_assets.reasons import Reason
from sediment_assets.targets.skips import RolloutSkip, RowSkip, TaskSkip

MISSING: Final[Mapping[Reason, str]] = MappingProxyType(
    {
        TaskSkip.NO_ATTRIBUTED_COMMIT: (
            "a SessionCommitObservation (repository with a forge id) or a Git note refs/notes/sediment (repository "
            "known by slug) that names the Session, or a captured Push with a commit that holds what its calls wrote"
        ),
        TaskSkip.MISSING_VERIFIER_EVIDENCE: (
            "a CI outcome that passed or failed on one of the Session's commits, without another workflow that says "
            "the opposite"
        ),
        TaskSkip.FAILED_REFERENCE_PATCH: "a passed CI outcome on the Session's last commit with a verdict",
        TaskSkip.MIRROR_ABSENT: "a bare mirror of the verified commit's repository under SEDIMENT_MIRROR_PATH",
        TaskSkip.NO_COMMIT_IN_VERIFIER_REPO: (
            "the verified commit, and the Session's first one, in the mirror of their repository"
        ),
        TaskSkip.DEGENERATE_COMMIT_RANGE: "a verdict on a commit that descends from the Session's first commit",
        TaskSkip.ROOT_COMMIT_NO_BASE: "a parent of the Session's first commit, to start from",
        TaskSkip.REFERENCE_PATCH_UNAVAILABLE: "all objects of the range in the mirror, so that its patch can be proven",
        RolloutSkip.NO_SEGMENTS: "an InferenceCall of the Session",
        RowSkip.NON_FINITE_NUMBER: "captured values without NaN and infinities",
        RowSkip.UNREPRESENTABLE_UNICODE: "captured text without lone surrogates",
    }
)
"""Every reason that declines, and what is missing."""
