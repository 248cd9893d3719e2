"""``docs/reference/reasons.md``: every reason under which something is counted, from the enums (targets.md §5.3)."""

from collections.abc import Iterable, Iterator
from typing import Final

from sediment_assets.reasons import Reason
from sediment_assets.rollouts.vocabulary import EXCLUDED, FRAGMENTED, SKIPPED
from sediment_assets.targets.registry import TARGETS, Population, Target
from sediment_assets.targets.skips import unit_of, vocabulary

REASONS_PAGE: Final = "docs/reference/reasons.md"

_INTRODUCTION: Final = """\
# Reasons

Generated from the closed vocabularies by `make schemas`; do not edit. What gives no row is counted under one of these
reasons. A count counts what its table says, so counts of different reasons are never added up."""

_TARGETS: Final = """\
## Targets

Why evidence gave no row. The counts are printed after an export, kept in the completion record, and shown in the graph
by the check `skips_are_known`."""

_DERIVATION: Final = """\
## Derivation

What was not used while Rollouts were derived. The counts cover the whole organization; only those of decisions are of
the Sessions in question. Everything here still leaves the Rollout in place."""

_FRAGMENTED: Final = """\
## Segments

Why a call begins a new Segment. All Turns are kept; their history is not claimed to continue."""

_EXCLUDED: Final = """\
## Cohorts

Why `sediment derive` left a Rollout out of the cohort that was asked for."""


def reasons_page() -> str:
    """Return the text of the page."""
    sections = (
        _INTRODUCTION,
        _TARGETS,
        "\n".join(_target_table()),
        _DERIVATION,
        "\n".join(_table(SKIPPED.values())),
        _FRAGMENTED,
        "\n".join(_table(FRAGMENTED.values())),
        _EXCLUDED,
        "\n".join(_table(EXCLUDED.values())),
    )
    return "\n\n".join(sections) + "\n"


def _table(reasons: Iterable[Reason]) -> Iterator[str]:
    yield from ("| reason | counts | meaning |", "|---|---|---|")
    for reason in reasons:
        yield f"| `{reason}` | {reason.unit} | {reason.meaning} |"


def _target_table() -> Iterator[str]:
    yield from ("| reason | counts | in | meaning |", "|---|---|---|---|")
    tallies = [(target, spec.population) for target, found in TARGETS.items() for spec in found.populations]
    reasons = dict.fromkeys(reason for tally in tallies for reason in vocabulary(*tally))
    for reason in reasons:
        holders = [tally for tally in tallies if reason in vocabulary(*tally)]
        units = dict.fromkeys(unit_of(reason, population).value for _, population in holders)
        where = "all" if holders == tallies else _spelled(holders)
        yield f"| `{reason}` | {' or '.join(units)} | {where} | {reason.meaning} |"


def _spelled(holders: Iterable[tuple[Target, Population]]) -> str:
    return ", ".join(f"{target} {population}" for target, population in holders)
