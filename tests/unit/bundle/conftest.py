"""One derived bundle of everything, taken apart; every test changes its own copy."""

import copy

import pytest

from tests.bundles import Draft, add_completions, rich_draft


@pytest.fixture(scope="session")
def derived_draft(tmp_path_factory: pytest.TempPathFactory) -> Draft:
    return rich_draft(tmp_path_factory.mktemp("bundle") / "b")


@pytest.fixture
def draft(derived_draft: Draft) -> Draft:
    """With Attributed completions, as the original program writes it."""
    changed = copy.deepcopy(derived_draft)
    add_completions(changed)
    return changed
