"""The section grammar of attribution, rule by rule (derivation.md §9.1), and code files (§9.2)."""

import pytest

from sediment_assets.mirrors.patch_sections import Section, is_code_file, parse_sections

EDIT = """\
diff --git a/src/app.py b/src/app.py
index 1111111..2222222 100644
--- a/src/app.py
+++ b/src/app.py
@@ -1,3 +1,4 @@ def f():
 one
-two
+TWO
+2
 three
"""
NEW = """\
diff --git a/new.py b/new.py
new file mode 100644
index 0000000..2222222
--- /dev/null
+++ b/new.py
@@ -0,0 +1,2 @@
+x = 1
+y = 2
\\ No newline at end of file
"""
DELETED = """\
diff --git a/old.py b/old.py
deleted file mode 100644
index 2222222..0000000
--- a/old.py
+++ /dev/null
@@ -1 +0,0 @@
-x = 1
"""
MODE = """\
diff --git a/run me.sh b/run me.sh
old mode 100644
new mode 100755
"""
RENAME = """\
diff --git a/a b.py b/c d.py
similarity index 100%
rename from a b.py
rename to c d.py
"""
RENAME_EDIT = """\
diff --git a/a.py b/b.py
similarity index 90%
rename from a.py
rename to b.py
index 1111111..2222222 100644
--- a/a.py
+++ b/b.py
@@ -5 +5 @@
-x
+y
"""
BINARY = """\
diff --git a/logo.png b/logo.png
index 1111111..2222222 100644
Binary files a/logo.png and b/logo.png differ
"""


def valid(patch: str) -> list[Section]:
    sections, counts = parse_sections(patch)
    assert not counts
    return sections


def outcome(patch: str) -> str | Section:
    """The one section of a patch, or the reason why it was dropped."""
    sections, counts = parse_sections(patch)
    [result] = [*sections, *counts.elements()]
    return result


def body(*lines: str, header: str = "@@ -1,2 +1,2 @@") -> str:
    return "\n".join([*EDIT.splitlines()[:4], header, *lines, ""])


@pytest.mark.parametrize(
    ("patch", "section"),
    [
        (EDIT, Section("src/app.py", "TWO\n2")),
        (NEW, Section("new.py", "x = 1\ny = 2")),
        (DELETED, Section("old.py", "")),
        (MODE, Section("run me.sh", "")),
        (RENAME, Section("c d.py", "")),
        (RENAME_EDIT, Section("b.py", "y")),
        ("diff --git a/e.py b/e.py\nnew file mode 100644\nindex 0000000..e69de29\n", Section("e.py", "")),
        ("diff --git a/e.py b/e.py\ndeleted file mode 100644\nindex e69de29..0000000\n", Section("e.py", "")),
    ],
)
def test_valid_section(patch, section):
    assert valid(patch) == [section]
    assert valid(patch.removesuffix("\n")) == [section]


def test_sections_keep_their_order():
    assert [section.path for section in valid(RENAME + EDIT + NEW)] == ["c d.py", "src/app.py", "new.py"]


def test_each_dropped_section_is_counted_once_and_spares_the_others():
    broken = EDIT.replace("@@ -1,3", "@@ -1,4")
    sections, counts = parse_sections(BINARY + broken + EDIT + BINARY)
    assert sections == [Section("src/app.py", "TWO\n2")]
    assert counts == {"unsupported_diff_section": 2, "malformed_diff_section": 1}


@pytest.mark.parametrize("patch", ["", "\n", " \n\t\n\u2028\n"])
def test_blank_patch_has_no_section(patch):
    assert parse_sections(patch) == ([], {})


def test_text_before_the_first_diff_line_is_a_section_of_its_own():
    sections, counts = parse_sections("commit 1234\n" + EDIT)
    assert [section.path for section in sections] == ["src/app.py"]
    assert counts == {"unsupported_diff_section": 1}
    assert valid(" \n" + EDIT) == valid(EDIT)


def test_lines_end_at_line_feed_only():
    patch = NEW.replace("x = 1", "x\x0c= \u2028\u0085\x1c1")
    assert valid(patch) == [Section("new.py", "x\x0c= \u2028\u0085\x1c1\ny = 2")]


def test_carriage_return_split_into_two_lines_is_malformed():
    assert outcome(NEW.replace("x = 1", "x\n= 1")) == "malformed_diff_section"


QUOTED = 'diff --git "a/{0}" "b/{0}"\nold mode 100644\nnew mode 100755\n'


@pytest.mark.parametrize(
    "patch",
    [
        BINARY,
        "diff --cc a.py\nindex 1,2..3\n",
        "diff --combined a.py\n",
        "diff -u a b\n",
        NEW.replace("--- /dev/null\n", "GIT binary patch\nliteral 1\n"),
        EDIT.replace("@@ -1,3 +1,4 @@ def f():", "@@@ -1,3 -1,3 +1,4 @@@"),
        RENAME.replace("rename", "copy"),
        EDIT.replace("index 1111111..2222222 100644", "index 1111111..2222222 160000"),
        NEW.replace("100644", "160000"),
        DELETED.replace("100644", "160000"),
        MODE.replace("100755", "160000"),
        QUOTED.format(r"\377"),
        QUOTED.format(r"\355\240\200"),
        RENAME.replace("rename from a b.py", r'rename from "\351.py"'),
        # An unsupported header wins over other faults of the section.
        BINARY.replace("index", "what"),
    ],
)
def test_unsupported_section(patch):
    assert outcome(patch) == "unsupported_diff_section"


@pytest.mark.parametrize(
    "patch",
    [
        # 1: header lines
        EDIT.replace("index 1111111", "index 111111G"),
        EDIT.replace("index 1111111", "index ABCDEF1"),
        EDIT.replace("2222222 100644", "2222222 10064"),
        EDIT.replace("2222222 100644", "2222222 100684"),
        EDIT.replace("index 1111111..2222222 100644", "index 1111111...2222222"),
        EDIT.replace("index ", "unknown "),
        EDIT.replace("index 1111111..2222222 100644\n", "\n"),
        RENAME.replace("100%", "101%"),
        RENAME.replace("100%", "-1%"),
        RENAME.replace("100%", "100"),
        MODE.replace("100755", "10075"),
        MODE.replace("old mode", "older mode"),
        RENAME.replace("rename to c d.py\n", ""),
        RENAME.replace("rename from a b.py\n", ""),
        RENAME + "rename to c d.py\n",
        EDIT.replace("+++ b/src/app.py\n", ""),
        EDIT.replace("--- a/src/app.py\n", ""),
        EDIT.replace("--- a/src/app.py\n+++ b/src/app.py\n", "+++ b/src/app.py\n--- a/src/app.py\n"),
        EDIT.replace("+++ b/src/app.py\n", "index 1..2\n+++ b/src/app.py\n"),
        EDIT.replace("+++ b/src/app.py\n", "+++ b/src/app.py\nindex 1..2\n"),
        # 2: shape
        EDIT[: EDIT.index("@@")],
        EDIT.replace("--- a/src/app.py\n+++ b/src/app.py\n", ""),
        NEW.replace("+++ b/new.py", "+++ /dev/null"),
        "diff --git a/x.py b/x.py\n",
        "diff --git a/x.py b/x.py\nindex 1111111..2222222\n",
        "diff --git a/x.py b/x.py\nsimilarity index 100%\n",
        RENAME_EDIT.replace("rename from a.py", "rename from z.py"),
        RENAME_EDIT.replace("rename to b.py", "rename to z.py"),
        # 3: paths
        EDIT.replace("--- a/src", "--- src"),
        EDIT.replace("--- a/src", "--- b/src"),
        EDIT.replace("+++ b/src", "+++ a/src"),
        EDIT.replace("--- a/src/app.py", "--- a/src/app.py\t\t"),
        RENAME.replace("a b.py", "a\tb.py"),
        RENAME.replace("a b.py", "a\\b.py"),
        RENAME.replace("a b.py", 'a"b.py'),
        QUOTED.format(r"\0"),
        QUOTED.format(r"\000"),
        QUOTED.format(r"\400"),
        QUOTED.format(r"\x"),
        # 4: first line
        EDIT.replace("diff --git a/src/app.py b/src/app.py", "diff --git a/src/app.py b/src/other.py"),
        EDIT.replace("diff --git a/src/app.py b/src/app.py", "diff --git a/src/app.py  b/src/app.py"),
        EDIT.replace("diff --git a/src/app.py b/src/app.py", "diff --git a/src/app.py"),
        EDIT.replace("diff --git a/src/app.py b/src/app.py", "diff --git src/app.py src/app.py"),
        MODE.replace("b/run me.sh", "b/run you.sh"),
        NEW.replace("diff --git a/new.py", "diff --git a/dev.py"),
        # 5: hunk headers
        EDIT.replace("@@ -1,3 +1,4 @@ def", "@@ -1,3 +1,4 @@def"),
        EDIT.replace("@@ -1,3 +1,4 @@ def", "@@ -1,3 +1,4@@ def"),
        EDIT.replace("@@ -1,3 +1,4 @@", "@@ -1,3 +2,4 @@"),
        EDIT.replace("@@ -1,3 +1,4 @@", "@@ -0,3 +0,4 @@"),
        NEW.replace("@@ -0,0 +1,2 @@", "@@ -0 +1,2 @@"),
        NEW.replace("@@ -0,0 +1,2 @@", "@@ -1,0 +1,2 @@"),
        EDIT + "@@ -3 +4 @@\n-three\n+drei\n",
        EDIT + "@@ -9 +9 @@\n-three\n+drei\n",
        # 6: hunk bodies
        body("-a", " b", "+c", "+d"),
        body("-a", "+c"),
        body("-a", " b", "+c", ""),
        body("-a", "", "+c"),
        body("-a", "*b", "+c"),
        body("-a", " b", "+c", "trailer"),
        body("\\ No newline at end of file", "-a", " b", "+c"),
        body("-a", "+c", " b", "\\ No newline at end of file", "\\ No newline at end of file"),
        body("-a", "+c", " b", "\\ Kein Zeilenende"),
    ],
)
def test_malformed_section(patch):
    assert outcome(patch) == "malformed_diff_section"


@pytest.mark.parametrize(
    ("patch", "section"),
    [
        (body("-a", " b", "+c"), Section("src/app.py", "c")),
        (body("-a", "\\ No newline at end of file", "+c", " b"), Section("src/app.py", "c")),
        (body("+c", "+d", header="@@ -1,0 +2,2 @@"), Section("src/app.py", "c\nd")),
        (EDIT + "@@ -9 +10 @@\n-three\n+drei\n", Section("src/app.py", "TWO\n2\ndrei")),
        (EDIT + "@@ -4 +5 @@\n-four\n+vier\n", Section("src/app.py", "TWO\n2\nvier")),
        (body("-- sql", "++ x", " y", header="@@ -1,2 +1,2 @@"), Section("src/app.py", "+ x")),
        (EDIT.replace("@@ def f():", "@@"), Section("src/app.py", "TWO\n2")),
        (EDIT.replace(" def f():", " \u2028é"), Section("src/app.py", "TWO\n2")),
    ],
)
def test_hunk_arithmetic(patch, section):
    assert outcome(patch) == section


@pytest.mark.parametrize(
    ("patch", "path"),
    [
        (QUOTED.format(r"tab\there"), "tab\there"),
        (QUOTED.format(r"\"q\"\\"), '"q"\\'),
        (QUOTED.format(r"\303\251"), "é"),
        (QUOTED.format("é"), "é"),
        ("diff --git a/a b/a b/a b/a\nold mode 100644\nnew mode 100755\n", "a b/a"),
        ("diff --git a/\ufffd b/\ufffd\nold mode 100644\nnew mode 100755\n", "\ufffd"),
        (EDIT.replace("src/app.py", "my app.py").replace("my app.py\n@@", "my app.py\t\n@@"), "my app.py"),
        (RENAME.replace("a/a b.py", r'"a/a\tb.py"').replace("from a b.py", r'from "a\tb.py"'), "c d.py"),
    ],
)
def test_paths(patch, path):
    [section] = valid(patch)
    assert section.path == path


@pytest.mark.parametrize("path", ["x.py", "a.d.ts", "x.h", "a/b.bash", "q.sql", ".py"])
def test_code_file(path):
    assert is_code_file(path)


@pytest.mark.parametrize(
    "path",
    [
        *("a.PY", "x.cc", "x.hpp", "x.mjs", "x.cts", "x.py.txt", "uv.lock.py", "dir.min.js/x.py", "Makefile"),
        *("package-lock.json", "a/yarn.lock.ts", "poetry.lock.c", "x.min.css.js", "py", "x.py "),
    ],
)
def test_not_a_code_file(path):
    assert not is_code_file(path)
