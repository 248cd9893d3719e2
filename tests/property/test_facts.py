"""Properties of exact JSON, scalar types and Facts, over values chosen to hurt."""

import json

from hypothesis import given
from hypothesis import strategies as st

from sediment_assets.facts import json_encoding, scalars
from sediment_assets.facts.instants import format_offset, format_z, parse_instant
from sediment_assets.facts.json_values import (
    JsonError,
    _PythonDecoder,
    canonical_order,
    decode,
    decode_captured,
    encode_canonical,
    encode_row,
    encode_stored,
    equal,
)
from sediment_assets.facts.tables import JSONL_MODELS

any_char = st.one_of(
    st.sampled_from('\0\t\n\r"\\/\x1c\x7f\x85\xa0\u2028\u2029\ud800\udc00\ud83d\ude00\uffff😀éKſİ'),
    st.characters(),
)
# A high surrogate followed by a low one becomes one character in any store: the only lossy case (facts.md §7).
any_text = st.text(any_char, max_size=12).map(lambda text: json.loads(json.dumps(text)))
numbers = st.one_of(
    st.integers(),
    st.sampled_from([10**30, -(10**30), 2**53 + 1, 2**63, 2**64, 10**4299, 0]),
    st.floats(),
    st.sampled_from([-0.0, 1e16, 1e22, 1e-5, 1e-7, 5e-324, 0.1, 1e400]),
)
scalar_values = st.one_of(st.none(), st.booleans(), numbers, any_text)
json_values = st.recursive(
    scalar_values,
    lambda children: st.one_of(
        st.lists(children, max_size=4),
        st.dictionaries(any_text, children, max_size=4),
        st.tuples(children, st.integers(2, 60)).map(lambda pair: nest(*pair)),
    ),
    max_leaves=12,
)
instants = st.datetimes(timezones=st.timezones())


def nest(value, depth):
    for level in range(depth):
        value = [value] if level % 2 else {"k": value}
    return value


def same(left, right):
    """Whether two values are the same JSON, types of numbers, signs of zero and key order included."""
    stack = [(left, right)]
    while stack:
        a, b = stack.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, dict):
            if list(a) != list(b):
                return False
            stack += zip(a.values(), b.values(), strict=True)
        elif isinstance(a, list):
            if len(a) != len(b):
                return False
            stack += zip(a, b, strict=True)
        elif a != b if not isinstance(a, float) else repr(a) != repr(b):
            return False
    return True


@given(json_values)
def test_stored_text_reads_back_exactly(value):
    text = encode_stored(value)
    assert same(decode(text), value)
    assert all(0x20 <= ord(char) <= 0x7E for char in text)


@given(json_values)
def test_canonical_text_reads_back_and_ignores_key_order(value):
    text = encode_canonical(value)
    assert same(decode(text), canonical_order(value))
    assert encode_canonical(canonical_order(value)) == text
    assert same(decode_captured(encode_stored(value)), canonical_order(value))


@given(json_values)
def test_rows_read_back_exactly_or_are_refused(value):
    stored = encode_stored(value)
    try:
        row = encode_row(value)
    except JsonError:
        assert any(token in stored for token in ("\\ud", "NaN", "Infinity"))
        return
    assert same(decode(row), value)
    assert len(row.decode().splitlines()) <= 1


@given(json_values)
def test_both_row_encoders_write_the_same_bytes(value):
    try:
        row = encode_row(value)
    except JsonError:
        return
    assert encode_row([value, 10**30]) == b"[" + row + b"," + str(10**30).encode() + b"]"


@given(json_values, st.booleans())
def test_deep_json_needs_no_c_recursion_to_be_the_same(value, sort_keys):
    # What is used where the interpreter's own limit on C code is too low for the contract's depth.
    encoder = json.JSONEncoder(separators=(",", ":"), sort_keys=sort_keys)
    text = encoder.encode(value)
    assert "".join(json_encoding._pieces(value, encoder)) == text
    assert same(_PythonDecoder(json.JSONDecoder()).decode(text), json.loads(text))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_row_spells_floats_as_python_does(number):
    assert encode_row([number]) == f"[{number!r}]".encode()


@given(json_values, json_values)
def test_equality_is_an_equivalence_that_key_order_and_storage_keep(left, right):
    assert equal(left, left)
    assert equal(left, right) is equal(right, left)
    assert equal(left, canonical_order(left))
    assert equal(left, decode(encode_stored(left)))
    if encode_canonical(left) == encode_canonical(right):
        assert equal(left, right)


@given(instants)
def test_both_spellings_of_an_instant_read_back(instant):
    try:
        utc = parse_instant(instant)
    except ValueError:
        assert instant.year in (1, 9999)
        return
    assert parse_instant(format_z(instant)) == utc == parse_instant(format_offset(instant))


padded = st.tuples(st.sampled_from(["", " ", "\xa0\u2003", "\x1c"]), any_text).map("".join)
candidates = st.one_of(
    padded,
    st.integers(0, 2**63),
    st.floats(0, 1),
    st.sampled_from(
        [" A/b ", "refs/heads/ refs/heads/x", "ACME", " " + "AB" * 20, "K.x", "İ/ſ", "true", " 5.0", "yes"]
    ),
)
NORMALISERS = {name: function for name, function in vars(scalars).items() if name.startswith("normal_")}


@given(candidates)
def test_every_normaliser_is_idempotent(value):
    for name, normal in NORMALISERS.items():
        try:
            once = normal(value)
        except ValueError:
            continue
        assert normal(once) == once, name


@given(json_values.filter(lambda value: isinstance(value, dict)), any_text)
def test_a_fact_survives_dump_and_validation(captured, text):
    message = {
        "role": text,
        "parts": [
            {"type": "text", "content": text},
            {"type": "tool_call", "id": "t", "name": text, "arguments": captured},
            {"type": "tool_call_response", "id": "t", "result": [captured, text]},
        ],
        "finish_reason": text,
    }
    plain = {
        "inference_call_id": "c",
        "org_id": "o",
        "session_id": "s",
        "gateway_provider": "unknown",
        "input_messages": [message],
        "output_messages": [],
        "observed_at": "2026-01-02T03:04:05.678901+02:00",
        "raw": captured,
        text + "-unknown": 1,
    }
    model = JSONL_MODELS["inference_calls"]
    fact = model.model_validate(plain)
    dumped = fact.model_dump()
    assert dumped["raw"] is captured
    assert same(decode(encode_stored(dumped["input_messages"])), [message])
    again = model.model_validate(decode(encode_stored({**dumped, "observed_at": format_z(fact.observed_at)})))
    assert encode_canonical(again.model_dump()) == encode_canonical(dumped)
