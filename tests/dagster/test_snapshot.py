"""Everything that the graph defines, against a committed file, so that an accidental change shows in review.

``make snapshot`` writes the file anew (``UPDATE_SNAPSHOT=1``).
"""

import json
import os
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg

from sediment_assets.adapters.settings import Settings
from sediment_assets.defs.build import build_defs, default_resources

SNAPSHOT = Path(__file__).with_name("definitions.json")


def snapshot(defs: dg.Definitions) -> dict[str, Any]:
    """Say what is defined, as plain JSON."""
    graph = defs.resolve_asset_graph()
    assert defs.jobs is not None
    assert defs.schedules is not None
    return {
        "assets": {spec.key.to_user_string(): _asset(spec) for spec in sorted(defs.resolve_all_asset_specs())},
        "checks": {
            f"{key.asset_key.to_user_string()}: {key.name}": _check(graph.get_check_spec(key))
            for key in sorted(graph.asset_check_keys)
        },
        "jobs": {job.name: _job(defs, job) for job in defs.jobs},
        "schedules": {schedule.name: _schedule(schedule) for schedule in defs.schedules},
        "sensors": {sensor.name: _sensor(sensor) for sensor in defs.sensors or ()},
        "resources": {name: type(resource).__name__ for name, resource in sorted((defs.resources or {}).items())},
        "executor": defs.executor.name if isinstance(defs.executor, dg.ExecutorDefinition) else None,
    }


def _asset(spec: dg.AssetSpec) -> dict[str, Any]:
    schema = spec.metadata.get("dagster/column_schema")
    return {
        "group": spec.group_name,
        "description": (spec.description or "").partition(". ")[0],
        "kinds": sorted(spec.kinds),
        "owners": list(spec.owners),
        "deps": sorted(dep.asset_key.to_user_string() for dep in spec.deps),
        "partitions": str(spec.partitions_def) if spec.partitions_def else None,
        "tags": {name: value for name, value in sorted(spec.tags.items()) if not name.startswith("dagster/")},
        "freshness": spec.freshness_policy.deadline_cron if spec.freshness_policy else None,
        "code_version": "the program's" if spec.code_version else None,
        "automation": str(spec.automation_condition) if spec.automation_condition else None,
        "io_manager": spec.metadata.get("dagster/io_manager_key"),
        "metadata": sorted(spec.metadata),
        "columns": [f"{column.name}: {column.type}{_marks(column)}" for column in schema.columns] if schema else None,
    }


def _marks(column: dg.TableColumn) -> str:
    marks = ["or null"] * column.constraints.nullable + list(column.constraints.other)
    return "".join(f", {mark}" for mark in marks)


def _check(spec: dg.AssetCheckSpec) -> dict[str, Any]:
    return {
        "description": (spec.description or "").partition(". ")[0],
        "blocking": spec.blocking,
        "partitions": str(spec.partitions_def) if spec.partitions_def else None,
    }


def _job(defs: dg.Definitions, unresolved: Any) -> dict[str, Any]:
    job = defs.resolve_job_def(unresolved.name)
    graph = defs.resolve_asset_graph()
    return {
        "description": job.description,
        "assets": sorted(key.to_user_string() for key in unresolved.selection.resolve(graph)),
        "checks": len(unresolved.selection.resolve_checks(graph)),
        "partitions": str(job.partitions_def) if job.partitions_def else None,
        "tags": dict(job.tags),
    }


def _schedule(schedule: Any) -> dict[str, Any]:
    return {
        "description": schedule.description,
        "cron": schedule.cron_schedule,
        "timezone": schedule.execution_timezone,
        "job": schedule.job_name,
        "status": schedule.default_status.value,
    }


def _sensor(sensor: Any) -> dict[str, Any]:
    return {
        "description": sensor.description,
        "kind": sensor.sensor_type.value,
        "jobs": sorted(target.job_name for target in sensor.targets),
        "seconds": sensor.minimum_interval_seconds,
        "status": sensor.default_status.value,
    }


def test_definitions_are_those_of_the_committed_snapshot():
    defs = build_defs(date(2026, 11, 2), default_resources(Settings({}, {})))
    text = json.dumps(snapshot(defs), indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("UPDATE_SNAPSHOT"):
        SNAPSHOT.write_text(text, "utf-8")
    assert text == SNAPSHOT.read_text("utf-8"), "the definitions changed; if that is meant: make snapshot"
