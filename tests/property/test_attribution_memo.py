"""Properties of the memo: with it, cold or warm, a bundle has the bytes that it has without it."""

import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sediment_assets.adapters.attribution_files import AttributionFiles
from sediment_assets.adapters.bundle_dir import stage_bundle
from sediment_assets.derive.attribution_memo import AttributionMemo
from sediment_assets.derive.fact_reader import SessionWindow
from sediment_assets.derive.policy import DEFAULT_POLICY
from tests.builders import make_quarantine
from tests.memory_memo import MemoryMemo
from tests.profiles import examples
from tests.property.strategies import BASE, KEYS, Population, populations, written_populations

few_examples = settings(max_examples=examples(30))
MIDNIGHT = datetime(BASE.year, BASE.month, BASE.day, tzinfo=UTC)
WINDOWS = (None, SessionWindow(MIDNIGHT, MIDNIGHT + timedelta(days=1)))
anybody = populations() | written_populations


def files(population: Population, out: Path, window: SessionWindow | None, memo: AttributionMemo | None) -> list[bytes]:
    """The files of a bundle, its manifest with all counters among them."""
    with stage_bundle(
        population.reader(), population.mirrors, out, population.policy, window=window, memo=memo
    ) as ready:
        return [path.read_bytes() for path in sorted(ready.directory.iterdir())]


@few_examples
@given(anybody, st.sampled_from(WINDOWS))
def test_a_bundle_has_the_same_bytes_without_a_memo_with_a_cold_and_with_a_warm_one(
    population: Population, window: SessionWindow | None
):
    with tempfile.TemporaryDirectory() as path:
        memo = AttributionFiles(Path(path))
        made = [files(population, Path(path, str(n)), window, using) for n, using in enumerate([None, memo, memo])]
    assert made[1:] == made[:1] * 2


@st.composite
def relatives(draw: st.DrawFn) -> list[Population]:
    """One organization in several states, any of which may be derived first."""
    first = draw(anybody)
    found = [first]
    for kind in draw(st.lists(st.sampled_from(["fact", "hide", "contents", "notes", "mirror", "policy"]), max_size=4)):
        last = found[-1]
        if kind == "fact" and last.facts:
            dropped = draw(st.integers(0, len(last.facts) - 1))
            last = replace(last, facts=[fact for n, fact in enumerate(last.facts) if n != dropped])
        elif kind == "hide" and last.facts:
            fact = draw(st.sampled_from(last.facts))
            action = draw(st.sampled_from(["quarantine", "release"]))
            record = make_quarantine(fact_table=fact.TABLE, fact_id=fact.fact_id, action=action)
            last = replace(last, quarantine=[*last.quarantine, record])
        elif kind == "contents":
            last = replace(last, contents=draw(st.permutations(last.contents)))
        elif kind == "notes":
            last = replace(last, notes=last.notes[1:])
        elif kind == "mirror":
            last = replace(last, mirrored=draw(st.sampled_from([KEYS, KEYS[:1], []])))
        elif kind == "policy":
            last = replace(last, policy=DEFAULT_POLICY)
        found.append(last)
    return found


@few_examples
@given(relatives())
def test_what_is_remembered_of_one_state_is_never_told_of_another(states: list[Population]):
    memo, numbers = MemoryMemo(), count()
    with tempfile.TemporaryDirectory() as path:
        for population in [*states, *states]:
            with_memo, without = (
                files(population, Path(path, str(next(numbers))), None, using) for using in (memo, None)
            )
            assert with_memo == without
