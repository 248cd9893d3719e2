"""Opening one organization's evidence: a read-only snapshot of its Facts, and its mirrors' locks (mirrors.md §4)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sediment_assets.adapters.fact_store.engine import reading_engine
from sediment_assets.adapters.fact_store.snapshot import open_facts
from sediment_assets.adapters.git_mirror_store import GitMirrorStore
from sediment_assets.derive.fact_reader import FactReader


@dataclass(frozen=True, slots=True)
class OpenEvidence:
    """Facts and mirrors, consistent until the block that opened them ends."""

    facts: FactReader
    mirrors: GitMirrorStore


@contextmanager
def open_evidence(org_id: str, database_url: str, mirror_path: Path) -> Iterator[OpenEvidence]:
    """Open a snapshot of the Facts, then lock every mirror that a derivation may read.

    Locked are the mirrors on disk and those that visible Pushes resolve to (mirrors.md §4).

    :raises FactStoreError: when the Fact store cannot be read.
    :raises MirrorError: when the mirrors cannot be listed or locked.
    """
    engine = reading_engine(database_url)
    try:
        with (
            open_facts(engine, org_id) as facts,
            GitMirrorStore(mirror_path) as mirrors,
            mirrors.locked({*mirrors.keys(org_id), *facts.resolver().pushed()}),
        ):
            yield OpenEvidence(facts, mirrors)
    finally:
        engine.dispose()
