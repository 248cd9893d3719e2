"""Counters of a derivation: what was not used, under a closed reason (derivation.md §14)."""

from collections import Counter
from enum import StrEnum


class DecisionSkip(StrEnum):
    """Why a Developer decision sits on no Turn. Unit: decisions; first hit wins (derivation.md §5.1)."""

    MISSING_CALL_ID = "missing_decision_call_id"
    UNMATCHED_CALL_ID = "unmatched_decision_call_id"
    AMBIGUOUS_CALL_ID = "ambiguous_decision_call_id"


class AttributionSkip(StrEnum):
    """Why a note, Push, commit, diff section or file attributes nothing (derivation.md §6, §9).

    Units differ: note; Push (no_inference_call_candidates, mirror_absent); commit; section; file (no_match).
    """

    NOTE_UNREADABLE = "attribution_note_unreadable"
    NO_CANDIDATES = "no_inference_call_candidates"
    MIRROR_ABSENT = "mirror_absent"
    COMMIT_DIFF_UNAVAILABLE = "commit_diff_unavailable"
    NO_CODE_DIFF = "no_code_diff"
    UNSUPPORTED_DIFF_SECTION = "unsupported_diff_section"
    MALFORMED_DIFF_SECTION = "malformed_diff_section"
    NO_MATCH = "no_match"


class FragmentReason(StrEnum):
    """Why a call opens a new Segment. Unit: boundaries between neighbouring calls (derivation.md §5)."""

    PRIOR_OUTPUT_ABSENT = "prior_output_absent"
    INPUT_HISTORY_CHANGED = "input_history_changed"
    PRIOR_OUTPUT_NOT_REPLAYED = "prior_output_not_replayed"


class ScopeExclusion(StrEnum):
    """Why a Rollout lies outside the cohort. Unit: Rollouts; first hit wins (derivation.md §12)."""

    USER = "rollout_user_scope"
    MIXED_USER = "mixed_user_rollout"
    TIME = "rollout_time_scope"


def sorted_counts(counter: Counter[str]) -> dict[str, int]:
    """Return the counters that are at least 1, by key; the form in which every tally is shown and stored."""
    return {str(key): counter[key] for key in sorted(counter) if counter[key]}
