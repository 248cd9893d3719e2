"""The embedded FactReaders, in memory and over SQLite, follow the shared rules."""

from contextlib import contextmanager

import pytest

from sediment_assets.adapters.fact_store.engine import reading_engine, writing_engine
from sediment_assets.adapters.fact_store.snapshot import open_facts
from tests.fact_content_cases import FactContentCases
from tests.fact_reader_cases import FactReaderCases
from tests.memory import MemoryFacts
from tests.stores import fill_store


class TestMemoryFacts(FactReaderCases, FactContentCases):
    @pytest.fixture
    def open_reader(self):
        @contextmanager
        def open_memory(facts=(), quarantine=(), org_id="acme"):
            yield MemoryFacts(org_id, facts, quarantine)

        return open_memory


class TestSqliteFacts(FactReaderCases, FactContentCases):
    @pytest.fixture
    def open_reader(self, tmp_path):
        @contextmanager
        def open_sqlite(facts=(), quarantine=(), org_id="acme"):
            url = f"sqlite:///{tmp_path}/{org_id}.db"
            fill_store(writing_engine(url), facts, quarantine)
            with open_facts(reading_engine(url), org_id) as reader:
                yield reader

        return open_sqlite
