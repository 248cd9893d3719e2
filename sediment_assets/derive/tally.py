"""Counters of a derivation: what was not used, under a closed reason (derivation.md §14)."""

from collections import Counter

from sediment_assets.reasons import Reason


class DecisionSkip(Reason):
    """Why a Developer decision sits on no Turn; first hit wins (derivation.md §5.1)."""

    MISSING_CALL_ID = "missing_decision_call_id", "decisions", "The decision names no tool call."
    UNMATCHED_CALL_ID = "unmatched_decision_call_id", "decisions", "No call of the Session made the named tool call."
    AMBIGUOUS_CALL_ID = (
        "ambiguous_decision_call_id",
        "decisions",
        "More than one call of the Session made a tool call of that id.",
    )


class AttributionSkip(Reason):
    """Why a note, Push, commit or file attributes nothing (derivation.md §6, §9).

    What ends a diff section is ``mirrors/patch_sections.py``'s.
    """

    NOTE_UNREADABLE = "attribution_note_unreadable", "notes", "A Git note that is not the notes' format binds nothing."
    NO_CANDIDATES = (
        "no_inference_call_candidates",
        "Pushes",
        "No call lies near the Push in time, so none can have written it.",
    )
    MIRROR_ABSENT = "mirror_absent", "Pushes", "The repository of the Push has no mirror."
    COMMIT_DIFF_UNAVAILABLE = "commit_diff_unavailable", "commits", "Git could not show what the commit changed."
    NO_CODE_DIFF = "no_code_diff", "commits", "The commit adds no line of code to compare."
    NO_MATCH = "no_match", "files", "No call wrote text similar enough to what the file gained."


class FragmentReason(Reason):
    """Why a call opens a new Segment: the history is not proven to continue (derivation.md §5)."""

    PRIOR_OUTPUT_ABSENT = "prior_output_absent", "boundaries", "The call before was captured without an output."
    INPUT_HISTORY_CHANGED = (
        "input_history_changed",
        "boundaries",
        "The call's input does not begin with that of the call before: compacted or rewritten.",
    )
    PRIOR_OUTPUT_NOT_REPLAYED = (
        "prior_output_not_replayed",
        "boundaries",
        "The call's input does not repeat the output of the call before: asked again.",
    )


class ScopeExclusion(Reason):
    """Why a Rollout lies outside the cohort; first hit wins (derivation.md §12)."""

    USER = "rollout_user_scope", "Rollouts", "No Turn is of a user in scope."
    MIXED_USER = "mixed_user_rollout", "Rollouts", "Some Turns are of users in scope, others are not."
    TIME = "rollout_time_scope", "Rollouts", "No Turn lies in the time range."


def sorted_counts(counter: Counter[str]) -> dict[str, int]:
    """Return the counters that are at least 1, by key; the form in which every tally is shown and stored."""
    return {str(key): counter[key] for key in sorted(counter) if counter[key]}
