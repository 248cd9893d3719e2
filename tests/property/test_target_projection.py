"""Properties of the project step: nothing is lost, nothing unspellable is written (targets.md §5, §8)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sediment_assets.derive.split import Split
from sediment_assets.facts.json_values import JsonError, encode_row
from sediment_assets.facts.vocabulary import CIResult
from sediment_assets.targets.projection import Projector
from sediment_assets.targets.registry import TARGETS, Population, Target
from sediment_assets.targets.representation import find_offence
from sediment_assets.targets.rollout_evidence import resolve_rollout
from sediment_assets.targets.row_check import validate_line
from sediment_assets.targets.skips import RolloutSkip, RowSkip, TaskSkip, vocabulary
from sediment_assets.targets.verification_commands import VerificationCommands
from tests.builders import IDENTITY, make_observation, make_outcome, make_push, plain_message, tool_call, tool_response
from tests.profiles import examples
from tests.rollout_builders import make_commit, make_resolver, make_rollout, make_turn
from tests.unit.targets.worked_tally import C1, C2, IDENTITY_42, UNKNOWN, R, S, mirrors

CHECKED = settings(max_examples=examples(60))
TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXT, JSON, max_size=3)
PARTS = st.one_of(
    TEXT,
    st.builds(lambda arguments: tool_call(arguments=arguments), OBJECTS),
    st.builds(lambda result: tool_response(result=result), JSON),
)
MESSAGES = st.builds(
    lambda role, parts, finish: plain_message(role, *parts, finish_reason=finish),
    st.sampled_from(["user", "assistant", "tool"]),
    st.lists(PARTS, max_size=2),
    st.none() | TEXT,
)
TURNS = st.builds(
    lambda messages, text: make_turn(new_messages=tuple(messages), completion=text),
    st.lists(MESSAGES, max_size=2),
    TEXT,
)
SHAS = st.sampled_from([R, C1, C2, S, UNKNOWN])
PLACES = st.sampled_from([("acme/widget", None), ("acme/other", None), ("acme/alpha", IDENTITY_42)])


@st.composite
def rollouts(draw):
    commits = draw(st.lists(st.tuples(PLACES, SHAS), max_size=3))
    outcomes = []
    for index, result in enumerate(draw(st.lists(st.sampled_from(CIResult), max_size=4)) if commits else []):
        (repo, identity), sha = draw(st.sampled_from(commits))
        outcomes.append(
            make_outcome(
                outcome_id=f"o{index}",
                run_id=draw(st.sampled_from(["r1", "r2", f"own-{index}"])),
                run_attempt=index + 1,
                repo=repo,
                commit_sha=sha,
                result=result,
                raw=draw(OBJECTS),
                **({} if identity is None else IDENTITY),
            )
        )
    return make_rollout(
        segments=tuple(map(tuple, draw(st.lists(st.lists(TURNS, min_size=1, max_size=2), max_size=3)))),
        commits=tuple(make_commit(sha, repo, identity) for (repo, identity), sha in commits),
        terminal_outcomes=tuple(outcomes),
        split=draw(st.sampled_from(Split)),
        session_commit_observations=(make_observation(commit_sha=C1),),
    )


def project(target, rollout):
    known = make_resolver([make_push(push_id="p42", repo="acme/alpha", **IDENTITY)], [rollout])
    commands = VerificationCommands({"acme/widget": "make"})
    projector = Projector(target, known, commands, None if target is Target.NEMO_GYM else mirrors())
    return projector, list(projector.project(rollout, resolve_rollout(rollout, known)))


def own_skips(tally, *vocabularies):
    own = {reason.value for reasons in vocabularies for reason in reasons}
    return sum(count for reason, count in tally.as_dict().items() if reason in own)


@pytest.mark.parametrize("target", [Target.SEDIMENT, Target.SWE_BENCH])
@CHECKED
@given(rollout=rollouts())
def test_every_rollout_gives_one_task_row_or_exactly_one_task_skip(target, rollout):
    projector, rows = project(target, rollout)
    assert projector.task_rows + own_skips(projector.task_skips, TaskSkip, RowSkip) == 1
    assert sum(row.population is Population.TASKS for row in rows) == projector.task_rows


@pytest.mark.parametrize("target", [Target.SEDIMENT, Target.NEMO_GYM])
@CHECKED
@given(rollout=rollouts())
def test_every_segment_gives_one_rollout_row_or_one_skip(target, rollout):
    projector, rows = project(target, rollout)
    assert projector.rollout_rows + own_skips(projector.rollout_skips, RowSkip) == len(rollout.segments)
    assert own_skips(projector.rollout_skips, RolloutSkip) == (not rollout.segments)
    assert sum(row.population is Population.ROLLOUTS for row in rows) == projector.rollout_rows


@pytest.mark.parametrize("target", Target)
@CHECKED
@given(rollout=rollouts())
def test_every_row_is_published_as_a_line_that_reads_back(target, rollout):
    projector, rows = project(target, rollout)
    for projected in rows:
        line = projected.line
        assert line == encode_row(projected.row.model_dump())
        assert len(line.decode().splitlines()) == 1
        spec = TARGETS[target].population(projected.population)
        assert encode_row(validate_line(spec.row_model, line).model_dump()) == line
        assert projected.split is rollout.split
    for population, tally in ((Population.TASKS, projector.task_skips), (Population.ROLLOUTS, projector.rollout_skips)):
        assert set(tally.as_dict()) <= {reason.value for reason in vocabulary(target, population)}


@given(plain=JSON)
def test_the_representation_check_withholds_exactly_what_cannot_be_encoded(plain):
    try:
        encode_row(plain)
    except JsonError:
        assert find_offence(plain) is not None
    else:
        assert find_offence(plain) is None
