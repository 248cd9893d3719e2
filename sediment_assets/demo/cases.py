"""What each Session of the demo is there to show, and the rows it must give (targets.md §5).

The expectations are written by hand from the contract; a test exports the demo and compares. docs/demo.md holds the
same table for readers.
"""

from dataclasses import dataclass
from typing import Final

from sediment_assets.derive.policy import DEFAULT_POLICY
from sediment_assets.derive.split import Split, split_of

PASSED: Final = "passed"
FAILED: Final = "failed"


@dataclass(frozen=True)
class Case:
    """One Session and what comes of it."""

    day: str
    """Its partition: the day of its first visible call, in November 2026."""
    session_id: str
    shows: str
    task: str | None
    """The verdict of its task row, or the reason why it has none; None when it has no Rollout."""
    reward: float | None = None
    """The reward of its rollout rows, also of a Session without a task row; None without a verdict."""
    rows: int = 1
    """Rollout rows, one per Segment."""
    declined: str | None = None
    """Why its only Segment gives no row."""

    @property
    def swe_bench(self) -> str | None:
        """As ``task``, for the target that takes passing changes only."""
        return "failed_reference_patch" if self.task == FAILED else self.task

    @property
    def split(self) -> Split:
        """The side of the split its rows are on."""
        return split_of(self.session_id, DEFAULT_POLICY.eval_fraction)


CASES: Final = (
    Case("02", "ledger-fee-rounding", "A bug fixed in one commit that passes CI.", PASSED, 1.0),
    Case("02", "dashboard-format-bytes", "The same in a legacy repository: a note is the proof.", PASSED, 1.0),
    Case("02", "ledger-currency-table", "Another agent, another model; every edit decided on.", PASSED, 1.0),
    Case("02", "ledger-statement-csv", "The change broke a test: reward 0.0, no SWE-bench row.", FAILED, 0.0),
    Case("02", "dashboard-retention-question", "A question: no commit, no verdict.", "no_attributed_commit"),
    Case("03", "ledger-transfer-retries", "The runner broke, the rerun passed: reliability 1.0.", PASSED, 1.0),
    Case("03", "dashboard-alert-hysteresis", "Two workflows disagree: ambiguous.", "missing_verifier_evidence"),
    Case("03", "dashboard-dark-theme", "Failed, then fixed: the later commit's verdict.", PASSED, 1.0),
    Case("03", "ledger-posting-clock", "A flake, failed then passed: reliability 0.0.", PASSED, 1.0),
    Case("03", "ledger-audit-log", "The last commit's CI was cancelled: the one before counts.", PASSED, 1.0),
    Case("03", "dashboard-setup-docs", "A commit without any CI.", "missing_verifier_evidence"),
    Case("04", "ledger-balance-cache", "CI only cancelled: no verdict.", "missing_verifier_evidence"),
    Case("04", "dashboard-docs-site", "A root commit: nothing to diff against.", "root_commit_no_base", 1.0),
    Case("04", "ledger-bulk-import", "Commits on branches that part.", "degenerate_commit_range", 1.0),
    Case(
        "04",
        "dashboard-emoji-labels",
        "A tool result cut inside an emoji: its Turns cannot be spelled in UTF-8.",
        PASSED,
        rows=0,
        declined="unrepresentable_unicode",
    ),
    Case("04", "mobile-offline-banner", "Its repository has no mirror.", "mirror_absent", 1.0),
    Case("04", "ledger-fx-spike", "Its branch was deleted and pruned.", "no_commit_in_verifier_repo", 1.0),
    Case("05", "dashboard-sparkline", "No note: attributed by what the model wrote.", PASSED, 1.0),
    Case("05", "dashboard-query-builder", "Compacted: `input_history_changed`, two Segments.", PASSED, 1.0, rows=2),
    Case("05", "ledger-health-endpoint", "The repository was just renamed: one label for all.", PASSED, 1.0),
    Case("05", "ledger-interrupted-refactor", "Broke off: `prior_output_absent`, two Segments.", PASSED, 1.0, rows=2),
    Case("05", "dashboard-lazy-charts", "Asked again: `prior_output_not_replayed`, two Segments.", PASSED, 1.0, rows=2),
    Case("05", "ledger-overdraft-alert", "Over midnight: the day of its first call.", PASSED, 1.0),
    Case("06", "dashboard-timezone-axis", "A failed attempt is quarantined: reliability 1.0.", PASSED, 1.0),
    Case("06", "ledger-masked-iban", "Its last call is quarantined: one Turn less.", PASSED, 1.0),
    Case("06", "dashboard-legend-order", "Its outcome was quarantined and released.", PASSED, 1.0),
    Case(
        "06",
        "dashboard-axis-bounds",
        "An infinite number in a tool call: JSON has none.",
        PASSED,
        rows=0,
        declined="non_finite_number",
    ),
    Case("06", "ledger-customer-dump", "Every call is quarantined: no Rollout.", None, rows=0),
    Case("06", "dashboard-brand-refresh", "A patch with CRLF, Latin-1, an image and a rename.", PASSED, 1.0),
    Case("08", "ledger-weekend-overdraft", "One edit rejected, the next accepted.", PASSED, 1.0),
    Case("08", "dashboard-csv-download", "The change does not compile.", FAILED, 0.0),
)
"""Every Session by day and time. Saturday the 7th has none: its partition is empty."""


def case_table() -> str:
    """Spell the cases as a Markdown table."""
    head = ("day", "Session", "shows", "`sediment` task", "`swe-bench` task", "rollout rows", "reward", "split")
    lines = [_line(head), _line(["---"] * len(head))]
    return "\n".join([*lines, *(_line(_cells(case)) for case in CASES)]) + "\n"


def _line(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(case: Case) -> tuple[str, ...]:
    return (
        f"11-{case.day}",
        f"`{case.session_id}`",
        case.shows,
        _outcome(case.task, f"row, {case.task}"),
        _outcome(case.swe_bench, "row"),
        f"0, `{case.declined}`" if case.declined else str(case.rows),
        "–" if case.reward is None else str(case.reward),
        case.split.value,
    )


def _outcome(result: str | None, row: str) -> str:
    if result is None:
        return "–"
    return row if result in (PASSED, FAILED) else f"`{result}`"
