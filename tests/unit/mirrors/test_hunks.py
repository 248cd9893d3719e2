"""Applying hunks at their stated lines, byte for byte."""

import pytest

from sediment_assets.mirrors.hunks import apply_hunks

OLD = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n"


def apply(content: bytes, hunks: bytes) -> bytes:
    lines = [*hunks.split(b"\n")[:-1], b"diff --git a/next b/next"]
    result, end = apply_hunks(content, lines, 0)
    assert end == len(lines) - 1
    return result


@pytest.mark.parametrize(
    ("old", "hunks", "new"),
    [
        (OLD, b"@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n", b"one\n2\n3\n4\n5\n6\n7\n8\n9\n"),
        (OLD, b"@@ -6,4 +6,5 @@ text\n 6\n 7\n 8\n 9\n+10\n", OLD + b"10\n"),
        (OLD, b"@@ -1 +1,2 @@\n+0\n 1\n@@ -8,2 +9 @@\n 8\n-9\n", b"0\n1\n2\n3\n4\n5\n6\n7\n8\n"),
        (b"", b"@@ -0,0 +1,2 @@\n+a\n+b\n", b"a\nb\n"),
        (b"a\nb\n", b"@@ -1,2 +0,0 @@\n-a\n-b\n", b""),
        (b"a\r\nb\r\n", b"@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n", b"a\r\nc\r\n"),
        (b"a\rb\x0cc\xe2\x80\xa8", b"@@ -1 +1 @@\n-a\rb\x0cc\xe2\x80\xa8\n\\ No newline at end of file\n+a\n", b"a\n"),
        (b"a\nb", b"@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", b"a\nb\n"),
        (b"a\nb\n", b"@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", b"a\nb"),
        (b"a\nb", b"@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n", b"A\nb"),
        (b"1\n2\n3\n4\nx", b"@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n", b"one\n2\n3\n4\nx"),
        (b"\n\n", b"@@ -1,2 +1 @@\n \n-\n", b"\n"),
    ],
)
def test_hunks_are_applied(old, hunks, new):
    assert apply(old, hunks) == new


@pytest.mark.parametrize(
    ("old", "hunks"),
    [
        (OLD, b"@@ -2,4 +2,4 @@\n-1\n+one\n 2\n 3\n 4\n"),  # no offset
        (OLD, b"@@ -1,4 +2,4 @@\n-1\n+one\n 2\n 3\n 4\n"),  # the new side elsewhere
        (OLD, b"@@ -1,2 +1,2 @@\n-1\n+one\n 3\n"),  # other content
        (OLD, b"@@ -1,2 +1,2 @@\n 1\n-2\n+two\n"),  # no context, not at the end
        (OLD, b"@@ -9 +9 @@\n-9\n\\ No newline at end of file\n+x\n"),  # the line has its LF
        (b"a\nb", b"@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),  # the line has none
        (OLD, b"@@ -9 +9 @@\n-9\n+9\n\\ No newline at end of file\n@@ -9,0 +10 @@\n+10\n"),
        (OLD, b"@@ -4 +4 @@\n 4\n@@ -1 +1 @@\n 1\n"),  # backwards
        (OLD, b"@@ -1,2 +1 @@\n-1\n"),  # a line missing
        (OLD, b"@@ -1 +1 @@\n-1\n-2\n+1\n"),
        (OLD, b"@@ -1 +1 @@\n*1\n"),
        (OLD, b"@@ -1,0 +1,0 @@\n"),
        (OLD, b"@@ -0 +0 @@\n 1\n"),
        (OLD, b"@@ -1 +1 @\n 1\n"),
        (b"", b"@@ -0,0 +1 @@\n+\n\\ No newline at end of file\n"),  # an empty line without LF does not exist
        (b"a", b"@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n+c\n"),
    ],
)
def test_anything_inexact_is_refused(old, hunks):
    with pytest.raises(ValueError, match="expected"):
        apply(old, hunks)
