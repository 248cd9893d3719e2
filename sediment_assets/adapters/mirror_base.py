"""Whether the base of the mirrors is there, and any mirror in it: for what runs unattended, and for warnings."""

import os.path
from pathlib import Path
from typing import Final

from sediment_assets.adapters.git_mirror_store import GitMirrorStore
from sediment_assets.mirrors.reader import MirrorError

_WITHOUT_MIRRORS: Final = (
    "so every repository counts as mirror_absent, and a Session whose commits only notes tell as no_attributed_commit"
)


def require_mirror_base(base: Path) -> Path:
    """Return the base of the mirrors, which is there.

    A command is asked by a person and reads its warning. What runs unattended must not take a disk that is not mounted
    for repositories without mirrors: every day would be published again, green and empty.

    :raises MirrorError: when it is no directory.
    """
    if base.is_dir():
        return base
    found = "something else" if os.path.lexists(base) else "nothing"
    if base.is_file():
        found = "a file"
    raise MirrorError(
        f"SEDIMENT_MIRROR_PATH: expected the base directory of the mirrors, got {found} at {base}; mount its disk, or "
        "begin without mirrors: mkdir -p, or sediment mirror sync"
    )


def mirror_warning(base: Path, org_id: str) -> str | None:
    """Say that a derivation will find no mirror at all, which a mistaken setting looks like; None when there are any.

    :raises MirrorError: when the base cannot be listed.
    """
    with GitMirrorStore(base) as store:
        if store.keys(org_id):
            return None
    if not base.is_dir():
        return f"{base}: no such directory, {_WITHOUT_MIRRORS}; check SEDIMENT_MIRROR_PATH, or run sediment mirror sync"
    return (
        f"{base}: holds no mirror of organization {org_id}, {_WITHOUT_MIRRORS}; check "
        "SEDIMENT_MIRROR_PATH and SEDIMENT_ORG_ID, or run sediment mirror sync"
    )
