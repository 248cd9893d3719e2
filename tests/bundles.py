"""A small bundle with one of everything, to be changed record by record and written again with honest digests."""

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.adapters.bundle_dir import derive_bundle, open_bundle
from sediment_assets.bundle.encoding import MANIFEST, Population, decode_line, encode_line, encode_manifest
from sediment_assets.bundle.errors import BundleError
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.facts.model import Fact
from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.mirrors.reader import Note
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey
from tests.builders import (
    IDENTITY,
    ORG,
    OTHER_SHA,
    REPO,
    SHA,
    make_call,
    make_decision,
    make_observation,
    make_outcome,
    make_push,
    make_rename,
    plain_message,
    tool_call,
    tool_response,
)
from tests.memory import MemoryFacts
from tests.memory_mirrors import MemoryCommit, MemoryMirror, MemoryMirrors

GADGET = "acme/gadget"
EDIT = plain_message("assistant", "I will.", tool_call("t1", arguments={"path": "a.py", "text": "x = 1\n"}))


def at(minutes: int) -> str:
    return f"2026-03-02T09:{minutes:02}:00Z"


def rich_facts() -> list[Fact]:
    """Session s1 of two calls with commits in two repositories, s2 with one of them, s3 without any."""
    started = [plain_message("user", "Go.")]
    return [
        make_call(output_messages=[EDIT], raw={"b": 1, "a": [float("nan"), 10**30]}, observed_at=at(0)),
        make_call(
            inference_call_id="c2",
            input_messages=[*started, EDIT, plain_message("tool", tool_response("t1", {"ok": True, "code": 0}))],
            observed_at=at(1),
        ),
        make_call(
            inference_call_id="c3",
            session_id="s2",
            output_messages=[plain_message("assistant", tool_call("t3"))],
            model_call_id="m3",
            observed_at=at(2),
        ),
        make_call(
            inference_call_id="c4",
            session_id="s3",
            output_messages=[plain_message("assistant", tool_call("t4"))],
            observed_at=at(3),
        ),
        make_decision(raw={"why": "é"}, occurred_at=at(1), captured_at=at(4)),
        make_decision(decision_id="d3", session_id="s2", call_id="t3", edit_retention_score=0.5, captured_at=at(4)),
        make_decision(decision_id="d4", session_id="s3", call_id="t4", captured_at=at(4)),
        make_push(captured_at=at(5)),
        make_push(push_id="p2", repo=GADGET, after_sha=OTHER_SHA, captured_at=at(5), **IDENTITY),
        make_observation(captured_at=at(6)),
        make_observation(
            observation_id="ob2", repo=GADGET, commit_sha=OTHER_SHA, source_push_id="p2", captured_at=at(6), **IDENTITY
        ),
        make_outcome(raw={"log": "\ud800"}, captured_at=at(7)),
        make_outcome(outcome_id="o2", run_id="r2", repo=GADGET, commit_sha=OTHER_SHA, captured_at=at(7), **IDENTITY),
        make_rename(old_repo=GADGET, new_repo="acme/gizmo", captured_at=at(8)),
    ]


def rich_mirrors() -> MemoryMirrors:
    """The legacy mirror with notes of s1, s2 and s3-less work, and an identified one."""
    sessions = [{"tool": "claude-code", "session_id": name, "stamped_at": ""} for name in ("s1", "s2")]
    note = Note(SHA, json.dumps({"v": 1, "sessions": sessions}).encode())
    identified = IdentifiedKey(ORG, ForgeProvider.GITHUB, "github.com", "42")
    return MemoryMirrors(
        {
            LegacyKey(ORG, REPO): MemoryMirror([MemoryCommit(SHA, time=2)], {"refs/heads/main": SHA}, [note]),
            identified: MemoryMirror([MemoryCommit(OTHER_SHA, time=1)], {"refs/heads/main": OTHER_SHA}),
        }
    )


@dataclass
class Draft:
    """A bundle as plain records and a plain manifest; ``write`` counts and hashes them."""

    manifest: JsonObject
    records: dict[Population, list[JsonObject]]

    def rollout(self, session_id: str = "s1") -> JsonObject:
        return next(r for r in self.records[Population.ROLLOUTS] if r["session_id"] == session_id)

    def turn(self, position: int = 0, session_id: str = "s1") -> JsonObject:
        turn: JsonObject = self.rollout(session_id)["segments"][0][position]
        return turn

    def row(self, population: Population, key: str, value: str) -> JsonObject:
        return next(r for r in self.records[population] if r[key] == value)

    def call(self, call_id: str = "c1") -> JsonObject:
        return self.row(Population.INFERENCE_CALLS, "inference_call_id", call_id)

    def identity(self, call_id: str = "c1") -> JsonObject:
        return self.row(Population.INFERENCE_CALL_IDENTITIES, "inference_call_id", call_id)

    def evidence(self, fact_id: str = "p1") -> JsonObject:
        return self.row(Population.REPOSITORY_IDENTITIES, "source_fact_id", fact_id)

    def completion(self, call_id: str = "c3") -> JsonObject:
        return self.row(Population.ATTRIBUTED_COMPLETIONS, "inference_call_id", call_id)

    def write(self, directory: Path, encode: Callable[[Any], bytes] = encode_line) -> Path:
        """Write the bundle; ``encode`` may spell lines in another way."""
        directory.mkdir()
        manifest = copy.deepcopy(self.manifest)
        for population, rows in self.records.items():
            data = b"".join(map(encode, rows))
            (directory / population.file).write_bytes(data)
            measured = {"rows": len(rows), "bytes": len(data), "sha256": sha256(data).hexdigest()}
            if population in manifest["files"]:
                manifest["files"][population] |= measured
            if population in manifest["counts"]:
                manifest["counts"][population] = len(rows)
        (directory / MANIFEST).write_bytes(encode_manifest(manifest))
        return directory


def read_draft(directory: Path) -> Draft:
    """Take a bundle apart."""
    return Draft(
        json.loads((directory / MANIFEST).read_bytes()),
        {
            population: [decode_line(line) for line in (directory / population.file).read_bytes().splitlines()]
            for population in Population
        },
    )


def rich_draft(directory: Path) -> Draft:
    """Derive the bundle of ``rich_facts``, without Attributed completions, and take it apart."""
    derive_bundle(MemoryFacts(ORG, rich_facts()), rich_mirrors(), directory)
    return read_draft(directory)


def add_completions(draft: Draft) -> None:
    """Add what the original program would say of s2 (attributed), s1 (attributed, identified) and s3 (abandoned)."""
    draft.records[Population.ATTRIBUTED_COMPLETIONS] = [
        _completion(draft, "s1", "c1", GADGET, OTHER_SHA, push="p2", identity=_IDENTITY),
        _completion(draft, "s2", "c3", REPO, SHA),
        _abandonment(draft),
    ]


_IDENTITY = {"provider": "github", "host": "github.com", "repository_id": "42"}


def _completion(
    draft: Draft, session_id: str, call_id: str, repo: str, sha: str, push: str | None = None, identity: Any = None
) -> JsonObject:
    rollout = draft.rollout(session_id)
    turn = next(t for segment in rollout["segments"] for t in segment if t["inference_call_id"] == call_id)
    decisions = copy.deepcopy(turn["decisions"])
    for decision in decisions:
        decision["edit_retention_score"] = 0.5  # filled in where the capture has none
    return {
        "org_id": ORG,
        "session_id": session_id,
        "inference_call_id": call_id,
        "repo": repo,
        "commit_sha": sha,
        "file_path": "src/app.py",
        "similarity_score": 0.75,
        "attribution_source": "git_notes",
        "decisions": decisions,
        "ci_outcomes": [o for o in copy.deepcopy(rollout["terminal_outcomes"]) if o["commit_sha"] == sha],
        "provenance": rollout["provenance"] | {"policy_version": "5"},
        "split": rollout["split"],
        "abandonment": None,
        "session_commit_observations": [
            o for o in copy.deepcopy(rollout["session_commit_observations"]) if o["commit_sha"] == sha
        ],
        "repository_identity": identity,
        "source_push_id": push,
    }


def _abandonment(draft: Draft) -> JsonObject:
    row = _completion(draft, "s3", "c4", REPO, SHA)
    row |= dict.fromkeys(("repo", "commit_sha", "file_path", "similarity_score", "attribution_source"))
    row["abandonment"] = {
        "org_id": ORG,
        "session_id": "s3",
        "accepted_decisions": 1,
        "explicit_accepted_decisions": 1,
        "last_decision_at": "2026-03-02T09:00:00+00:00",
        "as_of": "2026-03-02T09:08:00+00:00",
        "provenance": row["provenance"] | {"policy_version": "6"},
    }
    return row


def refusal(directory: Path) -> str:
    """What opening the bundle says, without the directory."""
    with pytest.raises(BundleError) as refused, open_bundle(directory):
        pass
    message = str(refused.value)
    assert message.startswith(f"{directory}/")
    assert "\n" not in message
    return message.removeprefix(f"{directory}/")


def accepted(directory: Path) -> list[str]:
    """The session_ids of a bundle's Rollouts, once it is opened."""
    with open_bundle(directory) as bundle:
        return [rollout.session_id for rollout in bundle.rollouts()]


Change = Callable[[Draft], object]


def put(key: str, value: object, of: Callable[[Draft], JsonObject]) -> Change:
    """The change of one value of one record."""
    return lambda draft: of(draft).__setitem__(key, value)


def again(population: Population, index: int = 0) -> Change:
    """The change of repeating one record at the end of its file."""
    return lambda draft: draft.records[population].append(copy.deepcopy(draft.records[population][index]))


def all_of(*changes: Change) -> Change:
    """Several changes in turn."""
    return lambda draft: [change(draft) for change in changes]
