"""Commits, patches and notes for tests of the derivation, spelled as git would."""

from sediment_assets.facts.json_values import encode_stored
from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.mirrors.reader import Note
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey
from tests.builders import ORG, REPO

LEGACY = LegacyKey(ORG, REPO)
IDENTIFIED = IdentifiedKey(ORG, ForgeProvider.GITHUB, "github.com", "42")
"""The repository of ``tests.builders.IDENTITY``."""

BINARY = "diff --git a/x.png b/x.png\nindex 00..11 100644\nBinary files a/x.png and b/x.png differ\n"
MODE_CHANGE = "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
RENAME = "diff --git a/a.py b/b.py\nsimilarity index 100%\nrename from a.py\nrename to b.py\n"
EMPTY_FILE = "diff --git a/empty.py b/empty.py\nnew file mode 100644\nindex 00..e6\n"
MALFORMED = "diff --git a/m.py b/m.py\nindex 00..11 100644\n--- a/m.py\n+++ b/m.py\n@@ -0,0 +1 @@\n+one\nstray\n"


def sha(number: int) -> str:
    """A commit id; ids order as their numbers."""
    return f"{number:040x}"


def added(path: str, text: str) -> str:
    """The section of a new file."""
    lines = text.split("\n")
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex 00..11\n--- /dev/null\n+++ b/{path}\n"
    return head + f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)


def deleted(path: str, text: str) -> str:
    """The section of a deleted file."""
    lines = text.split("\n")
    head = f"diff --git a/{path} b/{path}\ndeleted file mode 100644\nindex 11..00\n--- a/{path}\n+++ /dev/null\n"
    return head + f"@@ -1,{len(lines)} +0,0 @@\n" + "".join(f"-{line}\n" for line in lines)


def note_body(*session_ids: str) -> bytes:
    """One payload that names these Sessions."""
    sessions = [
        {"tool": "claude-code", "session_id": name, "stamped_at": "2026-01-02T03:04:05Z"} for name in session_ids
    ]
    return encode_stored({"v": 1, "sessions": sessions}).encode()


def make_note(annotated: str, *session_ids: str) -> Note:
    """A readable note that names these Sessions."""
    return Note(annotated, note_body(*session_ids))
