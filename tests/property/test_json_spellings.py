"""The fast way to spell JSON gives the bytes of the standard library's encoder, whatever the value (bundle.md §2.2)."""

import json

from hypothesis import given
from hypothesis import strategies as st

from sediment_assets.facts.json_values import encode_canonical, encode_stored

TEXT = st.text(st.characters() | st.sampled_from('\x00\x1f\x7f\x80\u2028\ud800\udc00\udfff\uffff\U0010ffff"\\/'))
NUMBERS = st.integers() | st.integers(-(2**70), 2**70) | st.floats() | st.sampled_from([0.0, -0.0, 1e16, 1e-5, 5e-324])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner)
)


@given(VALUES)
def test_stored_text_is_the_standard_librarys(value):
    assert encode_stored(value) == _reference(value, sort_keys=False)


@given(VALUES)
def test_canonical_text_is_the_standard_librarys_with_sorted_keys(value):
    assert encode_canonical(value) == _reference(value, sort_keys=True)


def test_every_code_point_is_spelled_as_the_standard_library_does():
    everything = "".join(map(chr, range(0x110000)))
    assert encode_stored(everything) == _reference(everything, sort_keys=False)
    without_surrogates = everything.encode("utf-8", "ignore").decode()
    assert encode_stored(without_surrogates) == _reference(without_surrogates, sort_keys=False)


def _reference(value, *, sort_keys: bool) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=sort_keys).replace("\x7f", "\\u007f")
