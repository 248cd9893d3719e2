"""One planting for every test that only looks at it: none may import into it or write beside it."""

from pathlib import Path

import pytest

from sediment_assets.demo import DemoEvidence, plant_evidence


@pytest.fixture(scope="package")
def planted(tmp_path_factory: pytest.TempPathFactory) -> DemoEvidence:
    return plant_evidence(Path(tmp_path_factory.mktemp("demo")) / "planted")
