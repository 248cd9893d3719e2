"""One export from Rollouts to a complete generation: files, record, summary, warnings (targets.md §11–13, §15)."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from sediment_assets.derive.policy import DEFAULT_POLICY
from sediment_assets.derive.split import Split
from sediment_assets.publish.artifacts import CLAIM, LOCK, RECORD
from sediment_assets.publish.claim import ClaimError, LockHeldError
from sediment_assets.publish.durable import PublishError
from sediment_assets.publish.export import ExportSettings, export_rlvr, stage_export
from sediment_assets.publish.generation import claimed_directory
from sediment_assets.publish.record import IncompleteGenerationError, read_record, verify_generation
from sediment_assets.publish.summary import ExportSummary, WarningEvent
from sediment_assets.targets.environment_manifest import RuntimeSettings
from sediment_assets.targets.projection import MirrorsRequiredError, Projector
from sediment_assets.targets.registry import Target, UnknownTargetError
from sediment_assets.targets.verification_commands import VerificationCommands
from tests.directories import names
from tests.rollout_source import MemorySource
from tests.unit.targets.worked_tally import ROLLOUTS, mirrors, resolver

ONE_FILE = replace(DEFAULT_POLICY, eval_fraction=0)


def source(rollouts: Any = ROLLOUTS, **values: Any) -> MemorySource:
    return MemorySource(rollouts, resolver(), **values)


def export(out: Path, target: Target | str = Target.SEDIMENT, given: MemorySource | None = None, **options: Any):
    return export_rlvr(given or source(), mirrors(), out, target=target, **options)


def events(summary: ExportSummary) -> list[WarningEvent]:
    return [warning.event for warning in summary.warnings]


def content(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_the_worked_tally_as_a_summary(tmp_path: Path):
    summary = export(tmp_path / "out")
    assert list(vars_of(summary))[:9] == [
        "target", "rollouts", "task_rows", "task_skipped", "rollout_rows", "rollout_skipped", "written",
        "environment_manifest", "fragmented",
    ]  # fmt: skip
    assert (summary.target, summary.rollouts, summary.task_rows, summary.rollout_rows) == ("sediment", 10, 4, 11)
    assert list(summary.task_skipped) == [
        "no_attributed_commit", "missing_verifier_evidence", "root_commit_no_base", "degenerate_commit_range",
        "mirror_absent", "no_commit_in_verifier_repo", "ambiguous_workflow_verdicts",
    ]  # fmt: skip
    assert summary.rollout_skipped == {"ambiguous_workflow_verdicts": 1}
    assert summary.written == {tmp_path / "out/tasks.train.jsonl": 4, tmp_path / "out/rollouts.train.jsonl": 11}
    assert summary.environment_manifest == tmp_path / "out/environment.yaml"
    assert summary.fragmented == {"input_history_changed": 1}
    assert summary.record == verify_generation(tmp_path / "out")


def vars_of(summary: ExportSummary) -> dict[str, Any]:
    return {name: getattr(summary, name) for name in summary.__dataclass_fields__}


@pytest.mark.parametrize(
    ("target", "tasks", "rollouts", "files"),
    [
        (Target.SEDIMENT, 4, 11, ["environment.yaml", "rollouts.jsonl", "tasks.jsonl"]),
        (Target.SWE_BENCH, 3, 0, ["tasks.jsonl"]),
        (Target.NEMO_GYM, 0, 11, ["rollouts.jsonl"]),
    ],
)
def test_each_target_writes_its_files_and_nothing_else(tmp_path: Path, target: Target, tasks, rollouts, files):
    summary = export(tmp_path, target, source(policy=ONE_FILE))
    assert (summary.task_rows, summary.rollout_rows) == (tasks, rollouts)
    assert names(tmp_path) == sorted([*files, CLAIM, RECORD])
    for path in tmp_path.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.stat().st_nlink == 1


def test_rows_follow_the_rollouts_and_are_lines_of_json(tmp_path: Path):
    export(tmp_path, Target.NEMO_GYM, source(policy=ONE_FILE))
    data = (tmp_path / "rollouts.jsonl").read_bytes()
    assert data.endswith(b"}\n")
    assert b"\n\n" not in data
    sessions = [json.loads(line)["metadata"]["session_id"] for line in data.splitlines()]
    assert list(dict.fromkeys(sessions)) == [rollout.session_id for rollout in ROLLOUTS]


def test_both_sides_of_a_split_have_their_files(tmp_path: Path):
    mixed = [replace(ROLLOUTS[0], split=Split.EVAL), ROLLOUTS[1]]
    summary = export(tmp_path, given=source(mixed))
    assert [path.name for path in summary.written] == [
        "tasks.train.jsonl", "tasks.eval.jsonl", "rollouts.train.jsonl", "rollouts.eval.jsonl",
    ]  # fmt: skip
    assert yaml.safe_load((tmp_path / "environment.yaml").read_text())["environments"][0]["splits"] == ["train", "eval"]


def test_the_record_says_what_was_exported_from_what(tmp_path: Path):
    given = source(
        quarantine_revision=7, bundle_digest="b" * 64, mirror_revisions={"acme/widget": {"refs/heads/x": "y"}}
    )
    record = export(tmp_path, given=given, asset_keys=["rlvr/sediment/tasks"], partition="2026-01-02").record
    canonical = b'{"acme/widget":{"refs/heads/x":"y"}}'
    assert record.target == "sediment"
    assert (record.asset_keys, record.partition) == (("rlvr/sediment/tasks",), "2026-01-02")
    assert (record.org_id, record.as_of, record.quarantine_revision) == ("acme", "2026-01-02T03:04:05+00:00", 7)
    assert record.policy_digest == "dd6ddc485bcd1dfcdc4e70edea79f71fc5413c984642b1188d3d9087b33fd2d0"
    assert record.ci_policy_digest == "c3e845fa8d55cf0a7c5a0b4ad2f39c1dbfe1d237776fc825343cd6eb771035f9"
    assert record.bundle_digest == "b" * 64
    assert record.mirror_revisions_digest == hashlib.sha256(canonical).hexdigest()
    assert {name: population.rows for name, population in record.populations.items()} == {"tasks": 4, "rollouts": 11}
    assert record.populations["rollouts"].skipped == {"ambiguous_workflow_verdicts": 1}
    assert (record.rollouts, record.derivation_skipped) == (10, {"no_match": 3})
    assert {name: file.rows for name, file in record.files.items()} == {
        "tasks.train.jsonl": 4, "rollouts.train.jsonl": 11, "environment.yaml": None,
    }  # fmt: skip


def test_equal_exports_have_equal_bytes(tmp_path: Path):
    export(tmp_path / "one")
    export(tmp_path / "two")
    assert content(tmp_path / "one") == content(tmp_path / "two")


def test_an_export_never_changes_an_earlier_one(tmp_path: Path):
    export(tmp_path)
    before = content(tmp_path)
    for target in Target:
        with pytest.raises(ClaimError):
            export(tmp_path, target, source([]))
    assert content(tmp_path) == before


def test_also_without_its_files_an_export_is_not_replaced(tmp_path: Path):
    export(tmp_path)
    for name in ("tasks.train.jsonl", "rollouts.train.jsonl", "environment.yaml"):
        (tmp_path / name).unlink()
    with pytest.raises(ClaimError, match="already holds an export"):
        export(tmp_path)


def test_nothing_to_write_is_success(tmp_path: Path):
    summary = export(tmp_path, given=source([]))
    assert (summary.written, summary.environment_manifest, summary.rollouts) == ({}, None, 0)
    assert names(tmp_path) == [RECORD, CLAIM]
    assert verify_generation(tmp_path).files == {}
    assert events(summary) == [WarningEvent.JSONL_EMPTY_INPUT_NO_WRITE, WarningEvent.ENVIRONMENT_MANIFEST_NO_TASKS]


def test_after_nothing_to_write_the_directory_is_still_fresh(tmp_path: Path):
    export(tmp_path, given=source([]))
    export(tmp_path, given=source([]))
    summary = export(tmp_path)
    assert summary.record == verify_generation(tmp_path)
    assert summary.task_rows == 4


def test_a_manifest_needs_task_rows_not_rollout_rows(tmp_path: Path):
    nocommit = [rollout for rollout in ROLLOUTS if rollout.session_id == "nocommit"]
    summary = export(tmp_path, given=source(nocommit))
    assert names(tmp_path) == [RECORD, CLAIM, "rollouts.train.jsonl"]
    assert WarningEvent.ENVIRONMENT_MANIFEST_NO_TASKS in events(summary)


def test_warnings_are_one_per_matter(tmp_path: Path):
    settings = ExportSettings(
        VerificationCommands(warnings=("entry a", "entry b")),
        RuntimeSettings(openenv_image="image", openenv_package="package", nemo_gym_config="config"),
    )
    summary = export(tmp_path, settings=settings)
    assert events(summary) == [
        WarningEvent.VERIFIER_COMMAND_ENTRY_INVALID,
        WarningEvent.VERIFIER_COMMAND_ENTRY_INVALID,
        WarningEvent.JSONL_EMPTY_INPUT_NO_WRITE,
        WarningEvent.RUNTIME_SETTING_IGNORED,
        WarningEvent.RUNTIME_SETTING_IGNORED,
    ]
    assert str(summary.warnings[2]) == (
        "jsonl_empty_input_no_write: no rows for tasks.eval.jsonl, rollouts.eval.jsonl, so no such file is written"
    )
    unusable = ExportSettings(VerificationCommands(warnings=("no TOML",), usable=False))
    summary = export(tmp_path / "other", Target.NEMO_GYM, source(policy=ONE_FILE), settings=unusable)
    assert events(summary) == [WarningEvent.VERIFIER_COMMANDS_UNUSABLE]


def test_progress_is_told_after_each_rollout(tmp_path: Path):
    told: list[str] = []
    export(tmp_path, Target.NEMO_GYM, progress=lambda rollout: told.append(rollout.session_id))
    assert told == [rollout.session_id for rollout in ROLLOUTS]


def test_nemo_gym_needs_no_mirrors(tmp_path: Path):
    assert export_rlvr(source(), None, tmp_path, target="nemo-gym").rollout_rows == 11


@pytest.mark.parametrize(
    ("target", "error"),
    [("Sediment", UnknownTargetError), ("", UnknownTargetError), ("sediment", MirrorsRequiredError)],
)
def test_a_wrong_call_touches_nothing(tmp_path: Path, target: str, error: type[Exception]):
    with pytest.raises(error):
        export_rlvr(source(), None, tmp_path / "out", target=target)
    assert names(tmp_path) == []


def test_a_source_that_fails_midway_publishes_nothing(tmp_path: Path):
    def broken():
        yield from ROLLOUTS[:3]
        raise LookupError("the database went away")

    with pytest.raises(LookupError):
        export(tmp_path, given=source(broken()))
    assert names(tmp_path) == [CLAIM]
    assert export(tmp_path).task_rows == 4


def stage(out: Path, generation: Any):
    projector = Projector(Target.SEDIMENT, resolver(), mirrors=mirrors())
    return stage_export(generation, source(), projector)


def test_published_but_not_completed_is_taken_back(tmp_path: Path):
    with claimed_directory(tmp_path, Target.SEDIMENT) as generation:
        staged = stage(tmp_path, generation)
        assert {"tasks.train.jsonl", RECORD}.isdisjoint(names(tmp_path))
        generation.publish(staged.files)
        assert "tasks.train.jsonl" in names(tmp_path)
        with pytest.raises(IncompleteGenerationError, match="is running or was killed"):
            read_record(tmp_path)
    assert names(tmp_path) == [CLAIM]


def test_a_name_that_appears_meanwhile_is_not_overwritten(tmp_path: Path):
    def publish_into_a_race() -> None:
        with claimed_directory(tmp_path, Target.SEDIMENT) as generation:
            staged = stage(tmp_path, generation)
            (tmp_path / "environment.yaml").write_text("mine")
            generation.publish(staged.files)

    with pytest.raises(ClaimError, match=r"environment\.yaml: appeared while this export was running"):
        publish_into_a_race()
    assert names(tmp_path) == [CLAIM, "environment.yaml"]
    assert (tmp_path / "environment.yaml").read_text() == "mine"


def test_an_export_that_lost_its_lock_publishes_nothing(tmp_path: Path):
    def lose_the_lock() -> None:
        with claimed_directory(tmp_path, Target.SEDIMENT) as generation:
            staged = stage(tmp_path, generation)
            (tmp_path / LOCK).rmdir()
            (tmp_path / LOCK).mkdir()
            generation.publish(staged.files)

    with pytest.raises(LockHeldError, match="removed or replaced meanwhile"):
        lose_the_lock()
    assert names(tmp_path) == [LOCK, CLAIM]


def test_an_output_directory_that_vanishes_is_one_line(tmp_path: Path):
    out = tmp_path / "out"

    def vanish(_: object) -> None:
        if out.exists():
            out.rename(tmp_path / "elsewhere")

    with pytest.raises(PublishError) as error:
        export(out, progress=vanish)
    assert str(error.value).startswith(f"{out}/")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "elsewhere" / RECORD).exists()
