"""``sediment explain``: where a row comes from, and why a Session gave none.

Parsing and printing only; the work is ``adapters/explanation.py`` and ``lineage``, imported when the command runs.
"""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from sediment_assets.cli.graph import DEFAULT_EXPORT_ROOT
from sediment_assets.cli.output import say, say_json, warn, warn_without_facts
from sediment_assets.cli.parser import calendar_day
from sediment_assets.errors import SedimentError

if TYPE_CHECKING:
    from sediment_assets.adapters.explanation import Explanation
    from sediment_assets.adapters.settings import EvidenceSettings, Settings
    from sediment_assets.derive.policy import DerivationPolicy
    from sediment_assets.targets.verification_commands import VerificationCommands

DESCRIPTION = """
Explain a row, or a Session without one: its generations, its InferenceCalls with their instants, the commits it led to
and what binds them, every CI outcome and the verdict that counts, and what each target makes of it. A target that gives
no row names the first rule that declined the Session and the evidence that is missing.
"""
EPILOG = """
Derives from Facts and mirrors with the code of an export; published rows are
looked up in the newest complete generations of the Session's day, if an export
root is there. Nothing is written.

settings (environment, or .env in the current directory; names in any case):
  SEDIMENT_ORG_ID, SEDIMENT_DATABASE_URL, SEDIMENT_MIRROR_PATH
  SEDIMENT_VERIFIER_COMMANDS_FILE and SEDIMENT_EXPORT_ROOT (default: exports)

examples:
  sediment explain acme-ledger-fee-rounding-seg0
  sediment explain --session dashboard-retention-question
  sediment explain --declined --reason missing_verifier_evidence
  sediment explain --session s1 --in rows/swe-bench --json

where to go next:
  docs/explain.md               two answers, line by line
  docs/reference/reasons.md     every reason
"""


class ExplainError(SedimentError):
    """A question that cannot be answered as asked."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``explain``; the parsed arguments carry the function to call as ``run``."""
    explain = subparsers.add_parser(
        "explain",
        help="where a row comes from, or why a Session gave none",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    explain.add_argument("instance_id", nargs="?", metavar="INSTANCE_ID", help="a row's instance_id")
    explain.add_argument("--session", metavar="ID", help="a Session, with or without rows")
    explain.add_argument(
        "--declined", action="store_true", help="list every Session that a target declined, with the rule that did"
    )
    explain.add_argument("--partition", metavar="DAY", help="with --declined: Sessions that begin on this day (UTC)")
    explain.add_argument("--reason", metavar="REASON", help="with --declined: declined for this reason")
    explain.add_argument("--policy", metavar="FILE", help="derivation policy; without it, the default one")
    explain.add_argument(
        "--in", dest="generations", action="append", type=Path, default=[], metavar="DIR",
        help="look for rows in this generation, too, of a command-line export say; may be repeated",
    )  # fmt: skip
    explain.add_argument("--json", action="store_true", help="print one JSON object")
    explain.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Explain; exit code 1 when nothing at all is known of the Session. Raises SedimentError."""
    from sediment_assets.cli.explain_json import plain
    from sediment_assets.cli.explain_texts import describe
    from sediment_assets.lineage.names import session_of

    if (args.instance_id is not None) + (args.session is not None) + args.declined != 1:
        raise ExplainError("expected an INSTANCE_ID, --session ID or --declined, one of the three")
    if args.declined and args.generations:
        raise ExplainError("--in: expected together with INSTANCE_ID or --session, whose rows it looks for")
    if args.declined:
        return _run_declined(args)
    if args.partition is not None or args.reason is not None:
        raise ExplainError("--partition, --reason: expected together with --declined, which they narrow")
    explanation = _explain(args)
    if args.instance_id is not None:
        session_of(args.instance_id, explanation.org_id)
    if args.json:
        say_json(plain(explanation))
    else:
        for line in describe(explanation, args.instance_id):
            say(line)
    return 0 if explanation.chain is not None or explanation.stored else 1


def _run_declined(args: argparse.Namespace) -> int:
    """List the Sessions that gave no row of some population."""
    from sediment_assets.adapters.explanation import list_declined
    from sediment_assets.adapters.settings import Settings
    from sediment_assets.cli.explain_texts import describe_declined

    day = _day(args.partition)
    _check_reason(args.reason)
    settings = Settings.load()
    evidence = settings.evidence()
    found = list_declined(
        evidence.org_id,
        evidence.database_url,
        evidence.mirror_path,
        commands=_commands(settings),
        policy=_policy(args),
        day=day,
    )
    if not found:
        _warn_without_facts(evidence)
    wanted = [one for one in found if args.reason in (None, one.reason)]
    if args.json:
        say_json([one._asdict() for one in wanted])
        return 0
    for line in describe_declined(wanted):
        say(line)
    return 0


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else calendar_day(text)
    except argparse.ArgumentTypeError as error:
        raise ExplainError(f"--partition: {error}") from None


def _check_reason(text: str | None) -> None:
    """Refuse what no Session can be declined for: nothing found would look like good news."""
    from sediment_assets.lineage.missing import MISSING

    reasons = sorted(reason.value for reason in MISSING)
    if text is not None and text not in reasons:
        raise ExplainError(f"--reason: expected one of {', '.join(reasons)}, got {text!r}")


def _warn_without_facts(evidence: EvidenceSettings) -> None:
    """Warn as an export does when the organization has no visible Fact: asked only when nothing was found."""
    from sediment_assets.adapters.evidence import open_evidence

    with open_evidence(evidence.org_id, evidence.database_url, evidence.mirror_path) as opened:
        has_facts = opened.facts.as_of() is not None
    warn_without_facts(evidence.org_id, evidence.database_url, has_facts=has_facts)


def _policy(args: argparse.Namespace) -> DerivationPolicy:
    from sediment_assets.adapters.policy_file import read_policy
    from sediment_assets.derive.policy import DEFAULT_POLICY

    return DEFAULT_POLICY if args.policy is None else read_policy(Path(args.policy))


def _explain(args: argparse.Namespace) -> Explanation:
    from sediment_assets.adapters.explanation import explain_session
    from sediment_assets.adapters.settings import Settings

    settings = Settings.load()
    evidence = settings.evidence()
    commands = _commands(settings)
    root = settings.export_root(Path(DEFAULT_EXPORT_ROOT))
    explanation = explain_session(
        evidence.org_id,
        evidence.database_url,
        evidence.mirror_path,
        _session(args, evidence.org_id),
        commands=commands,
        policy=_policy(args),
        root=root if root.is_dir() else None,
        generations=args.generations,
    )
    warn_without_facts(evidence.org_id, evidence.database_url, has_facts=explanation.as_of is not None)
    return explanation


def _commands(settings: Settings) -> VerificationCommands:
    """Read the verification commands as an export does, with its warnings."""
    from sediment_assets.adapters.verification_file import read_verification_commands
    from sediment_assets.publish.export import command_warnings

    commands = read_verification_commands(settings.verifier_commands_file())
    for warning in command_warnings(commands):
        warn(warning)
    return commands


def _session(args: argparse.Namespace, org_id: str) -> str:
    """Return the Session that is meant, as Facts spell it."""
    from sediment_assets.facts.scalars import normal_id
    from sediment_assets.lineage.names import session_of

    option = "INSTANCE_ID" if args.session is None else "--session"
    try:
        return normal_id(args.session if args.session is not None else session_of(args.instance_id, org_id))
    except ValueError as error:
        raise ExplainError(f"{option}: {error}") from None
