"""Published lines are exactly rows of their model (targets.md §6, design: row encoding)."""

import pytest

from sediment_assets.targets import nemo_gym, sediment, swe_bench
from sediment_assets.targets.row_check import RowError, validate_line
from sediment_assets.targets.rows.nemo_gym import NemoGymRolloutRow
from sediment_assets.targets.rows.sediment import SedimentRolloutRow, SedimentTaskRow
from sediment_assets.targets.rows.swe_bench import SWEBenchTaskRow
from sediment_assets.targets.verification_commands import VerificationCommands
from tests.builders import make_decision, plain_message, reasoning_part, tool_call, tool_response
from tests.rollout_builders import make_evidence, make_rollout, make_turn
from tests.unit.targets.worked_tally import C1, mirrors, on, outcome

COMMANDS = VerificationCommands({"acme/widget": "make test"})
PARTS = ("é \u2028", reasoning_part("why"), tool_call(arguments={"b": 10**30, "a": [1.0, -0.0]}), tool_response("t1"))
TURN = make_turn(
    new_messages=(plain_message("user", "Fix it"), plain_message("assistant", *PARTS, finish_reason="stop")),
    tool_calls=(tool_call(),),
    decisions=(make_decision(),),
)
EVIDENCE = make_evidence(
    make_rollout(
        segments=((TURN,),),
        commits=tuple(on(C1)),
        terminal_outcomes=(outcome("s", C1, captured_at="2026-01-02T03:04:05.123Z", raw={"k": [{}]}),),
    )
)
PROJECTED = [
    sediment.project_task(EVIDENCE, mirrors(), COMMANDS),
    next(sediment.project_rollout(EVIDENCE)),
    swe_bench.project_task(EVIDENCE, mirrors(), COMMANDS),
    next(nemo_gym.project_rollout(EVIDENCE, COMMANDS)),
    next(sediment.project_rollout(make_evidence(make_rollout()))),
    next(nemo_gym.project_rollout(make_evidence(make_rollout()), COMMANDS)),
]
TASK_LINE, GYM_LINE = PROJECTED[0].line, PROJECTED[3].line


def test_the_examples_are_rows_of_every_model():
    assert {type(projected.row) for projected in PROJECTED} == {
        SedimentTaskRow,
        SedimentRolloutRow,
        SWEBenchTaskRow,
        NemoGymRolloutRow,
    }


@pytest.mark.parametrize("projected", PROJECTED)
def test_a_published_line_reads_back_as_the_same_row(projected):
    assert validate_line(type(projected.row), projected.line) == projected.row


def changed(line, old, new):
    assert line.count(old) >= 1
    return line.replace(old, new, 1)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"", "a blank line"),
        (b" \n", "a blank line"),
        (b"[]", "expected an object, got"),
        (b"{", "expected JSON"),
        (b"\xff", "UTF-8"),
        (b"\xef\xbb\xbf" + TASK_LINE, "expected JSON"),
        (TASK_LINE + b"\n", "expected the end of the line, got"),
        (TASK_LINE.replace(b',"', b', "'), "byte"),
        (changed(TASK_LINE, b'"split":"train"', b'"split":"train","split":"train"'), "split"),
        (changed(TASK_LINE, b'"schema_version":3', b'"schema_version":4'), "schema_version: expected 3"),
        (changed(TASK_LINE, b',"schema_version":3}', b"}"), "expected ',\"schema_version\":3}', got '}'"),
        (changed(TASK_LINE, b'"schema_version":3}', b'"schema_version":3,"x":1}'), "x: "),
        # What the model would repair or drop is not what was written.
        (changed(TASK_LINE, b'"run_attempt":1', b'"run_attempt":1,"more":1'), "byte"),
        (changed(TASK_LINE, b'"run_id":"', b'"run_id":" '), "byte"),
        (changed(TASK_LINE, b'"recipe_version":1', b'"recipe_version":true'), "byte"),
        (changed(TASK_LINE, b"05.123000Z", b"05.123Z"), "byte"),
        (changed(TASK_LINE, b"05.123000Z", b"05.123000+00:00"), "byte"),
        (changed(TASK_LINE, b'"reliability":1.0', b'"reliability":1'), "byte"),
        (changed(TASK_LINE, b'"reliability":1.0', b'"reliability":NaN'), "expected"),
        (
            changed(TASK_LINE, b'"problem_statement":"Fix it"', b'"problem_statement":null'),
            "problem_statement: expected",
        ),
        (changed(TASK_LINE, b'"problem_statement":"Fix it"', b'"problem_statement":"Fix \\u0069t"'), "byte"),
        (
            changed(TASK_LINE, b'"repository_identity":null,"schema', b'"schema'),
            "repository_identity: expected a value",
        ),
        (changed(GYM_LINE, b'"reward":1.0', b'"reward":true'), "byte"),
        (changed(GYM_LINE, b'"reward":1.0', b'"reward":"1.0"'), "byte"),
        (changed(GYM_LINE, b'"reward":1.0', b'"reward":null'), "reward: expected"),
        (changed(GYM_LINE, b'"finish_reason":"stop"', b'"finish_reason":null'), "finish_reason: expected"),
        (changed(GYM_LINE, b"\\u2028", "\u2028".encode()), "byte"),
    ],
)
def test_any_other_line_is_refused(line, problem):
    row_model = NemoGymRolloutRow if b"responses_create_params" in line else SedimentTaskRow
    with pytest.raises(RowError) as refused:
        validate_line(row_model, line)
    assert problem in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_row_of_another_target_is_refused():
    with pytest.raises(RowError):
        validate_line(SedimentTaskRow, GYM_LINE)
