"""Real forge and CI payloads: each file imports, or is refused for a known reason; no record is lost."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sediment_assets.adapters.capture_files import find_capture_files
from sediment_assets.capture.contract import CaptureOptions, Document, Translated
from sediment_assets.capture.registry import SOURCES
from tests.builders import ORG

REAL = Path(os.environ.get("SHARED_REAL", Path(__file__).parents[2].parent / "shared" / "real")) / "forge"
PAGES = Path(__file__).parents[2] / "docs" / "capture"
COUNTS = [
    ("github", "github/actions-runs-rest.jsonl", "ci_outcomes=10 not_terminal=4"),
    ("github", "github/check-run-completed.json", "no_evidence=1"),
    ("github", "github/check-suite-completed.json", "no_evidence=1"),
    ("github", "github/check-suite-rerequest.json", "no_evidence=1"),
    ("github", "github/create-branch-event.json", "no_evidence=1"),
    ("github", "github/pull-request-closed-unmerged.json", "no_evidence=1"),
    ("github", "github/pull-request-merged.json", "no_evidence=1"),
    ("github", "github/push-branch-created.json", "pushes=1"),
    ("github", "github/push-branch-deleted.json", "pushes=1"),
    ("github", "github/push-forced.json", "pushes=1"),
    ("github", "github/push-no-username-committer.json", "pushes=1"),
    ("github", "github/push-tag-deleted.json", "pushes=1"),
    ("github", "github/repository-renamed.json", "no_evidence=1"),
    ("github", "github/repository-transferred.json", "repository_renames=1"),
    ("github", "github/status-master.json", "no_evidence=1"),
    ("github", "github/workflow-job-failure.json", "no_evidence=1"),
    ("github", "github/workflow-run-completed-failure.json", "ci_outcomes=1"),
    ("github", "github/workflow-run-completed-success.json", "ci_outcomes=1"),
    ("github", "github/workflow-run-in-progress-but-completed.json", "not_terminal=1"),
    ("github", "github/workflow-run-requested-action-required.json", "not_terminal=1"),
    ("ci", "azure/build-complete.json", "no_repository=1"),
    ("ci", "bitbucket/pipeline-status.json", "not_terminal=1"),
    ("ci", "bitbucket/pipelines.jsonl", "no_repository=14 not_terminal=8"),
    ("ci", "bitbucket/push.json", "unsupported_forge=1"),
    ("ci", "buildkite/builds.json", "no_commit=1"),
    ("ci", "cdevents/branch_created.json", "no_evidence=1"),
    ("ci", "cdevents/change_merged.json", "no_evidence=1"),
    ("ci", "cdevents/pipelinerun_finished.json", "no_commit=1"),
    ("ci", "cdevents/taskrun_finished.json", "no_evidence=1"),
    ("ci", "cdevents/testsuiterun_finished.json", "no_evidence=1"),
    ("ci", "circleci/pipelines.jsonl circleci/workflows.jsonl", "ci_outcomes=9 no_commit=1 no_evidence=10"),
    ("ci", "circleci/workflow-completed.json", "ci_outcomes=1"),
    ("ci", "forgejo/action-run-pr.json", "ci_outcomes=1"),
    ("ci", "forgejo/push-branch.json", "unsupported_forge=1"),
    ("ci", "gitlab/job-success.json", "no_evidence=1"),
    ("ci", "gitlab/pipeline-failed-merge-request.json", "no_repository=1"),
    ("ci", "gitlab/pipeline-success.json", "ci_outcomes=1"),
    ("ci", "gitlab/project-renamed.json", "unsupported_forge=1"),
    ("ci", "gitlab/project-transferred.json", "unsupported_forge=1"),
    ("ci", "jenkins/builds.jsonl", "ci_outcomes=3 no_commit=8 not_terminal=3"),
]
"""Source, files read together, and how many Facts per table and remainders per reason they give."""


pytestmark = pytest.mark.skipif(
    not REAL.is_dir(), reason=f"the real files are not at {REAL}; SHARED_REAL may name them"
)


def _counts(source: str, files: str) -> Counter[str]:
    paths = find_capture_files([str(REAL / file) for file in files.split()])
    told = SOURCES[source].translate(paths.documents(), CaptureOptions(ORG))
    return Counter(one.fact.TABLE.value if isinstance(one, Translated) else one.reason.value for one in told)


@pytest.mark.parametrize(("source", "files", "counts"), COUNTS)
def test_real_file_gives_what_the_table_says(source: str, files: str, counts: str) -> None:
    expected = {name: int(count) for name, count in (entry.split("=") for entry in counts.split())}
    assert _counts(source, files) == expected


@pytest.mark.parametrize(("source", "files", "counts"), COUNTS)
def test_page_of_the_source_shows_the_table(source: str, files: str, counts: str) -> None:
    page = (PAGES / f"{source}.md").read_text(encoding="utf-8")
    names = ", ".join(f"`{file}`" for file in files.split())
    told = ", ".join(entry.replace("=", " ") for entry in counts.split())
    assert any(line.startswith(f"| {names} |") and line.endswith(f"| {told} |") for line in page.splitlines())


def test_table_has_every_file() -> None:
    listed = {file for _, files, _ in COUNTS for file in files.split()}
    assert listed == {str(path.relative_to(REAL)) for path in REAL.rglob("*") if path.is_file()}


@pytest.mark.parametrize("source", ["github", "ci", "otlp"])
def test_no_source_crashes_on_files_of_others(source: str) -> None:
    paths = find_capture_files([str(REAL.parent)])
    records = 0

    def counted() -> Iterator[Document]:
        nonlocal records
        for document in paths.documents():
            for record in document.records:
                records += 1
                yield type(document)(document.name, [record])

    told = list(SOURCES[source].translate(counted(), CaptureOptions(ORG)))
    assert len(told) >= records > 0
