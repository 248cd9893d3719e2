"""Rules of Rollouts (bundle.md §8, rules 14–19, 21, 23, 24, 26). Rule 25 caps sizes, which is not done here."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import orjson

from sediment_assets.bundle.encoding import decode_line, record_text
from sediment_assets.bundle.errors import BundleError, within
from sediment_assets.bundle.rollout_record import (
    parse_id,
    parse_records,
    parse_rollout,
    rollout_plain,
    segments_plain,
)
from sediment_assets.bundle.validate.artifact_rows import ArtifactRules
from sediment_assets.bundle.validate.index import Group, Known
from sediment_assets.derive.provenance import ROLLOUT_VERSION
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import InexactError, JsonError, decode_canonical, encode_canonical
from sediment_assets.repositories.keys import CommitKey
from sediment_assets.rollouts.models import Rollout, Segment, Turn
from sediment_assets.rollouts.segments import project_session

_TURN_FIELDS: Final = tuple(field.name for field in fields(Turn))


@dataclass(frozen=True, slots=True)
class RolloutRules:
    """The rules of one bundle's Rollouts; the populations must have been checked before."""

    rules: ArtifactRules

    def check(self, line: bytes) -> Rollout:
        """Read one line and check its Rollout against the bundle.

        :raises BundleError: for the first broken rule, with the path inside the record.
        """
        projected = self._read_as_projected(line)
        rollout = parse_rollout(decode_line(line)) if projected is None else projected.rollout
        self.rules.require_head(rollout.org_id, rollout.session_id, rollout.split, rollout.provenance, ROLLOUT_VERSION)
        segments = encode_canonical(segments_plain(rollout.segments)) if projected is None else projected.segments
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
            if projected is None:
                self._require_projection(rollout, segments)
        return rollout

    def _read_as_projected(self, line: bytes) -> "_Projected | None":
        """Read a line whose Segments are spelled as what the carried calls project to (rule 26); None for any other.

        What has the very spelling of a projection is one, and needs no judging of its own.
        """
        text = record_text(line)
        if text is None:
            return None
        try:
            record = orjson.loads(text)
            segments = self._projection(parse_id(record["session_id"]), _decisions(record["segments"]))
            spelled = encode_canonical(segments_plain(segments))
            before, _, after = text.partition(f'"segments":{spelled},')
            rest = decode_canonical(before + after)
            if "segments" in rest:
                return None
            return _Projected(parse_rollout({**rest, "segments": None}, segments), spelled)
        except (orjson.JSONDecodeError, InexactError, BundleError, JsonError, KeyError, TypeError):
            return None

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
            projected = self._projection(rollout.session_id, decisions)
        except JsonError as error:
            raise BundleError(str(error)) from None
        if encode_canonical(segments_plain(projected)) != segments:
            raise _first_difference(projected, rollout.segments)

    def _projection(self, session_id: str, decisions: Sequence[DeveloperDecision]) -> tuple[Segment, ...]:
        return project_session(self.rules.index.session_calls(session_id), decisions).segments


@dataclass(frozen=True, slots=True)
class _Projected:
    """A Rollout whose Segments are what its calls project to, and the canonical text of these."""

    rollout: Rollout
    segments: str


def _decisions(segments: Any) -> list[DeveloperDecision]:
    return [
        decision
        for segment in segments
        for turn in segment
        for decision in parse_records(DeveloperDecision, turn, "decisions")
    ]


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
