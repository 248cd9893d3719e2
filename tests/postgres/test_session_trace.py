"""What PostgreSQL stores about a Session, in a database whose collation is not code-point order."""

import pytest

from sediment_assets.adapters.fact_store.engine import reading_engine, writing_engine
from tests.session_trace_cases import SessionTraceCases
from tests.stores import fill_store


class TestPostgreSQL(SessionTraceCases):
    @pytest.fixture
    def store(self, server, new_database):
        def store(facts, quarantine):
            url = server.url(new_database())
            fill_store(writing_engine(url), facts, quarantine)
            return reading_engine(url)

        return store
