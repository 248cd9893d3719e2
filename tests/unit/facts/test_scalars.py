"""The scalar types: every line and example of facts.md §1."""

import pytest

from sediment_assets.facts import scalars
from sediment_assets.facts.text import has_surrogate, is_scalar_text, strip
from sediment_assets.facts.vocabulary import GatewayProvider

W = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
SHA = "0123456789abcdef0123456789abcdef01234567"


def test_strip_removes_the_set_w_and_nothing_else():
    stripped = [chr(code) for code in range(0x110000) if strip(chr(code)) == ""]
    assert stripped == list(W)


@pytest.mark.parametrize(
    ("text", "surrogate", "scalar"),
    [("", False, True), ("é😀", False, True), ("a\ud800", True, False), ("\udfff", True, False), ("\0", False, False)],
)
def test_surrogates_and_nul_are_not_scalar_text(text, surrogate, scalar):
    assert has_surrogate(text) is surrogate
    assert is_scalar_text(text) is scalar


@pytest.mark.parametrize(
    ("normal", "value", "stored"),
    [
        (scalars.normal_text, "\0\ud800 ", "\0\ud800 "),
        (scalars.normal_text, GatewayProvider.LITELLM, "litellm"),
        (scalars.normal_identity, "", ""),
        (scalars.normal_identity, " a ", " a "),
        (scalars.normal_id, " a ", "a"),
        (scalars.normal_id, "\xa0x\u2003", "x"),
        (scalars.normal_id, "\ufeffx\u200b", "\ufeffx\u200b"),
        (scalars.normal_org_id, "ACME", "acme"),
        (scalars.normal_org_id, "0._-", "0._-"),
        (scalars.normal_org_id, "a" * 64, "a" * 64),
        (scalars.normal_repo_slug, " Owner/Repo ", "owner/repo"),
        (scalars.normal_repo_slug, "a b/c d", "a b/c d"),
        (scalars.normal_repo_slug, "  ", ""),
        (scalars.normal_repo_slug, "", ""),
        (scalars.normal_repo_slug, "Ä/ß", "ä/ß"),
        (scalars.normal_required_repo_slug, " A/b", "a/b"),
        (scalars.normal_commit_sha, f" {SHA.upper()}\n", SHA),
        (scalars.normal_commit_sha, "0" * 64, "0" * 64),
        (scalars.normal_branch_name, "refs/heads/refs/heads/main", "main"),
        (scalars.normal_branch_name, " refs/heads/ Main ", "Main"),
        (scalars.normal_branch_name, "refs/heads/", ""),
        (scalars.normal_branch_name, "refs/tags/v1", "refs/tags/v1"),
        (scalars.normal_forge_host, "GitHub.com", "github.com"),
        (scalars.normal_forge_host, "localhost", "localhost"),
        (scalars.normal_forge_host, "\u212ait.example", "kit.example"),
        (scalars.normal_forge_host, "a" * 63 + ".b-c", "a" * 63 + ".b-c"),
        (scalars.normal_provider_repository_id, "9" * 20, "9" * 20),
        (scalars.normal_workflow_name, " \ud800\0 ", "\ud800\0"),
        (scalars.normal_workflow_name, " ", ""),
        (scalars.normal_workflow_path, " a ", "a"),
        (scalars.normal_content, " \ud800 ", "\ud800"),
        (scalars.normal_ci_reason, "", ""),
        (scalars.normal_ci_reason, " " * 4096, " " * 4096),
        (scalars.normal_nat63, "5", 5),
        (scalars.normal_nat63, 5.0, 5),
        (scalars.normal_nat63, True, 1),
        (scalars.normal_nat63, 0, 0),
        (scalars.normal_nat63, 2**63 - 1, 2**63 - 1),
        (scalars.normal_nat63, " +1_000.0 ", 1000),
        (scalars.normal_pos63, 1, 1),
        (scalars.normal_pos63, 2**63 - 1, 2**63 - 1),
        *((scalars.normal_bool, word, True) for word in (True, 1, 1.0, "1", "true", "T", "Yes", "y", "ON")),
        *((scalars.normal_bool, word, False) for word in (False, 0, 0.0, "0", "FALSE", "f", "no", "N", "Off")),
        (scalars.normal_score, 1, 1.0),
        (scalars.normal_score, "0.5", 0.5),
        (scalars.normal_score, -0.0, -0.0),
    ],
)
def test_accepted_values(normal, value, stored):
    result = normal(value)
    assert result == stored
    assert type(result) is type(stored)


@pytest.mark.parametrize(
    ("normal", "value"),
    [
        *((normal, 5) for name, normal in vars(scalars).items() if name.startswith("normal_") and "63" not in name),
        (scalars.normal_identity, "\0"),
        (scalars.normal_identity, "\ud800"),
        (scalars.normal_id, ""),
        (scalars.normal_id, " \u2003"),
        (scalars.normal_id, "a\0"),
        (scalars.normal_org_id, "acme "),
        (scalars.normal_org_id, "-x"),
        (scalars.normal_org_id, ""),
        (scalars.normal_org_id, "\u212aelvin"),
        (scalars.normal_org_id, "a" * 65),
        (scalars.normal_org_id, "a\n"),
        (scalars.normal_repo_slug, "owner"),
        (scalars.normal_repo_slug, "a/b/c"),
        (scalars.normal_repo_slug, "/b"),
        (scalars.normal_repo_slug, "a/"),
        (scalars.normal_required_repo_slug, ""),
        (scalars.normal_required_repo_slug, " "),
        (scalars.normal_commit_sha, ""),
        (scalars.normal_commit_sha, SHA[:7]),
        (scalars.normal_commit_sha, SHA + "0"),
        (scalars.normal_commit_sha, "g" * 40),
        (scalars.normal_branch_name, None),
        (scalars.normal_branch_name, "a\ud800"),
        (scalars.normal_forge_host, ""),
        (scalars.normal_forge_host, " github.com"),
        (scalars.normal_forge_host, "github.com:443"),
        (scalars.normal_forge_host, "github.com."),
        (scalars.normal_forge_host, "a_b"),
        (scalars.normal_forge_host, "-a"),
        (scalars.normal_forge_host, "a-"),
        (scalars.normal_forge_host, "a" * 64),
        (scalars.normal_forge_host, "é.example"),
        (scalars.normal_forge_host, ".".join(["a" * 63] * 4)),
        (scalars.normal_provider_repository_id, 42),
        (scalars.normal_provider_repository_id, "042"),
        (scalars.normal_provider_repository_id, "0"),
        (scalars.normal_provider_repository_id, " 42"),
        (scalars.normal_provider_repository_id, "42\n"),
        (scalars.normal_provider_repository_id, "1" * 21),
        (scalars.normal_provider_repository_id, "٤٢"),
        (scalars.normal_workflow_name, None),
        (scalars.normal_workflow_path, "\0"),
        (scalars.normal_content, " "),
        (scalars.normal_ci_reason, "x" * 4097),
        (scalars.normal_nat63, 5.5),
        (scalars.normal_nat63, "5."),
        (scalars.normal_nat63, "5.5"),
        (scalars.normal_nat63, "0x5"),
        (scalars.normal_nat63, "५"),
        (scalars.normal_nat63, "9" * 5000),
        (scalars.normal_nat63, -1),
        (scalars.normal_nat63, 2**63),
        (scalars.normal_nat63, float("nan")),
        (scalars.normal_nat63, None),
        (scalars.normal_pos63, "1"),
        (scalars.normal_pos63, 1.0),
        (scalars.normal_pos63, True),
        (scalars.normal_pos63, 0),
        (scalars.normal_pos63, 2**63),
        (scalars.normal_bool, None),
        (scalars.normal_bool, 2),
        (scalars.normal_bool, " true"),
        (scalars.normal_bool, "ja"),
        (scalars.normal_score, float("nan")),
        (scalars.normal_score, float("inf")),
        (scalars.normal_score, 1.0001),
        (scalars.normal_score, -0.1),
        (scalars.normal_score, 10**400),
        (scalars.normal_score, "nan"),
        (scalars.normal_score, "٠.٥"),
        (scalars.normal_score, None),
    ],
)
def test_refused_values(normal, value):
    with pytest.raises(ValueError, match=r"\Aexpected .+, got .+\Z"):
        normal(value)


def test_forge_host_has_at_most_253_characters():
    host = ".".join(["a" * 63] * 3 + ["a" * 61])
    assert len(host) == 253
    assert scalars.normal_forge_host(host) == host
    with pytest.raises(ValueError, match="host name"):
        scalars.normal_forge_host(host + "a")
