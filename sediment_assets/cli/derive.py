"""``sediment derive``: freezes one derivation as a bundle directory and prints what it holds (cli.md §3)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from sediment_assets.cli.output import report, say, say_done, stages, warn, warn_without_facts, warn_without_mirrors
from sediment_assets.errors import SedimentError

if TYPE_CHECKING:
    from sediment_assets.adapters.bundle_dir import BundleSummary
    from sediment_assets.derive.policy import DerivationPolicy
    from sediment_assets.rollouts.scope import CohortScope

DESCRIPTION = """
Derive the Rollouts of an organization from its Facts and mirrors, and freeze them, with all they rest on, in a new
directory: a derived bundle. Exports from a bundle (sediment export rlvr --from) need no database, and give the same
rows every time.
"""
EPILOG = """
settings (environment, or .env in the current directory; names in any case):
  SEDIMENT_ORG_ID        the organization
  SEDIMENT_DATABASE_URL  the Fact store: sqlite:///PATH or
                         postgresql://USER@HOST/DATABASE
  SEDIMENT_MIRROR_PATH   base directory of the bare Git mirrors

examples:
  sediment derive --out bundles/2026-07
  sediment derive --out b --since 2026-07-01T00:00:00Z --users ada grace
  sediment derive --out b --policy policy.toml --sample 1

policy file (TOML; what is left out has the value shown):
  schema_version = 1                     # required
  [attribution]
  post_push_grace_period_minutes = 10
  max_commits_per_push = 20
  [attribution.git_notes]
  min_similarity = 0.3
  lookback_window_minutes = 10080
  [attribution.jaccard]
  min_similarity = 0.7
  lookback_window_minutes = 60
  [split]
  eval_fraction = 0.1                    # 0 to 0.5; 0 turns the split off

where to go next:
  sediment export rlvr --from OUT --target TARGET --out ROWS
"""


class DeriveError(SedimentError):
    """A derivation that was asked for in a way that cannot work."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``derive``; the parsed arguments carry the function to call as ``run``."""
    derive = subparsers.add_parser(
        "derive",
        help="freeze the Rollouts of an organization in a derived bundle",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    derive.add_argument(
        "--out", required=True, type=_directory, help="bundle directory to create; its parent must exist"
    )
    derive.add_argument("--policy", metavar="FILE", help="derivation policy; without it, the defaults below")
    derive.add_argument("--since", metavar="TIME", help="keep Sessions with a call at or after this instant")
    derive.add_argument(
        "--until", metavar="TIME", help="keep Sessions with a call before it; both are ISO 8601 with an offset"
    )
    derive.add_argument("--users", nargs="+", metavar="USER", help="keep Sessions of these users only")
    derive.add_argument(
        "--sample", type=int, default=0, metavar="N", help="print the first N lines of the artifact files"
    )
    derive.set_defaults(run=run)


def _directory(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("expected a directory, got an empty string")
    return Path(text)


def run(args: argparse.Namespace) -> int:
    """Derive; the checks come in the order of cli.md §3.2, the destination before the work. Raises SedimentError."""
    from sediment_assets.publish.summary import ExportWarning, WarningEvent
    from sediment_assets.rollouts.scope import WHOLE_ORGANIZATION

    if args.sample < 0:
        raise DeriveError(f"--sample: expected a number of lines, at least 0, got {args.sample}")
    policy = _policy(args)
    scope = _scope(args)
    summary = _derive(args.out, policy, scope)
    if scope != WHOLE_ORGANIZATION:
        counters = (
            "skipped and fragmented count the whole organization, whatever the scope; rollouts and excluded follow it"
        )
        report(ExportWarning(WarningEvent.ORGANIZATION_WIDE_COUNTERS, counters))
    _print(summary)
    for line in _samples(args.out, args.sample):
        say(line)
    return 0


def _policy(args: argparse.Namespace) -> DerivationPolicy:
    from sediment_assets.adapters.policy_file import read_policy
    from sediment_assets.derive.policy import DEFAULT_POLICY

    return DEFAULT_POLICY if args.policy is None else read_policy(Path(args.policy))


def _scope(args: argparse.Namespace) -> CohortScope:
    from sediment_assets.rollouts.scope import CohortScope

    since = parse_bound("--since", args.since)
    until = parse_bound("--until", args.until)
    return CohortScope.build(since, until, args.users)


def parse_bound(option: str, text: str | None) -> datetime | None:
    """Read an instant in any ISO 8601 form the runtime knows; the offset is mandatory.

    :raises DeriveError: naming the option.
    """
    if text is None:
        return None
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise DeriveError(f"{option}: expected an instant such as 2026-07-01T00:00:00Z, got {text!r}") from None
    if instant.tzinfo is None:
        raise DeriveError(
            f"{option}: expected an instant with an offset (Z, +02:00), such as {instant.isoformat()}Z, got {text!r}"
        )
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        raise DeriveError(f"{option}: expected an instant of the years 1 to 9999 in UTC, got {text!r}") from None


def _derive(out: Path, policy: DerivationPolicy, scope: CohortScope) -> BundleSummary:
    from sediment_assets.adapters.bundle_dir import derive_bundle
    from sediment_assets.adapters.bundle_staging import BUNDLE_DIRECTORY
    from sediment_assets.adapters.evidence import open_evidence
    from sediment_assets.adapters.settings import Settings
    from sediment_assets.publish.fresh_directory import require_destination
    from sediment_assets.publish.summary import ExportWarning, WarningEvent

    settings = Settings.load().evidence()
    # And again by derive_bundle: nobody should wait for a database to hear of it.
    require_destination(out, BUNDLE_DIRECTORY)
    with (
        open_evidence(settings.org_id, settings.database_url, settings.mirror_path) as evidence,
        stages("reading evidence") as progress,
    ):
        has_facts = evidence.facts.as_of() is not None
        warn_without_facts(settings.org_id, settings.database_url, has_facts=has_facts)
        warn_without_mirrors(settings.mirror_path, settings.org_id)
        summary = derive_bundle(evidence.facts, evidence.mirrors, out, policy, scope=scope, progress=progress)
    for text in evidence.mirrors.warnings:
        warn(ExportWarning(WarningEvent.MIRROR_DIRECTORY_IGNORED, text))
    return summary


def _print(summary: BundleSummary) -> None:
    from sediment_assets.bundle.encoding import MANIFEST, Population
    from sediment_assets.facts.instants import format_offset

    manifest = summary.manifest
    for warning in summary.warnings:
        warn(warning)
    say_done(f"wrote {summary.out}")
    say(f"attributed completions: {manifest.files[Population.ATTRIBUTED_COMPLETIONS].rows}")
    say(f"rollouts: {manifest.files[Population.ROLLOUTS].rows}")
    say(f"referenced inference calls: {manifest.files[Population.INFERENCE_CALLS].rows}")
    say(f"skipped: {dict(manifest.skipped)}")
    say(f"excluded: {dict(manifest.excluded)}")
    say(f"fragmented: {dict(manifest.fragmented)}")
    say(f"policy digest: {manifest.policy.digest}")
    say(f"as of: {'none' if manifest.as_of is None else format_offset(manifest.as_of)}")
    say(f"sha256: {MANIFEST} {summary.manifest_sha256}")
    for population, file in manifest.files.items():
        say(f"sha256: {population.file} {file.sha256}")


def _samples(out: Path, lines: int) -> Iterator[str]:
    """Give the first lines of the two artifact files, as they are."""
    from sediment_assets.bundle.encoding import Population

    for population in (Population.ATTRIBUTED_COMPLETIONS, Population.ROLLOUTS) if lines else ():
        with (out / population.file).open(encoding="ascii") as file:
            for line in islice(file, lines):
                yield f"sample {population.file}: {line.rstrip()}"
