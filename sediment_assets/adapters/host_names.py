"""Asking the system's resolver: the one look at the network that the clone-URL policy needs (mirrors.md §3)."""

import socket


def resolve_host(host: str) -> list[str]:
    """Return every address of a host name; none when it does not resolve, which a fetch will say by itself."""
    try:
        found = socket.getaddrinfo(host, None, proto=socket.IPPROTO_TCP)
    except (OSError, UnicodeError):
        return []
    return sorted({str(address[0]) for *_, address in found})
