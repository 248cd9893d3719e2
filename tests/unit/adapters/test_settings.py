"""Settings: where they come from, which consumer asks for which, and what a wrong one says (cli.md §2)."""

from datetime import date
from pathlib import Path

import pytest

from sediment_assets.adapters.fact_store.location import FactStoreError
from sediment_assets.adapters.settings import Settings, SettingsError
from sediment_assets.targets.environment_manifest import RuntimeSettings

GOOD = {
    "SEDIMENT_ORG_ID": "acme",
    "SEDIMENT_DATABASE_URL": "sqlite:///facts.db",
    "SEDIMENT_MIRROR_PATH": "mirrors",
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in GOOD:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def given(**changes: str) -> Settings:
    return Settings(GOOD | changes, {})


def test_the_environment_wins_over_the_file_whatever_the_case(here: Path, monkeypatch: pytest.MonkeyPatch):
    (here / ".env").write_text("sediment_org_id=from-file\nSEDIMENT_MIRROR_PATH=from-file\nunknown=1\nnoise\n")
    monkeypatch.setenv("Sediment_Org_Id", "from-environment")
    settings = Settings.load()
    assert settings.get("SEDIMENT_ORG_ID") == "from-environment"
    assert settings.get("SEDIMENT_MIRROR_PATH") == "from-file"


def test_an_empty_variable_hides_the_file(here: Path, monkeypatch: pytest.MonkeyPatch):
    (here / ".env").write_text("SEDIMENT_MIRROR_PATH=from-file\n")
    monkeypatch.setenv("SEDIMENT_MIRROR_PATH", "")
    assert Settings.load().get("SEDIMENT_MIRROR_PATH") is None


def test_of_two_spellings_the_upper_case_wins(here: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("sediment_org_id", "SEDIMENT_ORG_ID", "Sediment_org_id"):
        monkeypatch.setenv(name, name.lower() if name.isupper() else "other")
    assert Settings.load().get("SEDIMENT_ORG_ID") == "sediment_org_id"


def test_values_of_the_file_are_not_interpolated(here: Path):
    (here / ".env").write_text("A=x\nSEDIMENT_MIRROR_PATH=${A}/$HOME\n")
    assert Settings.load().get("SEDIMENT_MIRROR_PATH") == "${A}/$HOME"


def test_only_the_current_directory_is_looked_at(here: Path, monkeypatch: pytest.MonkeyPatch):
    (here / ".env").write_text("SEDIMENT_ORG_ID=acme\n")
    (here / "below").mkdir()
    monkeypatch.chdir(here / "below")
    assert Settings.load().get("SEDIMENT_ORG_ID") is None
    assert Settings.load(here).get("SEDIMENT_ORG_ID") == "acme"


def test_a_file_that_is_no_text_is_refused(here: Path):
    (here / ".env").write_bytes(b"\xff=\n")
    with pytest.raises(SettingsError, match=r"^\.env: expected UTF-8 text"):
        Settings.load()


def test_an_organization_is_lower_cased_and_a_url_loses_its_line_end():
    found = given(SEDIMENT_ORG_ID="ACME.x", SEDIMENT_DATABASE_URL="postgresql+psycopg://h/d\r\n").organization()
    assert (found.org_id, found.database_url) == ("acme.x", "postgresql+psycopg://h/d")


@pytest.mark.parametrize("org_id", ["", "a b", "-a", "é", "a" * 65, ".a"])
def test_an_organization_id_has_a_form(org_id: str):
    with pytest.raises(SettingsError, match="SEDIMENT_ORG_ID: expected"):
        given(SEDIMENT_ORG_ID=org_id).organization()


def test_all_that_is_wrong_is_named_at_once():
    with pytest.raises(SettingsError) as error:
        Settings({"SEDIMENT_ORG_ID": "a b"}, {}).evidence()
    assert [line.split(":")[0].strip() for line in str(error.value).splitlines()] == [
        "settings are missing or wrong",
        "SEDIMENT_ORG_ID",
        "SEDIMENT_DATABASE_URL",
        "SEDIMENT_MIRROR_PATH",
    ]


@pytest.mark.parametrize("url", ["mysql://u:hunter2@h/d", "facts.db", "postgresql://u:hunter2@x@h/d", "sqlite://"])
def test_the_form_of_the_url_comes_before_the_mirror_path_and_shows_no_password(url: str):
    settings = given(SEDIMENT_DATABASE_URL=url, SEDIMENT_MIRROR_PATH="")
    with pytest.raises(FactStoreError, match="SEDIMENT_DATABASE_URL: expected") as error:
        settings.evidence()
    assert "hunter2" not in str(error.value)


def test_no_password_is_shown():
    settings = given(SEDIMENT_DATABASE_URL="postgresql://u:hunter2@h/d")
    assert "hunter2" not in repr(settings.organization()) + repr(settings.evidence())


def test_with_a_bundle_the_mirror_path_is_the_environments():
    only_file = Settings({}, {"SEDIMENT_MIRROR_PATH": "mirrors"})
    assert only_file.mirror_path() == Path("mirrors")
    with pytest.raises(SettingsError, match=r"\.env only, which is not read for it with --from"):
        only_file.mirror_path_from_environment()
    with pytest.raises(SettingsError, match="got nothing"):
        Settings({}, {}).mirror_path_from_environment()
    assert given().mirror_path_from_environment() == Path("mirrors")


def test_what_only_an_export_uses_is_optional():
    assert given().verifier_commands_file() is None
    assert given().runtime() == RuntimeSettings()
    settings = Settings(
        {"SEDIMENT_VERIFIER_COMMANDS_FILE": "commands.toml", "SEDIMENT_OPENENV_IMAGE": "image"},
        {"SEDIMENT_OPENENV_PACKAGE": "p", "SEDIMENT_NEMO_GYM_RESOURCES_SERVER": "s", "SEDIMENT_NEMO_GYM_CONFIG": "c"},
    )
    assert settings.verifier_commands_file() == Path("commands.toml")
    assert settings.runtime() == RuntimeSettings("image", "p", "s", "c")


def test_the_graphs_own_settings():
    default = date(2026, 1, 1)
    assert given().partition_start(default) == default
    assert given(SEDIMENT_PARTITION_START="2026-02-03").partition_start(default) == date(2026, 2, 3)
    with pytest.raises(SettingsError, match="SEDIMENT_PARTITION_START: expected a date such as 2026-01-31, got 'soon'"):
        given(SEDIMENT_PARTITION_START="soon").partition_start(default)
    assert given().export_root(Path("exports")) == Path("exports")
    assert given(SEDIMENT_EXPORT_ROOT="/data").export_root(Path("exports")) == Path("/data")
