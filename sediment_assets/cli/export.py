"""``sediment export rlvr``: parses, opens the evidence, calls the library, prints the summary (cli.md §4)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sediment_assets.cli.output import counting, say, warn
from sediment_assets.errors import SedimentError

if TYPE_CHECKING:
    from sediment_assets.adapters.settings import Settings
    from sediment_assets.publish.export import ExportSettings, ExportSummary
    from sediment_assets.targets.registry import Target

TARGETS = ("sediment", "swe-bench", "nemo-gym")
PROFILES = {"swe-bench-tasks-v1": "swe-bench", "nemo-gym-rollouts-v1": "nemo-gym"}
MANIFEST_NOTE = "experimental manifest: no known consumer reads it yet"

DESCRIPTION = """\
Turn captured evidence into training rows for one target. Rows appear only when all of them are ready; what gives no
row is counted under a closed reason and printed.
"""
EPILOG = """\
settings (environment, or .env in the current directory):
  SEDIMENT_ORG_ID                  the organization to export
  SEDIMENT_DATABASE_URL            sqlite:///PATH (four slashes for an absolute path)
                                   or postgresql://USER@HOST/DATABASE
  SEDIMENT_MIRROR_PATH             base directory of the bare Git mirrors
  SEDIMENT_VERIFIER_COMMANDS_FILE  TOML: [repos."owner/name"] verification_command
  SEDIMENT_OPENENV_IMAGE, SEDIMENT_OPENENV_PACKAGE,
  SEDIMENT_NEMO_GYM_RESOURCES_SERVER, SEDIMENT_NEMO_GYM_CONFIG
                                   runtime references of environment.yaml

example:
  sediment export rlvr --target swe-bench --out rows/swe-bench
"""


class ExportError(SedimentError):
    """An export that was asked for in a way that cannot work."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``export`` and its formats; the parsed arguments carry the function to call as ``run``."""
    export = subparsers.add_parser("export", help="export training rows", description="Export training rows.")
    formats = export.add_subparsers(title="formats", metavar="FORMAT", dest="format", required=True)
    rlvr = formats.add_parser(
        "rlvr",
        help="rows for reinforcement learning from verifiable rewards",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    rlvr.add_argument("--out", required=True, help="output directory; created; each export needs a fresh one")
    rlvr.add_argument("--target", required=True, choices=TARGETS, help="the consumer's format")
    rlvr.add_argument("--from", dest="bundle", metavar="DIR", default="", help="a derived bundle, instead of deriving")
    rlvr.add_argument("--profile", choices=tuple(PROFILES), help="write the consumer's native view of the rows")
    rlvr.add_argument("--consumer-config", metavar="FILE", help="JSON settings of the profile")
    rlvr.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Export; the checks come in the order of cli.md §4.1.

    :raises SedimentError: whatever stands in the way.
    """
    from sediment_assets.adapters.settings import Settings
    from sediment_assets.adapters.verification_file import read_verification_commands
    from sediment_assets.publish.export import ExportSettings
    from sediment_assets.targets.registry import parse_target

    settings = Settings.load()
    _refuse_profile(args)
    export = ExportSettings(read_verification_commands(settings.verifier_commands_file()), settings.runtime())
    out = Path(args.out)
    target = parse_target(args.target)
    if args.bundle:
        summary = _export_bundle(Path(args.bundle), settings, out, target, export)
    else:
        summary = _export_directly(settings, out, target, export)
    _print(summary, out)
    return 0


def _refuse_profile(args: argparse.Namespace) -> None:
    if args.profile is None:
        if args.consumer_config is not None:
            raise ExportError("--consumer-config: expected together with --profile, which it configures")
        return
    consumer = PROFILES[args.profile]
    if consumer != args.target:
        raise ExportError(f"--profile {args.profile}: writes target {consumer}, not {args.target}; change --target")
    raise ExportError(
        f"--profile {args.profile}: needs the consumer's own packages, which this installation does not have; "
        "leave --profile out to write the canonical rows"
    )


def _export_directly(settings: Settings, out: Path, target: Target, export: ExportSettings) -> ExportSummary:
    from sediment_assets.adapters.evidence import open_evidence
    from sediment_assets.adapters.fact_store.location import parse_location
    from sediment_assets.publish.export import export_rlvr
    from sediment_assets.rollouts.derivation import Derivation

    where = settings.evidence()
    parse_location(where.database_url)
    with open_evidence(where.org_id, where.database_url, where.mirror_path) as evidence, counting("Rollouts") as show:
        derivation = Derivation(evidence.facts, evidence.mirrors)
        return export_rlvr(derivation, evidence.mirrors, out, target=target, settings=export, progress=show)


def _export_bundle(
    bundle: Path, settings: Settings, out: Path, target: Target, export: ExportSettings
) -> ExportSummary:
    raise ExportError(f"--from {bundle}: exporting from a bundle is not available; leave --from out to derive directly")


def _print(summary: ExportSummary, out: Path) -> None:
    for warning in summary.warnings:
        warn(warning)
    for skip in summary.explained:
        warn(f"{skip.reason}: Session {skip.session_id!r}: {skip.detail}")
    say(f"rollouts derived: {summary.rollouts}")
    say(f"task rows: {summary.task_rows}  skipped: {summary.task_skipped}")
    say(f"rollout rows: {summary.rollout_rows}  skipped: {summary.rollout_skipped}")
    say(f"fragmented: {summary.fragmented}")
    for name, rows in summary.written.items():
        say(f"wrote {out / name} ({rows} rows)")
    if summary.environment_manifest is not None:
        say(f"wrote {out / summary.environment_manifest} ({MANIFEST_NOTE})")
    if not summary.written:
        say(f"nothing written: no Rollout gave a row; existing files in {out} are left alone")
