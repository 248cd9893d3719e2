"""The ledger's Sessions from Thursday to Sunday: a rename, a broken answer, midnight, quarantine."""

from sediment_assets.demo.commits import on
from sediment_assets.demo.conversations import ACCEPT, AUTO, REJECT, Session
from sediment_assets.demo.evidence import Evidence
from sediment_assets.demo.harnesses import CLAUDE_CODE, CODEX
from sediment_assets.demo.repositories import Repository
from sediment_assets.demo.text import code

RENAMED_TO = "acme/ledger"


def tell_ledger_late(evidence: Evidence, repo: Repository) -> None:
    """Tell Thursday to Sunday in order of time."""
    repo.rename(RENAMED_TO, "11-05 12:00")
    repo.work("11-05 12:20", "dev-3", "Follow the new repository name", {
        "README.md": ("# payments-ledger\n", "# ledger\n"),
        "pyproject.toml": ('name = "payments-ledger"', 'name = "ledger"'),
    })  # fmt: skip
    health_endpoint(evidence, repo)
    interrupted_refactor(evidence, repo)
    overdraft_alert(evidence, repo)
    masked_iban(evidence, repo)
    customer_dump(evidence, repo)
    repo.work("11-06 17:05", "dev-3", "Release 0.5.0", {"pyproject.toml": ('"0.4.2"', '"0.5.0"')})
    weekend_overdraft(evidence, repo)


def health_endpoint(evidence: Evidence, repo: Repository) -> None:
    """The first Session after the rename: one repository id, so old and new Sessions share one label."""
    s = Session(evidence, "ledger-health-endpoint", "11-05 13:30", repo, CLAUDE_CODE, user="dev-3")
    s.user("Add a health handler to the API: status ok and the number of postings.")
    s.read("ledger/api.py")
    s.edit(
        "ledger/api.py",
        "def transfer(",
        code("""
            def health(journal: Journal) -> dict[str, Any]:
                return {"status": "ok", "postings": len(journal.postings)}


            def transfer("""),
    )
    s.edit(
        "tests/test_api.py",
        "from ledger.api import transfer\n",
        "from ledger.api import health, transfer\n",
    )
    s.edit(
        "tests/test_api.py",
        "def test_a_transfer_is_posted():\n",
        code("""
            def test_health_counts_postings():
                assert health(make_journal()) == {"status": "ok", "postings": 0}


            def test_a_transfer_is_posted():
        """),
    )
    s.run(
        "python -m pytest -q tests/test_api.py",
        "....                                                  [100%]\n4 passed in 0.02s",
    )
    commit = s.commit("Answer health requests")
    s.answer("`health(journal)` reports the status and the number of postings.")
    repo.ci(commit, "passed")


def interrupted_refactor(evidence: Evidence, repo: Repository) -> None:
    """The first answer broke off before a word came (a new Segment), and Codex reports one decision twice."""
    s = Session(evidence, "ledger-interrupted-refactor", "11-05 15:10", repo, CODEX)
    s.user("statement() and statement_csv() both walk the postings. Factor the running balance out.")
    s.capture()  # the stream broke before the first token
    s.wait(3)
    s.user("The connection dropped. Please go on.")
    s.read("ledger/statements.py", "ledger/statement_csv.py")
    s.edit(
        "ledger/statements.py",
        code("""
            def statement(journal: Journal, account_id: str) -> list[str]:
                balance = 0
                lines = []
                for posting in journal.postings:
                    if account_id not in (posting.debit, posting.credit):
                        continue
                    sign = 1 if posting.credit == account_id else -1
                    balance += sign * posting.amount.minor
                    lines.append(f"{sign * posting.amount.minor:>10} {balance:>10}")
                return lines
        """),
        code("""
            def running_balance(journal: Journal, account_id: str) -> Iterator[tuple[int, int]]:
                balance = 0
                for posting in journal.postings:
                    if account_id in (posting.debit, posting.credit):
                        change = posting.amount.minor if posting.credit == account_id else -posting.amount.minor
                        balance += change
                        yield change, balance


            def statement(journal: Journal, account_id: str) -> list[str]:
                return [f"{change:>10} {balance:>10}" for change, balance in running_balance(journal, account_id)]
        """),
        decision=AUTO,
    )
    edited = evidence.facts[-1]
    # Codex reports the approval of a patch once without and once with its path; the one without is subsumed.
    s.decide("", AUTO, getattr(edited, "call_id", None), occurred_at=getattr(edited, "occurred_at", None))
    s.edit(
        "ledger/statements.py",
        "from ledger.journal import Journal\n",
        "from collections.abc import Iterator\n\nfrom ledger.journal import Journal\n",
        decision=AUTO,
    )
    s.edit(
        "ledger/statement_csv.py",
        "writer.writerows(line.split() for line in statement(journal, account_id))",
        "writer.writerows(running_balance(journal, account_id))",
        decision=AUTO,
    )
    s.edit(
        "ledger/statement_csv.py",
        "from ledger.statements import statement\n",
        "from ledger.statements import running_balance\n",
        decision=AUTO,
    )
    s.run("python -m pytest -q", "...............                                       [100%]\n15 passed in 0.07s")
    commit = s.commit("Share the running balance")
    s.answer("`running_balance` walks the postings; both statements use it.")
    repo.ci(commit, "passed")


def overdraft_alert(evidence: Evidence, repo: Repository) -> None:
    """A Session over midnight: it belongs to the day of its first call, Thursday."""
    s = Session(evidence, "ledger-overdraft-alert", "11-05 23:46", repo, CLAUDE_CODE, user="dev-2")
    s.user("I am on call. Account 'shop' went far below zero tonight and nobody noticed. Where would an alert go?")
    s.read("ledger/journal.py", "ledger/accounts.py", say="A posting is the only place where balances change.")
    s.answer("In `Journal.post`, after both balances changed: a callback with the account id and its balance.")
    s.wait(22)
    s.user("Do that, with a limit per journal.")
    s.edit(
        "ledger/journal.py",
        "        self.postings.append(posting)\n",
        code("""
            self.postings.append(posting)
            self._watch(debit)
        """, 8),
    )  # fmt: skip
    s.edit(
        "ledger/journal.py",
        "    def post(self, debit: str, credit: str, amount: Money) -> Posting:\n",
        code("""
            def alert_below(self, minor: int, alert: Callable[[str, Money], None]) -> None:
                self._limit, self._alert = minor, alert

            def _watch(self, account_id: str) -> None:
                balance = self.accounts.balance(account_id)
                if self._alert is not None and balance.minor < self._limit:
                    self._alert(account_id, balance)

            def post(self, debit: str, credit: str, amount: Money) -> Posting:
        """, 4),
        think="Only the debited account can fall, so one check per posting is enough.",
    )  # fmt: skip
    s.edit(
        "ledger/journal.py",
        "        self.keys: set[str] = set()\n",
        code("""
            self.keys: set[str] = set()
            self._limit = 0
            self._alert: Callable[[str, Money], None] | None = None
        """, 8),
    )  # fmt: skip
    s.run(
        "python -m pytest -q",
        "ledger/journal.py:26: in Journal\nE   NameError: name 'Callable' is not defined\n5 errors in 0.21s",
        status=1,
    )
    s.edit(
        "ledger/journal.py",
        "from dataclasses import dataclass\nfrom datetime",
        "from collections.abc import Callable\nfrom dataclasses import dataclass\nfrom datetime",
    )
    s.run("python -m pytest -q", "...............                                       [100%]\n15 passed in 0.08s")
    commit = s.commit("Alert when an account falls below a limit")
    s.answer(
        "`journal.alert_below(limit, callback)` calls back for the debited account. Nothing changes until it is set."
    )
    repo.ci(commit, "passed")


def masked_iban(evidence: Evidence, repo: Repository) -> None:
    """Its last call quotes a customer's record and is quarantined: the Rollout ends one Turn earlier."""
    s = Session(evidence, "ledger-masked-iban", "11-06 10:10", repo, CLAUDE_CODE)
    s.user("Audit lines may contain an IBAN as account id. Mask all but the last four characters.")
    s.read("ledger/audit.py")
    s.edit(
        "ledger/audit.py",
        "def audit_line(posting: Posting) -> str:\n    amount = posting.amount\n",
        code("""
            def masked(account_id: str) -> str:
                return "*" * (len(account_id) - 4) + account_id[-4:] if len(account_id) >= 15 else account_id


            def audit_line(posting: Posting) -> str:
                amount = posting.amount
                debit, credit = masked(posting.debit), masked(posting.credit)
        """),
    )
    s.edit("ledger/audit.py", "{posting.debit} -> {posting.credit}", "{debit} -> {credit}")
    commit = s.commit("Mask IBANs in audit lines")
    s.answer("Ids of 15 characters and more keep their last four characters only.")
    repo.ci(commit, "passed")
    s.wait(9)
    s.user("And for this one from production? XX00 0000 0000 0000 1234, balance 18,402.11 EUR, blocked since Monday")
    leaked = s.answer("XX00 0000 0000 0000 1234 has blanks; without them it becomes ****************1234.")
    evidence.quarantine(leaked, on("11-06 11:30"), "quotes a customer's account")


def customer_dump(evidence: Evidence, repo: Repository) -> None:
    """Every call is quarantined: the Session gives no Rollout, though its commit passed CI."""
    s = Session(evidence, "ledger-customer-dump", "11-06 14:00", repo, CODEX, user="dev-2")
    s.user("Here is last night's dump of the accounts table, find the duplicates: id;name;balance 1;(a customer);…")
    s.write(
        "ledger/duplicates.py",
        code('''
            """Finding account ids that occur more than once."""

            from collections import Counter
            from collections.abc import Iterable


            def duplicates(account_ids: Iterable[str]) -> list[str]:
                return [account_id for account_id, count in Counter(account_ids).items() if count > 1]
        '''),
        decision=AUTO,
    )
    commit = s.commit("Find duplicate account ids")
    s.answer("Ids 17 and 212 occur twice in your dump.")
    repo.ci(commit, "passed")
    for call in s.calls:
        evidence.quarantine(call, on("11-06 15:12"), "a customer dump was pasted into the prompt")


def weekend_overdraft(evidence: Evidence, repo: Repository) -> None:
    """The developer rejects the first edit and accepts the second; both decisions travel with their Turns."""
    s = Session(evidence, "ledger-weekend-overdraft", "11-08 10:20", repo, CLAUDE_CODE, user="dev-2")
    s.user("The alert fired 300 times tonight for one account. It should fire once until the balance recovers.")
    s.read("ledger/journal.py")
    old = "            self._alert(account_id, balance)\n"
    s.edit(
        "ledger/journal.py",
        old,
        old + "            self._alert = None\n",
        decision=REJECT,
        say="The simplest way: forget the callback after it fired.",
    )
    s.user("No, then no other account is watched any more.")
    s.edit(
        "ledger/journal.py",
        "        if self._alert is not None and balance.minor < self._limit:\n" + old,
        code("""
            low = balance.minor < self._limit
            if low and self._alert is not None and account_id not in self._alerted:
                self._alert(account_id, balance)
            (self._alerted.add if low else self._alerted.discard)(account_id)
        """, 8),
        decision=ACCEPT,
        say="Right. I'll remember which accounts are below the limit.",
    )  # fmt: skip
    s.edit(
        "ledger/journal.py",
        "        self._limit = 0\n",
        "        self._limit = 0\n        self._alerted: set[str] = set()\n",
    )
    s.edit(
        "ledger/journal.py",
        "        self._watch(debit)\n",
        "        self._watch(debit)\n        self._watch(credit)\n",
        say="The credited account can recover, so it is watched too.",
    )
    s.write(
        "tests/test_alert.py",
        code("""
            from ledger.money import Money
            from tests.test_journal import make_journal


            def test_an_alert_fires_once_until_the_balance_recovers():
                journal, alerts = make_journal(), []
                journal.alert_below(0, lambda account_id, balance: alerts.append(account_id))
                for debit, credit in (("shop", "cash"), ("shop", "cash"), ("cash", "shop"), ("cash", "shop")):
                    journal.post(debit, credit, Money(100, "EUR"))
                journal.post("shop", "cash", Money(1, "EUR"))
                assert alerts == ["shop", "shop"]
        """),
    )
    s.run("python -m pytest -q", "................                                      [100%]\n16 passed in 0.08s")
    commit = s.commit("Alert once until the balance recovers")
    s.answer("An account alerts once; when a posting lifts it above the limit, it may alert again.")
    repo.ci(commit, "passed")
