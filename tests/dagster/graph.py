"""The asset graph over some evidence, run in this process: what the tests of the graph have in common."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

import dagster as dg
from sqlalchemy import Engine

from resources.evidence_store import EvidenceStore, ExportOptions
from resources.generations import GenerationStore, newest_generation
from sediment_assets.adapters.fact_store.engine import writing_engine
from sediment_assets.adapters.fact_store.importer import import_paths
from sediment_assets.defs.build import build_defs, fixed_resources
from sediment_assets.defs.jobs import DAY_JOB
from sediment_assets.defs.keys import output_key, outputs_of
from sediment_assets.publish.record import GenerationRecord, verify_generation
from sediment_assets.targets.registry import Target

FIRST_DAY = date(2026, 11, 2)
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
OUTPUTS = [output_key(target, output) for target in Target for output in outputs_of(target)]


@dataclass(frozen=True)
class Evidence:
    """One organization's evidence and its settings."""

    database: Path
    mirrors: Path
    commands: Path | None = None
    org_id: str = "acme"

    @property
    def settings(self) -> dict[str, str]:
        """The settings as environment variables."""
        found = {
            "SEDIMENT_ORG_ID": self.org_id,
            "SEDIMENT_DATABASE_URL": f"sqlite:///{self.database}",
            "SEDIMENT_MIRROR_PATH": str(self.mirrors),
        }
        return found if self.commands is None else {**found, "SEDIMENT_VERIFIER_COMMANDS_FILE": str(self.commands)}

    def add(self, *paths: Path) -> None:
        """Import canonical Facts."""
        engine: Engine = writing_engine(self.settings["SEDIMENT_DATABASE_URL"])
        try:
            import_paths(engine, paths)
        finally:
            engine.dispose()


@dataclass(frozen=True)
class Graph:
    """The graph over some evidence, with an instance and a root for its generations."""

    evidence: Evidence
    root: Path
    instance: dg.DagsterInstance
    start: date = FIRST_DAY
    options: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def defs(self) -> dg.Definitions:
        """The definitions; ``cached_property`` needs no slot and fills the frozen object's dict."""
        commands = {"verifier_commands_file": str(self.evidence.commands)} if self.evidence.commands else {}
        return build_defs(
            self.start,
            {
                **fixed_resources(),
                "evidence": EvidenceStore(
                    org_id=self.evidence.org_id,
                    database_url=self.evidence.settings["SEDIMENT_DATABASE_URL"],
                    mirror_path=str(self.evidence.mirrors),
                ),
                "options": ExportOptions(**commands, **self.options),
                "generations": GenerationStore(root=str(self.root)),
            },
        )

    def run(self, day: str, *, raises: bool = True) -> dg.ExecuteInProcessResult:
        """Materialize one day, checks included."""
        job = self.defs.resolve_job_def(DAY_JOB)
        return job.execute_in_process(
            partition_key=day, instance=self.instance, raise_on_error=raises, run_config=QUIET
        )

    def materialize(
        self, day: str, selection: Sequence[dg.AssetKey], *, raises: bool = True
    ) -> dg.ExecuteInProcessResult:
        """Materialize some assets of a day, their checks included."""
        return self._materialize(dg.AssetSelection.assets(*selection), raises=raises, partition_key=day)

    def _materialize(self, selection: dg.AssetSelection, *, raises: bool, **day: Any) -> dg.ExecuteInProcessResult:
        assert self.defs.assets is not None
        assert self.defs.asset_checks is not None
        return dg.materialize(
            [*self.defs.assets, *self.defs.asset_checks],  # type: ignore[list-item]  # wider than what materialize takes
            instance=self.instance,
            resources=dict(self.defs.resources or {}),
            selection=selection,
            raise_on_error=raises,
            run_config=QUIET,
            **day,
        )

    def check(self, day: str | None, key: dg.AssetKey, name: str) -> dg.AssetCheckEvaluation:
        """Execute one check alone. As in the UI, the day is a tag, if any: checks alone share no partitions."""
        result = self._materialize(
            dg.AssetSelection.checks(dg.AssetCheckKey(key, name)),
            raises=False,
            tags={} if day is None else {"dagster/partition": day},
        )
        (evaluation,) = result.get_asset_check_evaluations()
        return evaluation

    def generation(self, key: dg.AssetKey, day: str) -> Path:
        """Where a reader finds an asset's partition."""
        return newest_generation(self.instance, key, day)

    def record(self, target: Target, day: str) -> GenerationRecord:
        """The verified completion record of a target's day."""
        return verify_generation(self.generation(output_key(target, outputs_of(target)[0]), day))


def quarantine_line(table: str, fact_id: str, action: str = "quarantine", number: int = 1) -> dict[str, str]:
    """A record of the quarantine log."""
    return {
        "quarantine_id": f"00000000-0000-4000-8000-{number:012}",
        "org_id": "acme",
        "fact_table": table,
        "fact_id": fact_id,
        "action": action,
        "reason": "a test",
        "recorded_at": "2026-11-09T00:00:00Z",
    }


def versions(result: dg.ExecuteInProcessResult) -> dict[dg.AssetKey, str]:
    """Data version of everything that a run materialized."""
    return {
        event.materialization.asset_key: (event.materialization.tags or {})["dagster/data_version"]
        for event in result.get_asset_materialization_events()
    }


def metadata(result: dg.ExecuteInProcessResult, key: dg.AssetKey) -> dict[str, Any]:
    """Metadata values of the one materialization of an asset in a run; tables as lists of rows."""
    (found,) = [
        event.materialization.metadata
        for event in result.get_asset_materialization_events()
        if event.materialization.asset_key == key
    ]
    return {name: _plain(value) for name, value in found.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dg.TableMetadataValue):
        return [dict(record.data) for record in value.records]
    return value.value


def evaluations(result: dg.ExecuteInProcessResult) -> dict[tuple[dg.AssetKey, str], dg.AssetCheckEvaluation]:
    """Check evaluations of a run by asset and name."""
    return {(found.asset_key, found.check_name): found for found in result.get_asset_check_evaluations()}


def failures(result: dg.ExecuteInProcessResult) -> dict[str, str]:
    """Our own error of every failed step; Dagster wraps it."""
    found = {}
    for event in result.all_events:
        if event.is_step_failure:
            error = event.step_failure_data.error
            while error is not None and error.cause is not None and (error.cls_name or "").startswith("Dagster"):
                error = error.cause
            assert error is not None
            assert event.step_key is not None
            found[event.step_key] = error.message.strip()
    return found


def artifacts(directory: Path) -> dict[str, bytes]:
    """What an export published: file name to content, hidden files left out."""
    return {path.name: path.read_bytes() for path in directory.iterdir() if not path.name.startswith(".")}


def file_set(directories: Iterable[Path]) -> set[str]:
    """Names of the artifacts in several directories."""
    return {name for directory in directories for name in artifacts(directory)}
