"""IO managers: they publish what a step staged, and find the newest complete generation of a partition.

A step stages everything first, privately; the IO manager makes one output visible. So a row file, a bundle or the CI
resolutions appear only when the whole step's work succeeded, and nothing is ever overwritten.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import dagster as dg

from resources.generations import newest_generation
from sediment_assets.publish.generation import Generation


class Publishable(Protocol):
    """A staged directory that becomes visible by one rename."""

    def publish(self) -> None:
        """Give the directory its name."""
        ...


@dataclass(frozen=True, slots=True)
class StagedFiles:
    """One output of a target: files staged in a claimed generation, in the order of publication; possibly none."""

    generation: Generation
    names: Sequence[str]

    def publish(self) -> None:
        """Give the files their names; an output without rows has none and is still a materialization."""
        self.generation.publish(self.names)


class GenerationIOManager(dg.ConfigurableIOManager):
    """Publishes a staged output, directory or files; loads the path of the generation, never rows into memory."""

    def handle_output(self, context: dg.OutputContext, obj: Publishable) -> None:
        """Make the output visible, beside nothing that was published before."""
        obj.publish()

    def load_input(self, context: dg.InputContext) -> Path:
        """Return the newest complete generation of the upstream partition.

        :raises NoGenerationError: when there is none.
        """
        return newest_generation(context.instance, context.asset_key, context.asset_partition_key)
