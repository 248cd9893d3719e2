"""``kill -9`` at every moment of the real command: what is left behind, and what the next run says and does."""

import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from sediment_assets.adapters.bundle_dir import open_bundle
from sediment_assets.publish.artifacts import LOCK, STAGE_PREFIX
from sediment_assets.publish.record import verify_generation
from tests import forked_command
from tests.cli.command import BASE_ENVIRONMENT, Evidence
from tests.directories import names
from tests.exported import COMPLETE, content, is_complete
from tests.faults.moments import CountMoments, KillAt

PARTS = 4
"""The moments are dealt out to this many tests, so that they run beside each other."""

Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path, evidence: Evidence) -> Run:
    """Run a command on the evidence in an empty directory, with its temporary files in there, too."""
    env = BASE_ENVIRONMENT | evidence.settings | {"TMPDIR": str(tmp_path)}

    def run(*arguments: str, fault: forked_command.Fault | None = None) -> CompletedProcess[str]:
        return forked_command.sediment(arguments, cwd=tmp_path, env=env, fault=fault)

    return run


def export(out: str, *extra: str) -> list[str]:
    return ["export", "rlvr", "--target", "sediment", "--out", out, *extra]


def moments(run: Run, tmp_path: Path, part: int, *arguments: str) -> range:
    """This part's share of the moments of an undisturbed run, which is then removed."""
    count = tmp_path / "count"
    for _ in range(2):  # only the first run on this evidence makes the mirror locks
        done = run(*arguments, fault=CountMoments(count))
        assert done.returncode == 0, done.stderr
        shutil.rmtree(tmp_path / "counted")
    assert int(count.read_text()) > 40
    return range(part, int(count.read_text()), PARTS)


def processes_in(directory: Path) -> Iterator[str]:
    """Command lines of processes that name a directory or work in it."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            place = str((process / "cwd").readlink())
        except OSError:
            continue
        if line.startswith("git ") and (str(directory) in line or str(directory) in place):
            yield line


def no_git_is_left(evidence: Evidence) -> bool:
    """Git processes of a killed command end by themselves, as their input has ended."""
    deadline = time.monotonic() + 20
    while list(processes_in(evidence.directory)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def next_export_is_safe(run: Run, out: Path, *extra: str) -> None:
    """The next export says what is the matter, or succeeds; what was published stays as it is."""
    before = content(out)
    if (out / LOCK).exists():
        refused = run(*export(out.name, *extra))
        assert refused.returncode == 1
        assert re.fullmatch(rf"error: {out.name}/{re.escape(LOCK)}: .* was killed; .*rmdir.*\n", refused.stderr)
        (out / LOCK).rmdir()
    done = run(*export(out.name, *extra))
    if before:
        assert done.returncode == 1
        assert re.fullmatch(rf"error: {out.name}: .*new directory\n", done.stderr)
        assert content(out) == before
    else:
        assert done.returncode == 0, done.stderr
        assert names(out) == COMPLETE
        verify_generation(out)


@pytest.mark.parametrize("part", range(PARTS))
def test_an_export_killed_at_any_moment(tmp_path: Path, run: Run, evidence: Evidence, part: int):
    for moment in moments(run, tmp_path, part, *export("counted")):
        out = tmp_path / f"out{moment}"
        assert run(*export(out.name), fault=KillAt(moment)).returncode == -signal.SIGKILL
        assert no_git_is_left(evidence)
        if out.exists():
            complete = is_complete(out)
            assert complete or not content(out) or (out / LOCK).is_dir()
        next_export_is_safe(run, out)


@pytest.mark.parametrize("part", range(PARTS))
def test_a_derivation_killed_at_any_moment(tmp_path: Path, run: Run, evidence: Evidence, part: int):
    for moment in moments(run, tmp_path, part, "derive", "--out", "counted"):
        out = tmp_path / f"bundle{moment}"
        assert run("derive", "--out", out.name, fault=KillAt(moment)).returncode == -signal.SIGKILL
        assert no_git_is_left(evidence)
        done = run("derive", "--out", out.name)
        if done.returncode:
            assert re.fullmatch(rf"error: {out.name}: expected a new bundle directory, got one .*\n", done.stderr)
        with open_bundle(out) as bundle:
            assert len(list(bundle.rollouts())) == 1


@pytest.mark.parametrize("part", range(PARTS))
def test_an_export_of_a_bundle_killed_at_any_moment(tmp_path: Path, run: Run, evidence: Evidence, part: int):
    assert run("derive", "--out", "bundle").returncode == 0
    for moment in moments(run, tmp_path, part, *export("counted", "--from", "bundle")):
        out = tmp_path / f"out{moment}"
        assert run(*export(out.name, "--from", "bundle"), fault=KillAt(moment)).returncode == -signal.SIGKILL
        assert no_git_is_left(evidence)
        if out.exists():
            complete = is_complete(out)
            assert complete or not content(out) or (out / LOCK).is_dir()
        next_export_is_safe(run, out, "--from", "bundle")
        shutil.rmtree(out)


def test_what_a_killed_export_staged_is_swept_by_the_next(tmp_path: Path, run: Run):
    staged = []
    for moment in moments(run, tmp_path, 0, *export("counted")):
        out = tmp_path / f"out{moment}"
        run(*export(out.name), fault=KillAt(moment))
        if out.exists() and any(name.startswith(STAGE_PREFIX) for name in names(out)) and not content(out):
            staged.append(out)
            break
    assert staged
    next_export_is_safe(run, staged[0])
