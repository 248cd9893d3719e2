"""One Session's calls as Segments of Turns (derivation.md §5)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sediment_assets.derive.fact_reader import StoredCall
from sediment_assets.derive.tally import FragmentReason
from sediment_assets.facts.json_values import encode_stored
from sediment_assets.rollouts.segments import ProjectedSession, project_session
from tests.builders import make_decision, plain_message, reasoning_part, text_part, tool_call, tool_response

Messages = list[dict[str, Any]]
START = datetime(2026, 1, 2, tzinfo=UTC)
USER = plain_message("user", "go")


def project(*calls: tuple[Messages, Messages], decisions: Any = ()) -> ProjectedSession:
    stored = [
        StoredCall(f"c{n}", "s7", None, None, START + timedelta(seconds=n), encode_stored(given), encode_stored(said))
        for n, (given, said) in enumerate(calls, 1)
    ]
    return project_session(stored, decisions)


def cuts(*calls: tuple[Messages, Messages]) -> list[FragmentReason]:
    return list(project(*calls).fragmented.elements())


def test_example_session_of_the_contract() -> None:
    answer = plain_message(
        "assistant", "ok", tool_call("t1", "Read", {"path": "a.py", "n": 2}), finish_reason="tool_calls"
    )
    echo = {**answer, "finish_reason": None}
    result = plain_message("tool", tool_response("t1", "text"))
    again = plain_message("user", "again")
    projected = project(
        ([USER], [answer]),
        ([USER, echo, result], [plain_message("assistant", "bye")]),
        ([again], []),
        ([again], [plain_message("assistant", "x")]),
        decisions=[make_decision(decision_id="d1", call_id="t1", session_id="s7")],
    )
    assert [[turn.inference_call_id for turn in segment] for segment in projected.segments] == [
        ["c1", "c2"],
        ["c3"],
        ["c4"],
    ]
    assert projected.fragmented == {"input_history_changed": 1, "prior_output_absent": 1}
    first, second = projected.segments[0]
    assert first.completion == "ok\na.py"
    assert [decision.decision_id for decision in first.decisions] == ["d1"]
    assert list(second.new_messages) == [echo, result]
    assert second.decisions == ()


@pytest.mark.parametrize(
    ("output", "reasons"),
    [
        ([], ["prior_output_absent"]),
        ([plain_message("assistant")], ["prior_output_absent"]),
        ([plain_message("assistant", "")], ["prior_output_absent"]),
        ([plain_message("assistant", reasoning_part(""))], ["prior_output_absent"]),
        ([plain_message("assistant", " ")], []),
        ([plain_message("assistant", reasoning_part("hm"))], []),
        ([plain_message("assistant", tool_call())], []),
        ([plain_message("tool", tool_response())], []),
    ],
)
def test_an_output_without_content_ends_the_segment_even_when_echoed(output: Messages, reasons: list[str]) -> None:
    assert cuts(([USER], output), ([USER, *output], [])) == reasons


SAID = plain_message("assistant", "said")


@pytest.mark.parametrize(
    ("following", "reasons"),
    [
        ([USER, SAID], []),
        ([USER, SAID, plain_message("user", "more")], []),
        ([USER], ["prior_output_not_replayed"]),
        ([USER, plain_message("assistant", "said", finish_reason="stop")], []),
        ([USER, plain_message("Assistant", "said")], ["prior_output_not_replayed"]),
        ([USER, plain_message("assistant", "sa", "id")], ["prior_output_not_replayed"]),
        ([USER, plain_message("assistant", "sa"), plain_message("assistant", "id")], ["prior_output_not_replayed"]),
        ([plain_message("user", "Go"), SAID], ["input_history_changed"]),
        ([SAID, USER], ["input_history_changed"]),
        ([], ["input_history_changed"]),
    ],
)
def test_history_must_be_replayed_message_by_message(following: Messages, reasons: list[str]) -> None:
    assert cuts(([USER], [SAID]), (following, [])) == reasons


def test_an_empty_input_is_continued_by_any_echo() -> None:
    assert cuts(([], [SAID]), ([SAID], [])) == []


def test_a_composed_and_a_decomposed_character_differ() -> None:
    assert cuts(([plain_message("user", "\u00e9")], [SAID]), ([plain_message("user", "e\u0301"), SAID], [])) == [
        "input_history_changed"
    ]


def test_a_continued_turn_keeps_the_echo_as_the_later_call_spelled_it() -> None:
    said = plain_message("assistant", tool_call("t1", "n", {"b": 1, "a": 2.0}))
    echo = plain_message("assistant", tool_call("t1", "n", {"a": 2, "b": 1.0}), finish_reason="stop")
    (segment,) = project(([USER], [said]), ([USER, echo], [])).segments
    assert repr(list(segment[1].new_messages)) == repr([echo])


def test_neighbours_are_compared_whatever_segment_the_former_is_in() -> None:
    other = plain_message("user", "other")
    projected = project(([USER], [SAID]), ([other], [SAID]), ([other, SAID], [SAID]), ([USER, SAID], [SAID]))
    assert [len(segment) for segment in projected.segments] == [1, 2, 1]
    assert projected.fragmented == {"input_history_changed": 2}


def test_history_spelled_otherwise_but_equal_in_value_continues() -> None:
    first = plain_message("user", tool_response("t", {"x": 1, "y": [1, 2.0]}))
    same = plain_message("user", tool_response("t", {"y": [1.0, 2], "x": 1}))
    assert cuts(([first], [SAID]), ([same, SAID], [])) == []


@pytest.mark.parametrize(
    ("output", "completion"),
    [
        (
            [
                plain_message(
                    "assistant",
                    "Hello",
                    reasoning_part("why"),
                    tool_call(
                        "t",
                        "n",
                        {"z": "Zed", "a": {"c": "C", "b": ["x", "", 1, True, None, {"q": "Q"}]}, "B": "upper"},
                    ),
                    "bye",
                )
            ],
            "Hello\nupper\nx\nQ\nC\nZed\nbye",
        ),
        ([plain_message("assistant", "a\n"), plain_message("assistant", "b")], "a\n\nb"),
        ([plain_message("assistant", " ", tool_call("t", "n", {"k": ""}))], " "),
        ([plain_message("tool", tool_response("t", "result"))], ""),
        ([], ""),
    ],
)
def test_completion_joins_texts_and_string_arguments(output: Messages, completion: str) -> None:
    ((turn,),) = project(([USER], output)).segments
    assert turn.completion == completion


def test_completion_survives_the_deepest_legal_arguments() -> None:
    deep: Any = "bottom"
    for _ in range(1480):
        deep = [deep]
    ((turn,),) = project(([USER], [plain_message("assistant", tool_call("t", "n", {"k": deep}))])).segments
    assert turn.completion == "bottom"


def test_tool_calls_are_the_outputs_alone_in_order() -> None:
    one, two = tool_call("t1"), tool_call("t2")
    given = [plain_message("assistant", tool_call("t0"))]
    ((turn,),) = project((given, [plain_message("assistant", one, text_part("x")), plain_message("x", two)])).segments
    assert [call["id"] for call in turn.tool_calls] == ["t1", "t2"]


ALIASED = plain_message("assistant", tool_call("t1"), tool_call("t1"), tool_response("answered"))


@pytest.mark.parametrize(
    ("call_id", "attached", "skipped"),
    [
        ("t1", ["d1"], {}),
        ("answered", [], {"unmatched_decision_call_id": 1}),
        ("given", [], {"unmatched_decision_call_id": 1}),
        ("c1", [], {"unmatched_decision_call_id": 1}),
    ],
)
def test_only_output_tool_calls_name_a_call_and_a_repeat_in_one_call_is_one(
    call_id: str, attached: list[str], skipped: dict[str, int]
) -> None:
    given = [plain_message("assistant", tool_call("given"))]
    projected = project((given, [ALIASED]), decisions=[make_decision(call_id=call_id, session_id="s7")])
    ((turn,),) = projected.segments
    assert [decision.decision_id for decision in turn.decisions] == attached
    assert projected.skipped == skipped


def test_two_calls_of_a_session_with_one_alias_are_ambiguous() -> None:
    projected = project(([], [ALIASED]), ([], [ALIASED]), decisions=[make_decision(call_id="t1", session_id="s7")])
    assert projected.skipped == {"ambiguous_decision_call_id": 1}


def test_decisions_are_the_facts_as_captured() -> None:
    decision = make_decision(session_id="s7", raw={"z": 1, "a": float("inf")}, edit_retention_score=None)
    ((turn,),) = project(([], [ALIASED]), decisions=[decision]).segments
    assert turn.decisions == (decision,)


TRICKY = {"finish_reason": None, "list": [], "text": ',"finish_reason":null}]'}


@pytest.mark.parametrize("said", [None, "stop", "", 'a "quoted" one', "ü", ',"finish_reason":null}]'])
@pytest.mark.parametrize("echoed", [None, "stop", "", 'a "quoted" one', "ü"])
@pytest.mark.parametrize("follows", [[], [plain_message("user", "next", finish_reason="x")]])
@pytest.mark.parametrize(
    "output",
    [
        [plain_message("assistant", "ok")],
        [plain_message("assistant", "ok", tool_call(arguments=TRICKY))],
        [plain_message("assistant"), plain_message("assistant", tool_response(result=[TRICKY]))],
    ],
)
def test_echoes_keep_their_own_finish_reason(said: str | None, echoed: str | None, follows: Any, output: Any) -> None:
    answer = [*output[:-1], {**output[-1], "finish_reason": said}]
    echo = [*output[:-1], {**output[-1], "finish_reason": echoed}]
    projected = project(([USER], answer), ([USER, *echo, *follows], []))
    ((_, second),) = projected.segments
    assert list(second.new_messages) == [*echo, *follows]


@pytest.mark.parametrize("changed", [plain_message("assistant", "no"), plain_message("user", "ok")])
def test_an_echo_of_other_words_or_role_is_none(changed: Any) -> None:
    assert cuts(([USER], [plain_message("assistant", "ok")]), ([USER, changed], [])) == ["prior_output_not_replayed"]
