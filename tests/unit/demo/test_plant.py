"""Planting: the same bytes everywhere, idempotent, never into a directory of someone else."""

import subprocess
from pathlib import Path

import pytest

from sediment_assets.demo import DemoEvidence, PlantingError, plant_evidence
from sediment_assets.demo.sessions import build_demo

GOLDEN_DIGEST = "b47238888db21203463c5e451230449406b2e622547d58bef2bcfc518446f973"
"""Of everything planted. Changes only together with the demo's content."""
LEDGER_MIRROR = "mirrors/repositories-v1/acme/github/git.example.test/712345001"
DASHBOARD_MIRROR = "mirrors/acme%2Facme%2Ftelemetry-dashboard"


def tree(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def git(directory: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=directory, check=True, capture_output=True, text=True).stdout


def test_the_evidence_is_the_same_on_every_machine(planted: DemoEvidence):
    assert planted.digest == GOLDEN_DIGEST


def test_telling_the_stories_again_gives_the_same_evidence():
    build_demo.cache_clear()
    first = build_demo()
    build_demo.cache_clear()
    second = build_demo()
    assert first is not second
    assert first.evidence.files() == second.evidence.files()
    assert [r.history.stream() for r in first.mirrored] == [r.history.stream() for r in second.mirrored]


def test_two_plantings_are_equal_to_the_byte(tmp_path: Path):
    plant_evidence(tmp_path / "one")
    plant_evidence(tmp_path / "two")
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_the_operators_git_configuration_changes_nothing(
    tmp_path: Path, planted: DemoEvidence, monkeypatch: pytest.MonkeyPatch
):
    configuration = tmp_path / "gitconfig"
    configuration.write_text("[init]\n\tdefaultBranch = trunk\n[core]\n\tautocrlf = true\n[user]\n\tname = someone\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "someone")
    plant_evidence(tmp_path / "demo")
    assert tree(tmp_path / "demo") == tree(planted.directory)


def test_planting_again_leaves_a_complete_planting_alone(tmp_path: Path):
    assert plant_evidence(tmp_path / "demo").fresh
    extra = tmp_path / "demo" / "facts.db"
    extra.write_text("a store made since")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "demo").rglob("*")}
    assert not plant_evidence(tmp_path / "demo").fresh
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "demo").rglob("*")} == before


def test_an_interrupted_planting_is_done_again(tmp_path: Path, planted: DemoEvidence):
    plant_evidence(tmp_path)
    (tmp_path / ".sediment-demo").write_text("incomplete\n")
    (tmp_path / "facts" / "pushes.jsonl").write_text("{")
    (tmp_path / LEDGER_MIRROR / "HEAD").unlink()
    assert plant_evidence(tmp_path).fresh
    assert tree(tmp_path) == tree(planted.directory)


def test_a_directory_with_other_files_is_refused_untouched(tmp_path: Path):
    (tmp_path / "thesis.tex").write_text("do not touch")
    with pytest.raises(PlantingError, match="expected an empty directory for the demo, got files that are not its"):
        plant_evidence(tmp_path)
    assert tree(tmp_path) == {"thesis.tex": b"do not touch"}


def test_another_version_of_the_demo_is_refused_untouched(tmp_path: Path):
    (tmp_path / ".sediment-demo").write_text("0" * 64 + "\n")
    with pytest.raises(PlantingError, match="another version of it; remove the directory first"):
        plant_evidence(tmp_path)
    assert set(tree(tmp_path)) == {".sediment-demo"}


def test_a_file_in_the_place_of_the_directory_is_refused(tmp_path: Path):
    (tmp_path / "demo").write_text("")
    with pytest.raises(PlantingError, match="expected a directory for the demo, got a file"):
        plant_evidence(tmp_path / "demo")


@pytest.mark.parametrize(
    ("mirror", "branches"),
    [
        (LEDGER_MIRROR, {"main", "import-rows", "import-stream"}),
        (DASHBOARD_MIRROR, {"main", "gh-pages"}),
    ],
)
def test_mirrors_are_whole_and_hold_their_refs(planted: DemoEvidence, mirror: str, branches: set[str]):
    directory = planted.directory / mirror
    refs = set(git(directory, "for-each-ref", "--format=%(refname)").split())
    assert refs == {f"refs/heads/{branch}" for branch in branches} | {"refs/notes/sediment"}
    assert git(directory, "fsck", "--full", "--strict") == ""
    assert git(directory, "notes", "--ref=sediment", "list").count("\n") > 10


def test_the_repository_without_a_mirror_has_none(planted: DemoEvidence):
    assert not (planted.directory / "mirrors/repositories-v1/acme/github/git.example.test/712345003").exists()


def test_settings_point_into_the_directory(planted: DemoEvidence):
    env = dict(line.split("=", 1) for line in (planted.directory / ".env").read_text().splitlines())
    assert set(env) == set(planted.settings)
    assert env["SEDIMENT_DATABASE_URL"] == "sqlite:///facts.db"
    assert planted.settings["SEDIMENT_DATABASE_URL"] == f"sqlite:///{planted.directory / 'facts.db'}"
    assert planted.settings["SEDIMENT_MIRROR_PATH"] == str(planted.directory / "mirrors")
