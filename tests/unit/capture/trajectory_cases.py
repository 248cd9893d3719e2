"""What the trajectories of several agents share in tests."""

from typing import Any

from tests.transcripts import INSTANT

STATED: dict[str, Any] = {"settings": {"session": "mine"}, "instant": INSTANT}


def chat_call(call_id: str, name: str = "bash", arguments: str = '{"command": "ls"}') -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
