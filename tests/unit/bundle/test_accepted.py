"""What a reader does not check (bundle.md §8, §11): each of these bundles is accepted."""

from pathlib import Path

import pytest

from sediment_assets.bundle.encoding import Population
from tests.bundles import Change, Draft, accepted, put

ALL = ["s1", "s2", "s3"]


def _everywhere(draft: Draft, outcome_id: str, **values: object) -> None:
    rows = [(row, "terminal_outcomes") for row in draft.records[Population.ROLLOUTS]]
    rows += [(row, "ci_outcomes") for row in draft.records[Population.ATTRIBUTED_COMPLETIONS]]
    for row, key in rows:
        for outcome in row[key]:
            if outcome["outcome_id"] == outcome_id:
                outcome.update(values)


UNKNOWN = {"repo": "x/y"}
CASES: list[tuple[str, Change]] = [
    ("no Attributed completions", lambda d: d.records[Population.ATTRIBUTED_COMPLETIONS].clear()),
    ("an upper-case slug of a commit", lambda d: d.rollout("s2")["commits"][0].update(repo="Acme/Widget")),
    ("an unknown legacy slug", lambda d: d.rollout("s3")["commits"].append(d.rollout("s2")["commits"][0] | UNKNOWN)),
    ("a commit twice", lambda d: d.rollout()["commits"].append(d.rollout()["commits"][0])),
    ("another order of commits", lambda d: d.rollout()["commits"].reverse()),
    ("an untrue result", lambda d: _everywhere(d, "o1", result="failed", raw={})),
    ("an outcome left out", lambda d: d.rollout()["terminal_outcomes"].pop()),
    ("an observation left out", lambda d: d.rollout()["session_commit_observations"].clear()),
    ("a decision left out", lambda d: d.turn()["decisions"].clear()),
    (
        "a decision after as_of",
        lambda d: (
            d.turn()["decisions"][0].update(captured_at="2030-01-01T00:00:00Z"),
            d.records[Population.ATTRIBUTED_COMPLETIONS].pop(0),
        ),
    ),
    (
        "a score filled in where the capture has none",
        lambda d: d.completion("c1")["decisions"][0].update(edit_retention_score=0.125),
    ),
    ("other refs", put("mirror_revisions", {"x/y": {"refs/heads/a": "anything"}}, lambda d: d.manifest)),
    ("unknown counters", put("skipped", {"anything": 1}, lambda d: d.manifest)),
    ("rows outside the scope", lambda d: d.manifest["scope"].update(users=["nobody"])),
    (
        "an alias of calls of two Sessions",
        lambda d: (
            d.records[Population.ATTRIBUTED_COMPLETIONS].clear(),
            d.call("c4").update(model_call_id="t1"),
            d.identity("c4").update(call_ids=["t1", "t4"]),
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize("change", [case[1] for case in CASES], ids=[case[0] for case in CASES])
def test_bundles_that_are_accepted(draft: Draft, tmp_path: Path, change: Change):
    change(draft)
    assert accepted(draft.write(tmp_path / "b")) == ALL


def test_identities_without_artifacts_are_accepted(draft: Draft, tmp_path: Path):
    for population in (Population.ROLLOUTS, Population.ATTRIBUTED_COMPLETIONS, Population.INFERENCE_CALLS):
        draft.records[population].clear()
    assert accepted(draft.write(tmp_path / "b")) == []


def test_completions_of_a_session_without_a_rollout_are_accepted(draft: Draft, tmp_path: Path):
    draft.records[Population.ROLLOUTS].clear()
    draft.records[Population.INFERENCE_CALLS].remove(draft.call("c2"))
    assert accepted(draft.write(tmp_path / "b")) == []


def test_without_a_boundary_every_population_is_empty(draft: Draft, tmp_path: Path):
    for rows in draft.records.values():
        rows.clear()
    draft.manifest["as_of"] = None
    assert accepted(draft.write(tmp_path / "b")) == []
