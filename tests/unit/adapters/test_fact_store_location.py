"""Database URLs: the accepted forms, and names and messages without credentials (facts.md §11.6, cli.md §2)."""

import pytest

from sediment_assets.adapters.fact_store.location import Dialect, FactStoreError, parse_location


@pytest.mark.parametrize(
    ("url", "dialect", "label"),
    [
        ("sqlite:///facts.db", Dialect.SQLITE, "facts.db"),
        ("sqlite:////var/lib/facts.db", Dialect.SQLITE, "/var/lib/facts.db"),
        ("sqlite:///a%20b.db", Dialect.SQLITE, "a b.db"),
        ("postgresql://u:secret@db.example:5433/facts", Dialect.POSTGRESQL, "db.example:5433/facts"),
        ("postgresql+psycopg://u:secret@db.example/facts", Dialect.POSTGRESQL, "db.example/facts"),
        ("postgresql://u:se%40cr%2Fet@db.example/facts", Dialect.POSTGRESQL, "db.example/facts"),
        ("postgresql://db.example/facts?user=u&password=secret", Dialect.POSTGRESQL, "db.example/facts"),
        ("postgresql://u:secret@[::1]:5432/facts", Dialect.POSTGRESQL, "[::1]:5432/facts"),
        ("postgresql:///facts?host=/run/postgresql", Dialect.POSTGRESQL, "/run/postgresql/facts"),
        ("postgresql:///facts", Dialect.POSTGRESQL, "localhost/facts"),
    ],
)
def test_accepted_urls_are_named_without_credentials(url: str, dialect: Dialect, label: str):
    location = parse_location(url)
    assert (location.dialect, str(location)) == (dialect, label)
    assert "secret" not in repr(location)


FORMS = "SEDIMENT_DATABASE_URL: expected sqlite:///PATH or postgresql://USER@HOST/DATABASE"
NO_FILE = "SEDIMENT_DATABASE_URL: expected sqlite:///PATH with the path of a file, got none"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("secret", f"{FORMS}, got no ://"),
        ("mysql://u:secret@h/d", f"{FORMS}, got another scheme"),
        ("postgresql+psycopg2://u:secret@h/d", f"{FORMS}, got another scheme"),
        ("postgresql://u:p@h:secret/d", f"{FORMS}, got one that cannot be parsed"),
        ("sqlite://", NO_FILE),
        ("sqlite:///:memory:", NO_FILE),
        ("sqlite:///file:secret?mode=memory", NO_FILE),
        (
            "sqlite:///f.db?secret=1",
            "SEDIMENT_DATABASE_URL: expected sqlite:///PATH without options, got a question mark",
        ),
    ],
)
def test_other_urls_are_refused_without_quoting_them(url: str, message: str):
    with pytest.raises(FactStoreError) as refused:
        parse_location(url)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:sec@ret@h/d",
        "postgresql://u:sec/ret@h/d",
        # The slash ends the authority, so that 12 looks like a port and the rest like a database.
        "postgresql://u:12/secret@h/d",
    ],
)
def test_unescaped_passwords_are_refused_with_the_remedy(url: str):
    with pytest.raises(FactStoreError, match="percent-encode @ as %40 and / as %2F") as refused:
        parse_location(url)
    assert "ret" not in str(refused.value)
