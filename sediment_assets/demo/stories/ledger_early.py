"""The ledger's Sessions of Monday and Tuesday: ordinary work, and CI that does not simply pass."""

from sediment_assets.demo.conversations import AUTO, Session
from sediment_assets.demo.evidence import Evidence
from sediment_assets.demo.harnesses import CLAUDE_CODE, CODEX, COPILOT, CURSOR, PI
from sediment_assets.demo.repositories import Repository
from sediment_assets.demo.text import code


def tell_ledger_early(evidence: Evidence, repo: Repository) -> None:
    """Tell Monday and Tuesday in order of time."""
    fee_rounding(evidence, repo)
    currency_table(evidence, repo)
    statement_csv(evidence, repo)
    repo.work("11-03 08:31", "dev-3", "Keep statement lines as text", {
        "ledger/statements.py": ("lines.append((sign * posting.amount.minor, balance))",
                                 'lines.append(f"{sign * posting.amount.minor:>10} {balance:>10}")'),
        "ledger/statement_csv.py": ("writer.writerows(statement(journal, account_id))",
                                    "writer.writerows(line.split() for line in statement(journal, account_id))"),
    })  # fmt: skip
    transfer_retries(evidence, repo)
    posting_clock(evidence, repo)
    audit_log(evidence, repo)


def fee_rounding(evidence: Evidence, repo: Repository) -> None:
    """A bug fixed in one commit that passes."""
    s = Session(evidence, "ledger-fee-rounding", "11-02 09:12", repo, CLAUDE_CODE)
    s.user(
        "Card fees are a cent too low for some amounts: 12.50 EUR on a debit card should cost 8 cents (7.5 rounded "
        "half up), we charge 7. Please fix card_fee and add a test."
    )
    s.read("ledger/fees.py", "tests/test_fees.py", say="I'll look at the fee and its test first.")
    s.edit(
        "ledger/fees.py",
        "    return Money(int(amount.minor * CARD_BASIS_POINTS[card] / 10_000), amount.currency)\n",
        code("""
            # Integers only: half a minor unit is added before the division cuts off.
            minor = (amount.minor * CARD_BASIS_POINTS[card] + 5_000) // 10_000
            return Money(minor, amount.currency)
        """, 4),
        think="int() cuts off and the division makes a float. Adding half of 10_000 before // rounds half up exactly.",
        say="`int()` cuts off. I'll round half up in integers.",
    )  # fmt: skip
    s.edit(
        "tests/test_fees.py",
        '    assert card_fee(Money(10_000, "EUR"), "credit") == Money(140, "EUR")\n',
        code("""
            assert card_fee(Money(10_000, "EUR"), "credit") == Money(140, "EUR")


        def test_half_a_cent_rounds_up():
            assert card_fee(Money(1_250, "EUR"), "debit") == Money(8, "EUR")
        """),
    )
    s.run("python -m pytest -q", ".........                                             [100%]\n9 passed in 0.05s")
    commit = s.commit("Round card fees half up")
    s.answer("`card_fee` now rounds half up without floats; 12.50 EUR on a debit card costs 8 cents. All tests pass.")
    repo.ci(commit, "passed")


def currency_table(evidence: Evidence, repo: Repository) -> None:
    """A second passing task on the first day."""
    s = Session(evidence, "ledger-currency-table", "11-02 11:03", repo, CURSOR, user="dev-3")
    s.user("Money should know how many minor units a currency has. Add a table with EUR, USD, JPY and KWD.")
    s.read("ledger/money.py")
    s.write(
        "ledger/currencies.py",
        code('''
            """How many decimal places the minor unit of a currency has (ISO 4217)."""

            DECIMAL_PLACES = {"EUR": 2, "USD": 2, "JPY": 0, "KWD": 3}


            def minor_units(currency: str) -> int:
                return 10 ** DECIMAL_PLACES[currency]
        '''),
    )
    s.write(
        "tests/test_currencies.py",
        code("""
            from ledger.currencies import minor_units


            def test_minor_units_follow_iso_4217():
                assert [minor_units(code) for code in ("EUR", "JPY", "KWD")] == [100, 1, 1_000]
        """),
    )
    commit = s.commit("Know the minor units of currencies")
    s.answer("`ledger/currencies.py` holds the table and `minor_units`.")
    repo.ci(commit, "passed")


def statement_csv(evidence: Evidence, repo: Repository) -> None:
    """A change that breaks a test the agent did not run: reward 0.0."""
    s = Session(evidence, "ledger-statement-csv", "11-02 13:40", repo, CODEX, user="dev-2")
    s.user("Add a CSV export of account statements: a function statement_csv(journal, account_id) -> str.")
    s.read("ledger/statements.py", say="The lines are text; for CSV I need the numbers.")
    s.edit(
        "ledger/statements.py",
        'lines.append(f"{sign * posting.amount.minor:>10} {balance:>10}")',
        "lines.append((sign * posting.amount.minor, balance))",
        think="Returning numbers lets both the CSV and a text form build on the same list.",
        decision=AUTO,
    )
    s.write(
        "ledger/statement_csv.py",
        code('''
            """Statements as CSV."""

            import csv
            import io

            from ledger.journal import Journal
            from ledger.statements import statement


            def statement_csv(journal: Journal, account_id: str) -> str:
                out = io.StringIO()
                writer = csv.writer(out, lineterminator="\\n")
                writer.writerow(["amount", "balance"])
                writer.writerows(statement(journal, account_id))
                return out.getvalue()
        '''),
        decision=AUTO,
    )
    s.write(
        "tests/test_statement_csv.py",
        code("""
            from ledger.money import Money
            from ledger.statement_csv import statement_csv
            from tests.test_journal import make_journal


            def test_a_header_and_one_line_per_posting():
                journal = make_journal()
                journal.post("cash", "shop", Money(500, "EUR"))
                assert statement_csv(journal, "shop") == "amount,balance\\n500,500\\n"
        """),
        decision=AUTO,
    )
    s.run("python -m pytest -q tests/test_statement_csv.py", "1 passed in 0.02s")
    commit = s.commit("Export statements as CSV")
    s.answer("`statement_csv` returns a header and one line per posting; its test passes.")
    repo.ci(commit, "failed", error_type="test_failure", reason="tests/test_statements.py::test_running_balance failed")


def transfer_retries(evidence: Evidence, repo: Repository) -> None:
    """The CI runner broke, then the second attempt passed: an error is no verdict, so nothing is held against it."""
    s = Session(evidence, "ledger-transfer-retries", "11-03 09:20", repo, CLAUDE_CODE)
    s.user(
        "When a client repeats a transfer after a timeout we post it twice. Make transfer idempotent by request key."
    )
    s.read("ledger/api.py", "ledger/journal.py")
    s.edit(
        "ledger/api.py",
        code("""
            posting = journal.post(request["from"], request["to"], amount)
            return {"status": "posted", "amount": posting.amount.minor}
        """, 4),
        code("""
            key = request.get("key")
            if key is not None and key in journal.keys:
                return {"status": "duplicate", "amount": amount.minor}
            posting = journal.post(request["from"], request["to"], amount)
            if key is not None:
                journal.keys.add(key)
            return {"status": "posted", "amount": posting.amount.minor}
        """, 4),
        say="The handler can remember the keys it has posted.",
    )  # fmt: skip
    s.edit(
        "ledger/journal.py",
        "        self.postings: list[Posting] = []\n",
        "        self.postings: list[Posting] = []\n        self.keys: set[str] = set()\n",
    )
    s.edit(
        "tests/test_api.py",
        '    assert transfer(make_journal(), request) == {"status": "posted", "amount": 500}\n',
        code("""
            assert transfer(make_journal(), request) == {"status": "posted", "amount": 500}


        def test_a_repeated_key_is_posted_once():
            journal = make_journal()
            request = {"from": "cash", "to": "shop", "amount": "500", "currency": "EUR", "key": "k1"}
            assert [transfer(journal, request)["status"] for _ in range(2)] == ["posted", "duplicate"]
            assert len(journal.postings) == 1
        """),
    )
    s.run("python -m pytest -q", "............                                          [100%]\n12 passed in 0.06s")
    commit = s.commit("Post a transfer once per request key")
    s.answer(
        "A transfer with a known `key` answers `duplicate` and posts nothing. Requests without a key are as before."
    )
    lost = repo.ci(commit, "error", error_type="runner_lost", reason="The runner has received a shutdown signal.")
    repo.ci(commit, "passed", rerun_of=lost)


def posting_clock(evidence: Evidence, repo: Repository) -> None:
    """A test that depends on the clock: failed, then passed on the same commit, so its pass is worth nothing."""
    s = Session(evidence, "ledger-posting-clock", "11-03 14:05", repo, COPILOT, user="dev-2")
    s.user("I need Journal.since(instant): all postings made after an instant, oldest first.")
    s.read("ledger/journal.py", "tests/test_journal.py")
    s.edit(
        "ledger/journal.py",
        "        self.postings.append(posting)\n        return posting\n",
        code("""
                self.postings.append(posting)
                return posting

            def since(self, instant: datetime) -> list[Posting]:
                return [posting for posting in self.postings if posting.posted_at > instant]
        """, 4),
    )  # fmt: skip
    s.edit(
        "tests/test_journal.py",
        '    assert journal.accounts.balance("cash") == Money(-1_000, "EUR")\n',
        code("""
            assert journal.accounts.balance("cash") == Money(-1_000, "EUR")


        def test_since_leaves_out_the_earlier_postings():
            journal = make_journal()
            first = journal.post("cash", "shop", Money(1, "EUR"))
            second = journal.post("cash", "shop", Money(2, "EUR"))
            assert journal.since(first.posted_at) == [second]
        """),
        think="Two postings in a row get different instants unless the clock is coarse. Good enough.",
    )
    s.run("python -m pytest -q tests/test_journal.py", "2 passed in 0.01s")
    commit = s.commit("List the postings since an instant")
    s.answer("`Journal.since` is there, with a test.")
    first = repo.ci(commit, "failed", reason="test_since_leaves_out_the_earlier_postings: assert [] == [Posting(...)]")
    repo.ci(commit, "passed", rerun_of=first)


def audit_log(evidence: Evidence, repo: Repository) -> None:
    """Two commits, of which only the first has a verdict: the second's CI was cancelled, so the first one counts."""
    s = Session(evidence, "ledger-audit-log", "11-03 16:30", repo, PI)
    s.user("Write an audit line for every posting: who, what, when. A list of strings is enough for now.")
    s.read("ledger/api.py")
    s.write(
        "ledger/audit.py",
        code('''
            """One line of text per posting, for people who check the books."""

            from ledger.journal import Posting


            def audit_line(posting: Posting) -> str:
                amount = posting.amount
                when = f"{posting.posted_at:%Y-%m-%d %H:%M}"
                return f"{when} {posting.debit} -> {posting.credit} {amount.minor} {amount.currency}"
        '''),
    )
    first = s.commit("Write audit lines")
    repo.ci(first, "passed")
    s.wait(12)
    s.user("Thanks. Please mention the module in the README.")
    s.edit(
        "README.md",
        "Amounts are integers in minor units.\n",
        "Amounts are integers in minor units.\n`ledger/audit.py` writes one audit line per posting.\n",
        decision=AUTO,
    )
    second = s.commit("Mention the audit lines")
    s.answer("Done: a line per posting, and the README says where.")
    repo.ci(second, "cancelled", reason="Canceled by the user.")
