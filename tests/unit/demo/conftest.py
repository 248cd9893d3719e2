"""One planting, and one that was imported, for every test that only looks at them: none may write beside them."""

from pathlib import Path

import pytest

from sediment_assets.cli.demo import import_evidence
from sediment_assets.demo import DemoEvidence, plant_evidence


@pytest.fixture(scope="package")
def planted(tmp_path_factory: pytest.TempPathFactory) -> DemoEvidence:
    return plant_evidence(Path(tmp_path_factory.mktemp("demo")) / "planted")


@pytest.fixture(scope="package")
def imported(tmp_path_factory: pytest.TempPathFactory) -> DemoEvidence:
    evidence = plant_evidence(tmp_path_factory.mktemp("imported"))
    import_evidence(evidence)
    return evidence
