"""Runs of the Jaccard fallback over a few calls, Pushes and commits (derivation.md §9)."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from sediment_assets.derive.attribution import Attribution, attribute_by_similarity
from sediment_assets.derive.bindings import Bindings
from sediment_assets.derive.policy import DEFAULT_POLICY, DerivationPolicy
from sediment_assets.facts.instants import parse_instant
from sediment_assets.repositories.keys import CommitKey
from sediment_assets.repositories.resolver import RepositoryResolver
from tests.builders import ORG, make_call, make_push, plain_message
from tests.histories import LEGACY, added, sha
from tests.memory import MemoryFacts
from tests.memory_mirrors import MemoryCommit, MemoryMirror, MemoryMirrors

TEXT = "a b c d e f g h i j"
NOON = parse_instant("2026-03-02T12:00:00Z")
MICROSECOND = timedelta(microseconds=1)
LONG_AGO = NOON - timedelta(days=300)


def minutes(count: float) -> datetime:
    return NOON + timedelta(minutes=count)


def say(text: str, name: str = "c1", **values: Any) -> Any:
    """A call whose output is one text, at noon, in a Session named like the call."""
    defaults = {"inference_call_id": name, "session_id": f"of-{name}", "observed_at": NOON}
    return make_call(**{**defaults, "output_messages": [plain_message("assistant", text)], **values})


def push(after: str = sha(1), **values: Any) -> Any:
    """A Push of one commit at noon."""
    return make_push(**{"after_sha": after, "captured_at": NOON, **values})


def commits(*patches: str) -> list[MemoryCommit]:
    """A chain of commits ``sha(1)``, ``sha(2)``, … with these patches."""
    return [
        MemoryCommit(sha(number), (sha(number - 1),) if number > 1 else (), 100 * number, patch)
        for number, patch in enumerate(patches, 1)
    ]


def attribute(
    *facts: Any,
    history: Iterable[MemoryCommit] = (),
    noted: Iterable[tuple[str, str]] = (),
    policy: DerivationPolicy = DEFAULT_POLICY,
    mirrors: MemoryMirrors | None = None,
) -> Attribution:
    """Run the fallback; ``noted`` are (session_id, sha) bindings in the legacy repository."""
    reader = MemoryFacts(ORG, facts)
    bindings = Bindings()
    for session_id, commit_sha in noted:
        bindings.bind(session_id, CommitKey(LEGACY, commit_sha))
    resolver = RepositoryResolver.build(ORG, reader.evidence(), reader.renames())
    store = mirrors or MemoryMirrors({LEGACY: MemoryMirror(list(history))})
    return attribute_by_similarity(reader, store, resolver, bindings, policy)


def won(found: Attribution) -> dict[str, set[str]]:
    """Session to the ids of its commits."""
    return {session: {commit.commit_sha for commit in keys} for session, keys in found.commits_of_session.items()}


CHAIN = commits(*[added("a.py", TEXT)] * 5)
"""Five commits that a call saying TEXT could have written."""
