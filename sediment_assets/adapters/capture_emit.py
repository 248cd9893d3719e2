"""Canonical Fact JSONL in a new directory, one file per table: all of it or nothing."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from sediment_assets.adapters.fact_store.import_lines import PreparedLine
from sediment_assets.adapters.fact_store.stored_rows import JSON_COLUMNS
from sediment_assets.facts.instants import format_z
from sediment_assets.facts.json_values import encode_stored
from sediment_assets.facts.model import Fact
from sediment_assets.publish.durable import close_durably, create_file, reported
from sediment_assets.publish.fresh_directory import FreshDirectory, fresh_directory


def canonical_pieces(fact: Fact, line: PreparedLine) -> Iterator[str]:
    """Spell a prepared Fact as one line of canonical JSONL (facts.md §7): declared order, nulls present, times Z.

    In pieces, for the longest of them may be a Session's whole history.
    """
    opening = "{"
    for name in type(fact).model_fields:
        yield f'{opening}"{name}":'
        value = line.row[name]
        yield value if name in JSON_COLUMNS else _spelled(value)
        opening = ","
    yield "}\n"


def _spelled(value: Any) -> str:
    return encode_stored(format_z(value) if isinstance(value, datetime) else value)


class StagedTables:
    """Table files in a directory that is not visible before ``publish``."""

    def __init__(self, fresh: FreshDirectory) -> None:
        self._fresh = fresh
        self._files: dict[str, BinaryIO] = {}

    def write(self, fact: Fact, line: PreparedLine) -> None:
        """Append one Fact to its table's file.

        :raises PublishError: the operating system refused.
        """
        name = f"{fact.TABLE}.jsonl"
        with reported(self._fresh.out / name, "write"):
            file = self._files.get(name)
            if file is None:
                file = self._files[name] = create_file(self._fresh.directory / name)
            for piece in canonical_pieces(fact, line):
                file.write(piece.encode("ascii"))

    def publish(self) -> None:
        """Bring everything to the device and give the directory its name.

        :raises DestinationError: the name was taken meanwhile.
        :raises PublishError: the operating system refused. Nothing is published in either case.
        """
        for name, file in self._files.items():
            with reported(self._fresh.out / name, "write"):
                close_durably(file)
        self._fresh.publish()

    def abandon(self) -> None:
        """Close every file without a word: a full disk complains again, and nobody wants the content any more."""
        for file in self._files.values():
            with suppress(OSError):
                file.close()


@contextmanager
def staged_tables(out: Path) -> Iterator[StagedTables]:
    """Stage table files for the block; remove them in the end, unless they were published.

    :raises DestinationError: before anything is created.
    :raises PublishError: the operating system refused.
    """
    with fresh_directory(out) as fresh:
        tables = StagedTables(fresh)
        try:
            yield tables
        finally:
            tables.abandon()
