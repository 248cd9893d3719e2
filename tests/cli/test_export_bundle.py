"""``sediment export rlvr --from BUNDLE``: the same bytes, and which settings count (cli.md §4)."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.adapters.bundle_dir import derive_bundle
from sediment_assets.adapters.evidence import open_evidence
from sediment_assets.cli.export import TARGETS
from sediment_assets.publish.record import verify_generation
from tests.cli.command import EXPORT, SEDIMENT, Evidence, error_of, sediment
from tests.directories import names


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
