"""The problem statement (targets.md §4)."""

import pytest

from sediment_assets.targets.problem_statement import problem_statement
from tests.builders import plain_message, reasoning_part, tool_call, tool_response
from tests.rollout_builders import make_turn, say

OMITTED = "[non-text content omitted]"


@pytest.mark.parametrize(
    ("segments", "text"),
    [
        ([say(plain_message("user", "Fix it", tool_response(), "now"))], f"Fix it\n{OMITTED}\nnow"),
        ([say(plain_message("user", " padded \n"))], " padded \n"),
        ([say(plain_message("user", reasoning_part("r"), tool_call()))], f"{OMITTED}\n{OMITTED}"),
        ([say(plain_message("system", "Be good."), plain_message("user", "Go"))], "Go"),
        ([say(plain_message("User", "no"), plain_message("user ", "no"))], ""),
        ([say(plain_message("user"), plain_message("user", "later"))], ""),
        ([say(plain_message("user", ""), plain_message("user", "later"))], ""),
        ([say(plain_message("assistant", "hi"))], ""),
        ([], ""),
        ([say(), say(plain_message("user", "second Segment"))], "second Segment"),
        (
            [(make_turn(new_messages=()), make_turn(new_messages=(plain_message("user", "second Turn"),)))],
            "second Turn",
        ),
    ],
)
def test_the_first_user_message_decides_whatever_it_holds(segments, text):
    assert problem_statement(segments) == text
