"""Generations of one small organization in different states of its evidence, each with the bundle it rests on."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

from sediment_assets.adapters.bundle_dir import derive_bundle, open_bundle
from sediment_assets.derive.policy import DEFAULT_POLICY, DerivationPolicy
from sediment_assets.facts.model import Fact
from sediment_assets.facts.quarantine import QuarantineRecord
from sediment_assets.facts.vocabulary import FactTable, QuarantineAction
from sediment_assets.mirrors.reader import Note
from sediment_assets.publish.export import ExportSettings, export_rlvr
from sediment_assets.repositories.keys import LegacyKey
from sediment_assets.targets.verification_commands import VerificationCommands
from tests.builders import ORG, OTHER_SHA, REPO, SHA, make_call, make_outcome, plain_message, tool_call
from tests.generation_root import DAY
from tests.memory import MemoryFacts
from tests.memory_mirrors import MemoryCommit, MemoryMirror, MemoryMirrors

BASE = "c" * 40
CODE = "def added(a, b):\n    return a + b\n"
PATCH = "".join(
    ["diff --git a/x.py b/x.py\n", "--- a/x.py\n", "+++ b/x.py\n", "@@ -0,0 +1,2 @@\n"]
    + [f"+{line}\n" for line in CODE.splitlines()]
)
OUTPUT = plain_message("assistant", "ok", tool_call("t1", arguments={"text": CODE}))


def note(sha: str, *sessions: str) -> Note:
    entries = [{"tool": "claude-code", "session_id": name, "stamped_at": ""} for name in sessions]
    return Note(sha, json.dumps({"v": 1, "sessions": entries}).encode())


def at(minutes: int) -> str:
    return f"2026-03-02T09:{minutes:02}:00Z"


@dataclass(frozen=True)
class State:
    """Everything a generation is made from: ``s1`` is bound by a note and passed, ``s2`` has no commit."""

    facts: tuple[Fact, ...] = (
        make_call(output_messages=[OUTPUT], observed_at=at(0)),
        make_call(inference_call_id="c3", session_id="s2", observed_at=at(1)),
        make_outcome(captured_at=at(9)),
    )
    notes: tuple[Note, ...] = (note(SHA, "s1"),)
    quarantine: tuple[QuarantineRecord, ...] = ()
    policy: DerivationPolicy = DEFAULT_POLICY
    mirrored: bool = True
    commits: tuple[MemoryCommit, ...] = (
        MemoryCommit(BASE),
        MemoryCommit(SHA, (BASE,), 1, PATCH),
        MemoryCommit(OTHER_SHA, (SHA,), 2, PATCH),
    )
    refs: dict[str, str] = field(default_factory=lambda: {"refs/heads/main": OTHER_SHA})
    commands: VerificationCommands = field(default_factory=VerificationCommands)

    def plus(self, *facts: Fact) -> "State":
        return replace(self, facts=(*self.facts, *facts))

    def logged(self, *records: QuarantineRecord) -> "State":
        return replace(self, quarantine=(*self.quarantine, *records))

    def mirrors(self) -> MemoryMirrors:
        refs = {**self.refs, "refs/notes/sediment": f"{hash(self.notes) & (16**40 - 1):040x}"}
        mirror = MemoryMirror(self.commits, refs, self.notes)
        return MemoryMirrors({LegacyKey(ORG, REPO): mirror} if self.mirrored else {})


def hide(table: FactTable, fact_id: str, action: QuarantineAction = QuarantineAction.QUARANTINE) -> QuarantineRecord:
    return QuarantineRecord(org_id=ORG, fact_table=table, fact_id=fact_id, action=action, reason="because")


def materialize(root: Path, name: str, state: State, *, keep_bundle: bool = True, target: str = "sediment") -> Path:
    bundle = (root / "rollouts" / DAY if keep_bundle else root / "elsewhere") / name
    bundle.parent.mkdir(parents=True, exist_ok=True)
    derive_bundle(MemoryFacts(ORG, state.facts, state.quarantine), state.mirrors(), bundle, state.policy)
    out = root / target / DAY / name
    with open_bundle(bundle) as source:
        settings = ExportSettings(state.commands)
        export_rlvr(source, state.mirrors(), out, target=target, settings=settings, partition=DAY)
    return out


WAS = State()
RETRY = make_outcome(outcome_id="o2", run_attempt=2, result="failed", captured_at=at(10))
