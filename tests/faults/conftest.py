"""Evidence shared by the tests of a module; no test changes it."""

import pytest

from tests.cli.command import Evidence, make_evidence


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return make_evidence(tmp_path_factory.mktemp("evidence"))
