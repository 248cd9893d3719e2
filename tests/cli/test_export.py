"""``sediment export rlvr``: what it prints, what it refuses and in which order (cli.md §4)."""

import json
import os
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.adapters.bundle_dir import derive_bundle
from sediment_assets.adapters.evidence import open_evidence
from sediment_assets.cli.export import TARGETS
from sediment_assets.publish.artifacts import CLAIM, LOCK, RECORD
from sediment_assets.publish.record import verify_generation
from sediment_assets.targets.registry import Target
from tests.cli.command import BASE_ENVIRONMENT, COMMAND, Evidence, default_signals, sediment
from tests.directories import names

EXPORT = ("export", "rlvr")
SEDIMENT = (*EXPORT, "--target", "sediment", "--out", "out")


def error_of(done: subprocess.CompletedProcess[str], code: int = 1) -> str:
    """The one reported error: on stderr, nothing on stdout."""
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    return done.stderr


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
        ({"SEDIMENT_DATABASE_URL": "mysql://h/d"}, ["--profile", "swe-bench-tasks-v1"], "database URL: expected"),
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


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory, evidence: Evidence) -> Path:
    out = tmp_path_factory.mktemp("bundles") / "bundle"
    organization, url, mirrors = evidence.settings.values()
    with open_evidence(organization, url, Path(mirrors)) as opened:
        derive_bundle(opened.facts, opened.mirrors, out)
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_a_bundle_gives_the_bytes_of_a_direct_export(tmp_path: Path, evidence: Evidence, bundle: Path, target: str):
    direct = sediment(*EXPORT, "--target", target, "--out", "direct", cwd=tmp_path, settings=evidence.settings)
    mirrors = {"sediment_mirror_path": evidence.settings["SEDIMENT_MIRROR_PATH"]} if target != "nemo-gym" else {}
    again = sediment(*EXPORT, "--target", target, "--out", "again", "--from", bundle, cwd=tmp_path, settings=mirrors)
    assert again.returncode == 0, again.stderr
    assert again.stdout == direct.stdout.replace(" direct/", " again/")
    one, two = verify_generation(tmp_path / "direct"), verify_generation(tmp_path / "again")
    assert one.bundle_digest is None
    assert two == one.model_copy(update={"bundle_digest": two.bundle_digest})


def test_with_a_bundle_the_mirror_path_of_a_dotenv_file_does_not_count(
    tmp_path: Path, evidence: Evidence, bundle: Path
):
    (tmp_path / ".env").write_text(f"SEDIMENT_MIRROR_PATH={evidence.settings['SEDIMENT_MIRROR_PATH']}\n")
    error = error_of(sediment(*SEDIMENT, "--from", bundle, cwd=tmp_path))
    assert "SEDIMENT_MIRROR_PATH: expected" in error
    assert "with --from" in error
    assert names(tmp_path) == [".env"]


def test_with_a_bundle_other_settings_of_a_dotenv_file_count(tmp_path: Path, evidence: Evidence, bundle: Path):
    (tmp_path / ".env").write_text("SEDIMENT_OPENENV_IMAGE=ghcr.io/acme/env\nSEDIMENT_ORG_ID=not an id\n")
    settings = {"SEDIMENT_MIRROR_PATH": evidence.settings["SEDIMENT_MIRROR_PATH"], "SEDIMENT_DATABASE_URL": "junk"}
    done = sediment(*SEDIMENT, "--from", bundle, cwd=tmp_path, settings=settings)
    assert done.returncode == 0, done.stderr
    assert "image: ghcr.io/acme/env" in (tmp_path / "out/environment.yaml").read_text()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda bundle: (bundle / "manifest.json").unlink(),
        lambda bundle: (bundle / "rollouts.jsonl").write_bytes(b""),
    ],
)
def test_a_broken_bundle_creates_nothing(tmp_path: Path, bundle: Path, spoil: Any):
    shutil.copytree(bundle, tmp_path / "bundle")
    spoil(tmp_path / "bundle")
    assert "bundle/" in error_of(sediment(*SEDIMENT, "--from", "bundle", cwd=tmp_path))
    assert names(tmp_path) == ["bundle"]


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


def test_an_export_never_imports_dagster(tmp_path: Path, evidence: Evidence):
    code = (
        "import sys\n"
        "from sediment_assets.cli.main import main\n"
        f"assert main({list(SEDIMENT)}) == 0\n"
        "assert 'sqlalchemy' in sys.modules\n"
        "assert not [name for name in sys.modules if name.partition('.')[0] in ('dagster', 'resources', 'rich')]\n"
    )
    done = subprocess.run(
        [COMMAND[0], "-c", code], cwd=tmp_path, env=BASE_ENVIRONMENT | evidence.settings, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def on_terminal(cwd: Path, settings: dict[str, str], *arguments: str) -> str:
    """Run with a terminal as output and error stream; return what it received."""
    terminal, end = os.openpty()
    process = subprocess.Popen([*COMMAND, *arguments], cwd=cwd, env=BASE_ENVIRONMENT | settings, stdout=end, stderr=end)
    os.close(end)
    received = b""
    try:
        while chunk := os.read(terminal, 65536):
            received += chunk
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(terminal)
    process.wait()
    return received.decode()


def test_a_terminal_gets_marks_colours_and_notes_unless_it_declines(tmp_path: Path, evidence: Evidence):
    settings = evidence.settings | {"TERM": "xterm", "SEDIMENT_VERIFIER_COMMANDS_FILE": "no.toml"}
    text = on_terminal(tmp_path, settings, *SEDIMENT)
    assert "\x1b[32m✓\x1b[0m wrote out/tasks.train.jsonl (1 rows)" in text
    assert "no.toml: no such file" in text
    assert "\x1b[31m✗\x1b[0m error: out: already holds an export" in on_terminal(tmp_path, settings, *SEDIMENT)
    for decline in ({"NO_COLOR": ""}, {"TERM": "dumb"}):
        out = f"out-{next(iter(decline))}"
        text = on_terminal(tmp_path, settings | decline, *EXPORT, "--target", "nemo-gym", "--out", out)
        assert f"wrote {out}/rollouts.train.jsonl (1 rows)" in text
        assert "\x1b" not in text


def start_and_stop_while_projecting(
    tmp_path: Path, evidence: Evidence, number: int
) -> subprocess.CompletedProcess[str]:
    """Start an export, and send a signal while it holds the claim and waits for git."""
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(f'#!/bin/sh\n[ -e "{tmp_path}/out/{LOCK}" ] && exec sleep 30\nexec {real} "$@"\n')
    slow.chmod(slow.stat().st_mode | stat.S_IXUSR)
    environment = BASE_ENVIRONMENT | evidence.settings
    environment["PATH"] = f"{slow.parent}:{environment['PATH']}"
    process = subprocess.Popen(
        [*COMMAND, *SEDIMENT],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=default_signals,
    )
    deadline = time.monotonic() + 300
    while not (tmp_path / "out" / CLAIM).exists() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    time.sleep(0.2)
    process.send_signal(number)
    output, error = process.communicate(timeout=300)
    return subprocess.CompletedProcess(process.args, process.returncode, output, error)


@pytest.mark.parametrize(
    ("number", "code", "error"),
    [
        (signal.SIGINT, 130, "error: interrupted; nothing was left half-written\n"),
        (signal.SIGTERM, 143, ""),
        (signal.SIGHUP, 129, ""),
    ],
)
def test_a_stopped_export_leaves_only_the_claim(tmp_path: Path, evidence: Evidence, number: int, code: int, error: str):
    done = start_and_stop_while_projecting(tmp_path, evidence, number)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", error)
    assert names(tmp_path / "out") == [CLAIM]


def test_a_killed_export_refuses_the_next_until_its_lock_is_removed(tmp_path: Path, evidence: Evidence):
    assert start_and_stop_while_projecting(tmp_path, evidence, signal.SIGKILL).returncode == -signal.SIGKILL
    assert LOCK in names(tmp_path / "out")
    assert "in progress, or was killed" in error_of(sediment(*SEDIMENT, cwd=tmp_path, settings=evidence.settings))
    (tmp_path / "out" / LOCK).rmdir()
    assert sediment(*SEDIMENT, cwd=tmp_path, settings=evidence.settings).returncode == 0
    assert names(tmp_path / "out") == [RECORD, CLAIM, "environment.yaml", "rollouts.train.jsonl", "tasks.train.jsonl"]
