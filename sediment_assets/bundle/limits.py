"""What the reference reader accepts at most (bundle.md §12). Nothing here is refused for its size (design.md §7).

A bundle beyond these sizes is written, and read here, but another program may refuse it: that is worth a warning.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from sediment_assets.bundle.encoding import MANIFEST, Population
from sediment_assets.bundle.manifest import MemberFile

MAX_ROWS: Final = 50_000
"""Identities, repository evidence rows and renames, each."""
MAX_LINE_BYTES: Final = 512 * 2**20
MAX_MANIFEST_BYTES: Final = 8 * 2**20
MAX_SESSION_BYTES: Final = 256 * 2**20
"""Canonical JSON of the messages of all calls of one Session."""
MAX_BUNDLE_BYTES: Final = 8 * 2**30

_CAPPED: Final = (
    Population.INFERENCE_CALL_IDENTITIES,
    Population.REPOSITORY_IDENTITIES,
    Population.REPOSITORY_RENAMES,
)


def beyond_reference(
    files: Mapping[Population, MemberFile],
    longest_lines: Mapping[Population, int],
    *,
    manifest_bytes: int,
    session_bytes: int,
) -> Iterator[str]:
    """Yield one warning for every limit that a bundle exceeds; its first word names the event.

    :param longest_lines: bytes of each file's longest line.
    :param session_bytes: size of the largest Session's messages.
    """
    total = sum(file.bytes for file in files.values())
    sizes = [
        *((name.file, "rows", files[name].rows, MAX_ROWS) for name in _CAPPED),
        *((name.file, "bytes in a line", longest_lines[name], MAX_LINE_BYTES) for name in files),
        (MANIFEST, "bytes", manifest_bytes, MAX_MANIFEST_BYTES),
        (Population.INFERENCE_CALLS.file, "bytes of messages in a Session", session_bytes, MAX_SESSION_BYTES),
        ("the bundle", "bytes", total, MAX_BUNDLE_BYTES),
    ]
    for place, unit, got, most in sizes:
        if got > most:
            yield f"bundle_beyond_reference: {place}: {got} {unit}, more than the reference reader takes ({most})"
