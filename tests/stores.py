"""Filling a Fact store row by row, past the importer, so that reader tests depend on the tables alone."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Engine

from sediment_assets.adapters.fact_store.engine import create_store
from sediment_assets.adapters.fact_store.schema import (
    FACT_TABLES,
    edit_observations,
    fact_quarantine,
    inference_call_aliases,
    primary_key,
)
from sediment_assets.adapters.fact_store.stored_rows import to_row
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.model import Fact
from sediment_assets.facts.quarantine import QuarantineRecord
from tests.memory import OtherFact


def fill_store(engine: Engine, facts: Iterable[Fact | OtherFact] = (), quarantine: Sequence[QuarantineRecord] = ()):
    """Insert Facts and quarantine records as they are, in the given order."""
    create_store(engine)
    with engine.begin() as connection:
        for fact in facts:
            if isinstance(fact, OtherFact):
                _insert_other(connection, fact)
                continue
            row = to_row(fact)
            aliases = sorted(fact.call_aliases) if isinstance(fact, InferenceCall) else []
            if isinstance(fact, InferenceCall):
                row["call_alias_count"] = len(aliases)
            connection.execute(FACT_TABLES[fact.TABLE].insert().values(row))
            for ordinal, alias in enumerate(aliases):
                connection.execute(
                    inference_call_aliases.insert().values(
                        inference_call_id=fact.fact_id, ordinal=ordinal, org_id=fact.org_id, call_id=alias
                    )
                )
        for record in quarantine:
            connection.execute(fact_quarantine.insert().values(to_row(record)))


def _insert_other(connection, fact: OtherFact):
    table = FACT_TABLES[fact.table]
    row = {primary_key(table).name: fact.fact_id, "org_id": fact.org_id, "captured_at": fact.captured_at}
    if table is edit_observations:
        row["occurred_at"] = fact.captured_at
    else:
        row |= {"repo": fact.repo, "head_repo": fact.head_repo, **fact.identity}
        row |= {f"head_{name}": value for name, value in fact.head_identity.items()}
    connection.execute(table.insert().values(row))
