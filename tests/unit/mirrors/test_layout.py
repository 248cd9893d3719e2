"""Repository key ⇄ mirror path (mirrors.md §1)."""

from pathlib import PurePosixPath

import pytest

from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.mirrors.layout import decode_identified, decode_legacy, lock_path, mirror_path
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey

I42 = IdentifiedKey("acme", ForgeProvider.GITHUB, "github.com", "42")


@pytest.mark.parametrize(
    ("key", "path"),
    [
        (LegacyKey("acme", "owner/repo"), "acme%2Fowner%2Frepo"),
        (LegacyKey("acme", "acme/w"), "acme%2Facme%2Fw"),
        (LegacyKey("acme", "ö x/r~.lock"), "acme%2F%C3%B6%20x%2Fr~.lock"),
        (LegacyKey("a.b_c-d", "%2e/.."), "a.b_c-d%2F%252e%2F.."),
        (I42, "repositories-v1/acme/github/github.com/42"),
    ],
)
def test_path_percent_encodes_everything_but_unreserved(key, path):
    assert mirror_path(key) == PurePosixPath(path)
    assert lock_path(key) == PurePosixPath(".locks", path)


@pytest.mark.parametrize("part", ["", ".", ".."])
def test_component_that_names_another_directory_is_refused(part):
    with pytest.raises(ValueError, match="normal form"):
        mirror_path(IdentifiedKey("acme", ForgeProvider.GITHUB, "github.com", part))


def test_slug_of_dots_stays_one_leaf():
    assert len(mirror_path(LegacyKey("..", "../..")).parts) == 1


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("acme%2Fowner%2Frepo", "owner/repo"),
        ("acme%2fO%2FUpper", "o/upper"),
        ("acme%2F%C3%B6%20x%2Fr~.lock", "ö x/r~.lock"),
    ],
)
def test_legacy_name_decodes_canonical_or_not(name, slug):
    assert decode_legacy(name, "acme") == LegacyKey("acme", slug)


@pytest.mark.parametrize("name", ["other%2Fo%2Fr", "ACME%2Fo%2Fr", "repositories-v1", "acme", ".locks"])
def test_name_of_another_organization_is_no_key(name):
    assert decode_legacy(name, "acme") is None


@pytest.mark.parametrize("name", ["acme%2F", "acme%2Fonly", "acme%2Fa%2Fb%2Fc", "acme%2Fa%2F%00"])
def test_own_name_without_valid_slug_is_an_error(name):
    with pytest.raises(ValueError, match="expected"):
        decode_legacy(name, "acme")


def test_identified_path_decodes():
    assert decode_identified(mirror_path(I42)) == I42


@pytest.mark.parametrize(
    "path",
    [
        "repositories-v1/acme/github/GitHub.com/42",
        "repositories-v1/acme/gitlab/github.com/42",
        "repositories-v1/acme/github/github.com/007",
        "repositories-v1/acme/github/github.com/%34%32",
        "repositories-v1/acme/github/github.com/%FF",
        "repositories-v1/acme/git%68ub/github.com/42",
    ],
)
def test_identified_path_must_be_canonical(path):
    with pytest.raises(ValueError, match=r"expected|GitHub|gitlab|decode"):
        decode_identified(PurePosixPath(path))
