"""What a model was sent, out of the body of a request: OpenAI Chat and Responses, Anthropic Messages.

A request of the Responses API may name the response it goes on from, and hold only what is new. Its history is then
what that response's request and answer held, if they came before it in the same input; otherwise it is missing.
"""

import base64
import binascii
from collections.abc import Hashable
from typing import Final

from sediment_assets.capture.chat_messages import message, system_messages
from sediment_assets.capture.contract import Remainder
from sediment_assets.capture.conversations import Conversations, is_same
from sediment_assets.capture.lookup import identifier
from sediment_assets.capture.record_fields import RefusedError
from sediment_assets.facts.json_values import JsonObject, JsonValue
from sediment_assets.facts.messages import Message
from sediment_assets.recent import Recent

CHAINS: Final = 2000
"""Responses whose history is kept for requests that go on from them."""
SYSTEM_PROMPTS: Final = 32
"""System prompts that are kept, one for each conversation: the same one is the same ``Message``."""
_GATEWAY_ID: Final = b"litellm:"


def is_request(body: JsonValue) -> bool:
    """Whether an object is the body of a request to a model."""
    return (
        isinstance(body, dict) and any(key in body for key in ("messages", "input", "prompt")) and "choices" not in body
    )


class ModelRequests:
    """Reads the requests of one run."""

    def __init__(self) -> None:
        self._conversations = Conversations()
        self._chains = Recent[str, list[Message]](CHAINS)
        self._systems = Recent[Hashable, tuple[JsonValue, str, list[Message], list[str]]](SYSTEM_PROMPTS)

    def read(self, key: Hashable, body: JsonObject, where: str, left_out: list[str]) -> list[Message]:
        """Translate all messages that the model was sent: instructions first, then what came before, then what is new.

        :raises RefusedError: no messages, a history that is missing, or a message that a Fact cannot hold.
        """
        instructions = self._instructions(key, body, where, left_out)
        name = next((name for name in ("messages", "input", "prompt") if body.get(name) is not None), None)
        if name is None:
            raise RefusedError(Remainder.NO_CONTENT, f"{where}: no messages, input or prompt")
        before = self.before(body, where)
        # What goes on from a response is not compared with the lists before it: it does not begin where they do.
        conversation = key if not before else (key, identifier(body.get("previous_response_id")))
        values = body[name]
        is_new = self._conversations.read(
            conversation, values, f"{where}.{name}", left_out, are_items=name == "input" and isinstance(values, list)
        )
        return [*instructions, *before, *is_new]

    def remember(self, response_id: str | None, body: JsonObject, sent: list[Message], answered: list[Message]) -> None:
        """Keep a Responses API call for requests that go on from it; instructions are not passed on."""
        if response_id is None or "input" not in body:
            return
        has_instructions = isinstance(body.get("instructions"), str) and body["instructions"] != ""
        self._chains.keep(response_id, [*sent[1 if has_instructions else 0 :], *answered])

    def before(self, body: JsonObject, where: str) -> list[Message]:
        """Return the history that a request leaves to the server.

        :raises RefusedError: it is not in the input.
        """
        previous = identifier(body.get("previous_response_id"))
        if previous is None:
            if body.get("conversation") is not None:
                raise RefusedError(Remainder.NO_CONTENT, f"{where}.conversation: its history is on the server only")
            return []
        chain = self._chains.get(upstream_id(previous))
        if chain is None:
            raise RefusedError(
                Remainder.NO_CONTENT, f"{where}.previous_response_id: that response is not before it in the input"
            )
        return chain

    def _instructions(self, key: Hashable, body: JsonObject, where: str, left_out: list[str]) -> list[Message]:
        if isinstance(body.get("instructions"), str) and "input" in body:
            text = body["instructions"]
            return [message("system", [{"type": "text", "content": text}], where)] if text else []
        if (value := body.get("system")) is None:
            return []
        known = self._systems.get(key)
        if known is None or known[1] != where or not is_same(known[0], value):
            told: list[str] = []
            known = value, where, system_messages(value, f"{where}.system", told), told
        self._systems.keep(key, known)
        left_out += known[3]
        return known[2]


def upstream_id(response_id: str) -> str:
    """Return the provider's id of a response that LiteLLM names ``resp_`` and base64 of where it came from."""
    encoded = response_id.removeprefix("resp_")
    try:
        named = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return response_id
    if not named.startswith(_GATEWAY_ID):
        return response_id
    return named.rpartition(b"response_id:")[2].decode("utf-8", "replace") or response_id
