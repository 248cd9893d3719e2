"""What is wrong with a bundle, and where (bundle.md §8)."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from sediment_assets.errors import SedimentError
from sediment_assets.facts.expected import shown

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


class BundleError(SedimentError):
    """A bundle that cannot be used: ``<file> line <N>: <path>: expected …, got …``, each part as far as it applies.

    ``path`` leads to the value inside the record: ``segments[0][3].decisions[1].call_id``.
    """

    def __init__(self, problem: str, *, path: str = "", file: str | None = None, line: int | None = None) -> None:
        self.problem = problem
        self.path = path
        self.file = file
        self.line = line
        place = [] if file is None else [file if line is None else f"{file} line {line}"]
        super().__init__(": ".join([*place, *([path] if path else []), problem]))

    def at(self, file: str, line: int | None = None) -> "BundleError":
        """Return the same error with the place it was found at."""
        return BundleError(self.problem, path=self.path, file=file, line=line)

    def inside(self, directory: object) -> "BundleError":
        """Return the same error with the bundle's directory before the file."""
        file = str(directory) if self.file is None else f"{directory}/{self.file}"
        return self.at(file, self.line)

    def under(self, step: str | int) -> "BundleError":
        """Return the same error seen from one level further out: ``step`` is the key or position that led to it."""
        outer = step if isinstance(step, str) and _NAME.fullmatch(step) else f"[{shown(step)}]"
        joint = "." if self.path and not self.path.startswith("[") else ""
        return BundleError(self.problem, path=f"{outer}{joint}{self.path}", file=self.file, line=self.line)


@contextmanager
def within(*steps: str | int) -> Iterator[None]:
    """Say of every BundleError of the block that it lies under these keys and positions, outermost first."""
    try:
        yield
    except BundleError as error:
        for step in reversed(steps):
            error = error.under(step)
        raise error from None
