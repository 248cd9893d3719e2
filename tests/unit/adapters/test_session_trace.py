"""What SQLite stores about a Session."""

import pytest

from sediment_assets.adapters.fact_store.engine import reading_engine, writing_engine
from tests.session_trace_cases import SessionTraceCases
from tests.stores import fill_store


class TestSQLite(SessionTraceCases):
    @pytest.fixture
    def store(self, tmp_path):
        def store(facts, quarantine):
            url = f"sqlite:///{tmp_path}/facts.db"
            fill_store(writing_engine(url), facts, quarantine)
            return reading_engine(url)

        return store
