"""The scalar types of facts.md §1: one normalising function each, and the annotated type built from it.

Every ``normal_…`` function takes any value, returns the stored spelling and raises ValueError (``expected …, got …``)
otherwise. All are idempotent; none applies Unicode normalisation; lengths count code points.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from sediment_assets.facts.expected import expected
from sediment_assets.facts.text import is_scalar_text, strip

MAX_NAT63: Final = 2**63 - 1
"""Largest Nat63 and Pos63."""
MAX_CI_REASON: Final = 4096
"""Largest CIReason, in code points."""

_ORG_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_COMMIT_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_HOST_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_PROVIDER_REPOSITORY_ID = re.compile(r"[1-9][0-9]{0,19}")
_MAX_HOST: Final = 253
_BRANCH_PREFIX: Final = "refs/heads/"
_BOOL_WORDS: Final = {
    word: truth
    for truth, words in ((True, "true t yes y on 1"), (False, "false f no n off 0"))
    for word in words.split()
}


def normal_text(value: object, what: str = "a string") -> str:
    """Text: any string, U+0000 and lone surrogates included, unchanged."""
    if not isinstance(value, str):
        raise expected(what, value)
    # A str subclass (an enum member) becomes the plain string it spells.
    return value if type(value) is str else str.__str__(value)


def normal_identity(value: object, what: str = "a string without U+0000 and surrogates") -> str:
    """Identity: any string without U+0000 and surrogates, unchanged; ``""`` and padding are legal."""
    text = normal_text(value, what)
    if not is_scalar_text(text):
        raise expected(what, value)
    return text


def normal_id(value: object) -> str:
    """Id, ModelName: an Identity, stripped, not empty."""
    what = "a non-blank string without U+0000 and surrogates"
    text = strip(normal_identity(value, what))
    if not text:
        raise expected(what, value)
    return text


def normal_org_id(value: object) -> str:
    """OrgId: ASCII, lower-cased, never stripped. ASCII is judged first, so U+212A is no ``k``."""
    what = "an organization id (1-64 of a-z 0-9 . _ -, starting with a letter or digit)"
    text = normal_text(value, what)
    lowered = text.lower()
    if not text.isascii() or _ORG_ID.fullmatch(lowered) is None:
        raise expected(what, value)
    return lowered


def normal_repo_slug(value: object) -> str:
    """RepoSlug: ``owner/name``, stripped and lower-cased; ``""`` means the repository is unknown."""
    what = "a repository owner/name or an empty string"
    text = strip(normal_identity(value, what)).lower()
    if text and not _is_slug(text):
        raise expected(what, value)
    return text


def normal_required_repo_slug(value: object) -> str:
    """RequiredRepoSlug: ``owner/name``, stripped and lower-cased, never ``""``."""
    what = "a repository owner/name"
    text = strip(normal_identity(value, what)).lower()
    if not _is_slug(text):
        raise expected(what, value)
    return text


def _is_slug(text: str) -> bool:
    owner, slash, name = text.partition("/")
    return bool(owner and slash and name) and "/" not in name


def normal_commit_sha(value: object) -> str:
    """CommitSha: a whole object name, 40 or 64 hexadecimal digits, stripped and lower-cased; all zeros is legal."""
    what = "a whole commit id (40 or 64 hexadecimal digits)"
    text = strip(normal_text(value, what)).lower()
    if _COMMIT_SHA.fullmatch(text) is None:
        raise expected(what, value)
    return text


def normal_branch_name(value: object) -> str:
    """BranchName: a branch without any leading ``refs/heads/``; case kept, ``""`` legal."""
    text = strip(normal_identity(value))
    while text.startswith(_BRANCH_PREFIX):
        text = strip(text[len(_BRANCH_PREFIX) :])
    return text


def normal_forge_host(value: object) -> str:
    """ForgeHost: a host name without port or trailing dot, lower-cased, not stripped.

    ASCII is judged after lower-casing, so U+212A (KELVIN SIGN) passes as ``k``.
    """
    what = "a host name"
    text = normal_identity(value, what).lower()
    if len(text) > _MAX_HOST or not all(_HOST_LABEL.fullmatch(label) for label in text.split(".")):
        raise expected(what, value)
    return text


def normal_provider_repository_id(value: object) -> str:
    """ProviderRepositoryId: the forge's own number as a decimal *string* of at most 20 digits."""
    what = "a repository id (a string of 1-20 digits, no leading zero)"
    text = normal_text(value, what)
    if _PROVIDER_REPOSITORY_ID.fullmatch(text) is None:
        raise expected(what, value)
    return text


def normal_workflow_name(value: object) -> str:
    """WorkflowName: any string, stripped; may be ``""``; surrogates and U+0000 are legal."""
    return strip(normal_text(value))


def normal_workflow_path(value: object) -> str:
    """WorkflowPath: an Identity, stripped; may be ``""``."""
    return strip(normal_identity(value))


def normal_content(value: object) -> str:
    """Content: any string, stripped, not empty; surrogates and U+0000 are legal."""
    what = "a non-blank string"
    text = strip(normal_text(value, what))
    if not text:
        raise expected(what, value)
    return text


def normal_ci_reason(value: object) -> str:
    """CIReason: any string of at most 4096 code points, unchanged."""
    what = f"a string of at most {MAX_CI_REASON} characters"
    text = normal_text(value, what)
    if len(text) > MAX_CI_REASON:
        raise ValueError(f"expected {what}, got {len(text)} characters")
    return text


def normal_nat63(value: object) -> int:
    """Nat63: an integer 0 … 2⁶³-1; lax: whole floats, decimal text and booleans (1, 0) are accepted."""
    what = "an integer from 0 to 2^63-1"
    number: int | None = None
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        number = int(value)
    elif isinstance(value, str):
        number = _integer_text(value)
    if number is None or not 0 <= number <= MAX_NAT63:
        raise expected(what, value)
    return number


_INTEGER_TEXT = re.compile(r"[+-]?[0-9]+(_[0-9]+)*(\.0+)?")
_MAX_INTEGER_TEXT: Final = 4300


def _integer_text(text: str) -> int | None:
    """Read an integer as pydantic reads one from text: blanks around, ``_`` between digits, ``.0`` at the end."""
    stripped = strip(text)
    if len(stripped) > _MAX_INTEGER_TEXT or _INTEGER_TEXT.fullmatch(stripped) is None:
        return None
    return int(stripped.partition(".")[0])


def normal_pos63(value: object) -> int:
    """Pos63: an integer 1 … 2⁶³-1; strict: no text, no float, no boolean."""
    if type(value) is not int or not 1 <= value <= MAX_NAT63:
        raise expected("an integer from 1 to 2^63-1", value)
    return value


def normal_bool(value: object) -> bool:
    """Bool: true, false, 1, 0, or the words true/false, t/f, yes/no, y/n, on/off, 1/0 in any case."""
    if isinstance(value, str) and value.isascii() and value.lower() in _BOOL_WORDS:
        return _BOOL_WORDS[value.lower()]
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    raise expected("true or false", value)


def normal_score(value: object) -> float:
    """Score: a finite number from 0 to 1; lax: integers, booleans and decimal text are accepted."""
    number = None
    if isinstance(value, int | float) or (isinstance(value, str) and value.isascii()):
        with suppress(ValueError, OverflowError):
            number = float(value)
    if number is None or not 0 <= number <= 1:  # NaN fails both comparisons
        raise expected("a number from 0 to 1", value)
    return number


def _schema_version(*versions: int) -> Callable[[object], int]:
    """Return the check for a schema version: one of these integers, never a boolean, string or float."""
    what = "the integer " + " or ".join(map(str, versions))

    def check(value: object) -> int:
        if type(value) is not int or value not in versions:
            raise expected(what, value)
        return value

    return check


def _string(normal: Callable[[object], str]) -> Any:
    return PlainValidator(normal, json_schema_input_type=str)


def _integer(normal: Callable[[object], int]) -> Any:
    return PlainValidator(normal, json_schema_input_type=int)


Text = Annotated[str, _string(normal_text)]
Identity = Annotated[str, _string(normal_identity)]
Id = Annotated[str, _string(normal_id)]
ModelName = Annotated[str, _string(normal_id)]
OrgId = Annotated[str, _string(normal_org_id)]
RepoSlug = Annotated[str, _string(normal_repo_slug)]
RequiredRepoSlug = Annotated[str, _string(normal_required_repo_slug)]
CommitSha = Annotated[str, _string(normal_commit_sha)]
BranchName = Annotated[str, _string(normal_branch_name)]
ForgeHost = Annotated[str, _string(normal_forge_host)]
ProviderRepositoryId = Annotated[str, _string(normal_provider_repository_id)]
WorkflowName = Annotated[str, _string(normal_workflow_name)]
WorkflowPath = Annotated[str, _string(normal_workflow_path)]
Content = Annotated[str, _string(normal_content)]
CIReason = Annotated[str, _string(normal_ci_reason)]
Nat63 = Annotated[int, _integer(normal_nat63)]
Pos63 = Annotated[int, _integer(normal_pos63)]
Bool = Annotated[bool, PlainValidator(normal_bool, json_schema_input_type=bool)]
Score = Annotated[float, PlainValidator(normal_score, json_schema_input_type=float)]
SchemaVersion1 = Annotated[int, _integer(_schema_version(1))]
SchemaVersion1Or2 = Annotated[int, _integer(_schema_version(1, 2))]
