"""Every source of ``sediment capture``, by its word on the command line."""

from collections.abc import Mapping

from sediment_assets.capture.contract import Source
from sediment_assets.capture.sources import ci, exchanges, github, litellm, otlp, transcripts

SOURCES: Mapping[str, Source] = {
    source.name: source
    for source in (
        litellm.SOURCE,
        exchanges.SOURCE,
        github.SOURCE,
        ci.SOURCE,
        otlp.SOURCE,
        transcripts.SOURCE,
    )
}
"""Filled by the modules of ``sources/``, one entry each, in the order in which help lists them."""
