"""Which commits a tool call made: what git wrote into the log of HEAD between its start and its end.

A harness calls us before and after each of its tool calls. Whatever HEAD is afterwards proves nothing: the call may
have failed, checked something out or pulled. The log of HEAD says for each move what made it.
"""

import hashlib
import re
from pathlib import Path
from typing import Final

from sediment_assets.adapters.note_stamp import StampError, WorkingRepository

_MARKS: Final = "sediment-marks"
_ENTRY: Final = re.compile(rb"[0-9a-f]+ ([0-9a-f]{40}|[0-9a-f]{64}) [^\t]*\t(.*)")
# Not rebase, cherry-pick and am: they copy somebody's earlier work; notes.rewriteRef takes its notes along.
_MADE: Final = re.compile(rb"commit(?: \((?:initial|amend|merge)\))?: |revert: |(?:merge|pull)\b.*: Merge made by ")


def mark_head(repository: WorkingRepository, call: str) -> None:
    """Remember where the log of HEAD ends before a tool call begins.

    :raises StampError: when nothing can be written there.
    """
    file = _mark(repository, call)
    try:
        file.parent.mkdir(exist_ok=True)
        file.write_text(str(_size(repository.path("logs/HEAD"))))
    except OSError as error:
        raise StampError(f"{file}: cannot be written: {error.strerror or error}") from None


def commits_made(repository: WorkingRepository, call: str) -> list[str]:
    """Return the commits made since ``mark_head``, oldest first, and forget the mark.

    :raises StampError: when there is no mark.
    """
    file = _mark(repository, call)
    try:
        start = int(file.read_text())
        file.unlink()
    except (OSError, ValueError):
        raise StampError(
            f"{repository.directory}: expected the mark of this tool call, got none; run sediment notes stamp --hook "
            "before each tool call (PreToolUse), too"
        ) from None
    log = repository.path("logs/HEAD")
    try:
        with log.open("rb") as lines:
            lines.seek(start)
            entries = [match for line in lines if (match := _ENTRY.match(line)) is not None]
    except OSError:
        return []
    return [match[1].decode() for match in entries if _MADE.match(match[2])]


def _mark(repository: WorkingRepository, call: str) -> Path:
    return repository.path(_MARKS) / hashlib.sha256(call.encode("utf-8", "replace")).hexdigest()


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
