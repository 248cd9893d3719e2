"""Names of everything an export may leave in an output directory, and the order of publication (targets.md §11–12)."""

from sediment_assets.targets.registry import ENVIRONMENT_MANIFEST, Population

CLAIM = ".sediment-rlvr-target"
"""Claim file: binds a directory to one target for ever."""

LOCK = ".sediment-rlvr-export.lock"
"""Lock directory: present while an export runs, and after one was killed."""

STAGE_PREFIX = ".sediment-training-"
"""Private staging directory: this prefix and a random part."""

STAGE_LOCK_SUFFIX = ".sediment-stage-lock"
"""The staging directory's sibling, locked by the living process that stages."""

RECORD = ".sediment-generation.json"
"""Completion record, written last: its presence says that the generation is complete (design: generations)."""


def row_file_name(population: str, split: str | None) -> str:
    """File of a population: ``tasks.train.jsonl``, or ``tasks.jsonl`` when split naming is off (``split`` None)."""
    return f"{population}.jsonl" if split is None else f"{population}.{split}.jsonl"


PUBLICATION_ORDER = (
    *(row_file_name(population, split) for population in Population for split in (None, "train", "eval")),
    ENVIRONMENT_MANIFEST,
)
"""The seven artifact names, in the order they become visible. All seven count for every target (targets.md §12)."""
