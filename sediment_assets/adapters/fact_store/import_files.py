"""Which files an import reads: ``<table>.jsonl`` by name, in the order in which Facts depend on each other.

Not here: what is in them (``import_lines``).
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sediment_assets.adapters.fact_store.location import FactStoreError
from sediment_assets.facts.tables import JSONL_MODELS

_SUFFIX = ".jsonl"
_ORDER = {
    # Pushes before the observations that name them; the quarantine log after the Facts it hides.
    "pushes": 0,
    "quarantine": 2,
}


@dataclass(frozen=True, slots=True)
class ImportFile:
    """One file to import: ``table`` is a key of ``JSONL_MODELS``, ``path`` as the operator wrote it."""

    table: str
    path: Path
    size: int


_OTHERS: Final = "files of other kinds: sediment capture SOURCE PATH"


def find_files(paths: Sequence[str | Path]) -> list[ImportFile]:
    """Return the files that ``paths`` name: each a ``<table>.jsonl``, or a directory of such files.

    A directory may lack tables and may hold files of other suffixes. Raises FactStoreError for a path that is not there
    or cannot be read, for a ``.jsonl`` file of an unknown name, and for a directory without any.
    """
    found = [file for path in paths for file in _found_at(Path(path))]
    return sorted(found, key=lambda file: _ORDER.get(file.table, 1))


def _found_at(path: Path) -> list[ImportFile]:
    if not path.is_dir():
        return [_file(path)]
    try:
        inside = sorted(entry for entry in path.iterdir() if entry.suffix == _SUFFIX)
    except OSError as error:
        raise FactStoreError(f"{path}: {error.strerror}") from None
    if not inside:
        raise FactStoreError(f"{path}: expected {_known()} in the directory, got none of them; {_OTHERS}")
    return [_file(entry) for entry in inside]


def _file(path: Path) -> ImportFile:
    if not path.exists():
        raise FactStoreError(f"{path}: expected a file or directory, got no such path")
    if path.suffix != _SUFFIX or path.stem not in JSONL_MODELS:
        raise FactStoreError(f"{path}: expected one of {_known()}, got {path.name!r}; {_OTHERS}")
    if not path.is_file():
        kind = "a directory" if path.is_dir() else "something else"
        raise FactStoreError(f"{path}: expected a regular file, got {kind}")
    if not os.access(path, os.R_OK):
        raise FactStoreError(f"{path}: Permission denied")
    return ImportFile(path.stem, path, path.stat().st_size)


def _known() -> str:
    return ", ".join(name + _SUFFIX for name in JSONL_MODELS)
