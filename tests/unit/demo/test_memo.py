"""The memo of what similarity found, over real parts: no change of the evidence is missed (derivation.md §9)."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.adapters.attribution_files import ATTRIBUTION_DIRECTORY, AttributionFiles
from sediment_assets.adapters.bundle_dir import stage_bundle
from sediment_assets.adapters.evidence import open_evidence
from sediment_assets.adapters.fact_store.engine import writing_engine
from sediment_assets.adapters.fact_store.importer import import_paths
from sediment_assets.bundle.encoding import MANIFEST, Population, decode_line
from sediment_assets.bundle.rollout_record import parse_rollout
from sediment_assets.demo import DemoEvidence
from sediment_assets.derive.fact_reader import SessionWindow
from sediment_assets.derive.policy import DEFAULT_POLICY, DerivationPolicy, MatchingPolicy
from sediment_assets.mirrors.layout import mirror_path
from sediment_assets.repositories.keys import LegacyKey
from tests.git.repositories import git, object_path, unpack

SESSION = "dashboard-sparkline"
"""The one Session of the demo whose commit similarity finds."""
SHA = "cdd1f760059cf0f211425c1b069aa06c27265a9c"
RIVAL = "rival"
DAY = SessionWindow(datetime(2026, 11, 5, tzinfo=UTC), datetime(2026, 11, 6, tzinfo=UTC))
LEGACY = LegacyKey("acme", "acme/telemetry-dashboard")


@dataclass
class Organization:
    """A copy of the demo that a test may change, and what is remembered of it."""

    directory: Path
    policy: DerivationPolicy = DEFAULT_POLICY
    _numbers: Iterator[int] = field(default_factory=count)

    @property
    def mirror(self) -> Path:
        return self.directory / "mirrors" / mirror_path(LEGACY)

    @property
    def remembered(self) -> set[str]:
        directory = self.directory / "exports" / ATTRIBUTION_DIRECTORY
        return {path.name for path in directory.iterdir()} if directory.exists() else set()

    def add(self, table: str, *facts: dict[str, Any]) -> None:
        path = self.directory / f"{table}.jsonl"
        path.write_text("".join(json.dumps(fact) + "\n" for fact in facts))
        self.load(path)

    def load(self, path: Path) -> None:
        engine = writing_engine(f"sqlite:///{self.directory}/facts.db")
        try:
            import_paths(engine, [path])
        finally:
            engine.dispose()

    def hide(self, table: str, fact_id: str, action: str = "quarantine") -> None:
        number = next(self._numbers)
        values = {"org_id": "acme", "fact_table": table, "fact_id": fact_id, "action": action, "reason": "a test"}
        identity = {"quarantine_id": f"00000000-0000-4000-8000-{number:012}", "recorded_at": "2026-11-09T00:00:00Z"}
        self.add("quarantine", values | identity)

    def bundle(self, *, remember: bool = True) -> dict[str, bytes]:
        """Derive the Session's day, and return the files."""
        memo = AttributionFiles(self.directory / "exports") if remember else None
        out = self.directory / f"bundle-{next(self._numbers)}"
        url = f"sqlite:///{self.directory}/facts.db"
        with (
            open_evidence("acme", url, self.directory / "mirrors") as opened,
            stage_bundle(opened.facts, opened.mirrors, out, self.policy, window=DAY, memo=memo) as ready,
        ):
            return {path.name: path.read_bytes() for path in ready.directory.iterdir()}


@pytest.fixture(scope="module")
def organization(planted: DemoEvidence, tmp_path_factory: pytest.TempPathFactory) -> Organization:
    """The demo with loose objects. Each test works on with what the one before it left, remembered things included."""
    organization = Organization(tmp_path_factory.mktemp("remembered"))
    shutil.copytree(planted.directory / "mirrors", organization.directory / "mirrors")
    organization.load(planted.facts_directory)
    unpack(organization.mirror)
    return organization


def commits_of(files: dict[str, bytes]) -> list[str] | None:
    """The Session's commits; None when it is not there."""
    for line in files[Population.ROLLOUTS.file].splitlines(keepends=True):
        rollout = parse_rollout(decode_line(line))
        if rollout.session_id == SESSION:
            return [commit.commit_sha for commit in rollout.commits]
    return None


def facts_of(planted: DemoEvidence, table: str, key: str, value: str) -> list[dict[str, Any]]:
    lines = (planted.facts_directory / f"{table}.jsonl").read_text().splitlines()
    return [fact for fact in map(json.loads, lines) if fact[key] == value]


def test_the_second_bundle_remembers_and_has_the_same_bytes(organization: Organization):
    without = organization.bundle(remember=False)
    assert organization.remembered == set()
    assert organization.bundle() == without
    assert len(organization.remembered) == 1
    assert organization.bundle() == without
    assert len(organization.remembered) == 1
    assert commits_of(without) == [SHA]


class Changes:
    """What may happen to the evidence, one after the other; each gives the commits that the Session has then."""

    def __init__(self, organization: Organization, planted: DemoEvidence) -> None:
        self.organization = organization
        self.calls = facts_of(planted, "inference_calls", "session_id", SESSION)
        (self.push,) = facts_of(planted, "pushes", "after_sha", SHA)
        self.object = object_path(organization.mirror, SHA)

    def hide(self, action: str = "quarantine") -> None:
        self.organization.hide("pushes", self.push["push_id"], action)

    def hidden_push(self) -> list[str]:
        self.hide()
        return []

    def released_push(self) -> list[str]:
        self.hide("release")
        return [SHA]

    def lost_object(self) -> list[str]:
        self.object.rename(self.organization.directory / "object")
        return []

    def new_object(self) -> list[str]:
        (self.organization.directory / "object").rename(self.object)
        return [SHA]

    def mirror_gone(self) -> list[str]:
        self.organization.mirror.rename(self.organization.directory / "mirror")
        return []

    def mirror_back(self) -> list[str]:
        (self.organization.directory / "mirror").rename(self.organization.mirror)
        return [SHA]

    def policy(self) -> list[str]:
        """A call must be as late as the Push, or later."""
        self.organization.policy = DerivationPolicy(jaccard=MatchingPolicy(1.0, 1))
        return []

    def policy_of_before(self) -> list[str]:
        self.organization.policy = DEFAULT_POLICY
        return [SHA]

    def new_note(self) -> list[str]:
        """Another Session is bound to the commit, and need be less alike: it takes the file away."""
        body = {"v": 1, "sessions": [{"tool": "codex", "session_id": RIVAL, "stamped_at": "2026-11-09T00:00:00Z"}]}
        name = ("-c", "user.name=t", "-c", "user.email=t@t")
        git(self.organization.mirror, *name, "notes", "--ref=sediment", "add", "-f", "-m", json.dumps(body), SHA)
        return [SHA]

    def new_calls(self) -> list[str]:
        """The Session that the note names wrote the same."""
        ids = [f"{RIVAL}-{number}" for number in range(len(self.calls))]
        rivals = [{"inference_call_id": name, "model_call_id": name, "session_id": RIVAL} for name in ids]
        self.organization.add(
            "inference_calls", *(call | rival for call, rival in zip(self.calls, rivals, strict=True))
        )
        return []

    def hidden_calls(self) -> list[str]:
        for number in range(len(self.calls)):
            self.organization.hide("inference_calls", f"{RIVAL}-{number}")
        return [SHA]

    def released_calls(self) -> list[str]:
        for number in range(len(self.calls)):
            self.organization.hide("inference_calls", f"{RIVAL}-{number}", "release")
        return []

    def new_push(self) -> list[str]:
        """An earlier Push brings the commit, long before any call."""
        earlier = {"push_id": "earlier", "ref": "refs/heads/x", "before_sha": "0" * 40}
        self.organization.add("pushes", self.push | earlier | {"captured_at": "2026-11-01T00:00:00Z"})
        return []

    def new_outcome(self) -> list[str]:
        """What reaches no attribution may come at any time."""
        self.organization.hide("ci_outcomes", "none")
        return []


CHANGES = [name for name, found in vars(Changes).items() if not name.startswith("_") and name != "hide"]


def test_with_a_memo_from_before_every_change_gives_the_bytes_that_it_gives_without_one(
    organization: Organization, planted: DemoEvidence
):
    changes = Changes(organization, planted)
    before = organization.bundle()
    for name in CHANGES:
        expected = getattr(changes, name)()
        after = organization.bundle()
        assert after == organization.bundle(remember=False), name
        assert commits_of(after) == expected, name
        assert after[MANIFEST] != before[MANIFEST], name
        before = after
