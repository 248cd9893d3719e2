"""Values out of a stream of JSON, whatever its layout: lines, one document, an array, values behind each other.

Memory is bounded by the largest value (of an array: its largest element). Layout is not asked for, it is found: a line
that is a value is one record; otherwise brackets and strings are followed until the value ends.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final
from urllib.parse import parse_qs

from sediment_assets.adapters.capture_lines import GrowingLines
from sediment_assets.adapters.json_spans import match_end, value_end
from sediment_assets.capture.json_text import parse_json
from sediment_assets.errors import SedimentError
from sediment_assets.facts.json_limits import JsonError

_BOM: Final = b"\xef\xbb\xbf"
_FORM: Final = b"payload="
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
"""Its order marks: how a redirect of an older PowerShell writes."""
_BLANKS: Final = re.compile(rb"[ \t\r\n]*")
_CHUNK: Final = 1 << 20
_NO_LINE: Final = (b"[", b" ", b"\t", b"\r", b"\n")
"""How data begins that is looked at value by value: an array, whose elements are records, or blanks."""


class BrokenInputError(SedimentError):
    """A file that cannot be read to its end; the message names it and the line. Nothing of the run is stored."""


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """A whole line that is no JSON, among lines that are: a writer that was killed, a log that was cut at its front."""

    problem: str


def read_json(file: BinaryIO, name: str) -> Iterator[tuple[str, Any]]:
    """Yield (place, value) for each value; the elements of an outermost array are values of their own.

    ``place`` is ``name:LINE``, where the value begins; for an array's element ``name#NUMBER``. Blank lines and a byte
    order mark are skipped.

    A form (``payload=…``) on a line is the JSON in its field.

    A whole line among lines that is no JSON is a ``BrokenLine``, the first line included when the second is an object.

    :raises BrokenInputError: at anything else that is no JSON, or when the last value is cut off.
    """
    line, elements = 1, 0
    lines = GrowingLines()
    is_lines = False  # whether every value so far stood on a line of its own
    ahead = b""
    while data := ahead or file.readline(_CHUNK):
        ahead = b""
        data = _unmarked(data, name) if line == 1 else data
        if data.startswith(_FORM):
            yield f"{name}:{line}", _form_payload(data + (b"" if data[-1:] == b"\n" else file.readline()), name, line)
            is_lines, line = True, line + 1
            continue
        if data[:1] not in _NO_LINE:
            if data[-1:] != b"\n":
                data += file.readline()
            try:
                yield f"{name}:{line}", lines.parse(data)
                is_lines, line = True, line + 1
                continue
            except JsonError as error:
                if line == 1 and data[:1] != b"{":
                    ahead = file.readline()
                if (is_lines and not _has_more_values(data)) or _is_object(ahead):
                    if data[-1:] != b"\n":
                        raise BrokenInputError(f"{name}:{line}: {error}; the file ends there") from None
                    yield f"{name}:{line}", BrokenLine(str(error))
                    is_lines, line = True, line + 1
                    continue
        splitter = _Splitter(file, name, line, elements, data + ahead)
        ahead = b""
        yield from splitter.values()
        is_lines = is_lines and splitter.line <= line + 1
        line, elements = splitter.line, splitter.elements


def _unmarked(first: bytes, name: str) -> bytes:
    """Return the first line without its order mark."""
    if first.startswith(_UTF_16):
        raise BrokenInputError(f"{name}:1: expected JSON in UTF-8, got UTF-16: iconv -f UTF-16 converts it")
    return first.removeprefix(_BOM)


def _form_payload(line: bytes, name: str, number: int) -> Any:
    """Return the JSON in a form's one field, as forges send webhooks unless they are told otherwise."""
    fields = parse_qs(line.strip().decode("ascii", "replace"), keep_blank_values=True)
    try:
        return parse_json(fields["payload"][0])
    except JsonError as error:
        raise BrokenInputError(f"{name}:{number}: payload of a form: {error}") from None


def _is_object(line: bytes) -> bool:
    """Whether a line is a JSON object."""
    try:
        return line[:1] == b"{" and type(parse_json(line)) is dict
    except JsonError:
        return False


def _has_more_values(line: bytes) -> bool:
    """Whether a line begins with a whole object, so that another may follow on it."""
    end = value_end(line, 0) if line[:1] == b"{" else None
    return end is not None and bool(line[end:].strip())


class _Splitter:
    """Follows values over lines, from data that begins on ``line``, until all that was read has been consumed."""

    def __init__(self, file: BinaryIO, name: str, line: int, elements: int, data: bytes) -> None:
        self._file = file
        self._name = name
        self.line = line
        """The line of the next byte."""
        self.elements = elements
        """Elements of outermost arrays so far, of the whole file."""
        self._data = bytearray(data)
        self._position = 0

    def values(self) -> Iterator[tuple[str, Any]]:
        """Yield the values, at least to the end of the line."""
        line, on_line = 0, 0
        while self._skip_blanks(may_read=False):
            line, on_line = (line, on_line + 1) if self.line == line else (self.line, 1)
            place = f"{self._name}:{line}" + (f" ({on_line})" if on_line > 1 else "")
            if self._data[self._position] == ord("["):
                yield from self._array()
            else:
                yield place, self._value(place)

    def _array(self) -> Iterator[tuple[str, Any]]:
        """Yield the elements of the array that begins here."""
        begun = self.line
        self._position += 1
        if self._next(begun) == ord("]"):
            self._position += 1
            return
        while True:
            self.elements += 1
            place = f"{self._name}#{self.elements}"
            yield place, self._value(place)
            separator = self._next(begun)
            if separator not in b",]":
                raise BrokenInputError(
                    f"{place}: expected a comma or ] behind it, got something else, line {self.line}"
                )
            self._position += 1
            if separator == ord("]"):
                return
            self._next(begun)

    def _value(self, place: str) -> Any:
        """Read the value that begins here; one that runs on is looked at again each time the data has doubled."""
        begun, cut = self.line, ""
        while (end := value_end(self._data, self._position)) is None:
            if not self._fill(max(_CHUNK, len(self._data))):
                end, cut = len(self._data), "; the file ends there"
                break
        text = bytes(self._data[self._position : end])
        try:
            value = parse_json(text)
        except JsonError as error:
            on = "" if place.endswith(f":{begun}") else f", in a value that begins on line {begun}"
            raise BrokenInputError(f"{place}: {error}{on}{cut}") from None
        self.line += text.count(b"\n")
        self._position = end
        return value

    def _next(self, begun: int) -> int:
        """Skip blanks inside an array and return the byte that follows."""
        if not self._skip_blanks(may_read=True):
            raise BrokenInputError(
                f"{self._name}:{self.line}: expected the array that begins on line {begun} to end, got the file's end"
            )
        return self._data[self._position]

    def _skip_blanks(self, *, may_read: bool) -> bool:
        """Skip blanks; False when nothing follows."""
        while True:
            end = match_end(_BLANKS, self._data, self._position)
            self.line += self._data.count(b"\n", self._position, end)
            self._position = end
            if end < len(self._data):
                return True
            if not may_read or not self._fill(_CHUNK):
                return False

    def _fill(self, size: int) -> bool:
        """Read more, and forget what was consumed; False at the end of the file."""
        del self._data[: self._position]
        self._position = 0
        more = self._file.read(size)
        self._data += more
        return bool(more)
