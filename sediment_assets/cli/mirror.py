"""``sediment mirror sync`` and ``sediment mirror list``: bare mirrors from the clone URLs of Push Facts.

Parsing and printing only; the work is ``adapters/mirror_*.py``, imported when a command runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sediment_assets.cli.facts import aligned
from sediment_assets.cli.output import say, say_done, say_json, stages, warn
from sediment_assets.errors import SedimentError
from sediment_assets.words import quantity

if TYPE_CHECKING:
    from sediment_assets.adapters.mirror_jobs import KnownRepositories, SyncJob
    from sediment_assets.adapters.mirror_list import ListedMirror
    from sediment_assets.adapters.mirror_run import SyncOutcome
    from sediment_assets.adapters.settings import Settings

SETTINGS = """
settings (environment, or .env in the current directory; names in any case):
  SEDIMENT_ORG_ID               the organization
  SEDIMENT_MIRROR_PATH          base directory of the bare Git mirrors
  SEDIMENT_DATABASE_URL         the Fact store: sqlite:///PATH or
                                postgresql://USER@HOST/DATABASE
  SEDIMENT_ALLOWED_CLONE_HOSTS  JSON array of host names; when set, only these
                                are fetched from, internal ones included
  SEDIMENT_DEV_MODE             true: any URL, and local paths
"""
SYNC = """
Create and refresh the bare mirrors of the repositories that Push Facts name, each from the clone URL of its newest
Push; REPO (owner/name) picks some of them. Sessions that notes of pushed commits name are stored as
SessionCommitObservations, so that they bind to their commits. A repository that fails stops no other; the exit code is
then 1. Running it again changes nothing that the remotes did not change.
"""
SYNC_EPILOG = (
    SETTINGS
    + """
  git's own credential helpers, proxies and ssh settings are used; nothing is
  ever asked. docs/mirrors.md says more.

examples:
  sediment mirror sync
  sediment mirror sync acme/widget --clone-url ../widget
  sediment mirror sync --from repos.toml

list file (TOML):
  [repos."acme/widget"]
  clone_url = "https://github.com/acme/widget.git"
  repository_id = "42"          # optional: the forge's own id
"""
)
LIST = """
Show every mirror of the organization: where it lies, how many refs and attribution notes it has, when it was last
fetched; and the repositories that Push Facts name which have none. Nothing is written or fetched.
"""
LIST_EPILOG = SETTINGS + "\nexamples:\n  sediment mirror list\n  sediment mirror list --json\n"


class MirrorCommandError(SedimentError):
    """A mirror command that was asked for in a way that cannot work."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``mirror`` and its subcommands; the parsed arguments carry the function to call as ``run``."""
    mirror = subparsers.add_parser(
        "mirror", help="create, refresh and list Git mirrors", description="Bare Git mirrors of the repositories."
    )
    commands = mirror.add_subparsers(title="commands", metavar="COMMAND", required=True)
    sync = commands.add_parser("sync", help="create and refresh mirrors", description=SYNC, epilog=SYNC_EPILOG)
    sync.add_argument("repos", nargs="*", metavar="REPO", help="owner/name; without any, every repository of a Push")
    sync.add_argument("--clone-url", metavar="URL", help="fetch the one REPO from here; may be a path in development")
    sync.add_argument("--repository-id", metavar="ID", help="with --clone-url: the forge's id of a REPO without Pushes")
    sync.add_argument("--from", dest="file", metavar="FILE", help="a TOML list of repositories instead of Push Facts")
    sync.add_argument(
        "--timeout", type=_seconds, default=600, metavar="SECONDS", help="longest time of one fetch (default: 600)"
    )
    sync.set_defaults(run=run_sync)
    listing = commands.add_parser("list", help="show mirrors", description=LIST, epilog=LIST_EPILOG)
    listing.add_argument("--json", action="store_true", help="print JSON, one object per repository")
    listing.set_defaults(run=run_list)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise argparse.ArgumentTypeError(f"expected a number of seconds, got {text!r}")
    return seconds


def run_sync(args: argparse.Namespace) -> int:
    """Sync and print one line per repository; exit code 1 when any of them failed. Raises SedimentError."""
    from sediment_assets.adapters.mirror_run import MirrorSync
    from sediment_assets.adapters.settings import DATABASE_URL, Settings

    _check_options(args)
    settings = Settings.load()
    org_id, base, policy = settings.org_id(), settings.mirror_path(), settings.clone_url_policy()
    by_hand = args.file is not None or args.clone_url is not None
    database_url = settings.get(DATABASE_URL) if by_hand else settings.database_url()
    known = _known(settings, org_id, required=not by_hand)
    jobs = _jobs(args, known)
    sync = MirrorSync(base, database_url, policy, timeout=args.timeout)
    is_new, outcomes = not base.exists(), []
    with stages("mirrors") as progress:
        for number, job in enumerate(jobs):
            outcomes.append(sync.run(job, _teller(progress, job.label, number)))
    for line in describe_sync(outcomes):
        say(line)
    if is_new and base.is_dir():
        say_done(f"new mirror base: {base}")
    for text in [*_warnings(outcomes), *_unresolved(args, known)]:
        warn(text)
    if sync.notice is not None:
        warn(f"observations_not_stored: {sync.notice}")
    named = bool(args.repos)  # whoever names a repository wants to hear that it was not synced
    return 1 if any(outcome.failed or (named and outcome.problem) for outcome in outcomes) else 0


def _teller(progress: Callable[[str, int], None] | None, label: str, done: int) -> Callable[[str], None] | None:
    """Pass what git does on to the line of progress, if there is one."""
    return None if progress is None else lambda doing: progress(f"{label}: {doing}; mirrors done", done)


def _check_options(args: argparse.Namespace) -> None:
    if args.clone_url is not None and (len(args.repos) != 1 or args.file is not None):
        raise MirrorCommandError("--clone-url: expected exactly one REPO and no --from, got something else")
    if args.clone_url is None and args.repository_id is not None:
        raise MirrorCommandError("--repository-id: expected together with --clone-url, got it alone")
    if args.clone_url == "":
        raise MirrorCommandError("--clone-url: expected a URL, got nothing")


def _known(settings: Settings, org_id: str, *, required: bool) -> KnownRepositories:
    from sediment_assets.adapters.mirror_jobs import KnownRepositories
    from sediment_assets.adapters.settings import DATABASE_URL

    if not required and settings.get(DATABASE_URL) is None:
        return KnownRepositories.none(org_id)
    return KnownRepositories.read(settings.database_url(), org_id)


def _jobs(args: argparse.Namespace, known: KnownRepositories) -> list[SyncJob]:
    from sediment_assets.adapters.mirror_jobs import absolute_url, read_repository_list, several

    if args.clone_url is not None:
        return [known.listed(args.repos[0], absolute_url(args.clone_url, Path()), args.repository_id)]
    if args.file is None:
        return several(known.named(args.repos) if args.repos else known.jobs())
    jobs = several(read_repository_list(Path(args.file), known))
    if not args.repos:
        return jobs
    wanted = {repo.strip().lower() for repo in args.repos}
    missing = wanted - {job.label for job in jobs}
    if missing:
        raise MirrorCommandError(
            f"{args.file}: expected a table for each REPO, got none for {', '.join(sorted(missing))}"
        )
    return [job for job in jobs if job.label in wanted]


def describe_sync(outcomes: Sequence[SyncOutcome]) -> list[str]:
    """Spell a sync: one aligned line per repository, then totals."""
    from sediment_assets.mirrors.layout import mirror_path

    if not outcomes:
        return ["no repository: no visible Push names one"]
    rows: list[tuple[str, ...]] = [("repository", "status", "refs", "notes", "observed", "mirror")]
    for outcome in outcomes:
        there = outcome.refs or outcome.problem is None
        counts = [
            str(number) if there else "-" for number in (outcome.refs, outcome.notes, outcome.observations.stored)
        ]
        rows.append((outcome.label, outcome.status.value, *counts, str(mirror_path(outcome.key))))
    return aligned(rows, numbers=(2, 3, 4))


def _warnings(outcomes: Sequence[SyncOutcome]) -> Iterator[str]:
    for outcome in outcomes:
        if outcome.problem is not None:
            yield f"mirror_{outcome.status.value}: {outcome.label}: {outcome.problem}"
        if outcome.unreadable_notes:
            notes = quantity(outcome.unreadable_notes, "note")
            yield f"attribution_note_unreadable: {outcome.label}: {notes} of another shape"
        if outcome.invalid_session_ids:
            yield f"session_id_invalid: {outcome.label}: {outcome.invalid_session_ids} in notes"


def _unresolved(args: argparse.Namespace, known: KnownRepositories) -> Iterator[str]:
    if args.repos or args.file is not None:
        return
    for (slug, reason), count in known.plan.unresolved.items():
        yield f"{reason}: {slug or 'no repository name'}: {quantity(count, 'Push')}: {reason.meaning}"


def run_list(args: argparse.Namespace) -> int:
    """Print every mirror, and every repository without one. Raises SedimentError."""
    from sediment_assets.adapters.mirror_list import list_mirrors
    from sediment_assets.adapters.settings import Settings

    settings = Settings.load()
    base, org_id = settings.mirror_path(), settings.org_id()
    found = list(list_mirrors(base, _known(settings, org_id, required=False)))
    if args.json:
        say_json([plain_mirror(mirror) for mirror in found])
    else:
        there = "" if base.is_dir() else ": no such directory; sediment mirror sync makes it"
        for line in (f"mirrors: {base}{there}", *describe_mirrors(found)):
            say(line)
    for mirror in found:
        if mirror.problem is not None:
            warn(f"mirror_unreadable: {mirror.label or mirror.path}: {mirror.problem}")
    return 0


def describe_mirrors(found: Sequence[ListedMirror]) -> list[str]:
    """Spell mirrors: one aligned line each."""
    if not found:
        return ["no mirror, and no Push that names a repository"]
    rows: list[tuple[str, ...]] = [("repository", "refs", "notes", "unreadable", "last sync", "mirror")]
    for mirror in found:
        numbers = (mirror.refs, mirror.notes, mirror.unreadable_notes)
        counts = ["-" if mirror.refs is None or mirror.problem else str(number) for number in numbers]
        rows.append((mirror.label or "(no Fact)", *counts, _last_sync(mirror), str(mirror.path)))
    return aligned(rows, numbers=(1, 2, 3))


def plain_mirror(mirror: ListedMirror) -> dict[str, Any]:
    """Return one mirror, or a repository without one, as plain JSON; what cannot be known is null."""
    from sediment_assets.facts.instants import format_z
    from sediment_assets.repositories.keys import IdentifiedKey

    key, is_read = mirror.key, mirror.refs is not None and mirror.problem is None
    return {
        "repository": mirror.label,
        "provider": key.provider.value if isinstance(key, IdentifiedKey) else None,
        "host": key.host if isinstance(key, IdentifiedKey) else None,
        "repository_id": key.repository_id if isinstance(key, IdentifiedKey) else None,
        "mirror": str(mirror.path),
        "state": "unreadable" if mirror.problem is not None else "present" if is_read else "absent",
        "problem": mirror.problem,
        "refs": mirror.refs if is_read else None,
        "notes": mirror.notes if is_read else None,
        "unreadable_notes": mirror.unreadable_notes if is_read else None,
        "last_sync": None if mirror.synced is None else format_z(mirror.synced),
        "pushed": mirror.pushed,
    }


def _last_sync(mirror: ListedMirror) -> str:
    from sediment_assets.facts.instants import format_z

    if mirror.problem is not None:
        return "unreadable"
    if mirror.refs is None:
        return "absent"
    return "unknown" if mirror.synced is None else format_z(mirror.synced)
