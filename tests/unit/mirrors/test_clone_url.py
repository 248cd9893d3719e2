"""The clone-URL policy (mirrors.md §3) and what of a URL may be shown."""

import ipaddress

import pytest

from sediment_assets.mirrors.clone_url import (
    CloneUrlPolicy,
    CloneUrlRefusedError,
    Credentials,
    MalformedCloneUrlError,
    is_internal,
    shown_url,
    split_credentials,
    without_secrets,
)

PUBLIC = "93.184.216.34"


def check(url, addresses=(PUBLIC,), **policy):
    CloneUrlPolicy(**policy).check(url, lambda host: addresses)


@pytest.mark.parametrize(
    "url",
    ["file:///srv/r.git", "FILE:///r", "/srv/r.git", "../r", "r", "git@host.test:o/r.git", "host.test:o/r",
     "ext::sh -c id", "ftp://host.test/r", "ftps://host.test/r", "", "https:host.test/r", "https:/host.test/r",
     "//host.test/r", "ssh:host.test/r", "javascript:alert(1)", "https+x://h.test/r", "--upload-pack=id"],
)  # fmt: skip
def test_other_forms_are_refused(url):
    with pytest.raises(CloneUrlRefusedError):
        check(url)
    check(url or "x", development=True)


@pytest.mark.parametrize("url", ["https:///r.git", "http://:80/r", "ssh://git@/r", "git://"])
def test_a_host_must_be_present(url):
    with pytest.raises(CloneUrlRefusedError, match="expected a host, got none"):
        check(url)


@pytest.mark.parametrize("scheme", ["http", "https", "git", "ssh", "HTTPS"])
def test_four_schemes_are_allowed_in_any_case(scheme):
    check(f"{scheme}://git@host.test:8080/o/r.git")


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST", "localhost.", "a.localhost", "127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254",
     "[::1]", "[::]", "[fe80::1]", "[::ffff:8.8.8.8]", "[fd00::1]", "0.0.0.0", "255.255.255.255"],
)  # fmt: skip
def test_internal_hosts_are_refused(host):
    with pytest.raises(CloneUrlRefusedError, match="expected a public host"):
        check(f"https://user:secret@{host}/r")


def test_a_host_is_refused_if_any_of_its_addresses_is_internal():
    check("https://host.test/r", (PUBLIC, "2606:2800::1"))
    for spelled in ("2130706433", "0x7f000001", "127.1", "host.test"):
        with pytest.raises(CloneUrlRefusedError):
            check(f"https://{spelled}/r", (PUBLIC, "127.0.0.1"))


def test_a_host_that_does_not_resolve_is_accepted():
    check("https://nowhere.invalid/r", ())


def test_an_allowlist_decides_alone():
    allowed = {"allowed_hosts": frozenset({"Git.Example.test", "10.0.0.5", "localhost"})}
    for host in ("git.example.TEST:8443", "10.0.0.5", "localhost"):
        check(f"https://{host}/r", ("10.0.0.1",), **allowed)
    for host in ("example.test", "a.git.example.test", "10.0.0.6", "github.com"):
        with pytest.raises(CloneUrlRefusedError, match="SEDIMENT_ALLOWED_CLONE_HOSTS"):
            check(f"https://{host}/r", **allowed)
    with pytest.raises(CloneUrlRefusedError):
        check("file:///r", **allowed)


@pytest.mark.parametrize(
    "url",
    ["https://[::1/r", "https://host.test:port/r", "https://host.test:99999/r",
     "https://host.test\\@127.0.0.1/r", "https://ho st.test/r", "https://host.test/r\n", "https://h\tost.test/r",
     "https://a@b@host.test/r", "git://%31%32%37.0.0.1/r", "https://host.test:0/r", "https://host.test/\x85"],
)  # fmt: skip
def test_what_parsers_read_differently_is_malformed(url):
    with pytest.raises(MalformedCloneUrlError) as caught:
        check(url)
    assert isinstance(caught.value, ValueError)


INTERNAL = (
    "0.1.2.3 10.0.0.1 127.255.0.1 169.254.1.1 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.8 192.0.2.1 192.168.1.1 "
    "198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.7 240.0.0.1 255.255.255.255 "
    ":: ::1 ::ffff:8.8.8.8 ::ffff:127.0.0.1 64:ff9b::808:808 100::1 2001::1 2001:1ff:ffff::1 2001:db8::1 fc00::1 "
    "fdff::1 fe80::1 febf::1 4000::1 200::1 fe00::1"
)
REACHABLE = (
    "1.1.1.1 100.64.0.1 172.15.0.1 172.32.0.1 192.0.0.9 192.0.0.10 192.0.1.1 198.20.0.1 224.0.0.1 239.1.1.1 "
    "2606:2800::1 2001:200::1 2002:7f00:1::1 fec0::1 ff02::1 3fff:ffff::1"
)


@pytest.mark.parametrize("address", INTERNAL.split())
def test_internal_set(address):
    assert is_internal(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", REACHABLE.split())
def test_not_internal(address):
    assert not is_internal(ipaddress.ip_address(address))


def test_messages_hold_scheme_and_host_only():
    for policy in ({"allowed_hosts": frozenset({"other.test"})}, {}):
        with pytest.raises(CloneUrlRefusedError) as caught:
            check("https://ada:hunter22@Git.Test:8443/secret/path?token=tok", ("10.0.0.1",), **policy)
        message = str(caught.value)
        assert "https://git.test" in message
        assert not any(part in message for part in ("ada", "hunter22", "secret", "tok=", "8443"))


def test_credentials_leave_http_urls_and_only_those():
    split = split_credentials("https://ada:p%40ss@git.test:8443/o/r.git?x=1")
    assert split == ("https://git.test:8443/o/r.git?x=1", Credentials("ada", "p@ss"))
    assert split_credentials("https://ghp_token@git.test/r")[1] == Credentials("ghp_token", "")
    for url in ("https://git.test/r", "ssh://git@git.test/r", "/srv/a@b/r", "https://[bad"):
        assert split_credentials(url) == (url, None)
    with pytest.raises(MalformedCloneUrlError):
        split_credentials("https://a%0ahost=evil:b@git.test/r")
    assert "p@ss" not in repr(split)


@pytest.mark.parametrize(
    ("said", "url"),
    [
        ("unable to access 'https://ada:hunter22@git.test/o/r/'", "https://ada:hunter22@git.test/o/r"),
        ("bad password hunter22", "https://ada:hunter22@git.test/o/r"),
        ("bad password p@ss:word or p%40ss%3Aword", "https://ada:p%40ss%3Aword@git.test/o/r"),
        ("cannot read https://x:other-secret@elsewhere.test/r", "https://git.test/r"),
        ("GET /r?private_token=hunter22", "https://git.test/r?private_token=hunter22"),
        ("user ghp_abcdef refused", "https://ghp_abcdef@git.test/r"),
    ],
)
def test_nothing_git_says_shows_a_credential(said, url):
    shown = without_secrets(said, url)
    assert not any(s in shown for s in ("hunter22", "p@ss", "p%40ss", "other-secret", "ghp_abcdef"))


def test_an_ordinary_complaint_is_not_changed():
    said = "couldn't find remote ref refs/heads/main at git.test"
    assert without_secrets(said, "ssh://git@git.test/o/r") == said
    assert shown_url("HTTPS://a:b@Git.test:1/x") == "https://git.test"
    assert shown_url("/srv/r.git") == "a local path"
