"""Which model belongs to which table and canonical JSONL file (facts.md §2, §5)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.model import Fact, FrozenModel
from sediment_assets.facts.push import Push
from sediment_assets.facts.quarantine import QuarantineRecord
from sediment_assets.facts.repository_rename import RepositoryRename
from sediment_assets.facts.session_commit_observation import SessionCommitObservation

FACT_MODELS: Final[Mapping[str, type[Fact]]] = MappingProxyType(
    {
        model.TABLE.value: model
        for model in (
            InferenceCall,
            DeveloperDecision,
            CIOutcome,
            Push,
            SessionCommitObservation,
            RepositoryRename,
        )
    }
)
"""Table name to model, for the kinds of Facts this project reads. ``<table>.jsonl`` is their canonical file."""

QUARANTINE_FILE: Final = "quarantine"
"""Name of the quarantine log's canonical JSONL file, whose line order is the log's."""

JSONL_MODELS: Final[Mapping[str, type[FrozenModel]]] = MappingProxyType(
    {**FACT_MODELS, QUARANTINE_FILE: QuarantineRecord}
)
"""Stem of a canonical JSONL file to the model of its lines."""
