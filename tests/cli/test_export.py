"""``sediment export rlvr``: what it prints, what it refuses and in which order (cli.md §4)."""

import json
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.cli.export import TARGETS
from sediment_assets.publish.artifacts import CLAIM, LOCK, RECORD
from sediment_assets.publish.record import verify_generation
from sediment_assets.targets.registry import Target
from tests.cli.command import EXPORT, SEDIMENT, Evidence, error_of, sediment
from tests.directories import names


def test_targets_are_those_of_the_registry():
    assert tuple(Target) == TARGETS


def test_the_summary_of_an_export(tmp_path: Path, evidence: Evidence):
    done = sediment(*EXPORT, "--target", "sediment", "--out", "./some//out/", cwd=tmp_path, settings=evidence.settings)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "rollouts derived: 1\n"
        "task rows: 1  skipped: {}\n"
        "rollout rows: 1  skipped: {}\n"
        "fragmented: {}\n"
        "wrote some/out/tasks.train.jsonl (1 rows)\n"
        "wrote some/out/rollouts.train.jsonl (1 rows)\n"
        "wrote some/out/environment.yaml (experimental manifest: no consumer is known to read it)\n"
    )
    assert done.stderr == (
        "jsonl_empty_input_no_write: no rows for tasks.eval.jsonl, rollouts.eval.jsonl, so no such file is written\n"
    )
    out = tmp_path / "some/out"
    assert names(out) == [RECORD, CLAIM, "environment.yaml", "rollouts.train.jsonl", "tasks.train.jsonl"]
    record = verify_generation(out)
    assert (record.asset_keys, record.partition, record.bundle_digest) == ((), None, None)
    task = json.loads((out / "tasks.train.jsonl").read_bytes())
    assert (task["instance_id"], task["base_commit"]) == (f"acme-s1-{evidence.head[:7]}", evidence.base)


def test_populations_a_target_lacks_print_zero(tmp_path: Path, evidence: Evidence):
    done = sediment(*EXPORT, "--tar", "nemo-gym", "--o", "out", "--fr", "", cwd=tmp_path, settings=evidence.settings)
    assert done.stdout == (
        "rollouts derived: 1\n"
        "task rows: 0  skipped: {}\n"
        "rollout rows: 1  skipped: {}\n"
        "fragmented: {}\n"
        "wrote out/rollouts.train.jsonl (1 rows)\n"
    )


def test_nothing_written_is_success(tmp_path: Path, evidence: Evidence):
    settings = evidence.settings | {"SEDIMENT_MIRROR_PATH": "no/such/directory"}
    done = sediment(*EXPORT, "--target", "swe-bench", "--out", "out", cwd=tmp_path, settings=settings)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "rollouts derived: 1\n"
        "task rows: 0  skipped: {'mirror_absent': 1}\n"
        "rollout rows: 0  skipped: {}\n"
        "fragmented: {}\n"
        "nothing written: no Rollout gave a row; existing files in out are left alone\n"
    )
    assert names(tmp_path / "out") == [RECORD, CLAIM]
    assert not (tmp_path / "no").exists()
    assert done.stderr.splitlines()[0] == (
        "no_mirrors: no/such/directory: no such directory, so every repository counts as mirror_absent, and a Session "
        "whose commits only notes tell as no_attributed_commit; check SEDIMENT_MIRROR_PATH, or run sediment mirror sync"
    )


def test_an_export_is_no_bundle(tmp_path: Path, evidence: Evidence):
    assert sediment(*SEDIMENT, cwd=tmp_path, settings=evidence.settings).returncode == 0
    made = SEDIMENT[SEDIMENT.index("--out") + 1]
    again = (*EXPORT, "--target", "sediment", "--out", "again", "--from", made)
    done = sediment(*again, cwd=tmp_path, settings=evidence.settings)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"error: --from {made}: an export, not a derived bundle: sediment derive makes one\n"
    assert not (tmp_path / "again").exists()


def test_a_mirror_base_of_somebody_else_is_warned_of(tmp_path: Path, evidence: Evidence):
    (tmp_path / "documents").mkdir()
    settings = evidence.settings | {"SEDIMENT_MIRROR_PATH": "documents"}
    done = sediment(*EXPORT, "--target", "nemo-gym", "--out", "out", cwd=tmp_path, settings=settings)
    assert done.returncode == 0
    assert done.stderr.startswith("no_mirrors: documents: holds no mirror of organization acme, ")
    bundle = sediment("derive", "--out", "b", cwd=tmp_path, settings=evidence.settings)
    assert bundle.stderr == ""
    done = sediment(*EXPORT, "--target", "sediment", "--from", "b", "--out", "rows", cwd=tmp_path, settings=settings)
    assert done.returncode == 0
    assert done.stderr.startswith("no_mirrors: documents: holds no mirror of organization acme, ")


def test_settings_may_come_from_a_dotenv_file(tmp_path: Path, evidence: Evidence):
    (tmp_path / ".env").write_text("".join(f"{name.lower()}={value}\n" for name, value in evidence.settings.items()))
    done = sediment(*SEDIMENT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_bad_verification_commands_file_only_warns(tmp_path: Path, evidence: Evidence):
    (tmp_path / "commands.toml").write_text('[repos."\\u001B[31mno-slash"]\nverification_command = "x"\n')
    settings = evidence.settings | {"SEDIMENT_VERIFIER_COMMANDS_FILE": "commands.toml"}
    done = sediment(*SEDIMENT, cwd=tmp_path, settings=settings)
    assert done.returncode == 0
    assert done.stderr.startswith("verifier_command_entry_invalid: ")
    assert "\x1b" not in done.stderr
    for content in (None, b"not TOML"):
        path = tmp_path / "commands.toml"
        path.unlink()
        path.mkdir() if content is None else path.write_bytes(content)
        out = tmp_path / f"out{content}"
        done = sediment(*EXPORT, "--target", "nemo-gym", "--out", out, cwd=tmp_path, settings=settings)
        assert done.returncode == 0
        assert done.stderr.startswith("verifier_commands_unusable: ")
        if content is None:
            path.rmdir()
            path.touch()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--out", "out"], "{sediment,swe-bench,nemo-gym}"),
        (["--target", "sediment"], "--out"),
        (["--out", "", "--target", "sediment"], "expected a directory, got an empty string"),
        (["--out", "out", "--target", "Sediment"], "invalid choice: 'Sediment'"),
        (["--out", "out", "--target", "nemo-gym", "--profile", "other"], "invalid choice: 'other'"),
        (["--out", "out", "--target", "nemo-gym", "--policy", "p.toml"], "unrecognized arguments: --policy p.toml"),
    ],
)
def test_usage_errors(tmp_path: Path, evidence: Evidence, arguments: list[str], says: str):
    done = sediment(*EXPORT, *arguments, cwd=tmp_path, settings=evidence.settings)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: sediment export rlvr")
    assert says in done.stderr
    assert names(tmp_path) == []


def test_every_missing_setting_is_named_with_its_remedy(tmp_path: Path):
    error = error_of(sediment(*SEDIMENT, "--profile", "swe-bench-tasks-v1", cwd=tmp_path))
    first, *others = error.splitlines()
    assert first == "error: settings are missing or wrong:"
    assert [line.split(":")[0] for line in others] == [
        "  SEDIMENT_ORG_ID", "  SEDIMENT_DATABASE_URL", "  SEDIMENT_MIRROR_PATH",
    ]  # fmt: skip
    assert all("expected" in line and "set it in" in line for line in others)


@pytest.mark.parametrize(
    ("changes", "extra", "says"),
    [
        # In the order of cli.md §4.1: each row would fail at its own step and at every later one.
        ({"SEDIMENT_ORG_ID": "a b"}, ["--profile", "swe-bench-tasks-v1"], "SEDIMENT_ORG_ID: expected"),
        ({"SEDIMENT_DATABASE_URL": "\r\n"}, ["--profile", "swe-bench-tasks-v1"], "SEDIMENT_DATABASE_URL: expected"),
        (
            {"SEDIMENT_DATABASE_URL": "mysql://h/d"},
            ["--profile", "swe-bench-tasks-v1"],
            "SEDIMENT_DATABASE_URL: expected",
        ),
        (
            {"SEDIMENT_DATABASE_URL": "postgresql://u:hunter@2@host/d"},
            ["--profile", "swe-bench-tasks-v1"],
            "percent-encode",
        ),
        ({}, ["--profile", "swe-bench-tasks-v1"], "expected --target swe-bench, got --target sediment"),
        ({}, ["--consumer-config", "c.json"], "--consumer-config: expected together with --profile"),
        ({}, [], "SEDIMENT_MIRROR_PATH: expected"),
    ],
)
def test_checks_come_in_order(tmp_path: Path, evidence: Evidence, changes: dict[str, str], extra: list[str], says: str):
    settings = evidence.settings | changes
    del settings["SEDIMENT_MIRROR_PATH"]
    (tmp_path / "out").touch()
    error = error_of(sediment(*SEDIMENT, *extra, cwd=tmp_path, settings=settings))
    assert says in error
    assert "hunter" not in error
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("target", TARGETS)
def test_every_direct_export_needs_the_mirror_path(tmp_path: Path, evidence: Evidence, target: str):
    settings = evidence.settings | {"SEDIMENT_MIRROR_PATH": ""}
    error = error_of(sediment(*EXPORT, "--target", target, "--out", "out", cwd=tmp_path, settings=settings))
    assert "SEDIMENT_MIRROR_PATH" in error
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("profile", "target", "packages"),
    [("swe-bench-tasks-v1", "swe-bench", "swebench 5.0.1"), ("nemo-gym-rollouts-v1", "nemo-gym", "nemo-gym 0.2.1")],
)
def test_a_profile_fails_like_a_missing_package(tmp_path: Path, evidence: Evidence, profile, target, packages):
    done = sediment(
        *EXPORT, "--target", target, "--out", "out", "--profile", profile, cwd=tmp_path, settings=evidence.settings
    )
    assert packages in error_of(done)
    assert names(tmp_path) == []


def test_a_missing_bundle_is_reported_before_a_missing_mirror_path(tmp_path: Path):
    error = error_of(sediment(*SEDIMENT, "--from", "bundle", cwd=tmp_path))
    assert "--from bundle: expected the directory of a derived bundle, got none; " in error
    assert "make one with sediment derive --out bundle" in error
    assert "SEDIMENT" not in error
    assert names(tmp_path) == []


@pytest.mark.parametrize("url", ["sqlite:///no.db", "sqlite:////no/such/place/facts.db"])
def test_a_missing_store_creates_nothing(tmp_path: Path, evidence: Evidence, url: str):
    error_of(sediment(*SEDIMENT, cwd=tmp_path, settings=evidence.settings | {"SEDIMENT_DATABASE_URL": url}))
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("prepare", "says"),
    [
        (lambda out: out.write_text("mine"), "expected a directory or nothing at the output path"),
        (lambda out: (out / LOCK).mkdir(parents=True), "in progress"),
        (lambda out: (out.mkdir(), (out / CLAIM).write_text("nemo-gym\n")), "belongs to target nemo-gym"),
        (lambda out: (out.mkdir(), (out / CLAIM).write_bytes(b"\xff")), "got other content"),
        (lambda out: (out.mkdir(), (out / "rollouts.jsonl").touch()), "without a claim file"),
        (
            lambda out: (out.mkdir(), (out / CLAIM).write_text("sediment\n"), (out / "environment.yaml").touch()),
            "holds environment.yaml",
        ),
    ],
)
def test_an_output_directory_that_is_not_fresh_is_refused(tmp_path: Path, evidence: Evidence, prepare: Any, says: str):
    prepare(tmp_path / "out")
    before = sorted(tmp_path.rglob("*"))
    assert says in error_of(sediment(*SEDIMENT, cwd=tmp_path, settings=evidence.settings))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_second_export_is_refused_and_changes_nothing(tmp_path: Path, evidence: Evidence):
    assert sediment(*SEDIMENT, cwd=tmp_path, settings=evidence.settings).returncode == 0
    record = verify_generation(tmp_path / "out")
    error = error_of(sediment(*SEDIMENT, cwd=tmp_path, settings=evidence.settings))
    assert "already holds an export" in error
    assert verify_generation(tmp_path / "out") == record
