"""The embedded FactReaders, in memory and over SQLite, follow the shared rules."""

from contextlib import contextmanager

import pytest

from sediment_assets.adapters.fact_store.engine import reading_engine, writing_engine
from sediment_assets.adapters.fact_store.snapshot import open_facts
from tests.builders import make_call, plain_message
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

    def test_a_store_made_anew_at_its_place_is_another_one(self, open_reader, tmp_path):
        states = []
        for output in ("one answer", "two answer"):
            with open_reader([make_call(output_messages=[plain_message("assistant", output)])]) as facts:
                states.append(facts.store_state())
                assert facts.store_state() == states[-1]
            with open_facts(reading_engine(f"sqlite:///{tmp_path}/acme.db"), "acme") as again:
                assert again.store_state() == states[-1]
            (tmp_path / "acme.db").unlink()
        assert states[0] != states[1]

    def test_a_store_removed_while_it_is_read_still_has_a_state(self, open_reader, tmp_path):
        with open_reader([make_call()]) as facts:
            (tmp_path / "acme.db").unlink()
            assert facts.store_state()
