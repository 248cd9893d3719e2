"""``sediment derive``: what it prints, what it refuses and in which order (cli.md §3)."""

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from sediment_assets.bundle.encoding import MANIFEST, Population
from tests.cli.command import Evidence, sediment
from tests.directories import names

DEFAULT_DIGEST = "dd6ddc485bcd1dfcdc4e70edea79f71fc5413c984642b1188d3d9087b33fd2d0"
FILES = [MANIFEST, *(population.file for population in Population)]


def error_of(done: subprocess.CompletedProcess[str], code: int = 1) -> str:
    """The one reported error: on stderr, nothing on stdout."""
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    return done.stderr.removeprefix("error: ").removesuffix("\n")


def digests(bundle: Path) -> str:
    return "".join(f"sha256: {name} {hashlib.sha256((bundle / name).read_bytes()).hexdigest()}\n" for name in FILES)


def test_what_a_derivation_prints(tmp_path: Path, evidence: Evidence):
    done = sediment("derive", "--out", ".//b/", cwd=tmp_path, settings=evidence.settings)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "wrote b\n"
        "attributed completions: 0\n"
        "rollouts: 1\n"
        "referenced inference calls: 1\n"
        "skipped: {}\n"
        "excluded: {}\n"
        "fragmented: {}\n"
        f"policy digest: {DEFAULT_DIGEST}\n"
        "as of: 2026-03-02T09:00:00+00:00\n" + digests(tmp_path / "b")
    )
    assert names(tmp_path) == ["b"]
    assert names(tmp_path / "b") == sorted(FILES)


def test_an_organization_without_facts(tmp_path: Path, evidence: Evidence):
    settings = evidence.settings | {"SEDIMENT_ORG_ID": "Nobody", "SEDIMENT_MIRROR_PATH": "none"}
    done = sediment("derive", "--o", "b", cwd=tmp_path, settings=settings)
    assert done.returncode == 0, done.stderr
    assert "rollouts: 0\n" in done.stdout
    assert "as of: none\n" in done.stdout
    facts, mirrors = done.stderr.splitlines()
    assert facts == (
        "no_facts: the Fact store has no visible Fact of organization 'nobody' (SEDIMENT_ORG_ID); "
        "it has 1 other organization: sediment facts shows them"
    )
    assert mirrors.startswith("no_mirrors: none: no such directory, ")
    assert json.loads((tmp_path / "b" / MANIFEST).read_bytes())["org_id"] == "nobody"


@pytest.mark.parametrize(("sample", "shown"), [("0", 0), ("1", 1), ("5", 1)])
def test_samples_are_raw_lines(tmp_path: Path, evidence: Evidence, sample: str, shown: int):
    done = sediment("derive", "--out", "b", "--sample", sample, cwd=tmp_path, settings=evidence.settings)
    lines = (tmp_path / "b" / "rollouts.jsonl").read_text().splitlines()
    assert done.stdout.splitlines()[16:] == [f"sample rollouts.jsonl: {line}" for line in lines[:shown]]


def test_policy_scope_and_counters_are_printed(tmp_path: Path, evidence: Evidence):
    (tmp_path / "p.toml").write_text("schema_version = 1\r\n[split]\r\neval_fraction = 0\r\n")
    done = sediment(
        "derive", "--out", "b", "--pol", "p.toml", "--users", "nobody", " ada ", "ada",
        "--since", "20260101T000000+02", "--until", "2026-12-31 00:00Z", cwd=tmp_path, settings=evidence.settings,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "rollouts: 0\nreferenced inference calls: 0\n" in done.stdout
    assert "excluded: {'rollout_user_scope': 1}\n" in done.stdout
    assert done.stderr == (
        "organization_wide_counters: skipped and fragmented count the whole organization, whatever the scope; "
        "rollouts and excluded follow it\n"
    )
    assert "policy digest: 54223dcc543d2a870504734d97b956eca4edc2db84a4ef986d712f81f5553fae\n" in done.stdout
    assert json.loads((tmp_path / "b" / MANIFEST).read_bytes())["scope"] == {
        "since": "2025-12-31T22:00:00+00:00",
        "until": "2026-12-31T00:00:00+00:00",
        "users": ["ada", "nobody"],
    }


def test_an_export_from_the_bundle_gives_the_direct_rows(tmp_path: Path, evidence: Evidence):
    sediment("derive", "--out", "b", cwd=tmp_path, settings=evidence.settings)
    export = ("export", "rlvr", "--target", "sediment", "--out")
    direct = sediment(*export, "direct", cwd=tmp_path, settings=evidence.settings)
    mirrors = {"SEDIMENT_MIRROR_PATH": evidence.settings["SEDIMENT_MIRROR_PATH"]}
    bundle = sediment(*export, "bundle", "--from", "b", cwd=tmp_path, settings=mirrors)
    assert bundle.stdout.replace("wrote bundle", "wrote direct") == direct.stdout
    for name in ("tasks.train.jsonl", "rollouts.train.jsonl", "environment.yaml"):
        assert (tmp_path / "bundle" / name).read_bytes() == (tmp_path / "direct" / name).read_bytes()


# --- refusals, in the order in which they come (§3.2)

STEPS: list[tuple[list[str], str]] = [
    (["--sample", "-1"], "--sample: expected a number of lines, at least 0, got -1"),
    (["--policy", "none.toml"], "none.toml: expected a readable policy file, got: No such file or directory"),
    (["--since", "yesterday"], "--since: expected an instant such as 2026-07-01T00:00:00Z, got 'yesterday'"),
    (
        ["--until", "2026-01-01"],
        "--until: expected an instant with an offset (Z, +02:00), such as 2026-01-01T00:00:00Z, got '2026-01-01'",
    ),
    (
        ["--users", " "],
        "--users: expected at least one user id and no blank ones",
    ),
]
SETTINGS_ERROR = "settings are missing or wrong:"


@pytest.mark.parametrize("step", range(len(STEPS)))
def test_options_are_checked_in_order_and_before_settings(tmp_path: Path, step: int):
    options = [word for arguments, _ in STEPS[step:] for word in arguments]
    assert error_of(sediment("derive", "--out", "b", *options, cwd=tmp_path)) == STEPS[step][1]
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--since", "2026-01-01T00:00:00"], "--since: expected an instant with an offset"),
        (["--since", "x", "--until", "y"], "--since: "),
        (["--since", "2026-01-01T00:00:00", "--until", "y"], "--since: expected an instant with an offset"),
        (["--since", "2026-01-01T00:00Z", "--until", "2026-01-01T01:00+01:00"], "--since: expected an instant before"),
        (["--since", "2026-01-02T00:00Z", "--until", "2026-01-01T00:00Z", "--users", ""], "--since: expected an insta"),
        (["--since", "0001-01-01T00:00:00+14:00"], "--since: expected an instant of the years 1 to 9999"),
        (["--users", "ada", ""], "--users: expected at least one user id and no blank ones"),
        (["--policy", "."], ".: expected a readable policy file, got: Is a directory"),
    ],
)
def test_values_that_are_refused(tmp_path: Path, arguments: list[str], problem: str):
    assert error_of(sediment("derive", "--out", "b", *arguments, cwd=tmp_path)).startswith(problem)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "schema_version: missing"),
        ("schema_version = true", "schema_version: expected the integer 1, got true"),
        ("schema_version = 2", "schema_version: expected 1, got 2"),
        ("schema_version = 1\nfoo = 1\nbar = 1", "unknown keys: bar, foo"),
        ("schema_version = 1\n[attribution.git_notes]\ny = 1\nx = 1", "unknown keys: attribution.git_notes.x, attrib"),
        ("schema_version = 1\n[split]\neval_fraction = nan", "split.eval_fraction: expected a number from 0 to 0.5"),
        ("schema_version = ", "not TOML"),
    ],
)
def test_policies_that_are_refused(tmp_path: Path, text: str, problem: str):
    (tmp_path / "p.toml").write_text(text)
    message = error_of(sediment("derive", "--out", "b", "--policy", "p.toml", cwd=tmp_path))
    assert message.startswith(f"p.toml: {problem}")
    assert names(tmp_path) == ["p.toml"]


def test_settings_come_before_the_destination(tmp_path: Path, evidence: Evidence):
    (tmp_path / "b").mkdir()
    assert error_of(sediment("derive", "--out", "b", cwd=tmp_path)).startswith(SETTINGS_ERROR)
    settings = evidence.settings | {"SEDIMENT_DATABASE_URL": "mysql://secret@host/db"}
    message = error_of(sediment("derive", "--out", "b", cwd=tmp_path, settings=settings))
    assert message.startswith("SEDIMENT_DATABASE_URL: expected sqlite:///PATH")
    assert "secret" not in message
    settings = {name: value for name, value in evidence.settings.items() if name != "SEDIMENT_MIRROR_PATH"}
    assert error_of(sediment("derive", "--out", "b", cwd=tmp_path, settings=settings)).startswith(
        "SEDIMENT_MIRROR_PATH"
    )


def test_a_mirror_base_that_is_a_file_is_an_error_and_none_is_a_warning(tmp_path: Path, evidence: Evidence):
    (tmp_path / "mirrors").touch()
    settings = evidence.settings | {"SEDIMENT_MIRROR_PATH": "mirrors"}
    message = error_of(sediment("derive", "--out", "b", cwd=tmp_path, settings=settings))
    assert message.endswith("mirrors: expected a directory (SEDIMENT_MIRROR_PATH), got a file")
    assert names(tmp_path) == ["mirrors"]
    (tmp_path / "mirrors").unlink()
    done = sediment("derive", "--out", "b", cwd=tmp_path, settings=settings)
    assert done.returncode == 0
    assert "no_mirrors: mirrors: no such directory, " in done.stderr


@pytest.mark.parametrize("out", ["taken", "none/b", "file/b"])
def test_the_destination_comes_before_the_database(tmp_path: Path, evidence: Evidence, out: str):
    (tmp_path / "taken").mkdir()
    (tmp_path / "file").touch()
    settings = evidence.settings | {"SEDIMENT_DATABASE_URL": "postgresql://user:secret@127.0.0.1:1/none"}
    message = error_of(sediment("derive", "--out", out, cwd=tmp_path, settings=settings))
    assert message.startswith(f"{out}: expected ")
    assert names(tmp_path) == ["file", "taken"]


def test_a_database_that_cannot_be_read_is_named_without_credentials(tmp_path: Path, evidence: Evidence):
    settings = evidence.settings | {"SEDIMENT_DATABASE_URL": "postgresql://user:secret@127.0.0.1:1/none"}
    message = error_of(sediment("derive", "--out", "b", cwd=tmp_path, settings=settings))
    assert "127.0.0.1:1/none" in message
    assert "secret" not in message
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "the following arguments are required: --out"),
        (["--out", ""], "argument --out: expected a directory, got an empty string"),
        (["--out", "b", "--sample", "many"], "argument --sample: invalid int value: 'many'"),
        (["--out", "b", "--users"], "argument --users: expected at least one argument"),
        (["--out", "b", "more"], "unrecognized arguments: more"),
    ],
)
def test_usage_errors(tmp_path: Path, arguments: list[str], problem: str):
    done = sediment("derive", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: sediment derive [-h] --out OUT")
    assert done.stderr.endswith(f"sediment derive: error: {problem}\n")


def test_help_names_every_option(tmp_path: Path):
    text = sediment("derive", "--help", cwd=tmp_path).stdout
    for option in (
        "--out OUT",
        "--policy FILE",
        "--since TIME",
        "--until TIME",
        "--users USER [USER ...]",
        "--sample N",
    ):
        assert option in text
    assert max(map(len, text.splitlines())) <= 80
