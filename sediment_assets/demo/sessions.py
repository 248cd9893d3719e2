"""The whole demo: every story told, in memory. The same evidence on every machine and every run."""

from dataclasses import dataclass
from functools import cache
from typing import Final

from sediment_assets.demo.evidence import Evidence
from sediment_assets.demo.repositories import Repository, Workflow
from sediment_assets.demo.stories.dashboard_code import write_dashboard
from sediment_assets.demo.stories.dashboard_early import tell_dashboard_early
from sediment_assets.demo.stories.dashboard_late import tell_dashboard_late
from sediment_assets.demo.stories.ledger_code import write_ledger
from sediment_assets.demo.stories.ledger_early import tell_ledger_early
from sediment_assets.demo.stories.ledger_late import tell_ledger_late
from sediment_assets.demo.stories.ledger_midweek import tell_ledger_midweek
from sediment_assets.demo.stories.mobile import tell_mobile

FIRST_DAY: Final = "2026-11-02"
"""First of the seven days with Sessions."""

_CI: Final = Workflow("CI", "71230001", ".github/workflows/ci.yml")


@dataclass(frozen=True)
class Demo:
    """What is planted: Facts, and the repositories that get a mirror."""

    evidence: Evidence
    mirrored: tuple[Repository, ...]


@cache
def build_demo() -> Demo:
    """Tell every story. The result is shared: read it only."""
    evidence = Evidence()
    ledger = Repository(evidence, "acme/payments-ledger", "712345001", (_CI,))
    write_ledger(ledger)
    ledger.begin_capture()
    tell_ledger_early(evidence, ledger)
    tell_ledger_midweek(evidence, ledger)
    tell_ledger_late(evidence, ledger)

    workflows = (
        Workflow("CI", "71230011", ".github/workflows/ci.yml"),
        Workflow("E2E", "71230012", ".github/workflows/e2e.yml"),
        Workflow("Pages", "71230013", "dynamic/pages/pages-build-deployment"),
    )
    dashboard = Repository(evidence, "acme/telemetry-dashboard", None, workflows)
    write_dashboard(dashboard)
    dashboard.begin_capture()
    tell_dashboard_early(evidence, dashboard)
    tell_dashboard_late(evidence, dashboard)

    mobile = Repository(
        evidence, "acme/mobile-app", "712345003", (Workflow("CI", "71230021", ".github/workflows/ci.yml"),)
    )
    tell_mobile(evidence, mobile)
    return Demo(evidence, (ledger, dashboard))
