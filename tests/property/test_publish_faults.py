"""Faults at every moment of an export: kills, full disks, interrupts, rivals. Real processes on a real file system.

A child process runs a real export and fails just before its n-th operation on the file system, for every n. The moment
comes from Python's audit events, so nothing of the program is replaced.
"""

import errno
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.errors import SedimentError
from sediment_assets.publish.artifacts import CLAIM, LOCK, RECORD, STAGE_PREFIX
from sediment_assets.publish.claim import ClaimError, LockHeldError
from sediment_assets.publish.export import export_rlvr
from sediment_assets.publish.record import verify_generation
from sediment_assets.targets.registry import Target
from tests.directories import names
from tests.exported import COMPLETE, artifacts_of, content, is_complete
from tests.rollout_source import MemorySource
from tests.unit.targets.worked_tally import ROLLOUTS, mirrors, resolver

OPERATIONS = {"open", "os.mkdir", "os.chmod", "os.link", "os.remove", "os.rmdir", "os.scandir", "os.listdir"}
FAILED, PASSED_ON = 3, 4

Fault = Callable[[int, str, Any], object]
"""Called before each operation with its number, from 0, its name and its arguments; may end the process or raise."""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A directory in memory where there is one: hundreds of exports bring everything to the device."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        yield Path(directory)


def export(out: Path, target: Target = Target.SEDIMENT) -> None:
    export_rlvr(MemorySource(ROLLOUTS[:2], resolver()), mirrors(), out, target=target)


def in_child(action: Callable[[], None]) -> int:
    """Fork and run; return the exit code, 0 when it ended well, negative when a signal ended it."""
    pid = os.fork()
    if pid == 0:
        code = 0
        try:
            action()
        except SedimentError as error:
            one_line = "\n" not in str(error) and "/" in str(error)
            code = FAILED if one_line else 99
        except (KeyboardInterrupt, SystemExit):
            code = PASSED_ON
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            code = 99
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def export_with_fault(out: Path, fault: Fault) -> int:
    def action() -> None:
        count = -1
        busy = False

        def hook(event: str, arguments: Any) -> None:
            nonlocal count, busy
            if event in OPERATIONS and not busy:
                count += 1
                busy = True
                try:
                    fault(count, event, arguments)
                finally:
                    busy = False

        sys.addaudithook(hook)
        export(out)

    return in_child(action)


@pytest.fixture(scope="module")
def moments(tmp_path_factory: pytest.TempPathFactory) -> range:
    """Every moment of an undisturbed export."""
    base = tmp_path_factory.mktemp("counted")
    export(base / "warm")  # whatever is imported late is imported now
    counted = base / "count"
    counted.touch()
    sink = os.open(counted, os.O_WRONLY)
    assert export_with_fault(base / "out", lambda number, *_: os.pwrite(sink, b"%6d" % number, 0)) == 0
    total = int(counted.read_bytes()) + 1
    assert total > 30
    return range(total)


def staging_of(out: Path) -> list[str]:
    return [name for name in names(out) if name.startswith(STAGE_PREFIX)] if out.is_dir() else []


def next_export_is_safe(out: Path) -> None:
    """Nothing that is there changes; the directory is refused, or becomes one complete generation without remains."""
    before = content(out) if out.is_dir() else {}
    if (out / LOCK).exists():
        with pytest.raises(LockHeldError):
            export(out)
        (out / LOCK).rmdir()  # what the message tells a person to do
    if before:
        with pytest.raises(ClaimError):
            export(out)
        assert content(out) == before
        return
    export(out)
    assert names(out) == COMPLETE
    verify_generation(out)


def test_a_kill_at_any_moment_leaves_evidence_and_nothing_half_published(place: Path, moments: range):
    outcomes = set()
    for moment in moments:
        out = place / str(moment)

        def kill(number: int, *_: object, moment: int = moment) -> None:
            if number == moment:
                os.kill(os.getpid(), signal.SIGKILL)

        assert export_with_fault(out, kill) == -signal.SIGKILL
        complete = is_complete(out)
        if artifacts_of(out) and not complete:
            assert (out / LOCK).is_dir()
        outcomes.add((complete, bool(artifacts_of(out)), bool(staging_of(out))))
        next_export_is_safe(out)
    # The moments reach before, between and after the published names.
    assert outcomes >= {(False, False, False), (False, False, True), (False, True, True), (True, True, True)}


@pytest.mark.parametrize("cause", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt(), SystemExit(143)])
def test_a_failure_at_any_moment_publishes_nothing_or_all(place: Path, moments: range, cause: BaseException):
    completed = 0
    for moment in moments:
        out = place / str(moment)

        def fail(number: int, *_: object, moment: int = moment) -> None:
            if number == moment:
                raise cause

        code = export_with_fault(out, fail)
        assert code in (0, FAILED if isinstance(cause, OSError) else PASSED_ON)
        complete = is_complete(out)
        completed += complete
        assert artifacts_of(out) == [] or complete or (out / LOCK).exists()
        if code == 0:
            assert complete
        next_export_is_safe(out)
    assert completed  # failing to tidy up does not undo an export


def test_a_disk_that_is_full_from_any_moment_on_leaves_only_the_claim(place: Path, moments: range):
    for moment in moments:
        out = place / str(moment)

        def full(number: int, event: str, arguments: Any, moment: int = moment) -> None:
            # What takes space fails from now on, what frees it works.
            creates = event in ("os.mkdir", "os.link") or (event == "open" and arguments[2] & os.O_CREAT)
            if number >= moment and creates:
                raise OSError(errno.ENOSPC, "No space left on device")

        code = export_with_fault(out, full)
        complete = is_complete(out)
        assert code == (0 if complete else FAILED)
        if out.is_dir() and not complete:
            assert set(names(out)) <= {CLAIM}
        next_export_is_safe(out)


def test_a_file_size_limit_is_one_line_and_leaves_only_the_claim(tmp_path: Path):
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        export(tmp_path / "out")

    assert in_child(limited) == FAILED
    assert names(tmp_path / "out") == [CLAIM]
    next_export_is_safe(tmp_path / "out")


def test_a_full_file_system_is_one_line_and_leaves_only_the_claim(tmp_path: Path):
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", tmp_path], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small file system needs privileges")
    try:
        with pytest.raises(SedimentError, match=r"^\S+jsonl: cannot stage rows: No space left on device$"):
            export(tmp_path / "out")
        assert names(tmp_path / "out") == [CLAIM]
    finally:
        subprocess.run(["umount", tmp_path], check=True)


@pytest.mark.parametrize("targets", [(Target.SEDIMENT,) * 4, (Target.SEDIMENT, Target.SWE_BENCH) * 2])
def test_of_rival_exports_exactly_one_publishes(place: Path, targets: tuple[Target, ...]):
    for attempt in range(10):
        out = place / str(attempt)
        ready, go = os.pipe(), os.pipe()
        rivals = []
        for target in targets:
            pid = os.fork()
            if pid == 0:
                os.close(go[1])
                os.write(ready[1], b".")
                os.read(go[0], 1)  # returns when the parent closes its end: all start at once
                try:
                    export(out, target)
                except ClaimError:
                    os._exit(FAILED)
                except BaseException:
                    os._exit(99)
                os._exit(0)
            rivals.append(pid)
        for _ in rivals:
            os.read(ready[0], 1)
        for descriptor in (*ready, *go):
            os.close(descriptor)
        codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in rivals]
        assert sorted(codes) == [0, *[FAILED] * (len(targets) - 1)]
        record = verify_generation(out)
        assert record.target == targets[codes.index(0)]
        assert names(out) == sorted([CLAIM, RECORD, *record.files])
