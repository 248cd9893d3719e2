"""Rules 8 to 15 of bundle.md §8: the populations, and the head of every artifact row.

One change of a good bundle, honest digests again, and the refusal it must meet; a case starts with its rule.
"""

from pathlib import Path

import pytest

from sediment_assets.bundle.encoding import Population
from tests.bundles import Change, Draft, again, all_of, put, refusal

ROLLOUTS, CALLS = Population.ROLLOUTS, Population.INFERENCE_CALLS
COMPLETIONS, IDENTITIES = Population.ATTRIBUTED_COMPLETIONS, Population.INFERENCE_CALL_IDENTITIES
EVIDENCE, RENAMES = Population.REPOSITORY_IDENTITIES, Population.REPOSITORY_RENAMES
LATE = "2026-03-02T09:08:00.000001+00:00"
NEXT_DAY = "2026-03-03T00:00:00+00:00"


def manifest(draft: Draft) -> dict:
    return draft.manifest


CASES: list[tuple[str, Change, str]] = [
    # 8, 9: repository populations
    ("8 org of evidence", put("org_id", "other", Draft.evidence), f"{EVIDENCE.file} line 1: org_id: expected the mani"),
    ("8 evidence after as_of", put("captured_at", LATE, Draft.evidence), f"{EVIDENCE.file} line 1: captured_at: expe"),
    ("8 rename after as_of", lambda d: d.records[RENAMES][0].update(captured_at=LATE), f"{RENAMES.file} line 1: captu"),
    ("8 as_of null", put("as_of", None, manifest), f"{EVIDENCE.file} line 1: captured_at: expected no row, as the man"),
    ("9 evidence twice", again(EVIDENCE), f"{EVIDENCE.file} line 7: source_fact_id: expected one row of"),
    ("9 rename twice", again(RENAMES), f"{RENAMES.file} line 2: rename_id: expected one row of 'n1', got another"),
    # 10: identities
    ("10 twice", again(IDENTITIES), f"{IDENTITIES.file} line 5: inference_call_id: expected one row of 'c1'"),
    ("10 org", put("org_id", "other", Draft.identity), f"{IDENTITIES.file} line 1: org_id: expected the manifest's"),
    ("10 after as_of", put("observed_at", LATE, Draft.identity), f"{IDENTITIES.file} line 1: observed_at: expected an"),
    ("10 order", put("call_ids", ["b", "a"], Draft.identity), f"{IDENTITIES.file} line 1: call_ids: expected ids asc"),
    ("10 distinct", put("call_ids", ["a", "a"], Draft.identity), f"{IDENTITIES.file} line 1: call_ids: expected ids"),
    # 11, 12, 13: calls
    ("11 twice", again(CALLS), f"{CALLS.file} line 5: inference_call_id: expected one row of 'c1', got another"),
    ("11 org", put("org_id", "other", Draft.call), f"{CALLS.file} line 1: org_id: expected the manifest's 'acme'"),
    (
        "12 no identity",
        lambda d: d.records[IDENTITIES].remove(d.identity("c4")),
        f"{CALLS.file} line 4: inference_call_id: expected a row of 'c4' in inference_call_identities.jsonl, got none",
    ),
    ("12 session", put("session_id", "s9", Draft.call), f"{CALLS.file} line 1: session_id: expected what inference_c"),
    ("12 instant", put("observed_at", NEXT_DAY, Draft.call), f"{CALLS.file} line 1: observed_at: expected what"),
    ("12 aliases", put("model_call_id", "m", Draft.call), f"{CALLS.file} line 1: output_messages: expected what"),
    (
        "13 unreferenced",
        all_of(lambda d: d.records[ROLLOUTS].remove(d.rollout("s3")), lambda d: d.records[COMPLETIONS].pop()),
        f"{CALLS.file} line 4: inference_call_id: expected a Rollout or Attributed completion that names 'c4'",
    ),
    # 14, 15: every artifact row
    ("14 org", put("org_id", "other", Draft.rollout), f"{ROLLOUTS.file} line 1: org_id: expected 'acme', got 'other'"),
    ("14 split", put("split", "eval", Draft.rollout), f"{ROLLOUTS.file} line 1: split: expected 'train', got 'eval'"),
    (
        "14 version",
        lambda d: d.rollout()["provenance"].update(policy_version="3"),
        f"{ROLLOUTS.file} line 1: provenance.policy_version: expected '4', got '3'",
    ),
    (
        "14 revision",
        lambda d: d.rollout()["provenance"].update(quarantine_revision=1),
        f"{ROLLOUTS.file} line 1: provenance.quarantine_revision: expected 0, got 1",
    ),
    (
        "14 digest",
        lambda d: d.rollout()["provenance"].update(policy_digest="0" * 64),
        f"{ROLLOUTS.file} line 1: provenance.policy_digest: expected 'dd6ddc",
    ),
    (
        "14 completion version",
        lambda d: d.completion()["provenance"].update(policy_version="4"),
        f"{COMPLETIONS.file} line 2: provenance.policy_version: expected '5', got '4'",
    ),
    (
        "15 two Rollouts",
        all_of(again(ROLLOUTS), lambda d: d.records[ROLLOUTS][-1].update(attribution_source="jaccard")),
        f"{ROLLOUTS.file} line 4: expected rows of one rollout to be equal, got two that differ for 's1'",
    ),
    (
        "15 two completions",
        all_of(again(COMPLETIONS), lambda d: d.records[COMPLETIONS][-1].update(similarity_score=1)),
        f"{COMPLETIONS.file} line 4: expected rows of one completion to be equal",
    ),
]


@pytest.mark.parametrize(("change", "message"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_rows_that_are_refused(draft: Draft, tmp_path: Path, change: Change, message: str):
    change(draft)
    assert refusal(draft.write(tmp_path / "b")).startswith(message)
