"""The same Facts give the same bundle, byte for byte, from PostgreSQL, SQLite and memory."""

from pathlib import Path

from sediment_assets.adapters.bundle_dir import derive_bundle
from sediment_assets.adapters.fact_store.engine import reading_engine, writing_engine
from sediment_assets.adapters.fact_store.snapshot import open_facts
from tests.builders import ORG, make_call
from tests.bundles import rich_facts, rich_mirrors
from tests.fact_reader_cases import CODE_POINT_ORDER
from tests.memory import MemoryFacts
from tests.stores import fill_store


def test_a_bundle_is_the_same_from_every_store(server, new_database, tmp_path: Path):
    # Ties of instants, and ids that a collation of PostgreSQL would order otherwise; more than one batch of calls.
    ids = [name + suffix for suffix in ("", "-2", "-3") for name in reversed(CODE_POINT_ORDER)]
    facts = [*rich_facts(), *(make_call(inference_call_id=i, session_id=i) for i in ids)]
    derive_bundle(MemoryFacts(ORG, facts), rich_mirrors(), tmp_path / "memory")
    for name, url in (("postgres", server.url(new_database())), ("sqlite", f"sqlite:///{tmp_path}/facts.db")):
        fill_store(writing_engine(url), facts)
        with open_facts(reading_engine(url), ORG) as reader:
            derive_bundle(reader, rich_mirrors(), tmp_path / name)
        for path in (tmp_path / "memory").iterdir():
            assert path.read_bytes() == (tmp_path / name / path.name).read_bytes(), (name, path.name)
