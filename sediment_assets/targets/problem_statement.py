"""The problem statement of a task: the first thing a user said (targets.md §4)."""

from collections.abc import Iterable
from typing import Final

from sediment_assets.facts.messages import PlainPart
from sediment_assets.rollouts.models import Segment

OMITTED_PART: Final = "[non-text content omitted]"
"""Stands for every part that is not text."""


def problem_statement(segments: Iterable[Segment]) -> str:
    """Return the first user message of a Rollout as text; ``""`` without one, or when it has no parts.

    The first message whose role is exactly ``user`` decides, whatever it holds; later ones are not consulted. Text
    parts are kept verbatim, untrimmed.
    """
    for segment in segments:
        for turn in segment:
            for message in turn.new_messages:
                if message["role"] == "user":
                    return "\n".join(_part_text(part) for part in message["parts"])
    return ""


def _part_text(part: PlainPart) -> str:
    return part["content"] if part["type"] == "text" else OMITTED_PART
