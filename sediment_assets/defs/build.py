"""Assembles assets, checks, jobs, schedules and resources. No rules, no reading of evidence."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import dagster as dg

from resources.evidence_store import EvidenceStore, ExportOptions
from resources.generation_io_managers import DirectoryIOManager, RowsIOManager
from resources.generations import GenerationStore
from sediment_assets.adapters.settings import Settings
from sediment_assets.defs.canonical import DIRECTORIES, ci_resolutions_asset, rollouts_asset
from sediment_assets.defs.checks import target_checks
from sediment_assets.defs.facts import fact_assets, mirror_asset
from sediment_assets.defs.jobs import daily_schedule, day_job, observe_job
from sediment_assets.defs.keys import FACT_KEYS, MIRRORS
from sediment_assets.defs.partitions import daily_partitions
from sediment_assets.defs.targets import ROWS, target_asset
from sediment_assets.targets.registry import Target

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


def load_defs() -> dg.Definitions:
    """Assemble the graph with the settings of the environment and of ``.env``."""
    return build_defs(Settings.load().partition_start(DEFAULT_PARTITION_START), default_resources())
