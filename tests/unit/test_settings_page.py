"""docs/settings.md knows every setting that the program reads, and no other."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SETTING = re.compile(r"SEDIMENT_[A-Z_]*[A-Z]")
NO_SETTINGS = {"SEDIMENT_CLONE_USERNAME", "SEDIMENT_CLONE_PASSWORD"}
"""Names that the program itself gives to the git it starts."""


def named_in(*paths: Path) -> set[str]:
    return {name for path in paths for name in SETTING.findall(path.read_text())}


def test_the_settings_page_names_what_the_program_and_the_deployments_read():
    program = [path for package in ("sediment_assets", "resources") for path in (ROOT / package).rglob("*.py")]
    deployments = [path for path in (ROOT / "docs/deployment").rglob("*") if path.suffix in (".yaml", ".env")]
    known = named_in(*program, *deployments, ROOT / "docs/operations.md")
    assert named_in(ROOT / "docs/settings.md") == known - NO_SETTINGS
