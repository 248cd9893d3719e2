"""Every source of ``sediment capture``, by its word on the command line; imported when it is asked for."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final

from sediment_assets.capture.contract import Source

_NAMES: Final = ("litellm", "exchanges", "github", "ci", "otlp", "transcripts")
"""The modules of ``sources/``, one entry each, in the order in which help lists them."""


class _Sources(Mapping[str, Source]):
    """The sources by name. One run needs one of them, and importing all takes as long as translating 15 MB."""

    def __getitem__(self, name: str) -> Source:
        if name not in _NAMES:
            raise KeyError(name)
        source: Source = import_module(f"sediment_assets.capture.sources.{name}").SOURCE
        return source

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


SOURCES: Final[Mapping[str, Source]] = _Sources()
