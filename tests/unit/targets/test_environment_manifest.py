"""``environment.yaml`` (targets.md §10)."""

import pytest
import yaml

from sediment_assets.derive.split import Split
from sediment_assets.targets.environment_manifest import EnvironmentManifest, RuntimeSettings, frameworks
from sediment_assets.targets.sediment import project_task
from sediment_assets.targets.verification_commands import VerificationCommands
from tests.builders import REPO, make_outcome
from tests.rollout_builders import make_commit, make_evidence, make_rollout
from tests.unit.targets.worked_tally import C1, COMMITS, ORG, LegacyKey, MemoryMirror, MemoryMirrors

CONFIGURED = RuntimeSettings(" ghcr.io/acme/env\n", None, "srv", "conf.yaml")


def task_row(*outcomes, repo=REPO, split=Split.TRAIN):
    outcomes = [
        make_outcome(outcome_id=f"o{index}", run_id=f"r{index}", commit_sha=C1, repo=repo, **values)
        for index, values in enumerate(outcomes or ({},))
    ]
    rollout = make_rollout(commits=(make_commit(C1, repo),), terminal_outcomes=tuple(outcomes), split=split)
    store = MemoryMirrors({LegacyKey(ORG, repo): MemoryMirror(COMMITS)})
    return project_task(make_evidence(rollout), store, VerificationCommands()).row


def environment(rows, names_splits=False, settings=RuntimeSettings()):  # noqa: B008
    manifest = EnvironmentManifest(names_splits, settings)
    for row in rows:
        manifest.add(row)
    return yaml.safe_load(manifest.render())["environments"][0]


def test_the_contract_example_byte_for_byte():
    manifest = EnvironmentManifest(True, CONFIGURED)
    manifest.add(task_row(split=Split.EVAL))
    manifest.add(task_row(split=Split.TRAIN))
    assert frameworks(CONFIGURED).warnings == ()
    assert (
        manifest.render()
        == """\
spec_version: hf-rl-env-0.1
experimental: true
environments:
- id: sediment-tasks
  reward:
    kind: ci
    pass_value: 1.0
    fail_value: 0.0
  splits:
  - train
  - eval
  runtime_reference:
    kind: ci_workflow
    repo: acme/widget
    workflow_name: CI
    workflow_path: .github/workflows/ci.yml
  frameworks:
    openenv:
      image: ghcr.io/acme/env
    nemo_gym:
      resources_server: srv
      config: conf.yaml
"""
    )


def test_without_task_rows_there_is_no_manifest():
    assert EnvironmentManifest(names_splits=True).render() is None


@pytest.mark.parametrize(
    ("names_splits", "splits", "listed"),
    [
        (False, [Split.TRAIN], None),
        (True, [Split.EVAL], ["eval"]),
        (True, [Split.EVAL, Split.TRAIN, Split.EVAL], ["train", "eval"]),
    ],
)
def test_splits_are_listed_only_when_files_are_named_by_them(names_splits, splits, listed):
    rows = [task_row(split=split) for split in splits]
    assert environment(rows, names_splits).get("splits") == listed


REFERENCE = {
    "kind": "ci_workflow",
    "repo": REPO,
    "workflow_name": "CI",
    "workflow_path": ".github/workflows/ci.yml",
}
OTHER = {"workflow_path": ".github/workflows/other.yml"}


@pytest.mark.parametrize(
    ("rows", "reference"),
    [
        ([task_row(), task_row()], REFERENCE),
        ([task_row({}, {})], REFERENCE),
        ([task_row({"workflow_name": ""})], REFERENCE | {"workflow_name": ""}),
        ([task_row({"workflow_path": None})], None),
        ([task_row({"workflow_path": ""})], None),
        ([task_row({}, {"workflow_path": None})], None),
        ([task_row({}, OTHER)], None),
        ([task_row(), task_row({"workflow_name": "Nightly"})], None),
        ([task_row(), task_row(repo="acme/other")], None),
        ([task_row(), task_row().model_copy(update={"verifier_results": ()})], None),
        ([task_row({"workflow_path": None}), task_row()], None),
    ],
)
def test_the_workflow_is_named_only_when_every_result_of_every_row_names_it(rows, reference):
    assert environment(rows).get("runtime_reference") == reference


def test_an_empty_workflow_name_is_kept():
    manifest = EnvironmentManifest(names_splits=False)
    manifest.add(task_row({"workflow_name": ""}))
    assert "    workflow_name: ''\n" in manifest.render()


@pytest.mark.parametrize(
    ("settings", "plain", "warnings"),
    [
        (RuntimeSettings(), None, 0),
        (RuntimeSettings(" ", "\t", "", "\u00a0"), None, 0),
        (RuntimeSettings("img"), {"openenv": {"image": "img"}}, 0),
        (RuntimeSettings(None, " pkg "), {"openenv": {"package": "pkg"}}, 0),
        (RuntimeSettings("img", "pkg"), {"openenv": {"image": "img"}}, 1),
        (RuntimeSettings(None, None, "srv"), {"nemo_gym": {"resources_server": "srv"}}, 0),
        (RuntimeSettings(None, None, "srv", "c"), {"nemo_gym": {"resources_server": "srv", "config": "c"}}, 0),
        (RuntimeSettings(None, None, None, "c"), None, 1),
    ],
)
def test_frameworks_come_from_settings_alone(settings, plain, warnings):
    configured = frameworks(settings)
    assert configured.plain == plain
    assert len(configured.warnings) == warnings
    assert environment([task_row()], settings=settings).get("frameworks") == plain


def test_text_that_yaml_could_read_as_something_else_stays_text():
    names = ["true", "1.0", "- x", "a: b", "!!python/object:os.system", "é\u2028\n---", "#", "'"]
    for name in names:
        manifest = EnvironmentManifest(names_splits=False)
        manifest.add(task_row({"workflow_name": name}))
        text = manifest.render()
        assert text.isascii()
        assert yaml.safe_load(text)["environments"][0]["runtime_reference"]["workflow_name"] == name
