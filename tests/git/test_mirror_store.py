"""Mirrors under one base: enumeration, opening, revisions, locks (mirrors.md §1, §4)."""

import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sediment_assets.adapters.git_mirror_store import GitMirrorStore
from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.mirrors.layout import mirror_path
from sediment_assets.mirrors.reader import MirrorError
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey
from tests.git.patch_cases import LINES
from tests.git.repositories import git, linear

LEGACY = LegacyKey("acme", "owner/repo")


def identified(repository_id: str, org_id: str = "acme") -> IdentifiedKey:
    return IdentifiedKey(org_id, ForgeProvider.GITHUB, "github.com", repository_id)


def mirror_at(base: Path, *paths: str) -> None:
    """Make directories that count as mirrors: all it takes is an entry HEAD."""
    for path in paths:
        (base / path).mkdir(parents=True)
        (base / path / "HEAD").touch()


def test_keys_are_identified_then_legacy_and_ids_compare_as_text(tmp_path):
    mirror_at(tmp_path, *(f"repositories-v1/acme/github/github.com/{n}" for n in (9, 10, 42)))
    mirror_at(tmp_path, "acme%2Fz%2Fz", "acme%2Fa%2Fz", "other%2Fo%2Fr", "repositories-v1/other/github/github.com/1")
    with GitMirrorStore(tmp_path) as store:
        assert store.keys("acme") == [
            *map(identified, ("10", "42", "9")),
            LegacyKey("acme", "a/z"),
            LegacyKey("acme", "z/z"),
        ]
        assert store.warnings == []


def test_organization_is_normalised_first(tmp_path):
    mirror_at(tmp_path, "acme%2Fowner%2Frepo")
    with GitMirrorStore(tmp_path) as store:
        assert store.keys("ACME") == [LEGACY]


def test_directory_without_head_is_no_mirror(tmp_path):
    (tmp_path / "acme%2Fowner%2Frepo/objects").mkdir(parents=True)
    (tmp_path / "acme%2Fo%2Ffile").touch()
    (tmp_path / "repositories-v1/acme/github/github.com/1").mkdir(parents=True)
    (tmp_path / "repositories-v1/acme/github/file").touch()
    with GitMirrorStore(tmp_path) as store:
        assert store.keys("acme") == []
        assert store.open(LEGACY) is None
        assert store.open(identified("1")) is None


def test_legacy_spelling_that_is_not_canonical_is_listed_and_cannot_be_opened(tmp_path):
    mirror_at(tmp_path, "acme%2fO%2FUpper")
    with GitMirrorStore(tmp_path) as store:
        assert store.keys("acme") == [LegacyKey("acme", "o/upper")]
        assert store.open(LegacyKey("acme", "o/upper")) is None
        assert store.revisions("acme") == {}


def test_invalid_names_are_ignored_with_a_warning(tmp_path):
    ignored = [
        *("acme%2F", "acme%2Fonly", "acme%2Fa%2Fb%2Fc", "repositories-v1/acme/github/GitHub.com/42"),
        *("repositories-v1/acme/gitlab/github.com/42", "repositories-v1/acme/github/github.com/007"),
    ]
    mirror_at(tmp_path, *ignored, "acme%2Fowner%2Frepo")
    with GitMirrorStore(tmp_path) as store:
        assert store.keys("acme") == [LEGACY]
        assert len(store.warnings) == len(ignored)
        assert all(any(str(tmp_path / name) in warning for warning in store.warnings) for name in ignored)
        store.keys("acme")
        assert len(store.warnings) == len(ignored)


def test_warning_shows_no_control_character(tmp_path):
    mirror_at(tmp_path, "acme%2F\x1b[31m")
    mirror_at(tmp_path, os.fsdecode(b"acme%2F\xff"))
    with GitMirrorStore(tmp_path) as store:
        assert store.keys("acme") == []
        assert len(store.warnings) == 2
        assert all(warning.isprintable() for warning in store.warnings)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list everything")
def test_base_that_cannot_be_listed_is_an_error(tmp_path):
    tmp_path.chmod(0)
    try:
        with GitMirrorStore(tmp_path) as store, pytest.raises(MirrorError):
            store.keys("acme")
    finally:
        tmp_path.chmod(0o755)


def test_a_mirror_that_nobody_can_look_into_is_not_absent(tmp_path):
    loop = tmp_path / mirror_path(LEGACY)  # root may look into every directory, but not into a link to itself
    loop.symlink_to(loop)
    (tmp_path / "acme%2F..%2F").symlink_to("acme%2F..%2F")
    with GitMirrorStore(tmp_path) as store:
        assert store.keys("acme") == [LEGACY]
        assert store.warnings == []
        with pytest.raises(MirrorError, match="expected a directory this user may read, got Too many levels"):
            store.open(LEGACY)


def test_open_gives_the_same_mirror_each_time(tmp_path):
    mirror_at(tmp_path, "acme%2Fowner%2Frepo")
    with GitMirrorStore(tmp_path) as store:
        assert store.open(LEGACY) is store.open(LegacyKey("acme", "owner/repo"))
        assert store.open(LegacyKey("acme", "owner/other")) is None


def test_slug_too_long_for_a_file_name_is_absent(tmp_path):
    key = LegacyKey("acme", "o/" + "r" * 300)
    with GitMirrorStore(tmp_path) as store:
        assert store.open(key) is None
        with store.locked([key, LEGACY]):
            assert (tmp_path / ".locks/acme%2Fowner%2Frepo").is_file()


def test_revisions_map_key_text_to_all_refs(tmp_path):
    [first] = linear(tmp_path / mirror_path(LEGACY), {b"a": LINES})
    [second] = linear(tmp_path / mirror_path(identified("42")), {b"b": LINES})
    git(tmp_path / mirror_path(LEGACY), "update-ref", "refs/pull/7/head", first)
    git(tmp_path / mirror_path(LEGACY), "update-ref", "refs/notes/sediment", first)
    with GitMirrorStore(tmp_path) as store:
        revisions = store.revisions("acme")
    assert revisions == {
        '["acme","identified","github","github.com","42"]': {"refs/heads/main": second},
        "owner/repo": {"refs/heads/main": first, "refs/notes/sediment": first, "refs/pull/7/head": first},
    }
    assert list(revisions["owner/repo"]) == sorted(revisions["owner/repo"])


def test_revisions_of_an_unreadable_mirror_are_an_error(tmp_path):
    mirror_at(tmp_path, "acme%2Fowner%2Frepo")
    with GitMirrorStore(tmp_path) as store, pytest.raises(MirrorError, match=r"acme%2Fowner%2Frepo.*fetch it again"):
        store.revisions("acme")


# Locks


def is_locked(path: Path) -> bool:
    """Ask from another process: a lock does not exclude its own."""
    script = "import fcntl,sys\nfcntl.flock(open(sys.argv[1],'w'),fcntl.LOCK_EX|fcntl.LOCK_NB)"
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, check=False)
    return done.returncode != 0


def test_snapshot_holds_the_locks_that_fetching_takes(tmp_path):
    locks = [tmp_path / ".locks/acme%2Fowner%2Frepo", tmp_path / ".locks/repositories-v1/acme/github/github.com/42"]
    with GitMirrorStore(tmp_path) as store:
        with store.locked([LEGACY, identified("42"), LEGACY]):
            assert all(map(is_locked, locks))
        assert not any(map(is_locked, locks))
    assert [path for path in sorted((tmp_path / ".locks").rglob("*")) if path.is_file()] == sorted(locks)


def test_locks_are_released_when_the_block_fails(tmp_path):
    with GitMirrorStore(tmp_path) as store:
        with pytest.raises(RuntimeError), store.locked([LEGACY]):
            raise RuntimeError
        assert not is_locked(tmp_path / ".locks/acme%2Fowner%2Frepo")
        with store.locked([identified("1")]):
            pass


def test_existing_lock_file_keeps_its_content(tmp_path):
    (tmp_path / ".locks").mkdir()
    path = tmp_path / ".locks/acme%2Fowner%2Frepo"
    path.write_text("someone's")
    with GitMirrorStore(tmp_path) as store, store.locked([LEGACY]):
        pass
    assert path.read_text() == "someone's"


def test_snapshot_waits_for_the_lock(tmp_path):
    (tmp_path / ".locks").mkdir()
    entered = threading.Event()

    def enter():
        with GitMirrorStore(tmp_path) as store, store.locked([LEGACY]):
            entered.set()

    with (tmp_path / ".locks/acme%2Fowner%2Frepo").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        thread = threading.Thread(target=enter)
        thread.start()
        assert not entered.wait(0.2)
    assert entered.wait(5)
    thread.join()


def test_locks_are_taken_in_ascending_order_of_their_paths(tmp_path):
    """While the smaller path is taken by another, the larger one must still be free."""
    larger = LegacyKey("acme", "owner/zzz")
    (tmp_path / ".locks").mkdir()
    entered = threading.Event()

    def enter():
        with GitMirrorStore(tmp_path) as store, store.locked([larger, LEGACY]):
            entered.set()

    with (tmp_path / ".locks/acme%2Fowner%2Frepo").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        thread = threading.Thread(target=enter)
        thread.start()
        assert not entered.wait(0.2)
        assert not (tmp_path / ".locks/acme%2Fowner%2Fzzz").exists()
    assert entered.wait(5)
    thread.join()


def test_nested_snapshot_must_be_a_subset(tmp_path):
    with GitMirrorStore(tmp_path) as store, store.locked([LEGACY, identified("1")]):
        with store.locked([LEGACY]), store.locked([]):
            pass
        with GitMirrorStore(tmp_path) as other, other.locked([identified("1")]):
            pass
        with pytest.raises(MirrorError, match="nested"), store.locked([LEGACY, identified("2")]):
            pass
        assert is_locked(tmp_path / ".locks/acme%2Fowner%2Frepo")


def test_absent_base_creates_nothing_and_stays_absent_to_the_end(tmp_path):
    base = tmp_path / "mirrors"
    with GitMirrorStore(base) as store:
        assert store.keys("acme") == []
        with store.locked([LEGACY]):
            assert not base.exists()
            mirror_at(base, "acme%2Fowner%2Frepo")
            assert store.keys("acme") == []
            assert store.open(LEGACY) is None
            assert store.revisions("acme") == {}
            with store.locked([LEGACY]):
                assert store.open(LEGACY) is None
            assert not (base / ".locks").exists()
        assert store.keys("acme") == [LEGACY]
        assert store.open(LEGACY) is not None


def test_a_base_that_is_a_file_is_an_error(tmp_path):
    (tmp_path / "mirrors").touch()
    with (
        GitMirrorStore(tmp_path / "mirrors") as store,
        pytest.raises(MirrorError, match=r"mirrors: expected a directory \(SEDIMENT_MIRROR_PATH\), got a file"),
    ):
        store.keys("acme")


def test_lock_that_cannot_be_created_is_an_error(tmp_path):
    (tmp_path / ".locks").touch()
    with GitMirrorStore(tmp_path) as store:
        with pytest.raises(MirrorError, match="mirror lock"), store.locked([LEGACY]):
            pass
        (tmp_path / ".locks").unlink()
        with store.locked([LEGACY]):
            pass
