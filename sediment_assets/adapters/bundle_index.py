"""The memory of a bundle validation, kept in a private SQLite file (``bundle/validate/index.py``).

Bounded memory: keys and calls are on disk, and one Session at a time comes back. Not durable on purpose: the file is
worthless once its process has ended.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, Self

from sediment_assets.bundle.validate.index import Group, Known
from sediment_assets.derive.fact_reader import StoredCall
from sediment_assets.publish.durable import PublishError, create_file, reported
from sediment_assets.recent import Recent

_SCHEMA: Final = """
PRAGMA page_size = 16384;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -16384;
CREATE TABLE known (kind TEXT, key TEXT, content TEXT, PRIMARY KEY (kind, key)) WITHOUT ROWID;
CREATE TABLE grouped (position INTEGER PRIMARY KEY, kind TEXT, key TEXT, content TEXT);
CREATE INDEX grouped_by_key ON grouped (kind, key, position);
CREATE TABLE calls (
    id TEXT PRIMARY KEY, session_id TEXT, user_id TEXT, model_call_id TEXT, observed_at INTEGER,
    line INTEGER, size INTEGER, base INTEGER, shared INTEGER, input TEXT, output TEXT
);
CREATE INDEX calls_by_session ON calls (session_id, observed_at, id, size);
"""
_LATEST_SIZE: Final = 2**24
"""Most characters of latest inputs held; the Sessions not seen for longest are forgotten first."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class BundleIndex:
    """Implements ``RowIndex``. The file is new and private; ``close`` removes it.

    Every method raises PublishError when the file cannot be written, as on a full disk.
    """

    def __init__(self, path: Path, *, place: Path | None = None) -> None:
        self._path = path
        self._place = place or path
        """What errors call it: the directory that is being made, for an index beside what is staged."""
        self._latest = Recent[str, tuple[int, str]](_LATEST_SIZE, lambda latest: len(latest[1]))
        with reported(self._place, "create the index of a bundle for"):
            create_file(path).close()  # private before SQLite opens it
        # Never committed: without a journal a transaction costs nothing, and the file ends with its process anyway.
        self._database = sqlite3.connect(path)
        try:
            self._database.executescript(_SCHEMA)
        except _FAILURES as error:
            raise self._failed(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Forget everything."""
        self._database.close()
        self._path.unlink(missing_ok=True)

    def remember(self, kind: Known, key: str, content: str) -> str | None:
        """See ``RowIndex``."""
        added = self._write("INSERT OR IGNORE INTO known VALUES (?, ?, ?)", kind.value, key, content)
        return None if added else self.recall(kind, key)

    def recall(self, kind: Known, key: str) -> str | None:
        """See ``RowIndex``."""
        row = self._first("SELECT content FROM known WHERE kind = ? AND key = ?", kind.value, key)
        return None if row is None else str(row[0])

    def gather(self, kind: Group, key: str, content: str) -> None:
        """See ``RowIndex``."""
        self._write("INSERT INTO grouped (kind, key, content) VALUES (?, ?, ?)", kind.value, key, content)

    def group(self, kind: Group, key: str) -> Sequence[str]:
        """See ``RowIndex``."""
        query = "SELECT content FROM grouped WHERE kind = ? AND key = ? ORDER BY position"
        return [str(content) for (content,) in self._rows(query, kind.value, key)]

    def groups(self, kind: Group) -> Iterator[tuple[str, Sequence[str]]]:
        """See ``RowIndex``."""
        rows = self._rows("SELECT key, content FROM grouped WHERE kind = ? ORDER BY key, position", kind.value)
        for key, members in groupby(rows, key=itemgetter(0)):
            yield key, [str(content) for _, content in members]

    def add_call(self, call: StoredCall, line: int) -> bool:
        """See ``RowIndex``. Of its input only what does not repeat the call before it, in order of lines, is kept."""
        base, shared = self._shared_with_latest(call)
        added = self._write(
            "INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            call.inference_call_id,
            call.session_id,
            call.user_id,
            call.model_call_id,
            (call.observed_at - _EPOCH) // _MICROSECOND,
            line,
            len(call.input_text) + len(call.output_text),
            base,
            shared,
            call.input_text[shared:],
            call.output_text,
        )
        if added:
            self._latest.keep(call.session_id, (line, call.input_text))
        return added

    def _shared_with_latest(self, call: StoredCall) -> tuple[int | None, int]:
        """Return the line of the Session's latest call and how many characters its input shares, all or none."""
        line, text = self._latest.get(call.session_id) or (None, "")
        shared = len(text) - 1  # without the closing bracket
        return (line, shared) if line is not None and call.input_text.startswith(text[:shared]) else (None, 0)

    def call_session(self, inference_call_id: str) -> str | None:
        """See ``RowIndex``."""
        row = self._first("SELECT session_id FROM calls WHERE id = ?", inference_call_id)
        return None if row is None else str(row[0])

    def session_calls(self, session_id: str) -> Sequence[StoredCall]:
        """See ``RowIndex``."""
        rows = self._rows(
            "SELECT id, user_id, model_call_id, observed_at, line, base, shared, input, output FROM calls "
            "WHERE session_id = ? ORDER BY line",
            session_id,
        )
        inputs: dict[int, str] = {}
        calls = []
        for call_id, user_id, model_call_id, observed, line, base, shared, rest, output in rows:
            inputs[line] = rest if base is None else inputs[base][:shared] + rest
            observed_at = _EPOCH + observed * _MICROSECOND
            calls.append(StoredCall(call_id, session_id, user_id, model_call_id, observed_at, inputs[line], output))
        return sorted(calls, key=lambda call: (call.observed_at, call.inference_call_id))

    def unreferenced_call(self) -> tuple[str, int] | None:
        """See ``RowIndex``."""
        row = self._first(
            "SELECT id, line FROM calls "
            "WHERE NOT EXISTS (SELECT 1 FROM known WHERE kind = ? AND key = calls.id) ORDER BY line LIMIT 1",
            Known.REFERENCE.value,
        )
        return None if row is None else (str(row[0]), int(row[1]))

    def largest_session(self) -> int:
        """Return the bytes of the messages of the largest Session, 0 without any."""
        row = self._first("SELECT sum(size) AS bytes FROM calls GROUP BY session_id ORDER BY bytes DESC LIMIT 1")
        return 0 if row is None else int(row[0])

    def _write(self, statement: str, *values: object) -> bool:
        """Run an insert; return whether a row was added."""
        try:
            return self._database.execute(statement, values).rowcount == 1
        except _FAILURES as error:
            raise self._failed(error) from None

    def _first(self, query: str, *values: object) -> Any:
        """Return the first row, None without any."""
        try:
            return self._database.execute(query, values).fetchone()
        except _FAILURES as error:
            raise self._failed(error) from None

    def _rows(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._database.execute(query, values)
        except _FAILURES as error:
            raise self._failed(error) from None

    def _failed(self, error: Exception) -> PublishError:
        return PublishError(f"{self._place}: cannot keep the index of a bundle: {error}")


_FAILURES: Final = (sqlite3.Error, OverflowError)
"""A single text beyond SQLite's limits is an OverflowError."""
