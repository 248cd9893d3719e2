"""JSON in files and in strings, read exactly and fast."""

from typing import Any, Final

import orjson

from sediment_assets.facts.json_limits import walk
from sediment_assets.facts.json_values import decode

_FIRST_INEXACT: Final = 2.0**63


def parse_json(data: bytes | str) -> Any:
    """Decode one JSON text exactly as ``json_values.decode`` does, several times faster for usual ones.

    :raises JsonError: it is no JSON, or beyond the limits of captured JSON.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return decode(data)
    # orjson reads an integer beyond 64 bits as a float; every float that might be one is read again.
    for item in walk(value):
        if type(item) is float and not -_FIRST_INEXACT < item < _FIRST_INEXACT:
            return decode(data)
    return value
