"""Bundles that these tests put into export roots."""

from pathlib import Path

import pytest

from sediment_assets.adapters.bundle_dir import derive_bundle
from tests.builders import ORG
from tests.bundles import rich_facts, rich_mirrors
from tests.memory import MemoryFacts


@pytest.fixture(scope="package")
def rich_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bundle") / "b"
    derive_bundle(MemoryFacts(ORG, rich_facts()), rich_mirrors(), out)
    return out


@pytest.fixture(scope="package")
def other_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bundle") / "b"
    derive_bundle(MemoryFacts(ORG, rich_facts()[:1]), rich_mirrors(), out)
    return out
