"""How bytes that git printed become text (mirrors.md §5).

Reference patches are not text in this sense: they keep every byte (design.md §7).
"""


def decode_git_text(output: bytes) -> str:
    """Decode UTF-8, one U+FFFD per maximal ill-formed subsequence; then every CRLF and lone CR becomes LF."""
    return output.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
