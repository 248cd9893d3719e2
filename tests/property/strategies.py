"""Strategies for whole populations: messages and their spellings, conversations, repositories, Facts with mirrors.

Values come from small pools on purpose: equal tokens, shared aliases, tied instants and window ends must happen often.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from hypothesis import strategies as st

from sediment_assets.derive.policy import DerivationPolicy, MatchingPolicy
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.model import Fact
from sediment_assets.facts.quarantine import QuarantineRecord
from sediment_assets.facts.vocabulary import CIResult, ForgeProvider
from sediment_assets.mirrors.reader import Note
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey, RepositoryKey
from tests.builders import (
    IDENTITY,
    ORG,
    ZERO_SHA,
    make_call,
    make_decision,
    make_observation,
    make_outcome,
    make_push,
    make_quarantine,
    make_rename,
    plain_message,
    reasoning_part,
    tool_call,
    tool_response,
)
from tests.histories import BINARY, MALFORMED, added, note_body, sha
from tests.memory import MemoryFacts
from tests.memory_mirrors import MemoryCommit, MemoryMirror, MemoryMirrors

Plain = dict[str, Any]

# --- messages

alike = st.sampled_from(
    [
        0,
        0.0,
        -0.0,
        1,
        1.0,
        True,
        False,
        None,
        2**53,
        2.0**53,
        2**53 + 1,
        10**23,
        1e23,
        float("nan"),
        float("inf"),
        "nan",
    ]
)
"""JSON scalars of which some look equal and are not, and some are equal and look otherwise."""
captured = st.recursive(
    alike, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("bac"), inner), max_leaves=4
)
words = st.sampled_from(["a b c", "a b c d", "a b", "A b c", "d e f", "a d e f", " ", ""])
call_ids = st.sampled_from(["t1", "t2"])
texts = words.map(lambda text: {"type": "text", "content": text})
tool_calls = st.builds(
    tool_call, call_ids, st.just("Edit"), st.dictionaries(st.sampled_from("bac"), captured | words, max_size=2)
)
parts = texts | texts | tool_calls | words.map(reasoning_part) | st.builds(tool_response, call_ids, captured)
messages = st.builds(
    lambda role, some, reason: plain_message(role, *some, finish_reason=reason),
    st.sampled_from(["user", "assistant", "Assistant"]),
    st.lists(parts, min_size=1, max_size=2) | st.lists(parts, max_size=1),
    st.sampled_from([None, "stop"]),
)
message_lists = st.lists(messages, max_size=2)
outputs = st.lists(messages, min_size=1, max_size=2) | message_lists


@st.composite
def conversations(draw: st.DrawFn, max_size: int = 4) -> list[tuple[list[Plain], list[Plain]]]:
    """Calls of one Session as (input, output); most continue the one before."""
    calls: list[tuple[list[Plain], list[Plain]]] = []
    for _ in range(draw(st.integers(1, max_size))):
        given, said = calls[-1] if calls else ([], [])
        history = {
            "continued": given + said,
            "not replayed": given + said[:-1],
            "retried": given,
            "compacted": given[1:] + said,
            "another": draw(message_lists),
        }[draw(st.sampled_from(["continued"] * 4 + ["not replayed", "retried", "compacted", "another"]))]
        calls.append((history + draw(message_lists), draw(outputs)))
    return calls


def other_number(value: Any) -> Any:
    """The same number as the other type, where that is exact."""
    if type(value) is int and abs(value) <= 2**53:
        return float(value)
    return int(value) if type(value) is float and value.is_integer() else value


@st.composite
def respelled(draw: st.DrawFn, value: Any) -> Any:
    """The same history value with another key order, number types and finish reasons."""
    if isinstance(value, list):
        return [draw(respelled(item)) for item in value]
    if isinstance(value, dict):
        keys = draw(st.permutations(sorted(value)))
        if "finish_reason" in value:
            value = {**value, "finish_reason": draw(st.sampled_from([None, "stop"]))}
        return {key: draw(respelled(value[key])) for key in keys}
    return other_number(value) if draw(st.booleans()) else value


def stored_texts(value: Any) -> st.SearchStrategy[str]:
    """Stored JSON texts of a value: compact as our store writes it, or by another writer."""
    compact = st.just(json.dumps(value, separators=(",", ":")))
    spaced = st.just(json.dumps(value, separators=(" , ", ":"), ensure_ascii=False))
    return compact | spaced | respelled(value).map(json.dumps)


# --- populations

BASE = parse_instant("2026-03-01T22:00:00Z")
"""Populations span two hours around one midnight."""
instants = st.builds(
    lambda tens, jitter: BASE + timedelta(minutes=10 * tens, microseconds=jitter),
    st.integers(9, 15) | st.integers(6, 18), st.sampled_from([0, 0, 0, 1, -1]),
)  # fmt: skip
sessions = st.sampled_from(["s1", "s2", "s3"])
shas = st.integers(1, 5).map(sha)
"""Commit ids; of the last ones there may be no commit."""

SEVEN = {**IDENTITY, "repository_id": "7"}
places = st.sampled_from(
    [{"repo": "acme/a"}] * 8 + [{"repo": "acme/c", **SEVEN}] * 4 + [{"repo": "acme/b"}, {"repo": "acme/b", **SEVEN}]
)
"""A repository as Facts name it; ``acme/b`` may be claimed by repository 7 and then resolves no more."""
KEYS: list[RepositoryKey] = [
    LegacyKey(ORG, "acme/a"), LegacyKey(ORG, "acme/b"), IdentifiedKey(ORG, ForgeProvider.GITHUB, "github.com", "7"),
]  # fmt: skip

File = tuple[str, str]
"""A new file of a commit: path and text; or a section without a file, by its text."""
code = st.tuples(st.sampled_from(["a.py", "b.ts"]), words)
files = code | code | code | st.sampled_from([("c.md", "a b c"), BINARY, MALFORMED])


@dataclass(frozen=True)
class Population:
    """One organization: its Facts, its mirrors' history (shared by all of them), notes and policy."""

    facts: Sequence[Fact]
    quarantine: Sequence[QuarantineRecord]
    contents: Sequence[Sequence[File | str]]
    """Files of commit ``sha(1)``, ``sha(2)``, …; each commit's parent is the one before, the last merges two."""
    notes: Sequence[Note]
    mirrored: Sequence[RepositoryKey]
    policy: DerivationPolicy

    def reader(self, facts: Sequence[Fact] | None = None) -> MemoryFacts:
        return MemoryFacts(ORG, self.facts if facts is None else facts, self.quarantine)

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        count = len(self.contents)
        found = {sha(number): (sha(number - 1),) if number > 1 else () for number in range(1, count + 1)}
        if count > 3:
            found[sha(count)] = (sha(count - 2), sha(count - 1))
            found[sha(count - 1)] = (sha(count - 3),)
        return found

    @property
    def mirrors(self) -> MemoryMirrors:
        commits = [
            MemoryCommit(sha(number), self.parents[sha(number)], 100 * number, "".join(map(section, content)))
            for number, content in enumerate(self.contents, 1)
        ]
        return MemoryMirrors({key: MemoryMirror(commits, listed_notes=self.notes) for key in self.mirrored})


def section(file: File | str) -> str:
    return file if isinstance(file, str) else added(*file)


@st.composite
def calls_of_session(draw: st.DrawFn, session_id: str) -> list[Fact]:
    said = draw(conversations())
    times: list[datetime] = sorted(draw(st.lists(instants, min_size=len(said), max_size=len(said))))
    return [
        make_call(
            inference_call_id=f"{session_id}-{number}",
            session_id=session_id,
            user_id=draw(st.sampled_from([None, "u1", "u2"])),
            model_call_id=draw(st.sampled_from([None, None, "t1"])),
            input_messages=given,
            output_messages=output,
            observed_at=time,
        )
        for number, ((given, output), time) in enumerate(zip(said, times, strict=True))
    ]


def numbered(
    one: st.SearchStrategy[Plain], make: Any, key: str, sizes: tuple[int, int]
) -> st.SearchStrategy[list[Fact]]:
    """Lists of Facts with ids ``0``, ``1``, …"""
    return st.lists(one, min_size=sizes[0], max_size=sizes[1]).map(
        lambda found: [make(**{key: str(number), **values}) for number, values in enumerate(found)]
    )


def placed(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[Plain]:
    """Fields of a Fact that names a repository."""
    return st.builds(lambda place, fields: {**place, **fields}, places, st.fixed_dictionaries(values))


decisions = numbered(
    st.fixed_dictionaries(
        {
            "session_id": st.sampled_from(["s1", "s1", "s2", "s9"]),
            "agent_harness": st.sampled_from(["codex", "codex", "claude-code"]),
            "file_path": st.sampled_from(["", "", "a.py"]),
            "call_id": st.sampled_from(["t1", "t2", "t2", "nobody", None]),
            "accepted": st.booleans(),
            "occurred_at": st.sampled_from([BASE, BASE + timedelta(minutes=10)]),
        }
    ),
    make_decision, "decision_id", (0, 6),
)  # fmt: skip
pushes = numbered(
    placed(
        before_sha=st.sampled_from([ZERO_SHA, sha(1), sha(2), sha(3)]),
        after_sha=st.sampled_from([*map(sha, (3, 2, 1, 3, 4, 4, 5)), ZERO_SHA]),
        forced=st.sampled_from([False, False, True]),
        captured_at=instants,
    ),
    make_push, "push_id", (1, 4),
)  # fmt: skip
observations = numbered(
    placed(commit_sha=shas, session_id=sessions, source_push_id=st.sampled_from("0129"), captured_at=instants),
    make_observation, "observation_id", (0, 3),
)  # fmt: skip
outcomes = numbered(
    placed(
        commit_sha=shas, run_id=st.sampled_from(["r1", "r2", "r3"]), run_attempt=st.sampled_from([None, 1, 2]),
        result=st.sampled_from(CIResult), captured_at=instants,
    ),
    make_outcome, "outcome_id", (1, 4),
)  # fmt: skip
policies = st.builds(
    lambda grace, most, noted, plain: DerivationPolicy(
        post_push_grace_period_minutes=grace, max_commits_per_push=most, git_notes=noted, jaccard=plain
    ),
    st.sampled_from([0, 10]), st.sampled_from([20, 2, 1]),
    st.builds(MatchingPolicy, st.sampled_from([0, 0.3, 0.5]), st.sampled_from([10080, 30])),
    st.builds(MatchingPolicy, st.sampled_from([0, 0.5, 0.7]), st.sampled_from([60, 30])),
)  # fmt: skip


@st.composite
def conversing_sessions(draw: st.DrawFn) -> list[Fact]:
    """Calls of up to three Sessions, in any order of Sessions."""
    names = draw(st.sampled_from([[], ["s1"], ["s1", "s2"], ["s2", "s1"], ["s1", "s2", "s3"], ["s3", "s1", "s2"]]))
    return [call for name in names for call in draw(calls_of_session(name))]


@st.composite
def populations(draw: st.DrawFn) -> Population:
    """Whole organizations of up to three Sessions with calls."""
    renames = [make_rename(**SEVEN, old_repo="acme/c", new_repo="acme/d")] if draw(st.booleans()) else []
    kinds = (conversing_sessions(), pushes, observations, decisions, outcomes)
    facts = [*(fact for kind in kinds for fact in draw(kind)), *renames]
    hidden = draw(st.lists(st.sampled_from(facts), max_size=1)) if facts else []
    noted = draw(st.lists(st.tuples(shas, st.none() | st.lists(sessions, min_size=1, max_size=2)), max_size=3))
    return Population(
        facts=facts,
        quarantine=[make_quarantine(fact_table=fact.TABLE, fact_id=fact.fact_id) for fact in hidden],
        contents=draw(st.lists(st.lists(files, max_size=3), min_size=3, max_size=5)),
        notes=[Note(at, None if named is None else note_body(*named)) for at, named in noted],
        mirrored=draw(st.sampled_from([KEYS, KEYS, KEYS[:2], KEYS[:1], KEYS[1:], []])),
        policy=draw(policies),
    )


def written_population(random: Random) -> Population:
    """An organization whose calls write what its Pushes bring; drawn evenly, so that most files have rivals."""

    def at() -> datetime:
        return BASE + timedelta(minutes=10 * random.randint(0, 12), microseconds=random.choice([0, 0, 0, 1, -1]))

    def place() -> Plain:
        return random.choice([{"repo": "acme/a"}] * 8 + [{"repo": "acme/c", **SEVEN}] * 4 + [{"repo": ""}])

    def text() -> str:
        return " ".join(random.sample("abcde", random.randint(1, 5)))

    def session() -> str:
        return random.choice(["s1", "s2", "s3"])

    calls = [
        make_call(
            inference_call_id=str(number),
            session_id=session(),
            output_messages=[plain_message("assistant", text())],
            observed_at=at(),
        )
        for number in range(random.randint(1, 12))
    ]
    pushed = [
        make_push(
            push_id=str(number),
            before_sha=random.choice([ZERO_SHA, *map(sha, range(1, 6))]),
            after_sha=random.choice([ZERO_SHA, *map(sha, (1, 2, 3, 4, 4, 5, 5, 6))]),
            forced=random.random() < 0.1,
            captured_at=at(),
            **place(),
        )
        for number in range(random.randint(1, 5))
    ]
    files = [(path, "{}") for path in ("a.py", "b.ts", "c.go", "d.py", "e.py", "f.md")] + [
        ("g.py", " "),
        BINARY,
        MALFORMED,
    ]
    return Population(
        facts=[*calls, *pushed],
        quarantine=[],
        contents=[
            [
                file if isinstance(file, str) else (file[0], file[1].format(text()))
                for file in random.sample(files, random.randint(0, 4))
            ]
            for _ in range(5)
        ],
        notes=[Note(sha(random.randint(1, 5)), note_body(session())) for _ in range(random.randint(0, 4))],
        mirrored=random.choice([KEYS, KEYS, KEYS, KEYS[:2]]),
        policy=DerivationPolicy(
            post_push_grace_period_minutes=random.choice([0, 10]),
            max_commits_per_push=random.choice([1, 2, 20]),
            git_notes=MatchingPolicy(random.choice([0, 0.3, 0.5]), random.choice([30, 60, 120])),
            jaccard=MatchingPolicy(random.choice([0, 0.5, 0.6]), random.choice([30, 60])),
        ),
    )


written_populations = st.randoms(use_true_random=True).map(written_population)
