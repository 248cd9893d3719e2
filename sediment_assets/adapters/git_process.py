"""Starting git, isolated and bounded in time: one command, or one long conversation (design.md §7, mirrors.md §5).

Isolated means: the mirror's own configuration is the only one read, and every setting that matters is pinned over it.
The caller's environment reaches git in nothing but the executable found on ``PATH``. The repository is named by
``GIT_DIR``: git then neither searches parent directories nor refuses a mirror that another user owns (its
``safe.directory`` rule guards configuration and hooks found by accident; no command here runs a hook, a filter, a
pager, an external diff or a transport).

Captured data reaches git only as whole hexadecimal object ids that ``git_objects`` has checked.
"""

import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

from sediment_assets.errors import SedimentError
from sediment_assets.mirrors.reader import MirrorError

TIMEOUT_SECONDS = 600.0
"""How long one question may take before it counts as failed (mirrors.md §5)."""

_ENVIRONMENT = {
    "PATH": os.defpath,
    "LC_ALL": "C",
    "HOME": os.devnull,
    "XDG_CONFIG_HOME": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull + "/none",  # a file that exists makes git advise against grafts
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_TERMINAL_PROMPT": "0",
}
_FATAL = 128
"""Exit status of a git that cannot read an object or a repository, and says why."""
_END_SECONDS = 10.0
# attr.tree: some releases (2.43 to 2.45) read .gitattributes of HEAD in a bare repository; an empty tree has none.
_PINNED = (
    "core.attributesFile=" + os.devnull,
    "core.hooksPath=" + os.devnull,
    "core.fsmonitor=false",
    "attr.tree=4b825dc642cb6eb9a060e54bf8d69288fbee4904",
)


class GitUnavailableError(SedimentError):
    """Git cannot work on this machine: not installed, or no memory, file descriptors or temporary space left.

    No ``MirrorError``: it says nothing about a mirror, and a skip counted for it would drop evidence that is there.
    """


class GitInterruptedError(MirrorError):
    """Git was ended from outside, or gave no answer in time: that says nothing about what it was asked.

    Whoever goes on without an answer has to tell it from an object that git cannot read (exit status 128).
    """


def temporary_space(error: OSError) -> GitUnavailableError:
    """Describe a temporary directory that cannot be used."""
    return GitUnavailableError(
        f"git: expected room in a temporary directory, got {error.strerror or error}; set TMPDIR to another directory"
    )


def git_executable() -> str:
    """Return the git found on ``PATH``.

    :raises GitUnavailableError: when there is none.
    """
    executable = shutil.which("git")
    if executable is None:
        raise GitUnavailableError("git: expected an executable on PATH, got none; install git")
    return executable


def git_version() -> str:
    """Return what the git found on ``PATH`` calls itself.

    :raises GitUnavailableError: when there is none, or it does not run.
    """
    try:
        done = subprocess.run([git_executable(), "--version"], env=_ENVIRONMENT, capture_output=True, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise GitUnavailableError(f"git: expected one that runs, got {error}; install git") from None
    return done.stdout.decode("utf-8", "replace").strip()


class Git:
    """One repository directory as the target of git commands."""

    def __init__(self, directory: Path, *, timeout: float = TIMEOUT_SECONDS) -> None:
        self.directory = directory
        self.timeout = timeout
        self.failures = 0
        """How many processes ended otherwise than they should, whosever fault it was."""

    def run(self, *arguments: str, stdin: bytes | None = None, allowed: tuple[int, ...] = (0,)) -> "Completed":
        """Run one command to its end; without ``stdin`` its input is closed.

        :raises MirrorError: when git exceeds the time, or exits with a status that is not ``allowed``.
        :raises GitUnavailableError: when git cannot be started at all.
        """
        try:
            done = subprocess.run(
                self.command(*arguments),
                cwd=self.directory,
                env=self.environment(),
                input=stdin,
                stdin=subprocess.DEVNULL if stdin is None else None,
                capture_output=True,
                timeout=self.timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            self.failures += 1
            raise self.error(arguments, f"no answer within {self.timeout:g} s") from None
        except OSError as error:
            self.failures += 1
            raise self.not_started(arguments, error) from None
        if done.returncode not in allowed:
            self.failures += 1
            raise self.error(arguments, _complaint(done.stderr) or f"exit status {done.returncode}")
        return Completed(done.returncode, done.stdout, _complaint(done.stderr))

    def command(self, *arguments: str) -> list[str]:
        """Return the whole command line: the executable, the pinned configuration, then ``arguments``."""
        pinned = (part for setting in _PINNED for part in ("-c", setting))
        return [git_executable(), "--bare", "--no-pager", *pinned, *arguments]

    def environment(self) -> Mapping[str, str]:
        """Return the whole environment of a command."""
        return {**_ENVIRONMENT, "GIT_DIR": str(self.directory.absolute())}

    def error(self, arguments: tuple[str, ...], got: str) -> MirrorError:
        """Describe a failed command: the mirror, the command, what git said, the way out."""
        verb = next((a for a in arguments if not a.startswith("-") and "=" not in a), "git")
        return MirrorError(
            f"mirror {self.directory}: git {verb}: expected an answer, got {got}; check that it is a whole, "
            "readable bare repository (git fsck), or fetch it again"
        )

    def not_started(self, arguments: tuple[str, ...], error: OSError) -> SedimentError:
        """Describe a refusal of the operating system: its own, or the mirror's directory that is not there."""
        if isinstance(error, FileNotFoundError | NotADirectoryError | PermissionError):
            return self.error(arguments, error.strerror or str(error))
        return GitUnavailableError(
            f"git: cannot be started for {self.directory}: {error.strerror or error}; free memory, processes or file "
            "descriptors, and try again"
        )


@dataclass(frozen=True, slots=True)
class Completed:
    """What a finished command left: exit status, output, and the last thing it complained about, if any."""

    status: int
    stdout: bytes
    complaint: str


def _complaint(stderr: bytes) -> str:
    """Return git's last word as one short line of printable characters: it may quote captured names."""
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    said = [line for line in lines if line.startswith(("fatal: ", "error: "))] or lines
    return "".join(c if c.isprintable() else "\ufffd" for c in said[-1])[:200] if said else ""


class Conversation:
    """One long-lived git process that answers questions in turn; started at the first, and again after a failure.

    Not safe for several threads at once: the owner holds a lock around each question with its answer.
    """

    def __init__(self, git: Git, *arguments: str) -> None:
        self._git = git
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None
        self._buffer = bytearray()
        self._deadline = 0.0

    @property
    def running(self) -> bool:
        """Whether a process is alive."""
        return self._process is not None

    @property
    def process(self) -> object | None:
        """The process that answers, or None; another one after a failure, or when somebody closed in between."""
        return self._process

    @contextmanager
    def question(self, text: bytes) -> Iterator["Conversation"]:
        """Send a question and read its whole answer in the block.

        At most 4 KiB: the smallest pipe holds that, so sending never waits for git to read on while git waits for
        its answer to be read.

        The answer has ``Git.timeout`` seconds. A block that is left early ends the process: half an answer would
        otherwise be taken for the next one's.
        """
        try:
            self._send(text)
            yield self
        except BaseException:
            self.close()
            raise

    def line(self) -> bytes:
        """Return the next line of the answer without its LF."""
        end = self._buffer.find(b"\n")
        while end == -1:
            searched = len(self._buffer)
            self._fill()
            end = self._buffer.find(b"\n", searched)
        return self._take(end + 1)[:-1]

    def exactly(self, count: int) -> bytes:
        """Return the next ``count`` bytes of the answer."""
        while len(self._buffer) < count:
            self._fill()
        return self._take(count)

    def discard(self, count: int) -> None:
        """Drop the next ``count`` bytes of the answer without holding them."""
        while len(self._buffer) < count:
            count -= len(self._buffer)
            self._buffer.clear()
            self._fill()
        del self._buffer[:count]

    def until(self, sentinel: bytes) -> bytes:
        """Return the answer up to ``sentinel``, and drop the sentinel; what follows is the next answer."""
        self._deadline = time.monotonic() + self._git.timeout
        searched = 0
        while (end := self._buffer.find(sentinel, searched)) == -1:
            searched = max(0, len(self._buffer) - len(sentinel))
            self._fill()
        answer = self._take(end)
        del self._buffer[: len(sentinel)]
        return answer

    def error(self, got: str) -> MirrorError:
        """Return the error for an answer that makes no sense."""
        return self._git.error(self._arguments, got)

    def interrupted(self, got: str) -> GitInterruptedError:
        """Return the error for a process that was ended from outside or is silent."""
        return GitInterruptedError(str(self.error(got)))

    def close(self) -> None:
        """End the process, if any, and reap it. A later question starts a new one."""
        process, self._process = self._process, None
        self._buffer.clear()
        if process is not None:
            # Its input ends, so it would end by itself; killing it spares the wait. It owns nothing to tidy.
            process.kill()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    _close_quietly(stream)
            process.wait()
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None

    def __del__(self) -> None:
        self.close()

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            # A file never fills up and blocks git, as a pipe would; close() closes it.
            self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        except OSError as error:
            raise temporary_space(error) from None
        try:
            self._process = subprocess.Popen(
                self._git.command(*self._arguments),
                cwd=self._git.directory,
                env=self._git.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                bufsize=0,
            )
        except OSError as error:
            self._git.failures += 1
            raise self._git.not_started(self._arguments, error) from None
        return self._process

    def _send(self, text: bytes) -> None:
        process = self._process or self._start()
        assert process.stdin is not None
        self._deadline = time.monotonic() + self._git.timeout
        try:
            while text:
                text = text[process.stdin.write(text) :]
        except OSError:
            self._fail_ended("a closed pipe")

    def _take(self, count: int) -> bytes:
        with memoryview(self._buffer) as buffer:
            taken = bytes(buffer[:count])
        del self._buffer[:count]
        return taken

    def _fill(self) -> None:
        """Wait for more output, at most until the deadline."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        poll = select.poll()
        poll.register(process.stdout, select.POLLIN | select.POLLHUP)
        left = self._deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            self._git.failures += 1
            raise self.interrupted(f"no answer within {self._git.timeout:g} s")
        chunk = os.read(process.stdout.fileno(), 1 << 16)
        if not chunk:
            self._fail_ended("the end of its output")
        self._buffer += chunk

    def _fail_ended(self, got: str) -> NoReturn:
        """Raise what git said last before it ended by itself, or that something ended it."""
        self._git.failures += 1
        process = self._process
        assert process is not None
        try:
            status = process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            raise self.interrupted(got) from None
        said = b""
        if self._stderr is not None:
            self._stderr.seek(0)
            said = self._stderr.read()
        if status != _FATAL:
            ended = f"its end by signal {-status}" if status < 0 else f"its end with status {status}"
            raise self.interrupted(_complaint(said) or ended)
        raise self.error(_complaint(said) or got)


def _close_quietly(stream: IO[bytes]) -> None:
    try:
        stream.close()
    except OSError:
        return
