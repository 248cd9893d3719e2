"""Jenkins: builds of its JSON API and of the Notification plugin → CIOutcome.

The API hides the commit in ``actions`` (the Git plugin's build data); a build that checked out several repositories,
such as a pipeline with a shared library, does not say which one it judged.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from sediment_assets.capture.ci_attempts import REPO_SETTING, ci_system_outcome, commit_of, repository_of, slug_of_url
from sediment_assets.capture.ci_systems.common import not_evidence, result_of
from sediment_assets.capture.contract import CaptureOptions, Remainder
from sediment_assets.capture.deliveries import Delivery
from sediment_assets.capture.record_fields import Fields, RefusedError, invalid
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.facts.vocabulary import CIProvider, CIResult

RESULTS: Final = {
    "success": CIResult.PASSED,
    "unstable": CIResult.FAILED,
    "failure": CIResult.FAILED,
    "aborted": CIResult.CANCELLED,
    "not_built": CIResult.SKIPPED,
}
"""What a build's result means. ``UNSTABLE`` is how Jenkins says that tests failed."""
_PACKAGES: Final = ("hudson.", "org.jenkinsci.", "com.cloudbees.", "jenkins.")
_PHASES: Final = frozenset({"COMPLETED", "FINALIZED"})
_REMOTE_BRANCH: Final = re.compile(r"refs/remotes/[^/]+/(.+)", re.DOTALL)


def reads(payload: JsonObject) -> bool:
    """Whether a payload is a build of the JSON API, or a message of the Notification plugin."""
    return _is_build(payload) or _is_notification(payload) or _has_class(payload)


def read(delivery: Delivery, options: CaptureOptions) -> CIOutcome:
    """Translate a build that has ended: a result beside ``building: true`` is only the one so far."""
    payload = Fields(delivery.payload)
    if _is_notification(delivery.payload):
        return _notification(delivery, payload, options)
    if not _is_build(delivery.payload):
        raise not_evidence("jenkins object that is no build")
    return _build(delivery, payload, options)


def _is_build(payload: JsonObject) -> bool:
    return "number" in payload and "result" in payload and (_has_class(payload) or "building" in payload)


def _has_class(payload: JsonObject) -> bool:
    kind = payload.get("_class")
    return isinstance(kind, str) and kind.startswith(_PACKAGES)


def _is_notification(payload: JsonObject) -> bool:
    build = payload.get("build")
    return isinstance(build, dict) and "phase" in build and "number" in build


def _build(delivery: Delivery, build: Fields, options: CaptureOptions) -> CIOutcome:
    word = build.word("result")
    if build.truth("building") or word is None:
        raise RefusedError(Remainder.NOT_TERMINAL, f"jenkins build that goes on, with result {shown(word)}")
    ended_at = _end(build)
    result = result_of(word, RESULTS, frozenset(), ended_at, "jenkins build")
    sha, branch, remote = _checkout(build, options)
    title, number = build.word("fullDisplayName") or "", build.identifier("number") or ""
    job = title.removesuffix(f"#{number}").rstrip() if title.endswith(f"#{number}") else ""
    values = {
        "run_id": build.word("url") or _title(title, job),
        "commit_sha": commit_of(sha, "actions[].lastBuiltRevision.SHA1"),
        "repo": repository_of(options, slug_of_url(remote), "actions[].remoteUrls"),
        "branch": branch,
        "result": result,
        "provider_result": word,
        "workflow_name": job,
        "run_url": build.word("url"),
        "captured_at": ended_at,
    }
    return _outcome(delivery, options, values)


def _title(title: str, job: str) -> str:
    """Return a build's id when it has no URL: job and number, unless somebody gave the build another name."""
    if not job:
        raise invalid("url", "a build's URL, or a fullDisplayName with its number", None)
    return title


def _end(build: Fields) -> datetime | None:
    """Return when a build ended: ``timestamp`` is its start, ``duration`` milliseconds later is its end."""
    started_at = build.instant("timestamp")
    duration = build.integer("duration") or 0
    try:
        return None if started_at is None else started_at + timedelta(milliseconds=duration)
    except OverflowError:
        raise invalid("duration", "milliseconds", duration) from None


def _checkout(build: Fields, options: CaptureOptions) -> tuple[str | None, str, str | None]:
    """Return commit, branch and clone URL of the one repository that a build checked out."""
    found: dict[tuple[str | None, str | None], tuple[str | None, str, str | None]] = {}
    for action in build.objects("actions"):
        revision = action.fields("lastBuiltRevision")
        if not revision.value:
            continue
        remotes = action.items("remoteUrls")
        remote = remotes[0] if remotes and isinstance(remotes[0], str) else None
        branches = list(revision.objects("branch"))
        branch = _branch(branches[0].text("name")) if len(branches) == 1 else ""
        found.setdefault((revision.text("SHA1"), slug_of_url(remote)), (revision.text("SHA1"), branch, remote))
    if len(found) > 1 and (wanted := options.settings.get(REPO_SETTING)):
        found = {key: value for key, value in found.items() if (key[1] or "").lower() == wanted.lower()}
    if len(found) > 1:
        raise RefusedError(Remainder.NO_COMMIT, f"actions[]: expected one commit, got {len(found)}")
    return next(iter(found.values()), (None, "", None))


def _branch(name: str | None) -> str:
    remote = _REMOTE_BRANCH.fullmatch(name or "")
    return remote[1] if remote else ("" if name in (None, "detached") else str(name))


def _notification(delivery: Delivery, payload: Fields, options: CaptureOptions) -> CIOutcome:
    build = payload.fields("build")
    if (phase := build.word("phase")) not in _PHASES:
        raise RefusedError(Remainder.NOT_TERMINAL, f"jenkins build in phase {shown(phase)}")
    ended_at = build.instant("timestamp")
    word = build.word("status")
    result = result_of(word, RESULTS, frozenset(), ended_at, "jenkins build")
    scm = build.fields("scm")
    values = {
        "run_id": build.word("full_url"),
        "commit_sha": commit_of(scm.text("commit"), "build.scm.commit"),
        "repo": repository_of(options, slug_of_url(scm.word("url")), "build.scm.url"),
        "branch": _branch(scm.text("branch")),
        "result": result,
        "provider_result": word,
        "workflow_name": payload.word("display_name") or payload.word("name"),
        "run_url": build.word("full_url"),
        "captured_at": ended_at,
    }
    return _outcome(delivery, options, values)


def _outcome(delivery: Delivery, options: CaptureOptions, values: Mapping[str, object]) -> CIOutcome:
    return ci_system_outcome(options, {"provider": CIProvider.JENKINS, "raw": delivery.payload, **values})
