"""The derivation policy file, its checks in contract order and its digest (derivation.md §1.1–1.2)."""

import pytest

from sediment_assets.derive.policy import DEFAULT_POLICY, PolicyError, parse_policy


def digest(toml: str) -> str:
    return parse_policy(f"schema_version = 1\n{toml}".encode(), place="policy.toml").digest


def refusal(toml: str) -> str:
    with pytest.raises(PolicyError) as caught:
        parse_policy(toml.encode(), place="policy.toml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ("", "dd6ddc485bcd1dfcdc4e70edea79f71fc5413c984642b1188d3d9087b33fd2d0"),
        ("split.eval_fraction = 0.10", "dd6ddc485bcd1dfcdc4e70edea79f71fc5413c984642b1188d3d9087b33fd2d0"),
        ("split.eval_fraction = 1e-1", "dd6ddc485bcd1dfcdc4e70edea79f71fc5413c984642b1188d3d9087b33fd2d0"),
        ("split.eval_fraction = 0.2", "5407837205260671c1a355bc2ef1346e6cbb6c206ae290bb0958ddf58f625904"),
        ("split.eval_fraction = 0.0", "bd8061159b0ac2b9938115769963faf018b27da16774989046341ef85ecfe632"),
        ("split.eval_fraction = 0", "54223dcc543d2a870504734d97b956eca4edc2db84a4ef986d712f81f5553fae"),
        (
            "attribution.jaccard.min_similarity = 0.00001",
            "21db8439f7b5f60bb5c8bc7ceda97350fd926bb05f2eb82227f62e7d85fc1b28",
        ),
    ],
)
def test_digest_covers_the_resolved_policy_with_its_number_spelling(toml: str, expected: str) -> None:
    assert digest(toml) == expected


def test_default_policy_is_the_empty_policy_file() -> None:
    assert DEFAULT_POLICY.digest == digest("")


def test_negative_zero_is_legal_and_digests_apart_from_zero() -> None:
    assert digest("split.eval_fraction = -0.0") != digest("split.eval_fraction = 0.0")


@pytest.mark.parametrize(
    ("toml", "part"),
    [
        ("foo = 1\nbar = 1", "unknown keys: bar, foo;"),
        ("", "schema_version: missing"),
        ("schema_version = true", "schema_version: expected the integer 1, got true"),
        ("schema_version = 1.0", "schema_version: expected the integer 1, got 1.0"),
        ("schema_version = 1\nattribution = 3", "attribution: expected a table, got 3"),
        ("schema_version = 1\nsplit = []", "split: expected a table"),
        (
            "schema_version = 1\n[attribution.git_notes]\ny = 1\nx = 1",
            "attribution.git_notes.x, attribution.git_notes.y",
        ),
        ("schema_version = 1\n[attribution.git_notes]\nmin_similarity = true", "git_notes.min_similarity: expected a"),
        ("schema_version = 1\n[attribution.jaccard]\nmin_similarity = nan", "jaccard.min_similarity: expected a"),
        ("schema_version = 1\n[attribution.jaccard]\nmin_similarity = 1.1", "jaccard.min_similarity: expected a"),
        ("schema_version = 1\n[attribution.jaccard]\nmin_similarity = '1'", "jaccard.min_similarity: expected a"),
        ("schema_version = 1\n[attribution.jaccard]\nlookback_window_minutes = 0", "at least 1, got 0"),
        ("schema_version = 1\n[attribution]\nmax_commits_per_push = 1.0", "at least 1, got 1.0"),
        ("schema_version = 1\n[attribution]\npost_push_grace_period_minutes = -1", "at least 0, got -1"),
        ("schema_version = 2", "schema_version: expected 1, got 2"),
        ("schema_version = 1\n[split]\neval_fraction = 0.6", "eval_fraction: expected a number from 0 to 0.5"),
    ],
)
def test_refusal_names_file_key_expected_and_got(toml: str, part: str) -> None:
    message = refusal(toml)
    assert message.startswith("policy.toml: ")
    assert part in message


@pytest.mark.parametrize(
    ("toml", "first"),
    [
        ("foo = 1", "unknown keys"),
        ("schema_version = '1'\nattribution = 3", "schema_version"),
        ("schema_version = 2\nattribution = 3", "attribution: expected a table"),
        ("schema_version = 2\n[split]\nx = 1", "unknown keys: split.x"),
        ("schema_version = 2\n[split]\neval_fraction = 9", "schema_version: expected 1"),
    ],
)
def test_first_failing_group_is_the_whole_error(toml: str, first: str) -> None:
    assert first in refusal(toml)


def test_bytes_that_are_not_utf8_or_not_toml_are_refused() -> None:
    with pytest.raises(PolicyError, match="expected UTF-8, got a bad byte at offset 2"):
        parse_policy(b"# \xff", place="p")
    assert "not TOML" in refusal("schema_version =")


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 500 + "]" * 500], ids=["digits", "arrays"])
def test_toml_beyond_what_is_reasonable_is_refused_in_one_line(value: str) -> None:
    assert refusal(f"schema_version = {value}").startswith("policy.toml: expected TOML of a reasonable size: ")


def test_a_byte_order_mark_is_refused() -> None:
    assert "not TOML" in refusal("\ufeffschema_version = 1")


def test_messages_are_one_short_line_whatever_the_file_holds() -> None:
    assert "unknown keys: 'a\\nb';" in refusal('schema_version = 1\n"a\\nb" = 1')
    assert len(refusal(f"schema_version = 1\nsplit.eval_fraction = {'9' * 4000}")) < 200


def test_carriage_returns_are_fine() -> None:
    assert parse_policy(b"schema_version = 1\r\n", place="p") == DEFAULT_POLICY


def test_split_naming_is_off_only_at_fraction_zero() -> None:
    assert DEFAULT_POLICY.split_enabled
    assert not parse_policy(b"schema_version = 1\nsplit.eval_fraction = 0", place="p").split_enabled
