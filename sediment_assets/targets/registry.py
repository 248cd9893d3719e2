"""The closed registry of export targets: what each writes, from which models, and what it needs (targets.md).

A new target is one entry here, its row models and its projection.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from sediment_assets.errors import SedimentError
from sediment_assets.targets.rows.nemo_gym import NemoGymRolloutRow
from sediment_assets.targets.rows.sediment import SedimentRolloutRow, SedimentTaskRow
from sediment_assets.targets.rows.shared import RowModel
from sediment_assets.targets.rows.swe_bench import SWEBenchTaskRow

SCHEMA_BASE: Final = "https://sediment.so/schemas/"
"""Prefix of every schema id; what follows is the document's path under ``schemas/`` (targets.md §6.7)."""

ENVIRONMENT_MANIFEST: Final = "environment.yaml"
"""File name of the environment manifest (targets.md §10)."""


class UnknownTargetError(SedimentError):
    """A target name outside the registry."""


class Target(StrEnum):
    """A consumer format, by the name used in commands, claims and paths."""

    SEDIMENT = "sediment"
    SWE_BENCH = "swe-bench"
    NEMO_GYM = "nemo-gym"


class Population(StrEnum):
    """A kind of rows of a target; the value is also the stem of its file names (targets.md §11)."""

    TASKS = "tasks"
    ROLLOUTS = "rollouts"


@dataclass(frozen=True, slots=True)
class PopulationSpec:
    """One population of one target: its row model and the identity of its JSON Schema (targets.md §6.7)."""

    population: Population
    row_model: type[RowModel]
    schema_slug: str
    schema_version: int

    @property
    def schema_path(self) -> str:
        """Path of the JSON Schema document under ``schemas/``."""
        return f"training-rows/{self.schema_slug}/v{self.schema_version}.json"

    @property
    def schema_id(self) -> str:
        """The ``schema_id`` that every row of the population carries."""
        return SCHEMA_BASE + self.schema_path


@dataclass(frozen=True, slots=True)
class TargetSpec:
    """One target. ``populations`` are in the order of publication (targets.md §11)."""

    target: Target
    populations: tuple[PopulationSpec, ...]
    needs_mirrors: bool
    writes_environment_manifest: bool

    def population(self, population: Population) -> PopulationSpec | None:
        """Return the named population, or None when the target does not produce it."""
        return next((spec for spec in self.populations if spec.population is population), None)


TARGETS: Final[Mapping[Target, TargetSpec]] = MappingProxyType(
    {
        Target.SEDIMENT: TargetSpec(
            Target.SEDIMENT,
            (
                PopulationSpec(Population.TASKS, SedimentTaskRow, "sediment-rlvr-task", 3),
                PopulationSpec(Population.ROLLOUTS, SedimentRolloutRow, "sediment-rlvr-rollout", 4),
            ),
            needs_mirrors=True,
            writes_environment_manifest=True,
        ),
        Target.SWE_BENCH: TargetSpec(
            Target.SWE_BENCH,
            (PopulationSpec(Population.TASKS, SWEBenchTaskRow, "swe-bench-task", 3),),
            needs_mirrors=True,
            writes_environment_manifest=False,
        ),
        Target.NEMO_GYM: TargetSpec(
            Target.NEMO_GYM,
            (PopulationSpec(Population.ROLLOUTS, NemoGymRolloutRow, "nemo-gym-rollout", 4),),
            needs_mirrors=False,
            writes_environment_manifest=False,
        ),
    }
)
"""Every target, in the order they are listed to users."""


def parse_target(name: str) -> Target:
    """Return the target of exactly that name.

    Raises:
        UnknownTargetError: any other name; nothing may touch the file system then (targets.md, introduction).
    """
    try:
        return Target(name)
    except ValueError:
        raise UnknownTargetError(f"target: expected one of {', '.join(Target)}, got {name!r}") from None
