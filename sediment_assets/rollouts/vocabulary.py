"""Every reason that a derivation counts under, by name: what tables and pages are made from (derivation.md §14)."""

from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType
from typing import Final

from sediment_assets.ci.runs import CISkip
from sediment_assets.derive.tally import AttributionSkip, DecisionSkip, FragmentReason, ScopeExclusion
from sediment_assets.mirrors.patch_sections import SectionSkip
from sediment_assets.reasons import Reason
from sediment_assets.repositories.reasons import RepositoryReason


def _by_name(*vocabularies: type[Reason]) -> Mapping[str, Reason]:
    return MappingProxyType({reason.value: reason for reason in chain.from_iterable(vocabularies)})


SKIPPED: Final = _by_name(DecisionSkip, AttributionSkip, SectionSkip, CISkip, RepositoryReason)
"""Evidence that was not used."""
FRAGMENTED: Final = _by_name(FragmentReason)
"""Boundaries between Segments."""
EXCLUDED: Final = _by_name(ScopeExclusion)
"""Rollouts outside the cohort."""
