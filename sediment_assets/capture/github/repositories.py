"""The repository of a GitHub payload: identity from its numeric id and the operator's host (facts.md §4.4)."""

from dataclasses import dataclass
from typing import Final

from sediment_assets.capture.ci_attempts import host_of_url
from sediment_assets.capture.contract import CaptureOptions, Remainder
from sediment_assets.capture.record_fields import Fields, RefusedError
from sediment_assets.facts.expected import shown
from sediment_assets.facts.scalars import normal_repo_slug
from sediment_assets.facts.vocabulary import ForgeProvider

_FORGEJO_KEYS: Final = ("internal_tracker", "mirror_interval", "empty", "original_url")
_MAX_ID: Final = 10**20


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository as a payload names it. ``id`` None makes the Fact a legacy one."""

    slug: str
    id: str | None
    host: str

    @property
    def identity(self) -> dict[str, str | None]:
        """The three identity fields of a Fact: all set, or all None."""
        return {
            "repository_provider": ForgeProvider.GITHUB if self.id else None,
            "repository_host": self.host if self.id else None,
            "repository_id": self.id,
        }


def read_repository(repository: Fields, options: CaptureOptions) -> Repository:
    """Read a payload's ``repository`` object.

    An id that is missing, or no positive number, makes the Fact a legacy one. Refused are a repository of another
    forge or host (names and URLs never create identity, but they may deny it), and one without a name.
    """
    require_github(repository, options)
    try:
        slug = normal_repo_slug(_full_name(repository))
    except ValueError:
        detail = f"{repository.named('full_name')}: expected owner/name, got other text"
        raise RefusedError(Remainder.INVALID_VALUE, detail) from None
    if not slug:
        # Identity without a name resolves to nothing (mirrors.md §8.5), and would keep the name out for good.
        raise RefusedError(Remainder.NO_REPOSITORY, f"{repository.named('full_name')}: expected owner/name, got none")
    number = repository.raw("id")
    valid = type(number) is int and 0 < number < _MAX_ID
    return Repository(slug, str(number) if valid else None, options.github_host)


def _full_name(repository: Fields) -> str:
    """Return the full name; old payloads tell its two halves only."""
    if (full_name := repository.text("full_name")) is not None:
        return full_name
    owner, name = repository.fields("owner"), repository.word("name")
    login = owner.word("login") or owner.word("name")
    return f"{login}/{name}" if login and name else ""


def require_github(repository: Fields, options: CaptureOptions) -> None:
    """Refuse a repository that says it is elsewhere: on Forgejo or Gitea, or on another host than the operator's."""
    host = host_of_url(repository.text("html_url"))
    if host is None or host == options.github_host.lower():
        return
    if any(key in repository.value for key in _FORGEJO_KEYS):
        raise RefusedError(Remainder.UNSUPPORTED_FORGE, f"a repository on Forgejo or Gitea ({shown(host)})")
    detail = f"{repository.named('html_url')}: expected the GitHub host {options.github_host}, got {shown(host)}"
    raise RefusedError(Remainder.INVALID_VALUE, detail)
