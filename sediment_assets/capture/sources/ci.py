"""CI systems: the vendor-neutral shape and payloads of eight systems → CIOutcome (facts.md §4.1)."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Final

from sediment_assets.capture.ci_attempts import IDENTITY_SETTING, REPO_SETTING, Attempts
from sediment_assets.capture.ci_systems import (
    azure,
    bitbucket,
    buildkite,
    cdevents,
    circleci,
    forgejo,
    gitlab,
    jenkins,
    neutral,
)
from sediment_assets.capture.contract import CaptureOptions, Document, Remainder, Source, Translated, Untranslated
from sediment_assets.capture.deliveries import Sender, open_delivery
from sediment_assets.capture.github.events import event_of_body
from sediment_assets.capture.record_fields import MAX_LISTS, RefusedError, unknown_shape
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.json_values import JsonObject, JsonValue

_Outcome = Translated | Untranslated
_SYSTEMS: Final[tuple[ModuleType, ...]] = (
    neutral,
    cdevents,
    azure,
    gitlab,
    circleci,
    buildkite,
    jenkins,
    bitbucket,
    forgejo,
)
"""In order: the first whose ``reads`` says yes reads a payload."""
_PAGES: Final = ("values", "items", "value", "allBuilds", "builds", "workflow_runs")
"""Under which key a REST answer lists its pipelines, workflows, builds or runs."""
_JENKINS_JOBS: Final = "jobs"
"""Where folders of Jenkins list the jobs that list their builds."""
_GITHUB: Final = "a GitHub payload, which the source github reads"


class CISource:
    """One JSON object per attempt of a CI run, in the neutral shape or as a CI system sends or lists it."""

    name = "ci"
    settings = (REPO_SETTING, f"{REPO_SETTING}:PATH", f"{IDENTITY_SETTING}:OWNER/NAME")
    note = (
        "A repository that Pushes know by its id on GitHub takes no outcome without that id: "
        "records say it in the neutral shape, or --set repository_id:OWNER/NAME=ID does."
    )
    help = "CI runs: a vendor-neutral JSON shape, GitLab, Bitbucket, Forgejo/Gitea, CircleCI, Buildkite, Jenkins, …"

    def translate(self, documents: Iterable[Document], options: CaptureOptions) -> Iterator[_Outcome]:
        """Translate in order; CircleCI workflows whose pipeline comes later, or never, are told at the end."""
        run = _Input(options)
        for document in documents:
            for record in document.records:
                yield from run.record(record.place, record.value)
        yield from run.rest()


@dataclass(slots=True)
class _Input:
    """One run over an input: the attempts told, CircleCI's pipelines, and its workflows that wait for theirs."""

    options: CaptureOptions
    attempts: Attempts = field(default_factory=Attempts)
    pipelines: circleci.Pipelines = field(default_factory=circleci.Pipelines)
    waiting: list[tuple[str, JsonObject]] = field(default_factory=list)

    def record(self, place: str, value: JsonValue, depth: int = 0) -> Iterator[_Outcome]:
        """Translate one record: a page or list of records, or one payload."""
        page = _page(value) if depth < MAX_LISTS else None
        if page is not None:
            name, items = page
            for index, item in enumerate(items):
                yield from self.record(f"{place}{name}[{index}]", item, depth + 1)
            if not items:
                yield Untranslated(place, Remainder.NO_EVIDENCE, "an empty list")
        elif isinstance(value, dict) and circleci.is_workflow(value):
            yield from self._workflow(place, value)
        elif isinstance(value, dict) and circleci.is_pipeline(value):
            self.pipelines.learn(value)
            yield Untranslated(place, Remainder.NO_EVIDENCE, "circleci pipeline: names the commit of its workflows")
        else:
            yield self._fact(place, partial(_read, value, self.options))

    def _workflow(self, place: str, workflow: JsonObject) -> Iterator[_Outcome]:
        pipeline = self.pipelines.of(workflow)
        if pipeline is None:
            self.waiting.append((place, workflow))
        else:
            yield self._fact(place, partial(circleci.read_workflow, workflow, pipeline, self.options))

    def rest(self) -> Iterator[_Outcome]:
        """Translate what had to wait for the end of the input."""
        for place, workflow in self.waiting:
            pipeline = self.pipelines.of(workflow)
            yield self._fact(place, partial(circleci.read_workflow, workflow, pipeline, self.options))

    def _fact(self, place: str, make: Callable[[], CIOutcome]) -> _Outcome:
        try:
            return self.attempts.told(place, make())
        except RefusedError as refused:
            return refused.at(place)


def _page(value: JsonValue) -> tuple[str, list[JsonValue]] | None:
    """Return the records of a list or of a REST answer that lists them, and under which name."""
    if isinstance(value, list):
        return "", value
    if not isinstance(value, dict) or "object_kind" in value or "number" in value or "state" in value:
        return None
    for key in (*_PAGES, *([_JENKINS_JOBS] if "_class" in value else [])):
        items = value.get(key)
        if isinstance(items, list):
            return f".{key}", items
    return None


def _read(value: JsonValue, options: CaptureOptions) -> CIOutcome:
    delivery = open_delivery(value)
    payload = delivery.payload
    if delivery.sender is Sender.GITHUB:
        raise unknown_shape(_GITHUB)
    if delivery.sender is Sender.FORGEJO:
        return forgejo.read(delivery, options)
    for system in _SYSTEMS:
        if system.reads(payload):
            outcome: CIOutcome = system.read(delivery, options)
            return outcome
    raise unknown_shape(_GITHUB if event_of_body(payload) or "head_sha" in payload else "expected a CI run")


SOURCE: Final[Source] = CISource()
