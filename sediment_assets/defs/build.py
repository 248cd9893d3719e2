"""Assembles assets, checks, jobs, schedules and resources. No rules, no reading of evidence."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import dagster as dg

from resources.bundles import BundleReader
from resources.clone_urls import CloneUrls
from resources.evidence_store import EvidenceStore, ExportOptions
from resources.generation_io_managers import GenerationIOManager
from resources.generations import GenerationStore
from sediment_assets.adapters.automation import Automation
from sediment_assets.adapters.settings import (
    DATABASE_URL,
    EXPORT_ROOT,
    MIRROR_PATH,
    ORG_ID,
    VERIFIER_COMMANDS_FILE,
    Settings,
)
from sediment_assets.defs.canonical import ci_resolutions_asset, rollouts_asset
from sediment_assets.defs.facts import observed_assets, observed_mirrors
from sediment_assets.defs.failures import run_failures_sensor
from sediment_assets.defs.jobs import daily_schedule, day_job, observe_job
from sediment_assets.defs.keys import FACT_KEYS, GENERATION_IO, MIRRORED_COMMITS, MIRRORS
from sediment_assets.defs.late_evidence import late_evidence_sensor
from sediment_assets.defs.mirrors import new_pushes_sensor, nightly_schedule, repositories_asset, sync_job
from sediment_assets.defs.partitions import daily_partitions
from sediment_assets.defs.published_checks import target_checks
from sediment_assets.defs.targets import target_asset
from sediment_assets.targets.registry import Target

DEFAULT_PARTITION_START = date(2026, 1, 1)
"""First day of the partitions when SEDIMENT_PARTITION_START is not set."""


def default_resources(settings: Settings) -> Mapping[str, Any]:
    """Return the resources of a deployment. What every run needs is read when a run starts, and so may hold secrets."""
    runtime = settings.runtime()
    clone_urls = settings.clone_url_policy()
    return {
        **fixed_resources(),
        "clone_urls": CloneUrls(development=clone_urls.development, allowed_hosts=sorted(clone_urls.allowed_hosts)),
        "evidence": EvidenceStore(
            org_id=dg.EnvVar(ORG_ID), database_url=dg.EnvVar(DATABASE_URL), mirror_path=dg.EnvVar(MIRROR_PATH)
        ),
        "options": ExportOptions(
            verifier_commands_file=settings.get(VERIFIER_COMMANDS_FILE) or "",
            openenv_image=runtime.openenv_image or "",
            openenv_package=runtime.openenv_package or "",
            nemo_gym_resources_server=runtime.nemo_gym_resources_server or "",
            nemo_gym_config=runtime.nemo_gym_config or "",
        ),
        "generations": GenerationStore(root=dg.EnvVar(EXPORT_ROOT)),
    }


def fixed_resources() -> Mapping[str, Any]:
    """Return the resources without settings."""
    return {"bundles": BundleReader(), GENERATION_IO: GenerationIOManager(), "clone_urls": CloneUrls()}


def build_defs(
    partition_start: date, resources: Mapping[str, Any], automation: Automation | None = None
) -> dg.Definitions:
    """Assemble the graph. Reads no environment: tests pass their own start and resources."""
    automation = automation or Automation()
    partitions = daily_partitions(partition_start)
    job, observe = day_job(), observe_job([*FACT_KEYS.values(), MIRRORS, MIRRORED_COMMITS])
    sync = sync_job()
    return dg.Definitions(
        # With the source of each asset, which the UI opens in an editor.
        assets=dg.with_source_code_references(
            [
                observed_assets(partitions),
                observed_mirrors(),
                repositories_asset(),
                rollouts_asset(partitions),
                ci_resolutions_asset(partitions),
                *(target_asset(target, partitions) for target in Target),
            ]
        ),
        asset_checks=[check for target in Target for check in target_checks(target, partitions)],
        jobs=[job, observe, sync],
        schedules=[
            daily_schedule(job, running=automation.running),
            nightly_schedule(sync, running=automation.fetching),
        ],
        sensors=[
            late_evidence_sensor([job, observe], running=automation.running, seconds=automation.seconds),
            new_pushes_sensor(sync, running=automation.fetching, seconds=automation.seconds),
            run_failures_sensor(running=automation.running),
        ],
        resources=dict(resources),
        executor=dg.in_process_executor,
    )


def load_defs() -> dg.Definitions:
    """Assemble the graph with the settings of the environment and of ``.env``."""
    settings = Settings.load()
    start = settings.partition_start(DEFAULT_PARTITION_START)
    return build_defs(start, default_resources(settings), Automation.of(settings))
