"""Which mirrors the Pushes of an organization ask for, and from where (mirrors.md §2 step 1, §8.6).

Pure: Pushes and the resolver in, one target per repository out. Fetching is ``adapters/mirror_sync.py``.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sediment_assets.facts.push import Push
from sediment_assets.repositories.keys import RepositoryKey
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.resolver import RepositoryResolver


@dataclass(frozen=True, slots=True)
class PushRange:
    """What a Push says about commits; a slim copy, because an organization has many of them."""

    push_id: str
    repo: str
    before_sha: str
    after_sha: str
    forced: bool
    captured_at: datetime


@dataclass(frozen=True, slots=True)
class RefreshTarget:
    """One repository that Pushes name. The newest Push with a clone URL decides where it is fetched from."""

    key: RepositoryKey
    label: str
    pushes: tuple[PushRange, ...]
    """Every visible Push of the repository, oldest first."""
    clone_url: str | None
    """None when no Push has one. It may hold credentials: never print it."""
    repo: str
    """The slug that the clone URL came with."""
    declined: RepositoryReason | None
    """Why the mirror must not be refreshed from that URL, if so."""

    def __repr__(self) -> str:
        return f"RefreshTarget({self.key!r})"

    @property
    def newest_push_id(self) -> str:
        """The last Push: when it changes, the mirror has something to fetch."""
        return self.pushes[-1].push_id


@dataclass(frozen=True, slots=True)
class RefreshPlan:
    """Every repository that visible Pushes name, by sort key, and Pushes that name none for certain."""

    targets: Mapping[RepositoryKey, RefreshTarget]
    unresolved: Mapping[tuple[str, RepositoryReason], int]
    """(slug, reason) to the number of Pushes."""

    def find(self, slug: str) -> list[RefreshTarget]:
        """Return the targets that a slug in normal form means: two when two repositories bore the name."""
        return [target for target in self.targets.values() if slug in (target.label, target.repo)]


@dataclass(slots=True)
class _Group:
    label: str
    pushes: list[PushRange] = field(default_factory=list)
    source: Push | None = None


def plan_refresh(pushes: Iterable[Push], resolver: RepositoryResolver) -> RefreshPlan:
    """Group visible Pushes, in order of capture, by repository; prove for each whose mirror its newest may refresh.

    Only the newest clone URL counts. An older one may lead to another repository by now: names move.
    """
    groups: dict[RepositoryKey, _Group] = {}
    unresolved = Counter[tuple[str, RepositoryReason]]()
    for push in pushes:
        resolved = resolver.fact(push)
        if isinstance(resolved, RepositoryReason):
            unresolved[push.repo, resolved] += 1
            continue
        group = groups.setdefault(resolved.key, _Group(resolved.label))
        group.pushes.append(
            PushRange(push.push_id, push.repo, push.before_sha, push.after_sha, push.forced, push.captured_at)
        )
        if push.clone_url:
            group.source = push
    targets = (_target(key, groups[key], resolver) for key in sorted(groups, key=lambda key: key.sort_key))
    return RefreshPlan({target.key: target for target in targets}, dict(sorted(unresolved.items())))


def _target(key: RepositoryKey, group: _Group, resolver: RepositoryResolver) -> RefreshTarget:
    source = group.source
    target = None if source is None else resolver.refresh_target(source)
    return RefreshTarget(
        key,
        group.label,
        tuple(group.pushes),
        None if source is None else source.clone_url,
        group.pushes[-1].repo if source is None else source.repo,
        target if isinstance(target, RepositoryReason) else None,
    )
