"""Rules of Rollouts (bundle.md §8, rules 14–19, 21, 23, 24, 26). Rule 25 caps sizes, which is not done here."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

from sediment_assets.bundle.errors import BundleError, within
from sediment_assets.bundle.rollout_record import rollout_plain, segments_plain
from sediment_assets.bundle.validate.artifact_rows import ArtifactRules
from sediment_assets.bundle.validate.index import Group, Known
from sediment_assets.derive.provenance import ROLLOUT_VERSION
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import JsonError, encode_canonical
from sediment_assets.repositories.keys import CommitKey
from sediment_assets.rollouts.models import Rollout, Segment, Turn
from sediment_assets.rollouts.segments import project_session

_TURN_FIELDS: Final = tuple(field.name for field in fields(Turn))


@dataclass(frozen=True, slots=True)
class RolloutRules:
    """The rules of one bundle's Rollouts; the populations must have been checked before."""

    rules: ArtifactRules

    def check(self, rollout: Rollout) -> None:
        """Check one Rollout against the bundle.

        :raises BundleError: for the first broken rule, with the path inside the record.
        """
        self.rules.require_head(rollout.org_id, rollout.session_id, rollout.split, rollout.provenance, ROLLOUT_VERSION)
        segments = encode_canonical(segments_plain(rollout.segments))
        rest = encode_canonical(rollout_plain(replace(rollout, segments=())))
        self.rules.require_same_row(Known.ROLLOUT, rollout.session_id, segments + rest)
        self._require_turns(rollout)
        # The commits' own rule comes first: outcomes and observations are judged by them.
        commits = frozenset(self._commits(rollout))
        with within("terminal_outcomes"):
            self.rules.require_outcomes(rollout.terminal_outcomes, commits, rollout.org_id)
        with within("session_commit_observations"):
            self.rules.require_observations(
                rollout.session_commit_observations, commits, rollout.org_id, rollout.session_id
            )
        with within("segments"):
            self._require_whole_session(rollout)
            self._require_projection(rollout, segments)

    def _require_turns(self, rollout: Rollout) -> None:
        for number, segment in enumerate(rollout.segments):
            for position, turn in enumerate(segment):
                with within("segments", number, position):
                    self._require_turn(rollout, turn)

    def _require_turn(self, rollout: Rollout, turn: Turn) -> None:
        with within("inference_call_id"):
            self.rules.require_call(turn.inference_call_id, rollout.session_id)
        with within("decisions"):
            self.rules.require_decisions(turn.decisions, rollout.org_id, rollout.session_id, Known.ROLLOUT_DECISION)

    def _commits(self, rollout: Rollout) -> Iterator[CommitKey]:
        for position, commit in enumerate(rollout.commits):
            with within("commits", position):
                key = self.rules.commit_key(commit.repo, commit.commit_sha, commit.repository_identity)
            yield key

    def _require_whole_session(self, rollout: Rollout) -> None:
        """Require exactly one Turn for every identity of the Session (rule 24)."""
        carried = Counter(turn.inference_call_id for segment in rollout.segments for turn in segment)
        for call_id, turns in carried.items():
            if turns > 1:
                raise BundleError(f"expected one Turn of {shown(call_id)}, got {turns}")
        if not carried:
            raise BundleError("expected at least one Turn, got none")
        for call_id in self.rules.index.group(Group.SESSION, rollout.session_id):
            if call_id not in carried:
                raise BundleError(f"expected a Turn of every call of the Session, got none of {shown(call_id)}")

    def _require_projection(self, rollout: Rollout, segments: str) -> None:
        """Require what the carried calls and the Rollout's own decisions project to (rule 26)."""
        decisions = [decision for segment in rollout.segments for turn in segment for decision in turn.decisions]
        try:
            projected = project_session(self.rules.index.session_calls(rollout.session_id), decisions)
        except JsonError as error:
            raise BundleError(str(error)) from None
        if encode_canonical(segments_plain(projected.segments)) != segments:
            raise _first_difference(projected.segments, rollout.segments)


def _first_difference(expected: Sequence[Segment], got: Sequence[Segment]) -> BundleError:
    for number, (wanted, segment) in enumerate(zip(expected, got, strict=False)):
        for position, (turn, other) in enumerate(zip(wanted, segment, strict=False)):
            for name in _TURN_FIELDS:
                if _text(turn, name) != _text(other, name):
                    problem = "expected what the carried calls and decisions project to, got something else"
                    return BundleError(problem, path=name).under(position).under(number)
        if len(wanted) != len(segment):
            return BundleError(f"expected {len(wanted)} Turns by projection, got {len(segment)}").under(number)
    return BundleError(f"expected {len(expected)} Segments by projection, got {len(got)}")


def _text(turn: Turn, name: str) -> str:
    (segment,) = segments_plain(((turn,),))
    return encode_canonical(segment[0][name])
