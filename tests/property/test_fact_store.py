"""Properties of the Fact store: it loses nothing, order never matters, and it reads as the in-memory reader does."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sediment_assets.adapters.fact_store.engine import reading_engine, writing_engine
from sediment_assets.adapters.fact_store.importer import import_paths
from sediment_assets.adapters.fact_store.snapshot import open_facts
from sediment_assets.derive.fact_reader import FactReader, SessionWindow
from sediment_assets.facts.instants import parse_instant
from tests.builders import (
    IDENTITY,
    make_call,
    make_decision,
    make_observation,
    make_outcome,
    make_push,
    make_quarantine,
    make_rename,
    plain_message,
    tool_call,
    tool_response,
)
from tests.fact_files import store_content, write_facts
from tests.memory import MemoryFacts
from tests.profiles import examples
from tests.stores import fill_store

# A store per example is slow, so few examples, always the same ones.
few_examples = settings(max_examples=examples(15))

START = parse_instant("2026-03-02T00:00:00Z")
# Few values, so that ties, shared Sessions and hidden Facts are common.
minutes = st.integers(0, 5)
names = st.sampled_from(["a", "B", "é", "\uffff", "😀"])
orgs = st.sampled_from(["acme", "acme", "acme", "other"])
hard_text = st.text(st.one_of(st.sampled_from('\0\t\r\n"\\/\x7f\x85\u2028\ud800😀é'), st.characters()), max_size=6).map(
    lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
)
hard_json = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.just(10**40), st.floats(), hard_text),
    lambda inside: st.one_of(st.lists(inside, max_size=3), st.dictionaries(hard_text, inside, max_size=3)),
    max_leaves=6,
)
hard_objects = st.dictionaries(hard_text, hard_json, max_size=3)
identities = st.sampled_from([{}, IDENTITY])


def at(minute: int):
    return START + timedelta(minutes=minute)


@st.composite
def messages(draw):
    call_id = draw(names)
    return plain_message(
        draw(hard_text),
        draw(hard_text),
        tool_call(call_id, draw(hard_text), draw(hard_objects)),
        tool_response(call_id, draw(hard_json)),
        finish_reason=draw(st.none() | hard_text),
    )


@st.composite
def distinct_facts(draw):
    """Facts of every kind, no two of which are one by primary or natural key."""
    facts = []
    for n in range(draw(st.integers(0, 5))):
        org, session, when = draw(orgs), draw(names), at(draw(minutes))
        key = f"{draw(names)}{n}"
        facts += [
            make_call(
                inference_call_id=key, org_id=org, session_id=session, observed_at=when, raw=draw(hard_objects),
                input_messages=draw(st.lists(messages(), max_size=2)), output_messages=[draw(messages())],
                model_call_id=draw(st.none() | st.just(key)), user_id=draw(st.none() | names),
            ),
            make_decision(
                decision_id=key, org_id=org, session_id=draw(names), occurred_at=at(draw(minutes)), call_id=key,
                captured_at=when, raw=draw(hard_objects), agent_harness=draw(st.sampled_from(["codex", "claude-code"])),
            ),
            make_outcome(
                outcome_id=key, org_id=org, run_id=key, captured_at=when, raw=draw(hard_objects),
                reason=draw(st.none() | hard_text), workflow_name=draw(hard_text), **draw(identities),
            ),
            make_push(
                push_id=key, org_id=org, ref=key, captured_at=when, clone_url=draw(hard_text), **draw(identities)
            ),
            make_observation(observation_id=key, org_id=org, session_id=key, captured_at=at(draw(minutes))),
            make_rename(rename_id=key, org_id=org, captured_at=when, source_event_id=draw(st.none() | st.just(key))),
        ]  # fmt: skip
    return facts


@st.composite
def quarantine_logs(draw, facts):
    if not facts:
        return []
    chosen = draw(st.lists(st.sampled_from(facts), max_size=8))
    actions = st.sampled_from(["quarantine", "quarantine", "release"])
    return [
        make_quarantine(
            quarantine_id=f"q{n}", org_id=fact.org_id, fact_table=fact.TABLE, fact_id=fact.fact_id, action=draw(actions)
        )
        for n, fact in enumerate(chosen)
    ]


@st.composite
def facts_and_logs(draw):
    facts = draw(distinct_facts())
    return facts, draw(quarantine_logs(facts))


@contextmanager
def sqlite_reader(facts, log) -> Iterator[FactReader]:
    with tempfile.TemporaryDirectory() as directory:
        url = f"sqlite:///{directory}/facts.db"
        fill_store(writing_engine(url), facts, log)
        with open_facts(reading_engine(url), "acme") as reader:
            yield reader


def everything(reader: FactReader) -> dict[str, object]:
    """What a reader gives, spelled so that NaN equals itself and key order counts."""
    session_ids = list(reader.session_ids_with_calls())
    outcomes = reader.full_ci_outcomes([outcome.outcome_id for outcome in reader.ci_outcomes()])
    return {
        "as_of": reader.as_of(),
        "revision": reader.quarantine_revision(),
        "evidence": list(reader.evidence()),
        "facts": [list(reader.renames()), list(reader.pushes()), list(reader.observations())],
        "session_ids": session_ids,
        "sessions": repr(list(reader.sessions())),
        "outcomes": repr(list(reader.ci_outcomes())),
        "full_outcomes": repr(sorted(outcomes.items())),
        "identities": list(reader.call_identities()),
        "candidates": list(reader.candidate_calls(at(1), at(4))),
        "calls": repr(
            [full.fact() for full in reader.full_calls(call.inference_call_id for call in reader.call_identities())]
        ),
    }


@few_examples
@given(facts_and_logs())
def test_sqlite_reads_as_memory_does(case):
    facts, log = case
    with sqlite_reader(facts, log) as reader:
        assert everything(reader) == everything(MemoryFacts("acme", facts, log))


@few_examples
@given(facts_and_logs(), st.lists(minutes, max_size=4))
def test_windows_that_meet_part_the_sessions(case, cuts):
    facts, log = case
    bounds = [at(minute) for minute in sorted({-1, *cuts, 99})]
    with sqlite_reader(facts, log) as reader:
        windows = [SessionWindow(*pair) for pair in pairwise(bounds)]
        parts = [session for window in windows for session in reader.sessions(window)]
        assert sorted(map(repr, parts)) == sorted(map(repr, reader.sessions()))
        assert sorted(session.session_id for session in parts) == list(reader.session_ids_with_calls())


@few_examples
@given(facts_and_logs(), st.data())
def test_an_import_is_the_same_in_any_order_and_any_number_of_pieces(case, data):
    facts, log = case
    shuffled = data.draw(st.permutations(facts))
    cut = data.draw(st.integers(0, len(facts)))
    with tempfile.TemporaryDirectory() as directory:
        whole, pieces = f"sqlite:///{directory}/whole.db", f"sqlite:///{directory}/pieces.db"
        import_all(whole, Path(directory) / "whole", facts, log)
        import_all(pieces, Path(directory) / "first", shuffled[:cut], log[:1])
        import_all(pieces, Path(directory) / "second", shuffled[cut:], log)
        expected = repr(store_content(whole))
        assert repr(store_content(pieces)) == expected
        import_all(pieces, Path(directory) / "again", facts, log)
        assert repr(store_content(pieces)) == expected


def import_all(url: str, directory: Path, facts, log) -> None:
    write_facts(directory, [*facts, *log])
    (directory / "pushes.jsonl").touch()
    import_paths(writing_engine(url), [directory])


@few_examples
@given(distinct_facts())
def test_a_file_and_a_row_carry_the_same_values(facts):
    # The importer and the row-wise filling of tests agree: nothing is lost between JSONL and tables.
    with tempfile.TemporaryDirectory() as directory:
        imported, filled = f"sqlite:///{directory}/imported.db", f"sqlite:///{directory}/filled.db"
        import_all(imported, Path(directory) / "facts", facts, [])
        fill_store(writing_engine(filled), facts)
        here, there = store_content(imported), store_content(filled)
        # Only an import sums Sessions up.
        del here["sessions"], there["sessions"]
        assert repr(here) == repr(there)
