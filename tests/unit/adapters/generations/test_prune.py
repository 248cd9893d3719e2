"""What pruning keeps, what it removes, and that neither a reader nor an export is ever hurt."""

import fcntl
import os
from pathlib import Path

import pytest

from sediment_assets.adapters.bundle_staging import staged_bundle
from sediment_assets.adapters.generations.prune import Decision, Removal, Verdict, plan_pruning, remove
from sediment_assets.publish.artifacts import CLAIM, LOCK, RECORD, STAGE_LOCK_SUFFIX, STAGE_PREFIX
from sediment_assets.publish.generation import claimed_directory
from sediment_assets.publish.reading import held_for_reading
from sediment_assets.targets.registry import Target
from tests.directories import names
from tests.generation_root import DAY, Root


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return Root(tmp_path / "exports")


def verdicts(root: Root, keep: int = 1, **known: object) -> dict[str, Verdict]:
    return {decision.path.name: decision.verdict for decision in plan_pruning(root.path, keep, **known)}  # type: ignore[arg-type]


def going(root: Root, keep: int = 1) -> list[Decision]:
    return [decision for decision in plan_pruning(root.path, keep) if decision.removes]


def test_the_newest_complete_ones_stay(root: Root):
    for name in ("a.0", "b.0", "c.0"):
        root.rows(name)
    root.rows("other-day.0", day="2026-11-03")
    root.rows("other-target.0", target=Target.NEMO_GYM, day="2026-11-04")
    assert verdicts(root, keep=2) == {
        "a.0": Verdict.SUPERSEDED,
        "b.0": Verdict.KEPT,
        "c.0": Verdict.NEWEST,
        "other-day.0": Verdict.NEWEST,
        "other-target.0": Verdict.NEWEST,
    }
    assert [remove(decision) for decision in going(root, keep=2)] == [Removal.REMOVED]
    assert names(root.path / "nemo-gym" / DAY) == ["b.0", "c.0"]
    assert going(root, keep=2) == []


def test_what_the_event_log_gives_to_readers_stays_although_files_say_that_a_newer_one_is_there(root: Root):
    recorded = root.rows("a.0")
    root.rows("b.0")
    assert verdicts(root, recorded=[recorded])["a.0"] is Verdict.RECORDED


def test_a_partition_with_a_run_in_progress_is_left_alone(root: Root):
    root.rows("a.0")
    root.rows("b.0")
    assert set(verdicts(root, busy=[DAY]).values()) == {Verdict.BUSY}


def test_the_bundle_that_a_kept_generation_rests_on_stays(root: Root, rich_bundle: Path, other_bundle: Path):
    from sediment_assets.adapters.generations.catalog import look_at

    needed, unneeded, newest = (
        root.bundle("b1.0", rich_bundle),
        root.bundle("b2.0", rich_bundle),
        root.bundle("b3.0", other_bundle),
    )
    root.rows("rows.0", bundle=look_at(needed).bundle_digest)
    found = verdicts(root)
    assert found[newest.name] is Verdict.NEWEST
    assert found[unneeded.name] is Verdict.NEEDED  # of two equal ones, the newer
    assert found[needed.name] is Verdict.SUPERSEDED


def test_one_that_is_being_read_is_left_alone_and_goes_when_its_reader_has_ended(root: Root):
    read = root.rows("a.0")
    root.rows("b.0")
    (decision,) = going(root)
    with held_for_reading(read):
        assert remove(decision) is Removal.BEING_READ
        assert (read / RECORD).exists()
    assert remove(decision) is Removal.REMOVED
    assert not read.exists()


def test_a_running_export_is_never_hurt(root: Root):
    root.rows("b.0")
    out = root.place("nemo-gym", "a.0")
    with claimed_directory(out, Target.NEMO_GYM):
        assert verdicts(root)["a.0"] is Verdict.UNPROVEN
        dead = Decision(out, "nemo-gym", DAY, 0, Verdict.DEAD)  # as if planned before it began
        assert remove(dead) is Removal.CHANGED
    assert (out / CLAIM).exists()


def test_an_export_that_failed_and_left_only_its_claim_goes(root: Root):
    out = root.place("nemo-gym", "a.0")
    with pytest.raises(RuntimeError), claimed_directory(out, Target.NEMO_GYM):
        raise RuntimeError
    assert verdicts(root) == {"a.0": Verdict.DEAD}
    assert [remove(decision) for decision in going(root)] == [Removal.REMOVED]
    assert not out.exists()


class TestAnExportThatWasKilled:
    def killed(self, root: Root, *, stage_locked: bool) -> tuple[Path, int]:
        out = root.place("nemo-gym", "a.0")
        (out / LOCK).mkdir(parents=True)
        (out / CLAIM).write_text("nemo-gym\n")
        (out / "rollouts.train.jsonl").write_text("half\n")
        stage = out / f"{STAGE_PREFIX}abc"
        stage.mkdir()
        descriptor = os.open(f"{stage}{STAGE_LOCK_SUFFIX}", os.O_RDWR | os.O_CREAT)
        if stage_locked:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        return out, descriptor

    def test_goes_when_the_kernel_has_released_its_staging_lock(self, root: Root):
        out, descriptor = self.killed(root, stage_locked=True)
        assert verdicts(root)["a.0"] is Verdict.UNPROVEN
        os.close(descriptor)
        assert verdicts(root)["a.0"] is Verdict.DEAD
        assert [remove(decision) for decision in going(root)] == [Removal.REMOVED]
        assert not out.exists()

    def test_stays_when_only_the_export_lock_says_so(self, root: Root):
        out, descriptor = self.killed(root, stage_locked=False)
        os.close(descriptor)
        for path in out.glob(f"*{STAGE_LOCK_SUFFIX}"):
            path.unlink()
        assert verdicts(root)["a.0"] is Verdict.UNPROVEN

    def test_stays_when_a_new_export_has_begun_and_not_swept_yet(self, root: Root):
        out, descriptor = self.killed(root, stage_locked=False)
        os.close(descriptor)
        (out / LOCK).rmdir()
        for path in out.glob(f"*{STAGE_LOCK_SUFFIX}"):
            os.utime(path, (0, 0))
        (out / LOCK).mkdir()  # younger than the dead export's staging lock
        assert verdicts(root)["a.0"] is Verdict.UNPROVEN

    def test_stays_when_files_are_there_and_no_lock(self, root: Root):
        out, descriptor = self.killed(root, stage_locked=False)
        os.close(descriptor)
        (out / LOCK).rmdir()
        assert verdicts(root)["a.0"] is Verdict.UNPROVEN


class TestStagedBundles:
    @pytest.fixture
    def out(self, root: Root) -> Path:
        return root.place("rollouts", "a.0")

    def test_a_living_one_stays(self, root: Root, out: Path):
        with staged_bundle(out) as staged:
            os.utime(staged.directory, (0, 0))
            assert verdicts(root) == {}

    def test_what_a_killed_process_left_goes_once_it_has_settled(self, root: Root, out: Path):
        left = out.with_name(f".{out.name}.0123456789abcdef")
        left.mkdir()
        (left / "rollouts.jsonl").write_text("half\n")
        assert verdicts(root) == {}
        os.utime(left, (0, 0))
        assert verdicts(root) == {left.name: Verdict.DEAD}
        assert [remove(decision) for decision in going(root)] == [Removal.REMOVED]
        assert not left.exists()

    def test_what_a_killed_pruning_left_goes(self, root: Root, out: Path):
        left = out.with_name(f".sediment-pruned-{out.name}")
        left.mkdir()
        assert [remove(decision) for decision in going(root)] == [Removal.REMOVED]
        assert not left.exists()
