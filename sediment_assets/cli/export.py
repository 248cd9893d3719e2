"""``sediment export rlvr``: parses, opens the evidence, calls the library, prints the summary (cli.md §4)."""

from __future__ import annotations

import argparse
import shlex
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from sediment_assets.cli.output import (
    counting,
    hint,
    report,
    say,
    say_done,
    stages,
    warn,
    warn_without_facts,
    warn_without_mirrors,
)
from sediment_assets.errors import SedimentError

if TYPE_CHECKING:
    from sediment_assets.adapters.settings import Settings
    from sediment_assets.publish.export import ExportSettings
    from sediment_assets.publish.summary import ExportSummary
    from sediment_assets.targets.registry import Target

TARGETS = ("sediment", "swe-bench", "nemo-gym")
"""Names of the targets, spelled again because the registry imports too much for ``--help``; a test compares."""

PROFILES = {
    "swe-bench-tasks-v1": ("swe-bench", "swebench 5.0.1 and datasets 5.0.1"),
    "nemo-gym-rollouts-v1": ("nemo-gym", "nemo-gym 0.2.1 and openai 2.6.1"),
}
"""Consumer profiles: their target and pinned packages (cli.md §5). None is part of this program."""

DESCRIPTION = """
Turn captured evidence into training rows for one target. All files appear together, in a directory of their own, or not
at all; what gives no row is counted under a closed reason and printed.

  sediment    tasks and rollouts with all evidence, and environment.yaml
  swe-bench   tasks in the field names of SWE-bench, passed commits only
  nemo-gym    rollouts in the field names of NeMo Gym; needs no Reference patch
"""
EPILOG = """
settings (environment, or .env in the current directory; names in any case):
  SEDIMENT_ORG_ID                     the organization to export
  SEDIMENT_DATABASE_URL               the Fact store: sqlite:///PATH
                                      or postgresql://USER@HOST/DATABASE
  SEDIMENT_MIRROR_PATH                base directory of the bare Git mirrors
  SEDIMENT_VERIFIER_COMMANDS_FILE     TOML: [repos."owner/name"]
                                      verification_command = "make test"
  SEDIMENT_OPENENV_IMAGE              for environment.yaml: the image,
  SEDIMENT_OPENENV_PACKAGE            or else the package, to run tasks in
  SEDIMENT_NEMO_GYM_RESOURCES_SERVER  for environment.yaml
  SEDIMENT_NEMO_GYM_CONFIG            for environment.yaml
  With --from, organization and database are not used, and SEDIMENT_MIRROR_PATH
  is taken from the environment only, never from .env.

examples:
  sediment export rlvr --target sediment --out rows/sediment
  sediment export rlvr --target nemo-gym --from bundle --out rows/nemo-gym

where to go next:
  Each export needs a fresh directory: OUT is claimed for its target, and what
  is in it is never replaced. OUT/.sediment-generation.json is written last;
  while it is missing, the files must not be read.
"""


class ExportError(SedimentError):
    """An export that was asked for in a way that cannot work."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``export`` and its formats; the parsed arguments carry the function to call as ``run``."""
    export = subparsers.add_parser(
        "export", help="export training rows", description="Export training rows in one of these formats."
    )
    formats = export.add_subparsers(title="formats", metavar="FORMAT", dest="format", required=True)
    rlvr = formats.add_parser(
        "rlvr",
        help="rows for reinforcement learning from verifiable rewards",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    rlvr.add_argument(
        "--out", required=True, type=_directory, help="output directory, created with its parents; must be fresh"
    )
    rlvr.add_argument("--target", required=True, choices=TARGETS, help="the consumer's format; there is no default")
    rlvr.add_argument(
        "--from", dest="bundle", metavar="DIR", default="", help="a derived bundle; without it, derive from the Facts"
    )
    rlvr.add_argument(
        "--profile",
        metavar="NAME",
        choices=tuple(PROFILES),
        help=f"write a consumer's native view of the rows instead: {' or '.join(PROFILES)}",
    )
    rlvr.add_argument("--consumer-config", metavar="FILE", help="JSON settings of the profile")
    rlvr.set_defaults(run=run)


def _directory(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("expected a directory, got an empty string")
    return Path(text)


def run(args: argparse.Namespace) -> int:
    """Export; the checks come in the order of cli.md §4.1. Raises SedimentError."""
    from sediment_assets.adapters.settings import Settings
    from sediment_assets.targets.registry import parse_target

    settings = Settings.load()
    target = parse_target(args.target)
    summary = _from_bundle(args, settings, target) if args.bundle else _from_facts(args, settings, target)
    _print(summary, args.out)
    return 0


def _from_facts(args: argparse.Namespace, settings: Settings, target: Target) -> ExportSummary:
    from sediment_assets.adapters.evidence import open_evidence
    from sediment_assets.publish.claim import refuse_directory
    from sediment_assets.publish.export import export_rlvr
    from sediment_assets.publish.summary import ExportWarning, WarningEvent
    from sediment_assets.rollouts.derivation import Derivation

    organization = settings.organization()
    _refuse_profile(args)
    mirror_path = settings.mirror_path()
    # A look before the work; export_rlvr takes the claim and decides.
    refuse_directory(args.out, target)
    with (
        open_evidence(organization.org_id, organization.database_url, mirror_path) as evidence,
        counting("Rollouts") as progress,
    ):
        has_facts = evidence.facts.as_of() is not None
        warn_without_facts(organization.org_id, organization.database_url, has_facts=has_facts)
        warn_without_mirrors(mirror_path, organization.org_id)
        source = Derivation(evidence.facts, evidence.mirrors)
        operator = _operator_settings(settings)
        summary = export_rlvr(source, evidence.mirrors, args.out, target=target, settings=operator, progress=progress)
    for text in evidence.mirrors.warnings:
        warn(ExportWarning(WarningEvent.MIRROR_DIRECTORY_IGNORED, text))
    return summary


def _from_bundle(args: argparse.Namespace, settings: Settings, target: Target) -> ExportSummary:
    from sediment_assets.adapters.bundle_dir import open_bundle
    from sediment_assets.adapters.git_mirror_store import GitMirrorStore
    from sediment_assets.publish.artifacts import RECORD
    from sediment_assets.publish.export import export_rlvr
    from sediment_assets.publish.reading import completion_file
    from sediment_assets.targets.registry import TARGETS as SPECS

    _refuse_profile(args)
    if not Path(args.bundle).is_dir():
        raise ExportError(
            f"--from {args.bundle}: expected the directory of a derived bundle, got none; "
            f"make one with sediment derive --out {args.bundle}, or leave --from out to derive from the Facts"
        )
    if completion_file(Path(args.bundle)) == Path(args.bundle, RECORD):
        raise ExportError(f"--from {args.bundle}: an export, not a derived bundle: sediment derive makes one")
    with ExitStack() as stack:
        with stages("copying the bundle") as progress:
            source = stack.enter_context(open_bundle(Path(args.bundle), progress=progress))
        needs_mirrors = SPECS[target].needs_mirrors
        store = GitMirrorStore(settings.mirror_path_from_environment()) if needs_mirrors else nullcontext()
        if needs_mirrors:
            warn_without_mirrors(settings.mirror_path_from_environment(), source.org_id)
        with store as mirrors, counting("Rollouts") as count:
            operator = _operator_settings(settings)
            return export_rlvr(source, mirrors, args.out, target=target, settings=operator, progress=count)


def _refuse_profile(args: argparse.Namespace) -> None:
    """Step 3 of cli.md §4.1; a profile always fails here, like a missing package (cli.md §5)."""
    if args.profile is None:
        if args.consumer_config is not None:
            raise ExportError("--consumer-config: expected together with --profile, which it configures, got it alone")
        return
    consumer, packages = PROFILES[args.profile]
    if consumer != args.target:
        raise ExportError(f"--profile {args.profile}: expected --target {consumer}, got --target {args.target}")
    raise ExportError(
        f"--profile {args.profile}: expected {packages} with their adapter, which this installation does not have; "
        "leave --profile out to write the canonical rows"
    )


def _operator_settings(settings: Settings) -> ExportSettings:
    from sediment_assets.adapters.verification_file import read_verification_commands
    from sediment_assets.publish.export import ExportSettings

    path = settings.verifier_commands_file()
    return ExportSettings(read_verification_commands(path), settings.runtime())


def _point_to_explain(summary: ExportSummary) -> None:
    """Name the command that says why a Session gave no row, with one that gave none."""
    sessions = [found[0] for examples in summary.skip_examples.values() for found in examples.values()]
    if sessions:
        hint(f"why a Session gave no row: sediment explain --session {shlex.quote(sessions[0])} (--declined lists all)")


def _print(summary: ExportSummary, out: Path) -> None:
    for warning in summary.warnings:
        report(warning)
    for skip in summary.explained:
        warn(f"{skip.reason}: Session {skip.session_id!r}: {skip.detail}")
    say(f"rollouts derived: {summary.rollouts}")
    say(f"task rows: {summary.task_rows}  skipped: {dict(summary.task_skipped)}")
    say(f"rollout rows: {summary.rollout_rows}  skipped: {dict(summary.rollout_skipped)}")
    say(f"fragmented: {dict(summary.fragmented)}")
    for path, rows in summary.written.items():
        say_done(f"wrote {path} ({rows} rows)")
    if summary.environment_manifest is not None:
        say_done(f"wrote {summary.environment_manifest} (experimental manifest: no consumer is known to read it)")
    _point_to_explain(summary)
    if not summary.written:
        say(f"nothing written: no Rollout gave a row; existing files in {out} are left alone")
