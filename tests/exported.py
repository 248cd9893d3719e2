"""What an export left in its directory, as a reader sees it."""

from pathlib import Path
from typing import Final

import pytest

from sediment_assets.publish.artifacts import CLAIM, PUBLICATION_ORDER, RECORD
from sediment_assets.publish.record import IncompleteGenerationError, read_record, verify_generation

COMPLETE: Final = sorted([CLAIM, RECORD, "tasks.train.jsonl", "rollouts.train.jsonl", "environment.yaml"])
"""The files of a whole export for the ``sediment`` target of evidence that is all on one side of the split."""


def artifacts_of(out: Path) -> list[str]:
    """Names of the published files, the completion record not among them."""
    return [name for name in PUBLICATION_ORDER if (out / name).exists()]


def is_complete(out: Path) -> bool:
    """Whether the directory may be read; if it may, it is whole, and if not, readers are told."""
    if (out / RECORD).exists():
        verify_generation(out)
        return True
    with pytest.raises(IncompleteGenerationError):
        read_record(out)
    return False


def content(out: Path) -> dict[str, bytes]:
    """What was published, by name."""
    return {name: (out / name).read_bytes() for name in [*artifacts_of(out), RECORD] if (out / name).exists()}
