"""The ledger service before the week: a small double-entry ledger in Python, as its developers wrote it by hand."""

from typing import Final

from sediment_assets.demo.commits import Change
from sediment_assets.demo.repositories import Repository
from sediment_assets.demo.text import code

MONEY: Final = code('''
    """Amounts in minor units of a currency, so that money is never a float."""

    from dataclasses import dataclass


    @dataclass(frozen=True)
    class Money:
        minor: int
        currency: str

        def __add__(self, other: "Money") -> "Money":
            self._require_same_currency(other)
            return Money(self.minor + other.minor, self.currency)

        def __sub__(self, other: "Money") -> "Money":
            return self + -other

        def __neg__(self) -> "Money":
            return Money(-self.minor, self.currency)

        def _require_same_currency(self, other: "Money") -> None:
            if self.currency != other.currency:
                raise ValueError(f"cannot mix {self.currency} and {other.currency}")
''')
TEST_MONEY: Final = code("""
    import pytest

    from ledger.money import Money


    def test_amounts_of_one_currency_add_up():
        assert Money(250, "EUR") + Money(125, "EUR") == Money(375, "EUR")


    def test_currencies_do_not_mix():
        with pytest.raises(ValueError, match="cannot mix"):
            Money(1, "EUR") + Money(1, "USD")
""")
ACCOUNTS: Final = code('''
    """Accounts and their balances."""

    from ledger.money import Money


    class UnknownAccount(KeyError):
        """No account has this id."""


    class Accounts:
        def __init__(self) -> None:
            self._balances: dict[str, Money] = {}

        def open(self, account_id: str, currency: str) -> None:
            self._balances[account_id] = Money(0, currency)

        def balance(self, account_id: str) -> Money:
            try:
                return self._balances[account_id]
            except KeyError:
                raise UnknownAccount(account_id) from None

        def change(self, account_id: str, amount: Money) -> None:
            self._balances[account_id] = self.balance(account_id) + amount
''')
TEST_ACCOUNTS: Final = code("""
    import pytest

    from ledger.accounts import Accounts, UnknownAccount
    from ledger.money import Money


    def test_a_new_account_is_empty():
        accounts = Accounts()
        accounts.open("shop", "EUR")
        assert accounts.balance("shop") == Money(0, "EUR")


    def test_an_unknown_account_is_an_error():
        with pytest.raises(UnknownAccount):
            Accounts().balance("nobody")
""")
JOURNAL: Final = code('''
    """The journal: double-entry postings that never change."""

    from dataclasses import dataclass
    from datetime import datetime, timezone

    from ledger.accounts import Accounts
    from ledger.money import Money


    @dataclass(frozen=True)
    class Posting:
        debit: str
        credit: str
        amount: Money
        posted_at: datetime


    class Journal:
        def __init__(self, accounts: Accounts) -> None:
            self.accounts = accounts
            self.postings: list[Posting] = []

        def post(self, debit: str, credit: str, amount: Money) -> Posting:
            posting = Posting(debit, credit, amount, datetime.now(timezone.utc))
            self.accounts.change(debit, -amount)
            self.accounts.change(credit, amount)
            self.postings.append(posting)
            return posting
''')
TEST_JOURNAL: Final = code("""
    from ledger.accounts import Accounts
    from ledger.journal import Journal
    from ledger.money import Money


    def make_journal() -> Journal:
        accounts = Accounts()
        accounts.open("cash", "EUR")
        accounts.open("shop", "EUR")
        return Journal(accounts)


    def test_a_posting_moves_money():
        journal = make_journal()
        journal.post("cash", "shop", Money(1_000, "EUR"))
        assert journal.accounts.balance("shop") == Money(1_000, "EUR")
        assert journal.accounts.balance("cash") == Money(-1_000, "EUR")
""")
FEES: Final = code('''
    """Card fees, in basis points of the amount."""

    from ledger.money import Money

    CARD_BASIS_POINTS = {"debit": 60, "credit": 140}


    def card_fee(amount: Money, card: str) -> Money:
        return Money(int(amount.minor * CARD_BASIS_POINTS[card] / 10_000), amount.currency)
''')
TEST_FEES: Final = code("""
    from ledger.fees import card_fee
    from ledger.money import Money


    def test_a_credit_card_costs_more():
        assert card_fee(Money(10_000, "EUR"), "debit") == Money(60, "EUR")
        assert card_fee(Money(10_000, "EUR"), "credit") == Money(140, "EUR")
""")
STATEMENTS: Final = code('''
    """Statements: the postings of one account with a running balance."""

    from ledger.journal import Journal


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
''')
TEST_STATEMENTS: Final = code("""
    from ledger.money import Money
    from ledger.statements import statement
    from tests.test_journal import make_journal


    def test_running_balance():
        journal = make_journal()
        journal.post("cash", "shop", Money(500, "EUR"))
        journal.post("shop", "cash", Money(200, "EUR"))
        assert [line.split() for line in statement(journal, "shop")] == [["500", "500"], ["-200", "300"]]
""")
API: Final = code('''
    """Request handlers: plain dicts in, plain dicts out."""

    from typing import Any

    from ledger.journal import Journal
    from ledger.money import Money


    def transfer(journal: Journal, request: dict[str, Any]) -> dict[str, Any]:
        amount = Money(int(request["amount"]), request["currency"])
        posting = journal.post(request["from"], request["to"], amount)
        return {"status": "posted", "amount": posting.amount.minor}
''')
TEST_API: Final = code("""
    from ledger.api import transfer
    from tests.test_journal import make_journal


    def test_a_transfer_is_posted():
        request = {"from": "cash", "to": "shop", "amount": "500", "currency": "EUR"}
        assert transfer(make_journal(), request) == {"status": "posted", "amount": 500}
""")
PYPROJECT: Final = code("""
    [project]
    name = "payments-ledger"
    version = "0.4.0"
    requires-python = ">=3.11"

    [tool.pytest.ini_options]
    testpaths = ["tests"]
    pythonpath = ["."]
""")
WORKFLOW: Final = code("""
    name: CI
    on: push
    jobs:
      test:
        runs-on: ubuntu-latest
        steps:
          - uses: actions/checkout@v4
          - run: python -m pip install pytest
          - run: python -m pytest -q
""")
README: Final = code("""
    # payments-ledger

    A double-entry ledger for card payments. Amounts are integers in minor units.
""")

_HISTORY: Final[tuple[tuple[str, str, str, dict[str, Change]], ...]] = (
    (
        "10-26 09:05",
        "dev-3",
        "Start the ledger service",
        {
            "README.md": README,
            "pyproject.toml": PYPROJECT,
            "ledger/__init__.py": "",
            "tests/__init__.py": "",
            "ledger/money.py": MONEY,
            "tests/test_money.py": TEST_MONEY,
        },
    ),
    ("10-26 14:31", "dev-3", "Add accounts", {"ledger/accounts.py": ACCOUNTS, "tests/test_accounts.py": TEST_ACCOUNTS}),
    ("10-27 10:12", "dev-1", "Add the journal", {"ledger/journal.py": JOURNAL, "tests/test_journal.py": TEST_JOURNAL}),
    ("10-27 16:40", "dev-1", "Charge card fees", {"ledger/fees.py": FEES, "tests/test_fees.py": TEST_FEES}),
    ("10-28 09:51", "dev-3", "Run the tests on every push", {".github/workflows/ci.yml": WORKFLOW}),
    (
        "10-28 15:22",
        "dev-2",
        "Print statements",
        {"ledger/statements.py": STATEMENTS, "tests/test_statements.py": TEST_STATEMENTS},
    ),
    ("10-29 11:06", "dev-1", "Handle transfer requests", {"ledger/api.py": API, "tests/test_api.py": TEST_API}),
    ("10-29 17:14", "dev-3", "Ignore caches", {".gitignore": "__pycache__/\n.pytest_cache/\n"}),
    (
        "10-30 10:25",
        "dev-2",
        "Say how to run the tests",
        {"README.md": README + code("""

            ## Develop

            `python -m pytest -q` runs every test.
        """)},
    ),
    ("10-30 15:47", "dev-1", "Release 0.4.1", {"pyproject.toml": ('"0.4.0"', '"0.4.1"')}),
)  # fmt: skip


def write_ledger(repo: Repository) -> None:
    """Commit the service's first week."""
    for moment, author, message, changes in _HISTORY:
        repo.history.change(moment, author, message, changes)
