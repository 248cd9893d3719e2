"""Attributions on disk: private files that appear whole, and that nothing rests on."""

import os
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from sediment_assets import __version__
from sediment_assets.adapters.attribution_files import ATTRIBUTION_DIRECTORY, KEPT, AttributionFiles, program
from tests.directories import names

PLAIN = {"commits_of_session": {"s\ud800": [["acme", "legacy", "acme/é", "a" * 40]]}, "skipped": {"no_match": 2}}
KEY, OTHER = "0" * 64, "1" * 64


@pytest.fixture
def files(tmp_path: Path) -> AttributionFiles:
    return AttributionFiles(tmp_path / "exports")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "exports" / ATTRIBUTION_DIRECTORY


def test_what_is_kept_is_recalled_under_its_key_alone(files: AttributionFiles, directory: Path):
    assert files.recall(KEY) is None
    assert not directory.parent.exists()
    files.keep(KEY, PLAIN)
    assert files.recall(KEY) == PLAIN
    assert files.recall(OTHER) is None


def test_nobody_else_can_read_it(files: AttributionFiles, directory: Path):
    before = os.umask(0)
    try:
        files.keep(KEY, PLAIN)
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (directory, directory / f"{KEY}.json")]
    assert modes == [0o700, 0o600]
    assert names(directory) == [f"{KEY}.json"]


def with_content(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(change(path.read_bytes()))


def as_link(path: Path) -> None:
    path.rename(path.parent / "elsewhere")
    path.symlink_to("elsewhere")


def as_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def as_other_key(path: Path) -> None:
    """A sound file under a name that is not its own."""
    AttributionFiles(path.parent.parent).keep(OTHER, PLAIN)
    (path.parent / f"{OTHER}.json").replace(path)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": with_content(lambda data: b""),
    "truncated": with_content(lambda data: data[:-1]),
    "longer": with_content(lambda data: data + b" "),
    "another byte": with_content(lambda data: data.replace(b"no_match", b"no_patch")),
    "no digest": with_content(lambda data: data.partition(b"\n")[2]),
    "no text": with_content(lambda data: b"\xff" * 64 + b"\n{}"),
    "no JSON, digest right": with_content(
        lambda data: b"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\n{}"
    ),
    "another key": as_other_key,
    "link": as_link,
    "pipe": as_pipe,
    "writable for a group": lambda path: path.chmod(0o620),
    "writable for all": lambda path: path.chmod(0o602),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_or_foreign_file_is_ignored_and_made_again(files: AttributionFiles, directory: Path, damage: str):
    files.keep(KEY, PLAIN)
    DAMAGES[damage](directory / f"{KEY}.json")
    assert files.recall(KEY) is None
    files.keep(KEY, PLAIN)
    assert files.recall(KEY) == PLAIN


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_ignored(files: AttributionFiles, directory: Path):
    files.keep(KEY, PLAIN)
    os.chown(directory / f"{KEY}.json", 65534, 65534)
    assert files.recall(KEY) is None


@pytest.mark.parametrize(
    "occupy",
    [
        lambda directory: directory.parent.write_text(""),
        lambda directory: (directory.parent.mkdir(), directory.write_text("")),
        lambda directory: (directory.parent.mkdir(), directory.symlink_to("..")),
        lambda directory: (directory.parent.mkdir(), directory.mkdir(), directory.chmod(0o777)),
        lambda directory: (directory / f"{KEY}.json" / "in the way").mkdir(parents=True),
    ],
    ids=["root is a file", "a file", "a link", "anybody's directory", "a directory of the file's name"],
)
def test_where_nothing_can_be_kept_nothing_happens(
    files: AttributionFiles, directory: Path, tmp_path: Path, occupy: Callable[[Path], object]
):
    occupy(directory)
    before = sorted(map(str, tmp_path.rglob("*")))
    files.keep(KEY, PLAIN)
    assert files.recall(KEY) is None
    assert sorted(map(str, tmp_path.rglob("*"))) == before


def test_a_full_disk_leaves_nothing(tmp_path: Path, directory: Path):
    limited = f"""
        import resource, signal
        from pathlib import Path
        from sediment_assets.adapters.attribution_files import AttributionFiles
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        AttributionFiles(Path({str(directory.parent)!r})).keep({KEY!r}, {{"long": "x" * 1000}})
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(limited)], check=True)
    assert names(directory) == []


def test_the_files_used_last_stay(files: AttributionFiles, directory: Path):
    keys = [f"{number:064}" for number in range(KEPT + 2)]
    for number, key in enumerate(keys[:-2]):
        files.keep(key, PLAIN)
        os.utime(directory / f"{key}.json", (1000 + number, 1000 + number))
    files.recall(keys[0])
    for key in keys[-2:]:
        files.keep(key, PLAIN)
    assert names(directory) == sorted(f"{key}.json" for key in [keys[0], *keys[3:]])


def test_what_a_killed_process_left_goes_and_what_is_being_written_stays(files: AttributionFiles, directory: Path):
    files.keep(KEY, PLAIN)
    for name in (".writing-dead", ".writing-young", "notes.txt"):
        (directory / name).touch()
    for name in (".writing-dead", "notes.txt"):
        os.utime(directory / name, (1000, 1000))
    files.keep(OTHER, PLAIN)
    assert names(directory) == [".writing-young", f"{KEY}.json", f"{OTHER}.json", "notes.txt"]


def test_processes_that_keep_at_once_do_no_harm(files: AttributionFiles, directory: Path):
    writing = f"""
        from pathlib import Path
        from sediment_assets.adapters.attribution_files import AttributionFiles
        files = AttributionFiles(Path({str(directory.parent)!r}))
        for number in range(200):
            files.keep(f"{{number % 12:064}}", {{"n": "x" * 5000}})
            found = files.recall(f"{{number % 12:064}}")
            assert found in (None, {{"n": "x" * 5000}}), found
    """
    both = [subprocess.Popen([sys.executable, "-c", textwrap.dedent(writing)]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert 1 <= len(names(directory)) <= KEPT
    assert not any(name.startswith(".writing-") for name in names(directory))


def test_the_program_is_named_to_the_byte():
    assert program().startswith(f"{__version__} {sys.version.split()[0]} ")
    assert len(program().split()[-1]) == 64
    assert program() == AttributionFiles(Path("x")).program
