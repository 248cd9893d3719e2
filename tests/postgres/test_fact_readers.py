"""The FactReader over PostgreSQL follows the shared rules, in a database whose collation is not code-point order."""

from contextlib import contextmanager

import pytest

from sediment_assets.adapters.fact_store.engine import reading_engine, writing_engine
from sediment_assets.adapters.fact_store.snapshot import open_facts
from tests.fact_content_cases import FactContentCases
from tests.fact_reader_cases import FactReaderCases
from tests.stores import fill_store


class TestPostgresFacts(FactReaderCases, FactContentCases):
    @pytest.fixture
    def open_reader(self, server, new_database):
        @contextmanager
        def open_postgres(facts=(), quarantine=(), org_id="acme"):
            url = server.url(new_database())
            fill_store(writing_engine(url), facts, quarantine)
            with open_facts(reading_engine(url), org_id) as reader:
                yield reader

        return open_postgres
