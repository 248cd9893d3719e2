"""Rules of the populations behind the artifacts: evidence, renames, identities, calls (bundle.md §8, rules 8–13)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sediment_assets.bundle.call_lines import CallLines
from sediment_assets.bundle.encoding import Population
from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.manifest import Manifest
from sediment_assets.bundle.population_records import (
    CarriedCall,
    parse_evidence,
    parse_identity_row,
    parse_rename,
)
from sediment_assets.bundle.validate.files import Lines, parse_rows
from sediment_assets.bundle.validate.index import Group, Known, RowIndex
from sediment_assets.derive.fact_reader import CallIdentity
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import decode, encode_canonical
from sediment_assets.facts.repository_rename import RepositoryRename
from sediment_assets.repositories.evidence import RepositoryEvidence
from sediment_assets.repositories.resolver import RepositoryResolver


@dataclass(frozen=True, slots=True)
class PopulationRules:
    """The rules of one bundle's populations."""

    manifest: Manifest
    index: RowIndex

    def resolver(self, lines: Lines) -> RepositoryResolver:
        """Check evidence and renames and build the resolver of bundle.md §9 from them (rules 8 and 9)."""
        return RepositoryResolver.build(
            self.manifest.org_id, self._evidence(lines), self._renames(lines), self.manifest.as_of
        )

    def _evidence(self, lines: Lines) -> Iterator[RepositoryEvidence]:
        population = Population.REPOSITORY_IDENTITIES
        for number, row in parse_rows(population, lines(population), parse_evidence):
            try:
                self._require_member(row.org_id, "captured_at", row.captured_at)
                key = encode_canonical((row.source_table, row.source_fact_id, row.role))
                if self.index.remember(Known.EVIDENCE, key, "") is not None:
                    raise BundleError(f"expected one row of {key}, got another", path="source_fact_id")
            except BundleError as error:
                raise error.at(population.file, number) from None
            yield row

    def _renames(self, lines: Lines) -> Iterator[RepositoryRename]:
        population = Population.REPOSITORY_RENAMES
        for number, rename in parse_rows(population, lines(population), parse_rename):
            try:
                self._require_member(rename.org_id, "captured_at", rename.captured_at)
                if self.index.remember(Known.RENAME, rename.rename_id, "") is not None:
                    raise BundleError(f"expected one row of {shown(rename.rename_id)}, got another", path="rename_id")
            except BundleError as error:
                raise error.at(population.file, number) from None
            yield rename

    def identities(self, lines: Lines) -> None:
        """Check the identities and remember them (rule 10)."""
        population = Population.INFERENCE_CALL_IDENTITIES
        with_aliases = self.manifest.files[Population.ATTRIBUTED_COMPLETIONS].rows > 0
        for number, identity in parse_rows(population, lines(population), parse_identity_row):
            try:
                self._add_identity(identity, with_aliases)
            except BundleError as error:
                raise error.at(population.file, number) from None

    def _add_identity(self, identity: CallIdentity, with_aliases: bool) -> None:
        call_id = identity.inference_call_id
        text = _identity_text(identity.session_id, identity.observed_at, identity.call_ids)
        if self.index.remember(Known.IDENTITY, call_id, text) is not None:
            raise BundleError(f"expected one row of {shown(call_id)}, got another", path="inference_call_id")
        self._require_member(identity.org_id, "observed_at", identity.observed_at)
        if list(identity.call_ids) != sorted(set(identity.call_ids)):
            raise BundleError("expected ids ascending and distinct", path="call_ids")
        self.index.gather(Group.SESSION, identity.session_id, call_id)
        if with_aliases:
            for alias in identity.call_ids:
                self.index.gather(Group.ALIAS, alias, call_id)

    def calls(self, lines: Lines) -> None:
        """Check the carried calls and keep them for re-projection (rules 11 and 12)."""
        population = Population.INFERENCE_CALLS
        calls = CallLines()
        for number, line in enumerate(lines(population), 1):
            try:
                self._add_call(calls.parse(line), number)
            except BundleError as error:
                raise error.at(population.file, number) from None

    def _add_call(self, carried: CarriedCall, line: int) -> None:
        call_id = carried.call.inference_call_id
        if not self.index.add_call(carried.call, line):
            raise BundleError(f"expected one row of {shown(call_id)}, got another", path="inference_call_id")
        if carried.org_id != self.manifest.org_id:
            raise BundleError(
                f"expected the manifest's {shown(self.manifest.org_id)}, got {shown(carried.org_id)}", path="org_id"
            )
        file = Population.INFERENCE_CALL_IDENTITIES.file
        told = self.index.recall(Known.IDENTITY, call_id)
        if told is None:
            raise BundleError(f"expected a row of {shown(call_id)} in {file}, got none", path="inference_call_id")
        found = _identity_text(carried.call.session_id, carried.call.observed_at, carried.call_ids)
        if found != told:
            pairs = zip(_IDENTITY_FIELDS, decode(found), decode(told), strict=True)
            path = next(path for path, own, other in pairs if own != other)
            raise BundleError(f"expected what {file} says of {shown(call_id)}, got something else", path=path)

    def references(self) -> None:
        """Refuse a carried call that no artifact row names (rule 13); call it after all rows were checked."""
        found = self.index.unreferenced_call()
        if found is not None:
            call_id, line = found
            raise BundleError(
                f"expected a Rollout or Attributed completion that names {shown(call_id)}, got none",
                path="inference_call_id",
                file=Population.INFERENCE_CALLS.file,
                line=line,
            )

    def _require_member(self, org_id: str, time_key: str, instant: datetime) -> None:
        """Require the manifest's organization and boundary; without a boundary there are no rows."""
        if org_id != self.manifest.org_id:
            raise BundleError(
                f"expected the manifest's {shown(self.manifest.org_id)}, got {shown(org_id)}", path="org_id"
            )
        as_of = self.manifest.as_of
        if as_of is None or instant > as_of:
            boundary = "no row, as the manifest's as_of is null" if as_of is None else f"an instant up to {as_of}"
            raise BundleError(f"expected {boundary}, got {instant}", path=time_key)


def _identity_text(session_id: str, observed_at: datetime, call_ids: Sequence[str]) -> str:
    """Spell what a call and its identity have to agree on."""
    return encode_canonical([session_id, observed_at, call_ids])


_IDENTITY_FIELDS: Final = ("session_id", "observed_at", "output_messages")
"""Where a call says so."""
