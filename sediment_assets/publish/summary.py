"""What an export reports to its caller, and its warnings as named events (targets.md §13, cli.md §1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sediment_assets.publish.record import GenerationRecord
from sediment_assets.targets.projection import ExplainedSkip
from sediment_assets.targets.registry import Population, Target


class WarningEvent(StrEnum):
    """Names of warnings. They never change an exit code; scripts may match them."""

    JSONL_EMPTY_INPUT_NO_WRITE = "jsonl_empty_input_no_write"
    """A file got no row and was not written."""

    ENVIRONMENT_MANIFEST_NO_TASKS = "environment_manifest_no_tasks"
    """No task row, so no ``environment.yaml``."""

    RUNTIME_SETTING_IGNORED = "runtime_setting_ignored"
    """A setting for ``environment.yaml`` that another one, or the lack of one, makes void."""

    VERIFIER_COMMANDS_UNUSABLE = "verifier_commands_unusable"
    """The verification commands file could not be read at all."""

    VERIFIER_COMMAND_ENTRY_INVALID = "verifier_command_entry_invalid"
    """One entry of the verification commands file was skipped, or replaced by a later one."""

    MIRROR_DIRECTORY_IGNORED = "mirror_directory_ignored"
    """A directory among the mirrors whose name is no repository's."""

    NO_FACTS = "no_facts"
    """The Fact store holds no visible Fact of the organization: often a mistaken setting."""

    ORGANIZATION_WIDE_COUNTERS = "organization_wide_counters"
    """Counters beside a scope that do not know of it."""

    NO_MIRRORS = "no_mirrors"
    """The mirror base does not exist, or holds no mirror of the organization: often a mistaken setting."""

    @property
    def is_normal(self) -> bool:
        """Whether it says how things are, and nothing is wrong."""
        return self in _NORMAL


_NORMAL = frozenset(
    {
        WarningEvent.JSONL_EMPTY_INPUT_NO_WRITE,
        WarningEvent.ENVIRONMENT_MANIFEST_NO_TASKS,
        WarningEvent.ORGANIZATION_WIDE_COUNTERS,
    }
)


@dataclass(frozen=True, slots=True)
class ExportWarning:
    """One warning; prints as the event's name, a colon, and the explanation."""

    event: WarningEvent
    explanation: str

    def __str__(self) -> str:
        return f"{self.event}: {self.explanation}"


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """What an export did. The first nine fields are the contract's, in its order (targets.md §13)."""

    target: Target
    rollouts: int
    """Rollouts projected."""
    task_rows: int
    task_skipped: Mapping[str, int]
    """Reason to count in first-occurrence order; units differ by reason."""
    rollout_rows: int
    rollout_skipped: Mapping[str, int]
    written: Mapping[Path, int]
    """Row file to row count in publication order, without the environment manifest."""
    environment_manifest: Path | None
    fragmented: Mapping[str, int]
    """Segment boundaries of the whole derivation, by reason."""
    record: GenerationRecord
    """The generation's completion record, as published."""
    warnings: tuple[ExportWarning, ...]
    explained: tuple[ExplainedSkip, ...]
    """Some skips with what git answered, for a person."""
    skip_examples: Mapping[Population, Mapping[str, tuple[str, ...]]]
    """Reason to the first few Sessions it was counted for, by population."""
