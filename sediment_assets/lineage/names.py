"""Instance ids and the Sessions they name (targets.md §6.6)."""

import re
from collections.abc import Mapping
from typing import Any, Final

from sediment_assets.errors import SedimentError

_SUFFIX: Final = re.compile(r"-(seg[0-9]+|[0-9a-f]{7})\Z")


class InstanceIdError(SedimentError):
    """A text that is no instance id of the organization."""


def session_of(instance_id: str, org_id: str) -> str:
    """Return the Session that a row's ``instance_id`` names: ``<org>-<session>-<7 hex digits | seg<index>>``.

    :raises InstanceIdError: when it has another form.
    """
    suffix = _SUFFIX.search(instance_id)
    prefix = f"{org_id}-"
    if suffix is None or not instance_id.startswith(prefix) or suffix.start() <= len(prefix):
        raise InstanceIdError(
            f"instance id: expected {org_id}-<session>-<7 hex digits> or {org_id}-<session>-seg<number>, "
            f"got {instance_id!r}"
        )
    return instance_id[len(prefix) : suffix.start()]


def about(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a plain row that says where it comes from: its ``metadata``, or itself."""
    found = row.get("metadata")
    return found if isinstance(found, Mapping) else row


def instance_id_of(row: Mapping[str, Any]) -> str:
    """Return a plain row's ``instance_id``, wherever its target keeps it."""
    return str(row["instance_id"] if "instance_id" in row else about(row)["instance_id"])
