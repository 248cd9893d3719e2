"""A Rollout's line read as what its calls project to gives what it gives judged word for word (bundle.md §8)."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sediment_assets.adapters.bundle_files import MemberLines
from sediment_assets.adapters.bundle_index import BundleIndex
from sediment_assets.bundle.encoding import (
    MANIFEST,
    Population,
    decode_accepted_line,
    decode_line,
    decode_manifest,
    encode_line,
)
from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.validate.artifact_rows import ArtifactRules
from sediment_assets.bundle.validate.manifest import parse_manifest
from sediment_assets.bundle.validate.populations import PopulationRules
from sediment_assets.bundle.validate.rollouts import RolloutRules
from sediment_assets.rollouts.models import Rollout
from tests.bundles import rich_draft


class WordForWord(RolloutRules):
    """The rules without their short cut."""

    def _read_as_projected(self, line: bytes) -> None:
        return None


Check = Callable[[type[RolloutRules], bytes], Rollout | str]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("bundle") / "b"
    rich_draft(directory)
    return directory


@pytest.fixture(scope="module")
def lines(bundle: Path) -> list[bytes]:
    # Without its surrogate, which would send the first line the long way.
    data = (bundle / Population.ROLLOUTS.file).read_bytes().replace(rb"\\ud800", b"x")
    return data.splitlines(keepends=True)


@pytest.fixture(scope="module")
def check(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Check:
    manifest = parse_manifest(decode_manifest((bundle / MANIFEST).read_bytes()))
    members = MemberLines(bundle)
    index_path = tmp_path_factory.mktemp("index") / "index"

    def check(kind: type[RolloutRules], line: bytes) -> Rollout | str:
        with BundleIndex(index_path) as index:
            populations = PopulationRules(manifest, index)
            resolver = populations.resolver(members)
            populations.identities(members)
            populations.calls(members)
            try:
                return kind(ArtifactRules(manifest, resolver, index)).check(line)
            except BundleError as error:
                return str(error)

    return check


def test_lines_as_they_are_written_take_the_short_cut(
    check: Check, lines: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [check(WordForWord, line) for line in lines]
    monkeypatch.setattr("sediment_assets.bundle.validate.rollouts.decode_line", None)
    assert [check(RolloutRules, line) for line in lines] == expected
    assert all(isinstance(rollout, Rollout) for rollout in expected)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"segments":', '"segments":[],"segments":', 1),
        lambda text: text.replace(',"session_id":', ',"segments":[],"session_id":', 1),
        lambda text: text.replace('"provenance":{', '"segments":[],"provenance":{', 1),
        # The spelling of the projection in a place where it is not the Rollout's Segments.
        lambda text: _moved(text, lambda record, segments: record["provenance"].update(segments=segments, z=1)),
        lambda text: _moved(text, lambda record, segments: record.update(commits=[{"segments": segments, "z": 1}])),
        lambda text: _moved(text, lambda record, segments: record.update(segments=json.dumps(segments))),
        lambda text: _moved(text, lambda record, segments: record.update(segments=segments[:-1])),
        lambda text: _moved(text, lambda record, segments: record.update(segments=None)),
        lambda text: _moved(text, lambda record, segments: record.update(segments=[[None]])),
        lambda text: _moved(text, lambda record, segments: record.update(segments=segments, session_id=["s1"])),
        lambda text: _moved(text, lambda record, segments: record.update(segments=segments, session_id="s9")),
        lambda text: _moved(text, lambda record, segments: record.update(segments=segments, more=1)),
        lambda text: _moved(text, lambda record, segments: record.update(segments=segments) or record.pop("commits")),
        lambda text: text.replace("{", "{ ", 1),
        lambda text: text[:-1],
        lambda text: "[" + text + "]",
        lambda text: "null",
        lambda text: text.replace('"split":', '"split":1e400,"split":', 1),
    ],
)
def test_a_changed_record_gives_what_it_gives_judged_word_for_word(
    change: Callable[[str], str], check: Check, lines: list[bytes]
) -> None:
    for line in lines:
        text = change(json.loads(line)["record_json"])
        changed = json.dumps({"record_json": text}, separators=(",", ":")).encode() + b"\n"
        assert check(RolloutRules, changed) == check(WordForWord, changed)


def _moved(text: str, move: Callable[[dict, list], object]) -> str:
    record = json.loads(text)
    move(record, record.pop("segments"))
    return json.dumps(record, sort_keys=True, separators=(",", ":"))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_changed_byte_gives_what_it_gives_judged_word_for_word(
    data: st.DataObject, check: Check, lines: list[bytes]
) -> None:
    line = data.draw(st.sampled_from(lines))
    position = data.draw(st.integers(0, len(line) - 1))
    changed = line[:position] + bytes([data.draw(st.integers(1, 255)) ^ line[position]]) + line[position + 1 :]
    assert check(RolloutRules, changed) == check(WordForWord, changed)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    )
)
def test_an_accepted_line_reads_the_same_again(value: object) -> None:
    line = encode_line({"b": value, "a": 2**64})
    again = decode_accepted_line(line)
    assert list(again) == ["a", "b"]
    assert encode_line(again) == encode_line(decode_line(line)) == line
