"""Instance ids and the Sessions they name."""

import pytest

from sediment_assets.lineage.names import InstanceIdError, session_of


@pytest.mark.parametrize(
    ("instance_id", "session_id"),
    [
        ("acme-s1-3975cd2", "s1"),
        ("acme-s1-seg0", "s1"),
        ("acme-s1-seg12", "s1"),
        ("acme-a-b-seg1-seg0", "a-b-seg1"),  # a Session may be called like a row
        ("acme-acme-0000000-abcdef0", "acme-0000000"),
        ("acme- -seg0", " "),
    ],
)
def test_the_session_is_what_lies_between(instance_id: str, session_id: str):
    assert session_of(instance_id, "acme") == session_id


@pytest.mark.parametrize("text", ["", "acme", "acme--seg0", "acme-seg0", "other-s1-seg0", "acme-s1", "acme-s1-SEG0",
                                  "acme-s1-3975cd", "acme-s1-seg0\n", "acme-s1-3975CD2"])  # fmt: skip
def test_any_other_text_is_refused_with_the_form_that_is_expected(text: str):
    with pytest.raises(InstanceIdError, match=r"instance id: expected acme-<session>-<7 hex digits>"):
        session_of(text, "acme")
