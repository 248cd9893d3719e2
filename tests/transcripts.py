"""Transcripts for tests, line by line, and what a translation says as histories and Segments."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from sediment_assets.capture.contract import CaptureOptions, Document, Record, Translated, Untranslated
from sediment_assets.capture.sources.transcripts import SOURCE
from sediment_assets.derive.fact_reader import StoredCall
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.json_values import encode_stored
from sediment_assets.facts.messages import Message
from sediment_assets.rollouts.segments import project_session
from tests.builders import ORG

Told = list[Translated | Untranslated]
INSTANT = parse_instant("2026-01-01T00:00:00Z")
SESSION = "5f0c2d1e-0000-4000-8000-000000000001"


def translate_files(*files: Sequence[Any], **options: Any) -> Told:
    """Translate files, each a list of records, in one run."""
    documents = [
        Document(f"f{number}", [Record(f"f{number}:{line}", value) for line, value in enumerate(file, 1)])
        for number, file in enumerate(files, 1)
    ]
    return list(SOURCE.translate(documents, CaptureOptions(ORG, **options)))


def calls(told: Iterable[Translated | Untranslated]) -> dict[str, list[InferenceCall]]:
    """The calls of each Session, in the order a derivation reads them."""
    sessions: dict[str, list[InferenceCall]] = defaultdict(list)
    for one in told:
        if isinstance(one, Translated):
            assert isinstance(one.fact, InferenceCall)
            sessions[one.fact.session_id].append(one.fact)
    for found in sessions.values():
        found.sort(key=lambda call: (call.observed_at, call.inference_call_id))
    return dict(sessions)


def only_session(told: Told) -> list[InferenceCall]:
    """The calls of the only Session."""
    (found,) = calls(told).values()
    return found


def segments(found: Sequence[InferenceCall]) -> list[int]:
    """How many Turns each Segment of a Session has, as a derivation cuts them."""
    stored = [
        StoredCall(
            inference_call_id=call.inference_call_id,
            session_id=call.session_id,
            user_id=None,
            model_call_id=call.model_call_id,
            observed_at=call.observed_at,
            input_text=_stored(call.input_messages),
            output_text=_stored(call.output_messages),
        )
        for call in found
    ]
    return [len(segment) for segment in project_session(stored, []).segments]


def _stored(messages: Sequence[Message]) -> str:
    return encode_stored([message.model_dump() for message in messages])


def remainders(told: Told) -> list[tuple[str, str, str]]:
    """Place, reason and detail of what gave no Fact."""
    return [(one.place, one.reason.value, one.detail) for one in told if isinstance(one, Untranslated)]


def spoken(messages: Sequence[Message]) -> list[str]:
    """Each message in one short word: its role, and what its parts say."""
    return [f"{message.role}: {' + '.join(map(_part, message.parts))}" for message in messages]


def _part(part: Any) -> str:
    match part.type:
        case "tool_call":
            return f"{part.name}({part.id})"
        case "tool_call_response":
            return f"{part.id}={part.result}"
        case "reasoning":
            return f"<{part.content}>"
        case _:
            return str(part.content)


class ClaudeFile(list[dict[str, Any]]):
    """A Claude Code transcript: every line's parent is the line before, unless it is named."""

    def __init__(self, session: str = SESSION, name: str = "u", **every: Any) -> None:
        super().__init__()
        self._name = name
        self._every = {"sessionId": session, "isSidechain": False, **every}

    def line(self, kind: str, **values: Any) -> str:
        """Add a line and return its uuid."""
        number = len(self) + 1
        uuid = f"{self._name}{number}"
        parent = next((line["uuid"] for line in reversed(self) if "uuid" in line), None)
        stamp = f"2026-01-02T03:{number // 60:02}:{number % 60:02}.000Z"
        line = {"type": kind, "uuid": uuid, "parentUuid": parent, "timestamp": stamp, **self._every, **values}
        self.append(line)
        return uuid

    def user(self, content: Any, **values: Any) -> str:
        """The user says something, or tools answer."""
        return self.line("user", message={"role": "user", "content": content}, **values)

    def assistant(self, message_id: str | None, *blocks: Any, **values: Any) -> str:
        """A line of the response with this message id."""
        message = {"id": message_id, "role": "assistant", "model": "claude-x", "content": list(blocks)}
        message |= {key: values.pop(key) for key in ("usage", "stop_reason", "model") if key in values}
        return self.line("assistant", message=message, **values)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def tool_use(call_id: str, name: str = "Bash", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def tool_result(call_id: str, content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def two_turns(**every: Any) -> ClaudeFile:
    """The user asks, the model calls a tool, reads its answer and ends."""
    file = ClaudeFile(**every)
    file.user("fix it")
    file.assistant("msg_000000000001", text("looking"), tool_use("t1"))
    file.user([tool_result("t1", "ok")])
    file.assistant("msg_000000000002", text("done"))
    return file
