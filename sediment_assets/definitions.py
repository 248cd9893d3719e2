"""The Dagster code location."""

from sediment_assets.defs.build import load_defs

defs = load_defs()
