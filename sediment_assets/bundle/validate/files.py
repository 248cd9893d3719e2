"""Rules of the member files (bundle.md §8, rules 5 and 6). Sizes are never capped here (design.md §7)."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from sediment_assets.bundle.encoding import Population, decode_line
from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.manifest import MemberFile
from sediment_assets.facts.json_values import JsonObject

T = TypeVar("T")

Lines = Callable[[Population], Iterator[bytes]]
"""Gives the lines of a member file, split on LF only."""


def check_member(population: Population, declared: MemberFile, found: MemberFile) -> None:
    """Compare a file as it is with what the manifest says of it (rule 5)."""
    for what, expected, got in (
        ("bytes", declared.bytes, found.bytes),
        ("SHA-256", declared.sha256, found.sha256),
        ("rows", declared.rows, found.rows),
    ):
        if expected != got:
            raise BundleError(f"expected {what} {expected}, got {got}", file=population.file)


def parse_rows(
    population: Population, lines: Iterable[bytes], parse: Callable[[JsonObject], T]
) -> Iterator[tuple[int, T]]:
    """Yield number, from 1, and record of every line (rule 6)."""
    for number, line in enumerate(lines, 1):
        try:
            record = parse(decode_line(line))
        except BundleError as error:
            raise error.at(population.file, number) from None
        yield number, record
