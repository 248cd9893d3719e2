"""Properties of what mirrors hold: paths, notes, sections, hunks."""

import difflib

from hypothesis import given
from hypothesis import strategies as st

from sediment_assets.facts.scalars import normal_repo_slug
from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.mirrors.diff_paths import quote_path, unquote_path
from sediment_assets.mirrors.git_text import decode_git_text
from sediment_assets.mirrors.hunks import apply_hunks
from sediment_assets.mirrors.layout import decode_identified, decode_legacy, mirror_path
from sediment_assets.mirrors.notes import note_sessions
from sediment_assets.mirrors.patch_sections import parse_sections
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey

org_ids = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,10}", fullmatch=True)
scalars = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), min_size=1, max_size=8)


def slug_or_none(parts: tuple[str, str]) -> str | None:
    try:
        return normal_repo_slug("/".join(parts))
    except ValueError:
        return None


slugs = st.tuples(scalars, scalars).map(slug_or_none).filter(bool)


@given(org_ids, slugs)
def test_legacy_paths_are_one_leaf_and_decode_to_their_key(org_id, slug):
    key = LegacyKey(org_id, slug)
    path = mirror_path(key)
    assert len(path.parts) == 1
    assert path.name.isascii()
    assert decode_legacy(path.name, org_id) == key


@given(org_ids, st.integers(1, 10**20 - 1), st.from_regex(r"[a-z0-9]{1,5}(\.[a-z0-9]{1,5}){0,2}", fullmatch=True))
def test_identified_paths_decode_to_their_key(org_id, number, host):
    key = IdentifiedKey(org_id, ForgeProvider.GITHUB, host, str(number))
    assert decode_identified(mirror_path(key)) == key


@given(st.binary(min_size=1).filter(lambda path: b"\0" not in path))
def test_quoted_paths_are_read_back(path):
    assert unquote_path(quote_path(path)) == path


@given(st.binary())
def test_git_text_is_scalar_and_has_no_carriage_return(output):
    text = decode_git_text(output)
    assert "\r" not in text
    text.encode()


FRAGMENTS = [
    '{"v":1,"sessions":[',
    '{"tool":"t","session_id":"s","stamped_at":""}',
    "]}",
    ",",
    " ",
    "\n",
    "\u2028",
    "[",
    "1",
]


@given(
    st.one_of(st.binary(max_size=200), st.lists(st.sampled_from(FRAGMENTS)).map(lambda parts: "".join(parts).encode()))
)
def test_any_note_body_is_readable_or_not_but_never_an_error(body):
    sessions = note_sessions(body)
    assert sessions is None or all(isinstance(session.session_id, str) for session in sessions)


LINES = [
    *(
        "diff --git a/x.py b/x.py",
        "diff --git a/x.py b/y.py",
        "diff --cc x",
        "index 1..2 100644",
        "new file mode 100644",
    ),
    *("--- a/x.py", "+++ b/x.py", "--- /dev/null", "+++ /dev/null", "@@ -1 +1 @@", "@@ -0,0 +1 @@", "-x", "+y", " z"),
    *("\\ No newline at end of file", "", "Binary files a/x and b/x differ", "rename from x.py", "rename to y.py", "+"),
]


@given(st.lists(st.one_of(st.sampled_from(LINES), st.text(max_size=5))))
def test_every_section_is_valid_or_counted_once(lines):
    patch = "\n".join(lines)
    lines = patch.split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("diff ")]
    preamble = lines[: starts[0]] if starts else lines
    expected = len(starts) + any(line.strip() for line in preamble)
    sections, counts = parse_sections(patch)
    assert len(sections) + counts.total() == expected
    assert set(counts) <= {"unsupported_diff_section", "malformed_diff_section"}


file_lines = st.lists(st.sampled_from(["", "a", "b", "c\r", "\u2028", "d\x0c"]), max_size=25)


@given(file_lines, file_lines, st.booleans(), st.booleans())
def test_hunks_of_a_unified_diff_give_the_new_content(old, new, old_open, new_open):
    """``difflib`` marks no open last line: here it is a line that says so, and git's marker follows it."""
    open_mark = "\0open"
    sides = []
    for lines, is_open in ((old, old_open), (new, new_open)):
        opened = is_open and bool(lines) and lines[-1] != ""
        sides.append([*lines[:-1], lines[-1] + open_mark] if opened else lines)
    diff = list(difflib.unified_diff(*sides, lineterm=""))[2:]
    text = "\n".join(diff).replace(open_mark, "\n\\ No newline at end of file")
    before, after = ("".join(f"{line}\n" for line in lines).replace(f"{open_mark}\n", "").encode() for lines in sides)
    if diff:
        assert apply_hunks(before, [*text.encode().split(b"\n"), b"end"], 0)[0] == after
    else:
        assert before == after
