"""Records for capture sources, as the file reader would hand them over, and what a source makes of them."""

from collections.abc import Iterable
from typing import Any

from sediment_assets.capture.contract import (
    CaptureOptions,
    Document,
    Record,
    Remainder,
    Source,
    Translated,
    Untranslated,
)
from sediment_assets.facts.model import Fact
from tests.builders import ORG


def translate(source: Source, *values: Any, **options: Any) -> list[Translated | Untranslated]:
    """Translate values as the lines of one file named ``in``."""
    records = [Record(f"in:{number}", value) for number, value in enumerate(values, 1)]
    return list(source.translate([Document("in", records)], CaptureOptions(ORG, **options)))


def facts(told: Iterable[Translated | Untranslated]) -> list[Any]:
    """The Facts of a translation, which must all be there: a remainder fails."""
    told = list(told)
    assert [one for one in told if isinstance(one, Untranslated)] == []
    return [one.fact for one in told if isinstance(one, Translated)]


def only_fact(source: Source, value: Any, **options: Any) -> Any:
    """The one Fact that one record gives."""
    (fact,) = facts(translate(source, value, **options))
    assert isinstance(fact, Fact)
    return fact


def only_remainder(source: Source, value: Any, **options: Any) -> tuple[Remainder, str]:
    """Reason and detail of the one remainder that one record gives."""
    (told,) = translate(source, value, **options)
    assert isinstance(told, Untranslated), told
    assert told.place.startswith("in:1")
    return told.reason, told.detail
