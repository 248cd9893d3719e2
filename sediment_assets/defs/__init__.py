"""Dagster definitions: assets, checks, partitions, jobs and schedules over the core."""

import warnings
from pathlib import Path

import dagster as dg

import resources
import sediment_assets

# `resources` is a common name, and Dagster puts the working directory first on the import path.
if Path(resources.__file__).resolve().parents[1] != Path(sediment_assets.__file__).resolve().parents[1]:
    raise ImportError(
        f"another package named 'resources' is imported, from {resources.__file__}; start Dagster in another directory"
    )

# Partitioned asset checks and user data versions are what the graph is built on; their status is known.
warnings.filterwarnings("ignore", category=dg.BetaWarning)
warnings.filterwarnings("ignore", category=dg.PreviewWarning)
