"""Instants: the accepted spellings and both written ones (facts.md §7, bundle.md §2.2)."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from sediment_assets.facts.instants import format_offset, format_z, parse_instant

NOON = datetime(2024, 7, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "instant"),
    [
        ("2024-07-01T12:00:00Z", NOON),
        ("2024-07-01t12:00:00z", NOON),
        ("2024-07-01 12:00:00+00:00", NOON),
        ("2024-07-01T12:00Z", NOON),
        ("2024-07-01T14:30:00+02:30", NOON),
        ("2024-07-01T14:30:00+0230", NOON),
        ("2024-06-30T13:00:00-23:00", NOON),
        ("2024-07-01T12:00:00.5Z", NOON.replace(microsecond=500_000)),
        ("2024-07-01T12:00:00.1234567Z", NOON.replace(microsecond=123_456)),
        ("2024-07-01T12:00:00.1234569Z", NOON.replace(microsecond=123_456)),
        (1719835200, NOON),
        (1719835200.5, NOON.replace(microsecond=500_000)),
        ("1719835200", NOON),
        ("1719835200.5", NOON.replace(microsecond=500_000)),
        (1719835200_000, NOON),
        ("1719835200000", NOON),
        (20_000_000_000, datetime(2603, 10, 11, 11, 33, 20, tzinfo=UTC)),
        (20_000_000_001, datetime(1970, 8, 20, 11, 33, 20, 1000, tzinfo=UTC)),
        (-20_000_000_001, datetime(1969, 5, 14, 12, 26, 39, 999000, tzinfo=UTC)),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (-1, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
        (NOON.astimezone(timezone(timedelta(hours=5))), NOON),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999Z", datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
    ],
)
def test_accepted_spellings(value, instant):
    parsed = parse_instant(value)
    assert parsed == instant
    assert parsed.tzinfo is UTC


@pytest.mark.parametrize(
    "value",
    [
        "2024-07-01T12:00:00",
        "2024-07-01",
        "",
        "noon",
        "2024-07-01T12:00:60Z",
        "2024-07-01T24:00:00Z",
        "2024-02-30T12:00:00Z",
        "2024-07-01T12:00:00+24:00",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+10:00",
        "9999-12-31T23:59:59-10:00",
        "\ud800",
        10**30,
        10**5000,
        float("nan"),
        float("inf"),
        float("-inf"),
        True,
        None,
        [],
        b"2024-07-01T12:00:00Z",
        NOON.replace(tzinfo=None),
    ],
    ids=lambda value: repr(value)[:30] if not isinstance(value, int) or value < 2**64 else "huge",
)
def test_refused_spellings(value):
    with pytest.raises(ValueError, match=r"\Aexpected a timestamp with an offset .+, got .+\Z"):
        parse_instant(value)


@pytest.mark.parametrize(
    ("instant", "z", "offset"),
    [
        (NOON, "2024-07-01T12:00:00Z", "2024-07-01T12:00:00+00:00"),
        (NOON.replace(microsecond=120_000), "2024-07-01T12:00:00.120000Z", "2024-07-01T12:00:00.120000+00:00"),
        (NOON.astimezone(timezone(timedelta(hours=-3))), "2024-07-01T12:00:00Z", "2024-07-01T12:00:00+00:00"),
        (datetime(1, 2, 3, tzinfo=UTC), "0001-02-03T00:00:00Z", "0001-02-03T00:00:00+00:00"),
    ],
)
def test_written_spellings(instant, z, offset):
    assert format_z(instant) == z
    assert format_offset(instant) == offset


@pytest.mark.parametrize("spell", [format_z, format_offset])
def test_an_instant_without_offset_is_never_written(spell):
    with pytest.raises(ValueError, match="offset"):
        spell(NOON.replace(tzinfo=None))
