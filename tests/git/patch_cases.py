"""Changes that patches are known to get wrong: name to (files before, files after); None deletes."""

from tests.git.repositories import GITLINK, LINK, PROGRAM, File, Files

LINES = b"".join(b"line %d\n" % number for number in range(1, 41))
EDITED = LINES.replace(b"line 20\n", b"line twenty\nline 20.5\n")
BINARY = bytes(range(256)) * 8
LATIN = "\n".join(f"caf\xe9 {number}" for number in range(30)).encode("latin-1") + b"\n"
A, B = b"1" * 40, b"2" * 40

UTF8: dict[str, tuple[Files, Files]] = {
    "edit": ({b"a.py": LINES}, {b"a.py": EDITED}),
    "two distant edits": ({b"a": LINES}, {b"a": LINES.replace(b"line 3\n", b"").replace(b"line 38\n", b"x\ny\n")}),
    "first and last line": ({b"a": LINES}, {b"a": b"new\n" + LINES.removesuffix(b"line 40\n")}),
    "crlf": ({b"dos.txt": LINES.replace(b"\n", b"\r\n")}, {b"dos.txt": EDITED.replace(b"\n", b"\r\n")}),
    "crlf to lf": ({b"dos.txt": LINES.replace(b"\n", b"\r\n")}, {b"dos.txt": LINES}),
    "lone cr": ({b"mac.txt": b"a\rb\rc"}, {b"mac.txt": b"a\rB\rc\rd"}),
    "trailing blanks": ({b"w": b"a \t\n\n\n"}, {b"w": b"a\t \n \n\n\n\n"}),
    "separators": ({b"s": "a\u2028b\u2029c\u0085d\x0ce\n".encode()}, {b"s": "a\u2028b\u2029c\u0085D\x0cE\n".encode()}),
    "byte order mark": ({b"b": b"\xef\xbb\xbfx\n"}, {b"b": b"\xef\xbb\xbfy\n"}),
    "no final newline removed": ({b"a": b"x\ny"}, {b"a": b"x\ny\n"}),
    "no final newline added": ({b"a": b"x\ny\n"}, {b"a": b"x\ny"}),
    "no final newline kept": ({b"a": b"x\ny"}, {b"a": b"z\ny"}),
    "no final newline edited": ({b"a": b"x\ny"}, {b"a": b"x\nz"}),
    "no newline at all": ({b"a": b"x"}, {b"a": b"y"}),
    "empty added": ({b"k": b"k"}, {b"empty": b""}),
    "empty deleted": ({b"empty": b"", b"k": b"k"}, {b"empty": None}),
    "empty filled": ({b"empty": b""}, {b"empty": b"x\n"}),
    "emptied": ({b"a": LINES}, {b"a": b""}),
    "added and deleted": ({b"old": LINES}, {b"old": None, b"new": b"other\n" * 30}),
    "binary added": ({b"k": b"k"}, {b"bin": BINARY}),
    "binary modified": ({b"bin": BINARY}, {b"bin": BINARY[::-1]}),
    "binary small delta": ({b"bin": BINARY * 9}, {b"bin": BINARY * 4 + b"\0inserted" + BINARY * 5}),
    "binary deleted": ({b"bin": BINARY, b"k": b"k"}, {b"bin": None}),
    "binary to text": ({b"bin": BINARY}, {b"bin": LINES}),
    "text to binary": ({b"bin": LINES}, {b"bin": BINARY}),
    "binary to empty": ({b"bin": BINARY}, {b"bin": b""}),
    "binary renamed and edited": ({b"bin": BINARY * 9}, {b"bin": None, b"nib": BINARY * 9 + b"\0"}),
    "mode": ({b"run": LINES}, {b"run": File(LINES, PROGRAM)}),
    "mode and edit": ({b"run": File(LINES, PROGRAM)}, {b"run": EDITED}),
    "binary mode": ({b"bin": BINARY}, {b"bin": File(BINARY, PROGRAM)}),
    "symlink added": ({b"k": b"k"}, {b"link": File(b"target", LINK)}),
    "symlink moved": ({b"link": File(b"a", LINK)}, {b"link": File(b"b/c", LINK)}),
    "symlink deleted": ({b"link": File(b"a", LINK), b"k": b"k"}, {b"link": None}),
    "file to symlink": ({b"x": LINES}, {b"x": File(b"target", LINK)}),
    "symlink to file": ({b"x": File(b"target", LINK)}, {b"x": File(LINES, PROGRAM)}),
    "file to directory": ({b"x": LINES}, {b"x": None, b"x/y": LINES}),
    "directory to file": ({b"x/y": LINES, b"x/z": EDITED}, {b"x/y": None, b"x/z": None, b"x": LINES}),
    "symlink to directory": ({b"x": File(b"d", LINK), b"d/f": b"f\n"}, {b"x": None, b"x/f": b"g\n"}),
    "directory to symlink": ({b"x/f": b"f\n", b"d/f": b"f\n"}, {b"x/f": None, b"x": File(b"d", LINK)}),
    "renamed": ({b"a/old name": LINES}, {b"a/old name": None, b"b/new name": LINES}),
    "renamed and edited": ({b"old": LINES}, {b"old": None, b"new": EDITED}),
    "renamed, edited, mode": ({b"old": LINES}, {b"old": None, b"new": File(EDITED, PROGRAM)}),
    "renamed onto a directory's name": ({b"x": LINES}, {b"x": None, b"x/x": EDITED}),
    "swapped": ({b"a": LINES, b"b": BINARY}, {b"a": BINARY, b"b": LINES}),
    "rotated": ({b"a": LINES, b"b": BINARY, b"c": b"c\n"}, {b"a": b"c\n", b"b": LINES, b"c": BINARY}),
    "copied": ({b"a": LINES}, {b"b": LINES, b"c": EDITED}),
    "one source, two targets": ({b"a": LINES}, {b"a": None, b"b": LINES, b"c": EDITED}),
    "renamed empty": ({b"a": b""}, {b"a": None, b"b": b""}),
    "gitlink added": ({b"k": b"k"}, {b"dep": File(A, GITLINK)}),
    "gitlink moved": ({b"dep": File(A, GITLINK)}, {b"dep": File(B, GITLINK)}),
    "gitlink deleted": ({b"dep": File(A, GITLINK), b"k": b"k"}, {b"dep": None}),
    "gitlink to file": ({b"dep": File(A, GITLINK)}, {b"dep": LINES}),
    "gitlink to directory": ({b"dep": File(A, GITLINK)}, {b"dep": None, b"dep/f": LINES}),
    "attributes in the tree": (
        {b".gitattributes": b"* -diff\n*.txt text eol=crlf\n*.py diff=python\n", b"a.txt": LINES, b"a.py": LINES},
        {b".gitattributes": b"* binary\n", b"a.txt": EDITED, b"a.py": EDITED},
    ),
    "non-ascii name": ({"é ü.txt".encode(): LINES}, {"é ü.txt".encode(): EDITED, "日本".encode(): b"x\n"}),
    "hostile names": (
        {b'q"uote': LINES, b"t\tab": LINES, b"n\newline": LINES, b" lead": LINES, b"trail ": LINES, b"b\\s": b"x\n"},
        {b'q"uote': EDITED, b"t\tab": None, b"n\newline": EDITED, b" lead": EDITED, b"trail ": EDITED, b"b\\s": b"y\n"},
    ),
    "names like options and patches": (
        {b"--output=x": LINES, b"-": LINES, b"a b/a": LINES, b"dev/null": LINES, b":(glob)*": LINES, b"#c": b"c\n"},
        {b"--output=x": EDITED, b"-": None, b"a b/a": EDITED, b"dev/null": EDITED, b":(glob)*": EDITED, b"#c": b"d\n"},
    ),
    "modes of names with blanks": (
        {b"a b": LINES, b'a "b"': LINES, b"a\tb c": BINARY},
        {b"a b": File(LINES, PROGRAM), b'a "b"': File(LINES, PROGRAM), b"a\tb c": File(BINARY, PROGRAM)},
    ),
    "content like a patch": (
        {b"p": b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n.end\n.begin\n"},
        {b"p": b"diff --git a/x b/x\n--- a/y\n+++ b/x\n@@ -1 +1 @@\n-x\n+z\n.end\n\n-- \n2.39\n"},
    ),
    "nul late in a text": ({b"n": LINES * 400 + b"\0\n"}, {b"n": LINES * 400 + b"a\0b\n"}),
    "long function context": (
        {b"f": ("def " + "é" * 100 + "():\n").encode() + b"    x\n" * 20},
        {b"f": ("def " + "é" * 100 + "():\n").encode() + b"    x\n" * 15 + b"    y\n" + b"    x\n" * 5},
    ),
}
"""Changes whose exact patch is UTF-8 at the first attempt."""

OTHER: dict[str, tuple[Files, Files]] = {
    "latin-1": ({b"l.txt": LATIN}, {b"l.txt": LATIN.replace(b"caf\xe9 7", b"th\xe9 7")}),
    "latin-1 added": ({b"k": b"k"}, {b"l.txt": LATIN}),
    "latin-1 deleted": ({b"l.txt": LATIN, b"k": b"k"}, {b"l.txt": None}),
    "latin-1 to utf-8": ({b"l.txt": LATIN}, {b"l.txt": LATIN.decode("latin-1").encode()}),
    "latin-1 renamed and edited": ({b"l": LATIN}, {b"l": None, b"m": LATIN + b"\xe9\n"}),
    "latin-1 beside utf-8": ({b"l": LATIN, "é".encode(): LINES}, {b"l": LATIN + b"\xe9\n", "é".encode(): EDITED}),
    "utf-16": ({b"u": "a\nb\n".encode("utf-16-le")}, {b"u": "a\nc\n".encode("utf-16-le"), b"l": LATIN}),
    "surrogates": ({b"s": b"x\n"}, {b"s": b"\xed\xa0\x80\n"}),
    "latin-1 crlf": ({b"l": LATIN.replace(b"\n", b"\r\n")}, {b"l": LATIN.replace(b"\n", b"\r\n") + b"\xe9\r\n"}),
    "latin-1 symlink": (
        {b"k": LINES, b"bin": BINARY, b"l": LATIN, b"ok": File(b"a", LINK)},
        {
            b"k": EDITED,
            b"bin": BINARY[::-1],
            b"l": LATIN + b"\xe9\n",
            b"ok": File(b"b", LINK),
            b"link": File(b"\xe9", LINK),
            b"a*b": LINES,
        },
    ),
    "latin-1 name": ({b"caf\xe9": LINES}, {b"caf\xe9": EDITED}),
    "latin-1 name renamed": ({b"caf\xe9": LINES}, {b"caf\xe9": None, b"th\xe9 x": EDITED}),
    "latin-1 name mode": ({b"caf\xe9": LINES}, {b"caf\xe9": File(LINES, PROGRAM)}),
    "latin-1 name and content": ({b'caf\xe9 \t"\\\n': LATIN}, {b'caf\xe9 \t"\\\n': LATIN + b"\xe9\n"}),
    "glob characters": (
        {b"*": LATIN, b"[a]": LATIN, b"q?": LATIN, b"back\\slash": LATIN, b"ab": LINES, b"a": LINES},
        {
            **dict.fromkeys((b"*", b"[a]", b"q?", b"back\\slash"), LATIN + b"\xe9\n"),
            b"ab": EDITED,
            b"a": EDITED,
        },
    ),
    "hostile latin-1 names": (
        {
            b"!neg": LATIN,
            b"#c": LATIN,
            b" lead": LATIN,
            b"trail ": LATIN,
            b'"q"': LATIN,
            b"[attr]x": LATIN,
            b"-": LATIN,
        },
        dict.fromkeys((b"!neg", b"#c", b" lead", b"trail ", b'"q"', b"[attr]x", b"-"), LATIN + b"\xe9\n"),
    ),
    "attributes in the tree": (
        {b".gitattributes": b"* diff\n*.txt diff\n", b"l.txt": LATIN},
        {b"l.txt": LATIN + b"\xe9\n"},
    ),
}
"""Changes whose exact patch is not UTF-8 at the first attempt."""

ALL = {**{f"utf-8: {name}": case for name, case in UTF8.items()}, **{f"other: {n}": case for n, case in OTHER.items()}}
