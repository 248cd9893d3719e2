"""The derivation policy: its TOML file, its checks in contract order, its digest (derivation.md §1.1–1.2).

Numbers keep the spelling of their source: integer ``0`` and float ``0.0`` behave alike and digest apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import tomli

from sediment_assets.errors import SedimentError
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import encode_canonical

Number = int | float

_ATTRIBUTION = ("git_notes", "jaccard", "max_commits_per_push", "post_push_grace_period_minutes")
_MATCHING = ("lookback_window_minutes", "min_similarity")


class PolicyError(SedimentError):
    """A derivation policy that cannot be used; names every offending key of the first failing group."""


@dataclass(frozen=True)
class MatchingPolicy:
    """Thresholds of one way to match a file with a call.

    ``min_similarity`` is a Jaccard score in 0…1, ``lookback_window_minutes`` reaches back from a Push's capture.
    """

    min_similarity: Number
    lookback_window_minutes: int


@dataclass(frozen=True)
class DerivationPolicy:
    """Everything an operator may tune in a derivation. Defaults are the contract's."""

    post_push_grace_period_minutes: int = 10
    max_commits_per_push: int = 20
    git_notes: MatchingPolicy = field(default_factory=lambda: MatchingPolicy(0.3, 10080))
    jaccard: MatchingPolicy = field(default_factory=lambda: MatchingPolicy(0.7, 60))
    eval_fraction: Number = 0.1

    def plain(self) -> dict[str, Any]:
        """Return the resolved policy as a bundle manifest carries it (bundle.md §5)."""
        return {
            "attribution": {
                "git_notes": vars(self.git_notes),
                "jaccard": vars(self.jaccard),
                "max_commits_per_push": self.max_commits_per_push,
                "post_push_grace_period_minutes": self.post_push_grace_period_minutes,
            },
            "schema_version": 1,
            "split": {"eval_fraction": self.eval_fraction},
        }

    @cached_property
    def digest(self) -> str:
        """Lower-case hex SHA-256 of the resolved policy's canonical JSON (derivation.md §1.2)."""
        return sha256(encode_canonical(self.plain()).encode()).hexdigest()

    @property
    def split_enabled(self) -> bool:
        """Whether output files are named by split side (targets.md §11)."""
        return self.eval_fraction > 0


DEFAULT_POLICY = DerivationPolicy()


def parse_policy(data: bytes, *, place: str) -> DerivationPolicy:
    """Read a policy from the bytes of its TOML file.

    :param place: how error messages call the file.
    :raises PolicyError: on the first failing group of derivation.md §1.1.
    """
    try:
        plain = tomli.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise PolicyError(f"{place}: expected UTF-8, got a bad byte at offset {error.start}") from None
    except tomli.TOMLDecodeError as error:
        raise PolicyError(f"{place}: not TOML: {error}") from None
    except (ValueError, RecursionError) as error:  # an integer of thousands of digits, hundreds of nested arrays
        raise PolicyError(f"{place}: expected TOML of a reasonable size: {error}") from None
    return policy_from_plain(plain, place=place)


def policy_from_plain(plain: Mapping[str, Any], *, place: str) -> DerivationPolicy:
    """Check a parsed policy in contract order and fill in the defaults.

    :raises PolicyError: on the first failing group of derivation.md §1.1.
    """
    _refuse_unknown(plain, ("attribution", "schema_version", "split"), "", place)
    if "schema_version" not in plain:
        raise PolicyError(f"{place}: schema_version: missing; write schema_version = 1")
    if type(plain["schema_version"]) is not int:
        raise PolicyError(f"{place}: schema_version: expected the integer 1, got {shown(plain['schema_version'])}")
    attribution = _table(plain, "attribution", "attribution", place)
    git_notes = _table(attribution, "git_notes", "attribution.git_notes", place)
    jaccard = _table(attribution, "jaccard", "attribution.jaccard", place)
    split = _table(plain, "split", "split", place)
    _refuse_unknown(attribution, _ATTRIBUTION, "attribution.", place)
    _refuse_unknown(git_notes, _MATCHING, "attribution.git_notes.", place)
    _refuse_unknown(jaccard, _MATCHING, "attribution.jaccard.", place)
    _refuse_unknown(split, ("eval_fraction",), "split.", place)
    default = DEFAULT_POLICY
    policy = DerivationPolicy(
        git_notes=_matching(git_notes, default.git_notes, "attribution.git_notes.", place),
        jaccard=_matching(jaccard, default.jaccard, "attribution.jaccard.", place),
        post_push_grace_period_minutes=_integer(
            attribution, "post_push_grace_period_minutes", 0, default, "attribution.", place
        ),
        max_commits_per_push=_integer(attribution, "max_commits_per_push", 1, default, "attribution.", place),
    )
    if plain["schema_version"] != 1:
        raise PolicyError(f"{place}: schema_version: expected 1, got {shown(plain['schema_version'])}")
    return replace(policy, eval_fraction=_number(split, "eval_fraction", 0.5, default, "split.", place))


def _refuse_unknown(table: Mapping[str, Any], known: tuple[str, ...], prefix: str, place: str) -> None:
    unknown = sorted(set(table) - set(known))
    if unknown:
        names = ", ".join(prefix + (name if name.isprintable() else shown(name)) for name in unknown)
        raise PolicyError(f"{place}: unknown keys: {names}; known here: {', '.join(known)}")


def _table(parent: Mapping[str, Any], key: str, path: str, place: str) -> Mapping[str, Any]:
    value = parent.get(key, {})
    if not isinstance(value, dict):
        raise PolicyError(f"{place}: {path}: expected a table, got {shown(value)}")
    return value


def _matching(table: Mapping[str, Any], default: MatchingPolicy, prefix: str, place: str) -> MatchingPolicy:
    return MatchingPolicy(
        min_similarity=_number(table, "min_similarity", 1, default, prefix, place),
        lookback_window_minutes=_integer(table, "lookback_window_minutes", 1, default, prefix, place),
    )


def _integer(table: Mapping[str, Any], key: str, least: int, default: object, prefix: str, place: str) -> int:
    value = table.get(key, getattr(default, key))
    if type(value) is not int or value < least:
        raise PolicyError(f"{place}: {prefix}{key}: expected an integer of at least {least}, got {shown(value)}")
    return value


def _number(table: Mapping[str, Any], key: str, most: float, default: object, prefix: str, place: str) -> Number:
    value = table.get(key, getattr(default, key))
    # type(), not isinstance(): a bool is an int. NaN fails the comparison.
    if type(value) not in (int, float) or not 0 <= value <= most:
        raise PolicyError(f"{place}: {prefix}{key}: expected a number from 0 to {most}, got {shown(value)}")
    assert isinstance(value, (int, float))
    return value
