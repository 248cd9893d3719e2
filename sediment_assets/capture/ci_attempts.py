"""One attempt of a CI run, whichever system told it: its Fact, its id, was it told before (facts.md §4.1, §6).

The id is made of the database's natural key, so a redelivery, a REST answer and a webhook about one attempt give one
Fact; whatever else they say may differ.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import ValidationError

from sediment_assets.capture.contract import CaptureOptions, Remainder, Translated, Untranslated
from sediment_assets.capture.ids import fact_id
from sediment_assets.capture.record_fields import RefusedError, invalid_fact
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.expected import shown
from sediment_assets.facts.scalars import normal_commit_sha, normal_repo_slug, normal_required_repo_slug
from sediment_assets.facts.vocabulary import ForgeProvider

REPO_SETTING: Final = "repo"
"""The setting with which the operator names the repository of records that do not."""
IDENTITY: Final = ("repository_provider", "repository_host", "repository_id")
"""The fields of repository identity: all set, or none (facts.md §4)."""
IDENTITY_SETTING: Final = "repository_id"
"""``repository_id:owner/name``: the numeric id of a repository on GitHub, for records of other systems."""


def ci_outcome(source: str, options: CaptureOptions, values: Mapping[str, Any]) -> CIOutcome:
    """Make the Fact of an attempt; ``values`` are fields of CIOutcome without id, organization and times of ours.

    ``captured_at`` None means that the record tells no time. Raises RefusedError for what a Fact cannot hold.
    """
    captured_at = values.get("captured_at") or options.instant
    if captured_at is None:
        raise RefusedError(Remainder.NO_INSTANT, "the record does not say when the run ended")
    told = {key: value for key, value in values.items() if value is not None}
    identity = {**told, "org_id": options.org_id, "captured_at": captured_at, "outcome_id": "unknown"}
    try:
        fact = CIOutcome.model_validate(identity)
    except ValidationError as error:
        raise invalid_fact(error) from None
    return fact.model_copy(update={"outcome_id": fact_id(fact.org_id, source, "ci_outcome", *_natural_key(fact))})


def ci_system_outcome(options: CaptureOptions, values: Mapping[str, Any]) -> CIOutcome:
    """Make the Fact of an attempt that the source ``ci`` read: identity is the record's own, else the operator's."""
    if any(values.get(name) is not None for name in IDENTITY):
        return ci_outcome("ci", options, values)
    return ci_outcome("ci", options, {**values, **stated_identity(options, str(values["repo"]))})


def _natural_key(fact: CIOutcome) -> tuple[str, ...]:
    """Return what tells attempts apart in a Fact store; the repository's id is no part of it (facts.md §6)."""
    host = fact.repository_host or ""
    return (host, fact.provider.value, fact.run_id, str(fact.run_attempt or 0))


def commit_of(value: str | None, what: str) -> str:
    """Return a whole commit id; RefusedError (no_commit) when there is none, or one that is abbreviated or symbolic."""
    if not value:
        raise RefusedError(Remainder.NO_COMMIT, f"{what}: expected a whole commit id, got none")
    try:
        return normal_commit_sha(value)
    except ValueError:
        raise RefusedError(Remainder.NO_COMMIT, f"{what}: expected a whole commit id, got other text") from None


def repository_of(options: CaptureOptions, slug: str | None, what: str) -> str:
    """Return ``owner/name``: what the record says, else what the operator says of such records.

    A path with more or fewer parts (a nested GitLab group) is no name that Facts can hold, and is never cut to fit:
    the operator names it with the setting ``repo:the/whole/path``, and records that name nothing with ``repo``.
    """
    told = slug or ""
    with suppress(ValueError):
        if repo := normal_repo_slug(told):
            return repo
    setting = f"{REPO_SETTING}:{told}" if told else REPO_SETTING
    named = _setting(options, setting)
    if named is not None:
        try:
            return normal_required_repo_slug(named)
        except ValueError as error:
            raise RefusedError(Remainder.INVALID_VALUE, f"setting {setting}: {error}") from None
    if told:
        got = f"a path of {told.count('/') + 1} parts; --set repo:PATH=OWNER/NAME gives its name"
    else:
        got = "none; --set repo=OWNER/NAME gives it"
    raise RefusedError(Remainder.NO_REPOSITORY, f"{what}: expected owner/name, got {got}")


def stated_identity(options: CaptureOptions, repo: str) -> dict[str, str]:
    """Return the identity fields that the operator states for a repository; names and URLs never create them."""
    stated = _setting(options, f"{IDENTITY_SETTING}:{repo}")
    if stated is None:
        return {}
    provider = ForgeProvider.GITHUB.value
    return {"repository_provider": provider, "repository_host": options.github_host, "repository_id": stated}


def _setting(options: CaptureOptions, name: str) -> str | None:
    """Return a setting; names of repositories in it are the same in any case."""
    return next((value for key, value in options.settings.items() if key.lower() == name.lower()), None)


def slug_of_url(url: str | None) -> str | None:
    """Return the path of a clone or web URL, without ``.git``: ``https://host/o/n.git``, ``git@host:o/n.git``."""
    if not url:
        return None
    try:
        path = urlsplit(url).path if "://" in url else url.partition(":")[2]
    except ValueError:
        return None
    return path.strip("/").removesuffix(".git") or None


def host_of_url(url: str | None) -> str | None:
    """Return the host of a URL, in lower case, without its port; None when there is none."""
    try:
        return urlsplit(url or "").hostname
    except ValueError:
        return None


@dataclass(slots=True)
class Attempts:
    """The attempts that one input has told so far, to say which records tell one again."""

    _seen: dict[str, tuple[str, CIOutcome]] = field(default_factory=dict)

    def told(self, place: str, fact: CIOutcome) -> Translated | Untranslated:
        """Return the Fact at its first telling; later ones are repetitions, or contradict it."""
        first_place, first = self._seen.setdefault(fact.outcome_id, (place, fact))
        if first is fact:
            # What remains is compared, never stored: the payload would only fill memory.
            self._seen[fact.outcome_id] = (place, fact.model_copy(update={"raw": {}}))
            return Translated(place, fact)
        if (name := _contradiction(first, fact)) is not None:
            detail = f"{name} of CI run {shown(fact.run_id)} contradicts {first_place}, which stays"
            return Untranslated(place, Remainder.INVALID_VALUE, detail)
        return Untranslated(place, Remainder.REPEATED, f"the same attempt as {first_place}")


def _contradiction(first: CIOutcome, second: CIOutcome) -> str | None:
    """Name the field in which two tellings of one attempt disagree; unknown agrees with anything."""
    for name in ("commit_sha", "repository_id", "repo", "result", "branch", "workflow_id", "workflow_path"):
        one, two = getattr(first, name), getattr(second, name)
        if one != two and (name in ("result", "branch", "commit_sha") or (one and two)):
            return name
    return None
