"""Dictionaries whose entries are attributes, too."""

from __future__ import annotations

from typing import Any


class Record(dict):
    """A dictionary; ``record.cycles`` is ``record["cycles"]``."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no '{name}'; known: {' '.join(self)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(key for key in self if isinstance(key, str))]
