"""YAML recordings (cassettes) as JSON values: no Python objects, no dates, no aliases that grow without bound.

YAML that was cut off mostly is YAML still. Recorders end a cassette by naming its format: one without that was cut off.
"""

import base64
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import yaml

from sediment_assets.adapters.capture_json import BrokenInputError
from sediment_assets.capture.contract import BINARY

_MAX_NODES: Final = 5_000_000
_ENDS: Final = {"interactions": "version", "http_interactions": "recorded_with"}
"""What a cassette names besides its exchanges: VCR for Python and for Ruby write it last."""
_JSON_TYPES: Final = (str, int, float, bool, type(None))


def read_yaml(file: BinaryIO, name: str) -> Iterator[tuple[str, Any]]:
    """Yield (place, value) for each document of a YAML stream; ``place`` is ``name#NUMBER``, or the name for one.

    :raises BrokenInputError: it is no YAML, a cassette that was cut off, or holds what JSON cannot: keys that are no
        text, endless aliases.
    """
    data = file.read()
    try:
        documents = list(yaml.load_all(data, _Loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise BrokenInputError(f"{name}{line}: expected YAML, got {error.problem or error.context}") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise BrokenInputError(f"{name}: expected YAML in UTF-8, got other bytes") from None
    except (ValueError, RecursionError) as error:
        raise BrokenInputError(f"{name}: expected plain YAML, got {error}") from None
    for number, document in enumerate(documents, 1):
        _require_json(document, name)
        _require_end(document, data, name)
        yield (f"{name}#{number}" if len(documents) > 1 else name), document


def _require_json(value: Any, name: str) -> None:
    stack, nodes = [value], 0
    while stack:
        item = stack.pop()
        nodes += 1
        if nodes > _MAX_NODES:
            raise BrokenInputError(f"{name}: expected at most {_MAX_NODES} values, got more; are aliases nested?")
        if type(item) is dict:
            if not all(type(key) is str for key in item):
                raise BrokenInputError(f"{name}: expected mappings with text as keys, got another key")
            stack.extend(item.values())
        elif type(item) is list:
            stack.extend(item)
        elif type(item) not in _JSON_TYPES:
            raise BrokenInputError(f"{name}: expected YAML that JSON can spell, got a {type(item).__name__}")


def _require_end(value: Any, data: bytes, name: str) -> None:
    """Refuse what a cut-off copy is: a cassette without its last words, or a word where an object should be."""
    line = data.count(b"\n") + (not data.endswith(b"\n"))
    if not isinstance(value, dict | list | None):
        raise BrokenInputError(f"{name}:{line}: expected a mapping or a list, got a single value")
    held = value if isinstance(value, dict) else {}
    ends = [end for key, end in _ENDS.items() if key in held]
    if ends and (held.get(ends[0]) is None or not data.endswith(b"\n")):
        raise BrokenInputError(f"{name}:{line}: expected a whole cassette with its {ends[0]}, got one that is cut off")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # C where it was built
    """The safe loader; text that looks like a date stays text, as in JSON."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}


def _binary(loader: Any, node: yaml.ScalarNode) -> Any:
    data = yaml.SafeLoader.construct_yaml_binary(loader, node)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {BINARY: base64.b64encode(data).decode("ascii")}


_Loader.add_constructor("tag:yaml.org,2002:binary", _binary)
