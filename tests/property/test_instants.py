"""Property: instants as Facts spell them are read as every other spelling is (facts.md §7)."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sediment_assets.facts import instants
from sediment_assets.facts.instants import parse_instant

digits = st.integers(0, 99).map("{:02}".format) | st.sampled_from(
    ["00", "01", "12", "23", "24", "29", "31", "59", "60"]
)
years = st.sampled_from(["0000", "0001", "1900", "2024", "2026", "9999", "٢٠٢٤"])
spellings = st.builds(
    "{}-{}-{}{}{}:{}:{}{}{}".format,
    years,
    digits,
    digits,
    st.sampled_from("TTTTTTt "),
    digits,
    digits,
    digits,
    st.sampled_from(["", ".000000", ".123456", ".999999", ".5", ".1234567", ",123456"]),
    st.sampled_from(["Z", "Z", "Z", "z", "+00:00", "+01:00", ""]),
)


@given(spellings | st.datetimes().map(lambda instant: f"{instant.isoformat()}Z") | st.just("2026-W01-1T03:04:05Z"))
def test_the_usual_spelling_is_read_as_all_others_are(text: str):
    try:
        thorough: datetime | None = instants._LENIENT.validate_python(text).astimezone(UTC)
    except (ValidationError, OverflowError):
        thorough = None
    try:
        quick: datetime | None = parse_instant(text)
    except ValueError:
        quick = None
    assert quick == thorough
    assert quick is None or quick.tzinfo is UTC
