"""Publishing as a state machine: whatever a directory went through, the claim table decides, and nothing changes.

The model is the table of targets.md §12, read naively. Rules are what people and programs do to an output directory.
"""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sediment_assets.errors import SedimentError
from sediment_assets.publish.artifacts import CLAIM, LOCK, PUBLICATION_ORDER, RECORD, STAGE_LOCK_SUFFIX, STAGE_PREFIX
from sediment_assets.publish.claim import ClaimError, refuse_directory
from sediment_assets.publish.export import export_rlvr
from sediment_assets.publish.record import read_record, verify_generation
from sediment_assets.targets.registry import Target
from tests.directories import names
from tests.rollout_source import MemorySource
from tests.unit.targets.worked_tally import ROLLOUTS, mirrors, resolver

targets = st.sampled_from(Target)
artifacts = st.sampled_from(PUBLICATION_ORDER)
claims = st.sampled_from([b"sediment\n", b"swe-bench", b" nemo-gym \n", b"", b"dpo\n", b"\xff\n"])
rollouts = st.sampled_from([(), ROLLOUTS[:1], ROLLOUTS[2:3], ROLLOUTS[:2]])
"""Nothing; a task and its rollouts; a rollout without task; two of each."""


class Directory(RuleBasedStateMachine):
    """One output directory and what is done to it."""

    @initialize()
    def begin(self) -> None:
        self.base = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        self.out = self.base / "out"
        self.whole = False
        """Whether the last thing that happened was a successful export."""

    def teardown(self) -> None:
        if hasattr(self, "base"):
            shutil.rmtree(self.base)

    def content(self) -> dict[str, tuple[int, bytes]]:
        """Every file with its inode, so that also a replacement by equal bytes shows."""
        paths = [path for path in self.out.rglob("*") if path.is_file()] if self.out.is_dir() else []
        return {str(path): (path.stat().st_ino, path.read_bytes()) for path in paths}

    def is_allowed(self, target: Target) -> bool:
        """The claim table."""
        if not self.out.exists():
            return True
        if (self.out / LOCK).exists():
            return False
        claim = (self.out / CLAIM).read_bytes().strip() if (self.out / CLAIM).exists() else None
        if claim not in (None, target.encode()):
            return False
        return not any((self.out / name).exists() for name in PUBLICATION_ORDER) and not self.holds_rows()

    def holds_rows(self) -> bool:
        """Whether a completion record says that rows were published; they may have been deleted since."""
        try:
            return bool(read_record(self.out).files)
        except SedimentError:
            return (self.out / RECORD).exists()

    @rule(aim=targets, given=rollouts)
    def export(self, aim: Target, given: tuple) -> None:
        before = self.content()
        allowed = self.is_allowed(aim)
        if not allowed:
            with pytest.raises(ClaimError):
                refuse_directory(self.out, aim)
            with pytest.raises(ClaimError):
                export_rlvr(MemorySource(given, resolver()), mirrors(), self.out, target=aim)
            assert self.content() == before
            return
        refuse_directory(self.out, aim)
        assert self.content() == before
        summary = export_rlvr(MemorySource(given, resolver()), mirrors(), self.out, target=aim)
        self.whole = True
        left = self.content()
        for path, what in before.items():
            # The record of an earlier export of nothing gives way; remains of dead runs are swept.
            assert path == str(self.out / RECORD) or STAGE_PREFIX in path or left[path] == what
        assert verify_generation(self.out) == summary.record
        assert summary.record.target == aim
        assert (self.out / CLAIM).read_bytes().strip() == aim.encode()

    @precondition(lambda self: self.out.is_dir())
    @rule(name=artifacts)
    def somebody_puts_an_artifact_there(self, name: str) -> None:
        if not (self.out / name).exists():
            (self.out / name).write_text("mine\n")
            self.whole = False

    @precondition(lambda self: self.out.is_dir())
    @rule(name=st.one_of(artifacts, st.just(CLAIM), st.just(RECORD)))
    def somebody_deletes(self, name: str) -> None:
        if (self.out / name).exists():
            (self.out / name).unlink()
            self.whole = False

    @precondition(lambda self: self.out.is_dir())
    @rule()
    def somebody_deletes_all_artifacts(self) -> None:
        for name in PUBLICATION_ORDER:
            self.somebody_deletes(name)

    @rule(content=claims)
    def another_program_claims(self, content: bytes) -> None:
        self.out.mkdir(exist_ok=True)
        (self.out / CLAIM).write_bytes(content)
        self.whole = False

    @precondition(lambda self: self.out.is_dir())
    @rule(number=st.integers(0, 9))
    def an_export_is_killed_while_it_stages(self, number: int) -> None:
        (self.out / LOCK).mkdir(exist_ok=True)
        stage = self.out / f"{STAGE_PREFIX}{number}"
        stage.mkdir(exist_ok=True)
        (stage / "tasks.jsonl").write_text("{}\n")
        stage.with_name(stage.name + STAGE_LOCK_SUFFIX).touch()

    @precondition(lambda self: (self.out / LOCK).exists())
    @rule()
    def somebody_removes_the_lock(self) -> None:
        (self.out / LOCK).rmdir()

    @invariant()
    def a_whole_generation_stays_whole(self) -> None:
        if getattr(self, "whole", False):
            verify_generation(self.out)
            assert set(names(self.out)) >= {CLAIM, RECORD}


TestDirectory = Directory.TestCase
