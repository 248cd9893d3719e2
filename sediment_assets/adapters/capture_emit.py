"""Canonical Fact JSONL in a new directory, one file per table: staged beside its destination, then renamed."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from sediment_assets.adapters.fact_store.import_lines import PreparedLine
from sediment_assets.adapters.fact_store.rows import MESSAGE_COLUMNS
from sediment_assets.errors import SedimentError
from sediment_assets.facts.instants import format_z
from sediment_assets.facts.json_values import encode_stored
from sediment_assets.facts.model import Fact
from sediment_assets.publish.durable import (
    close_durably,
    create_file,
    create_private_directory,
    is_present,
    remove_tree,
    reported,
    sync_directory,
)

_STORED_AS_JSON = (*MESSAGE_COLUMNS, "raw")


class EmitError(SedimentError):
    """The destination is taken, or there is no directory to put it in."""


def require_new_directory(out: Path) -> None:
    """Refuse a destination that exists, a dangling link included, or whose parent is no directory.

    :raises EmitError: nothing was created then.
    """
    if is_present(out):
        raise EmitError(f"{out}: expected a new directory, got one that exists; name another")
    if not out.parent.is_dir():
        raise EmitError(f"{out}: expected the directory {out.parent} to exist; create it first: mkdir -p")


def canonical_pieces(fact: Fact, line: PreparedLine) -> Iterator[str]:
    """Spell a prepared Fact as one line of canonical JSONL (facts.md §7): declared order, nulls present, times Z.

    In pieces, for the longest of them may be a Session's whole history.
    """
    opening = "{"
    for name in type(fact).model_fields:
        yield f'{opening}"{name}":'
        value = line.row[name]
        yield value if name in _STORED_AS_JSON else _spelled(value)
        opening = ","
    yield "}\n"


def _spelled(value: Any) -> str:
    return encode_stored(format_z(value) if isinstance(value, datetime) else value)


class StagedTables:
    """A private directory beside the destination; nothing is visible before ``publish``."""

    def __init__(self, out: Path, directory: Path) -> None:
        self._out = out
        self._directory = directory
        self._files: dict[str, BinaryIO] = {}

    def write(self, fact: Fact, line: PreparedLine) -> None:
        """Append one Fact to its table's file.

        :raises PublishError: the operating system refused.
        """
        name = f"{fact.TABLE}.jsonl"
        with reported(self._out / name, "write"):
            file = self._files.get(name)
            if file is None:
                file = self._files[name] = create_file(self._directory / name)
            for piece in canonical_pieces(fact, line):
                file.write(piece.encode("ascii"))

    def publish(self) -> None:
        """Bring everything to the device and give the directory its name.

        :raises EmitError: the name was taken meanwhile.
        :raises PublishError: the operating system refused. Nothing is published in either case.
        """
        for name, file in self._files.items():
            with reported(self._out / name, "write"):
                close_durably(file)
        with reported(self._out, "publish"):
            sync_directory(self._directory)
            require_new_directory(self._out)
            self._directory.rename(self._out)
            sync_directory(self._out.parent)

    def abandon(self) -> None:
        """Close every file without a word: a full disk complains again, and nobody wants the content any more."""
        for file in self._files.values():
            with suppress(OSError):
                file.close()


@contextmanager
def staged_tables(out: Path) -> Iterator[StagedTables]:
    """Stage table files for the block; remove them in the end, unless they were published.

    :raises EmitError: before anything is created.
    :raises PublishError: the operating system refused.
    """
    require_new_directory(out)
    directory = out.parent / f".{out.name}.{secrets.token_hex(8)}"
    with reported(out, "create a staging directory beside"):
        create_private_directory(directory)
    tables = StagedTables(out, directory)
    try:
        yield tables
    finally:
        tables.abandon()
        with suppress(OSError):
            remove_tree(directory)
