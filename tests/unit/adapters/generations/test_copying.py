"""A copy is claimed first and completed last, in a bucket as on a disk; nothing is ever replaced."""

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import URLError

import pytest

from sediment_assets.adapters.generations.catalog import FoundGeneration, look_at
from sediment_assets.adapters.generations.copying import CopyError, Destination
from sediment_assets.cli.main import main
from sediment_assets.publish.artifacts import CLAIM, RECORD
from sediment_assets.publish.record import RecordError
from tests.generation_root import DAY, Root
from tests.ports import free_port

START_SECONDS = 60


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A bucket of an S3-compatible server on loopback; the settings that S3 clients read point to it."""
    pytest.importorskip("s3fs", reason="the extra `object-store` is not installed")
    pytest.importorskip("moto", reason="no S3-compatible server (moto) is installed")
    import s3fs

    port = free_port()
    address = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    settings = {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": address,
        "no_proxy": "127.0.0.1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        try:
            _wait(address)
            s3fs.S3FileSystem(skip_instance_cache=True).mkdir("rows")
            yield "s3://rows"
        finally:
            server.kill()
            server.wait()


def _wait(address: str) -> None:
    limit = time.monotonic() + START_SECONDS
    while True:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except (URLError, ConnectionError):
            assert time.monotonic() < limit, "the S3-compatible server does not answer"
            time.sleep(0.2)


@pytest.fixture(params=["disk", "bucket"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "disk":
        return str(tmp_path / "archive")
    bucket: str = request.getfixturevalue("bucket")
    return f"{bucket}/{tmp_path.name}"


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return Root(tmp_path / "exports")


def read(url: str) -> dict[str, bytes]:
    """Every file below a root, by its path in there."""
    from fsspec.core import url_to_fs

    store, path = url_to_fs(url, use_listings_cache=False, skip_instance_cache=True)
    return {name.removeprefix(path).lstrip("/"): store.cat_file(name) for name in store.find(path)}


def test_a_copy_holds_every_file_and_copying_again_changes_nothing(root: Root, url: str):
    source = root.rows("a.0")
    assert Destination(url).copy(look_at(source)) is True
    expected = {f"nemo-gym/{DAY}/a.0/{path.name}": path.read_bytes() for path in source.iterdir()}
    assert read(url) == expected
    assert Destination(url).copy(look_at(source)) is False
    assert read(url) == expected


def test_a_bundle_is_copied_like_rows(root: Root, url: str, rich_bundle: Path):
    source = root.bundle("run.0", rich_bundle)
    assert Destination(url).copy(look_at(source)) is True
    assert set(read(url)) == {f"rollouts/{DAY}/run.0/{path.name}" for path in source.iterdir()}


def test_of_many_copies_at_once_one_is_made(root: Root, url: str):
    found = look_at(root.rows("a.0"))

    def attempt(_: int) -> bool | str:
        try:
            return Destination(url).copy(found)
        except CopyError as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(attempt, range(8)))
    assert outcomes.count(True) == 1
    assert all(outcome is False or "copy" in str(outcome) for outcome in outcomes if outcome is not True)
    assert Destination(url).copy(found) is False


def test_what_a_killed_copy_left_refuses_the_next_one_and_stays(root: Root, url: str):
    from fsspec.core import url_to_fs

    store, path = url_to_fs(url, skip_instance_cache=True)
    place = f"{path}/nemo-gym/{DAY}/a.0"
    if "file" in store.protocol:
        store.makedirs(place)
    store.pipe_file(f"{place}/{CLAIM}", b"nemo-gym\n")
    with pytest.raises(
        CopyError, match=f"a.0: expected nothing, got {CLAIM}: a copy in progress or one that was killed"
    ):
        Destination(url).copy(look_at(root.rows("a.0")))
    assert list(read(url).values()) == [b"nemo-gym\n"]


def test_half_a_completion_file_is_a_copy_in_progress(root: Root, url: str):
    from fsspec.core import url_to_fs

    found = look_at(root.rows("a.0"))
    Destination(url).copy(found)
    store, path = url_to_fs(url, use_listings_cache=False, skip_instance_cache=True)
    record = f"{path}/nemo-gym/{DAY}/a.0/{RECORD}"
    store.pipe_file(record, store.cat_file(record)[:100])
    with pytest.raises(CopyError, match="a copy in progress or one that was killed"):
        Destination(url).copy(found)


def test_another_generation_under_the_same_name_is_never_replaced(root: Root, url: str, tmp_path: Path):
    Destination(url).copy(look_at(root.rows("a.0")))
    before = read(url)
    other = Root(tmp_path / "other").rows("a.0", bundle="0" * 64)
    with pytest.raises(CopyError, match="expected nothing or this generation, got another one"):
        Destination(url).copy(look_at(other))
    assert read(url) == before


def test_a_damaged_generation_is_not_copied(root: Root, url: str):
    source = root.rows("a.0")
    found = look_at(source)
    next(source.glob("*.jsonl")).write_text("{}\n")
    with pytest.raises(RecordError, match="changed after it was published"):
        Destination(url).copy(found)
    assert read(url) == {}


def test_a_store_that_refuses_leaves_nothing_behind(root: Root, bucket: str):
    with pytest.raises(CopyError, match=r"^s3://no-such-bucket/rows/nemo-gym/.*: cannot be copied to: "):
        Destination("s3://no-such-bucket/rows").copy(look_at(root.rows("a.0")))


def test_an_unknown_store_is_named_with_the_way_out_and_no_credentials():
    with pytest.raises(CopyError, match=r"^nowhere://host/rows: .*sediment-assets\[object-store\]"):
        Destination("nowhere://user:secret@host/rows?token=secret")


def test_the_command_copies_the_newest_of_each_and_says_so(
    root: Root, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    root.rows("a.0")
    newest = root.rows("b.0")
    archive = tmp_path / "archive"
    assert main(["generations", "copy", "--to", str(archive), str(root.path)]) == 0
    assert {path.parent.name for path in archive.rglob(RECORD)} == {newest.name}
    assert capsys.readouterr().out.splitlines()[-1] == f"{archive}: copied 1, there already 0, failed 0"
    assert main(["generations", "copy", "--to", str(archive), str(root.path)]) == 0
    assert capsys.readouterr().out == f"{archive}: copied 0, there already 1, failed 0\n"


def test_what_another_host_is_copying_is_looked_at_again_at_the_end(
    root: Root, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    source = root.rows("a.0")
    archive = tmp_path / "archive"
    place = archive / "nemo-gym" / DAY / "a.0"
    place.mkdir(parents=True)
    (place / CLAIM).write_bytes((source / CLAIM).read_bytes())
    copy, looks = Destination.copy, iter(["the rival is at work", "the rival is done"])

    def copied(destination: Destination, found: FoundGeneration) -> bool:
        if next(looks) == "the rival is done":
            for path in source.iterdir():
                (place / path.name).write_bytes(path.read_bytes())
        return copy(destination, found)

    monkeypatch.setattr(Destination, "copy", copied)
    assert main(["generations", "copy", "--to", str(archive), str(root.path)]) == 0
    assert capsys.readouterr().out == f"{archive}: copied 0, there already 1, failed 0\n"
