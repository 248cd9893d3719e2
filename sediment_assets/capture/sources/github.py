"""GitHub: webhook deliveries and answers of the Actions REST API → CIOutcome, Push, RepositoryRename (facts.md §4)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from sediment_assets.capture.ci_attempts import Attempts
from sediment_assets.capture.contract import CaptureOptions, Document, Remainder, Source, Translated, Untranslated
from sediment_assets.capture.deliveries import Delivery, Sender, open_delivery
from sediment_assets.capture.github.events import event_of_body
from sediment_assets.capture.github.pushes import RENAMES, push_of_delivery, rename_of_delivery
from sediment_assets.capture.github.repositories import require_github
from sediment_assets.capture.github.runs import run_of_delivery, run_of_rest
from sediment_assets.capture.record_fields import MAX_LISTS, Fields, RefusedError, unknown_shape
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import JsonObject, JsonValue
from sediment_assets.facts.model import Fact

_Outcome = Translated | Untranslated


class GitHubSource:
    """Webhook deliveries, with headers or bodies alone, and workflow runs as the REST API lists them."""

    name = "github"
    help = "GitHub webhook deliveries (workflow_run, push, repository) and Actions REST workflow runs"

    def translate(self, documents: Iterable[Document], options: CaptureOptions) -> Iterator[_Outcome]:
        """Translate in order; a second telling of an attempt, push or rename in this input is counted as repeated."""
        run = _Input(options)
        for document in documents:
            for record in document.records:
                yield from run.record(record.place, record.value)


@dataclass(slots=True)
class _Input:
    """One run over an input: what it has told so far."""

    options: CaptureOptions
    attempts: Attempts = field(default_factory=Attempts)
    seen: dict[str, str] = field(default_factory=dict)

    def record(self, place: str, value: JsonValue, depth: int = 0) -> Iterator[_Outcome]:
        """Translate one record: a page of runs, pages in a list, one run, or one delivery."""
        if isinstance(value, list) and depth < MAX_LISTS:
            for index, item in enumerate(value):
                yield from self.record(f"{place}[{index}]", item, depth + 1)
            if not value:
                yield Untranslated(place, Remainder.NO_EVIDENCE, "an empty list")
        elif isinstance(value, dict) and isinstance(value.get("workflow_runs"), list):
            yield from self._page(place, Fields(value).items("workflow_runs"))
        elif isinstance(value, dict) and (parts := _parts(value)):
            yield Untranslated(place, Remainder.NO_EVIDENCE, parts)
        elif isinstance(value, dict) and _is_run(value):
            yield self._fact(place, partial(run_of_rest, value, self.options))
        else:
            yield self._fact(place, partial(_delivered, value, self.options))

    def _page(self, place: str, runs: list[JsonValue]) -> Iterator[_Outcome]:
        for index, run in enumerate(runs):
            yield self._fact(f"{place}.workflow_runs[{index}]", partial(_listed, run, self.options))
        if not runs:
            yield Untranslated(place, Remainder.NO_EVIDENCE, "a list of no workflow runs")

    def _fact(self, place: str, make: Callable[[], Fact]) -> _Outcome:
        try:
            fact = make()
        except RefusedError as refused:
            return refused.at(place)
        if isinstance(fact, CIOutcome):
            return self.attempts.told(place, fact)
        if (first := self.seen.get(fact.fact_id)) is not None:
            return Untranslated(place, Remainder.REPEATED, f"the same as {first}")
        self.seen[fact.fact_id] = place
        return Translated(place, fact)


def _listed(run: JsonValue, options: CaptureOptions) -> Fact:
    if not isinstance(run, dict):
        raise unknown_shape("expected a workflow run, an object")
    return run_of_rest(run, options)


def _is_run(value: JsonObject) -> bool:
    return "head_sha" in value and "status" in value and ("run_number" in value or "workflow_id" in value)


def _parts(value: JsonObject) -> str | None:
    """Describe REST answers about parts of runs, which tell no outcome of their own."""
    for key in ("jobs", "check_runs", "check_suites", "statuses", "workflows", "artifacts"):
        if isinstance(value.get(key), list) and "total_count" in value:
            return f"a list of {key.replace('_', ' ')}"
    return "a job of a run" if "run_id" in value and "steps" in value else None


def _delivered(value: JsonValue, options: CaptureOptions) -> Fact:
    if isinstance(value, dict):
        _refuse_other_shapes(value)
    delivery = open_delivery(value)
    if delivery.sender not in (None, Sender.GITHUB):
        detail = f"sent by {delivery.sender}; its CI events are read by the source ci"
        raise RefusedError(Remainder.UNSUPPORTED_FORGE, detail)
    event = delivery.event or event_of_body(delivery.payload)
    if event is None:
        raise unknown_shape("expected a webhook delivery or a workflow run")
    handle = _EVENTS.get(event)
    if handle is None:
        require_github(Fields(delivery.payload).fields("repository"), options)
        raise RefusedError(Remainder.NO_EVIDENCE, f"event {_described(event, delivery.payload)}")
    return handle(delivery, options)


def _refuse_other_shapes(value: JsonObject) -> None:
    if "databaseId" in value and "headSha" in value:
        raise unknown_shape(
            "gh run list --json does not name the repository; take gh api repos/OWNER/NAME/actions/runs"
        )
    kind = value.get("type")
    if isinstance(kind, str) and kind.endswith("Event") and "payload" in value:
        raise unknown_shape(f"{shown(kind)} of the Events API, which tells less than a webhook delivery")


def _workflow_run(delivery: Delivery, options: CaptureOptions) -> Fact:
    if not isinstance(delivery.payload.get("workflow_run"), dict):
        raise unknown_shape("event workflow_run without a workflow_run")
    return run_of_delivery(delivery, options)


def _push(delivery: Delivery, options: CaptureOptions) -> Fact:
    return push_of_delivery(delivery, options)


def _repository(delivery: Delivery, options: CaptureOptions) -> Fact:
    if delivery.payload.get("action") not in RENAMES:
        raise RefusedError(Remainder.NO_EVIDENCE, f"event {_described('repository', delivery.payload)}")
    return rename_of_delivery(delivery, options)


def _described(event: str, payload: JsonObject) -> str:
    action = payload.get("action")
    return f"{_plain(event)} {_plain(action)}" if isinstance(action, str) else _plain(event)


def _plain(word: str) -> str:
    return word if word.replace("_", "").replace(" ", "").isalnum() and len(word) < 60 else shown(word)


_EVENTS: Final[Mapping[str, Callable[[Delivery, CaptureOptions], Fact]]] = {
    "workflow_run": _workflow_run,
    "push": _push,
    "repository": _repository,
}

SOURCE: Final[Source] = GitHubSource()
