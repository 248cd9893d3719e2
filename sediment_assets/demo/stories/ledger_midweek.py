"""The ledger's Sessions of Wednesday: no verdict, no patch range, no commit left."""

from sediment_assets.demo.commits import MAIN, changed, on
from sediment_assets.demo.conversations import AUTO, Session
from sediment_assets.demo.evidence import Evidence
from sediment_assets.demo.harnesses import CODEX, CURSOR, PI
from sediment_assets.demo.repositories import Repository
from sediment_assets.demo.text import code


def tell_ledger_midweek(evidence: Evidence, repo: Repository) -> None:
    """Tell Wednesday in order of time."""
    balance_cache(evidence, repo)
    repo.work("11-04 10:02", "dev-3", "Release 0.4.2", {"pyproject.toml": ('"0.4.1"', '"0.4.2"')})
    bulk_import(evidence, repo)
    fx_spike(evidence, repo)


def balance_cache(evidence: Evidence, repo: Repository) -> None:
    """The next push cancelled its only CI run: no verdict, so no task."""
    s = Session(evidence, "ledger-balance-cache", "11-04 09:30", repo, PI, user="dev-3")
    s.user("Accounts.total(currency) please: the sum of all balances of one currency.")
    s.read("ledger/accounts.py")
    s.edit(
        "ledger/accounts.py",
        "    def change(self, account_id: str, amount: Money) -> None:\n",
        code("""
            def total(self, currency: str) -> Money:
                amounts = (balance.minor for balance in self._balances.values() if balance.currency == currency)
                return Money(sum(amounts), currency)

            def change(self, account_id: str, amount: Money) -> None:
        """, 4),
    )  # fmt: skip
    commit = s.commit("Add up the balances of a currency")
    s.answer("`Accounts.total(currency)` adds up the balances.")
    repo.ci(commit, "cancelled", reason="Canceling since a higher priority waiting request exists.")


def bulk_import(evidence: Evidence, repo: Repository) -> None:
    """Two commits on branches that part: the first is no ancestor of the rewarded one, so there is no patch range."""
    start = repo.history.branches[MAIN]
    s = Session(evidence, "ledger-bulk-import", "11-04 11:00", repo, CODEX)
    s.check_out("import-rows", start)
    s.user("We need to import old transfers from a CSV file with the columns from,to,amount,currency.")
    s.read("ledger/api.py")
    s.write(
        "ledger/bulk.py",
        code('''
            """Importing old transfers."""

            import csv
            from pathlib import Path
            from typing import Any

            from ledger.api import transfer
            from ledger.journal import Journal


            def import_transfers(journal: Journal, path: Path) -> int:
                rows: list[dict[str, Any]] = list(csv.DictReader(path.read_text().splitlines()))
                for row in rows:
                    transfer(journal, row)
                return len(rows)
        '''),
        decision=AUTO,
    )
    s.write(
        "tests/test_bulk.py",
        code("""
            from pathlib import Path

            from ledger.bulk import import_transfers
            from tests.test_journal import make_journal


            def test_every_row_is_posted():
                assert import_transfers(make_journal(), Path("samples/2019.csv")) == 3
        """),
        decision=AUTO,
    )
    first = s.commit("Import transfers from a file")
    repo.ci(first, "failed", reason="FileNotFoundError: [Errno 2] No such file or directory: 'samples/2019.csv'")
    s.wait(20)
    s.user(
        "The samples are not in git, and the real file has 40 million rows: that does not fit into memory. Start over "
        "from main and stream it."
    )
    s.check_out("import-stream", start)
    s.write(
        "ledger/bulk.py",
        code('''
            """Importing old transfers, one row at a time."""

            import csv
            from collections.abc import Iterable

            from ledger.api import transfer
            from ledger.journal import Journal


            def import_transfers(journal: Journal, lines: Iterable[str]) -> int:
                count = 0
                for row in csv.DictReader(lines):
                    transfer(journal, row)
                    count += 1
                return count
        '''),
        decision=AUTO,
        say="Starting over on `import-stream`: the reader takes any iterable of lines.",
    )
    s.write(
        "tests/test_bulk.py",
        code("""
            from ledger.bulk import import_transfers
            from tests.test_journal import make_journal


            def test_every_row_is_posted():
                lines = ["from,to,amount,currency", "cash,shop,500,EUR", "shop,cash,200,EUR"]
                assert import_transfers(make_journal(), lines) == 2
        """),
        decision=AUTO,
    )
    second = s.commit("Stream transfers from a file")
    s.answer("`import_transfers` now reads row by row from any open file; memory does not grow with it.")
    repo.ci(second, "passed")
    brought = {path: second.files[path] for path in ("ledger/bulk.py", "tests/test_bulk.py")}
    merged = changed(repo.history.branches[MAIN].files, brought)
    merge = repo.history.commit(on("11-04 12:40"), "dev-3", "Merge branch 'import-stream'", merged, merge=second)
    repo.push(on("11-04 12:41"))
    repo.ci(merge, "passed")


def fx_spike(evidence: Evidence, repo: Repository) -> None:
    """Its branch was deleted and pruned: the commit passed CI, but no mirror has it any more."""
    s = Session(evidence, "ledger-fx-spike", "11-04 15:30", repo, CURSOR, user="dev-2")
    s.check_out("spike/fx", repo.history.branches[MAIN])
    s.user("Spike: could a posting convert currencies with a fixed rate? Do it on a branch, we may throw it away.")
    s.read("ledger/money.py", "ledger/currencies.py")
    s.write(
        "ledger/fx.py",
        code('''
            """Converting amounts at a fixed rate, given as a fraction so that it stays exact."""

            from fractions import Fraction

            from ledger.currencies import minor_units
            from ledger.money import Money


            def convert(amount: Money, rate: Fraction, currency: str) -> Money:
                exact = amount.minor * rate * minor_units(currency) / minor_units(amount.currency)
                return Money(round(exact), currency)
        '''),
        think="Fraction keeps the rate exact; round() on a Fraction is half-even, which is fine for a spike.",
    )
    commit = s.commit("Convert amounts at a fixed rate")
    s.answer("`convert` works with exact rates. Left out: where rates come from, and which side bears the rounding.")
    repo.ci(commit, "passed")
    del repo.history.branches["spike/fx"]
