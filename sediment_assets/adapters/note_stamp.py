"""Writing attribution notes in a developer's working repository: ``refs/notes/sediment`` and no other ref.

The only place that uses git as its user has configured it: the notes are the user's own commits. One ``fast-import``
adds a note wherever the notes tree keeps it and moves the ref only from the value that was read, so that of several
writers none loses what another wrote.
"""

import subprocess
import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Final

from sediment_assets.adapters.git_process import git_executable
from sediment_assets.errors import SedimentError, printable
from sediment_assets.mirrors.notes import NOTES_REF, NoteError, NoteSession, with_session

_ATTEMPTS: Final = 100
_WAIT_SECONDS: Final = 0.02
_SECONDS: Final = 60
_MESSAGE: Final = b"Notes added by 'sediment notes stamp'\n"


class StampError(SedimentError):
    """A commit that could not be stamped; its note is as it was."""


class WorkingRepository:
    """A repository found from a directory in it, or from git's own variables when a git hook runs us."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def is_repository(self) -> bool:
        """Whether there is a git repository at all."""
        return self._run("rev-parse", "--git-dir").returncode == 0

    def commit(self, revision: str) -> str:
        """Return the id of the commit that a revision means.

        :raises StampError: when it means none.
        """
        done = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if done.returncode:
            raise StampError(f"{self.directory}: {revision!r}: expected a commit of a git repository, got none")
        return done.stdout.decode().strip()

    def path(self, name: str) -> Path:
        """Return where git keeps a file of its own for this working tree, such as ``logs/HEAD``."""
        done = self._run("rev-parse", "--git-path", name)
        if done.returncode:
            raise StampError(f"{self.directory}: expected a git repository, got none")
        return self.directory / done.stdout.decode().rstrip("\n")

    def stamp(self, sha: str, session: NoteSession, now: datetime) -> bool:
        """Add a Session to the note of a commit; false when it is there already and nothing changed.

        :raises StampError: when the note cannot be read or written.
        """
        for attempt in range(_ATTEMPTS):
            tip = self._tip()
            body = self._note(tip, sha)
            try:
                grown = with_session(body, session)
            except NoteError as error:
                raise StampError(f"{self.directory}: note of {sha}: {error} (git notes --ref=sediment)") from None
            if grown == body:
                return False
            done = self._run("fast-import", "--quiet", "--done", stdin=b"".join(self._stream(tip, sha, grown, now)))
            if done.returncode == 0:
                return True
            if self._tip() == tip and attempt >= _ATTEMPTS // 10:
                break  # nobody else is writing, so it is something else that fails
            time.sleep(_WAIT_SECONDS)
        raise StampError(f"{self.directory}: {NOTES_REF}: expected to move it, got: {_complaint(done.stderr)}")

    def _tip(self) -> str | None:
        done = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{NOTES_REF}^{{commit}}")
        return done.stdout.decode().strip() if done.returncode == 0 else None

    def _note(self, tip: str | None, sha: str) -> bytes | None:
        if tip is None:
            return None
        listed = self._run("notes", f"--ref={NOTES_REF}", "list", sha)
        if listed.returncode:
            return None
        blob = self._run("cat-file", "blob", listed.stdout.decode().strip())
        if blob.returncode:
            raise StampError(f"{self.directory}: note of {sha}: expected to read it, got: {_complaint(blob.stderr)}")
        return blob.stdout

    def _stream(self, tip: str | None, sha: str, body: bytes, now: datetime) -> Iterable[bytes]:
        yield f"commit {NOTES_REF}\ncommitter ".encode() + self._committer(now) + b"\n"
        yield b"data %d\n" % len(_MESSAGE) + _MESSAGE
        if tip is not None:
            yield f"from {tip}\n".encode()
        yield f"N inline {sha}\n".encode() + b"data %d\n" % len(body) + body + b"\ndone\n"

    def _committer(self, now: datetime) -> bytes:
        done = self._run("var", "GIT_COMMITTER_IDENT")
        if done.returncode == 0:
            return done.stdout.rstrip(b"\n")
        return f"sediment <sediment@localhost> {int(now.timestamp())} +0000".encode()

    def _run(self, *arguments: str, stdin: bytes | None = None) -> "subprocess.CompletedProcess[bytes]":
        try:
            return subprocess.run(
                [git_executable(), *arguments],
                cwd=self.directory,
                input=stdin,
                stdin=subprocess.DEVNULL if stdin is None else None,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise StampError(f"{self.directory}: git {arguments[0]}: no answer within {_SECONDS} s") from None
        except OSError as error:
            raise StampError(f"{self.directory}: {error.strerror or error}") from None


def _complaint(stderr: bytes) -> str:
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return printable(lines[-1])[:200] if lines else "no reason"
