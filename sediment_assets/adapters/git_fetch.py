"""Making a bare repository and fetching into it (mirrors.md §2, §5): the only writing that git does here.

A fetch asks nobody anything, follows no redirect, runs no hook, and ends within its time with every process it
started. Credentials of a clone URL reach git through its environment: never a file, a command line or a message.
Locks, and where a mirror lies, are ``mirror_sync.py``.
"""

import fcntl
import os
import re
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

from sediment_assets.adapters.git_host_config import HostGitConfig
from sediment_assets.adapters.git_process import TIMEOUT_SECONDS, Git, git_executable
from sediment_assets.errors import one_line, printable
from sediment_assets.mirrors.clone_url import Credentials, shown_url, split_credentials, without_secrets
from sediment_assets.mirrors.reader import MirrorError

REFSPECS: Final = (
    "+refs/heads/*:refs/heads/*",
    "+refs/notes/sediment*:refs/notes/sediment*",
    "+refs/pull/*/head:refs/pull/*/head",
)
"""What a mirror holds of its remote; git adds the tags of fetched commits by itself."""

Progress = Callable[[str], None]
"""Told what git is doing, such as ``Receiving objects: 45%``."""

_PINNED: Final = (
    "http.followRedirects=false",
    "core.hooksPath=" + os.devnull,
    "core.fsmonitor=false",
    "gc.autoDetach=false",
    # What a remote rewrote or dropped is still evidence: packed, never pruned.
    "gc.pruneExpire=never",
    "gc.cruftPacks=true",
)
_PROGRESS: Final = re.compile(r"(?:remote: )?([A-Z][A-Za-z ]+: +\d+%)")
_LOCKED: Final = re.compile(r"Unable to create '(.+\.lock)': File exists")
_OTHER_FORMAT: Final = "mismatched algorithms"
_COMPLAINTS: Final = ("fatal: ", "error: ")
_KEPT_WORDS: Final = 8192
LOCK_AGE_SECONDS: Final = TIMEOUT_SECONDS
"""From this age on a lock file of git is one that a killed git left."""
AT_WORK_MARK: Final = "sediment-fetching"
"""Empty file in a mirror while git is at work in it, locked by git and its helpers; one that was killed leaves it."""
_ORPHAN_SECONDS: Final = 5.0
_LOOK_MILLISECONDS: Final = 200
_REMOTE_KEY: Final = "remote.origin."


class FetchError(MirrorError):
    """A mirror could not be made or refreshed. The message holds no credential, and of its URL the host at most."""


class Fetcher:
    """Makes and fetches bare repositories. ``development`` allows local paths (``SEDIMENT_DEV_MODE``)."""

    def __init__(self, config: HostGitConfig, *, development: bool = False, timeout: float = TIMEOUT_SECONDS) -> None:
        self._config = config
        self._development = development
        self._timeout = timeout

    def create(self, directory: Path, url: str, progress: Progress | None = None) -> None:
        """Make an empty directory a bare repository and fetch everything; its object format is the remote's.

        :raises FetchError: and the directory may then hold anything.
        """
        init(directory)
        try:
            self.fetch(directory, url, progress)
        except FetchError as error:
            if _OTHER_FORMAT not in str(error):
                raise
            # Nothing arrived yet: begin again in the remote's format.
            init(directory, "sha256")
            self.fetch(directory, url, progress)

    def fetch(self, directory: Path, url: str, progress: Progress | None = None) -> None:
        """Rewrite the remote and fetch from it; refs that the remote no longer has are pruned, tags are not.

        :raises FetchError: with refs as they were, or some of them moved, each to complete history.
        """
        bare, credentials = split_credentials(url)
        configure_remote(directory, bare)
        arguments = ("fetch", "--prune", "--progress", "--no-recurse-submodules", "--no-write-fetch-head")
        self._run(directory, bare, credentials, [*arguments, "--no-auto-maintenance", "origin"], url, progress)
        # A mirror gets a pack with every fetch; many of them make every question slow. Nothing depends on this.
        with suppress(FetchError):
            self._run(directory, bare, None, ["gc", "--auto", "--quiet"], url, None)

    def _run(
        self,
        directory: Path,
        bare: str,
        credentials: Credentials | None,
        arguments: Sequence[str],
        url: str,
        progress: Progress | None,
    ) -> None:
        environment = self._config.environment(development=self._development, url=bare, credentials=credentials)
        environment["GIT_DIR"] = str(directory.absolute())
        pinned = [part for setting in _PINNED for part in ("-c", setting)]
        command = [git_executable(), "--bare", "--no-pager", *pinned, *arguments]
        said = complaints = ""
        with _at_work(directory) as mark, _process_group(command, directory, environment, mark) as process:
            for words in _words(process, self._timeout):
                shown = _PROGRESS.match(words)
                if words.startswith(_COMPLAINTS):  # the first are the causes, and thousands of refs may follow
                    complaints = (complaints + words + "\n")[:_KEPT_WORDS]
                elif shown is None:
                    said = (said + words + "\n")[-_KEPT_WORDS:]
                elif progress is not None:
                    progress(printable(shown[1]))
            status = process.wait()
        if status >= 0:  # it ended by itself, and took its lock files with it
            (directory / AT_WORK_MARK).unlink(missing_ok=True)
        if status:
            said = complaints or said
            locked = _LOCKED.search(said)
            if locked is not None:
                raise FetchError(_is_locked(directory, locked[1]))
            got = _complaint(said, url) or f"exit status {status}"
            raise FetchError(f"git {arguments[0]} from {shown_url(url)}: {got}")


def init(directory: Path, object_format: str = "sha1") -> None:
    """Make a directory, which exists, an empty bare repository without hooks.

    :raises MirrorError: when git cannot.
    """
    for name in ("HEAD", "config"):
        (directory / name).unlink(missing_ok=True)
    Git(directory).run("init", "--bare", "--quiet", "--template=", f"--object-format={object_format}")


def configure_remote(directory: Path, url: str) -> None:
    """Make ``remote.origin`` exactly this URL, without credentials, and ``REFSPECS``; leave other settings alone.

    The file is replaced whole, and only when it has to change. A command line would show the URL to other users.

    :raises MirrorError: when the configuration cannot be read or written.
    """
    file = directory / "config"
    listed = os.fsdecode(Git(directory).run("config", "--file", str(file), "--null", "--list").stdout)
    entries = [tuple(entry.split("\n", 1)) for entry in listed.split("\0") if entry.startswith(_REMOTE_KEY)]
    wanted = [(f"{_REMOTE_KEY}url", url), *((f"{_REMOTE_KEY}fetch", refspec) for refspec in REFSPECS)]
    if entries == wanted:
        return
    draft = directory / "config.sediment"
    draft.write_bytes(file.read_bytes())
    if entries:
        Git(directory).run("config", "--file", str(draft), "--remove-section", "remote.origin")
    lines = ['\n[remote "origin"]', f"\turl = {_quoted(url)}", *(f"\tfetch = {refspec}" for refspec in REFSPECS)]
    with draft.open("ab") as out:
        out.write(os.fsencode("\n".join(lines) + "\n"))
    draft.replace(file)


def _quoted(value: str) -> str:
    for character, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\b", "\\b")):
        value = value.replace(character, escape)
    return f'"{value}"'


@contextmanager
def _at_work(directory: Path) -> Iterator[int]:
    """Give the descriptor of a locked mark that git inherits: the kernel holds the lock until all its heirs ended."""
    try:
        mark = os.open(directory / AT_WORK_MARK, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise FetchError(f"mirror {directory}: cannot be written: {error.strerror or error}") from None
    try:
        os.utime(mark)
        with suppress(OSError):  # no locks on this file system: then age alone tells a stale lock file
            fcntl.flock(mark, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield mark
    finally:
        os.close(mark)


def killed_since(directory: Path) -> float | None:
    """Return when a fetch began that was killed, with every git it started; None when there is none, or one goes on.

    For who holds the mirror's lock. Waits a little: where the system can, an orphan has been told to end.
    """
    deadline = time.monotonic() + _ORPHAN_SECONDS
    try:
        mark = os.open(directory / AT_WORK_MARK, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        while True:
            try:
                fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    return None
                time.sleep(0.05)
            else:
                return os.fstat(mark).st_mtime
    except OSError:
        return None
    finally:
        os.close(mark)


@contextmanager
def _process_group(
    command: Sequence[str], directory: Path, environment: dict[str, str], mark: int
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a command in a session of its own: no terminal to ask on, and one group to end with all its helpers."""
    try:
        process = subprocess.Popen(
            [*_ends_with_us(), *command],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            pass_fds=(mark,),
        )
    except OSError as error:
        raise Git(directory).not_started(("fetch",), error) from None
    try:
        yield process
    finally:
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)  # git takes its lock files with it …
            with suppress(subprocess.TimeoutExpired):
                process.wait(2)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # … and helpers that do not listen end all the same
            process.wait()
        assert process.stderr is not None
        process.stderr.close()


@cache
def _ends_with_us() -> tuple[str, ...]:
    """Return what, put before a command, lets the kernel end it when this process is killed; nothing where it cannot.

    SIGTERM, so that git takes its lock files with it. Without, an orphan goes on until it has something to say.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return ()
    prefix = (setpriv, "--pdeathsig", "TERM")
    try:
        tried = subprocess.run(
            [*prefix, setpriv, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return () if tried.returncode else prefix  # busybox has one that cannot


def _is_locked(directory: Path, lock: str) -> str:
    name = one_line(lock.removeprefix(f"{directory.absolute()}/"))[-200:]
    return (
        f"git fetch: expected no other git at work in {directory}, got its lock file {name}; sync again when that git "
        f"has ended; if it was killed, a sync {LOCK_AGE_SECONDS / 60:g} minutes later removes the file"
    )


def _words(process: "subprocess.Popen[bytes]", timeout: float) -> Iterator[str]:
    """Yield what the process says, at line ends and carriage returns, until it ends.

    A helper that outlives it may keep the pipe open: that is no reason to wait.

    :raises FetchError: when it is not through in time.
    """
    assert process.stderr is not None
    deadline = time.monotonic() + timeout
    poll = select.poll()
    poll.register(process.stderr, select.POLLIN | select.POLLHUP)
    rest = b""
    while True:
        if time.monotonic() > deadline:
            raise FetchError(f"git fetch: expected an end within {timeout:g} s, got none; allow it more time")
        has_ended = process.poll() is not None
        if not poll.poll(_LOOK_MILLISECONDS):
            if has_ended:
                return
            continue
        chunk = os.read(process.stderr.fileno(), 1 << 16)
        *lines, rest = re.split(rb"[\r\n]", (rest + chunk)[-(1 << 20) :])
        yield from (line.decode("utf-8", "replace") for line in lines if line.strip())
        if not chunk:
            if rest.strip():
                yield rest.decode("utf-8", "replace")
            return


def _complaint(said: str, url: str) -> str:
    lines = [line for line in said.split("\n") if line.strip()]
    fatal = [line for line in lines if line.startswith(_COMPLAINTS)] or lines
    line = without_secrets(fatal[0], url) if fatal else ""  # the first is the cause, later ones its effects
    return one_line(line)[:200]
