"""The fast way of reading calls is taken when it should be, and forgets what it has no room for."""

import pytest

from sediment_assets.adapters.fact_store import import_calls
from sediment_assets.adapters.fact_store.import_calls import CallLines
from sediment_assets.adapters.fact_store.import_lines import prepare_line
from sediment_assets.adapters.fact_store.import_tails import NewMessage
from tests.builders import make_call, plain_message, tool_call
from tests.fact_files import fact_line


@pytest.fixture
def thorough(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The lines that were left to the thorough way."""
    seen: list[bytes] = []

    def note(table: str, line: bytes):
        seen.append(line)
        return prepare_line(table, line)

    monkeypatch.setattr(import_calls, "prepare_line", note)
    return seen


@pytest.fixture
def read_messages(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The messages that were read rather than remembered."""
    seen: list[object] = []
    original = import_calls.prepare_message

    def note(message: NewMessage):
        seen.append(message.value)
        return original(message)

    monkeypatch.setattr(import_calls, "prepare_message", note)
    return seen


def history(length: int) -> list[dict]:
    return [plain_message("user", f"message {n}", tool_call(f"t{n}")) for n in range(length)]


def line(length: int, session_id: str = "s1", extra: list[dict] | None = None) -> bytes:
    messages = history(length) + (extra or [])
    return fact_line(make_call(inference_call_id=f"c{length}", session_id=session_id, input_messages=messages))


def test_each_message_of_a_growing_session_is_read_once(thorough: list, read_messages: list):
    reader = CallLines()
    for length in range(6):
        assert reader.prepare(line(length)) == prepare_line("inference_calls", line(length))
    assert read_messages == history(5)
    assert thorough == []


@pytest.mark.parametrize("order", [[5, 1, 3, 0, 4, 5], [2, 5, 2, 5]])
def test_order_does_not_cost_a_second_reading(read_messages: list, order: list[int]):
    reader = CallLines()
    for length in order:
        reader.prepare(line(length))
    assert len(read_messages) == 5


@pytest.mark.parametrize(
    ("answer", "repeated", "is_read"),
    [
        ("stop", "stop", False),
        ("stop", None, False),
        (None, None, False),
        ("stop", "length", True),
        (None, "stop", True),
    ],
)
def test_an_answer_is_not_read_again_where_the_next_call_repeats_it(
    thorough: list, read_messages: list, answer: str | None, repeated: str | None, is_read: bool
):
    said = plain_message("assistant", "Done –", tool_call("t9"), finish_reason=answer)
    again = said | {"finish_reason": repeated}
    go_on = plain_message("user", "On.")
    reader = CallLines()
    reader.prepare(fact_line(make_call(input_messages=history(2), output_messages=[said])))
    for messages in ([*history(2), again, go_on], [*history(2), again]):
        following = fact_line(make_call(inference_call_id="c2", input_messages=messages))
        assert reader.prepare(following) == prepare_line("inference_calls", following)
    assert read_messages == [*history(2), *([again] if is_read else []), go_on]
    assert thorough == []


def test_a_fork_shares_the_messages_before_it(read_messages: list):
    reader = CallLines()
    reader.prepare(line(5))
    reader.prepare(line(3, extra=[plain_message("user", "another way")]))
    assert len(read_messages) == 6


def test_sessions_and_organizations_do_not_share(read_messages: list):
    reader = CallLines()
    reader.prepare(line(2))
    reader.prepare(line(2, session_id="s2"))
    reader.prepare(line(2).replace(b'"org_id":"acme"', b'"org_id":"other"'))
    assert len(read_messages) == 6


def test_a_known_credential_is_left_to_the_thorough_way(thorough: list):
    secret = line(1, extra=[plain_message("user", "hunter2", tool_call("t", "x", {"api_key": "hunter2"}))])
    prepared = CallLines().prepare(secret)
    assert thorough == [secret]
    assert "hunter2" not in prepared.row["input_messages"]


def test_the_longest_unused_session_is_forgotten_first(monkeypatch: pytest.MonkeyPatch, read_messages: list):
    probe = CallLines()
    probe.prepare(line(2, session_id="a"))
    monkeypatch.setattr(import_calls, "HISTORY_BYTES", 2 * probe._histories._size)
    reader = CallLines()
    reader.prepare(line(2, session_id="a"))
    read = []
    for session_id in ("b", "a", "c", "a", "b"):
        read_messages.clear()
        reader.prepare(line(2, session_id=session_id))
        read.append(len(read_messages))
    assert read == [2, 0, 2, 0, 2]  # b made way for c, because a was used in between
