"""Asset keys, groups and resource keys: one place that names every node of the graph."""

from typing import Final

import dagster as dg

from sediment_assets.facts.tables import JSONL_MODELS, QUARANTINE_FILE
from sediment_assets.targets.registry import ENVIRONMENT_MANIFEST, TARGETS, Target

FACTS_GROUP: Final = "facts"
MIRRORS_GROUP: Final = "mirrors"
CANONICAL_GROUP: Final = "canonical"

FACT_KEYS: Final = {table: dg.AssetKey(["facts", table]) for table in JSONL_MODELS}
"""Observable Fact tables and the quarantine log."""
QUARANTINE: Final = FACT_KEYS[QUARANTINE_FILE]
"""The log of what is hidden; what it hides shows in the table that lacks it."""
MIRRORS: Final = dg.AssetKey(["mirrors"])
"""The bare mirrors themselves."""
REPOSITORIES: Final = dg.AssetKey(["mirrors", "repositories"])
"""The same, fetched: one partition per repository."""
MIRRORED_COMMITS: Final = dg.AssetKey(["mirrors", "commits"])
"""What the mirrors show of each day's Sessions."""
ROLLOUTS: Final = dg.AssetKey(["canonical", "rollouts"])
CI_RESOLUTIONS: Final = dg.AssetKey(["canonical", "ci_resolutions"])

OWNERS: Final = ["team:training-data"]

GENERATION_IO: Final = "generation_io"
"""Resource key of the IO manager of everything that is published."""

ENVIRONMENT_OUTPUT: Final = ENVIRONMENT_MANIFEST.removesuffix(".yaml")
"""Asset name of ``environment.yaml``."""


def segment(target: Target) -> str:
    """Name a target in asset keys and groups, which allow no hyphen."""
    return target.value.replace("-", "_")


def target_group(target: Target) -> str:
    """Name the nested group of a target."""
    return f"targets/{segment(target)}"


def output_key(target: Target, output: str) -> dg.AssetKey:
    """Name one output of a target: a population or ``environment``."""
    return dg.AssetKey(["targets", segment(target), output])


def outputs_of(target: Target) -> tuple[str, ...]:
    """Return a target's outputs in the order of publication."""
    spec = TARGETS[target]
    populations = tuple(population.population.value for population in spec.populations)
    return (*populations, ENVIRONMENT_OUTPUT) if spec.writes_environment_manifest else populations
