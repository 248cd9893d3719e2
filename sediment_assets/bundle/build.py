"""The populations of a bundle as streams of records, out of one derivation run (bundle.md §1, §5, §6).

Whole-organization populations stay whole, whatever scope and window the Rollouts have. Attributed completions are not
derived: their file is empty.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from sediment_assets.bundle.call_writing import CallWriter
from sediment_assets.bundle.encoding import Population, encode_line
from sediment_assets.bundle.manifest import Manifest, MemberFile
from sediment_assets.bundle.population_records import population_plain
from sediment_assets.bundle.rollout_record import rollout_plain
from sediment_assets.derive.fact_reader import CallIdentity, FactReader, FullCall
from sediment_assets.derive.tally import sorted_counts
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.repositories.evidence import RepositoryEvidence
from sediment_assets.rollouts.derivation import Derivation
from sediment_assets.rollouts.scope import CohortScope

ROLLOUT_PREFIX: Final = "rollout."
"""What the derivation's counters are prefixed with in a manifest."""


class BundleBuild:
    """One bundle in the making. Ask for the populations in the order of ``Population``, each once and to its end."""

    def __init__(self, facts: FactReader, derivation: Derivation, scope: CohortScope) -> None:
        self._facts = facts
        self._derivation = derivation
        self._scope = scope
        self._mirror_revisions = derivation.mirror_revisions  # read first: a mirror that cannot be listed ends the run
        self._kept: set[str] = set()
        self._sources: Mapping[Population, Callable[[], Iterator[bytes]]] = {
            Population.ATTRIBUTED_COMPLETIONS: lambda: iter(()),
            Population.ROLLOUTS: lambda: map(encode_line, self._rollouts()),
            Population.INFERENCE_CALLS: lambda: map(CallWriter().line, self._calls()),
            Population.INFERENCE_CALL_IDENTITIES: lambda: map(_population_line, facts.call_identities()),
            Population.REPOSITORY_IDENTITIES: lambda: map(_population_line, facts.evidence()),
            Population.REPOSITORY_RENAMES: lambda: (encode_line(rename.model_dump()) for rename in facts.renames()),
        }

    def lines(self, population: Population) -> Iterator[bytes]:
        """Yield the lines of a population in the order of bundle.md §6."""
        return self._sources[population]()

    def _rollouts(self) -> Iterator[JsonObject]:
        for rollout in self._derivation.rollouts():
            self._kept.add(rollout.session_id)
            yield rollout_plain(rollout)

    def _calls(self) -> Iterator[FullCall]:
        """Return the complete calls of the Rollouts: every call of a Session is on a Turn."""
        calls = self._facts.call_sessions()
        return self._facts.full_calls(call_id for call_id, session_id in calls if session_id in self._kept)

    def manifest(self, files: Mapping[Population, MemberFile]) -> Manifest:
        """Return the manifest; the counters are complete once the Rollouts are written."""
        derivation = self._derivation
        return Manifest(
            org_id=derivation.org_id,
            policy=derivation.policy,
            scope=self._scope,
            quarantine_revision=derivation.quarantine_revision,
            as_of=derivation.as_of,
            mirror_revisions=self._mirror_revisions,
            skipped={ROLLOUT_PREFIX + reason: count for reason, count in sorted_counts(derivation.skipped).items()},
            excluded=sorted_counts(derivation.excluded),
            fragmented=sorted_counts(derivation.fragmented),
            files=files,
        )


def _population_line(row: RepositoryEvidence | CallIdentity) -> bytes:
    return encode_line(population_plain(row))
