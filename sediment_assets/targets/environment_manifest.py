"""``environment.yaml``: what the task rows of target ``sediment`` have in common, as a manifest (targets.md §10).

Rows are told to the manifest one by one and need not be kept. Reading settings and writing the file happen elsewhere.
"""

from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from sediment_assets.derive.split import Split
from sediment_assets.facts.text import strip
from sediment_assets.targets.rows.sediment import SedimentTaskRow

SPEC_VERSION: Final = "hf-rl-env-0.1"
"""The manifest's own format version."""


@dataclass(frozen=True, slots=True)
class RuntimeSettings:
    """Where the operator says an environment runs. Values as configured; blank means unset."""

    openenv_image: str | None = None
    openenv_package: str | None = None
    nemo_gym_resources_server: str | None = None
    nemo_gym_config: str | None = None


@dataclass(frozen=True, slots=True)
class Frameworks:
    """The manifest's ``frameworks`` part, None when unconfigured, and one line per setting that was not used."""

    plain: dict[str, Any] | None
    warnings: tuple[str, ...]


def frameworks(settings: RuntimeSettings) -> Frameworks:
    """Turn runtime settings into the ``frameworks`` part (targets.md §10)."""
    image, package, server, config = (
        strip(value or "")
        for value in (
            settings.openenv_image,
            settings.openenv_package,
            settings.nemo_gym_resources_server,
            settings.nemo_gym_config,
        )
    )
    warnings: list[str] = []
    plain: dict[str, Any] = {}
    if image and package:
        warnings.append("environment.yaml: both an OpenEnv image and a package are set; the image is used")
    if image:
        plain["openenv"] = {"image": image}
    elif package:
        plain["openenv"] = {"package": package}
    if config and not server:
        warnings.append("environment.yaml: a NeMo Gym config is set without a resources server; it is left out")
    if server:
        plain["nemo_gym"] = {"resources_server": server} | ({"config": config} if config else {})
    return Frameworks(plain or None, tuple(warnings))


@dataclass(frozen=True, slots=True)
class Workflow:
    """The CI workflow that judged a task, as ``runtime_reference`` names it."""

    repo: str
    workflow_name: str
    workflow_path: str


@dataclass(slots=True)
class EnvironmentManifest:
    """Collects the manifest of one generation from its task rows."""

    names_splits: bool
    """Whether files are named by split (targets.md §11); only then does the manifest list splits."""
    settings: RuntimeSettings = field(default_factory=RuntimeSettings)
    _rows: int = field(default=0, init=False)
    _splits: set[Split] = field(default_factory=set, init=False)
    _workflow: Workflow | None = field(default=None, init=False)
    _one_workflow: bool = field(default=True, init=False)

    def add(self, row: SedimentTaskRow) -> None:
        """Take notice of one task row."""
        self._rows += 1
        self._splits.add(row.split)
        if not row.verifier_results:
            self._one_workflow = False
        for outcome in row.verifier_results:
            if not outcome.workflow_path:
                self._one_workflow = False
                continue
            workflow = Workflow(row.repo, outcome.workflow_name, outcome.workflow_path)
            if self._workflow is None:
                self._workflow = workflow
            elif workflow != self._workflow:
                self._one_workflow = False

    def render(self) -> str | None:
        """Return the YAML text: block style, ASCII, LF; None without any task row."""
        if not self._rows:
            return None
        document = {
            "spec_version": SPEC_VERSION,
            "experimental": True,
            "environments": [self._environment()],
        }
        return yaml.safe_dump(document, sort_keys=False, default_flow_style=False, allow_unicode=False)

    def _environment(self) -> dict[str, Any]:
        environment: dict[str, Any] = {
            "id": "sediment-tasks",
            "reward": {"kind": "ci", "pass_value": 1.0, "fail_value": 0.0},
        }
        if self.names_splits:
            environment["splits"] = [split.value for split in Split if split in self._splits]
        if self._one_workflow and self._workflow is not None:
            environment["runtime_reference"] = {
                "kind": "ci_workflow",
                "repo": self._workflow.repo,
                "workflow_name": self._workflow.workflow_name,
                "workflow_path": self._workflow.workflow_path,
            }
        configured = frameworks(self.settings).plain
        if configured is not None:
            environment["frameworks"] = configured
        return environment
