"""Repository key ⇄ path relative to the mirror base (mirrors.md §1).

Paths only; the disk is read in ``adapters/git_mirror.py``.
"""

from pathlib import PurePosixPath
from urllib.parse import quote, unquote_to_bytes

from sediment_assets.facts.scalars import (
    normal_forge_host,
    normal_org_id,
    normal_provider_repository_id,
    normal_required_repo_slug,
)
from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey, RepositoryKey

IDENTIFIED_ROOT = "repositories-v1"
"""Directory under the base for the mirrors of identified repositories, ``<org>/<provider>/<host>/<id>``."""
LOCK_ROOT = ".locks"
"""Directory under the base that holds one lock file per mirror, at the mirror's own relative path."""

OBSERVATION_LOCK_ROOT = ".observation-locks"
"""Directory under the base that holds one capture lock per mirror (§7.3)."""
INCOMING_ROOT = ".incoming"
"""Directory under the base in which a new mirror grows until it is whole; nobody reads there."""


def mirror_path(key: RepositoryKey) -> PurePosixPath:
    """Return where a repository's mirror lies, relative to the base.

    :raises ValueError: when the key is not in normal form and would leave its place.
    """
    if isinstance(key, LegacyKey):
        return PurePosixPath(_component(f"{key.org_id}/{key.slug}"))
    parts = (key.org_id, key.provider.value, key.host, key.repository_id)
    return PurePosixPath(IDENTIFIED_ROOT, *map(_component, parts))


def lock_path(key: RepositoryKey) -> PurePosixPath:
    """Return where the lock file of a mirror lies, relative to the base (§4)."""
    return LOCK_ROOT / mirror_path(key)


def observation_lock_path(key: RepositoryKey) -> PurePosixPath:
    """Return where the capture lock of a repository lies, relative to the base (§1)."""
    return OBSERVATION_LOCK_ROOT / mirror_path(key)


def incoming_path(key: RepositoryKey) -> PurePosixPath:
    """Return where a repository's first fetch goes, relative to the base and on the same file system."""
    return INCOMING_ROOT / mirror_path(key)


def _component(text: str) -> str:
    # quote keeps exactly A-Z a-z 0-9 _ . - ~; so only these three could still name another directory.
    if text in ("", ".", ".."):
        raise ValueError(f"expected a repository key in normal form, got the component {text!r}")
    return quote(text, safe="")


def decode_legacy(name: str, org_id: str) -> LegacyKey | None:
    """Read the name of a direct child of the base; None when it belongs to another organization.

    Spellings that are not canonical decode too: the key's own directory may then not exist.

    :raises ValueError: when the name is this organization's, but holds no valid slug.
    """
    prefix = f"{org_id}/"
    text = unquote_to_bytes(name).decode("utf-8", "replace")
    if not text.startswith(prefix):
        return None
    return LegacyKey(org_id, normal_required_repo_slug(text.removeprefix(prefix)))


def decode_identified(path: PurePosixPath) -> IdentifiedKey:
    """Read a relative path ``repositories-v1/<org>/<provider>/<host>/<id>``.

    :raises ValueError: when a part is invalid, or the key's canonical path is another one.
    """
    org_id, provider, host, repository_id = (unquote_to_bytes(part).decode() for part in path.parts[1:])
    key = IdentifiedKey(
        normal_org_id(org_id),
        ForgeProvider(provider),
        normal_forge_host(host),
        normal_provider_repository_id(repository_id),
    )
    canonical = mirror_path(key)
    if canonical != path:
        raise ValueError(f"expected the canonical path {canonical}, got {path}")
    return key
