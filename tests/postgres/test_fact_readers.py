"""The FactReader over PostgreSQL follows the shared rules, in a database whose collation is not code-point order."""

from contextlib import contextmanager

import pytest
from sqlalchemy import text

from sediment_assets.adapters.fact_store.engine import reading_engine, writing_engine
from sediment_assets.adapters.fact_store.snapshot import open_facts
from tests.builders import make_call, plain_message
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

    def test_a_table_emptied_and_filled_anew_is_another_store(self, server, new_database):
        url = server.url(new_database())
        states = []
        for output in ("one answer", "two answer"):
            fill_store(writing_engine(url), [make_call(output_messages=[plain_message("assistant", output)])])
            for _ in range(2):
                with open_facts(reading_engine(url), "acme") as facts:
                    states.append(facts.store_state())
            with writing_engine(url).begin() as connection:
                connection.execute(text("TRUNCATE inference_calls, inference_call_aliases"))
        assert states[0] == states[1] != states[2] == states[3]
