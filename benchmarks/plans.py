"""What happens in each Session of the benchmark: when, where, which changes, which commits.

Everything about a Session follows from its number alone, so the histories and the conversations can be written one
after the other, in any order, and agree.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from benchmarks.text import WORDS, code, name
from sediment_assets.demo.harnesses import CLAUDE_CODE, CODEX, COPILOT, CURSOR, PI, Harness
from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey, RepositoryKey

ORG: Final = "bench"
BEGIN: Final = datetime(2026, 6, 1, 8, tzinfo=UTC)
REPOSITORIES: Final = 10
BASE_MODULES: Final = 300
BLOCKS: Final = 5
_HOST: Final = "git.example.test"
_IDENTIFIED: Final = (2, 5, 8)


@dataclass(frozen=True, slots=True)
class Size:
    """How much evidence. A tenfold larger one is ten times as long, or ten times as busy."""

    name: str
    sessions: int
    days: int
    turns: int = 10


SIZES: Final = {
    size.name: size
    for size in (Size("S", 200, 30), Size("M", 2_000, 30), Size("3M", 6_000, 90), Size("L", 20_000, 300))
}


@dataclass(frozen=True, slots=True)
class Change:
    """New text for one file: a new file when ``block`` is None, else that block of a base module."""

    path: str
    block: int | None
    text: str


@dataclass(frozen=True, slots=True)
class CommitPlan:
    """One commit of a Session: made after turn ``turn``."""

    turn: int
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """One Session. ``bound`` says whether a note or an observation names its commits."""

    index: int
    session_id: str
    user_id: str
    repository: int
    harness: Harness
    turn_times: tuple[datetime, ...]
    commits: tuple[CommitPlan, ...]
    steps: tuple[str | Change, ...]
    """Per turn: ``read``, ``run``, ``answer`` or a change."""
    bound: bool
    on_branch: bool
    compacted_at: int | None
    """Turn at which the harness replaced the history by a summary."""

    def commit_time(self, commit: CommitPlan) -> datetime:
        """When a commit is made."""
        return self.turn_times[commit.turn] + timedelta(seconds=40)


def repository_slug(repository: int) -> str:
    """Return the name of a repository."""
    return f"{ORG}/{WORDS[7 * repository]}-service"


def repository_key(repository: int) -> RepositoryKey:
    """Return the key of a repository: every third is identified."""
    if repository in _IDENTIFIED:
        return IdentifiedKey(ORG, ForgeProvider.GITHUB, _HOST, str(90_000 + repository))
    return LegacyKey(ORG, repository_slug(repository))


def base_path(repository: int, module: int) -> str:
    """Return the path of one of the modules every repository begins with."""
    package, stem = WORDS[(repository + module // 15) % len(WORDS)], WORDS[(7 * module + repository) % len(WORDS)]
    return f"src/{package}/{stem}_{module}.py"


def plans(size: Size) -> Iterator[SessionPlan]:
    """Yield all Sessions in the order in which they begin."""
    for index in range(size.sessions):
        yield session_plan(size, index)


def session_plan(size: Size, index: int) -> SessionPlan:
    """Return one Session; a working day has ten hours."""
    rng = Random(f"session {index}")
    day, share = divmod((index + rng.random()) * size.days / size.sessions, 1)
    times = [BEGIN + timedelta(days=int(day), hours=10 * share)]
    for _ in range(size.turns - 1):
        times.append(times[-1] + timedelta(seconds=rng.randint(60, 300), microseconds=rng.randrange(1_000_000)))
    repository = rng.randrange(REPOSITORIES)
    steps, commits = _work(rng, index, repository, size.turns)
    return SessionPlan(
        index=index,
        session_id=f"{rng.getrandbits(64):016x}",
        user_id=f"dev-{rng.randrange(40)}",
        repository=repository,
        harness=rng.choice((CLAUDE_CODE, CLAUDE_CODE, CODEX, CURSOR, COPILOT, PI)),
        turn_times=tuple(times),
        commits=commits,
        steps=steps,
        bound=rng.random() < 0.8,
        on_branch=rng.random() < 0.4,
        compacted_at=rng.randrange(3, size.turns) if rng.random() < 0.05 else None,
    )


def _work(
    rng: Random, index: int, repository: int, turns: int
) -> tuple[tuple[str | Change, ...], tuple[CommitPlan, ...]]:
    count = rng.choices((0, 1, 2), (5, 70, 25))[0]
    steps: list[str | Change] = []
    ends: list[tuple[int, tuple[Change, ...]]] = []
    for number in range(count):
        changes = tuple(_change(rng, index, repository, number, part) for part in range(rng.randint(1, 4 - count)))
        steps += ["read", *changes, "run"]
        ends.append((len(steps) - 1, changes))
    padding = turns - 1 - len(steps)
    steps[:0] = rng.choices(("read", "run"), k=padding)
    return (*steps, "answer"), tuple(CommitPlan(end + padding, changes) for end, changes in ends)


def _change(rng: Random, index: int, repository: int, number: int, part: int) -> Change:
    if part == 0 and rng.random() < 0.5:
        path = f"src/{WORDS[(repository + index) % 20]}/{name(rng)}_{index}_{number}.py"
        return Change(path, None, "\n\n".join(code(rng, 28) for _ in range(3)))
    module, block = rng.randrange(BASE_MODULES), rng.randrange(BLOCKS)
    return Change(base_path(repository, module), block, code(rng, rng.randint(25, 60)))
