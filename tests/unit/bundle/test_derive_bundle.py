"""``derive_bundle``: the bytes, populations and counters of a written bundle (bundle.md §3, §5, §6, §12)."""

import json
import random
import stat
from datetime import UTC, datetime
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest

from sediment_assets.adapters.bundle_dir import derive_bundle, open_bundle
from sediment_assets.bundle.encoding import MANIFEST, Population
from sediment_assets.bundle.manifest import Manifest
from sediment_assets.derive.fact_reader import SessionWindow
from sediment_assets.derive.policy import DerivationPolicy
from sediment_assets.facts.json_values import decode
from sediment_assets.facts.vocabulary import FactTable
from sediment_assets.mirrors.reader import MirrorError
from sediment_assets.repositories.keys import LegacyKey
from sediment_assets.rollouts.derivation import Derivation
from sediment_assets.rollouts.scope import CohortScope
from tests.builders import (
    IDENTITY,
    ORG,
    OTHER_SHA,
    SHA,
    make_call,
    make_decision,
    make_outcome,
    make_push,
    make_quarantine,
    make_rename,
    plain_message,
    tool_call,
)
from tests.bundles import at, read_draft, rich_facts, rich_mirrors
from tests.fact_reader_cases import CODE_POINT_ORDER, edit_observation, pull_request
from tests.memory import MemoryFacts
from tests.memory_mirrors import MemoryMirror, MemoryMirrors

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def derive(out: Path, facts=(), mirrors=None, **options) -> Manifest:
    """Derive from memory, read the result back in full, and return its manifest."""
    derive_bundle(MemoryFacts(ORG, facts), mirrors or MemoryMirrors(), out, **options)
    with open_bundle(out) as bundle:
        return bundle.manifest


def test_the_minimal_bundle(tmp_path: Path):
    summary = derive_bundle(MemoryFacts(ORG), MemoryMirrors(), tmp_path / "b")
    data = (tmp_path / "b" / MANIFEST).read_bytes()
    assert len(data) == 1905
    assert sha256(data).hexdigest() == "3f3ce02aee98bd040366516936af9978be108bd91d4825f946afa51bde8d47d8"
    assert summary.manifest_sha256 == sha256(data).hexdigest()
    assert {(tmp_path / "b" / population.file).read_bytes() for population in Population} == {b""}
    assert {file.sha256 for file in summary.manifest.files.values()} == {EMPTY}
    assert summary.warnings == ()


def test_modes_are_private_and_nothing_else_is_left(tmp_path: Path):
    derive(tmp_path / "b", rich_facts(), rich_mirrors())
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "b").iterdir()}
    assert modes == dict.fromkeys([MANIFEST, *(population.file for population in Population)], 0o600)


def test_the_order_of_facts_does_not_matter(tmp_path: Path):
    facts = rich_facts()
    derive(tmp_path / "a", facts, rich_mirrors())
    random.Random(1).shuffle(facts)
    derive(tmp_path / "b", facts, rich_mirrors())
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_a_bundle_gives_the_rollouts_of_the_derivation(tmp_path: Path):
    derive_bundle(MemoryFacts(ORG, rich_facts()), rich_mirrors(), tmp_path / "b")
    direct = Derivation(MemoryFacts(ORG, rich_facts()), rich_mirrors())
    with open_bundle(tmp_path / "b") as bundle:
        assert repr(list(bundle.rollouts())) == repr(list(direct.rollouts()))
        for name in ("org_id", "policy", "as_of", "quarantine_revision", "mirror_revisions", "skipped", "fragmented"):
            assert getattr(bundle, name) == getattr(direct, name)
        assert bundle.bundle_digest == sha256((tmp_path / "b" / MANIFEST).read_bytes()).hexdigest()
        assert bundle.resolver.reference("acme/gadget") == direct.resolver.reference("acme/gadget")


# --- order (§6)


def test_calls_are_ordered_by_instant_then_code_point_across_sessions(tmp_path: Path):
    calls = [make_call(inference_call_id=i, session_id=f"s{n}") for n, i in enumerate(reversed(CODE_POINT_ORDER))]
    calls.append(make_call(inference_call_id="late", session_id="a", observed_at=at(5)))
    calls.append(make_call(inference_call_id="early", session_id="z", observed_at="2026-03-02T08:00:00Z"))
    derive(tmp_path / "b", calls)
    draft = read_draft(tmp_path / "b")
    for population in (Population.INFERENCE_CALLS, Population.INFERENCE_CALL_IDENTITIES):
        ids = [row["inference_call_id"] for row in draft.records[population]]
        assert ids == ["early", *CODE_POINT_ORDER, "late"]
    sessions = [row["session_id"] for row in draft.records[Population.ROLLOUTS]]
    assert sessions == sorted(sessions)


def test_evidence_and_renames_are_ordered_by_capture(tmp_path: Path):
    facts = [
        make_push(push_id="z"), make_push(push_id="a", ref="r2"), make_outcome(outcome_id="early", captured_at=at(0)),
        pull_request(fact_id="m"), make_rename(rename_id="n2", captured_at=at(9)), make_rename(rename_id="n1"),
    ]  # fmt: skip
    derive(tmp_path / "b", facts)
    draft = read_draft(tmp_path / "b")
    rows = draft.records[Population.REPOSITORY_IDENTITIES]
    assert [(row["source_table"], row["source_fact_id"], row["role"]) for row in rows] == [
        ("ci_outcomes", "early", "repo"),
        ("pull_request_merges", "m", "head_repo"),
        ("pull_request_merges", "m", "repo"),
        ("pushes", "a", "repo"),
        ("pushes", "z", "repo"),
    ]
    assert [row["rename_id"] for row in draft.records[Population.REPOSITORY_RENAMES]] == ["n1", "n2"]


# --- manifest (§3)


@pytest.mark.parametrize(
    "last",
    [
        make_call(inference_call_id="x", observed_at=at(30)),
        make_decision(session_id="unseen", captured_at=at(30)),
        make_push(push_id="x", ref="r", captured_at=at(30)),
        pull_request(fact_id="x", captured_at=datetime(2026, 3, 2, 9, 30, tzinfo=UTC)),
        pull_request(FactTable.PULL_REQUEST_REVISIONS, captured_at=datetime(2026, 3, 2, 9, 30, tzinfo=UTC)),
        edit_observation(captured_at=datetime(2026, 3, 2, 9, 30, tzinfo=UTC)),
        make_rename(captured_at=at(30)),
    ],
    ids=lambda fact: type(fact).__name__,
)
def test_as_of_is_the_latest_capture_of_any_kind(tmp_path: Path, last):
    assert derive(tmp_path / "b", [make_call(), last]).as_of == datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def test_mirror_revisions_hold_every_ref_of_every_mirror(tmp_path: Path):
    manifest = derive(tmp_path / "b", rich_facts(), rich_mirrors())
    assert manifest.mirror_revisions == {
        "acme/widget": {"refs/heads/main": SHA},
        '["acme","identified","github","github.com","42"]': {"refs/heads/main": OTHER_SHA},
    }


def test_a_mirror_that_cannot_be_listed_ends_the_run(tmp_path: Path):
    mirrors = MemoryMirrors({LegacyKey(ORG, "acme/widget"): MemoryMirror(failing=["refs"])})
    with pytest.raises(MirrorError):
        derive(tmp_path / "b", rich_facts(), mirrors)
    assert list(tmp_path.iterdir()) == []


def test_counters_are_prefixed_and_sorted(tmp_path: Path):
    facts = [
        make_call(output_messages=[]), make_call(inference_call_id="c2", observed_at=at(1)),
        make_decision(call_id=None), make_decision(decision_id="d2", call_id="unknown"),
        make_push(repo="", ref="r2", push_id="p2"),
    ]  # fmt: skip
    manifest = derive(tmp_path / "b", facts)
    assert list(manifest.skipped.items()) == [
        ("rollout.missing_decision_call_id", 1),
        ("rollout.repository_identity_absent", 1),
        ("rollout.unmatched_decision_call_id", 1),
    ]
    assert manifest.fragmented == {"prior_output_absent": 1}


def test_the_policy_keeps_its_number_spelling(tmp_path: Path):
    manifest = derive(tmp_path / "b", [make_call()], policy=DerivationPolicy(eval_fraction=0))
    assert manifest.policy.digest == "54223dcc543d2a870504734d97b956eca4edc2db84a4ef986d712f81f5553fae"
    text = (tmp_path / "b" / MANIFEST).read_text()
    assert '"eval_fraction":0}' in text
    assert json.loads(text)["policy_digest"] == manifest.policy.digest


def test_quarantine_is_in_the_revision_and_not_in_the_rows(tmp_path: Path):
    facts = MemoryFacts(ORG, rich_facts(), [make_quarantine(), make_quarantine(quarantine_id="q2", fact_id="ghost")])
    manifest = derive_bundle(facts, rich_mirrors(), tmp_path / "b").manifest
    assert manifest.quarantine_revision == 2
    draft = read_draft(tmp_path / "b")
    assert [turn["inference_call_id"] for turn in draft.rollout("s1")["segments"][0]] == ["c2"]
    assert [row["inference_call_id"] for row in draft.records[Population.INFERENCE_CALLS]] == ["c2", "c3", "c4"]
    assert draft.rollout("s1")["provenance"]["quarantine_revision"] == 2


# --- scope and window (§5, design.md §5)


def populations(out: Path) -> tuple[bytes, ...]:
    """The files that scope and window leave whole."""
    return tuple(
        (out / population.file).read_bytes()
        for population in (
            Population.INFERENCE_CALL_IDENTITIES,
            Population.REPOSITORY_IDENTITIES,
            Population.REPOSITORY_RENAMES,
        )
    )


def test_scope_keeps_whole_rollouts_and_whole_populations(tmp_path: Path):
    facts = [
        make_call(user_id="ada"), make_call(inference_call_id="c2", user_id="ada", observed_at=at(50)),
        make_call(inference_call_id="m1", session_id="mixed", user_id="ada"),
        make_call(inference_call_id="m2", session_id="mixed", user_id=None, observed_at=at(1)),
        make_call(inference_call_id="o1", session_id="other", user_id="bob"),
        make_call(inference_call_id="l1", session_id="late", user_id="ada", observed_at=at(40)),
        make_push(), make_rename(),
    ]  # fmt: skip
    derive(tmp_path / "whole", facts)
    scope = CohortScope.build(until=datetime(2026, 3, 2, 9, 30, tzinfo=UTC), users=["ada"])
    manifest = derive(tmp_path / "b", facts, scope=scope)
    draft = read_draft(tmp_path / "b")
    assert [row["session_id"] for row in draft.records[Population.ROLLOUTS]] == ["s1"]
    assert [row["inference_call_id"] for row in draft.records[Population.INFERENCE_CALLS]] == ["c1", "c2"]
    assert manifest.excluded == {"mixed_user_rollout": 1, "rollout_time_scope": 1, "rollout_user_scope": 1}
    assert manifest.scope == scope
    assert populations(tmp_path / "b") == populations(tmp_path / "whole")
    assert manifest.as_of == datetime(2026, 3, 2, 9, 50, tzinfo=UTC)


def test_the_union_of_all_windows_is_the_whole(tmp_path: Path):
    facts = rich_facts()
    facts += [make_call(inference_call_id="n1", session_id="next", observed_at="2026-03-03T00:00:00Z")]
    facts += [make_call(inference_call_id="n2", session_id="s1", observed_at="2026-03-03T01:00:00Z")]
    derive(tmp_path / "whole", facts, rich_mirrors())
    days = [datetime(2026, 3, day, tzinfo=UTC) for day in (2, 3, 4)]
    for number, (start, end) in enumerate(pairwise(days)):
        derive(tmp_path / f"{number}", facts, rich_mirrors(), window=SessionWindow(start, end))
        assert populations(tmp_path / f"{number}") == populations(tmp_path / "whole")
    for population in (Population.ROLLOUTS, Population.INFERENCE_CALLS):
        parts = [(tmp_path / part / population.file).read_bytes().splitlines() for part in ("0", "1")]
        assert all(parts)
        assert sorted(parts[0] + parts[1]) == sorted((tmp_path / "whole" / population.file).read_bytes().splitlines())


# --- what a bundle carries


def test_complete_facts_are_carried_exactly(tmp_path: Path):
    raw = {"b": 1, "a": [float("nan"), 10**30, 1e16, -0.0, True, None, "\x00\ud800é😀"], "": {}}
    call = make_call(
        raw=raw, model=None, model_provider="", input_tokens=0, observed_at="2026-03-02T10:00:00.000001+01:00",
        output_messages=[plain_message("assistant", tool_call("t1", "", {"z": 1, "a": 1.0}), finish_reason="")],
    )  # fmt: skip
    derive(tmp_path / "b", [call])
    (line,) = (tmp_path / "b" / Population.INFERENCE_CALLS.file).read_bytes().splitlines()
    text = decode(line)["record_json"]
    assert '"raw":{"":{},"a":[NaN,1000000000000000000000000000000,1e+16,-0.0,true,null,"\\u0000\\ud800\\u00e9' in text
    assert '"arguments":{"a":1.0,"z":1}' in text
    assert '"observed_at":"2026-03-02T09:00:00.000001+00:00"' in text
    assert '"model":null,"model_call_id":null,"model_provider":""' in text
    assert '"finish_reason":""' in text


@pytest.mark.parametrize("depth", [300, 1490])  # orjson writes 254 levels and reads 1024
def test_deep_captured_json_is_carried(depth: int, tmp_path: Path):
    deep: dict = {}
    for _ in range(depth):
        deep = {"d": deep}
    call = make_call(output_messages=[plain_message("assistant", tool_call("t1", arguments=deep))], raw=deep)
    derive(tmp_path / "b", [call, make_decision(raw=deep)])
    with open_bundle(tmp_path / "b") as bundle:
        (rollout,) = bundle.rollouts()
        assert repr(rollout.segments[0][0].decisions[0].raw) == repr(deep)


def test_a_rename_and_identified_facts_resolve_again(tmp_path: Path):
    facts = [make_call(), make_push(**IDENTITY), make_rename()]
    with open_bundle(derive_bundle(MemoryFacts(ORG, facts), MemoryMirrors(), tmp_path / "b").out) as bundle:
        resolved = bundle.resolver.fact(make_push(**IDENTITY))
        assert resolved.label == "acme/gadget"
