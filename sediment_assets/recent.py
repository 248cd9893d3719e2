"""What was kept last, by key, within a bound: a stream is read with its near past in memory, however long it is."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Values by key; the sum of their sizes stays within ``most``, and what was kept longest ago is forgotten first.

    Without ``size`` each value counts as one.
    """

    def __init__(self, most: int, size: Callable[[V], int] = lambda _: 1) -> None:
        self._most = most
        self._size_of = size
        self._size = 0
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """Return what is kept under a key."""
        return self._values.get(key)

    def keep(self, key: K, value: V) -> None:
        """Keep a value under a key, as the latest; a value beyond the bound is forgotten at once."""
        if key in self._values:
            self._size -= self._size_of(self._values.pop(key))
        self._values[key] = value
        self._size += self._size_of(value)
        while self._size > self._most:
            _, oldest = self._values.popitem(last=False)
            self._size -= self._size_of(oldest)
