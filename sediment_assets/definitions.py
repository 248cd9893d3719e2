"""The Dagster code location: assembles assets, checks, jobs, schedules and resources. No rules, no reading."""

import warnings
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg

import resources
import sediment_assets

# `resources` is a common name, and Dagster puts the working directory first on the import path.
if Path(resources.__file__).resolve().parents[1] != Path(sediment_assets.__file__).resolve().parents[1]:
    raise ImportError(
        f"another package named 'resources' is imported, from {resources.__file__}; start Dagster in another directory"
    )

warnings.filterwarnings("ignore", category=dg.BetaWarning)
warnings.filterwarnings("ignore", category=dg.PreviewWarning)

from resources.evidence_store import EvidenceStore, ExportOptions  # noqa: E402  # after the guard
from resources.generation_io_managers import DirectoryIOManager, RowsIOManager  # noqa: E402
from resources.generations import GenerationStore  # noqa: E402
from sediment_assets.adapters.settings import Settings  # noqa: E402
from sediment_assets.defs.canonical import DIRECTORIES, ci_resolutions_asset, rollouts_asset  # noqa: E402
from sediment_assets.defs.checks import target_checks  # noqa: E402
from sediment_assets.defs.facts import fact_assets, mirror_asset  # noqa: E402
from sediment_assets.defs.jobs import daily_schedule, day_job, observe_job  # noqa: E402
from sediment_assets.defs.keys import FACT_KEYS, MIRRORS  # noqa: E402
from sediment_assets.defs.partitions import daily_partitions  # noqa: E402
from sediment_assets.defs.targets import ROWS, target_asset  # noqa: E402
from sediment_assets.targets.registry import Target  # noqa: E402

DEFAULT_PARTITION_START = date(2026, 1, 1)
"""First day of the partitions when SEDIMENT_PARTITION_START is not set."""


def default_resources() -> Mapping[str, Any]:
    """Return resources that read their settings from the environment when a run is launched."""
    return {
        "evidence": EvidenceStore(
            org_id=dg.EnvVar("SEDIMENT_ORG_ID"),
            database_url=dg.EnvVar("SEDIMENT_DATABASE_URL"),
            mirror_path=dg.EnvVar("SEDIMENT_MIRROR_PATH"),
        ),
        "options": ExportOptions(
            verifier_commands_file=_optional("SEDIMENT_VERIFIER_COMMANDS_FILE"),
            openenv_image=_optional("SEDIMENT_OPENENV_IMAGE"),
            openenv_package=_optional("SEDIMENT_OPENENV_PACKAGE"),
            nemo_gym_resources_server=_optional("SEDIMENT_NEMO_GYM_RESOURCES_SERVER"),
            nemo_gym_config=_optional("SEDIMENT_NEMO_GYM_CONFIG"),
        ),
        "generations": GenerationStore(root=dg.EnvVar("SEDIMENT_EXPORT_ROOT")),
        DIRECTORIES: DirectoryIOManager(),
        ROWS: RowsIOManager(),
    }


def _optional(name: str) -> str:
    return Settings.load().get(name) or ""


def build_defs(partition_start: date, resources: Mapping[str, Any]) -> dg.Definitions:
    """Assemble the graph. Reads no environment: tests pass their own start and resources."""
    partitions = daily_partitions(partition_start)
    job = day_job(partitions)
    return dg.Definitions(
        assets=[
            fact_assets(),
            mirror_asset(),
            rollouts_asset(partitions),
            ci_resolutions_asset(partitions),
            *(target_asset(target, partitions) for target in Target),
        ],
        asset_checks=[check for target in Target for check in target_checks(target, partitions)],
        jobs=[job, observe_job([*FACT_KEYS.values(), MIRRORS])],
        schedules=[daily_schedule(job)],
        resources=dict(resources),
        executor=dg.in_process_executor,
    )


defs = build_defs(Settings.load().partition_start(DEFAULT_PARTITION_START), default_resources())
