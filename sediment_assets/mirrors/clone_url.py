"""Which clone URLs may be fetched: the policy of mirrors.md §3, and what of a URL may be shown.

Pure: resolving a host name is the caller's function. What fetches is ``adapters/git_fetch.py``. Where the URL rules
of Python and of git could read one text differently, the text is refused as malformed.
"""

import ipaddress
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from sediment_assets.errors import SedimentError

SCHEMES: Final = ("http", "https", "git", "ssh")
"""Schemes that may be fetched outside development (step 1)."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

Resolve = Callable[[str], Iterable[str]]
"""Every address of a host name, as text; none when it does not resolve."""

# A table of our own: what ``ipaddress`` calls private differs between Python releases.
_INTERNAL_V4: Final = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "240.0.0.0/4",
        ),
    )
)
_REACHABLE_V4: Final = frozenset(map(ipaddress.IPv4Address, ("192.0.0.9", "192.0.0.10")))
# Of IPv6 everything is internal or unallocated but these …
_REACHABLE_V6: Final = tuple(map(ipaddress.IPv6Network, ("2000::/3", "fec0::/10", "ff00::/8")))
# … without these parts of them.
_INTERNAL_V6: Final = tuple(map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32")))

# Blanks, control characters and backslashes mean different things to different parsers of URLs.
_UNSAFE: Final = re.compile(r"[\x00-\x20\x7f-\xa0\\\u2028\u2029]")


class CloneUrlRefusedError(SedimentError):
    """The policy does not allow this URL; always the same for the same URL and addresses."""


class MalformedCloneUrlError(SedimentError, ValueError):
    """The text is no URL at all."""


@dataclass(frozen=True, slots=True)
class CloneUrlPolicy:
    """What the operator allows. ``allowed_hosts`` empty means every host that is not internal."""

    development: bool = False
    """``SEDIMENT_DEV_MODE``: every URL and local path that git itself can fetch."""
    allowed_hosts: frozenset[str] = frozenset()

    def check(self, url: str, resolve: Resolve) -> None:
        """Let a URL pass, or say why not, with its scheme and host only.

        :raises CloneUrlRefusedError: when the policy forbids it.
        :raises MalformedCloneUrlError: when it cannot be parsed.
        """
        if self.development:
            if not url or "\0" in url:
                raise CloneUrlRefusedError("clone URL: expected a URL or a local path, got nothing")
            return
        scheme, host = _scheme_and_host(url)
        place = f"clone URL {scheme}://{host}"
        allowed = frozenset(name.lower() for name in self.allowed_hosts)
        if allowed:
            if host not in allowed:
                raise CloneUrlRefusedError(
                    f"{place}: expected a host of SEDIMENT_ALLOWED_CLONE_HOSTS, got another; add it there"
                )
            return
        internal = _internal_address(host, resolve)
        if internal is not None:
            raise CloneUrlRefusedError(
                f"{place}: expected a public host, got {internal}; name it in SEDIMENT_ALLOWED_CLONE_HOSTS to fetch "
                "from it all the same"
            )


def _scheme_and_host(url: str) -> tuple[str, str]:
    """Apply steps 1 and 2."""
    try:
        parts = urlsplit(url)
        port, host = parts.port, (parts.hostname or "").lower()
    except ValueError:
        raise MalformedCloneUrlError("clone URL: expected a URL, got one that cannot be parsed") from None
    scheme = parts.scheme.lower()
    if scheme not in SCHEMES or not url[len(scheme) :].startswith("://"):
        got = f"{scheme}:" if scheme in _KNOWN_SCHEMES else "another form"
        raise CloneUrlRefusedError(
            f"clone URL: expected {', '.join(SCHEMES)}, got {got}; local paths and file: need SEDIMENT_DEV_MODE=true"
        )
    if not host:
        raise CloneUrlRefusedError(f"clone URL {scheme}: expected a host, got none")
    # git decodes %31 in a host, Python does not; of two @ each may believe another.
    if _UNSAFE.search(url) or parts.netloc.count("@") > 1 or "%" in host or port == 0:
        raise MalformedCloneUrlError(
            f"clone URL {scheme}: expected no blank, backslash or control character, one @ at most, and a plain host, "
            "got another form; percent-encode credentials"
        )
    return scheme, host


_KNOWN_SCHEMES: Final = frozenset((*SCHEMES, "file", "ftp", "ftps", "ext"))


def _internal_address(host: str, resolve: Resolve) -> str | None:
    """Say what makes a host internal (step 4); None when nothing does, or when it does not resolve."""
    name = host.rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return "the local host"
    try:
        addresses = [ipaddress.ip_address(host)]
    except ValueError:
        addresses = [ipaddress.ip_address(address) for address in resolve(host)]
    found = next((address for address in addresses if is_internal(address)), None)
    return None if found is None else "an internal address"


def is_internal(address: Address) -> bool:
    """Whether an address is not globally reachable: the internal set of mirrors.md §3."""
    if isinstance(address, ipaddress.IPv4Address):
        return address not in _REACHABLE_V4 and any(address in network for network in _INTERNAL_V4)
    reachable = any(address in network for network in _REACHABLE_V6)
    return not reachable or any(address in network for network in _INTERNAL_V6)


@dataclass(frozen=True, slots=True, repr=False)
class Credentials:
    """A user name and password that a URL carried. Never printed."""

    username: str
    password: str


def split_credentials(url: str) -> tuple[str, Credentials | None]:
    """Take the credentials out of an http(s) URL, so that they reach neither a file nor a command line.

    The user of an ssh URL is an account name, and stays; a local path has none.

    :raises MalformedCloneUrlError: when they hold a control character, which git would take for the end of a line.
    """
    parts = _split(url)
    if parts is None:
        return url, None
    userinfo, at, host = parts.netloc.rpartition("@")
    if not at or parts.scheme.lower() not in ("http", "https"):
        return url, None
    name, _, password = userinfo.partition(":")
    credentials = Credentials(unquote(name), unquote(password))
    if any(ord(character) < 0x20 for character in credentials.username + credentials.password):
        raise MalformedCloneUrlError("clone URL: expected credentials without control characters, got others")
    return urlunsplit(parts._replace(netloc=host)), credentials


def without_secrets(text: str, url: str) -> str:
    """Take out of something git said whatever could be a credential of this URL."""
    parts = _split(url)
    if parts is not None and parts.netloc:
        bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
        for spelling in (url, bare, bare.partition("?")[0]):
            text = text.replace(spelling, shown_url(url))
        secrets = {parts.password, parts.query, parts.fragment}
        if parts.scheme.lower() != "ssh":
            secrets.add(parts.username)
        for secret in sorted(filter(None, secrets), key=len, reverse=True):
            for spelling in (secret, unquote(secret)):
                text = text.replace(spelling, "***") if len(spelling) >= _SHORTEST_SECRET else text
    return _USERINFO.sub("://***@", text)


_SHORTEST_SECRET: Final = 4
_USERINFO: Final = re.compile(r"://[^/\s@]*@")


def shown_url(url: str) -> str:
    """Name a URL by scheme and host only."""
    parts = _split(url)
    if parts is None or not parts.hostname:
        return "a local path" if parts is not None and "@" not in url else "a URL"
    return f"{parts.scheme.lower()}://{parts.hostname}"


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None
