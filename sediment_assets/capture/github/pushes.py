"""Pushes and renames: the webhooks ``push`` and ``repository`` → Push, RepositoryRename (facts.md §4.2, §4.4)."""

from datetime import datetime
from typing import Any, Final

from pydantic import ValidationError

from sediment_assets.capture.ci_attempts import commit_of
from sediment_assets.capture.contract import CaptureOptions, Remainder
from sediment_assets.capture.deliveries import Delivery
from sediment_assets.capture.github.repositories import Repository, read_repository
from sediment_assets.capture.ids import fact_id
from sediment_assets.capture.record_fields import Fields, RefusedError, invalid, invalid_fact
from sediment_assets.facts.instants import format_z
from sediment_assets.facts.push import Push
from sediment_assets.facts.repository_rename import RepositoryRename
from sediment_assets.facts.vocabulary import ForgeProvider

RENAMES: Final = ("renamed", "transferred")
"""The actions of a ``repository`` event that change its name."""


def push_of_delivery(delivery: Delivery, options: CaptureOptions) -> Push:
    """Translate a ``push``: creation (before is all zeros), deletion (after is all zeros), forced, branch or tag.

    The id is made of the natural key (facts.md §6), so a redelivery is the same Fact.
    """
    payload = Fields(delivery.payload)
    if "compare_url" in payload:
        raise RefusedError(Remainder.UNSUPPORTED_FORGE, "a push on Forgejo, Gitea or Gogs")
    repository = payload.fields("repository")
    named = read_repository(repository, options)
    before = commit_of(payload.text("before"), "before")
    after = commit_of(payload.text("after"), "after")
    forced = payload.truth("forced")
    values = {
        **named.identity,
        "org_id": options.org_id,
        "push_id": "unknown",
        "provider": ForgeProvider.GITHUB,
        "repo": named.slug,
        "clone_url": repository.text("clone_url") or "",
        "ref": payload.text("ref"),
        "before_sha": before,
        "after_sha": after,
        "captured_at": _instant(repository.instant("pushed_at") or delivery.delivered_at, options, "push"),
        **({} if forced is None else {"forced": forced}),
    }
    try:
        push = Push.model_validate(values)
    except ValidationError as error:
        raise invalid_fact(error) from None
    key = (*_repository_key(named), push.ref, before, after)
    return push.model_copy(update={"push_id": fact_id(push.org_id, "github", "push", *key)})


def rename_of_delivery(delivery: Delivery, options: CaptureOptions) -> RepositoryRename:
    """Translate a ``repository`` event ``renamed`` or ``transferred``.

    The payload does not say when it happened, so ``occurred_at`` stays absent; it was captured when it was delivered,
    or else not before ``repository.updated_at``.
    """
    payload = Fields(delivery.payload)
    repository = payload.fields("repository")
    named = read_repository(repository, options)
    if named.id is None:
        raise invalid(
            repository.named("id"), "a positive integer, as a rename is about a known id", repository.raw("id")
        )
    old = _old_name(payload, repository)
    if old.lower() == named.slug:
        raise RefusedError(Remainder.NO_EVIDENCE, "a rename to the same name, capitals aside")
    captured_at = _instant(delivery.delivered_at or repository.instant("updated_at"), options, "rename")
    values: dict[str, Any] = {
        **named.identity,
        "rename_id": "unknown",
        "org_id": options.org_id,
        "old_repo": old,
        "new_repo": named.slug,
        "source_event_id": delivery.id,
        "captured_at": captured_at,
    }
    try:
        rename = RepositoryRename.model_validate(values)
    except ValidationError as error:
        raise invalid_fact(error) from None
    telling = rename.source_event_id or format_z(captured_at)
    key = (*_repository_key(named), rename.old_repo, rename.new_repo, telling)
    return rename.model_copy(update={"rename_id": fact_id(rename.org_id, "github", "rename", *key)})


def _old_name(payload: Fields, repository: Fields) -> str:
    """Return the name before: the changed half from ``changes``, the other half from the name now."""
    owner, _, name = (repository.text("full_name") or "").partition("/")
    changes = payload.fields("changes")
    owner_before = changes.fields("owner").fields("from")
    login = next(
        filter(None, (owner_before.fields(kind).word("login") for kind in ("user", "organization"))),
        None,
    )
    name_before = changes.fields("repository").fields("name").word("from")
    if login is None and name_before is None:
        raise RefusedError(Remainder.INVALID_VALUE, "changes: expected the former name or owner, got neither")
    return f"{login or owner}/{name_before or name}"


def _instant(told: datetime | None, options: CaptureOptions, what: str) -> datetime:
    instant = told or options.instant
    if instant is None:
        raise RefusedError(Remainder.NO_INSTANT, f"the {what} does not say when it happened")
    return instant


def _repository_key(repository: Repository) -> tuple[str, ...]:
    return ("identified", repository.host, repository.id) if repository.id else ("legacy", repository.slug)
